"""--exclude, --include, --one-file-system and --exclude-caches say what of a tree is read."""

import os
import subprocess

from command import IS_SANITIZED, open_deep
from listings import ListingTest
from streams import random_bytes


class Patterns(ListingTest):
    def setUp(self):
        super().setUp()
        for name in ("a.c", "a.o", "build/x.c", "lib/[odd]", "lib/y.c", "lib/y.o"):
            self.write(f"tree/{name}", name.encode())

    def listed(self, *arguments):
        paths, run = super().listed(*arguments)
        return [path.removeprefix("tree/") for path in paths], run

    def test_leave_out_what_they_match(self):
        self.write("tree/-v")
        for options, expected in (
            (("--exclude", "*.o", "--exclude=/build/"), ["-v", "a.c", "lib/[odd]", "lib/y.c"]),
            (("--exclude", f"{self.folder}/tree/lib", "--include", "*.o"), ["a.o"]),
            (("--include", "*.c", "--exclude", "lib"), ["a.c", "build/x.c"]),
            (("--include", "[ab].[co]"), ["a.c", "a.o"]),
            (("--include", "\\[odd]"), ["lib/[odd]"]),
            (("--include=-v",), ["-v"]),
            (("--exclude", "**", "tree/a.o"), ["a.o"]),  # what is given is read
            (("--exclude", "*.[co]", "--exclude", "!x.c", "--exclude", "-v"), ["build/x.c", "lib/[odd]"]),
        ):
            paths, run = self.listed(*options, "tree")
            self.assertEqual((paths, run.stderr), (expected, ""), options)
        _, run = self.listed("-v", "--exclude", "*.o", "tree")
        self.assertIn("tree/lib/y.o: skipped, the patterns leave it out", run.stderr, run)

    def test_that_are_none_are_refused_by_all_commands(self):
        for command in ("chunk", "dedup", "tune"):
            for option in ("--exclude", "--include"):
                for pattern in ("", "!", "a//b", "../a"):
                    self.assert_refused(self.run_command(command, option, pattern, "tree"), f"{option} {pattern}: ")

    def test_hold_for_the_other_commands(self):
        run = self.run_command("dedup", "--json", "--exclude", "*.o", "--exclude", "lib", "tree")
        self.assertEqual(run.json()["input_count"], 2, run)
        if not IS_SANITIZED:  # a search takes minutes there
            self.write("tree/large.c", random_bytes(300_000))  # fewer bytes cannot tell settings apart
            run = self.run_command("tune", "--json", "--algorithm", "gear", "--size", "8K", "--include", "*.c", "tree")
            self.assertEqual(run.json()["input_count"], 4, run)

    def test_of_caches_leave_their_tags(self):
        self.write("tree/lib/CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55\n")
        paths, run = self.listed("-v", "--exclude-caches", "tree")
        self.assertEqual(paths, ["a.c", "a.o", "build/x.c", "lib/CACHEDIR.TAG"])
        self.assertIn("tree/lib: skipped but for its tag, it is a cache", run.stderr, run)

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


class DeepTrees(ListingTest):
    def test_are_read_beyond_the_longest_path(self):
        deepest = open_deep(self.folder, "d" * 200, 30, makes=True)
        self.addCleanup(os.close, deepest)
        with open("file", "wb", opener=lambda path, flags: os.open(path, flags, dir_fd=deepest)) as file:
            file.write(b"content")
        for access in ("auto", "pread"):
            self.assertEqual(self.paths("--input", access, "d" * 200), ["/".join(["d" * 200] * 30) + "/file"])
