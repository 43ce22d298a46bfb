"""docs/papers: only marked parts are written, with what the results have and the papers say, and what is missing is named."""

import json
import random
import re
import shutil
import tempfile
import unittest
import unittest.mock
from functools import partial
from pathlib import Path

from programs import BINARY, ROOT, run_here
from results_files import ResultsFile, cuts_of, report_of, words_of
from sweeps import SweepTest

from experiments.catalog import random_mean
from experiments.papers import coverage, pages, paper, runs
from experiments.papers import __main__ as command
from experiments.papers.__main__ import TABLES, main
from experiments.papers.claim import CLAIMS, DIRECTION, HOLDS, NOT, PARTLY, SIZE, UNKNOWN, at_most, by_cases, gain, judge
from experiments.papers.evidence import Evidence, Ours
from experiments.papers.lengths import share_beyond
from experiments.papers.paper import SEQCDC_NAMES, TARGETS, matrix_size
from experiments.papers.seqcdc import kendall, rate
from experiments.papers.seqcdc_speed import BASE, BASE_LIKE

BUILT = BINARY.parent.parent  # the folder of a build
PAGES = sorted((ROOT / "docs/papers").glob("*.md"))
OWN_RUNS = ("p-dedupe-store.md", "prune-contexts.md", "prune-tablets.md", "appdedupe.md")  # pages that need no sweep

FEW = """
[datasets.linux]
path = ["b1", "b2"]
[[cells]]
algorithms = ["rabin"]
sizes = ["2K:8K:64K"]
joins = ["pdedupe", "none"]
segments = ["256K"]
[[cells]]
algorithms = ["seqcdc-inc"]
sizes = ["4K", "8K", "16K"]
"""

PAGE = """# A page
before
<!-- table: p-dedupe-figure-9 -->
what was here
<!-- end -->
between  <!-- table: not-alone-in-its-line -->
<!-- table: seqcdc-appendices -->
<!-- end -->
after
"""


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|\n").split("|")]


def tables_of(text: str) -> dict[str, list[str]]:
    """The lines of a page's tables, by their names."""
    tables: dict[str, list[str]] = {}
    pages.rewrite("page", text, lambda name: tables.setdefault(name, []))
    name = ""
    for line in text.splitlines():
        if begin := pages.OPEN.fullmatch(line.strip()):
            name = begin[1]
        elif line.startswith("|"):
            tables[name].append(line)
    return tables


class MarkedTables(unittest.TestCase):
    def test_only_what_is_marked_is_written(self):
        text = "a\n<!-- table: x -->\nold\n<!-- end -->\n\nb | c\n<!-- table: y -->\n<!-- end -->\n"
        done = pages.rewrite("page", text, lambda name: [f"new {name}"])
        self.assertEqual(done, "a\n<!-- table: x -->\nnew x\n<!-- end -->\n\nb | c\n<!-- table: y -->\nnew y\n<!-- end -->\n")
        self.assertEqual(pages.rewrite("page", done, lambda name: [f"new {name}"]), done)

    def test_markers_that_do_not_pair_are_named(self):
        for text, where in (
            ("<!-- table: x -->\n", "page: table x has no end"),
            ("a\n<!-- end -->\n", "page:2: an end"),
            ("<!-- table: x -->\n<!-- table: y -->\n<!-- end -->\n", "page:2: table y begins inside table x"),
        ):
            with self.assertRaisesRegex(pages.Malformed, re.escape(where)):
                pages.rewrite("page", text, lambda name: [])

    def test_each_table_stands_once_in_the_pages(self):
        named = [name for page in PAGES for name in pages.OPEN.findall(page.read_text(encoding="utf-8"))]
        self.assertEqual(sorted(named), sorted(TABLES))


