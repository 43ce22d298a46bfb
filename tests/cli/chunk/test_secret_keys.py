"""`chunk --key-file`: the key decides the cuts of toeplitz-aes and its like, and is shown nowhere."""

import hashlib
import json
import os
from pathlib import Path

from command import DONE, WRONG_USAGE, CommandTest
from listings import read_lengths
from streams import random_bytes

GOLDENS = json.loads((Path(__file__).resolve().parents[2] / "data/phte.json").read_text(encoding="ascii"))["cases"]
SMALL = ("--param", "min_exp=8", "--param", "mask_bits=10", "--param", "max_exp=14")


class SecretKeys(CommandTest):
    def setUp(self):
        super().setUp()
        self.key = hashlib.sha256(b"a key").digest()
        self.write("key", self.key)
        self.write("digits", self.key.hex().encode() + b"\n")
        self.write("data", random_bytes(300_000, 1))

    def assert_hidden(self, run):
        for shown in (self.key.hex(), self.key.hex().upper(), repr(self.key)):
            self.assertNotIn(shown[:16], run.stdout + run.stderr, run)
        self.assertNotIn(self.key, run.bytes)

    def test_give_the_cuts_of_borg(self):
        golden = next(each for each in GOLDENS if each["algorithm"] == "rabin-aes" and each["min_exp"] == 6)
        [shake] = golden["input"]
        self.write("key", bytes.fromhex(golden["key"]))
        self.write("data", hashlib.shake_128(shake["shake_128"].encode()).digest(shake["bytes"]))
        names = ("min_exp", "min_exp"), ("max_exp", "max_exp"), ("mask_bits", "mask_bits"), ("normalization", "nc_level")
        parameters = [word for name, field in names for word in ("--param", f"{name}={golden[field]}")]
        run = self.run_command("chunk", "--profile", "borg2-rabin-aes", *parameters, "--key-file", "key", "--format", "lengths", "data")
        self.assert_done(run)
        self.assertEqual(read_lengths(run.stdout)[: len(golden["first"])], golden["first"])
        self.assertEqual(hashlib.sha256(run.bytes).hexdigest(), golden["lengths_sha256"])

    def test_are_32_bytes_or_their_digits_and_no_option_for_others(self):
        lists = set()
        for file in ("key", "digits"):
            run = self.run_command("chunk", "--algorithm", "toeplitz-aes", *SMALL, "--key-file", file, "data")
            self.assert_done(run)
            self.assert_hidden(run)
            lists.add(run.stdout)
        self.assertEqual(len(lists), 1)
        self.write("short", self.key[1:])
        run = self.run_command("chunk", "--algorithm", "toeplitz-aes", "--key-file", "short", "data")
        self.assert_refused(run, "short: a key is 32 bytes or 64 hexadecimal digits")
        run = self.run_command("chunk", "--algorithm", "gear", "--key-file", "key", "data")
        self.assert_refused(run, "gear: the algorithm takes no secret key")
        run = self.run_command("chunk", "--algorithm", "toeplitz-aes", "--param", f"key={self.key.hex()}", "data")
        self.assert_refused(run, "key is not the fingerprint of the key that was given")
        self.assert_hidden(run)

    def test_are_shown_by_their_fingerprints_alone(self):
        name = hashlib.sha256(b"cutpoint phte" + self.key).hexdigest()[:16]
        for options in (("-v",), ("--format", "jsonl"), ("--trace", "trace"), ("-o", "listing")):
            run = self.run_command("chunk", "--algorithm", "toeplitz128-aes", *SMALL, "--key-file", "key", *options, "data")
            self.assertEqual(run.code, DONE, run)
            self.assert_hidden(run)
        self.assertIn(name, (self.folder / "listing").read_text())
        for file in ("trace", "listing"):
            self.assertNotIn(self.key.hex()[:16], (self.folder / file).read_text())

    def test_are_needed_to_compare_with_a_listing(self):
        self.assert_done(self.run_command("chunk", "--algorithm", "rabin-aes", *SMALL, "--key-file", "key", "-o", "listing", "data"))
        run = self.run_command("chunk", "--check", "listing", "--key-file", "digits")
        self.assert_done(run)
        self.assertIn("1 equal, 0 different", run.stdout)
        self.write("other", os.urandom(32))
        for options in ((), ("--key-file", "other")):
            run = self.run_command("chunk", "--check", "listing", *options)
            self.assertEqual(run.code, WRONG_USAGE, run)
            self.assertIn("key is not the fingerprint of the key that was given", run.stderr)

    def test_that_are_missing_are_told(self):
        run = self.run_command("chunk", "--algorithm", "toeplitz-aes", *SMALL, "data")
        self.assertEqual(run.code, DONE, run)
        self.assertIn("warning: toeplitz-aes has no key: its cuts hide nothing", run.stderr)
