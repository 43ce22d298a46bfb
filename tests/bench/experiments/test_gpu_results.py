"""scripts/gpu_results.py draws processor against GPU, from what the four parts of gpu-check brought back."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PNG = b"\x89PNG\r\n\x1a\n"


class GpuResults(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.logs = self.folder / "gpu-part-4-logs"
        self.logs.mkdir()
        tables = {name: [] for name in ("end_to_end", "known_chunks")}
        limits = {"read": 3e12, "link_in_pinned": 5e10, "launch_seconds": 3e-6, "integer_operations": 1e13}
        (self.folder / "gpu-part-1.json").write_text(json.dumps({"device": "A Card", "about": {}, "limits": limits} | tables))

    def make_page(self) -> str:
        words = [sys.executable, "-B", ROOT / "scripts" / "gpu_results.py", self.folder, "--page", self.folder / "page.md"]
        run = subprocess.run(words, capture_output=True, text=True, timeout=120)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return (self.folder / "page.md").read_text()

    def test_a_chart_has_engine_and_dedup_by_whatever_back_end(self):
        back_ends = {name: {"outcome": "measured", "bytes_per_second": rate} for name, rate in (("processor", 2e9), ("cuda", 4e9), ("hybrid", 5e9), ("unheard-of", 6e9))}
        back_ends["avx2"] = {"outcome": "unavailable", "bytes_per_second": 0}
        (self.logs / "engine.json").write_text(json.dumps({"engine_rows": [{"name": "gear", "back_ends": back_ends}]}))
        for where, rate, bottleneck in (("processor", 1e9, "chunking"), ("cuda", 3e9, "reading"), ("unheard-of", 3e9, "reading")):
            report = {"bytes_per_second": rate, "bottleneck": bottleneck, "device_cut_share": 0.5}
            (self.logs / f"dedup-rabin-{where}.json").write_text(json.dumps(report))
        page = self.make_page()
        self.assertIn("![Processor against GPU](page.png)", page)
        self.assertIn("| name | processor | GPU | both | unheard-of |", page)
        self.assertTrue((self.folder / "page.png").read_bytes().startswith(PNG))

    def write_resident(self, text: str):
        (self.folder / "gpu-part-1-logs").mkdir()
        (self.folder / "gpu-part-1-logs" / "resident.json").write_text(text)

    def runs(self) -> list:
        """As Google Benchmark writes them: aggregates of repetitions, and a benchmark that failed."""
        runs = [{"run_name": f"chunk/ae-max/cuda/{size}/manual_time", "aggregate_name": aggregate, "bytes_per_second": rate, "label": "ae(avg_bytes=8192)"}
                for size, rate in ((64, 1.2e12), (256, 1.5e12)) for aggregate in ("mean", "median")]  # fmt: skip
        runs.append({"run_name": "fingerprint/sha256/cuda/64/manual_time", "aggregate_name": "median", "bytes_per_second": 0.5e12, "label": "fixed(avg_bytes=8192)"})
        runs.append({"run_name": "chunk+sha1/gear/cuda/64/manual_time", "aggregate_name": "median", "bytes_per_second": 0.9e12, "label": "gear(avg_bytes=8192)"})
        runs.append({"run_name": "chunk/rabin/cuda/64/manual_time", "error_occurred": True, "error_message": "wrong answer: chunk 0"})
        return runs

    def test_data_in_device_memory_are_beside_their_goals(self):
        self.write_resident(json.dumps({"benchmarks": self.runs()}))
        page = self.make_page()
        for line in (
            "| ae-max | 1500.0 | 1800.0 (0.83) | 0.50 | - | - |",
            "| rabin | - | - | 0.00 | - | - |",
            "| fixed | sha256 | 500.0 | 650.0 |",
            "| gear | sha1 | 900.0 | - |",
            "- chunking, rabin: wrong answer: chunk 0",
        ):
            self.assertIn(line, page)

    def test_what_was_measured_before_an_end_by_force_counts(self):
        self.write_resident(json.dumps({"context": {}, "benchmarks": self.runs()[:4]}, indent=2)[:-60])
        self.assertIn("| ae-max | 1200.0 | ", self.make_page())

    def test_threads_are_compared_with_one_and_judged(self):
        rows = [("rabin", "2K:8K:64K", "auto", {1: 1e9, 4: 3.5e9, 16: 9e9}), ("gear", "2K:8K:64K", "auto", {1: 2e9, 4: 4e9}), ("rabin", "8K:32K:256K", "auto", {1: 1e9, 4: 3e9})]
        rows += [("rabin", "2K:8K:64K", segment, {4: rate}) for segment, rate in (("256K", 3e9), ("1M", 3.3e9), ("4M", 3.2e9))]
        lines = ["round\talgorithm\tsizes\tsegment\tthreads\tbytes_per_second\tbottleneck"]
        for round_, factor in ((1, 0.5), (2, 1), (3, 1.5)):  # the median counts
            lines += [f"{round_}\t{a}\t{s}\t{g}\t{n}\t{factor * rate}\tchunking" for a, s, g, rates in rows for n, rate in rates.items()]
        (self.logs / "cores.tsv").write_text("\n".join(lines) + "\n")
        page = self.make_page()
        self.assertIn("| rabin | 2K:8K:64K | auto | 1.0 | 3.5 | 9.0 | 3.50 | 9.00 |", page)
        self.assertIn("| 3 with four threads | rabin: 3.50; gear: 2.00 | **holds in part** |", page)
        self.assertIn("| 2K:8K:64K: 3.50; 8K:32K:256K: 3.00 | **holds** |", page)
        self.assertIn("| 256K to 1M: 1.10; 1M to 4M: 0.97 | **holds in part** |", page)

    def test_a_page_without_figures_has_no_chart(self):
        self.assertNotIn("![", self.make_page())
        self.assertFalse((self.folder / "page.png").exists())


if __name__ == "__main__":
    unittest.main()
