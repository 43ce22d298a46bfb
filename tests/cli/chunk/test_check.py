"""`chunk --check` compares files with a listing of their chunks."""

import os

from command import INPUT_FAILED, CommandTest
from streams import random_bytes

SMALL = ("--algorithm", "gear", "--size", "256:1K:4K")


class Check(CommandTest):
    def setUp(self):
        super().setUp()
        for seed, name in enumerate(("tree/a", "tree/b", "tree/c")):
            self.write(name, random_bytes(50_000 + seed, seed))
        self.write("tree/empty", b"")

    def list_files(self, *arguments, paths=("tree",), listing="listing"):
        self.assert_done(self.run_command("chunk", *SMALL, *arguments, "-o", listing, *paths))

    def check(self, *arguments, code=0):
        run = self.run_command("chunk", "--check", "listing", *arguments)
        self.assertEqual(run.code, code, run)
        return run

    def test_of_equal_files_says_how_many(self):
        for options in ((), ("--format", "jsonl"), ("--hash", "blake3"), ("--profile", "restic", "--hash", "md5")):
            arguments = options if "--profile" in options else (*SMALL, *options)
            self.assert_done(self.run_command("chunk", *arguments, "-o", "listing", "tree"))
            run = self.check()
            self.assertEqual((run.stdout, run.stderr), ("3 equal, 0 different, 0 missing or failed\n", ""), run)
            self.assertEqual(self.check("-q").stdout, "")
            self.assertIn("tree/b: is equal", self.check("-v").stderr)

    def test_names_each_file_that_differs_is_missing_or_cannot_be_read(self):
        self.list_files(paths=("tree", "tree/a"))
        content = bytearray((self.folder / "tree/b").read_bytes())
        content[30_000] ^= 1
        self.write("tree/b", bytes(content))
        os.remove(self.folder / "tree/c")
        run = self.check(code=INPUT_FAILED)
        self.assertEqual(run.stdout, "2 equal, 1 different, 1 missing or failed\n", run)
        told = run.stderr.splitlines()
        self.assertEqual(len(told), 2, run)
        self.assertRegex(told[0], r"tree/b: differs from the listing in the chunk at byte (2\d{4}|30000)$")
        self.assertIn("tree/c: cannot be found", told[1])
        self.assertEqual(self.check("-q", code=INPUT_FAILED).stdout, "")

    def test_finds_what_was_added_and_removed_at_the_end(self):
        self.list_files()
        for name, change in (("a", lambda old: old + b"more"), ("b", lambda old: old[:-1]), ("c", lambda old: b"")):
            path = self.folder / "tree" / name
            path.write_bytes(change(path.read_bytes()))
        run = self.check(code=INPUT_FAILED)
        self.assertEqual(run.stdout, "0 equal, 3 different, 0 missing or failed\n", run)
        self.assertIn("tree/c: differs from the listing in the chunk at byte 0", run.stderr)

    def test_of_a_folder_in_the_place_of_a_file_goes_on(self):
        self.list_files()
        os.remove(self.folder / "tree/a")
        self.write("tree/a/inside")
        run = self.check(code=INPUT_FAILED)
        self.assertIn("tree/a: is in the listing, but is no file here", run.stderr)
        self.assertEqual(run.stdout, "2 equal, 0 different, 1 missing or failed\n", run)

    def test_takes_odd_names(self):
        for name in (b"back\\slash", b"\xff", b"new\nline", b"\\x41"):
            self.write(b"odd/" + name, b"content" * 1000)
        for form in ("text", "jsonl"):
            self.list_files("--format", form, paths=("odd",))
            self.assertEqual(self.check().stdout, "4 equal, 0 different, 0 missing or failed\n", form)

    def test_of_standard_input_reads_it_again(self):
        content = random_bytes(70_000)
        listing = self.run_command("chunk", *SMALL, "-", content=content)
        self.write("listing", listing.bytes)
        run = self.run_command("chunk", "--check", "listing", "-", content=content)
        self.assert_refused(run, "--check takes the paths from the listing")
        run = self.run_command("chunk", "--check", "/dev/stdin", content=content)
        self.assert_refused(run, "/dev/stdin: is no regular file, and a listing is read twice")
        run = self.run_command("chunk", "--check", "listing", content=content)
        self.assertEqual(run.stdout, "1 equal, 0 different, 0 missing or failed\n", run)

    def test_with_a_key_needs_it(self):
        key = "ab" * 32
        self.list_files("--hash", "blake3", "--hash-key", key)
        self.assert_refused(self.run_command("chunk", "--check", "listing"), "--hash-key")
        self.assertIn("3 equal", self.check("--hash-key", key).stdout)
        self.assertIn("3 different", self.check("--hash-key", "cd" * 32, code=INPUT_FAILED).stdout)

    def test_refuses_what_is_no_listing_of_digests(self):
        self.write("empty", b"")
        self.write("short", b"# cuts gear()\n")
        self.list_files("--hash", "none", listing="without")
        self.list_files("--join", "none", listing="joined")
        self.list_files()
        self.write("nonsense", (self.folder / "listing").read_bytes() + b"nonsense\n")
        for words, told in (
            (("empty",), "empty: is empty, and no listing"),
            (("tree/a",), "tree/a, line 1: is no line of a listing"),
            (("short",), "short, line 1: is no line"),
            (("without",), "no digests"),
            (("joined",), "another join than exact"),
            (("listing", "--hash", "md5"), "names the fingerprint"),
            (("listing", "--size", "8K"), "the listing names them"),
            (("listing", "-o", "listing"), "is the listing"),
        ):
            self.assert_refused(self.run_command("chunk", "--check", *words), told)
        run = self.run_command("chunk", "--check", "nonsense")
        self.assertIn("is no line of a listing", run.stderr, run)
