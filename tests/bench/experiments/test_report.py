"""The report says what the results file has, shows no section without rows, loads nothing, and bears whatever a sweep leaves."""

import contextlib
import json
import os
import re
import sqlite3
import struct
import tempfile
import unittest
import unittest.mock
import zlib
from html.parser import HTMLParser
from pathlib import Path

import vl_convert
from programs import run_here
from results_files import BACK_ENDS, BUSY, CATALOG, GIB, ResultsFile, cuts_of, report_of, store_stats, tune_result

from experiments.report import plots, write
from experiments.report.__main__ import main
from experiments.report.charts import SECTIONS
from experiments.results import read, read_stores

RUNS = {"savings", "pareto", "throughput", "stages", "lengths"}


class Page(HTMLParser):
    """What a page consists of: sections, tables as lists of rows, addresses, style sheets, text."""

    def __init__(self, text: str):
        super().__init__()
        self.sections, self.tables, self.addresses, self.styles, self.text = {}, {}, [], "", ""
        self.section, self.cell, self.inside = "head", None, ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.addresses += [named[name] for name in ("src", "href", "data", "action", "poster", "srcset") if name in named]
        if tag == "section":
            self.section = named["id"]
            self.sections[self.section] = 0
        elif tag == "figure":
            self.sections[self.section] += 1
        elif tag == "tr":
            self.tables.setdefault(self.section, []).append([])
        elif tag in ("td", "th"):
            self.cell = ""
        self.inside = tag

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.tables[self.section][-1].append(self.cell)
            self.cell = None
        self.inside = ""

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data
        if self.inside == "style":
            self.styles += data
        elif self.inside != "script":
            self.text += data


