"""Snapshots are copied between stores of any kind, once, and come back as they were."""

import json
import os
import random
import shutil
import subprocess
import time
from pathlib import Path

from command import BINARY, IS_SANITIZED, CommandTest
from streams import random_bytes
from test_store import facts_of

CUTS = "fastcdc(min_bytes=4096,avg_bytes=16384,max_bytes=65536)"
FACTS = ("time", "duration", "is_incomplete", "host", "paths", "tags", "files", "folders", "bytes")


class CopyTest(CommandTest):
    def setUp(self):
        super().setUp()
        for name in ("one", "two"):
            self.write(f"password-{name}", f"password {name}\n".encode())
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

    def run_on(self, store: str, *words):
        """Runs a command on a store, whose password is named by the end of its name."""
        secret = ["--password-file", f"password-{store.rsplit('-', 1)[1]}"] if "-" in store else []
        return self.run_command(*words, "--store", store, *secret)

    def on(self, store: str, *words) -> str:
        run = self.run_on(store, *words)
        self.assert_done(run)
        return run.stdout

    def make(self, store: str, *words):
        self.on(store, "init", "--encryption", "password" if "-" in store else "none", *words)

    def run_copy(self, source: str, target: str, *words):
        secret = ["--from-password-file", f"password-{source.rsplit('-', 1)[1]}"] if "-" in source else []
        return self.run_on(target, "copy", "--from-store", source, *secret, *words)

    def copy(self, source: str, target: str, *words) -> list:
        run = self.run_copy(source, target, *words)
        self.assert_done(run)
        return run.lines

    def snapshots(self, store: str) -> dict:
        return {each["id"]: each for each in map(json.loads, self.on(store, "snapshots", "--json").splitlines())}

    def restored(self, store: str, snapshot: str) -> dict:
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        self.on(store, "restore", f"{snapshot}:{self.folder}/data", "--target", "out")
        return facts_of(self.folder / "out")

    def change(self, name: str):
        self.write(f"data/{name}", random_bytes(300_000, 9))


