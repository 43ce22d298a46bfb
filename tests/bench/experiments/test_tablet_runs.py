"""PRUNE's table and the store's shards answer the same streams, memory is bounded where it can be, and rows become tables and verdicts."""

import json
import sys
import tempfile
import unittest
from dataclasses import replace
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
            for backup, present in (("new", 0), ("same", COUNT // 2), ("scattered", COUNT // 2)):
                (entry,) = self.tables.measure(Job(index, backup, tablet_kib=32, fingerprints=COUNT), None)
                self.assertEqual((entry["lookups"], entry["present"]), (COUNT // 2, present), f"{index} {backup}, from its middle")
                self.assertEqual(entry["size"], COUNT + COUNT // 2 - present)
                if index in ORDERS:
                    self.assertEqual(entry["tablets"] > 1, index != "single")
                    self.assertGreaterEqual(entry["examined"], present)

    def test_a_first_backup_is_whole_and_comes_to_an_empty_table(self):
        for index in ORDERS:
            for _ in range(2):
                (entry,) = self.tables.measure(Job(index, "first", tablet_kib=32, fingerprints=COUNT), None)
                self.assertEqual((entry["lookups"], entry["present"], entry["size"]), (COUNT, 0, COUNT), index)

    def test_a_linear_list_is_walked_as_far_as_the_mean_of_the_backup(self):
        table, job = self.folder / "table", Job("linear", tablet_kib=32, fingerprints=COUNT)
        (entry,) = self.tables.measure(job, None)
        whole = self.tables._ask(job, None, table, "--first-round", 1)
        beginning = self.tables._ask(replace(job, fingerprints=COUNT // 8), None, table, "--first-round", 1)
        middle, mean, least = (each["examined"] / each["lookups"] for each in (entry, whole, beginning))
        self.assertLess(least, 0.5 * mean)
        self.assertGreater(middle, mean)

    def test_rounds_are_whole_however_slow_they_are(self):
        slow, runs = {"lookups": 1, "seconds": 2 * tablet_runs.SECONDS}, []
        self.assertEqual(tablet_runs.repeated(5, lambda: runs.append(1) or slow), slow)
        self.assertEqual(len(runs), 1)
        self.assertEqual(tablet_runs.repeated(5, lambda: runs.append(1) or slow | {"seconds": 0.1})["seconds"], 0.1)
        self.assertEqual(len(runs), 6)

    def test_a_table_grows_by_what_is_new(self):
        for index in ("lru", SHARDS):
            rounds = self.tables.measure(Job(index, "growth", tablet_kib=32, fingerprints=COUNT), None)
            self.assertEqual([entry["lookups"] for entry in rounds], tablet_runs.ROUNDS_OF_GROWTH * [COUNT])
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
        for bits, filtered in ((0, 0), (16, COUNT // 2)):
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
            "processor": "p", "version": "v", "rounds": 5, "fingerprints": 5_000_000, "limits": {"quarter": 60_000_000, "half": 30_000_000},
            "single": {"file_bytes": 240_000_000}, "small_limit": 15_000_000, "killed": [], "jobs": jobs,
        }  # fmt: skip
        self.evidence = Evidence(tablets=measured)
        self.nothing = Evidence()

    def test_a_page_has_its_tables(self):
        text = (ROOT / "docs/papers/prune-tablets.md").read_text(encoding="utf-8")
        for evidence in (self.evidence, self.nothing):
            pages.rewrite("prune-tablets.md", text, lambda name, evidence=evidence: TABLES[name](evidence))
        rows = TABLES["prune-tablets-figure-15"](self.evidence)
        self.assertIn("| single | 2.8 | 3.3 | 1.0 | 1.0 | 1.0 | 1.00 | 3.00 | 0.100 |", rows)
        self.assertIn("| the store's shards, half of the memory | – | – | – | – | 200.0 | 1.00 | 3.00 | 0.100 |", rows)
        self.assertEqual(len(TABLES["prune-tablets-figure-13"](self.evidence)), 2 + len(tablet_runs.TABLET_KIB))
        self.assertIn("| LRU | 2.0 | 50.0 |", TABLES["prune-tablets-bytes"](self.evidence))
        self.assertIn("| 4 | 50.00 | 50.00 | 0.10000 | 0.100 |", TABLES["prune-tablets-open"](self.evidence))

    def test_a_row_says_that_a_run_was_killed(self):
        measured = self.evidence.tablets
        job = Job(SHARDS, limit="half")
        del measured["jobs"][job.name]
        measured["killed"] = [job.name]
        self.assertIn("| the store's shards, half of the memory, killed | – | – | – | – | – | – | – | – |", TABLES["prune-tablets-figure-15"](self.evidence))

    def test_claims_are_judged_by_their_rules(self):
        claims = [claim for claim in CLAIMS if claim.page == "prune-tablets.md"]
        verdicts = {f"{claim.place}: {claim.text}": words_of(claim.judge(self.evidence)) for claim in claims}
        holds, fails, unknown = "holds", "does not hold", "not measured"
        expected = [
            (holds, holds), (holds, holds), (holds,), (holds,), (fails, fails), (holds,), (holds, holds), *2 * [(fails,), (fails, fails), (holds,)],
        ]  # fmt: skip
        self.assertEqual(list(verdicts.values()), expected, verdicts)
        self.assertEqual({word for claim in claims for word in words_of(claim.judge(self.nothing))}, {unknown})

    def test_the_filter_has_its_own_columns_and_claims(self):
        single, few, many = tablet_runs.growth()
        rounds = tablet_runs.ROUNDS_OF_GROWTH
        self.evidence.tablets["jobs"] |= {
            single.name: [entry(0, lookups=500_000, seconds=500, examined=500_000) for _ in range(rounds)],
            many.name: [entry(0, lookups=500_000, seconds=25, present=100_000, false_positives=400, examined=100_000) for _ in range(rounds)],
        }
        row = TABLES["prune-tablets-figure-16"](self.evidence)[-1]
        self.assertTrue(row.startswith("| 10 | 1.0 | 2.0 | 2× | 10.000 |"), row)
        self.assertTrue(row.endswith(" | 20.0 | 20× | 0.200 | 0.10 |"), row)
        verdicts = {claim.text: words_of(claim.judge(self.evidence)) for claim in CLAIMS if claim.place == "figure 16"}
        self.assertEqual(list(verdicts.values()), [("does not hold",), ("holds", "does not hold"), ("holds",), ("holds", "holds")], verdicts)

    def test_what_was_measured_is_read_back(self):
        text = tablet_runs.text_of(self.evidence.tablets)
        self.assertEqual(json.loads(text), self.evidence.tablets)


if __name__ == "__main__":
    unittest.main()
