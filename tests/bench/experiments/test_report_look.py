"""A report is right in a real browser, and the look that says so would say what is wrong."""

import subprocess
import sys
import tempfile
import unittest
from itertools import product
from pathlib import Path

import browser
from results_files import GIB, ResultsFile, cuts_of, store_stats, tune_result

from experiments.report import write

if not browser.find():
    raise unittest.SkipTest("no Chromium here: scripts/setup --full installs it")

LOOK = Path(__file__).with_name("look_at_report")


class Look(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        results = ResultsFile(cls.folder / "results.sqlite")
        results.add_matrix()
        for kind, back_end in product(("dedup", "backup"), ("scalar", "sse4", "avx2", "avx512", "cuda", "hybrid")):
            results.add_stages("mincdchash4", back_end, kind, chunking=[1.0, 2.0, 3.0], fingerprinting=[0.9, 1.8, 2.7])
        results.add_speeds("linux", "gear", "8K", cuts_of("gear", 2048, 8192, 65536), {"scalar": GIB, "avx2": 4 * GIB})
        results.add("tune", "linux", "seqcdc-inc", "8K", tune_result())
        results.add("dedup", "linux", "gear", "8K", None, outcome="failed", problem="a problem of many words " * 20)
        results.add("dedup", "linux", "gear", "8K", None, outcome="unavailable", backend="cuda", problem="a reason of many words " * 20)
        for hash_name, kib, back_end in product(("sha1", "sha256", "md5", "xxh3"), (4, 8, 16), ("scalar", "avx2", "cuda")):  # many choices
            cuts = cuts_of("ram", 2048, kib << 10, 65536)
            results.add_run("linux", "ram", f"{kib}K", cuts, 0.5, GIB * len(back_end) / 8, hash=hash_name, backend=back_end)
        for threads in (1, 2, 4, 8, 16):
            results.add_run("linux", "rabin", "8K", cuts_of("rabin", 2048, 8192, 65536), 0.5, GIB * threads**0.9, threads=threads, segment="4M")
        write(results.saved(), cls.folder / "report", lambda _: None, [store_stats(cls.folder / "store.json")])
        results.file.close()
        cls.html = (cls.folder / "report" / "index.html").read_text(encoding="utf-8")

    def look(self, html: str) -> subprocess.CompletedProcess:
        page = self.folder / "index.html"
        page.write_text(html, encoding="utf-8")
        return subprocess.run([sys.executable, "-B", LOOK, page, "-o", self.folder / "pictures"], capture_output=True, text=True)

    def test_the_report_is_right_at_two_widths_in_light_and_dark(self):
        run = self.look(self.html)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        pictures = {path.name: path.stat().st_size for path in (self.folder / "pictures").iterdir()}
        self.assertEqual(set(pictures), {f"page-{width}-{scheme}.png" for width in (1400, 400) for scheme in ("light", "dark")})
        self.assertGreater(min(pictures.values()), 20_000)

    def test_what_is_wrong_is_told(self):
        open_policy = self.html.replace("default-src 'none'", "default-src *")
        for name, html, told in (
            ("an exception", self.html.replace("</main>", "</main><script>nothing.here()</script>"), "nothing is not defined"),
            ("a request", open_policy.replace("img-src data: blob:", "").replace("</main>", '<img alt="" src="http://localhost:9/x.png"></main>'), "request off the page"),
            ("a wide page", self.html.replace("</main>", '<div style="width:1500px">wide</div></main>'), "1400 light: the page is 15"),
            ("a chart without marks", self.html.replace('"type":"bar"', '"type":"text"'), "not drawn: back-ends-0"),
        ):
            with self.subTest(name):
                run = self.look(html)
                self.assertEqual(run.returncode, 1)
                self.assertIn(told, run.stderr)


if __name__ == "__main__":
    unittest.main()
