"""scripts/would-a-gpu-help: its answers beside what is computed by hand for made-up costs, its refusals, its CSV and plot."""

import csv
import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = os.environ.get("CUTPOINT_BUILD") or str(ROOT / "build" / "release")


def costs():
    """Two cores that cut and fingerprint 2 GB/s each, so 1 GB/s of both."""
    lane = {
        "cuts": [{"name": "fastcdc", "cuts": "fastcdc(min_bytes=1)", "mean_bytes": 9000, "bytes_per_second": 2e9, "back_end": "scalar"}],
        "fingerprints": [{"name": "sha1", "chunk_bytes": 8192, "in_flight": 1, "bytes_per_second": 2e9, "back_end": "scalar"}],
    }
    memory = {"read_by_one": 60e9, "read_by_all": 60e9, "copy": 8e9, "page_cache": 6e9}
    made = {"machine": "m", "processors": 2, "seconds": 1, "memory": memory, "together": 1, "seconds_of_a_chunk": 0}
    return {"machine": {"processor_model": "A processor"}, "costs": made | {"processor": lane, "devices": []}}


class WouldAGpuHelp(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.costs = self.folder / "costs.json"
        self.costs.write_text(json.dumps(costs()))

    def ask(self, *words: str) -> subprocess.CompletedProcess:
        command = [ROOT / "scripts" / "would-a-gpu-help", "--build", BUILD, "--costs", self.costs, "--hash", "sha1", "--bytes", "64M", *words]
        return subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)

    def test_answers(self):
        got = self.ask("--reading", "free", "--cores", "2", "--link", "5")
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn("A processor, 2 cores: each cuts 2.00 (fastcdc) and fingerprints 2.00 GB/s (sha1)", got.stdout)
        self.assertRegex(got.stdout, r"without +2 GB/s predicted, 1\.\d+ simulated; plan processor, bound by processor\n")
        # 5 GB/s over the link and 2 by the cores; more than 20 never pass the memory, three times.
        self.assertRegex(got.stdout, r"\nwith +7 GB/s predicted, [67]\.?\d* simulated; plan shared,")
        self.assertIn("it would help: 3.5 times", got.stdout)
        self.assertRegex(got.stdout, r"worth it from 0\.2\d? GB/s on; from 1[5-9] GB/s on a faster one brings nothing more \(20 GB/s\)")
        self.assertIn("No GPU was measured", got.stdout)

    def test_says_what_reading_allows(self):
        got = self.ask("--cores", "2")
        self.assertRegex(got.stdout, r"\nwith +6 GB/s predicted, [56]\.?\d* simulated; plan shared, bound by reading\n")
        got = self.ask("--reading", "1.01")
        self.assertIn("it would not help: less than a tenth more", got.stdout)
        self.assertIn("no link would make it worth it", got.stdout)
        self.assertIn("none is worth it", got.stdout)

    def test_refuses_wrong_usage_in_one_sentence(self):
        for words, why in (
            (["--cores", "0"], "must be a whole number from 1 to 4096: '0'"),
            (["--gpus", "65"], "must be a whole number from 1 to 64: '65'"),
            (["--link", "x"], "must be a number above 0, at most 1e6: 'x'"),
            (["--reading", "fast"], "must be a number above 0, at most 1e6: 'fast'"),
            (["--hash", "md5"], "--hash md5: GPUs make sha1, sha256, blake3"),
            (["--algorithm", "fastcd"], "no algorithm or profile 'fastcd', did you mean 'fastcdc'?"),
            (["--costs", "nothing.json"], "--costs nothing.json: No such file or directory"),
            (["--output", "o"], "--output is for --sweep"),
        ):
            got = self.ask(*words)
            self.assertEqual((got.returncode, got.stdout), (2, ""), words)
            self.assertTrue(got.stderr.splitlines()[-1].endswith(why), got.stderr)

    def test_sweeps(self):
        got = self.ask("--sweep", "gpus", "--cores", "2", "--reading", "free", "--bytes", "16M", "-o", "some.thing")
        self.assertEqual(got.returncode, 0, got.stderr)
        with open(self.folder / "some.thing.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        simulated = [r for r in rows if r["simulated_gb_s"]]
        self.assertEqual({r["series"] for r in simulated}, {"links of 12 GB/s", "links of 25 GB/s", "links of 50 GB/s"})
        one = next(r for r in rows if r["series"] == "links of 12 GB/s" and r["x"] == "1" and not r["simulated_gb_s"])
        self.assertAlmostEqual(float(one["predicted_gb_s"]), 14, delta=0.2)
        plot = self.folder / "some.thing.svg"
        if not plot.exists():
            self.assertRegex(got.stderr, "no plot: it takes the package python3-matplotlib")
        else:
            self.assertTrue(re.search(r"<svg ", plot.read_text()))


if __name__ == "__main__":
    unittest.main()
