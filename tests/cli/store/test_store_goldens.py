"""Stores that another program made from the format's description are read. tests/store/data/make_golden_store.py made them."""

import json
import os
import shutil
from pathlib import Path

from command import DONE, CommandTest

DATA = Path(__file__).resolve().parents[2] / "store" / "data"
BLOCK = bytes(range(256)) * 16
INSECURE = (
    "cutpoint: warning: store: {}: whoever sees lengths of chunks can compute the key of these cuts, and then tell which known contents "
    "are stored. A copy in a store with the usual cuts, toeplitz128-aes, hides that\n"
)
FILES = {"empty": b"", "hello": b"hello, store\n", "mixed": b"hello, store\n" + bytes(100_000) + 3 * BLOCK, "inner/long": 20 * BLOCK}


class Goldens(CommandTest):
    def check_store(self, name: str, *secret: str, warning: str = ""):
        shutil.copytree(DATA / name, self.folder / "store")
        for kind in ("keys", "shards", "leases", "log", "temporary", "removals"):
            (self.folder / "store" / kind).mkdir(exist_ok=True)

        def run(*words):
            done = self.run_command(*words, "--store", "store", *secret)
            self.assertTrue(done.stderr.startswith(warning), done)
            if words[0] == "restore" and os.getuid() != 0:  # the files' owners are others
                self.assert_failed(done, "its owner cannot be set")
            else:
                self.assertEqual((done.code, done.stderr), (DONE, warning), done)
            return done.stdout

        self.assertIn("no damage", run("check", "--read-data"))
        snapshot = json.loads(run("snapshots", "--json"))
        known = {"sequence": 3, "time": 1_700_000_000_000_000_000, "duration": 5, "is_incomplete": False, "parent": "", "host": "golden"}
        known |= {"paths": ["/data"], "tags": ["first", "second"], "files": 6, "folders": 3, "bytes": 216_205}
        self.assertEqual({field: snapshot[field] for field in known}, known)
        run("restore", "latest:/data", "--target", "out")
        for path, content in FILES.items():
            self.assertEqual((self.folder / "out" / path).read_bytes(), content, path)
            self.assertEqual((self.folder / "out" / path).stat().st_mtime_ns, 1_700_000_000_123_456_789)
        self.assertEqual(os.readlink(self.folder / "out/link"), "inner/long")
        self.assertTrue((self.folder / "out/pipe").is_fifo())
        modes = {path: (self.folder / "out" / path).stat().st_mode & 0o777 for path in ("hello", "inner", "mixed")}
        self.assertEqual(modes, {"hello": 0o640, "inner": 0o700, "mixed": 0o444})
        run("backup", "out")
        self.assertTrue(run("snapshots").endswith("\n2 snapshots\n"))

    def test_without_encryption(self):
        self.check_store("golden-store-checksums")

    def test_with_encryption(self):
        self.write("key", b"the content of a key file\n")
        self.check_store("golden-store-encrypted", "--key-file", "key")

    def test_with_cuts_that_give_their_key_away(self):
        """As stores had them before there were others. Each command warns, and does what it is asked to do."""
        self.write("key", b"the content of a key file\n")
        cuts = "borg2-fastcdc(min_exp=14,max_exp=18,mask_bits=16,normalization=2)"
        self.check_store("golden-store-insecure-cuts", "--key-file", "key", warning=INSECURE.format(cuts))

    def test_of_a_version_before_this_one(self):
        """It was made by the program before the version changed. Its data is moved by that program."""
        shutil.copytree(DATA / "store-of-version-2", self.folder / "store")
        before = {path: path.read_bytes() for path in (self.folder / "store").rglob("*") if path.is_file()}
        for words in (("snapshots",), ("backup", "store"), ("check",), ("prune",), ("repair",), ("init", "--encryption", "none")):
            run = self.run_command(*words, "--store", "store")
            self.assertNotEqual(run.code, DONE, run)
            if words[0] != "init":
                told = "has version 2 of the format; this program reads version 3: restore the store by the command that made it"
                self.assert_failed(run, told, code=run.code)
        self.assertEqual({path: path.read_bytes() for path in (self.folder / "store").rglob("*") if path.is_file()}, before)
