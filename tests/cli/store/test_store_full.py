"""A store on a disk without a free byte: readers read, and what is forgotten and pruned frees room."""

import os
import subprocess

from command import DONE, INPUT_FAILED, CommandTest
from stores import StoreTest
from streams import MIB, random_bytes


class FullDisk(StoreTest):
    location = "disk/store"
    settings = ("--encryption", "none", "--container-size", "1M")

    def setUp(self):
        CommandTest.setUp(self)
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "none", self.disk]
        if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            self.skipTest("nothing can be mounted")
        self.addCleanup(subprocess.run, ["umount", self.disk], check=True)
        self.store("init", *self.settings)

    def fill(self):
        """Leaves no room at all."""
        with open(self.disk / "filler", "ab", buffering=0) as file:
            for size in (MIB, 1):
                try:
                    while file.write(bytes(size)) == size:
                        pass
                except OSError:
                    pass
        self.assertEqual(os.statvfs(self.disk).f_bavail, 0)

    def test_a_prune_frees_room(self):
        self.write("data", random_bytes(5 * MIB, 1))
        old = self.backup()
        self.write("data", random_bytes(3 * MIB, 2))
        snapshot = self.backup()
        for _ in range(2):  # the reserve is there again after the first time
            self.fill()
            run = self.run_store("backup", "--force", "--host", "other", "data")
            self.assertEqual(run.code, INPUT_FAILED)
            self.assertIn("/data", self.store("ls", snapshot))
            self.store("forget", old)
            self.fill()  # also the block of the snapshot that was forgotten
            before = os.statvfs(self.disk).f_bavail
            run = self.run_store("prune")
            self.assertEqual(run.code, DONE, run)
            self.assertGreater((os.statvfs(self.disk).f_bavail - before) * 4096, 4 * MIB)
            self.assert_whole()
            (self.disk / "filler").unlink()
            self.write("other", random_bytes(5 * MIB, 3))
            old = self.backup("other")
