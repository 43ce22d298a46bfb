"""Limits of the system on one process: the size of files, how many are open. What meets one says so; what need not meet it does not."""

import os
import resource
import shutil
import signal
import tempfile
import unittest
from pathlib import Path

from command import DONE, INPUT_FAILED, CommandTest
from stores import StoreTest, facts_of, paths_below
from streams import MIB, random_bytes

KIB = 1 << 10
LARGEST_FILE = (1 << 63) - 1


def limited(which: int, value: int) -> dict:
    """How a process is started that has this limit, and may not raise it."""
    return {"preexec_fn": lambda: resource.setrlimit(which, (value, value))}


def with_sizes(value: int) -> dict:
    return limited(resource.RLIMIT_FSIZE, value)


def told_of_sizes(value: int) -> str:
    return f"File too large (the limit of file sizes, ulimit -f, is {value} bytes)"


class SizesOfOutputs(CommandTest):
    def test_do_not_matter_to_what_writes_none(self):
        self.write("data", random_bytes(3 * MIB, 1))
        for words in (
            ("dedup", "--json", "data"),
            ("chunk", "data"),
            ("tune", "--size", "8K", "--sample", "1M", "--algorithm", "gear", "data"),
            ("bench", "--engine", "--algorithm", "gear", "--bytes", "1M", "--rounds", "1"),
        ):
            for value in (0, 64 * KIB):
                run = self.run_command(*words, **with_sizes(value))
                self.assertEqual(run.code, DONE, run)

    def test_are_reported_with_the_name_of_the_output(self):
        self.write("data", random_bytes(3 * MIB, 1))
        words = ("chunk", "--size", "1K", "data")
        run = self.run_command(*words, "--output", "listing", **with_sizes(4096))
        self.assert_failed(run, "listing: cannot be written: " + told_of_sizes(4096))
        with open(self.folder / "stdout", "wb") as file:
            run = self.run_command(*words, stdout=file, **with_sizes(4096))
        self.assert_failed(run, "standard output: cannot be written: " + told_of_sizes(4096))
        self.assertEqual((self.folder / "stdout").stat().st_size, 4096)

    def test_of_a_key_file_leave_no_part_of_one(self):
        run = self.run_command("init", "--store", "store", "--encryption", "key-file", "--key-file", "key", **with_sizes(7))
        self.assert_failed(run, "key: cannot be written: " + told_of_sizes(7))
        self.assertFalse((self.folder / "key").exists())

    def test_an_inherited_disposition_stays(self):
        """The command handles the signal, and whatever it starts gets what the command got."""
        number = 1 << (signal.SIGXFSZ - 1)
        for ignored in (False, True):
            command = "grep SigIgn: /proc/self/status | tee ignored"
            run = self.run_command(
                "init", "--store", f"store-{ignored}", "--encryption", "password", "--password-command", command,
                restore_signals=False, preexec_fn=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN if ignored else signal.SIG_DFL),
            )  # fmt: skip
            self.assert_done(run)
            mask = int((self.folder / "ignored").read_text().split()[1], 16)
            self.assertEqual(bool(mask & number), ignored)


