"""After a change, what the old listing does not answer is read, and the new listing is that of the file as it is."""

import json
import random
import re

from command import CommandTest
from streams import random_bytes

SMALL = ("--algorithm", "gear", "--size", "64:256:1K")
CUTS = (
    SMALL,
    ("--algorithm", "rabin", "--size", "2K:8K:64K"),
    ("--algorithm", "ae-max", "--size", "1K"),
    ("--algorithm", "ram", "--size", "1K"),
    ("--algorithm", "fixed", "--size", "1000"),
    ("--profile", "borg1"),
)
KEY = "5a" * 32
AWKWARD_NAMES = ["with space", "line\nfeed", "back\\slash", "straße", "latin\udce91", "-", "# cuts"]


class Changed(CommandTest):
    """A file, its listing, and a change of it."""

    def list(self, path, *arguments):
        run = self.run_command("chunk", *arguments, path)
        self.assert_done(run)
        return run.stdout

    def change(self, path, offset, removed, added: bytes):
        file = self.folder / path
        content = file.read_bytes()
        file.write_bytes(content[:offset] + added + content[offset + removed :])
        return f"{offset}:{removed}:{len(added)}"

    def since(self, listing, changed, *arguments, **how):
        self.write("old", listing.encode("utf-8", "surrogateescape"))
        return self.run_command("chunk", "--since", "old", "--changed", changed, *arguments, **how)


class TheNewListing(Changed):
    def test_is_that_of_the_file_as_it_is(self):
        draw = random.Random(3)
        for cuts in CUTS:
            self.write("file", random_bytes(300_000))
            for _ in range(12):
                old = self.list("file", *cuts)
                size = (self.folder / "file").stat().st_size
                offset = draw.randrange(size + 1)
                removed = draw.choice([0, 1, draw.randrange(min(size - offset, 50_000) + 1), size - offset])
                added = draw.randbytes(draw.choice([0, 1, removed, 20_000]))
                changed = self.change("file", offset, min(removed, size - offset), added)
                if (self.folder / "file").stat().st_size == 0:
                    self.write("file", random_bytes(300_000))
                    continue
                with self.subTest(cuts=cuts, changed=changed):
                    run = self.since(old, changed, "file")
                    self.assert_done(run)
                    self.assertEqual(run.stdout, self.list("file", *cuts))

    def test_may_be_that_of_an_empty_file(self):
        self.write("file", random_bytes(5000))
        run = self.since(self.list("file", *SMALL), self.change("file", 0, 5000, b""), "file")
        self.assert_done(run)
        self.assertEqual(run.stdout, self.list("file", *SMALL))
        self.assertEqual(len(run.lines), 2)

    def test_may_be_that_of_a_file_that_was_empty(self):
        for cuts in CUTS:
            for read in ("text", "jsonl"):
                self.write("file", b"")
                old = self.list("file", *cuts, "--format", read)
                run = self.since(old, self.change("file", 0, 0, random_bytes(5000)), "file")
                self.assert_done(run)
                self.assertEqual(run.stdout, self.list("file", *cuts), (cuts, read))
                self.assert_refused(self.since(old, "0:1:5000", "file"), "no chunk", "0:0:ADDED")

    def test_has_the_format_that_is_asked_for_whatever_the_old_one_had(self):
        self.write("file", content := random_bytes(5000))
        for read in ("text", "jsonl"):
            for written in ("text", "jsonl", "csv", "lengths"):
                self.write("file", content)
                old = self.list("file", *SMALL, "--format", read)
                run = self.since(old, self.change("file", 2000, 3, b"12345"), "--format", written, "file")
                self.assert_done(run)
                self.assertEqual(run.stdout, self.list("file", *SMALL, "--format", written), (read, written))

    def test_keeps_the_fingerprint(self):
        for kind in ("none", "md5", "sha512-256"):
            self.write("file", random_bytes(5000))
            old = self.list("file", *SMALL, "--hash", kind)
            run = self.since(old, self.change("file", 2000, 3, b"12345"), "file")
            self.assert_done(run)
            self.assertEqual(run.stdout, self.list("file", *SMALL, "--hash", kind), kind)

    def test_keeps_the_key(self):
        keyed = ("--hash", "blake3", "--hash-key", KEY)
        for read in ("text", "jsonl"):
            for change in ((2000, 3, b"12345"), (0, 10, b""), (5000, 0, b"more"), (0, 5000, b"another")):
                self.write("file", random_bytes(5000))
                old = self.list("file", *SMALL, *keyed, "--format", read)
                run = self.since(old, self.change("file", *change), "--hash-key", KEY.upper(), "file")
                self.assert_done(run)
                self.assertEqual(run.stdout, self.list("file", *SMALL, *keyed), (read, change))

    def test_is_of_the_one_input_that_was_changed(self):
        for name in AWKWARD_NAMES:
            path = f"folder/{name}"
            self.write(path, random_bytes(5000))
            self.write("folder/another", random_bytes(3000))
            for read in ("text", "jsonl"):
                old = self.list("folder", *SMALL, "--format", read)
                run = self.since(old, self.change(path, 100, 0, b"more"), path)
                self.assert_done(run)
                self.assertEqual(run.stdout, self.list(path, *SMALL), (name, read))
            (self.folder / path).unlink()

    def test_may_go_where_the_old_one_was(self):
        self.write("file", random_bytes(5000))
        old = self.list("file", *SMALL)
        self.assert_done(self.since(old, self.change("file", 100, 0, b"more"), "file", "-o", "old"))
        self.assertEqual((self.folder / "old").read_text(), self.list("file", *SMALL))

    def test_needs_only_what_is_around_the_change(self):
        self.write("file", random_bytes(4 << 20))
        old = self.list("file")
        run = self.since(old, self.change("file", 2 << 20, 10, b"other"), "-v", "file")
        self.assertEqual(run.code, 0, run)
        read = int(re.search(r"; (\d+) bytes read", run.stderr)[1])
        self.assertGreater(read, 2000)
        self.assertLess(read, 1 << 20)


