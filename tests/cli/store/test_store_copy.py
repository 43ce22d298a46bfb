"""Snapshots are copied between stores of any kind, once, and come back as they were."""

import json
import os
import random
import shutil
import time

from command import IS_SANITIZED
from stores import StoresTest, damage, facts_of
from streams import random_bytes

CUTS = ("--cuts", "fastcdc(min_bytes=4096,avg_bytes=16384,max_bytes=65536)")
FACTS = ("time", "duration", "is_incomplete", "host", "paths", "tags", "files", "folders", "bytes")


class CopyTest(StoresTest):
    def setUp(self):
        super().setUp()
        self.write("data/a", random_bytes(600_000, 1))
        self.write("data/text", b"a line that can be compressed\n" * 20_000)
        self.write("data/deep/folder/b", random_bytes(200_000, 2) + bytes(100_000))
        self.write("data/deep/empty", b"")
        with open(self.folder / "data/hole", "wb") as file:
            file.truncate(3_000_000)
            file.seek(2_000_000)
            file.write(random_bytes(50_000, 3))
        (self.folder / "data/link").symlink_to("deep/folder/b")
        os.link(self.folder / "data/a", self.folder / "data/another-name-of-a")
        os.setxattr(self.folder / "data/a", "user.comment", b"of a")
        os.utime(self.folder / "data/deep", ns=(5, 1_234_567_890_123_456_789))

    def back_up(self, store: str, *words) -> str:
        return self.on(store, "backup", *(words or ("data",))).strip()

    def snapshots(self, store: str) -> dict:
        return {each["id"]: each for each in map(json.loads, self.on(store, "snapshots", "--json").splitlines())}

    def assert_whole(self, store: str):
        self.assertIn("no damage", self.on(store, "check", "--read-data"))

    def containers(self, store: str) -> list:
        return sorted((self.folder / store / "containers").glob("*/*"))

    def restored(self, store: str, snapshot: str) -> dict:
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        self.on(store, "restore", f"{snapshot}:{self.folder}/data", "--target", "out")
        return facts_of(self.folder / "out")

    def change(self, name: str):
        self.write(f"data/{name}", random_bytes(300_000, 9))