class Numbers(unittest.TestCase):
    """What the papers say."""

    def test_every_number_names_its_place(self):
        for name, of in paper.read_all().items():
            self.assertTrue(of.tables and of.statements and of.title and of.setting, name)
            for key, table in of.tables.items():
                self.assertRegex(table.place, r"tables? [IV\d]+", f"{name} {key}")
                self.assertTrue(table.rows and table.what, f"{name} {key}")
            for key, statement in of.statements.items():
                self.assertRegex(statement["place"], r"figure|section|table|appendix", f"{name} {key}")
                self.assertTrue(statement["says"], f"{name} {key}")

    def test_a_row_of_another_length_is_refused(self):
        with self.assertRaisesRegex(ValueError, "table 9: row 'a' has 1 numbers for 2 columns"):
            paper.Table("table 9", "nothing", ["x", "y"], {"a": [1.0]})

    def test_elimination_ratios_and_savings_agree(self):
        """DER = 1 / (1 - savings), in SeqCDC's appendix C, to within what its own rows are off: a slip of the pen would show."""
        table = paper.read("seqcdc").tables["appendices"]
        slips = []
        for name in table.rows:
            der = table.at(name, "DER")
            if abs((1 - 1 / der) * 100 - table.at(name, "16 KB")) > 0.2:
                slips.append(name)
        self.assertEqual(slips, [])


class Coverage(unittest.TestCase):
    ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII")

    def test_every_table_and_figure_has_a_row(self):
        """How many each paper has, counted in the papers."""
        numbered = {"P-Dedupe": (6, 14), "AE": (5, 8), "PRUNE": (5, 17), "AppDedupe": (6, 11)}
        expected = {
            name: [*(f"table {i}" for i in range(1, tables + 1)), *(f"figure {i}" for i in range(1, figures + 1))]
            for name, (tables, figures) in numbered.items()
        }
        expected["SeqCDC"] = [
            "table I", "table II", *(f"figure {i}" for i in range(1, 15)),
            *(f"appendix, table {number}" for number in self.ROMAN), "appendix, figure 1", "appendix, figure 2",
        ]  # fmt: skip
        covered = {name: sorted(each for key in places for each in coverage.each_place(key)) for name, places in coverage.read().items()}
        self.assertEqual(covered, {name: sorted(places) for name, places in expected.items()})

    def test_links_lead_to_headings(self):
        folder = ROOT / "docs/papers"
        for name, places in coverage.read().items():
            for place, (word, text) in places.items():
                for target, anchor in re.findall(r"\]\(([^)#]+)#?([^)]*)\)", text):
                    page = (folder / target).resolve()
                    self.assertTrue(page.is_file(), f"{name}, {place}: {target}")
                    headings = [
                        re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower()).replace(" ", "-")
                        for line in page.read_text(encoding="utf-8").splitlines()
                        if line.startswith("#")
                    ]
                    self.assertTrue(not anchor or anchor in headings, f"{name}, {place}: {target} has no {anchor}")
                self.assertTrue(word != coverage.REPRODUCED or "](" in text or text.startswith("as "), f"{name}, {place}: reproduced where?")