class Copy(CopyTest):
    def check_copies(self, source: str, target: str):
        """Backs up twice, copies, and compares everything; a second copy changes nothing."""
        facts_of_backups = {}
        for number, words in enumerate((("--tag", "first", "--time", "77"), ("--host", "elsewhere"), ())):
            self.change(f"new{number}")
            facts_of_backups[self.on(source, "backup", "data", *words).strip()] = facts_of(self.folder / "data")
        copied = self.copy(source, target)
        originals, copies = self.snapshots(source), self.snapshots(target)
        self.assertEqual(copied, list(copies))
        self.assertEqual(len(copied), 3)
        for (original, facts), copy in zip(facts_of_backups.items(), copied):
            self.assertEqual({key: copies[copy][key] for key in FACTS}, {key: originals[original][key] for key in FACTS})
            self.assertEqual(self.restored(target, copy), facts)
        self.assertEqual((self.folder / "out/a").stat().st_nlink, 2)
        self.assertLess((self.folder / "out/hole").stat().st_blocks * 512, 1_000_000)
        parents = dict(zip(["", *originals], ["", *copied]))
        self.assertEqual([copies[each]["parent"] for each in copied], [parents[originals[each]["parent"]] for each in originals])
        self.assertIn("no damage", self.on(target, "check", "--read-data"))
        self.assertEqual(json.loads(self.on(target, "check", "--json"))["moved_chunks"], 0)
        self.assertLess(copies[copied[2]]["new_raw_bytes"], 400_000)  # what has changed since the one before
        before = sorted((self.folder / target / "containers").glob("*/*"))
        self.assertEqual(self.copy(source, target), [])
        skipped = [json.loads(line) for line in self.copy(source, target, "--json")]
        self.assertEqual([(each["outcome"], each["original"], each["copy"]) for each in skipped], [("skipped", *pair) for pair in zip(facts_of_backups, copied)])
        self.assertEqual(sorted((self.folder / target / "containers").glob("*/*")), before)
        self.assertEqual(len(self.snapshots(target)), 3)
        # A backup into the target finds the chunks that were copied. Nodes are new, since ctimes that were too recent are known now.
        again = json.loads(self.on(target, "backup", "data", "--force", "--json").splitlines()[-1])  # after lines of progress, if it is slow
        self.assertLess(again["new_raw_bytes"], 5000)

    def test_between_equal_stores(self):
        self.make("source")
        self.make("target")
        self.check_copies("source", "target")
        roots = [json.loads(line) for line in self.copy("source", "target", "--json")]
        self.assertEqual(len(roots), 3)

    def test_into_a_store_that_compresses(self):
        self.make("source", "--compression", "none")
        self.make("target")
        self.check_copies("source", "target")
        self.assertLess(sum(path.stat().st_size for path in (self.folder / "target/containers").glob("*/*")), 1_500_000)

    def test_out_of_a_store_that_compresses(self):
        self.make("source")
        self.make("target", "--compression", "none")
        self.check_copies("source", "target")

    def test_into_an_encrypted_store(self):
        self.make("source")
        self.make("target-two")
        self.check_copies("source", "target-two")

    def test_out_of_an_encrypted_store(self):
        self.make("source-one")
        self.make("target")
        self.check_copies("source-one", "target")

    def test_between_stores_with_other_keys(self):
        self.make("source-one")
        self.make("target-two")
        self.check_copies("source-one", "target-two")

    def test_into_a_store_with_other_cuts(self):
        self.make("source")
        self.make("target", "--cuts", CUTS)
        self.check_copies("source", "target")

    def test_into_a_store_with_another_fingerprint(self):
        self.make("source", "--hash", "sha256")
        self.make("target")
        self.check_copies("source", "target")

    def test_only_the_snapshots_that_are_named(self):
        self.make("source")
        self.make("target")
        snapshots = [self.on("source", "backup", "data", "--time", str(number)).strip() for number in range(1, 4)]
        self.assertEqual(len(self.copy("source", "target", "latest", snapshots[0][:20])), 2)
        self.assertEqual([each["time"] for each in self.snapshots("target").values()], [1_000_000_000, 3_000_000_000])
        self.assert_failed(self.run_copy("source", "target", "0123"), "0123: no snapshot of source begins with it")
        self.assertEqual(len(self.copy("source", "target")), 1)

    def test_the_environment_names_the_stores(self):
        self.make("source-one")
        self.make("target-two")
        self.on("source-one", "backup", "data")
        environment = {
            "CUTPOINT_FROM_STORE": "source-one",
            "CUTPOINT_FROM_PASSWORD_FILE": "password-one",
            "CUTPOINT_STORE": "target-two",
            "CUTPOINT_PASSWORD_FILE": "password-two",
        }
        run = self.run_command("copy", env={**os.environ, **environment})
        self.assert_done(run)
        self.assertEqual(run.lines, list(self.snapshots("target-two")))

    def test_wrong_usage(self):
        self.make("source")
        self.make("target")
        self.assert_refused(self.run_command("copy", "--store", "target"), "no store: give --from-store or set CUTPOINT_FROM_STORE")
        self.assert_refused(self.run_command("copy", "--from-store", "source"), "no store: give --store or set CUTPOINT_STORE")
        self.assert_refused(self.run_copy("data", "target"), "data: this is not a store")

    def test_files_that_have_not_changed_are_not_read_again(self):
        self.make("source")
        self.make("target", "--cuts", CUTS)
        self.on("source", "backup", "data")
        self.assertEqual(len(self.copy("source", "target")), 1)
        for path in (self.folder / "source/containers").glob("*/*"):
            path.chmod(0o600)
            with open(path, "r+b") as file:
                file.seek(100_000)  # in a chunk
                file.write(b"damage")
        self.change("new")
        self.on("source", "backup", "data")
        self.assertEqual(len(self.copy("source", "target")), 1)
        self.assertEqual(self.restored("target", "latest"), facts_of(self.folder / "data"))

    def test_a_snapshot_that_lost_data_is_named_and_the_others_are_copied(self):
        for target, words in (("target", ()), ("recut", ("--cuts", CUTS))):
            with self.subTest(target=target):
                shutil.rmtree(self.folder / "source", ignore_errors=True)
                self.make("source")
                self.make(target, *words)
                damaged = self.on("source", "backup", "data").strip()
                (path,) = (self.folder / "source/containers").glob("*/*")
                path.chmod(0o600)
                with open(path, "r+b") as file:
                    file.seek(1000)
                    file.write(b"damage")
                self.write("other/file", random_bytes(100_000, 5))
                self.on("source", "backup", "other")
                run = self.run_copy("source", target)
                self.assert_failed(run, damaged, f"{self.folder}/data/a: ", "damaged")
                self.assertEqual([each["paths"] for each in self.snapshots(target).values()], [[f"{self.folder}/other"]])
                self.assertEqual(run.lines, list(self.snapshots(target)))
                self.assertIn("no damage", self.on(target, "check", "--read-data"))


class Kills(CopyTest):
    def test_a_copy_that_was_killed_goes_on(self):
        size = 8_000_000 if IS_SANITIZED else 50_000_000
        draw = random.Random(int(os.environ.get("CUTPOINT_SEED") or 1))
        self.make("source")
        self.write("data/large", draw.randbytes(size))
        snapshots = [self.on("source", "backup", "data", "--time", "1").strip()]
        self.change("new")
        snapshots.append(self.on("source", "backup", "data", "--time", "2").strip())
        for target, words in (("target", ()), ("recut", ("--cuts", CUTS)), ("target-two", ())):
            with self.subTest(target=target):
                self.make(target, *words)
                secret = ["--password-file", "password-two"] if "-" in target else []
                for patience in (0.02, 0.05, 0.1, 0.15, 0.2):
                    process = self.start("copy", "--from-store", "source", "--store", target, *secret)
                    time.sleep(patience * (0.5 + draw.random()))
                    process.kill()
                    process.wait()
                self.copy("source", target)
                copies = self.snapshots(target)
                self.assertEqual([each["time"] for each in copies.values()], [1_000_000_000, 2_000_000_000])
                self.assertEqual(self.restored(target, list(copies)[1]), facts_of(self.folder / "data"))
                self.assertIn("no damage", self.on(target, "check", "--read-data"))
