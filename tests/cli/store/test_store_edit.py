"""Snapshots are replaced by others with other tags, and written without files that should not be in them."""

import json
import os
import shutil

from stores import StoreTest, facts_of
from streams import random_bytes


class Tag(StoreTest):
    def setUp(self):
        super().setUp()
        self.write("data/a", random_bytes(1000, 1))

    def test_tags_are_added_removed_and_set(self):
        first = self.backup("--tag", "a,b", "--host", "one", "data")
        second = self.backup("--host", "two", "data")
        before = self.snapshots()
        content = self.restored(first)
        for words, tags in (
            (("--add", "c,a", first[:20]), [["a", "b", "c"], []]),
            (("--remove", "b", "--remove", "c", "--add", "d"), [["a", "d"], ["d"]]),
            (("--set", "x,y", "--host", "two"), [["a", "d"], ["x", "y"]]),
            (("--set", "", "--tag", "a"), [[], ["x", "y"]]),
            (("--add", "z", "latest", "--host", "one"), [["z"], ["x", "y"]]),
        ):
            old = {each["id"] for each in self.snapshots()}
            lines = self.store("tag", *words).splitlines()
            after = self.snapshots()
            self.assertEqual([each["tags"] for each in after], tags, words)
            changes = [line.split(" -> ") for line in lines[:-1]]
            self.assertEqual({each["id"] for each in after} - old, {new for _, new in changes}, words)
            self.assertEqual(old - {each["id"] for each in after}, {one for one, _ in changes}, words)
        for one, other, original in zip(before, after, (first, second), strict=True):
            self.assertEqual(other, {**one, **{key: other[key] for key in ("id", "tags")}, "original": original})
        unread = self.summary("--host", "two", "data")  # compares with the snapshot that was tagged
        self.assertEqual((unread["files_new"], unread["parent"]), (0, after[1]["id"]))
        self.store("prune", "--max-unused", "0")
        self.assertEqual(self.restored(after[0]["id"]), content)

    def test_what_does_not_change_keeps_its_id(self):
        snapshot = self.backup("--tag", "a", "data")
        (summary,) = self.json_of("tag", "--add", "a", "--remove", "b")
        self.assertEqual(summary, {"message_type": "summary", "changed_snapshots": 0, "unchanged_snapshots": 1, "problems": 0})
        self.assertEqual(self.snapshots()[0]["id"], snapshot)
        change, summary = self.json_of("tag", "--add", "b", snapshot)
        self.assertEqual(change, {"message_type": "changed", "old_snapshot_id": snapshot, "new_snapshot_id": self.snapshots()[0]["id"]})
        self.assert_failed(self.run_store("tag", "--add", "c", snapshot), "no snapshot")  # its id is another now

    def test_wrong_usage_is_refused(self):
        self.backup()
        self.assert_refused(self.run_store("tag"), "give --add, --remove or --set")
        self.assert_refused(self.run_store("tag", "--set", "a", "--add", "b"), "would have no effect")
        self.assert_refused(self.run_store("tag", "--add", "a,,b"), "a tag is empty")
        self.assertEqual(len(self.snapshots()), 1)


