"""What the user may not read is named, and the rest is done. Run by root, these tests become somebody else."""

import os
import shutil
import stat
import subprocess

import command
from command import CommandTest
from listings import failed_paths, read_jsonl

NOBODY = 65534


class Unreadable(CommandTest):
    def setUp(self):
        super().setUp()
        self.user = {}
        if os.geteuid() == 0:
            self.become_nobody()
        for name in ("tree/a", "tree/file", "tree/folder/inside", "tree/shut/inside", "tree/z"):
            self.write(name, name.encode())
        self.allow("tree/file", 0)
        self.allow("tree/folder", 0)
        self.allow("tree/shut", stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH)  # its names, not what they stand for
        for name in ("tree/folder", "tree/shut"):
            self.addCleanup(self.allow, name, stat.S_IRWXU)

    def allow(self, name, mode):
        (self.folder / name).chmod(mode)

    def become_nobody(self):
        """A copy of the command, for the build folder may be root's alone."""
        self.folder.chmod(0o755)
        self.binary = shutil.copy(command.BINARY, self.folder / "cutpoint")
        self.user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        try:
            tried = subprocess.run([self.binary, "--version"], capture_output=True, check=False, **self.user)
        except (PermissionError, OSError) as error:
            self.skipTest(f"root cannot become another user here: {error}")
        if tried.returncode != 0:
            self.skipTest("another user cannot run the command here")

    def listed(self, *arguments):
        how = {**self.user, **({"executable": self.binary} if self.user else {})}
        return self.run_command("chunk", "--hash", "none", "--format", "jsonl", *arguments, **how)

    def test_things_in_a_tree_are_named_and_the_rest_is_done(self):
        run = self.listed("tree")
        self.assert_failed(
            run,
            "tree/file: cannot be opened: Permission denied",
            "tree/folder: cannot be read as a directory: Permission denied",
            "tree/shut/inside: cannot be found: Permission denied",
        )
        self.assertEqual([row.path for row in read_jsonl(run.stdout).rows], ["tree/a", "tree/z"], run)
        self.assertEqual(len(run.stderr.splitlines()), 3, run)

    def test_what_is_given_is_named_and_told_to_programs(self):
        run = self.listed("tree/a", "tree/file", "tree/folder/inside", "tree/folder", "tree/z")
        self.assert_failed(run, "tree/file: ", "tree/folder/inside: ", "Permission denied")
        self.assertEqual([row.path for row in read_jsonl(run.stdout).rows], ["tree/a", "tree/z"], run)
        self.assertEqual(failed_paths(run.stdout), ["tree/file", "tree/folder/inside", "tree/folder"])

    def test_outputs_are_named(self):
        run = self.listed("-o", "tree/shut/output", "tree/a")
        self.assert_failed(run, "tree/shut/output: cannot be opened for writing: Permission denied")
        self.assertEqual(run.stdout, "", run)