class Copy(CopyTest):
    def check_copies(self, source: str, target: str):
        """Backs up, copies, and compares everything; a second copy changes nothing."""
        facts_of_backups = {}
        for number, words in enumerate((("--tag", "first", "--time", "77"), ("--host", "elsewhere"))):
            self.change(f"new{number}")
            facts_of_backups[self.back_up(source, "data", *words)] = facts_of(self.folder / "data")
        copied = self.copy(source, target)
        originals, copies = self.snapshots(source), self.snapshots(target)
        self.assertEqual(copied, list(copies))
        for (original, facts), copy in zip(facts_of_backups.items(), copied, strict=True):
            self.assertEqual({key: copies[copy][key] for key in FACTS}, {key: originals[original][key] for key in FACTS})
            self.assertEqual(self.restored(target, copy), facts)
        self.assertEqual((self.folder / "out/a").stat().st_nlink, 2)
        self.assertLess((self.folder / "out/hole").stat().st_blocks * 512, 1_000_000)
        parents = dict(zip(["", *originals], ["", *copied]))
        self.assertEqual([copies[each]["parent"] for each in copied], [parents[originals[each]["parent"]] for each in originals])
        self.assert_whole(target)
        self.assertEqual(json.loads(self.on(target, "check", "--json"))["moved_chunks"], 0)
        self.assertLess(copies[copied[1]]["new_raw_bytes"], 400_000)  # what has changed since the one before
        before = self.containers(target)
        self.assertEqual(self.copy(source, target), [])
        skipped = [json.loads(line) for line in self.copy(source, target, "--json")]
        self.assertEqual([(each["outcome"], each["original"], each["copy"]) for each in skipped], [("skipped", *pair) for pair in zip(facts_of_backups, copied)])
        self.assertEqual(self.containers(target), before)
        # A backup into the target finds the chunks that were copied. Nodes are new, since ctimes that were too recent are known now.
        again = json.loads(self.on(target, "backup", "data", "--force", "--json").splitlines()[-1])  # after lines of progress, if it is slow
        self.assertLess(again["new_raw_bytes"], 5000)

    def test_between_stores_of_all_kinds(self):
        for number, (source, of_source, target, of_target) in enumerate((
            ("source", (), "target", ()),
            ("source", ("--compression", "none"), "target-two", ()),
            ("source-one", (), "target", ("--compression", "none")),
            ("source-one", (), "target-two", ()),
            ("source", ("--hash", "sha256"), "target", CUTS),
        )):  # fmt: skip
            with self.subTest(source=source, of_source=of_source, target=target, of_target=of_target):
                source, target = (f"{name}{number}" for name in (source, target))
                self.make(source, *of_source)
                self.make(target, *of_target)
                self.check_copies(source, target)

    def test_only_the_snapshots_that_are_named(self):
        self.make("source")
        self.make("target")
        snapshots = [self.back_up("source", "data", "--time", str(number)) for number in range(1, 4)]
        self.assertEqual(len(self.copy("source", "target", "latest", snapshots[0][:20])), 2)
        self.assertEqual([each["time"] for each in self.snapshots("target").values()], [1_000_000_000, 3_000_000_000])
        self.assert_failed(self.run_copy("source", "target", "0123"), "0123: no snapshot of source begins with it")
        self.assertEqual(len(self.copy("source", "target")), 1)
        self.assert_refused(self.run_copy("data", "target"), "data: this is not a store")

    def test_the_environment_names_the_stores(self):
        self.write("password", b"a password\n")
        source = ("--store", "source", "--password-file", "password")
        self.assert_done(self.run_command("init", "--encryption", "password", *source))
        self.assert_done(self.run_command("backup", "data/deep", *source))
        self.make("target-two")
        environment = {
            "CUTPOINT_FROM_STORE": "source",
            "CUTPOINT_FROM_PASSWORD_FILE": "password",
            "CUTPOINT_STORE": "target-two",
            "CUTPOINT_KEY_FILE": "key-target-two",
        }
        run = self.run_command("copy", env={**os.environ, **environment})
        self.assert_done(run)
        self.assertEqual(run.lines, list(self.snapshots("target-two")))

    def test_files_that_have_not_changed_are_not_read_again(self):
        self.make("source")
        self.make("target", *CUTS)
        self.back_up("source")
        self.assertEqual(len(self.copy("source", "target")), 1)
        for path in self.containers("source"):
            damage(path, 100_000)  # in a chunk
        self.change("new")
        self.back_up("source")
        self.assertEqual(len(self.copy("source", "target")), 1)
        self.assertEqual(self.restored("target", "latest"), facts_of(self.folder / "data"))

    def test_a_snapshot_that_lost_data_is_named_and_the_others_are_copied(self):
        self.make("source")
        damaged = self.back_up("source")
        damage(*self.containers("source"), 1000)
        self.write("other/file", random_bytes(100_000, 5))
        self.back_up("source", "other")
        for target, words in (("target", ()), ("recut", CUTS)):
            with self.subTest(target=target):
                self.make(target, *words)
                run = self.run_copy("source", target)
                self.assert_failed(run, damaged, f"{self.folder}/data/a: ", "damaged")
                self.assertEqual([each["paths"] for each in self.snapshots(target).values()], [[f"{self.folder}/other"]])
                self.assertEqual(run.lines, list(self.snapshots(target)))
                self.assert_whole(target)


class Kills(CopyTest):
    def test_a_copy_that_was_killed_goes_on(self):
        size = 8_000_000 if IS_SANITIZED else 20_000_000
        draw = random.Random(int(os.environ.get("CUTPOINT_SEED") or 1))
        self.make("source")
        self.write("data/large", draw.randbytes(size))
        self.back_up("source", "data", "--time", "1")
        self.change("new")
        self.back_up("source", "data", "--time", "2")
        for target, words in (("target", ()), ("recut", CUTS), ("target-two", ())):
            with self.subTest(target=target):
                self.make(target, *words)
                for patience in (0.01, 0.03, 0.05, 0.08, 0.12):
                    process = self.start("copy", "--from-store", "source", "--store", target, *self.secret_of(target))
                    time.sleep(patience * (0.5 + draw.random()))
                    process.kill()
                    process.wait()
                self.copy("source", target)
                copies = self.snapshots(target)
                self.assertEqual([each["time"] for each in copies.values()], [1_000_000_000, 2_000_000_000])
                self.assertEqual(self.restored(target, list(copies)[1]), facts_of(self.folder / "data"))
                self.assert_whole(target)
