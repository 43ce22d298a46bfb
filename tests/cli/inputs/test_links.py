"""Symbolic links in trees are passed over, or followed with -L; loops are errors that name themselves."""

import os
import socket

from command import INPUT_FAILED
from listings import ListingTest, failed_paths


class Links(ListingTest):
    def setUp(self):
        super().setUp()
        self.write("tree/a")
        self.write("elsewhere/file")

    def link(self, target, name):
        os.symlink(target, self.folder / "tree" / name)

    def test_are_passed_over_or_followed_when_asked(self):
        self.link("../elsewhere/file", "to_file")
        self.link("../elsewhere", "to_folder")
        paths, run = self.listed("tree", "tree/to_file")  # what is given is followed always
        self.assertEqual((paths, run.stderr), (["tree/a", "tree/to_file"], ""))
        for option in ("-L", "--follow"):
            self.assertEqual(self.listed(option, "tree")[0], ["tree/a", "tree/to_file", "tree/to_folder/file"])

    def test_are_told_when_verbose_as_all_that_is_no_file(self):
        self.link("nowhere", "dangling")
        self.link("/dev/zero", "endless")
        os.mkfifo(self.folder / "tree/fifo")  # nobody writes: opening it would wait for ever
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.path.relpath(self.folder / "tree/socket"))
            paths, run = self.listed("-v", "tree")
            os.remove(self.folder / "tree/dangling")
            followed, run_of_followed = self.listed("-v", "-L", "tree")
        self.assertEqual((paths, followed), (["tree/a"], ["tree/a"]))
        for name, kind in (("dangling", "a symbolic link"), ("fifo", "a FIFO"), ("socket", "a socket")):
            self.assertIn(f"tree/{name}: skipped, it is {kind}", run.stderr, run)
        self.assertIn("tree/endless: skipped, it is a character device", run_of_followed.stderr, run)

    def test_that_lead_nowhere_or_back_are_errors_when_followed(self):
        self.write("tree/b/file")
        self.link(".", "self")
        self.link("..", "b/up")
        self.link("itself", "itself")
        self.link("nowhere", "dangling")
        self.assertEqual(self.listed("tree")[0], ["tree/a", "tree/b/file"])
        paths, run = self.listed("-L", "tree", code=INPUT_FAILED)
        self.assertEqual(paths, ["tree/a", "tree/b/file"])
        self.assertEqual(failed_paths(run.stdout), ["tree/b/up", "tree/dangling", "tree/itself", "tree/self"])
        for told in (
            "tree/b/up: directory loop: it is tree again",
            "tree/dangling: cannot be found: No such file or directory",
            "tree/itself: cannot be found: Too many levels of symbolic links",
            "tree/self: directory loop: it is tree again",
        ):
            self.assertIn(told, run.stderr, run)
        self.assertEqual(len(run.stderr.splitlines()), 4, run)
