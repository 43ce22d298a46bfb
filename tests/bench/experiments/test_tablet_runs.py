"""PRUNE's table and the store's shards answer the same streams, memory is bounded where it can be, and rows become tables and verdicts."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

from programs import BUILD, ROOT
from results_files import words_of

from experiments import memory_limit
from experiments.papers import pages, tablet_runs, tablets
from experiments.papers.__main__ import TABLES
from experiments.papers.claim import CLAIMS
from experiments.papers.evidence import Evidence
from experiments.papers.tablet_runs import SHARDS, ORDERS, Job, Killed, Tables

COUNT = 10_000


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.tables = Tables(BUILD / "bench/cutpoint_tablets", self.folder)

    def test_every_index_gives_the_same_answers(self):
        for index in (*ORDERS, SHARDS):
            for backup, present in (("new", 0), ("same", COUNT), ("scattered", COUNT)):
                (entry,) = self.tables.measure(Job(index, backup, tablet_kib=32, fingerprints=COUNT), None)
                self.assertEqual((entry["lookups"], entry["present"]), (COUNT, present), f"{index} {backup}")
                self.assertEqual(entry["size"], COUNT if present else 2 * COUNT)
                if index in ORDERS:
                    self.assertEqual(entry["tablets"] > 1, index != "single")
                    self.assertGreaterEqual(entry["examined"], present)

    def test_a_table_grows_by_what_is_new(self):
        for index in ("lru", SHARDS):
            rounds = self.tables.measure(Job(index, "growth", tablet_kib=32, fingerprints=COUNT), None)
            self.assertEqual(len(rounds), tablet_runs.ROUNDS_OF_GROWTH)
            sizes = [entry["size"] for entry in rounds]
            self.assertEqual(sizes, sorted(sizes))
            for before, entry in zip(sizes, rounds[1:], strict=False):
                self.assertEqual(entry["size"] - before, entry["lookups"] - entry["present"])
            later = sum(entry["lookups"] for entry in rounds[1:])
            self.assertAlmostEqual(sum(entry["present"] for entry in rounds[1:]) / later, 0.1, delta=0.06)
            if index in ORDERS:  # the filter is made for all rounds
                last = rounds[-1]
                self.assertLess(last["false_positives"], 0.1 * (last["lookups"] - last["present"]))

    def test_the_pages_that_are_read_count(self):
        (entry,) = self.tables.measure(Job("lru", fingerprints=COUNT), None)
        self.assertGreaterEqual(entry["pages"], entry["examined"])
        if self.folder.stat().st_dev == Path("/dev/shm").stat().st_dev:
            self.skipTest("the temporary folder is in memory")
        if entry["read_bytes"] == 0:
            self.skipTest("this file system does not say what is read of it")
        self.assertGreaterEqual(entry["read_bytes"] * 2, entry["used_bytes"])

    def test_a_program_that_needs_too_much_memory_is_killed(self):
        words = [sys.executable, "-c", "b = bytearray(200_000_000); print(len(b))"]
        self.assertEqual(memory_limit.run(words, None).stdout, "200000000\n")
        try:
            self.assertEqual(memory_limit.run(words, 400_000_000).stdout, "200000000\n")
            self.assertEqual(memory_limit.run(words, 50_000_000).returncode, -9)
            with self.assertRaisesRegex(Killed, "lru same 1536 8 0 10000 quarter: needs more than 1000000 bytes of memory"):
                self.tables.measure(Job("lru", fingerprints=COUNT), 1_000_000)
        except memory_limit.Unlimited as why:
            self.skipTest(str(why))

    def test_a_measurement_of_some_jobs_keeps_the_others(self):
        try:
            with memory_limit.group(1 << 30):
                pass
        except memory_limit.Unlimited as why:
            self.skipTest(str(why))
        known = {"single": {"file_bytes": 4 << 30}, "killed": ["another"], "jobs": {"one": [1]}}
        settings = {"fingerprints": COUNT, "only": ["open"]}
        *others, measured = tablet_runs.measure(BUILD, self.folder, 1, lambda _: None, known=known, **settings)
        self.assertEqual(len(others), len(list(tablet_runs.by_open_tablets())) - 1, "results after each job")
        self.assertEqual(set(measured["jobs"]), {"one", *(job.name for job in tablet_runs.by_open_tablets())})
        self.assertEqual((measured["killed"], measured["single"]), (["another"], known["single"]))
        bounded = measured["jobs"][Job("lru", most_open=1).name][0]
        self.assertEqual((bounded["tablets"], bounded["openings"]), (1, 1))
        lost = Job("lru", most_open=4).name
        del measured["jobs"][lost]
        jobs = []
        (again,) = tablet_runs.measure(BUILD, self.folder, 1, jobs.append, known=measured, skips_known=True, **settings)
        self.assertEqual(jobs, ["filling the one table", f"measuring {lost}"])
        self.assertIn(lost, again["jobs"])

    def test_a_table_is_filled_once_for_all_filters(self):
        self.tables.fill(Job("lru", tablet_kib=32, fingerprints=COUNT))
        tablets = {tablet.name: tablet.stat().st_ino for tablet in (self.folder / "table").glob("tablet-*")}
        self.assertGreater(len(tablets), 5)
        for bits, filtered in ((0, 0), (16, COUNT)):
            (entry,) = self.tables.measure(Job("lru", "new", tablet_kib=32, filter_bits=bits, fingerprints=COUNT), None)
            self.assertAlmostEqual(entry["filtered"], filtered, delta=COUNT // 50)
        self.assertEqual({name: (self.folder / "table" / name).stat().st_ino for name in tablets}, tablets)

    def test_a_failure_names_the_job(self):
        (self.folder / "table").mkdir()
        with self.assertRaisesRegex(RuntimeError, "lru same 1 8 0 10000 quarter: --tablet-kib"):
            self.tables.measure(Job("lru", tablet_kib=1, fingerprints=COUNT), None)


def entry(lookups_per_second: float, tablets_each: float = 1.0, **facts) -> dict:
    return {
        "seconds": 10, "lookups": 10 * lookups_per_second, "present": 0, "size": 1, "read_bytes": 4096 * lookups_per_second, "tablets": 7,
        "memory_bytes": 2, "file_bytes": 50, "openings": lookups_per_second,
        "examined": 10 * lookups_per_second * tablets_each, "pages": 30 * lookups_per_second * tablets_each, "false_positives": lookups_per_second,
    } | facts  # fmt: skip


class Pages(unittest.TestCase):
    def setUp(self):
        speeds = {"single": 1000, "linear": 9000, "lru": 20_000, "lru-list": 20_000, "lru-creation": 21_000, SHARDS: 200_000}
        jobs = {job.name: [entry(speeds[job.index])] for job in [*tablet_runs.orders(), *tablet_runs.by_open_tablets(), *tablet_runs.by_tablet_size(), *tablet_runs.by_filter()]}
        for job in tablet_runs.growth():
            jobs[job.name] = [entry(0, lookups=500_000, seconds=25 * n, examined=500_000 * n) for n in range(1, tablet_runs.ROUNDS_OF_GROWTH + 1)]
        measured = {
            "processor": "p", "version": "v", "rounds": 5, "fingerprints": 5_000_000, "limits": {"quarter": 60_000_000, "fifth": 12_000_000},
            "single": {"file_bytes": 240_000_000}, "small_limit": 15_000_000, "killed": [], "jobs": jobs,
        }  # fmt: skip
        self.evidence = Evidence(tablets=measured)
        self.nothing = Evidence()

    def test_a_page_has_its_tables(self):
        text = (ROOT / "docs/papers/prune-tablets.md").read_text(encoding="utf-8")
        for evidence in (self.evidence, self.nothing):
            pages.rewrite("prune-tablets.md", text, lambda name, evidence=evidence: TABLES[name](evidence))
        rows = TABLES["prune-tablets-figure-15"](self.evidence)
        self.assertIn("| single | 2.8 | 3.3 | 1.0 | 1.0 | 1.00 | 3.00 | 0.100 |", rows)
        self.assertIn("| the store's shards, a fifth of the memory | – | – | – | 200.0 | 1.00 | 3.00 | 0.100 |", rows)
        self.assertEqual(len(TABLES["prune-tablets-figure-13"](self.evidence)), 2 + 27)
        self.assertIn("| LRU | 2.0 | 50.0 |", TABLES["prune-tablets-bytes"](self.evidence))
        self.assertIn("| 4 | 50.00 | 50.00 | 0.10000 | 0.100 |", TABLES["prune-tablets-open"](self.evidence))

    def test_a_row_says_that_a_run_was_killed(self):
        measured = self.evidence.tablets
        job = Job(SHARDS, limit="fifth")
        del measured["jobs"][job.name]
        measured["killed"] = [job.name]
        self.assertIn("| the store's shards, a fifth of the memory, killed | – | – | – | – | – | – | – |", TABLES["prune-tablets-figure-15"](self.evidence))

    def test_claims_are_judged_by_their_rules(self):
        claims = [claim for claim in CLAIMS if claim.page == "prune-tablets.md"]
        verdicts = {f"{claim.place}: {claim.text.split(' (')[0]}": words_of(claim.judge(self.evidence)) for claim in claims}
        holds, fails, unknown = "holds", "does not hold", "not measured"
        expected = [
            (holds, holds), (holds, holds), (holds,), (holds,), (fails, fails), (holds,), (unknown, unknown), (fails,), (fails, fails), (holds,),
        ]  # fmt: skip
        self.assertEqual(list(verdicts.values()), expected, verdicts)
        self.assertEqual({word for claim in claims for word in words_of(claim.judge(self.nothing))}, {unknown})

    def test_rounds_that_were_cut_are_named_and_their_correlation_is_not_judged(self):
        claim = next(claim for claim in CLAIMS if claim.place == "section 5.6")
        rounds = self.evidence.tablets["jobs"][list(tablet_runs.growth())[1].name]
        self.evidence.tablets["fingerprints"] = 300_000  # 30,000 a round, of which the last eight were not asked in time
        for number, each in enumerate(rounds, 1):
            each["lookups"], each["seconds"] = (30_000, number) if number < 3 else (15_000, 20)
        self.assertEqual(str(claim.judge(self.evidence).size), "**not measured** (rounds 3 to 10 were cut)")
        row = next(line for line in TABLES["prune-tablets-figure-16"](self.evidence) if line.startswith("| 3 |"))
        self.assertEqual(row.split(" | ")[4], "50")

    def test_what_was_measured_is_read_back(self):
        text = tablet_runs.text_of(self.evidence.tablets)
        self.assertEqual(json.loads(text), self.evidence.tablets)


if __name__ == "__main__":
    unittest.main()