def colours_in(png: bytes) -> int:
    """How many different rows of pixels a PNG has: one where it is blank."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    data, at = b"", 8
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        if kind == b"IHDR":
            width, _, depth, colour = struct.unpack(">IIBB", png[at + 8 : at + 18])
        elif kind == b"IDAT":
            data += png[at + 8 : at + 8 + length]
        at += length + 12
    stride = 1 + width * {2: 3, 6: 4}[colour] * depth // 8
    pixels = zlib.decompress(data)
    return len({pixels[i : i + stride] for i in range(0, len(pixels), stride)})


def axes_of(svg: str) -> list[list[str]]:
    """The labels of each axis of a plot."""
    groups = re.findall(r'<g class="mark-text role-axis-label"[^>]*>(.*?)</g>', svg)
    return [list(filter(None, re.findall(r"<text[^>]*>([^<]*)</text>", group))) for group in groups]


class Report(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.out = self.folder / "report"
        self.results = ResultsFile(self.folder / "results.sqlite")
        self.addCleanup(self.results.file.close)

    def page(self, draws_plots: bool = False, stores=()) -> Page:
        """The page of the results and stores. Plots are empty files unless they are drawn, which takes seconds."""
        self.messages = []
        with contextlib.nullcontext() if draws_plots else unittest.mock.patch("experiments.report.plots.png", return_value=b""):
            write(self.results.saved(), self.out, self.messages.append, stores)
        self.assertIn("index.html", self.messages[-1])
        self.html = (self.out / "index.html").read_text(encoding="utf-8")
        return Page(self.html)

    def test_an_empty_file_has_no_sections(self):
        page = self.page()
        self.assertEqual(page.sections, {})
        self.assertIn("No cell has been measured yet", page.text)
        self.assertEqual([path.name for path in self.out.iterdir()], ["index.html"])

    def test_sections_appear_exactly_when_they_have_rows(self):
        steps = [
            (RUNS, self.results.add_matrix),
            ({"joins"}, self.add_join),
            ({"shift"}, self.add_shift),
            ({"cutting", "speedups"}, lambda: self.results.add_speeds("linux", "gear", "8K", cuts_of("gear", 2048, 8192, 65536), {"scalar": 1e9, "avx2": 4e9})),
            ({"gpu"}, self.add_gpu),
            ({"parameters"}, self.add_grid),
            ({"tune"}, lambda: self.results.add("tune", "linux", "seqcdc-inc", "8K", tune_result())),
        ]
        wanted = set()
        for more, add in steps:
            add()
            wanted |= more
            results = read(self.results.saved())
            self.assertEqual({section.name for make in SECTIONS if (section := make(results))}, wanted)
        self.results.add("dedup", "linux", "gear", "8K", None, outcome="failed", problem="no such thing")
        page = self.page()
        self.assertEqual(set(page.sections), wanted | {"problems", "verdict"})
        self.assertTrue(all(count for name, count in page.sections.items() if name not in ("problems", "verdict")), page.sections)
        self.assertEqual({path.stem.split("-")[0] for path in self.out.glob("*.png")}, wanted)

    def add_shift(self):
        self.results.add_stages("gear", "sse4", "backup", chunking=[3.0, 3.1, 3.2], writing=[1.0, 1.0, 1.0])
        self.results.add_stages("gear", "avx2", "backup", chunking=[0.3, 0.3, 0.3], writing=[1.0, 1.0, 1.0])

    def add_join(self):
        report = report_of(cuts_of("rabin", 2048, 8192, 65536), 0.2)
        report["comparison"] = {"dirty_chunk_count": 1311, "missed_duplicate_share": 0.03125}
        for join in ("pdedupe", "none"):
            self.results.add_run("linux", "rabin", "2K:8K:64K", "", 0, report=report, join_name=join, segment="1M")

    def add_gpu(self):
        cell = {"outcome": "measured", "bytes_per_second": 40 * GIB, "of_read": None}
        row = {"place": "device", "kind": "cuts", "name": "gear", "cuts": cuts_of("gear", 2048, 8192, 65536), "mean_bytes": 8000.0, "back_ends": {"cuda": cell}}
        self.results.add("device-kernels", "linux", "gear", "8K", {"rows": [row]})

    def add_grid(self):
        for length in (4, 5, 6):
            self.results.add_run(
                "linux", "seqcdc-inc", "8K", cuts_of("seqcdc-inc", 4096, 8192, 16384), 0.2 + length / 100, parameters=json.dumps({"seq_length": length})
            )

    def test_the_tables_have_the_numbers_of_the_file(self):
        self.results.add_matrix()
        self.add_join()
        self.results.add_speeds("linux", "gear", "8K", cuts_of("gear", 2048, 8192, 65536), {"scalar": 1.5 * GIB, "avx2": 6 * GIB})
        self.add_gpu()
        page = self.page()
        heading, *rows = page.tables["savings"]
        self.assertEqual(heading[:4], ["data set", "algorithm", "size", "savings %"])
        self.assertEqual(len(rows), 10)
        self.assertIn(["linux", "fastcdc", "4K:8K:16K", "26.00", "1.351", "8192", "131072", str(round(GIB * 0.74)), str(GIB)], rows)
        self.assertIn(["random", "seqcdc-inc", "16K", "0.250"], [[*row[:3], f"{float(row[3]) - 38.75:.3f}"] for row in rows])
        speeds = {tuple(row[:3]): row[3:5] for row in page.tables["throughput"][1:]}
        self.assertEqual(speeds["linux", "ae-max", "8K"], ["0.750", "fingerprinting"])
        self.assertIn(["linux", "gear", "8K", "memory", "avx2", "6.000", "4.00", "0.500"], page.tables["speedups"])
        self.assertIn(["linux", "gear", "8K", "6.000", "0.500", "avx2", "8000"], page.tables["cutting"])
        self.assertEqual(page.tables["gpu"][1:], [["linux", "gear", "8K", "40.000", "–", "cuda", "8000"]])
        self.assertIn(["linux", "rabin", "2K:8K:64K", "none", "1M", "1311", "1.000", "3.125", "20.00"], page.tables["joins"])
        stages = dict(zip(page.tables["stages"][0], page.tables["stages"][1]))
        self.assertEqual((stages["fingerprinting"], stages["sum s/GiB"], stages["bottleneck"]), ("0.600", "1.230", "fingerprinting"))

    def test_back_ends_that_no_list_has_are_drawn(self):
        rates = {name: (1 + i) * GIB for i, name in enumerate(BACK_ENDS)}
        for algorithm in ("gear", "mincdchash4"):
            self.results.add_speeds("linux", algorithm, "8K", cuts_of(algorithm, 2048, 8192, 65536), rates)
        page = self.page(draws_plots=True)
        self.assertEqual([row[4] for row in page.tables["speedups"] if row[1:4] == ["gear", "8K", "memory"]], BACK_ENDS)
        for name in BACK_ENDS:
            self.assertRegex(self.html, rf"</svg>{name}</li>")
        self.assertGreater(colours_in((self.out / "speedups.png").read_bytes()), 20)

    def test_names_that_no_list_has_are_drawn(self):
        """An algorithm, a join, a stage, a back end and a bottleneck of a later version."""
        report = report_of("invented(avg_bytes=8192)", 0.3, busy=BUSY | {"invented stage": 5.0})
        report["comparison"] = {"dirty_chunk_count": 10, "missed_duplicate_share": 0.01}
        for settings in ({}, {"join_name": "invented join", "segment": "1M"}, {"backend": "invented"}, {"hash": "invented hash"}):
            self.results.add_run("linux", "invented", "8K", "", 0, report=report, **settings)
        self.results.add_speeds("linux", "invented", "8K", "invented(avg_bytes=8192)", {"scalar": GIB, "invented": 2 * GIB})
        page = self.page(draws_plots=True)
        self.assertEqual(set(page.sections), (RUNS | {"joins", "cutting", "speedups", "verdict"}) - {"pareto"})
        self.assertEqual(dict(zip(*page.tables["stages"][:2]))["invented stage"], "5.000")
        self.assertIn("join invented join", page.text)
        drawn = sorted(self.out.glob("*.png"))
        self.assertGreater(len(drawn), 5)
        for plot in drawn:
            self.assertGreater(colours_in(plot.read_bytes()), 20, plot.name)

    def test_all_algorithms_and_profiles_are_compared_at_their_aims(self):
        for name in CATALOG.entries:
            self.results.add_run("linux", name, "8K", cuts_of(name, 0, 8192, 0), 0.9 if name == "mincdchash4" else 0.2)
        page = self.page()
        self.assertIn("mincdchash4 saves most on linux", page.text)
        self.assertEqual({row[1] for row in page.tables["savings"][1:]}, set(CATALOG.entries))

    def test_a_file_without_a_catalog_is_told(self):
        self.results.add_matrix()
        self.results.file.execute("""update binaries set info = '{"version": "1"}'""")
        page = self.page()
        self.assertEqual(set(page.sections), RUNS | {"verdict"})
        self.assertIn("These results have no catalog of algorithms", page.text)

    def test_no_axis_repeats_a_label(self):
        self.results.add_matrix()
        self.add_join()
        self.add_grid()
        self.results.add_speeds("linux", "gear", "8K", cuts_of("gear", 2048, 8192, 65536), {name: GIB for name in BACK_ENDS})
        self.results.add("tune", "linux", "seqcdc-inc", "8K", tune_result())
        for algorithm, savings in (("gear", 0.999990), ("rabin", 0.999991)):
            self.results.add_run("alike", algorithm, "8K", cuts_of(algorithm, 4096, 8192, 16384), savings)
        results = read(self.results.saved())
        results.stores = read_stores([store_stats(self.folder / f"{count}.json", count) for count in (1, 2, 3, 4, 30)])
        for section in filter(None, (make(results) for make in SECTIONS)):
            for choice in section.choices or [""]:
                for axis in axes_of(vl_convert.vegalite_to_svg(plots.composed(section, choice), vl_version=plots.VEGA_LITE)):
                    self.assertEqual(len(set(axis)), len(axis), (section.name, choice, axis))

    def test_the_page_loads_nothing(self):
        self.results.add_matrix()
        page = self.page()
        for address in page.addresses:
            self.assertRegex(address, "^(#|data:,$)")
        self.assertNotRegex(page.styles, r"url\(|@import")
        self.assertIn("default-src 'none'", self.html)
        self.assertLess(len(self.html), 3_000_000)

    def test_the_page_ends_with_a_verdict(self):
        """The cheapest of the settings that save enough, and a word on data that save nothing and on chunks of one length."""
        def add(dataset: str, algorithm: str, savings: float, seconds: float, length: int = 8000) -> None:
            report = report_of(cuts_of(algorithm, 4096, 8192, 16384), savings, busy=BUSY | {"chunking": seconds})
            report["result"]["chunks"] |= {"percentile_5_bytes": length, "max_bytes": 8192}
            self.results.add_run(dataset, algorithm, "8K", "", 0, report=report)

        for algorithm, savings, seconds in (("rabin", 0.5, 2), ("gear", 0.495, 1), ("fastcdc", 0.499, 1.5), ("ram", 0.4, 0.1)):
            add("versions", algorithm, savings, seconds)
            add("noise", algorithm, 0, seconds)
        add("pages", "fixed", 0.5, 1, 8192)
        page = self.page()
        self.assertEqual(list(page.sections)[-1], "verdict")
        verdict = {row[0]: row for row in page.tables["verdict"]}
        # 64 bytes for each chunk of 8192 are 0.78 %
        self.assertEqual(verdict["versions"][1:5], ["gear 8K", "8 KiB", "48.7%", "1.83"])
        self.assertIn("the cheapest of the 3 settings that save enough; rabin 8K saves 49.2% at 2.83 s/GiB", verdict["versions"][5])
        self.assertEqual(verdict["noise"][1], "no deduplication")
        self.assertIn("store these data as they are", verdict["noise"][5])
        self.assertIn("fixed length", verdict["pages"][5])
        self.assertEqual([verdict[name][6] for name in ("versions", "noise")], ["--algorithm gear --size 8K", ""], "options to paste")
        self.assertIn("it depends on the data, 3 answers for 3 data sets", page.text)
        self.assertTrue(any("versions: take gear 8K" in line for line in self.messages), self.messages)

    def test_the_smallest_store_has_a_verdict_of_its_own(self):
        self.results.add_matrix(["linux"])
        result = tune_result() | {"goal": "store", "recommendation": {"candidate": 1, "why": "its store is the smallest", "options": "--algorithm ram --size 16K"}}
        result["candidates"][1] |= {"is_default": False, "net_savings_share": 0.75}
        self.results.add("tune", "linux", "all", "own", result)
        rows = {row[0]: row for row in self.page().tables["verdict"]}
        self.assertEqual(rows["linux, a store"][3:], ["75.0%", "", "its store is the smallest", "--algorithm ram --size 16K"])
        self.assertNotIn("store", rows["linux"][1])

    def test_back_ends_are_compared_at_one_setting(self):
        for algorithm, rates in (("gear", {"scalar": 1e9, "avx2": 4e9, "cuda": 12e9}), ("ram", {"scalar": 2e9, "avx2": 3e9})):
            for name, rate in rates.items():
                self.results.add_run("linux", algorithm, "8K", cuts_of(algorithm, 4096, 8192, 16384), 0.5, rate, backend=name)
        self.results.add_run("linux", "maxp", "8K", cuts_of("maxp", 4096, 8192, 16384), 0.5, 1e9, backend="avx2")  # nothing to compare it with
        page = self.page()
        rows = [row[:1] + row[1:2] + row[-4:-1] for row in page.tables["back-ends"][1:]]
        self.assertIn(["linux", "gear", "cuda", "11.18", "12.00"], rows)
        self.assertIn(["linux", "ram", "avx2", "2.79", "1.50"], rows)
        self.assertEqual(len(rows), 5)
        self.assertIn("instruction sets up to 4.0 times (gear, avx2); a GPU up to 12.0 times (gear, cuda)", page.text)

    def test_the_bottleneck_shifts_where_it_was_chunking_and_no_longer_is(self):
        """By scalar code and by vectors. Stages are even where they differ by no more than the rounds do."""
        chunking = {"reading": [1.0, 1.0, 1.0], "chunking": [3.0, 3.1, 3.2], "fingerprinting": [2.0, 2.1, 2.2]}
        fingerprinting = chunking | {"chunking": [0.9, 1.0, 1.1]}
        reading = fingerprinting | {"reading": [4.0, 4.0, 4.0]}
        even = chunking | {"fingerprinting": [2.2, 3.0, 3.9]}
        others = fingerprinting | {"reading": [1.6, 2.0, 2.4]}
        device = fingerprinting | {"device 0": [5.0, 5.0, 5.0]}
        cases = {
            "rabin": (chunking, fingerprinting, "yes, by avx2"),
            "gear": (chunking, chunking, "no, it is chunking"),
            "ram": (reading, reading, "no, it was reading"),
            "maxp": (fingerprinting, reading, "no, it was fingerprinting"),
            "adler": (reading, chunking, "no, it is chunking"),
            "fastcdc": (chunking, even, "unclear"),
            "crc32": (even, fingerprinting, "unclear"),
            "ae-max": (chunking, others, "yes, by avx2"),
            "ae-min": (others, fingerprinting, "no, it was fingerprinting or reading"),
            "tttd": (chunking, device, "yes, by avx2"),
        }
        for algorithm, (scalar, vectors, _) in cases.items():
            for kind in ("dedup", "backup"):
                self.results.add_stages(algorithm, "scalar", kind, **scalar)
                self.results.add_stages(algorithm, "avx2", kind, **vectors)
        self.results.add_stages("seqcdc-inc", "scalar", chunking=[1.0, 1.0, 1.0], reading=[0.1, 0.1, 0.1])  # by one back end alone
        for back_end in ("scalar", "avx2"):
            self.results.add_stages("seqcdc-dec", back_end, chunking=[1.0, 1.0], reading=[0.1, 0.1])  # two rounds have no spread
        page = self.page(draws_plots=True)
        heading, *rows = page.tables["shift"]
        self.assertEqual(heading[4:], ["written", "scalar; GB/s", "avx2; GB/s", "shifted from chunking"])
        wanted = {(algorithm, written): verdict for algorithm, (*_, verdict) in cases.items() for written in ("no", "yes")}
        self.assertEqual({(row[1], row[4]): row[7] for row in rows}, wanted)
        by_name = {row[1]: row[5:7] for row in rows}
        self.assertEqual(by_name["rabin"], ["chunking; 1.00", "fingerprinting; 1.00"])
        self.assertEqual(by_name["fastcdc"][1], "even: chunking, fingerprinting; 1.00")
        self.assertEqual(by_name["tttd"][1], "device 0; 1.00")
        self.assertIn("The bottleneck shifts from chunking in 6 of the 12 jobs", page.text)
        self.assertGreater(colours_in((self.out / "shift.png").read_bytes()), 20)
        self.assertNotIn("backup", [row[3] for row in page.tables["savings"]])

    def test_plots_are_svg_if_wished(self):
        self.add_shift()
        write(self.results.saved(), self.out, [].append, picture="svg")
        self.assertIn("linux, sha1, written", (self.out / "shift.svg").read_text(encoding="utf-8"))
        self.assertEqual(list(self.out.glob("*.png")), [])

    def test_threads_are_compared_with_one(self):
        for threads, rate in ((1, 1e9), (2, 1.9e9), (4, 3.5e9)):
            self.results.add_run("linux", "rabin", "8K", cuts_of("rabin", 4096, 8192, 16384), 0.5, rate, threads=threads)
        self.results.add_run("linux", "gear", "8K", cuts_of("gear", 4096, 8192, 16384), 0.5, 5e9, threads=4)  # never by one
        page = self.page()
        self.assertEqual([row[4:5] + row[6:8] for row in page.tables["scaling"][1:]], [["1", "1.00", "1.00"], ["2", "1.90", "0.95"], ["4", "3.50", "0.88"]])
        self.assertIn("4 threads are 3.5 times as fast as one", page.text)

    def test_failures_are_told_and_cannot_become_markup(self):
        self.results.add("dedup", "linux", "gear", "8K", None, outcome="failed", problem="<script>alert(1)</script> & more")
        self.results.add("dedup", "linux", "gear", "8K", None, outcome="unavailable", backend="cuda", problem="no driver")
        page = self.page()
        self.assertEqual(set(page.sections), {"problems", "missing"})
        self.assertEqual(page.tables["missing"][1:], [["1", "no driver"]])
        self.assertIn(["failed", "<script>alert(1)</script> & more", "linux", "dedup", "gear", "8K", "sha1", "auto"], page.tables["problems"])
        self.assertIn("0 cells done, 1 failed, 1 unavailable here", re.sub(r"\s+", " ", page.text))

    def test_names_from_the_file_cannot_end_the_script(self):
        self.results.add_matrix(["a</script><b>"])
        page = self.page()
        self.assertNotIn("a</script>", self.html)
        self.assertEqual(set(page.sections), RUNS | {"verdict"})

    def test_a_later_run_of_a_setting_stands_for_it(self):
        cuts = cuts_of("fastcdc", 4096, 8192, 16384)
        for binary, savings in (("b", 0.1), ("c", 0.4)):
            self.results.add_run("linux", "fastcdc", "8K", cuts, savings, binary=binary)
        page = self.page()
        self.assertEqual([row[3] for row in page.tables["savings"][1:]], ["40.00"])
        self.assertIn("several binaries", page.text)

    def test_data_of_one_name_and_two_contents_are_told_apart(self):
        cuts = cuts_of("fastcdc", 4096, 8192, 16384)
        for checksum in ("1" * 64, "2" * 64):
            self.results.add_run("linux", "fastcdc", "8K", cuts, 0.5, checksum=checksum)
        self.assertEqual([row[0] for row in self.page().tables["savings"][1:]], ["linux 111111", "linux 222222"])

    def test_of_two_sizes_with_one_aim_the_larger_group_is_shown(self):
        self.results.add_run("linux", "rabin", "2K:8K:64K", cuts_of("rabin", 2048, 8192, 65536), 0.9, group="other")
        self.results.add_matrix()
        rows = self.page().tables["savings"]
        self.assertEqual([row[2] for row in rows if row[:2] == ["linux", "rabin"]], ["4K:4K:16K"])

    def test_runs_over_nothing_are_no_rows(self):
        self.results.add_run("linux", "gear", "8K", "", 0, speed=0, report=report_of(cuts_of("gear", 2048, 8192, 65536), None, size=0))
        self.assertEqual(self.page().sections, {})

    def test_stores_have_a_section(self):
        stores = [store_stats(self.folder / "first.json"), store_stats(self.folder / "second.json", 2, container_bytes=0, shard_bytes=0)]
        page = self.page(stores=stores)
        self.assertEqual(page.sections, {"stores": 8})
        self.assertIn("Stores: second takes 0 B for 201 MiB of files in 2 snapshots", self.html)
        heading, *rows = page.tables["stores"]
        self.assertEqual(len(rows), 7)
        self.assertEqual(dict(zip(heading, rows[1])), {
            "store": "first", "snapshot": "0" * 16, "files MiB": "101.0", "new MiB": "20.00", "new, stored MiB": "10.00",
            "all files so far MiB": "201.0", "all stored so far MiB": "30.0",
        })  # fmt: skip
        self.assertEqual({path.name for path in self.out.glob("*.png")}, {"stores.png", "stores-second.png"})

    def test_a_store_without_results_of_a_sweep_is_drawn(self):
        store = store_stats(self.folder / "store.json", 1)
        write(None, self.out, lambda _: None, [store])
        self.assertGreater(colours_in((self.out / "stores.png").read_bytes()), 20)
        self.assertEqual(self.page(stores=[store_stats(self.folder / "store.json", 0)]).sections, {})

    def test_names_that_are_not_utf8_are_names(self):
        odd = self.folder / os.fsdecode(b"M\xfcller")
        odd.mkdir()
        self.results = ResultsFile(odd / "results.sqlite")
        self.addCleanup(self.results.file.close)
        self.results.add_matrix()
        page = self.page(stores=[store_stats(odd / os.fsdecode(b"\xe4.json"))])
        self.assertEqual(page.tables["stores"][1][0], r"\xe4")
        self.assertIn("savings", page.sections)

    def test_a_page_that_cannot_be_written_is_named_and_leaves_nothing_half(self):
        self.results.add_matrix()
        self.page()
        before = sorted(path.name for path in self.out.iterdir())
        (self.out / "index.html").unlink()
        (self.out / "index.html").mkdir()
        with self.assertRaises(IsADirectoryError) as caught:
            self.page()
        self.assertEqual(caught.exception.filename, str(self.out / "index.html"))
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), before)

    def test_one_row_is_enough(self):
        self.results.add_run("linux", "restic", "own", cuts_of("rabin", 524288, 1048576, 8388608), 0.25)
        self.assertEqual(set(self.page().sections), (RUNS | {"verdict"}) - {"pareto"})


class Comparison(unittest.TestCase):
    """`scripts/report A B`."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def results(self, name: str, **seconds: list[float]) -> Path:
        """A file with a run of each algorithm, whose rounds took these seconds, and a kernel."""
        file = ResultsFile(self.folder / name)
        for algorithm, rounds in seconds.items():
            report = report_of(cuts_of(algorithm, 4096, 8192, 16384), 0.25)
            file.add("dedup", "linux", algorithm, "8K", {"report": report, "wall_seconds": rounds, "bytes_per_second": 1.0})
        file.add_speeds("linux", "gear", "8K", "gear()", {"avx2": 2 * GIB if name == "first" else 3 * GIB})
        return file.saved()

    def told(self, *words: object) -> dict[str, str]:
        """The words for the settings that differ."""
        run = run_here(main, *words)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.text = run.stdout
        return {line.split("|")[1].strip(): line.split("|")[5].strip() for line in run.stdout.splitlines() if line.startswith("| ") and "setting" not in line}

    def test_tells_what_rounds_do_not_explain(self):
        usual, shaken = [1.0, 1.1, 1.05], [0.7, 1.3, 0.95]
        first = self.results("first", gear=usual, rabin=usual, ram=usual, fastcdc=[1.0], maxp=usual, tttd=usual)
        second = self.results("second", gear=[0.5, 0.52, 0.51], rabin=[2.0, 2.2, 2.1], ram=shaken, fastcdc=[2.0], maxp=[1.0, 1.1, 1.06], buzhash=usual)
        self.assertEqual(self.told(first, second), {
            "dedup linux rabin 8K": "slower", "dedup linux gear 8K": "faster", "dedup linux fastcdc 8K": "no spread",
            "kernels linux gear 8K memory avx2": "no spread", "kernels linux gear 8K l2 avx2": "no spread",
        })  # fmt: skip
        self.assertIn("7 settings are in both: 1 slower, 1 faster, 3 no spread, 2 same.\n1 are only in the first, 1 only in the second.", self.text)
        self.assertEqual(self.told(first, first), {})

    def test_tells_other_chunks_before_all_speeds(self):
        first, file = self.results("first", gear=[1.0, 1.1]), ResultsFile(self.folder / "second")
        file.add("dedup", "linux", "gear", "8K", {"report": report_of(cuts_of("gear", 4096, 8192, 16384), 0.5), "wall_seconds": [1.0, 1.1], "bytes_per_second": 1.0})
        self.assertEqual(self.told(first, file.saved()), {"dedup linux gear 8K": "other chunks"})

    def test_data_of_one_name_and_other_content_are_not_compared(self):
        first, file = self.results("first", gear=[1.0, 1.1], rabin=[1.0, 1.1]), ResultsFile(self.folder / "second")
        report = {"report": report_of(cuts_of("gear", 4096, 8192, 16384), 0.5), "wall_seconds": [4.0, 4.1], "bytes_per_second": 1.0}
        file.add("dedup", "linux", "gear", "8K", report, checksum="2" * 64)
        self.assertEqual(self.told(first, file.saved()), {})
        self.assertIn(
            "0 settings are in both.\n3 are only in the first, 0 only in the second.\n"
            "1 are of other data, whose size or content differs, and are not compared: linux.\n", self.text,
        )  # fmt: skip

    def test_leaves_nothing_beside_the_files(self):
        """As SQLite does with files of sweeps, which have a log, even where it only reads them."""
        path = self.folder / "results" / "first"
        path.parent.mkdir()
        path.write_bytes(self.results("first", gear=[1.0, 1.1]).read_bytes())
        with contextlib.closing(sqlite3.connect(path)) as file:
            file.execute("pragma journal_mode = wal")
        self.assertEqual(self.told(path, path), {})
        self.assertEqual([each.name for each in path.parent.iterdir()], ["first"])

    def test_more_than_two_or_a_page_of_two_is_wrong_usage(self):
        first = self.results("first", gear=[1.0])
        for words in ([first, first, first], [first, first, "-o", self.folder / "out"]):
            self.assertEqual(run_here(main, *words).returncode, 2)


