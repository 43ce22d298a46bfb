"""A base class for tests of examples/store, with a store in a temporary folder."""

import pathlib
import random
import re
import subprocess

from examples import MIB, ExampleTest, program

noise = random.Random(7).randbytes(24 * MIB)
LONGEST_CHUNK = 512 * 1024


class StoreTest(ExampleTest):
    def setUp(self):
        super().setUp()
        self.program = program("store", "store")
        self.store = self.folder / "store"

    def put(self, name: str, data: bytes, code: int = 0, **options) -> subprocess.CompletedProcess:
        return self.run_program(self.program, "put", self.store, name, code=code, input=data, **options)

    def put_numbers(self, name: str, data: bytes) -> list[int]:
        """Returns the numbers that `put` prints: bytes and chunks of the stream, and how many of them are new."""
        return [int(number) for number in re.findall(rb"\d+", self.put(name, data).stdout)]

    def get(self, name: str, code: int = 0) -> subprocess.CompletedProcess:
        return self.run_program(self.program, "get", self.store, name, code=code)

    def verify(self, code: int = 0) -> list[str]:
        return self.run_program(self.program, "verify", self.store, code=code).stdout.decode().splitlines()

    def chunks(self) -> list[pathlib.Path]:
        return sorted(path for path in (self.store / "chunks").rglob("*") if path.is_file())

    def chunk_bytes(self) -> int:
        return sum(path.stat().st_size for path in self.chunks())

    def recipe(self, name: str) -> pathlib.Path:
        return self.store / "recipes" / name

    def recipe_lines(self, name: str) -> list[tuple[str, int, int]]:
        """Returns digest, length and count of each line of a recipe."""
        lines = [line.split() for line in self.recipe(name).read_text().splitlines()[3:-1]]
        return [(digest, int(length), int(count)) for digest, length, count in lines]

    def expect_whole(self, **streams: bytes):
        """Expects that the store has these streams and no others, no problems and no temporary files."""
        self.assertEqual(sorted(path.name for path in (self.store / "recipes").iterdir()), sorted(streams))
        self.assertEqual(self.verify(), [f"{len(self.chunks())} chunks, {len(streams)} streams, 0 problems"])
        self.assertEqual([], list((self.store / "incoming").iterdir()))
        for name, data in streams.items():
            self.assertEqual(self.get(name).stdout, data)
