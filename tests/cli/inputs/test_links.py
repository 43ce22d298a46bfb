"""Symbolic links in trees are passed over, or followed with -L; loops are errors that name themselves."""

import os
import socket

from command import DONE, INPUT_FAILED, CommandTest
from listings import failed_paths, read_jsonl


class LinkTest(CommandTest):
    def link(self, target, name):
        os.symlink(target, self.folder / name)

    def listed(self, *arguments, code=DONE):
        run = self.run_command("chunk", "--hash", "none", "--format", "jsonl", *arguments)
        self.assertEqual(run.code, code, run)
        return [row.path for row in read_jsonl(run.stdout).rows], run


class Links(LinkTest):
    def setUp(self):
        super().setUp()
        self.write("tree/a")
        self.write("elsewhere/file")
        self.link("../elsewhere/file", "tree/to_file")
        self.link("../elsewhere", "tree/to_folder")
        self.link("nowhere", "tree/dangling")

    def test_in_a_tree_are_passed_over(self):
        paths, run = self.listed("tree")
        self.assertEqual(paths, ["tree/a"])
        self.assertEqual(run.stderr, "")

    def test_passed_over_are_told_when_verbose(self):
        _, run = self.listed("-v", "tree")
        for name in ("dangling", "to_file", "to_folder"):
            self.assertIn(f"tree/{name}: skipped, it is a symbolic link", run.stderr, run)

    def test_are_followed_when_asked(self):
        os.remove(self.folder / "tree/dangling")
        for option in ("-L", "--follow"):
            paths, _ = self.listed(option, "tree")
            self.assertEqual(paths, ["tree/a", "tree/to_file", "tree/to_folder/file"])

    def test_to_nowhere_are_errors_when_followed(self):
        paths, run = self.listed("-L", "tree", code=INPUT_FAILED)
        self.assertEqual(paths, ["tree/a", "tree/to_file", "tree/to_folder/file"])
        self.assertIn("tree/dangling: cannot be found: No such file or directory", run.stderr, run)

    def test_that_are_given_are_followed_always(self):
        self.link("tree", "given")
        paths, _ = self.listed("given", "tree/to_file")
        self.assertEqual(paths, ["given/a", "tree/to_file"])

    def test_that_lead_twice_to_one_folder_are_no_loop(self):
        os.remove(self.folder / "tree/dangling")
        self.link("../elsewhere", "tree/again")
        paths, run = self.listed("-L", "tree")
        self.assertEqual(paths, ["tree/a", "tree/again/file", "tree/to_file", "tree/to_folder/file"], run)


class Loops(LinkTest):
    """Each is named, exit code 1, and the rest is done."""

    def assert_loop(self, paths, *loops):
        listed_paths, run = self.listed("-L", "tree", code=INPUT_FAILED)
        self.assertEqual(listed_paths, paths, run)
        self.assertEqual(len(run.stderr.splitlines()), len(loops), run)
        for loop in loops:
            self.assertIn(loop, run.stderr, run)
        return run

    def test_of_a_link_to_its_own_folder(self):
        self.write("tree/a")
        self.write("tree/z")
        self.link(".", "tree/self")
        self.assert_loop(["tree/a", "tree/z"], "tree/self: directory loop")

    def test_of_a_link_to_a_folder_above(self):
        self.write("tree/deep/deeper/a")
        self.link("../..", "tree/deep/deeper/up")
        self.write("tree/z")
        self.assert_loop(["tree/deep/deeper/a", "tree/z"], "tree/deep/deeper/up: directory loop")

    def test_of_links_to_each_other(self):
        self.write("tree/a/file")
        self.write("tree/b/file")
        self.link("../b", "tree/a/to_b")
        self.link("../a", "tree/b/to_a")
        self.assert_loop(
            ["tree/a/file", "tree/a/to_b/file", "tree/b/file", "tree/b/to_a/file"],
            "tree/a/to_b/to_a: directory loop: it is tree/a again",
            "tree/b/to_a/to_b: directory loop: it is tree/b again",
        )

    def test_of_a_link_to_itself(self):
        self.write("tree/a")
        self.link("itself", "tree/itself")
        self.assert_loop(["tree/a"], "tree/itself: cannot be found: Too many levels of symbolic links")

    def test_are_told_to_programs_too(self):
        self.write("tree/a")
        self.link(".", "tree/self")
        run = self.assert_loop(["tree/a"], "tree/self")
        self.assertEqual(failed_paths(run.stdout), ["tree/self"], run)

    def test_do_no_harm_where_links_are_passed_over(self):
        self.write("tree/a")
        self.link(".", "tree/self")
        self.assertEqual(self.listed("tree")[0], ["tree/a"])


class OtherThings(LinkTest):
    def test_in_a_tree_are_passed_over_and_told_when_verbose(self):
        self.write("tree/a")
        os.mkfifo(self.folder / "tree/fifo")  # nobody writes: opening it would wait for ever
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.path.relpath(self.folder / "tree/socket"))
            paths, run = self.listed("-v", "tree")
        self.assertEqual(paths, ["tree/a"])
        self.assertIn("tree/fifo: skipped, it is a FIFO", run.stderr, run)
        self.assertIn("tree/socket: skipped, it is a socket", run.stderr, run)

    def test_behind_followed_links_are_passed_over(self):
        self.write("tree/a")
        self.link("/dev/zero", "tree/endless")
        paths, run = self.listed("-v", "-L", "tree")
        self.assertEqual(paths, ["tree/a"])
        self.assertIn("tree/endless: skipped, it is a character device", run.stderr, run)
