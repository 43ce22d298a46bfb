"""Each system call of a backup fails in turn: the backup says why, or succeeds, and the store stays whole."""

import json
import os
import re
import shutil
import unittest

from command import BINARY
from stores import StoreTest

FAULTS = {
    "fdatasync": ("EIO", "ENOSPC"),
    "fsync": ("EIO",),
    "write": ("ENOSPC", "EIO", "EINTR"),
    "openat": ("EIO", "EMFILE"),
    "renameat2": ("EIO", "ENOSPC"),
    "pread64": ("EIO", "EINTR"),
    "unlinkat": ("EIO",),
    "getdents64": ("EIO",),
    "clone3": ("EAGAIN",),
}


@unittest.skipUnless(shutil.which("strace"), "needs strace")
class Faults(StoreTest):
    def setUp(self):
        super().setUp()
        for number in range(5):
            self.write(f"data/{number}", os.urandom(150_000))
        self.first = self.backup()
        (self.folder / "store").rename(self.folder / "whole")
        self.write("data/0", os.urandom(150_000))

    def backup_by_strace(self, *how):
        """A backup under strace, into a copy of the store."""
        shutil.rmtree(self.folder / "store", ignore_errors=True)
        shutil.copytree(self.folder / "whole", self.folder / "store")
        return self.traced(how, "backup", "data", "--store", "store")

    def traced(self, how, *command):
        words = ["strace", "-f", "-o", "trace", *how, BINARY, *command]
        process = self.start(*words[1:], executable=shutil.which("strace"))
        process.args = words
        return self.wait(process)

    def calls_of_main(self, call: str) -> tuple[int, int]:
        """The number of a call before the first that the program itself makes, and of all."""
        self.assertEqual(self.backup_by_strace("-e", f"trace={call},set_robust_list").code, 0)
        lines = (self.folder / "trace").read_text().splitlines()
        started = max((number for number, line in enumerate(lines) if "libudev" in line or "libcap" in line or ".so." in line), default=-1)
        named = [number for number, line in enumerate(lines) if re.search(rf"\b{call}\(", line)]
        return sum(number <= started for number in named), len(named)

    def test_a_store_stays_whole(self):
        runs = 0
        for call, errors in FAULTS.items():
            before, all_calls = self.calls_of_main(call)
            steps = range(before + 1, all_calls + 1)
            if len(steps) > 12:
                steps = (*steps[:4], *steps[4:-4:3], *steps[-4:])
            for error in errors:
                for step in steps:
                    with self.subTest(call=call, error=error, step=step):
                        self.check_after(self.backup_by_strace("-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={step}"))
                        runs += 1
        self.assertGreater(runs, 50)

    def test_the_names_of_folders_that_init_makes_are_durable(self):
        top = self.folder.resolve()
        for store, folders in (("a/b/store", ("", "a", "a/b")), ("a/b/other/", ("a/b",))):
            self.assert_done(self.traced(("-y", "-e", "trace=fsync"), "init", "--store", store, "--encryption", "none"))
            synced = re.findall(r"fsync\(\d+<(.*?)>\) += 0", (self.folder / "trace").read_text())
            for folder in folders:
                self.assertIn(str(top / folder), synced)

    def test_hard_links_that_become_copies_are_said_once(self):
        for name in ("second", "third"):
            os.link(self.folder / "data/0", self.folder / "data" / name)
        self.assert_done(self.run_command("backup", "data", "--store", "whole"))
        for how in ((), ("--json",)):
            refused = ("-e", "trace=linkat", "-e", "inject=linkat:error=EPERM")
            run = self.traced(refused, "restore", f"latest:{self.folder}/data", "--target", "out", "--store", "whole", "--overwrite", *how)
            self.assert_failed(run, "becomes a copy of", "cannot be a hard link", "Operation not permitted")
            self.assertEqual(run.stderr.count("becomes a copy of"), 1, run)
            for name in ("0", "second", "third"):
                self.assertEqual((self.folder / "out" / name).read_bytes(), (self.folder / "data/0").read_bytes())
        self.assertEqual(json.loads(run.stdout)["copied_links"], 2)

    def test_further_links_are_those_of_a_copy_where_a_file_can_have_no_more(self):
        for name in ("1st", "2nd", "3rd", "4th"):
            os.link(self.folder / "data/0", self.folder / "data" / name)
        self.assert_done(self.run_command("backup", "data", "--store", "whole"))
        full = ("-e", "trace=linkat", "-e", "inject=linkat:error=EMLINK:when=2")
        run = self.traced(full, "restore", f"latest:{self.folder}/data", "--target", "out", "--store", "whole")
        self.assert_failed(run, "becomes a copy of", "Too many links")
        links = sorted((self.folder / "out" / name).stat().st_nlink for name in ("0", "1st", "2nd", "3rd", "4th"))
        self.assertEqual(links, [2, 2, 3, 3, 3])

    def test_attributes_that_cannot_be_listed_are_a_problem_with_the_name_of_the_file(self):
        try:
            os.setxattr(self.folder / "data/0", "user.comment", b"x")
        except OSError as error:
            self.skipTest(f"this file system has no attributes: {error}")
        for error in ("EOPNOTSUPP", "EPERM", "ENOSYS"):
            run = self.backup_by_strace("-e", "trace=listxattr,flistxattr", "-e", f"inject=listxattr,flistxattr:error={error}")
            self.assert_failed(run, f"{self.folder}/data/0: cannot be asked for its extended attributes")
        none = ("listxattr", "flistxattr", "getxattr", "fgetxattr")  # as a file system without attributes answers
        injected = [word for call in none for word in ("-e", f"inject={call}:error=EOPNOTSUPP")]
        run = self.backup_by_strace("-e", f"trace={','.join(none)}", *injected)
        self.assertEqual(run.code, 0, run)
        self.assertNotIn("attributes", run.stderr)
        file_systems = {path.stat().st_dev for path in (self.folder / "data", *(self.folder / "data").resolve().parents)}
        asked = (self.folder / "trace").read_text().count("user.cutpoint.unused")
        self.assertIn(asked, range(1, len(file_systems) + 1))

    def check_after(self, run):
        if "error while loading shared libraries" in run.stderr:
            return  # the program had not begun
        self.assertIn(run.code, (0, 1, 2), run)
        self.assertTrue(run.code == 0 or run.stderr.startswith("cutpoint: "), run)
        self.assertIn("no damage", self.run_store("check", "--read-data").stdout, run)
        for snapshot in (self.first, *([run.stdout.strip()] if run.code == 0 else [])):
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            restored = self.run_store("restore", f"{snapshot}:{self.folder}/data", "--target", "out")
            self.assertEqual(restored.code, 0, restored)
        if run.code == 0:
            for path in (self.folder / "data").iterdir():
                self.assertEqual((self.folder / "out" / path.name).read_bytes(), path.read_bytes(), run)