class Arithmetic(unittest.TestCase):
    def test_kendall_counts_pairs(self):
        self.assertEqual(kendall([1, 2, 3, 4], [10, 20, 30, 40]), 1)
        self.assertEqual(kendall([1, 2, 3, 4], [4, 3, 2, 1]), -1)
        self.assertAlmostEqual(kendall([1, 2, 3], [1, 3, 2]), 1 / 3)
        self.assertIsNone(kendall([1, 1, 1], [1, 2, 3]))

    def test_rate_is_that_of_random_values(self):
        drawn, values, k = random.Random(4), 6, 3
        count, run, last = 0, 0, values
        total = 200_000
        for _ in range(total):
            byte = drawn.randrange(values)
            run = run + 1 if byte > last and run else 1
            if run == k:
                count, run = count + 1, 0
            last = byte
        self.assertAlmostEqual(count / total, rate(k, values), delta=0.03 * rate(k, values))

    def test_random_mean_is_the_expected_value(self):
        least, divisor, most = 3, 8, 40
        expected = sum(length * (1 / divisor) * (1 - 1 / divisor) ** (length - least - 1) for length in range(least + 1, most)) + most * (1 - 1 / divisor) ** (
            most - least - 1
        )
        self.assertAlmostEqual(random_mean(least, divisor, most), expected, places=6)

    def test_share_beyond_is_exact_at_the_ends_of_buckets(self):
        histogram = [
            {"least_bytes": 1024, "most_bytes": 1151, "chunk_count": 60},
            {"least_bytes": 2048, "most_bytes": 2303, "chunk_count": 30},
            {"least_bytes": 2304, "most_bytes": 2559, "chunk_count": 10},
        ]
        row = {"chunk_count": 100, "report": {"result": {"chunks": {"histogram": histogram}}}}
        for length, share in ((1000, 1), (1151, 0.4), (1500, 0.4), (2047, 0.4), (2303, 0.1), (2559, 0), (9999, 0)):
            self.assertAlmostEqual(share_beyond(row, length), share, msg=str(length))
        self.assertTrue(0.1 < share_beyond(row, 2175) < 0.4)

    def test_low_entropy_is_equal_bytes_of_the_length(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "data")
            file.write_bytes(b"a" * 10 + b"a" * 10 + b"bbbbcbbbbb" + b"a" * 4 + b"c" * 10)
            self.assertEqual(runs.detected(file, [10, 10, 10, 4, 10], 10), 30)

    def test_a_verdict_looks_at_every_case(self):
        def size(*numbers):
            return judge(at_most(5, str), {"cases": [[f"case {i}", v] for i, v in enumerate(numbers)]}).size

        self.assertEqual([size(1, 5).word, size(1, 6).word, size(6, 7).word], [HOLDS, PARTLY, NOT])
        self.assertEqual(str(size(1, 6)), "**holds in part** (1 of 2, not case 1)")
        nothing = judge(at_most(5, str), None)
        self.assertEqual((nothing.direction.word, nothing.size.word), ("–", UNKNOWN))
        of_itself = judge(by_cases(str, DIRECTION, SIZE), {"cases": [["a", 1, True, False], ["b", 2, True, False]]})
        self.assertEqual((of_itself.ours, of_itself.direction.word, of_itself.size.word), ("1 to 2", HOLDS, NOT))

    def test_a_gain_has_a_direction_and_a_size_with_two_sides(self):
        def words(rule, number):
            return words_of(judge(rule, {"cases": [["a", number]]}))

        faster, slower, saved = gain(str, 2, 3), gain(str, 0.4), gain(str, 0.02, zero=0)
        self.assertEqual([words(faster, v) for v in (0.9, 1.4, 1.5, 5, 5.1)], [(NOT, NOT), (HOLDS, NOT), (HOLDS, HOLDS), (HOLDS, HOLDS), (HOLDS, NOT)])
        self.assertEqual([words(slower, v) for v in (1.1, 0.8, 0.7, 0.1)], [(NOT, NOT), (HOLDS, NOT), (HOLDS, HOLDS), (HOLDS, HOLDS)])
        self.assertEqual([words(saved, v) for v in (-0.01, 0.005, 0.01, 0.05)], [(NOT, NOT), (HOLDS, NOT), (HOLDS, HOLDS), (HOLDS, NOT)])

    def test_a_range_is_judged_by_its_ends_and_a_reason_stands_beside_what_is_not(self):
        known = judge(gain(str, 2), {"range": [0.9, 1.6], "note": "3 of 4"})
        self.assertEqual((known.ours, str(known.direction), str(known.size)), ("0.9 to 1.6", "**holds in part** (3 of 4)", "**holds in part** (3 of 4)"))
        few = judge(gain(str, 4), {"cases": [["a", 2]], "size": "2 processors"})
        self.assertEqual((few.direction.word, str(few.size)), (HOLDS, "**not measured** (2 processors)"))
        self.assertEqual(str(judge(gain(str, 4), {"cases": [["a", 2]], "why": "cut"}).direction), "**not measured** (cut)")

    def test_each_claim_names_its_place_and_number(self):
        for claim in CLAIMS:
            self.assertTrue(claim.place and claim.text and claim.theirs, claim.text)


def results_of(back_ends: tuple[str, ...]) -> tuple[Evidence, dict[str, float]]:
    """Evidence from a machine with these back ends, and the made-up rate of each, which is the same for all algorithms but SeqCDC."""
    rates = {name: (1 + i) * 1e9 for i, name in enumerate(back_ends)}
    with tempfile.TemporaryDirectory() as folder:
        results = ResultsFile(Path(folder, "results.sqlite"), back_ends)
        for name in SEQCDC_NAMES.values():
            for size in map(partial(matrix_size, name), TARGETS):
                factor = 2 if name == "seqcdc-inc" else 1
                results.add_speeds("images", name, size, cuts_of(name, 4096, 8192, 65536), {b: factor * rate for b, rate in rates.items()})
        for name in back_ends:
            for parameters in ({}, BASE, BASE_LIKE):
                report = report_of(cuts_of("seqcdc-inc", 4096, 8192, 65536), 0.5)
                report["stages"] = [{"stage": "chunking", "bytes_per_second": rates[name] / (1 + len(parameters))}]
                settings = {"parameters": json.dumps(parameters, sort_keys=True), "hash": "xxh3", "backend": name, "threads": 1}
                results.add_run("images", "seqcdc-inc", "16K", "", 0.5, report=report, **settings)
        return Evidence(ours=Ours(results.saved())), rates


