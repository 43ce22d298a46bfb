"""Tests the page "adding an algorithm" by following it in a copy of the tree, which is then built and run."""

import json
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "adding-an-algorithm.md"
BUILT = ["CMakeLists.txt", "LICENSE", "cmake", "host", "simd", "cuda", "pipeline", "store", "cluster", "cli", "cluster_cli", "bindings"]


def toy_lengths(data: bytes, smallest: int, largest: int, distance: int) -> list[int]:
    """Returns the chunk lengths by the page's rule, implemented a second time."""
    lengths, start = [], 0
    while start < len(data):
        end = min(largest, len(data) - start)
        cuts = (i + 1 for i in range(smallest - 1, end) if data[start + i] == data[start + i - distance])
        lengths.append(next(cuts, end))
        start += lengths[-1]
    return lengths


class AddingAnAlgorithm(unittest.TestCase):
    def setUp(self):
        self.tree = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in BUILT:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, self.tree / name)

    def insert_before(self, path: str, pattern: str, line: str):
        text = (self.tree / path).read_text()
        changed = re.sub(pattern, lambda match: line + match.group(0), text, count=1)
        self.assertNotEqual(changed, text, path)
        (self.tree / path).write_text(changed)

    def run_command(self, *words: str) -> str:
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    def add_toy(self):
        parameters, definition, *_ = re.findall(r"```cpp\n(.*?)```", PAGE.read_text(), re.DOTALL)
        (self.tree / "host/algorithms/toy.h").write_text(definition)
        public = "host/include/cutpoint/algorithms.h"
        self.insert_before(public, r"/// Holds the parameters of one algorithm\.", parameters + "\n")
        self.insert_before(public, r"fixed_parameters>;", "toy_parameters, ")
        self.insert_before("host/algorithms/all.h", r'#include "host/algorithms/seqcdc.h"', '#include "host/algorithms/toy.h"\n')

    def test_an_aggregate_a_file_and_two_lines_make_it_work(self):
        self.add_toy()
        build = str(self.tree / "build")
        options = [f"-DCUTPOINT_{name}=OFF" for name in ("BUILD_TESTS", "BUILD_BENCHMARKS", "CUDA")]
        self.run_command("cmake", "-S", str(self.tree), "-B", build, "-G", "Ninja", *options)
        self.run_command("cmake", "--build", build, "--target", "cutpoint")
        command = f"{build}/cli/cutpoint"

        listed = json.loads(self.run_command(command, "list", "toy", "--json"))
        self.assertEqual(listed["cuts"], "toy(min_bytes=2048,avg_bytes=8192,max_bytes=65536,distance=1)")

        data = random.Random(1).randbytes(100_000)
        file = self.tree / "data"
        file.write_bytes(data)
        words = ["--algorithm", "toy", "--size", "64:1K:4K", "--param", "distance=3", "--format", "lengths", str(file)]
        lengths = [int(line) for line in self.run_command(command, "chunk", *words).split()]
        self.assertEqual(lengths, toy_lengths(data, 64, 4096, 3))

        refused = subprocess.run([command, "chunk", "--algorithm", "toy", "--size", "2:1K:4K", "--param", "distance=3", file],
                                 capture_output=True, text=True)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("min_bytes = 2 must be more than distance = 3", refused.stderr)
