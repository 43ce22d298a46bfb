"""Where /proc is missing, as in a sandbox, the command does what it does elsewhere, and says what it cannot."""

import os
import shutil
import stat
import subprocess
import unittest

from command import BINARY, PATIENCE, Outcome
from stores import StoreTest, all_facts_of
from streams import random_bytes


def without_proc(*words) -> list[str]:
    """A command with an empty folder in the place of /proc: by root, or in a name space in which the user is root."""
    names = ["--mount"] if os.geteuid() == 0 else ["--mount", "--map-root-user"]
    return ["unshare", *names, "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh", *words]


def why_not() -> str:
    """Why /proc cannot be taken away here, or nothing."""
    if not shutil.which("unshare"):
        return "unshare is not installed"
    run = subprocess.run(without_proc("test", "!", "-e", "/proc/self"), capture_output=True, text=True, timeout=PATIENCE, check=False)
    return "" if run.returncode == 0 else f"/proc cannot be taken away: {run.stderr.strip()}"


WHY_NOT = why_not()


@unittest.skipIf(WHY_NOT, WHY_NOT)
class WithoutProc(StoreTest):
    def setUp(self):
        super().setUp()
        self.write("data/a", random_bytes(300_000, 1))
        self.write("data/folder/b", random_bytes(200_000, 2))
        self.write("data/empty", b"")
        (self.folder / "data/link").symlink_to("folder/b")
        os.link(self.folder / "data/a", self.folder / "data/another-name-of-a")
        os.mkfifo(self.folder / "data/fifo", 0o640)
        self.has_attributes = True
        try:
            for name in ("a", "empty", "folder"):
                os.setxattr(self.folder / "data" / name, "user.comment", name.encode())
        except OSError:
            self.has_attributes = False

    def run_without(self, *words) -> Outcome:
        process = subprocess.run(without_proc(BINARY, *words), cwd=self.folder, capture_output=True, timeout=PATIENCE, check=False)
        return Outcome(words, process.returncode, process.stdout, process.stderr)

    def done_without(self, *words) -> str:
        run = self.run_without(*words)
        self.assert_done(run)
        return run.stdout

    def test_files_and_their_attributes_are_stored_and_restored(self):
        self.done_without("backup", "--store", "store", "data")
        (stored,) = self.snapshots()
        self.assertFalse(stored["is_incomplete"])
        for run in (self.run_store, lambda *words: self.run_without(words[0], "--store", "store", *words[1:])):
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            self.assert_done(run("restore", f"latest:{self.folder}/data", "--target", "out"))
            self.assertEqual(all_facts_of(self.folder / "out"), all_facts_of(self.folder / "data"))
        if self.has_attributes:
            self.assertEqual(os.getxattr(self.folder / "out/empty", "user.comment"), b"empty")

    @unittest.skipIf(os.geteuid() != 0, "attributes of links are for root")
    def test_what_links_have_is_named_once(self):
        (self.folder / "data/other-link").symlink_to("a")
        try:
            for name in ("link", "other-link"):
                os.setxattr(self.folder / "data" / name, "trusted.cutpoint", b"of a link", follow_symlinks=False)
        except OSError as error:
            self.skipTest(f"links have no attributes here: {error}")
        run = self.run_without("backup", "--store", "store", "data")
        self.assert_failed(run, "link: its extended attributes cannot be read without /proc")
        self.assertEqual(run.stderr.count("\n"), 1, run)
        self.backup()
        facts = all_facts_of(self.folder / "data")
        self.assertEqual(self.restored(f"latest:{self.folder}/data")["link"][0], stat.filemode(stat.S_IFLNK | 0o777))
        self.assertEqual(all_facts_of(self.folder / "out"), facts, "the next backup with /proc has them")
        shutil.rmtree(self.folder / "out")
        run = self.run_without("restore", "--store", "store", f"latest:{self.folder}/data", "--target", "out")
        self.assert_failed(run, "its extended attribute trusted.cutpoint without /proc cannot be set")
        self.assertEqual(run.stderr.count("\n"), 1, run)

    def test_other_commands_work(self):
        self.backup()
        for words in (("ls", "latest"), ("find", "b"), ("check", "--read-data"), ("stats",), ("diff", "latest", "latest"), ("prune",)):
            self.done_without(words[0], "--store", "store", *words[1:])
        self.assertIn("instructions unknown", self.done_without("info"))
        for words in (("dedup", "-q", "data"), ("chunk", "-q", "--format", "jsonl", "data/a"), ("list",)):
            self.assertEqual(bool(self.done_without(*words)), True, words)
        self.assertNotEqual(self.done_without("info", "--calibrate", "--json"), "")
