"""With any amount of memory each command does what it does otherwise, or says in one sentence that it cannot, and leaves a whole store.

The limit is one of addresses (`ulimit -v`). It is swept from the least at which `--version` works, so that the program is loaded, to
twice what the command needs. CUTPOINT_MEMORY_STEP sets a step in KiB; without it each limit is a fourth larger than the one before.
"""

import os
import resource
import shutil
import unittest
from pathlib import Path

from command import DONE, INPUT_FAILED, IS_SANITIZED, subcommands
from stores import StoreTest
from streams import MIB, random_bytes

KIB = 1 << 10

STEP = int(os.environ.get("CUTPOINT_MEMORY_STEP", "0")) * KIB
GROWTH = 1.25
LARGEST = 4096 * MIB  # nothing here needs so much

# Words of each command; those of `mount` fail before anything is mounted, and what `tune` and `bench` measure is little.
THREADS = ("--threads", "2")
FOLDER = ("--store", "store")
WORDS = {
    "chunk": ("chunk", *THREADS, "data"),
    "dedup": ("dedup", *THREADS, "-q", "data"),
    "tune": ("tune", *THREADS, "-q", "--algorithm", "gear", "--size", "4K", "data/deep"),
    "bench": ("bench", "-q", "--rounds", "1", "--bytes", "64K", "--kernels", "--algorithm", "gear", "--hash", "sha1"),
    "list": ("list",),
    "info": ("info", "--json"),
    "init": ("init", "--store", "new", "--encryption", "none"),
    "backup": ("backup", *FOLDER, *THREADS, "data"),
    "snapshots": ("snapshots", *FOLDER, "--json"),
    "ls": ("ls", *FOLDER, "latest"),
    "find": ("find", *FOLDER, "b"),
    "restore": ("restore", *FOLDER, "latest", "--target", "out"),
    "diff": ("diff", *FOLDER, "latest", "latest"),
    "dump": ("dump", *FOLDER, "latest"),
    "mount": ("mount", *FOLDER, "nowhere"),
    "copy": ("copy", "--from-store", "store", "--store", "other", *THREADS),
    "check": ("check", *FOLDER, "--read-data"),
    "repair": ("repair", *FOLDER),
    "forget": ("forget", *FOLDER, "--keep-last", "1"),
    "tag": ("tag", *FOLDER, "--add", "tag", "latest"),
    "rewrite": ("rewrite", *FOLDER, "--exclude", "a", "latest"),
    "prune": ("prune", *FOLDER, "--max-unused", "0"),
    "stats": ("stats", *FOLDER, "--json"),
    "sessions": ("sessions", *FOLDER),
    "key": ("key", "list", "--store", "locked", "--password-file", "password"),
}
SAYS_THE_SAME = ("chunk", "list", "snapshots", "ls", "find", "diff", "dump", "check", "stats", "sessions", "key")
WRITES = ("backup", "copy", "repair", "forget", "tag", "rewrite", "prune")
WRITES_FILES = ("init", "restore", *WRITES)


def contents_below(folder: Path) -> list[bytes]:
    return sorted(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@unittest.skipIf(IS_SANITIZED, "a sanitizer needs terabytes of addresses")
class LittleMemory(StoreTest):
    def setUp(self):
        super().setUp()
        self.write("data/a", random_bytes(300_000, 1))
        self.write("data/deep/b", random_bytes(100_000, 2) + bytes(100_000))
        self.write("password", b"secret\n")
        for _ in range(2):
            self.store("backup", "data")
        for store, settings in (("other", self.settings), ("locked", ("--encryption", "password", "--password-file", "password"))):
            self.assert_done(self.run_command("init", "--store", store, *settings))
        for store in ("store", "other"):
            shutil.copytree(self.folder / store, self.folder / f"{store} before", symlinks=True)

    def run_limited(self, limit: int, *words):
        return self.run_command(*words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))

    def restore_files(self):
        for store in ("store", "other"):
            shutil.rmtree(self.folder / store)
            shutil.copytree(self.folder / f"{store} before", self.folder / store, symlinks=True)
        for folder in (self.folder / "new", self.folder / "out", os.environ["CUTPOINT_STATE_DIR"]):  # it knows newer entries of the log
            shutil.rmtree(folder, ignore_errors=True)

    def least(self) -> int:
        """The least limit at which the program is loaded, to 64 KiB."""
        low, high = 0, LARGEST
        while high - low > 64 * KIB:
            middle = (low + high) // 2
            low, high = (low, middle) if self.run_limited(middle, "--version").code == DONE else (middle, high)
        return high

    def test_every_command_succeeds_or_says_what_it_lacks(self):
        self.assertEqual(list(WORDS), subcommands())
        least = self.least()
        for name, words in WORDS.items():
            expected = self.run_command(*words)
            self.assertEqual(expected.code, INPUT_FAILED if name == "mount" else DONE, expected)
            self.restore_files()
            limit, enough = least, 0
            while limit < LARGEST and (not enough or limit <= 2 * enough):
                run = self.run_limited(limit, *words)
                with self.subTest(command=name, kibibytes=limit // KIB):
                    if self.check(name, run, expected):
                        enough = enough or limit
                    else:
                        enough = 0
                limit = limit + STEP if STEP and not enough else int(limit * GROWTH)
            self.assertTrue(enough, name)

    def check(self, name: str, run, expected) -> bool:
        """Returns whether the command did what it does with much memory."""
        is_right = (run.code, run.stderr) == (expected.code, expected.stderr)
        if not is_right:
            self.assert_failed(run)
            self.assertEqual(run.stderr.count("\n"), 1, run)
        elif name in SAYS_THE_SAME:
            self.assertEqual(run.bytes, expected.bytes, run)
        elif name == "restore":
            self.assertEqual(contents_below(self.folder / "out"), contents_below(self.folder / "data"), run)
        if name in WRITES:
            for store in ("store", "other"):
                whole = self.run_command("check", "--read-data", "--store", store)
                self.assertIn("no damage", whole.stdout, run)
        if name in WRITES_FILES:
            self.restore_files()
        return is_right
