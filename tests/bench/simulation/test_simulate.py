"""cutpoint_simulate: what it simulates beside what it predicts and what is computed by hand, and how it refuses bad lines."""

import csv
import io
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("CUTPOINT_BUILD") or ROOT / "build" / "release")
SMALL = "bytes=128M ring=48M segment=256K"
CORES = "chunking=4 hashing=4"
GPU = "gpu_chunking=200 gpu_hashing=200 latency=5 out_share=0"


def run(lines: str, *options: str) -> subprocess.CompletedProcess:
    program = BUILD / "bench" / "cutpoint_simulate"
    return subprocess.run([program, *options], input=lines, capture_output=True, text=True, timeout=300)


class Paced(unittest.TestCase):
    def answers(self, *machines: str) -> list[dict]:
        got = run("".join(f"{each} {SMALL}\n" for each in machines), "--json")
        self.assertEqual(got.returncode, 0, got.stderr)
        return [json.loads(line) for line in got.stdout.splitlines()]

    def predicted(self, answer: dict, plan: str) -> float:
        return next(p["bytes_per_second"] for p in answer["predictions"] if p["plan"] == plan) / 1e9

    def test_comes_to_what_is_computed_by_hand(self):
        by_hand = {
            f"cores=4 {CORES}": (4 * 2, "processor", "processor"),
            # The feeding core reads too: 1 / 2 of its time is one GB/s.
            f"cores=1 {CORES} reading=2": (1, "processor", "processor"),
            f"cores=4 {CORES} reading=11 gpus=1 link=10 {GPU}": (11, "shared", "reading"),
            # The cores do both at 2 GB/s each beside what the links bring.
            f"cores=4 {CORES} gpus=2 link=5 {GPU}": (4 * 2 + 2 * 5, "shared", None),
            # The GPU only fingerprints, because it cuts slowly; the four cores cut all and fingerprint the rest.
            f"cores=4 chunking=4 hashing=1 gpus=1 link=5 {GPU.replace('gpu_chunking=200', 'gpu_chunking=0.1')}": ((4 + 5) / 1.25, "shared", None),
        }
        for answer, (machine, (gb_s, plan, bottleneck)) in zip(self.answers(*by_hand), by_hand.items()):
            with self.subTest(machine):
                predicted = next(p for p in answer["predictions"] if p["plan"] == plan)
                self.assertEqual(answer["simulated"]["plan"], plan)
                self.assertAlmostEqual(predicted["bytes_per_second"] / 1e9, gb_s, delta=0.01 * gb_s)
                if bottleneck:
                    self.assertEqual(predicted["limits"][0]["name"], bottleneck)
                simulated = answer["simulated"]["bytes_per_second"] / 1e9
                self.assertGreater(simulated, 0.85 * gb_s)
                self.assertLess(simulated, 1.03 * gb_s)

    def test_chooses_the_plan_that_is_predicted_to_be_fastest(self):
        slow, fast = self.answers(f"cores=4 {CORES} link=0.1 {GPU}", f"cores=1 {CORES} link=40 reading=20 {GPU}")
        self.assertEqual(slow["simulated"]["plan"], "processor")
        self.assertEqual(slow["simulated"]["device_cut_share"], 0)
        self.assertEqual(fast["simulated"]["plan"], fast["predictions"][0]["plan"])
        self.assertGreater(fast["simulated"]["device_cut_share"], 0.9)
        self.assertGreater(fast["simulated"]["bytes_per_second"], 5 * 2e9)

    def test_rows_have_the_same_figures(self):
        machine = f"cores=3 {CORES} link=10 {GPU} {SMALL}"
        (row,) = csv.DictReader(io.StringIO(run(f"# a comment\n\n{machine}\n").stdout))
        (answer,) = self.answers(machine.replace(f" {SMALL}", ""))
        self.assertEqual(row["machine"], machine)
        self.assertEqual(row["plan"], answer["simulated"]["plan"])
        self.assertAlmostEqual(float(row["simulated_gb_s"]), answer["simulated"]["bytes_per_second"] / 1e9, delta=1e-3)
        self.assertAlmostEqual(float(row["predicted_gb_s"]), self.predicted(answer, row["plan"]), delta=1e-3)
        self.assertAlmostEqual(float(row["processor_only_gb_s"]), 6, delta=1e-3)

    def test_predicts_without_running(self):
        got = run(f"cores=4096 {CORES} bytes=1T gpus=64 link=50 {GPU}\n", "--predict", "--json")
        answer = json.loads(got.stdout)
        self.assertIsNone(answer["simulated"])
        self.assertAlmostEqual(self.predicted(answer, "processor"), 8192, delta=1)

    def test_fills_in_from_costs(self):
        point = {"name": "fastcdc", "cuts": "fastcdc(min_bytes=1)", "mean_bytes": 9000, "bytes_per_second": 3e9, "back_end": "scalar"}
        digest = {"name": "sha256", "chunk_bytes": 8192, "in_flight": 1, "bytes_per_second": 6e9, "back_end": "scalar"}
        memory = {"read_by_one": 0, "read_by_all": 0, "copy": 0, "page_cache": 7e9}
        rates = {"cuts": [point], "fingerprints": [digest]}
        costs = {"machine": "m", "processors": 2, "seconds": 1, "memory": memory, "together": 0.5, "seconds_of_a_chunk": 0}
        costs |= {"processor": rates, "devices": []}
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"costs": costs}, file)
            file.flush()
            got = run("cores=1\ncores=2 reading=5\n", "--costs", file.name, "--predict", "--json")
            self.assertEqual(got.returncode, 0, got.stderr)
            one, two = (json.loads(line)["rates"] for line in got.stdout.splitlines())
            self.assertEqual((one["chunking"], one["fingerprinting"], one["reading"]), (3e9, 6e9, 7e9))
            self.assertEqual((two["chunking"], two["fingerprinting"], two["reading"]), (1.5e9, 3e9, 5e9))
        got = run("cores=1\n", "--costs", "/nonexistent")
        self.assertEqual((got.returncode, got.stderr), (2, "cutpoint_simulate: --costs /nonexistent: cannot be read\n"))

    def test_names_the_line_that_is_wrong_and_the_bound(self):
        wrong = {
            "cores=5000": "cores = '5000' must be a whole number from 1 to 4096",
            "cores=0": "cores = '0' must be a whole number from 1 to 4096",
            "gpus=65": "gpus = '65' must be a whole number from 0 to 64",
            "bytes=2T": "bytes = '2T' must be a size from 1 to 1T",
            "chunking=nan": "chunking = 'nan' must be a number from 0 to 1e+06",
            "chunking=-1": "chunking = '-1' must be a number from 0 to 1e+06",
            "chunking=4x": "chunking = '4x' must be a number from 0 to 1e+06",
            "jitter=2": "jitter = '2' must be a number from 0 to 1",
            "cores=1 cores=2": "cores is given twice",
            "cores": "'cores' must be KEY=VALUE",
            "cors=1": "no key 'cors', did you mean 'cores'?",
            "cores=1": "chunking is missing: the rate of cuts on a core",
            "chunking=1 link=3": "gpu_chunking is missing: the rate of cuts on a GPU",
            "chunking=1 cuts=fastcd": "no algorithm or profile 'fastcd', did you mean 'fastcdc'?",
        }
        for line, why in wrong.items():
            got = run(f"# first\ncores=1 {CORES} bytes=1M\n{line}\n")
            self.assertEqual((got.returncode, got.stderr), (2, f"cutpoint_simulate: line 3: {why}\n"))
            self.assertEqual(len(got.stdout.splitlines()), 2, "what was right before is answered")

    def test_explains_itself(self):
        got = run("", "--help")
        self.assertEqual(got.returncode, 0)
        self.assertIn("gpu_chunking", got.stdout)
        self.assertEqual(run("", "--nonsense").returncode, 2)


if __name__ == "__main__":
    unittest.main()