class WhatIsWrong(Changed):
    def setUp(self):
        super().setUp()
        self.write("file", random_bytes(5000))
        self.old = self.list("file", *SMALL)
        self.changed = self.change("file", 2000, 3, b"12345")

    def test_in_the_change(self):
        for changed in ("", "1", "1:2", "1:2:3:4", "a:0:0", "1::2", "-1:0:0", "0:99999999999999999999:0"):
            self.assert_refused(self.since(self.old, f"{changed}", "file"), f"--changed {changed}")
        self.assert_refused(self.since(self.old, "5001:0:2", "file"), "5001", "5000")
        self.assert_refused(self.since(self.old, "4999:2:4", "file"), "4999", "5000")

    def test_in_the_key(self):
        run = self.since(self.old, self.changed, "--hash-key", KEY, "file")
        self.assert_refused(run, "line 2", "sha256", "--hash-key")
        for options in (SMALL, ("--algorithm", "fixed", "--size", "1K")):
            self.write("file", random_bytes(5000))
            old = self.list("file", *options, "--hash", "blake3", "--hash-key", KEY)
            self.assert_refused(self.since(old, "0:0:0", "file"), "line 2", "with a key", "--hash-key")
            for changed in ("0:0:0", "0:1:1", "4999:1:1"):
                run = self.since(old, changed, "--hash-key", "5b" * 32, "file")
                self.assert_refused(run, "--hash-key is not the key of the listing")
                self.assertNotIn("5b5b", run.stderr)
            self.assert_refused(self.since(old, "0:0:0", "--hash-key", "5a", "file"), "64 hexadecimal digits")

    def test_in_the_listing(self):
        lines = self.old.split("\n")
        for wrong, words in (
            ("", ("old", "line 0", "listing")),
            ("# cuts", ("line 1",)),
            (lines[0] + "\n", ("line 1",)),
            (lines[0] + "\n# length\n", ("line 2",)),
            (self.old.replace("sha256", "sha3"), ("line 2", "sha3")),
            (self.old.replace("gear(", "geer("), ("geer",)),
            (self.old.replace("\n0 ", "\nx "), ("line 3",)),
            (self.old.replace("\n0 ", "\n1 "), ("offset 1",)),
            ("\n".join(lines[:2] + lines[3:]), ("offset",)),
            ("\n".join(lines[:2] + [lines[2].replace(" file", "0 file")] + lines[3:]), ("line 3", "sha256")),
            ('{"cuts": 1, "fingerprint": "sha256"}\n', ("line 1",)),
            ('{"cuts": "fixed(size_bytes=1)", "fingerprint": "sha256"}\nx\n', ("line 2",)),
            ('{"cuts": "fixed(size_bytes=1)", "fingerprint": "sha256"}\n{"path":"file","offset":-1,"length":1}', ("2",)),
            (self.list("file", *SMALL, "--format", "csv"), ("line 1", "text or jsonl")),
            (self.list("file", *SMALL, "--join", "none"), ("join=none",)),
        ):
            with self.subTest(listing=wrong[:200]):
                self.assert_refused(self.since(wrong, self.changed, "file"), *words)

    def test_in_a_listing_without_lines(self):
        with open(self.folder / "image", "wb") as file:
            file.truncate(1 << 33)
        run = self.run_command("chunk", "--since", "image", "--changed", self.changed, "file")
        self.assert_refused(run, "image, line 1", "listing")
        for header in ("# cuts fixed(avg_bytes=1)\n", self.old):
            with open(self.folder / "image", "r+b") as file:
                file.write(header.encode())
            run = self.run_command("chunk", "--since", "image", "--changed", self.changed, "file")
            self.assert_refused(run, "image, line", "listing")

    def test_in_a_listing_that_is_not_there(self):
        for listing in ("", "missing"):
            run = self.run_command("chunk", "--since", listing, "--changed", self.changed, "file")
            self.assert_failed(run, f"{listing}: cannot be opened")

    def test_in_an_input_that_failed(self):
        self.write("it's\\odd\x07", (self.folder / "file").read_bytes())
        for path in ("file", "it's\\odd\x07"):
            shown = path.replace("\x07", "\\x07")
            text = self.list(path, *SMALL)
            jsonl = self.list(path, *SMALL, "--format", "jsonl")
            for old, failed in (
                (text, f"# failed: {shown}: changed while it was read\n"),
                (jsonl, json.dumps({"path": path, "error": "changed"}) + "\n"),
            ):
                self.assert_refused(self.since(old + failed, "0:0:0", path), "line", "failed")
                another = failed.replace("file", "another").replace("odd", "other")
                self.assert_done(self.since(old + another, "0:0:0", path))

    def test_in_the_input(self):
        self.write("another", random_bytes(5000))
        self.assert_refused(self.since(self.old, self.changed, "another"), "another", "no chunk")
        self.assert_refused(self.since(self.old, self.changed, "file", "another"), "one PATH")
        self.assert_refused(self.since(self.old, self.changed, "-", content=b"x"), "one PATH")

    def test_in_what_the_listing_answers_already(self):
        for option in (
            ("--algorithm", "gear"),
            ("--profile", "xet"),
            ("--cuts", "fixed(size_bytes=1)"),
            ("--size", "1K"),
            ("--param", "seed=1"),
            ("--hash", "md5"),
            ("--backend", "scalar"),
            ("--threads", "2"),
            ("--segment", "1M"),
            ("--join", "none"),
            ("--follow",),
        ):
            self.assert_refused(self.since(self.old, self.changed, *option, "file"), option[0], "--since")
        for half in (("--since", "old"), ("--changed", "1:0:2")):
            self.assert_refused(self.run_command("chunk", *half, "file"), "--since", "--changed")

    def test_with_the_file(self):
        self.write("file", random_bytes(4000))
        self.assert_failed(self.since(self.old, self.changed, "file"), "file", "4000", "5002")
        (self.folder / "file").unlink()
        self.assert_failed(self.since(self.old, self.changed, "file"), "file")
        (self.folder / "file").mkdir()
        self.assert_failed(self.since(self.old, self.changed, "file"), "file", "directory")

    def test_leaves_the_output_as_it_was(self):
        self.write("kept", b"as it was")
        for changed in ("5001:0:2", "0:0:1"):
            self.since(self.old, changed, "file", "-o", "kept")
            self.assertEqual((self.folder / "kept").read_bytes(), b"as it was")

    def test_with_memory_for_less_than_a_cut(self):
        self.assert_refused(self.since(self.old, self.changed, "--memory", "1", "file"), "memory")