class SizesOfObjects(StoreTest):
    limit = 64 * KIB

    def setUp(self):
        super().setUp()
        self.write("data/large", random_bytes(MIB, 1))
        self.write("data/small", b"small")

    def run_limited(self, command: str, *words):
        return self.run_store(command, *words, **with_sizes(self.limit))

    def assert_told(self, run):
        self.assert_failed(run, "cannot be written: " + told_of_sizes(self.limit))
        self.assertEqual(len(run.stderr.splitlines()), 1, run)

    def assert_nothing_half_written(self, store="store"):
        """Of temporary files there is only the reserve for a full disk."""
        left = [path.name for path in (self.folder / store / "temporary").iterdir()]
        self.assertEqual([name for name in left if not name.startswith("reserve-")], [])

    def test_stop_a_backup_that_can_be_repeated(self):
        self.assert_told(self.run_limited("backup", "data"))
        self.assert_nothing_half_written()
        self.assertEqual(self.snapshots(), [])
        self.assert_whole()
        restored = {os.path.basename(path): facts for path, facts in self.restored(self.backup()).items()}
        self.assertEqual(restored["large"], facts_of(self.folder / "data")["large"])
        self.assert_whole()

    def test_of_zero_stop_all_that_writes(self):
        snapshot = self.backup()
        for words in (("backup", "data"), ("tag", "--add", "x", snapshot), ("prune",)):
            run = self.run_store(*words, **with_sizes(0))
            self.assertIn(run.code, (DONE, INPUT_FAILED), run)
            if run.code != DONE:
                self.assertIn(told_of_sizes(0), run.stderr, run)
            self.assert_nothing_half_written()
        self.assert_whole()
        self.assertEqual(len(self.snapshots()), 1)

    def test_leave_a_file_out_of_a_restore(self):
        snapshot = self.backup()
        run = self.run_limited("restore", snapshot, "--target", "out")
        self.assert_failed(run, told_of_sizes(self.limit))
        small = [path for path in paths_below(self.folder / "out") if path.name == "small"]
        self.assertEqual([path.read_bytes() for path in small], [b"small"])
        self.assertEqual(self.restored(snapshot), self.restored(snapshot))

    def test_stop_a_dump(self):
        snapshot = self.backup()
        with open(self.folder / "stdout", "wb") as file:
            run = self.run_store("dump", f"{snapshot}:{self.folder}/data/large", stdout=file, **with_sizes(self.limit))
        self.assert_failed(run, "standard output: cannot be written: " + told_of_sizes(self.limit))

    def test_stop_a_copy_that_can_be_repeated(self):
        self.backup()
        self.assert_done(self.run_command("init", "--store", "other", "--encryption", "none"))
        words = ("copy", "--from-store", "store", "--store", "other")
        self.assert_told(self.run_command(*words, **with_sizes(self.limit)))
        self.assert_nothing_half_written("other")
        self.assert_done(self.run_command(*words))
        self.assertIn("no damage", self.run_command("check", "--store", "other", "--read-data").stdout)

    def test_stop_a_prune_that_can_be_repeated(self):
        old = self.backup()
        self.write("data/large", random_bytes(MIB, 1)[: MIB // 2] + random_bytes(MIB // 2, 2))
        self.backup()
        self.store("forget", old)
        run = self.run_limited("prune")
        if run.code != DONE:  # it rewrites a container
            self.assert_told(run)
        self.assert_nothing_half_written()
        self.assert_whole()
        self.store("prune")
        self.assert_whole()


class OpenFiles(StoreTest):
    """With few descriptors every command does its work, or says which limit it met."""

    def setUp(self):
        super().setUp()
        for i in range(100):
            self.write(f"data/{i % 7}/{i}", random_bytes(20_000, i))
        self.write("/".join(["data", *"abcdefghijklmnopqrstuvwxyz" * 2, "deep"]), b"deep")
        self.write("data/large", random_bytes(3 * MIB, 1))

    def run_with(self, count: int, command: str, *words):
        run = self.run_command(command, *words, **limited(resource.RLIMIT_NOFILE, count))
        if run.code != DONE:
            self.assertEqual(run.code, INPUT_FAILED, run)
            for line in run.stderr.splitlines():
                self.assertIn(f"(the limit of open files, ulimit -n, is {count})", line, run)
        return run

    def test_may_be_few(self):
        for i in range(4):
            self.write("data/changed", random_bytes(50_000, 1000 + i))
            self.backup()
        for count in (8, 16, 20, 24, 28, 32, 40, 64):
            with self.subTest(descriptors=count):
                other, out = f"other-{count}", f"out-{count}"
                self.write("data/changed", random_bytes(50_000, count))
                self.assert_done(self.run_command("init", "--store", other, "--encryption", "none"))
                runs = [
                    self.run_with(count, *words)
                    for words in (
                        ("dedup", "--json", "data"),
                        ("backup", "--store", "store", "data"),
                        ("check", "--store", "store", "--read-data"),
                        ("restore", "--store", "store", "latest", "--target", out),
                        ("copy", "--from-store", "store", "--store", other),
                        ("forget", "--store", "store", "--keep-last", "3"),
                        ("prune", "--store", "store"),
                        ("check", "--store", other),
                    )
                ]
                self.assert_whole()
                if count >= 24:
                    self.assertEqual([run.code for run in runs], [DONE] * len(runs), "\n".join(str(run) for run in runs if run.code))
                    deep = [path for path in paths_below(self.folder / out) if path.name == "deep"]
                    self.assertEqual([path.read_bytes() for path in deep], [b"deep"])
                shutil.rmtree(self.folder / out, ignore_errors=True)


class LargestFile(StoreTest):
    """A file as long as files can be, in memory, where its file system takes it."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="cutpoint-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.addCleanup(folder.cleanup)
        self.memory = Path(folder.name)
        try:
            with open(self.memory / "largest", "wb") as file:
                file.write(b"begin")
                file.truncate(LARGEST_FILE)
        except OSError as refused:
            self.skipTest(f"there is no file of 2^63 - 1 bytes here: {refused}")

    def test_is_counted(self):
        for words in ((), ("--algorithm", "fixed", "--size", "16M", "--memory", "32M"), ("--input", "pread")):
            report = self.run_command("dedup", "--json", *words, self.memory / "largest")
            self.assert_done(report)
            self.assertEqual(report.json()["result"]["bytes"], LARGEST_FILE)

    def test_is_stored_and_restored(self):
        snapshot = self.backup(self.memory / "largest")
        self.store("restore", snapshot, "--target", self.memory / "out")
        restored = next(path for path in paths_below(self.memory / "out") if path.name == "largest")
        self.assertEqual(restored.stat().st_size, LARGEST_FILE)
        with open(restored, "rb") as file:
            self.assertEqual(file.read(9), b"begin\0\0\0\0")


class LongChunks(CommandTest):
    def test_of_holes_are_counted_within_the_memory(self):
        size = 1 << 42
        with open(self.folder / "sparse", "wb") as file:
            file.write(random_bytes(100_000, 1))
            file.truncate(size)
        for algorithm, length in (("fixed", "16M"), ("fastcdc", "4M")):
            run = self.run_command("dedup", "--json", "--algorithm", algorithm, "--size", length, "--memory", "40M", "sparse")
            self.assert_done(run)
            report = run.json()
            self.assertEqual(report["result"]["bytes"], size)
            self.assertGreater(report["work"]["run_bytes"], size * 0.99)


if __name__ == "__main__":
    unittest.main()
