"""Tests examples/fastcdc2020 against known cuts of the crate. tests/oracles compares it with pyfastcdc."""

import hashlib
import json
import pathlib

from examples import ExampleTest, program
from streams import golden_input

GOLDENS = json.loads((pathlib.Path(__file__).resolve().parents[1] / "data" / "goldens.json").read_text())["cuts"]
UNITS = {"K": 1 << 10, "M": 1 << 20}


def as_bytes(size: str) -> int:
    return int(size[:-1]) * UNITS[size[-1]]


class Fastcdc2020(ExampleTest):
    def setUp(self):
        super().setUp()
        self.v2020 = program("fastcdc2020", "v2020")

    def chunks(self, *words) -> list[tuple[int, int]]:
        _, *lines = self.run_program(self.v2020, *words).stdout.decode().splitlines()
        pairs = [[word.partition("=")[2] for word in line.split()] for line in lines]
        return [(int(offset), int(size)) for offset, size in pairs]

    def test_goldens_of_the_crate(self):
        names = [name for name in GOLDENS if name.startswith("fastcdc2020 ")]
        self.assertEqual(len(names), 5)
        paths = {input_name: self.file(input_name, golden_input(input_name)) for input_name in ("D2", "D3")}
        for name in names:
            _, sizes, level = name.split()
            for input_name, path in paths.items():
                with self.subTest(name, input=input_name):
                    words = [as_bytes(size) for size in sizes.split(":")]
                    chunks = self.chunks(f"--level={level.removeprefix('nc')}", *words, path)
                    ends = [offset + size for offset, size in chunks]
                    self.assertEqual([offset for offset, _ in chunks], [0, *ends[:-1]])
                    lengths = "".join(f"{size}\n" for _, size in chunks)
                    expected = GOLDENS[name]["of"][input_name]["sha256"]
                    self.assertEqual(hashlib.sha256(lengths.encode()).hexdigest(), expected)

    def test_the_level_is_one_unless_given(self):
        path = self.file("D2", golden_input("D2"))
        self.assertEqual(self.chunks(4096, 16384, 65536, path), self.chunks("--level=1", 4096, 16384, 65536, path))
        self.assertNotEqual(self.chunks(4096, 16384, 65536, path), self.chunks("--level=2", 4096, 16384, 65536, path))

    def test_no_bytes_have_no_chunks(self):
        self.assertEqual(self.chunks(4096, 16384, 65536, self.file("empty", b"")), [])

    def test_sizes_out_of_the_bounds_are_wrong_usage(self):
        path = self.file("data", b"bytes")
        for sizes, named in (([62, 256, 1024], "min_bytes = 62"), ([64, 254, 1024], "avg_bytes = 254"),
                             ([64, 256, 1 << 27], "max_bytes"), ([4096, 256, 1024], "min_bytes"),
                             (["x", 256, 1024], "min_bytes = 0")):
            with self.subTest(sizes=sizes):
                self.assertIn(named, self.run_program(self.v2020, *sizes, path, code=2).stderr)
        self.run_program(self.v2020, 64, 256, 1024, code=2)

    def test_a_file_that_fails_is_named_and_the_others_are_cut(self):
        path = self.file("data", b"bytes")
        done = self.run_program(self.v2020, 64, 256, 1024, self.folder / "none", path, code=1)
        self.assertIn("/none: No such file", done.stderr)
        self.assertTrue(done.stdout.endswith(b"data\noffset=0 size=5\n"))
