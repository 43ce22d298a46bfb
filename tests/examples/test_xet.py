"""Tests that examples/xet gives the hashes of chunks and files of Xet. tests/oracles compares it with Xet's client."""

import hashlib
import json
import pathlib

from examples import ExampleTest, program
from streams import golden_input

GOLDENS = json.loads((pathlib.Path(__file__).resolve().parents[1] / "data" / "goldens.json").read_text())
# Made by hf_xet.hash_files of hf-xet 1.8.0.
FILE_HASHES = {
    "D1": "92e7bf358e6ecb814a06c56aff595ec6b2158e661c174219aa2908be61db5a81",
    "D2": "a72333ce4f04b2f031ed973bc36c7acba99a1f7887ba7815970243424f8b7cf1",
    "D3": "e54a9dd1bfe9381ba49efc9fe5b1e8ea77578acaf4b56f9e2adc3e53f7d6f214",
}


class Xet(ExampleTest):
    def setUp(self):
        super().setUp()
        self.xet_hash = program("xet", "xet_hash")

    def lines(self, *words) -> list[list[str]]:
        return [line.split() for line in self.run_program(self.xet_hash, *words).stdout.decode().splitlines()]

    def test_files_have_the_hashes_of_hf_xet(self):
        paths = [self.file(name, golden_input(name)) for name in FILE_HASHES]
        hashes = {pathlib.Path(path).name: (hash, int(size)) for hash, size, path in self.lines(*paths)}
        self.assertEqual(hashes, {name: (FILE_HASHES[name], len(golden_input(name))) for name in FILE_HASHES})

    def test_chunks_have_the_lengths_of_the_client(self):
        for name in ("D2", "D3"):
            *chunks, _ = self.lines("--chunks", self.file(name, golden_input(name)))
            lengths = "".join(f"{length}\n" for _, _, _, length in chunks)
            self.assertEqual(hashlib.sha256(lengths.encode()).hexdigest(), GOLDENS["cuts"]["xet"]["of"][name]["sha256"])
            self.assertEqual(len(chunks), GOLDENS["cuts"]["xet"]["of"][name]["chunks"])
            offsets = [int(offset) for _, _, offset, _ in chunks]
            ends = [int(offset) + int(length) for _, _, offset, length in chunks]
            self.assertEqual(offsets, [0, *ends[:-1]])

    def test_a_chunk_has_the_hash_that_the_protocol_publishes(self):
        chunk, _ = self.lines("--chunks", self.file("hello", b"Hello World!"))
        self.assertEqual(chunk[1:], ["d8d408e608fb9ca213b9909a65d86d725f2de4d8d540324be8a363e7a6e228cb", "0", "12"])

    def test_no_bytes_are_zeros(self):
        self.assertEqual(self.lines(self.file("empty", b"")), [["0" * 64, "0", str(self.folder / "empty")]])

    def test_a_file_that_fails_is_named_and_the_others_are_hashed(self):
        path = self.file("hello", b"Hello World!")
        done = self.run_program(self.xet_hash, path, self.folder / "none", self.folder, path, code=1)
        self.assertEqual(len(done.stdout.splitlines()), 2)
        self.assertRegex(done.stderr, r"^xet_hash: .*/none: cannot be opened: .*\nxet_hash: .*: .*\n$")

    def test_output_that_cannot_be_written_is_a_failure(self):
        with open("/dev/full", "wb") as full:
            done = self.run_program(self.xet_hash, self.file("hello", b"Hello World!"), code=1, stdout=full)
        self.assertIn("standard output: cannot be written: No space left", done.stderr)

    def test_without_a_file_it_is_wrong_usage(self):
        self.run_program(self.xet_hash, code=2)
        self.run_program(self.xet_hash, "--chunks", code=2)