class Command(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.out = self.folder / "out"

    def fails(self, code: int, told: str, *words: object) -> None:
        """The command ends with this exit code, says this, and writes nothing."""
        run = run_here(main, *words)
        self.assertEqual(run.returncode, code, run.stderr)
        self.assertRegex(run.stderr, told)
        self.assertFalse(self.out.exists())

    def test_a_file_without_results_is_named(self):
        for name, content in (("text.sqlite", b"no database, whatever its name says" * 40), ("empty.sqlite", b"")):
            path = self.folder / name
            path.write_bytes(content)
            self.fails(1, rf"^report: {re.escape(str(path))} is no results file of scripts/sweep: .*\n$", path, "-o", self.out)

    def test_a_file_that_is_not_of_a_store_is_named(self):
        path = self.folder / "store.json"
        for content, told in (("no JSON", "is no JSON"), ("[]", ".* it has no snapshots"), ('{"snapshots": 1}', ".* it has no snapshot_bytes"), ('{"snapshots": "1"}', ".* it has no snapshots")):
            path.write_text(content)
            self.fails(1, f"{path} {told}", "--store", path, "-o", self.out)
        same = [store_stats(self.folder / name) for name in ("a.json", "a.txt")]
        self.fails(1, "two stores are called a", "--store", same[0], "--store", same[1], "-o", self.out)

    def test_wrong_usage_is_2(self):
        missing = self.folder / "missing.sqlite"
        self.fails(2, f"there is no file {missing}", missing, "-o", self.out)
        for words in ([missing], ["-o", self.out], ["--store", missing, "-o", self.out]):
            self.fails(2, "error: ", *words)

    def test_a_folder_that_cannot_be_made_is_named(self):
        results = ResultsFile(self.folder / "results.sqlite").saved()
        self.fails(1, rf"^report: {re.escape(str(results))}: File exists\n$", results, "-o", results)


if __name__ == "__main__":
    unittest.main()
