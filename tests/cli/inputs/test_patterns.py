"""--exclude, --include, --one-file-system and --exclude-caches say what of a tree is read."""

import json
import os
import subprocess

from command import DONE, IS_SANITIZED, CommandTest
from listings import read_jsonl
from streams import random_bytes


class Patterns(CommandTest):
    def setUp(self):
        super().setUp()
        for name in ("a.c", "a.o", "build/x.c", "lib/[odd]", "lib/y.c", "lib/y.o"):
            self.write(f"tree/{name}", name.encode())

    def listed(self, *arguments, code=DONE):
        run = self.run_command("chunk", "--hash", "none", "--format", "jsonl", *arguments)
        self.assertEqual(run.code, code, run)
        return [row.path.removeprefix("tree/") for row in read_jsonl(run.stdout).rows], run

    def test_that_exclude_leave_out_files_and_directories(self):
        paths, run = self.listed("--exclude", "*.o", "--exclude=/build/", "tree")
        self.assertEqual(paths, ["a.c", "lib/[odd]", "lib/y.c"])
        self.assertEqual(run.stderr, "")
        _, run = self.listed("-v", "--exclude", "*.o", "tree")
        self.assertIn("tree/lib/y.o: skipped, the patterns leave it out", run.stderr, run)

    def test_that_include_leave_the_others(self):
        self.assertEqual(self.listed("--include", "*.c", "tree")[0], ["a.c", "build/x.c", "lib/y.c"])
        self.assertEqual(self.listed("--include", "*.c", "--exclude", "lib", "tree")[0], ["a.c", "build/x.c"])

    def test_may_have_brackets_and_begin_like_options(self):
        self.assertEqual(self.listed("--include", "[ab].[co]", "tree")[0], ["a.c", "a.o"])
        self.assertEqual(self.listed("--include", "\\[odd]", "tree")[0], ["lib/[odd]"])
        self.write("tree/-v")
        self.assertEqual(self.listed("--include=-v", "tree")[0], ["-v"])

    def test_do_not_touch_what_is_given(self):
        self.assertEqual(self.listed("--exclude", "**", "tree/a.o", "tree")[0], ["a.o"])

    def test_may_take_back_what_others_exclude(self):
        self.assertEqual(self.listed("--exclude", "*.[co]", "--exclude", "!x.c", "tree")[0], ["build/x.c", "lib/[odd]"])

    def test_may_be_absolute(self):
        self.assertEqual(self.listed("--exclude", f"{self.folder}/tree/lib", "tree")[0], self.listed("--exclude", "/lib", "tree")[0])

    def test_that_are_none_are_refused(self):
        for option in ("--exclude", "--include"):
            for pattern in ("", "!", "a//b", "../a"):
                run = self.run_command("chunk", option, pattern, "tree")
                self.assert_refused(run, f"{option} {pattern}: ")

    def test_hold_for_the_other_commands(self):
        run = self.run_command("dedup", "--json", "--exclude", "*.o", "--exclude", "lib", "tree")
        self.assert_done(run)
        self.assertEqual(json.loads(run.stdout)["input_count"], 2, run)
        if not IS_SANITIZED:  # a search takes minutes there
            self.write("tree/large.c", random_bytes(300_000))  # fewer bytes cannot tell settings apart
            run = self.run_command("tune", "--json", "--algorithm", "gear", "--size", "8K", "--include", "*.c", "tree")
            self.assert_done(run)
            self.assertEqual(json.loads(run.stdout)["input_count"], 4, run)
        self.assert_refused(self.run_command("dedup", "--exclude", "a//b", "tree"), "--exclude a//b: ")
        self.assert_refused(self.run_command("tune", "--exclude", "a//b", "tree"), "--exclude a//b: ")

    def test_of_caches_leave_their_tags(self):
        self.write("tree/lib/CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55\n")
        paths, run = self.listed("-v", "--exclude-caches", "tree")
        self.assertEqual(paths, ["a.c", "a.o", "build/x.c", "lib/CACHEDIR.TAG"])
        self.assertIn("tree/lib: skipped but for its tag, it is a cache", run.stderr, run)
        self.assertIn("lib/y.c", self.listed("tree")[0])

    def test_of_file_systems_stay_on_one(self):
        mounted = self.folder / "tree/mounted"
        mounted.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "none", mounted], capture_output=True, check=False).returncode != 0:
            self.skipTest("this user cannot mount a file system here")
        self.addCleanup(subprocess.run, ["umount", mounted], check=True)
        self.write("tree/mounted/file")
        self.assertIn("mounted/file", self.listed("tree")[0])
        paths, run = self.listed("-v", "--one-file-system", "tree")
        self.assertNotIn("mounted/file", paths)
        self.assertIn("tree/mounted: skipped, it is on another file system", run.stderr, run)


class DeepTrees(CommandTest):
    def test_are_read_beyond_the_longest_path(self):
        directory = os.open(self.folder, os.O_RDONLY)
        name = "d" * 200
        for _ in range(30):
            os.mkdir(name, dir_fd=directory)
            below = os.open(name, os.O_RDONLY, dir_fd=directory)
            os.close(directory)
            directory = below
        with open("file", "wb", opener=lambda path, flags: os.open(path, flags, dir_fd=directory)) as file:
            file.write(b"content")
        os.close(directory)
        for access in ("auto", "pread"):
            run = self.run_command("chunk", "--format", "jsonl", "--hash", "none", "--input", access, name)
            self.assert_done(run)
            self.assertEqual([row.path for row in read_jsonl(run.stdout).rows], ["/".join([name] * 30) + "/file"], run)
