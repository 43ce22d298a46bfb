"""Snapshots are replaced by others with other tags, and written without files that should not be in them."""

import json
import os
import shutil

from streams import random_bytes
from test_store import StoreTest, facts_of


class Edit(StoreTest):
    def snapshots(self) -> list[dict]:
        return [json.loads(line) for line in self.store("snapshots", "--json").splitlines()]

    def edit(self, *words) -> list[dict]:
        return [json.loads(line) for line in self.store(*words, "--json").splitlines()]

    def refuse(self, complaint, *words):
        refused = self.run_store(*words)
        self.assertEqual(refused.code, 2)
        self.assertIn(complaint, refused.stderr)


class Tag(Edit):
    def test_tags_are_added_removed_and_set(self):
        first = self.backup("--tag", "a,b", "--host", "one", "data")
        second = self.backup("--host", "two", "data")
        before = self.snapshots()
        content = self.restored(first)
        for words, tags in (
            (("--add", "c,a", first), [["a", "b", "c"], []]),
            (("--remove", "b", "--remove", "c", "--add", "d"), [["a", "d"], ["d"]]),
            (("--set", "x,y", "--host", "two"), [["a", "d"], ["x", "y"]]),
            (("--set", "", "--tag", "a"), [[], ["x", "y"]]),
            (("--add", "z", "latest", "--host", "one"), [["z"], ["x", "y"]]),
        ):
            if words[2:] == (first,):
                words = (*words[:2], first[:20])
            old = {each["id"] for each in self.snapshots()}
            lines = self.store("tag", *words).splitlines()
            after = self.snapshots()
            self.assertEqual([each["tags"] for each in after], tags, words)
            changes = [line.split(" -> ") for line in lines[:-1]]
            self.assertEqual({each["id"] for each in after} - old, {new for _, new in changes}, words)
            self.assertEqual(old - {each["id"] for each in after}, {one for one, _ in changes}, words)
        for one, other, original in zip(before, self.snapshots(), (first, second), strict=True):
            self.assertEqual(other["original"], original)
            changed = {"id", "tags", "original"}
            self.assertEqual({key: one[key] for key in one if key not in changed}, {key: other[key] for key in other if key not in changed})
        self.assertEqual(self.restored(self.snapshots()[0]["id"]), content)
        unread = self.summary("--host", "two", "data")  # compares with the snapshot that was tagged
        self.assertEqual((unread["files_new"], unread["parent"]), (0, self.snapshots()[1]["id"]))
        self.store("prune", "--max-unused", "0")
        self.assertEqual(self.restored(self.snapshots()[0]["id"]), content)

    def test_what_does_not_change_keeps_its_id(self):
        snapshot = self.backup("--tag", "a", "data")
        *changes, summary = self.edit("tag", "--add", "a", "--remove", "b")
        self.assertEqual((changes, summary), ([], {"message_type": "summary", "changed_snapshots": 0, "unchanged_snapshots": 1, "problems": 0}))
        self.assertEqual(self.snapshots()[0]["id"], snapshot)
        change, summary = self.edit("tag", "--add", "b", snapshot)
        self.assertEqual(change, {"message_type": "changed", "old_snapshot_id": snapshot, "new_snapshot_id": self.snapshots()[0]["id"]})
        refused = self.run_store("tag", "--add", "c", snapshot)  # its id is another now
        self.assertEqual(refused.code, 1)
        self.assertIn("no snapshot", refused.stderr)

    def test_wrong_usage_is_refused(self):
        self.backup()
        self.refuse("give --add, --remove or --set", "tag")
        self.refuse("would have no effect", "tag", "--set", "a", "--add", "b")
        self.refuse("a tag is empty", "tag", "--add", "a,,b")
        self.assertEqual(len(self.snapshots()), 1)