class BackEnds(unittest.TestCase):
    """Pages take the widest instruction set of the machine, and rows of narrower sets stay."""

    def row(self, evidence: Evidence, table: str, *labels: str) -> list[str]:
        lines = [cells(line) for line in TABLES[table](evidence)]
        return next(line[len(labels) :] for line in lines if tuple(line[: len(labels)]) == labels)

    def test_a_machine_with_512_bits_shows_them_beside_the_narrower_ones(self):
        evidence, rates = results_of(("scalar", "sse4", "avx2", "avx512", "avx512-dl"))
        self.assertEqual((evidence.ours.widest, rates["avx512"]), ("avx512", 4e9))
        self.assertEqual(self.row(evidence, "seqcdc-figure-10", "SEQ"), ["2", "4", "6", "8", "4×", "3.05×"])
        self.assertEqual(self.row(evidence, "seqcdc-figure-11", "images", "16 KB"), ["2", "4", "2×", "3", "6", "2×", "4", "8", "2×"])
        self.assertEqual(self.row(evidence, "seqcdc-figure-12", "DEB / images", "VSEQ-512"), ["4", "2×", "3×", "1.11–1.41×"])
        self.assertEqual(self.row(evidence, "seqcdc-figure-12", "DEB / images", "VSEQ-128"), ["2", "2×", "3×", "–"])
        self.assertEqual(self.row(evidence, "throughput", "16 KiB", "ram")[3].split()[0], "4")
        self.assertEqual(self.verdict(evidence, 512), HOLDS)

    def verdict(self, evidence: Evidence, bits: int) -> str:
        claim = next(each for each in CLAIMS if each.text == f"vectors of {bits} bits over scalar SeqCDC, 16 KB (from memory)")
        return claim.judge(evidence).size.word

    def test_a_machine_without_them_has_dashes_and_misses_nothing(self):
        evidence, _ = results_of(("scalar", "sse4", "avx2"))
        self.assertEqual(self.row(evidence, "seqcdc-figure-10", "SEQ"), ["2", "4", "6", "–", "3×", "3.05×"])
        self.assertEqual(self.row(evidence, "seqcdc-figure-12", "DEB / images", "VSEQ-256"), ["3", "2×", "3×", "–"])
        self.assertEqual(self.row(evidence, "seqcdc-figure-12", "DEB / images", "VSEQ-512"), ["–", "–", "–", "1.11–1.41×"])
        self.assertEqual(self.row(evidence, "throughput", "16 KiB", "ram")[3].split()[0], "3")
        self.assertEqual([self.verdict(evidence, bits) for bits in (256, 512)], [HOLDS, UNKNOWN])
        self.assertNotIn("512", " ".join(evidence.ours.missing))
        self.assertIn("avx2", " ".join(TABLES["where"](evidence)))

    def test_neon_has_128_bits(self):
        evidence, _ = results_of(("scalar", "neon"))
        self.assertEqual(self.row(evidence, "seqcdc-figure-10", "SEQ"), ["2", "4", "–", "–", "2×", "3.05×"])
        self.assertEqual(self.row(evidence, "order-of-speed", "images, 16 KB", "neon")[0], "VSEQ VRAM")

    def test_a_machine_without_vectors_has_the_references(self):
        evidence, _ = results_of(("scalar",))
        self.assertEqual(self.row(evidence, "seqcdc-figure-10", "SEQ"), ["2", "–", "–", "–", "1×", "3.05×"])


class Levels(unittest.TestCase):
    def test_table_2_has_the_number_of_versions_and_the_savings(self):
        with tempfile.TemporaryDirectory() as folder:
            results = ResultsFile(Path(folder, "results.sqlite"))
            results.add_run("linux-many", "rabin", "2K:8K:64K", "", 0.4)
            results.add_run("linux-many", "fixed", "8K", "", 0.1)
            evidence = Evidence(ours=Ours(results.saved()))
        rows = {line[0]: line[1:] for line in map(cells, TABLES["p-dedupe-table-2"](evidence))}
        self.assertEqual(rows["Linux / linux-many"], ["39", "2", "16.40", "1.07", "40.92", "40.00", "10.00"])
        self.assertEqual(rows["GCC / gcc-many"], ["43", "–", "15.90", "–", "40.75", "–", "–"])
        self.assertIn("dedup gcc-many rabin 2K:8K:64K", evidence.ours.missing)