class Rewrite(StoreTest):
    def setUp(self):
        super().setUp()
        self.write_tree()
        self.write("data/secret.key", random_bytes(200_000, 7))
        self.write("data/deep/Secret.KEY", b"capitals")
        self.write("data/cache/one", b"1")
        self.write("data/cache/two", b"2")
        self.home = f"{self.folder}/data"

    def test_a_snapshot_is_written_without_what_matches(self):
        old = self.backup("--tag", "t", "data")
        (before,) = self.snapshots()
        words = ("rewrite", "--exclude", "secret.key", "--exclude", "/cache")
        planned = self.json_of(*words, "--dry-run")
        left_out = [{"message_type": "left_out", "snapshot_id": old, "path": f"{self.home}/{name}"} for name in ("cache/", "secret.key")]
        self.assertEqual(planned[:3], [*left_out, {"message_type": "changed", "old_snapshot_id": old}])
        self.assertEqual(self.snapshots(), [before])  # a dry run changes nothing
        done = self.json_of(*words)
        self.assertEqual(done[:2], left_out)
        new = done[2]["new_snapshot_id"]
        original, rewritten = self.snapshots()
        self.assertEqual(original, before)
        self.assertEqual((rewritten["id"], rewritten["tags"], rewritten["original"]), (new, ["t", "rewrite"], old))
        lacks = {key: before[key] - rewritten[key] for key in ("files", "folders", "bytes")}
        self.assertEqual(lacks, {"files": 3, "folders": 1, "bytes": 200_002})
        left = {path: facts for path, facts in facts_of(self.folder / "data").items() if path.split("/")[0] not in ("secret.key", "cache")}
        self.assertEqual(self.restored(f"{new}:{self.home}"), left)
        self.assert_whole()
        again = self.run_store("rewrite", "--exclude", "secret.key", "--json", new)
        self.assertEqual(again.json(), {"message_type": "summary", "changed_snapshots": 0, "unchanged_snapshots": 1, "problems": 0})

    def test_the_bytes_are_gone_after_a_prune(self):
        old = self.backup()
        text = self.store("rewrite", "--iexclude", "SECRET.key", "--forget")
        (rewritten,) = self.snapshots()
        for line in (
            f"leave out  {old[:16]}:{self.home}/secret.key\n", f"leave out  {old[:16]}:{self.home}/deep/Secret.KEY\n",
            "until cutpoint prune", f"{old} -> {rewritten['id']}\n",
        ):  # fmt: skip
            self.assertIn(line, text)
        self.assertEqual((rewritten["original"], rewritten["tags"]), (old, []))
        self.assertGreater(self.json_of("prune", "--max-unused", "0")[0]["removed_bytes"], 200_000)
        self.assertNotIn("deep/Secret.KEY", self.restored(f"{rewritten['id']}:{self.home}"))
        again = self.summary("--exclude", "[sS]ecret.*", "data")
        self.assertEqual((again["parent"], again["files_new"]), (rewritten["id"], 0))

    def test_patterns_are_those_of_a_backup(self):
        self.write("more/cache/three", b"3")
        self.write("more/x/cache", b"4")
        whole = self.backup("--host", "whole", "data", "more")
        for patterns in (["cache/"], ["/cache"], ["x/cache"], [f"{self.home}/cache"], ["*", "!*.key", "!deep"], ["c*", "!cache"], ["o*", "**/t*"]):
            words = [word for pattern in patterns for word in ("--exclude", pattern)]
            expected = self.restored(f"{self.backup('--host', 'excluding', *words, 'data', 'more')}:{self.folder}")
            changes = [each for each in map(json.loads, self.run_store("rewrite", *words, "--json", whole).lines) if each["message_type"] == "changed"]
            new = changes[0]["new_snapshot_id"] if changes else whole
            self.assertEqual(self.restored(f"{new}:{self.folder}"), expected, patterns)

    def test_what_was_named_can_be_left_out(self):
        snapshot = self.backup("data/secret.key", "data/cache")
        by_name = self.run_store("rewrite", "--exclude", "*.key", "--exclude", str(self.folder), "--json")
        self.assertEqual(by_name.json()["unchanged_snapshots"], 1)  # as a backup stores what is named
        (self.folder / "patterns").write_text(f"# no pattern\n{self.home}/*.key\r\nnothing-is-called-so\n")
        words = ("rewrite", "--exclude-file", "patterns", "--forget", "--json", snapshot)
        self.assertIn("warning: nothing-is-called-so: this pattern matched nothing", self.run_store(*words, "--dry-run").stderr)
        self.assert_done(self.run_store(*words))
        self.assertEqual(set(self.restored(f"latest:{self.home}")), {"cache", "cache/one", "cache/two"})

    def test_a_damaged_tree_is_a_problem_of_one_snapshot(self):
        self.backup()
        shutil.rmtree(self.folder / "store/containers")
        os.mkdir(self.folder / "store/containers")
        self.write("other/secret.key", b"k")
        self.backup("other")
        failed = self.run_store("rewrite", "--exclude", "*.key", "--json")
        self.assert_failed(failed, "lost")
        summary = json.loads(failed.lines[-1])
        self.assertEqual((summary["changed_snapshots"], summary["problems"]), (1, 1))

    def test_wrong_usage_is_refused(self):
        self.backup()
        self.assert_refused(self.run_store("rewrite"), "nothing says what to leave out")
        self.assert_refused(self.run_store("rewrite", "--exclude", "a/../b"), "--exclude")
        self.assert_refused(self.run_store("rewrite", "--exclude-file", "absent"), "--exclude-file absent: cannot be opened: No such file")
        self.assertEqual(len(self.snapshots()), 1)