class Rewrite(Edit):
    def setUp(self):
        super().setUp()
        self.write("data/secret.key", random_bytes(200_000, 7))
        self.write("data/deep/Secret.KEY", b"capitals")
        self.write("data/cache/one", b"1")
        self.write("data/cache/two", b"2")
        self.home = f"{self.folder}/data"

    def without(self, *names) -> dict:
        """The facts of the source without some files."""
        return {path: facts for path, facts in facts_of(self.folder / "data").items() if path.split("/")[0] not in names}

    def test_a_snapshot_is_written_without_what_matches(self):
        old = self.backup("--tag", "t", "data")
        (before,) = self.snapshots()
        planned = self.edit("rewrite", "--exclude", "secret.key", "--exclude", "/cache", "--dry-run")
        left_out = [{"message_type": "left_out", "snapshot_id": old, "path": f"{self.home}/{name}"} for name in ("cache/", "secret.key")]
        self.assertEqual(planned[:2], left_out)
        self.assertEqual(planned[2], {"message_type": "changed", "old_snapshot_id": old})
        self.assertEqual(self.snapshots(), [before])  # a dry run changes nothing
        done = self.edit("rewrite", "--exclude", "secret.key", "--exclude", "/cache")
        self.assertEqual(done[:2], left_out)
        new = done[2]["new_snapshot_id"]
        original, rewritten = self.snapshots()
        self.assertEqual(original, before)
        self.assertEqual((rewritten["id"], rewritten["tags"], rewritten["original"]), (new, ["t", "rewrite"], old))
        self.assertEqual(rewritten["files"], before["files"] - 3)
        self.assertEqual(rewritten["folders"], before["folders"] - 1)
        self.assertEqual(rewritten["bytes"], before["bytes"] - 200_002)
        self.assertEqual(self.restored(f"{new}:{self.home}"), self.without("secret.key", "cache"))
        self.assertIn("no damage", self.store("check", "--read-data"))
        again = self.run_store("rewrite", "--exclude", "secret.key", "--json", new)
        self.assertEqual(json.loads(again.stdout), {"message_type": "summary", "changed_snapshots": 0, "unchanged_snapshots": 1, "problems": 0})

    def test_the_bytes_are_gone_after_a_prune(self):
        old = self.backup()
        text = self.store("rewrite", "--iexclude", "SECRET.key", "--forget")
        self.assertIn(f"leave out  {old[:16]}:{self.home}/secret.key\n", text)
        self.assertIn(f"leave out  {old[:16]}:{self.home}/deep/Secret.KEY\n", text)
        self.assertIn("until cutpoint prune", text)
        (rewritten,) = self.snapshots()
        self.assertEqual((rewritten["original"], rewritten["tags"]), (old, []))
        self.assertIn(f"{old} -> {rewritten['id']}\n", text)
        self.assertGreater(json.loads(self.store("prune", "--max-unused", "0", "--json"))["removed_bytes"], 200_000)
        self.assertNotIn("deep/Secret.KEY", self.restored(f"{rewritten['id']}:{self.home}"))
        again = self.summary("--exclude", "[sS]ecret.*", "data")
        self.assertEqual((again["parent"], again["files_new"]), (rewritten["id"], 0))

    def test_patterns_are_those_of_a_backup(self):
        os.mkdir(self.folder / "more")
        self.write("more/cache/three", b"3")
        self.write("more/x/cache", b"4")
        for patterns in (["cache/"], ["/cache"], ["x/cache"], [f"{self.home}/cache"], ["*", "!*.key", "!deep"], ["c*", "!cache"], ["o*", "**/t*"]):
            words = [word for pattern in patterns for word in ("--exclude", pattern)]
            expected = self.restored(f"{self.backup('--host', 'excluding', *words, 'data', 'more')}:{self.folder}")
            whole = self.backup("--host", "whole", "data", "more")
            edited = self.run_store("rewrite", *words, "--json", whole)
            changes = [json.loads(line) for line in edited.stdout.splitlines()]
            changes = [each for each in changes if each["message_type"] == "changed"]
            new = changes[0]["new_snapshot_id"] if changes else whole
            self.assertEqual(self.restored(f"{new}:{self.folder}"), expected, patterns)

    def test_what_was_named_can_be_left_out(self):
        snapshot = self.backup("data/secret.key", "data/cache")
        by_name = self.run_store("rewrite", "--exclude", "*.key", "--exclude", str(self.folder), "--json")
        self.assertEqual(json.loads(by_name.stdout)["unchanged_snapshots"], 1)  # as a backup stores what is named
        (self.folder / "patterns").write_text(f"# no pattern\n{self.home}/*.key\r\nnothing-is-called-so\n")
        done = self.run_store("rewrite", "--exclude-file", "patterns", "--forget", "--json", snapshot)
        self.assertEqual(done.code, 0)
        self.assertIn("warning: nothing-is-called-so: this pattern matched nothing", done.stderr)
        self.assertEqual(set(self.restored(f"latest:{self.home}")), {"cache", "cache/one", "cache/two"})

    def test_a_damaged_tree_is_a_problem_of_one_snapshot(self):
        self.backup()
        shutil.rmtree(self.folder / "store/containers")
        os.mkdir(self.folder / "store/containers")
        (self.folder / "other").mkdir()
        self.write("other/secret.key", b"k")
        self.backup("other")
        failed = self.run_store("rewrite", "--exclude", "*.key", "--json")
        self.assertEqual(failed.code, 1)
        self.assertIn("lost", failed.stderr)
        summary = json.loads(failed.stdout.splitlines()[-1])
        self.assertEqual((summary["changed_snapshots"], summary["problems"]), (1, 1))

    def test_wrong_usage_is_refused(self):
        self.backup()
        self.refuse("nothing says what to leave out", "rewrite")
        self.refuse("--exclude", "rewrite", "--exclude", "a/../b")
        absent = self.run_store("rewrite", "--exclude-file", "absent")
        self.assertEqual(absent.code, 1)
        self.assertIn("--exclude-file absent: cannot be opened: No such file", absent.stderr)
        self.assertEqual(len(self.snapshots()), 1)


del StoreTest  # its tests are those of another module