class Pages(SweepTest):
    """The command, on results of a small sweep."""

    def setUp(self):
        super().setUp()
        self.begin_with(FEW)

    def papers(self, folder: Path, *more: str, code: int) -> str:
        run = run_here(main, self.results, "--pages", folder, *more)
        self.assertEqual(run.returncode, code, run.stderr)
        return run.stderr

    def page(self, text: str) -> Path:
        folder = self.folder / "pages"
        folder.mkdir()
        (folder / "page.md").write_text(text)
        return folder

    def test_tables_have_what_the_results_have(self):
        folder = self.page(PAGE)
        messages = self.papers(folder, code=1)
        lines = (folder / "page.md").read_text().splitlines()
        self.assertEqual(
            [line for line in lines if not line.startswith("|") and line],
            [line for line in PAGE.splitlines() if line != "what was here"],
        )
        joins = dict(self.select("select join_name, savings from rows where algorithm = 'rabin'"))
        exact = self.select("select json_extract(result, '$.report.comparison.exact.savings_share') from rows where join_name = 'none'")[0][0]
        row = cells(next(line for line in lines if line.startswith("| linux")))
        self.assertEqual(row[1:3], [f"{100 * joins[name] / exact:.2f}" for name in ("none", "pdedupe")])
        self.assertEqual(row[3:], ["–"] * 4)
        savings = [s for (s,) in self.select("select savings from rows where algorithm = 'seqcdc-inc' order by length(size), size")]
        row = cells(next(line for line in lines if line.startswith("| LNX / linux | SEQ")))
        self.assertEqual(row[2:8:2], ["63.13", "49.46", "35.63"])
        self.assertEqual(row[3:9:2], [f"{100 * s:.2f}" for s in savings])
        self.assertIn("missing: dedup linux rabin 2K:8K:64K none 1M", messages)
        self.assertNotIn("missing: dedup linux seqcdc-inc", messages)

    def test_check_writes_nothing(self):
        folder = self.page("<!-- table: data -->\n<!-- end -->\n")
        before = (folder / "page.md").read_text()
        self.assertIn("page.md differs", self.papers(folder, "--check", code=1))
        self.assertEqual((folder / "page.md").read_text(), before)
        self.papers(folder, code=0)
        self.assertNotEqual((folder / "page.md").read_text(), before)
        self.papers(folder, "--check", code=0)

    def test_what_cannot_be_done_is_wrong_usage(self):
        folder = self.page("<!-- table: no-such -->\n<!-- end -->\n")
        self.assertIn("no table 'no-such'", self.papers(folder, code=2))
        (folder / "fair.json").write_text("{")
        self.assertIn("fair.json is no JSON: ", self.papers(folder, code=2))
        (folder / "fair.json").unlink()
        self.results.write_text("no database, but long enough to be looked at")
        self.assertIn("no results file of scripts/sweep", self.papers(folder, code=2))
        self.results.unlink()
        self.assertIn("there is no file", self.papers(folder, code=2))

    def test_claims_keep_the_numbers_of_machines_that_are_absent(self):
        folder = self.page("<!-- table: claims-where -->\n<!-- end -->\n<!-- table: claims -->\n<!-- end -->\n<!-- table: data -->\nas it was\n<!-- end -->\n")
        key = next(each.key for each in CLAIMS if each.text.startswith("its join restores"))
        absent = {"an old machine": {key: {"cases": [["linux", 0.9], ["gcc", 0.5]], "by": "cutpoint 0.0.1"}}}
        (folder / "claims.json").write_text(json.dumps(absent))
        (folder / "fair.json").write_text("{}")
        run = run_here(main, "--pages", folder)  # without results the table that needs them stays
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        text = (folder / "page.md").read_text()
        self.assertIn("as it was", text)
        self.assertIn("| 50 % to 90 % | – | **holds in part** (1 of 2, not gcc) |", text)
        self.papers(folder, "--machine", "this machine", code=1)
        machines = json.loads((folder / "claims.json").read_text())
        self.assertEqual(machines["an old machine"], absent["an old machine"])
        self.assertTrue(machines["this machine"] and all("binary" in record["by"] for record in machines["this machine"].values()))
        text = (folder / "page.md").read_text()
        self.assertNotIn("as it was", text)
        self.assertIn("50 % to 90 %; direction: –; size: **holds in part** (1 of 2, not gcc)", text)
        self.assertIn("- an old machine: cutpoint 0.0.1 (1)", text)

    def test_claims_that_are_kept_are_claims(self):
        machines = json.loads((ROOT / "docs/papers/claims.json").read_text(encoding="utf-8"))
        known = {claim.key for claim in CLAIMS}
        self.assertEqual({key for records in machines.values() for key in records} - known, set())

    def test_the_committed_pages_are_what_their_files_make_them(self):
        run = run_here(main, "--check")
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_all_does_every_step_and_goes_on_after_a_failure(self):
        folder, done = self.page("nothing\n"), []

        def step(name: str, options) -> None:
            done.append(name)
            if name == "store":
                raise RuntimeError("no room")

        steps = {name: partial(step, name) for name in command.STEPS}
        with unittest.mock.patch.dict(command.STEPS, steps):
            run = run_here(main, "--all", "--pages", folder)
            self.assertEqual((run.returncode, done), (1, list(command.STEPS)))
            self.assertIn("store: no room", run.stderr)
            done.clear()
            self.assertEqual(run_here(main, "--store", "--tablets", "--pages", folder).returncode, 1)
            self.assertEqual(done, ["store"])
            done.clear()
            run = run_here(main, "--all", "--dry-run", "--machine", "a box", "--build", BUILT, "--pages", folder)
            self.assertEqual((run.returncode, done), (0, []))
            self.assertRegex(run.stderr, r"machine: a box; cutpoint \d.*, binary \w+, commit \w+")
            self.assertEqual(re.findall(r"would measure: (\S+)", run.stderr), [name.replace("_", "-") for name in command.STEPS])

    def test_what_is_measured_names_the_machine_the_commit_and_the_binary(self):
        folder = self.page("nothing\n")
        with unittest.mock.patch.object(command.fair_runs, "measure", lambda *_: {"images": {"checksum": "c", "algorithms": {}}}), \
                unittest.mock.patch.object(command, "sets", lambda *_: {}):  # fmt: skip
            run = run_here(main, "--fair", "--machine", "a box", "--build", BUILT, "--pages", folder)
        self.assertEqual(run.returncode, 0, run.stderr)
        told = json.loads((folder / "fair.json").read_text())
        self.assertEqual(told["machine"], "a box")
        self.assertRegex(told["version"], r"^\d.*, binary \w{12}$")
        self.assertTrue(told["commit"])

    def test_pages_of_runs_whose_files_are_absent_say_so(self):
        folder = self.folder / "pages"
        folder.mkdir()
        for name in OWN_RUNS:
            shutil.copy(ROOT / "docs/papers" / name, folder)
        self.papers(folder, code=1)
        silent = [name for name in OWN_RUNS if "\n- not measured\n" not in (folder / name).read_text(encoding="utf-8")]
        self.assertEqual(silent, [])

    def test_the_papers_columns_of_the_committed_pages_are_the_data_files(self):
        """Written anew from results that have next to nothing, the papers' own cells are the same."""
        folder = self.folder / "pages"
        folder.mkdir()
        for page in PAGES:
            (folder / page.name).write_text(page.read_text(encoding="utf-8"), encoding="utf-8")
        self.papers(folder, code=1)
        compared = 0
        for page in PAGES:
            committed, written = (tables_of(path.read_text(encoding="utf-8")) for path in (page, folder / page.name))
            for name, lines in written.items():
                header = cells(lines[0]) if lines else []
                columns = [i for i, column in enumerate(header) if column.startswith("paper")]
                whole = [i for i, line in enumerate(lines) if re.search(r"\(paper\)|^\| \d+ paper", line)]
                if columns or whole:
                    self.assertEqual(len(committed[name]), len(lines), name)
                for ours, theirs in zip(committed[name], lines):
                    self.assertEqual([cells(ours)[i] for i in columns], [cells(theirs)[i] for i in columns], name)
                self.assertEqual([committed[name][i] for i in whole], [lines[i] for i in whole], name)
                compared += len(columns) * len(lines) + len(whole)
        self.assertGreater(compared, 300)


if __name__ == "__main__":
    unittest.main()
