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
        tables = {name: [] for name in ("chunking", "fingerprints", "end_to_end", "known_chunks")}
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

    def test_a_page_without_figures_has_no_chart(self):
        self.assertNotIn("![", self.make_page())
        self.assertFalse((self.folder / "page.png").exists())


if __name__ == "__main__":
    unittest.main()
