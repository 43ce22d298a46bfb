"""Several writers, prunes and forgets are killed at random, and every committed snapshot comes back byte for byte.

CUTPOINT_KILLS says how many kills, CUTPOINT_SEED which."""

import hashlib
import json
import os
import random
import shutil
import time
import unittest
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
        self.expected: dict = {}  # what the snapshots that were printed and not forgotten must contain
        self.folders = [self.folder / f"source{number}" for number in range(WRITERS)]
        for folder in self.folders:
            folder.mkdir()
            self.change(folder, 30)

    def change(self, folder: Path, files: int):
        for _ in range(files):
            (folder / f"file{self.random.randrange(30)}").write_bytes(self.random.randbytes(self.random.randrange(300_000)))

    def back_up_all(self) -> int:
        """Backs up all folders at once, and returns the number of kills."""
        running, printed, kills = [], {}, 0
        for folder in self.folders:
            self.change(folder, self.random.randrange(6))
            running.append((self.start("backup", folder, "--store", "store", text=True), digests_of(folder)))
        running += [(process, None) for process in self.remove_some()]
        for process, _ in running:
            if self.random.random() < 0.8:
                time.sleep(self.random.random() * 0.03)
                kills += process.poll() is None
                process.kill()
        for process, digests in running:
            said, complaint = process.communicate()
            self.assertIn(process.returncode, (0, -9), complaint)
            if digests and len(said.strip()) == 64:
                printed[said.strip()] = digests
        # All sessions have ended, so no prune needs to wait until the leases of those that were killed expire.
        for lease in (self.folder / "store/leases").iterdir():
            lease.unlink()
        self.expected |= printed
        return kills

    def remove_some(self) -> list:
        """Forgets a snapshot and prunes, while the backups run."""
        commands = []
        if len(self.expected) > 6:
            forgotten = self.random.choice(sorted(self.expected))
            del self.expected[forgotten]
            commands.append(["forget", forgotten])
        if self.random.random() < 0.7:
            commands.append(["prune", "--max-unused", "0"])
        return [self.start(*words, "--store", "store", text=True) for words in commands]

    def test_nothing_committed_is_lost(self):
        kills, rounds = 0, 0
        while kills < KILLS and rounds < 20 * KILLS:
            kills += self.back_up_all()
            rounds += 1
        self.assertGreaterEqual(kills, KILLS)
        self.assertIn("no damage", self.run_command("check", "--read-data", "--store", "store").stdout)
        listed = self.run_command("snapshots", "--json", "--store", "store")
        found = {each["id"]: each for each in map(json.loads, listed.lines)}
        self.assertEqual(set(self.expected) - set(found), set())
        for snapshot, facts in found.items():  # some were killed after the commit and before they were printed
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            source = f"{snapshot}:{facts['paths'][0]}"
            self.assertEqual(self.run_command("restore", source, "--target", "out", "--store", "store").code, 0)
            if snapshot in self.expected:
                self.assertEqual(digests_of(self.folder / "out"), self.expected[snapshot])


if __name__ == "__main__":
    unittest.main()
