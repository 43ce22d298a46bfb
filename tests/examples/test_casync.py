"""Tests that examples/casync makes the same index as casync, and that casync can read it and the store."""

import hashlib
import json
import pathlib
import random
import shutil
import struct
import subprocess
import unittest

from examples import MIB, ExampleTest, program
from streams import golden_input

GOLDENS = json.loads((pathlib.Path(__file__).resolve().parents[1] / "data" / "goldens.json").read_text())["cuts"]
HEADER, ENTRY, TAIL = 64, 40, 40


def table(index: bytes) -> list[tuple[int, bytes]]:
    """Returns end and digest of each chunk in an index."""
    rows = index[HEADER:-TAIL]
    return [struct.unpack_from("<Q32s", rows, at) for at in range(0, len(rows), ENTRY)]


class CasyncTest(ExampleTest):
    def setUp(self):
        super().setUp()
        self.caibx = program("casync", "caibx")

    def index(self, path: pathlib.Path, *options) -> bytes:
        index = self.folder / "ours.caibx"
        self.run_program(self.caibx, *options, index, path)
        return index.read_bytes()


class Index(CasyncTest):
    def test_chunks_are_those_of_goldens_and_have_their_digests(self):
        for sizes in ("16K:64K:256K", "1K:4K:16K"):
            for name in ("D2", "D3"):
                with self.subTest(sizes, input=name):
                    data = golden_input(name)
                    expected = GOLDENS[f"casync {sizes}"]["of"][name]
                    rows = table(self.index(self.file(name, data), "--chunk-size", sizes))
                    starts = [0, *(end for end, _ in rows[:-1])]
                    lengths = "".join(f"{end - start}\n" for start, (end, _) in zip(starts, rows, strict=True))
                    self.assertEqual(hashlib.sha256(lengths.encode()).hexdigest(), expected["sha256"])
                    for start, (end, digest) in zip(starts, rows, strict=True):
                        self.assertEqual(hashlib.new("sha512_256", data[start:end]).digest(), digest)

    def test_wrong_sizes_are_wrong_usage_and_leave_no_index(self):
        path = self.file("data", b"bytes")
        for sizes in ("64K:16K:256K", "16:64:256", "x", "1:2", "64K:256K:0"):
            done = self.run_program(self.caibx, "--chunk-size", sizes, "ours.caibx", path, code=2)
            self.assertIn(f"--chunk-size {sizes}: casync: ", done.stderr)
        self.run_program(self.caibx, path, code=2)
        self.assertEqual([entry.name for entry in self.folder.iterdir()], ["data"])

    def test_failures_leave_no_index(self):
        self.assertIn("none: cannot be opened", self.run_program(self.caibx, "ours.caibx", "none", code=1).stderr)
        self.assertIn("no/ours.caibx.new: cannot be created",
                      self.run_program(self.caibx, "no/ours.caibx", self.file("data", b"bytes"), code=1).stderr)
        done = self.run_program(self.caibx, "--store", "/dev/null/castr", "ours.caibx", "data", code=1)
        self.assertIn("/dev/null/castr", done.stderr)
        self.assertEqual([entry.name for entry in self.folder.iterdir()], ["data"])


@unittest.skipIf(shutil.which("casync") is None, "casync is not installed")
class Casync(CasyncTest):
    def casync(self, *words) -> subprocess.CompletedProcess:
        return self.run_program("casync", *words)

    def inputs(self):
        noise = random.Random(3).randbytes(2 * MIB)
        for size in (0, 1, 48, 16384, 16385, 300_001):
            yield f"random.{size}", noise[:size]
        yield "zeros", bytes(2 * MIB + 1)
        yield "runs", noise[:MIB] + bytes(MIB) + b"\xff" * MIB + noise[MIB:]
        yield "text", b"the same words again " * 50_000

    def test_the_index_is_that_of_casync_byte_for_byte(self):
        for sizes in (None, "1K:4K:16K", "1000:5000:12345", "256K"):
            options = [] if sizes is None else ["--chunk-size", sizes]
            for name, data in self.inputs():
                with self.subTest(name, sizes=sizes):
                    path = self.file(name, data)
                    casync_sizes = [] if sizes is None else [f"--chunk-size={sizes}"]
                    self.casync("make", "--store=theirs.castr", *casync_sizes, "theirs.caibx", path)
                    self.assertEqual(self.index(path, *options), (self.folder / "theirs.caibx").read_bytes())

    def test_casync_extracts_what_we_stored(self):
        for name, data in self.inputs():
            with self.subTest(name):
                self.index(self.file(name, data), "--store", "ours.castr")
                self.casync("extract", "--store=ours.castr", "--seed-output=no", "ours.caibx", f"{name}.out")
                self.assertEqual((self.folder / f"{name}.out").read_bytes(), data)

    def test_casync_finds_the_digest_of_the_file(self):
        """casync reads all chunks and hashes the file that they make."""
        path = self.file("D2", golden_input("D2"))
        self.index(path, "--store", "ours.castr")
        digest = self.casync("digest", "--store=ours.castr", "ours.caibx").stdout.decode().strip()
        self.assertEqual(digest, hashlib.new("sha512_256", golden_input("D2")).hexdigest())

    def test_stores_have_the_same_chunks_and_either_serves_the_other_index(self):
        path = self.file("runs", dict(self.inputs())["runs"])
        self.casync("make", "--store=theirs.castr", "theirs.caibx", path)
        self.index(path, "--store", "ours.castr")
        names = [sorted(entry.relative_to(self.folder / store) for entry in (self.folder / store).rglob("*.cacnk"))
                 for store in ("ours.castr", "theirs.castr")]
        self.assertEqual(*names)
        self.assertEqual([], list((self.folder / "ours.castr").rglob("*.new")))
        for store, index in (("ours", "theirs"), ("theirs", "ours")):
            self.casync("extract", f"--store={store}.castr", f"{index}.caibx", f"{index}.out")
            self.assertEqual((self.folder / f"{index}.out").read_bytes(), path.read_bytes())

    def test_casync_does_not_extract_without_a_chunk(self):
        """This shows that the extracted files in the other tests came from the chunks."""
        self.index(self.file("D2", golden_input("D2")), "--store", "ours.castr")
        next((self.folder / "ours.castr").rglob("*.cacnk")).unlink()
        done = subprocess.run(["casync", "extract", "--store=ours.castr", "ours.caibx", "out"], cwd=self.folder,
                              capture_output=True)
        self.assertNotEqual(done.returncode, 0)

    def test_a_pipe_is_indexed_as_a_file_is(self):
        path = self.file("D2", golden_input("D2"))
        expected = self.index(path)
        self.run_program("sh", "-c", f"cat {path} | {self.caibx} piped.caibx -")
        self.assertEqual((self.folder / "piped.caibx").read_bytes(), expected)
