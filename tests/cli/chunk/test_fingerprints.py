"""Fingerprints are those of the chunks' bytes, made by somebody else."""

import hashlib

from command import CommandTest
from listings import read_jsonl
from streams import random_bytes

# The command's names, and hashlib's.
HASHES = {"sha1": "sha1", "sha256": "sha256", "sha512-256": "sha512_256", "md5": "md5"}

KEY = b"whats the Elvish word for friend".hex()
FORMATS = ("text", "csv", "jsonl")


class Fingerprints(CommandTest):
    def setUp(self):
        super().setUp()
        self.content = random_bytes(300_001)
        self.write("a", self.content)

    def rows(self, *arguments):
        run = self.run_command("chunk", "--format", "jsonl", *arguments, "a")
        self.assert_done(run)
        listed = read_jsonl(run.stdout)
        self.assertGreater(len(listed.rows), 5)
        return listed

    def test_equal_those_of_hashlib(self):
        for name, theirs in HASHES.items():
            if theirs not in hashlib.algorithms_available:
                continue
            listed = self.rows("--hash", name)
            self.assertEqual(listed.fingerprint, name)
            for row in listed.rows:
                chunk = self.content[row.offset : row.offset + row.length]
                self.assertEqual(row.digest, hashlib.new(theirs, chunk).hexdigest(), name)

    def test_are_sha256_unless_asked(self):
        self.assertEqual(self.rows(), self.rows("--hash", "sha256"))

    def test_of_xxh3_equal_the_published_value(self):
        self.write("abc", b"abc")
        run = self.run_command("chunk", "--format", "jsonl", "--hash", "xxh3", "abc")
        self.assertEqual([row.digest for row in read_jsonl(run.stdout).rows], ["06b05ab6733a618578af5f94892f3950"], run)

    def test_of_blake3_equal_the_published_values(self):
        """BLAKE3's test_vectors.json: 102400 bytes of a cycle of 251, hash and keyed_hash."""
        self.write("cycle", bytes(i % 251 for i in range(102400)))
        for keyed, name, digest in (
            ((), "blake3", "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085"),
            (("--hash-key", KEY), "blake3-keyed", "1c35d1a5811083fd7119f5d5d1ba027b4d01c0c6c49fb6ff2cf75393ea5db4a7"),
        ):
            for form in FORMATS:
                cuts = ("--algorithm", "fixed", "--size", "1M", "--format", form)
                run = self.run_command("chunk", *cuts, "--hash", "blake3", *keyed, "cycle")
                self.assert_done(run)
                self.assertIn(digest, run.stdout, form)
                self.assertRegex(run.stdout, rf"(?m)\b{name}(\b[^-]|$)", form)
                self.assertNotIn(KEY, run.stdout, form)

    def test_with_a_key_are_reported_as_such(self):
        for form in ((), ("--json",)):
            for keyed, name in (((), "blake3"), (("--hash-key", KEY), "blake3-keyed")):
                run = self.run_command("dedup", "--hash", "blake3", *keyed, *form, "a")
                self.assert_done(run)
                self.assertRegex(run.stdout, rf"(?m)fingerprint\W+{name}(\"|$)")
                self.assertNotIn(KEY, run.stdout)

    def test_change_no_cut(self):
        names = (*HASHES, "xxh3", "blake3", "none")
        lengths = {tuple(row.length for row in self.rows("--hash", name).rows) for name in names}
        self.assertEqual(len(lengths), 1)
