"""The memory of backups, copies and checks does not grow with what is stored, as the kernel counts it."""

import os
import subprocess
import unittest

from command import DONE, IS_SANITIZED, CommandTest
from streams import MIB, random_bytes

CHUNK_BYTES = 64
# Most bytes of memory for each further chunk. The pages of shards that a copy has mapped are some 50 of them, and up to 70 on a busy machine;
# a table of digests and places would take 100 or more besides.
GROWTH = 90


@unittest.skipIf(IS_SANITIZED, "a sanitizer's memory is not the command's")
class StoreMemory(CommandTest):
    def run_store(self, store: str, *words) -> int:
        """Peak of the memory of a command in bytes."""
        process = self.start(*words, "--store", store, stdout=subprocess.DEVNULL, stderr=None)
        _, state, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(state)
        self.assertEqual(process.returncode, DONE, words)
        return usage.ru_maxrss * 1024

    def test_of_a_check_is_one_container_however_many_threads_read_it(self):
        with (self.folder / "data").open("wb") as data:
            for seed in range(112):  # three containers and a half
                data.write(random_bytes(MIB, seed))
        self.run_store("store", "init", "--encryption", "none", "--compression", "none")
        self.run_store("store", "backup", "data")
        tables = self.run_store("store", "check")
        all_data = self.run_store("store", "check", "--read-data")
        self.assertLess(all_data - tables, 48 * MIB)

    def test_grows_with_no_table_of_chunks(self):
        counts, backups, copies = [], [], []
        for data_bytes in (64 * MIB, 128 * MIB):  # the caches are full at the former
            with (self.folder / "data").open("wb") as data:  # in blocks: a child's peak begins at the memory of its parent
                for seed in range(data_bytes // MIB):
                    data.write(random_bytes(MIB, seed))
            stores = f"from-{data_bytes}", f"to-{data_bytes}"
            for store in stores:
                self.run_store(store, "init", "--encryption", "none", "--compression", "none", "--cuts", f"fixed(avg_bytes={CHUNK_BYTES})")
            backups.append(self.run_store(stores[0], "backup", "--memory", "64M", "data"))
            copies.append(self.run_store(stores[1], "copy", "--memory", "64M", "--from-store", stores[0]))
            counts.append(data_bytes // CHUNK_BYTES)
        for peaks in (backups, copies):
            self.assertLess(peaks[1] - peaks[0], GROWTH * (counts[1] - counts[0]), peaks)
