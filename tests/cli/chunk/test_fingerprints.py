"""Fingerprints are those of the chunks' bytes, made by somebody else."""

import hashlib

from command import CommandTest
from listings import READERS
from streams import random_bytes

KEY = b"whats the Elvish word for friend".hex()


class Fingerprints(CommandTest):
    def listed(self, *arguments):
        run = self.run_command("chunk", "--format", "jsonl", *arguments)
        self.assert_done(run)
        return READERS["jsonl"](run.stdout)

    def test_equal_those_of_hashlib_and_change_no_cut(self):
        content = random_bytes(300_001)
        self.write("a", content)
        expected = self.listed("a")
        self.assertGreater(len(expected.rows), 5)
        self.assertEqual(sum(row.length for row in expected.rows), len(content))
        self.assertEqual(expected, self.listed("--hash", "sha256", "a"))
        for name in ("sha1", "sha256", "sha512-256", "md5"):
            listed = self.listed("--hash", name, "a")
            self.assertEqual((listed.fingerprint, listed.cuts), (name, expected.cuts))
            for row, usual in zip(listed.rows, expected.rows, strict=True):
                chunk = content[usual.offset : usual.offset + usual.length]
                self.assertEqual(row, usual._replace(digest=hashlib.new(name.replace("-", "_"), chunk).hexdigest()))

    def test_of_xxh3_and_blake3_equal_the_published_values(self):
        """BLAKE3's test_vectors.json: 102400 bytes of a cycle of 251, hash and keyed_hash. A key is shown nowhere."""
        self.write("abc", b"abc")
        self.assertEqual([row.digest for row in self.listed("--hash", "xxh3", "abc").rows], ["06b05ab6733a618578af5f94892f3950"])
        self.write("cycle", bytes(i % 251 for i in range(102400)))
        for keyed, name, digest in (
            ((), "blake3", "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085"),
            (("--hash-key", KEY), "blake3-keyed", "1c35d1a5811083fd7119f5d5d1ba027b4d01c0c6c49fb6ff2cf75393ea5db4a7"),
        ):
            options = ("--algorithm", "fixed", "--size", "1M", "--hash", "blake3", *keyed, "cycle")
            for form, reader in READERS.items():
                run = self.run_command("chunk", "--format", form, *options)
                listed = reader(run.stdout)
                self.assertEqual((listed.fingerprint, [row.digest for row in listed.rows]), (name, [digest]))
                self.assertNotIn(KEY, run.stdout, form)
            for form in ((), ("--json",)):
                run = self.run_command("dedup", *options, *form)
                self.assertRegex(run.stdout, rf"(?m)fingerprint\W+{name}(\"|$)")
                self.assertNotIn(KEY, run.stdout)
