"""Several writers, prunes, forgets and copies are killed at random, and every committed snapshot comes back byte for byte.

CUTPOINT_KILLS says how many kills, CUTPOINT_SEED which."""

import hashlib
import json
import os
import random
import shutil
import time
from pathlib import Path

from command import CommandTest

KILLS = int(os.environ.get("CUTPOINT_KILLS") or 30)
WRITERS = 3


def digests_of(folder: Path) -> dict:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


class Kills(CommandTest):
    def setUp(self):
        super().setUp()
        self.random = random.Random(int(os.environ.get("CUTPOINT_SEED") or 1))
        self.assert_done(self.run_command("init", "--store", "store", "--encryption", "none"))
        self.assert_done(self.run_command("init", "--store", "second", "--encryption", "none", "--container-size", "256K"))
        self.expected: dict = {}  # what the snapshots that were printed and not forgotten must contain
        self.contents: dict = {}  # what each snapshot had, by its time, which its copy has too
        self.folders = [self.folder / f"source{number}" for number in range(WRITERS)]
        for folder in self.folders:
            folder.mkdir()
            self.change(folder, 30)

    def change(self, folder: Path, files: int):
        for _ in range(files):
            (folder / f"file{self.random.randrange(30)}").write_bytes(self.random.randbytes(self.random.randrange(300_000)))

    def run_all(self) -> int:
        """Backs up all folders at once, beside other commands, and returns the number of kills."""
        running, printed, kills = [], {}, 0
        for folder in self.folders:
            self.change(folder, self.random.randrange(6))
            running.append((self.start("backup", folder, "--store", "store", text=True), digests_of(folder)))
        others = [*self.removals(), *self.copies()]
        running += [(self.start(*words, text=True), None) for words in others]
        for process, _ in running:
            if self.random.random() < 0.8:
                time.sleep(self.random.random() * 0.03)
                kills += process.poll() is None
                process.kill()
        for process, digests in running:
            said, complaint = process.communicate()
            # A copy cannot read a snapshot that is forgotten and pruned meanwhile.
            codes = (0, -9, 1) if process.args[1] == "copy" and any(words[0] == "forget" for words in others) else (0, -9)
            self.assertIn(process.returncode, codes, complaint)
            if digests and len(said.strip()) == 64:
                printed[said.strip()] = digests
        self.expected |= printed
        for snapshot, facts in self.snapshots("store").items():
            if snapshot in printed:
                self.contents[facts["time"]] = printed[snapshot]
        return kills

    def removals(self) -> list:
        """Commands that forget a snapshot, replace one, repair and prune."""
        commands = []
        versions = self.versions()
        if len(self.expected) > 6:
            forgotten = self.random.choice(sorted(self.expected))
            del self.expected[forgotten]
            commands.append(["forget", versions[forgotten], "--store", "store"])
        if self.expected and self.random.random() < 0.4:
            replaced = self.random.choice(sorted(self.expected))
            commands.append(["tag", "--add", f"tag{self.random.randrange(100)}", versions[replaced], "--store", "store"])
        if self.random.random() < 0.3:
            commands.append(["repair", "--store", "store"])
        if self.random.random() < 0.7:
            commands.append(["prune", "--max-unused", "0", "--store", "store"])
        return commands

    def copies(self) -> list:
        """Commands that copy everything to the second store, and remove something there."""
        commands = []
        if self.random.random() < 0.5:
            commands.append(["copy", "--from-store", "store", "--store", "second"])
        if self.random.random() < 0.3:
            commands.append(["forget", "--keep-last", "3", "--group-by", "", "--prune", "--store", "second"])
        return commands

    def snapshots(self, store: str) -> dict:
        return {each["id"]: each for each in map(json.loads, self.run_command("snapshots", "--json", "--store", store).lines)}

    def versions(self) -> dict:
        """The ids that snapshots have now, by those that they had at first."""
        return {each.get("original") or each["id"]: each["id"] for each in self.snapshots("store").values()}

    def check(self, store: str):
        """Restores every snapshot. Some were killed after the commit and before they were printed, so nobody knows what they had."""
        run = self.run_command("check", "--read-data", "--store", store)
        self.assertIn("no damage", run.stdout, run.stderr)
        for snapshot, facts in self.snapshots(store).items():
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            source = f"{snapshot}:{facts['paths'][0]}"
            self.assertEqual(self.run_command("restore", source, "--target", "out", "--store", store).code, 0)
            if facts["time"] in self.contents:
                self.assertEqual(digests_of(self.folder / "out"), self.contents[facts["time"]])

    def test_nothing_committed_is_lost(self):
        kills, rounds = 0, 0
        while kills < KILLS and rounds < 20 * KILLS:
            kills += self.run_all()
            rounds += 1
            if rounds % 100 == 0:
                self.check("store")
        self.assertGreaterEqual(kills, KILLS)
        self.assertEqual(set(self.expected) - set(self.versions()), set())
        self.check("store")
        self.assert_done(self.run_command("copy", "--from-store", "store", "--store", "second"))
        times = {each["time"] for each in self.snapshots("second").values()}
        self.assertLessEqual({each["time"] for each in self.snapshots("store").values()}, times)
        self.check("second")
