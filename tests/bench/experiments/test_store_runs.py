"""P-Dedupe's approaches with the store: each makes a store that brings every version back, and their savings are those of the cuts."""

import json
import os
import random
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from programs import BUILD, ROOT

from experiments.papers import definition_runs, fair_runs, pages, phase_runs, store_runs
from experiments.papers.__main__ import TABLES
from experiments.papers.evidence import Evidence, Stored
from experiments.papers.store_runs import Job, Programs, with_threads

SIZE = "256:1K:8K"


class StoreRuns(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.programs = Programs(BUILD, self.folder)
        content = random.Random(1).randbytes(2_000_000)
        self.files = []
        for number, place in enumerate((0, 700_000, 1_500_000)):
            self.files.append(self.folder / f"version{number}")
            self.files[-1].write_bytes(content[:place] + bytes([number]) * 1000 + content[place:])

    def backed_up(self, job: Job) -> int:
        """Backs up, compares every version with what a restore brings, and returns the bytes of all chunks."""
        run = self.programs.back_up(job, self.files)
        command, store = self.programs.command, run["store"]
        listed = self.programs.run(command, "snapshots", "--store", store, "--json").splitlines()
        for file, line in zip(self.files, listed, strict=True):
            target = self.folder / f"target-{job.name}-{file.name}"
            self.programs.run(command, "restore", json.loads(line)["id"], "--store", store, "--target", target)
            restored = [path for path in target.rglob("*") if path.is_file()]
            self.assertEqual([path.read_bytes() for path in restored], [file.read_bytes()])
        self.programs.run(command, "check", "--store", store, "--read-data")
        self.assertGreater(run["seconds"], 0)
        self.assertTrue(all(run["stage_seconds"]), run)
        self.assertEqual(bool(run["bottleneck"]), job.approach == "pdedupe", "of the engine")
        return self.programs.details(store)["chunks"]["raw_bytes"]

    def test_approaches_store_the_same_chunks_and_lose_nothing(self):
        serial = self.backed_up(Job("d", "rabin", SIZE, "baseline"))
        self.assertTrue(2_000_000 < serial < 2_100_000, serial)
        self.assertEqual(self.backed_up(Job("d", "rabin", SIZE, "pipeline")), serial)
        self.assertEqual(self.backed_up(Job("d", "rabin", SIZE, "pdedupe", "64K", "exact")), serial)
        opt2 = Job("d", "ae", "avg_bytes=1024,lest=128", "pipeline")
        self.assertEqual(self.backed_up(opt2), self.backed_up(Job(opt2.dataset, opt2.algorithm, opt2.size, "pdedupe", "64K", "exact")))
        joined = self.backed_up(Job("d", "rabin", SIZE, "pdedupe", "64K", "pdedupe"))
        self.assertEqual(self.backed_up(with_threads("d", "rabin", SIZE, "64K")), joined, "fixed threads cut and join the same")
        unjoined = self.backed_up(Job("d", "rabin", SIZE, "pdedupe", "64K", "none"))
        self.assertTrue(serial <= joined < unjoined)

    def test_fixed_threads_are_of_a_pipeline(self):
        store = self.programs.new_store(Job("d", "rabin", SIZE, "baseline"))
        words = [self.programs.pipeline, store, self.files[0], "--approach", "baseline", "--fixed-threads", "4", "4"]
        refused = subprocess.run(words, capture_output=True, text=True)
        self.assertEqual((refused.returncode, refused.stderr), (2, "cutpoint_store_pipeline: --fixed-threads is for --approach pipeline\n"))

    def test_a_failure_has_a_message(self):
        store = self.programs.new_store(Job("d", "rabin", SIZE, "baseline"))
        for name in "config", "config.copy":
            os.chmod(store / name, 0o600)
            (store / name).write_bytes(b"no config")
        for approach in store_runs.APPROACHES:
            words = [self.programs.pipeline, store, self.files[0], "--approach", approach]
            failed = subprocess.run(words, capture_output=True, text=True)
            self.assertEqual(failed.returncode, 1, failed)
            self.assertIn("cutpoint_store_pipeline: ", failed.stderr)

    def test_a_gpu_does_the_same_or_is_refused_with_the_reason(self):
        serial = self.backed_up(Job("d", "rabin", SIZE, "baseline"))
        info = json.loads(self.programs.run(self.programs.command, "info", "--json"))
        reason = info.get("why_no_gpus") or info["gpus"][0]["problem"]
        for approach in ("cuda", "hybrid"):
            job = Job("d", "rabin", SIZE, approach)
            store = self.programs.new_store(job)
            words = [self.programs.pipeline, store, *self.files, "--approach", approach, "--segment", "65536", "--join", "exact"]
            run = subprocess.run(words, capture_output=True, text=True)
            if not reason:
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertTrue(json.loads(run.stdout)["devices"], run.stdout)
                self.assertEqual(self.programs.details(store)["chunks"]["raw_bytes"], serial)
                continue
            self.assertEqual((run.returncode, run.stdout), (1, ""))
            self.assertEqual(run.stderr, f"cutpoint_store_pipeline: back end '{approach}' cannot be used: {reason}\n")
            self.assertEqual(self.programs.details(store)["chunks"]["count"], 0)

    def test_a_life_is_measured_and_every_table_is_written(self):
        life = store_runs.lives(self.programs, "linux", [*self.files, *self.files], 1)
        self.assertGreater(life["prune"], 0)
        self.assertGreater(life["before"]["container_bytes"], 0)
        runs = [{"seconds": s, "processor_seconds": 3.0, "stage_seconds": [0.5, 0.5, 0.25, s / 8]} for s in (9.0, 2.0, 1.0)]
        job = Job("linux", "rabin", store_runs.SIZE, "baseline")
        jobs = {job.name: store_runs.medians({"bytes": 4_000_000, "chunk_bytes": 1_000_000, "runs": runs})}
        measured = {"processor": "p", "processors": 2, "version": "v", "rounds": 1, "checksums": {"linux": "c"}, "jobs": jobs, "life": {"linux": life}}
        measured = json.loads(store_runs.text_of(measured))
        evidence = Evidence(store=Stored(measured))
        names = pages.OPEN.findall((ROOT / "docs/papers/p-dedupe-store.md").read_text())
        tables = {name: TABLES[name](evidence) for name in names}
        self.assertIn("| rabin | linux | 75.00 | – | – | 2 | – | – | – | – | – |", tables["p-dedupe-store-figure-14"])
        self.assertIn("| rabin | 125.000 | 125.000 | 62.500 | 62.500 | 750.000 | – | – |", tables["p-dedupe-store-stages"])


class OtherRuns(unittest.TestCase):
    """The measurements of definitions, of phases and of equal means, by the real programs on little data."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.file = self.folder / "data"
        self.file.write_bytes(random.Random(1).randbytes(1_500_000))

    def test_definitions_shifts_and_phases_are_measured_and_read_back(self):
        with unittest.mock.patch.multiple(definition_runs, SHIFTS=4, SHIFTED_BYTES="1M", baselines=lambda program, rounds: {"gear/ss-cdc": 1.0}):
            measured = definition_runs.measure({"random": ("c", [self.file]), "linux": ("d", [self.file])}, BUILD, 1, lambda _: None)
        self.assertEqual(json.loads(definition_runs.text_of(measured)), measured)
        self.assertEqual(list(measured["random"]["shifts"]), list(definition_runs.SHIFTED))
        phases = phase_runs.measure([self.file], BUILD, 1)
        self.assertEqual(json.loads(phase_runs.text_of(phases)), phases)
        evidence = Evidence(definitions=measured, phases=phases)
        for name in ("ae-definitions", "ae-maxp-candidates", "ae-section-3-2", "p-dedupe-adler", "seqcdc-definitions", "seqcdc-figure-5", "seqcdc-figure-1"):
            rows = [line for line in TABLES[name](evidence) if "| random |" in line or name == "seqcdc-figure-1"]
            self.assertTrue(rows, name)
        self.assertNotIn("–", next(line for line in TABLES["p-dedupe-adler"](evidence) if "| random |" in line))
        self.assertNotIn("| – |", next(line for line in TABLES["seqcdc-figure-1"](evidence) if line.startswith("| FCDC")))

    def test_methods_that_papers_compare_with_are_measured(self):
        rates = definition_runs.baselines(BUILD / "bench/cutpoint_bench", 2, "--bytes=256K", "--benchmark_min_time=0")
        self.assertLessEqual({"gear/reference", "gear/two-stages", "crc32/two-stages", "rabin/rc", "rabin/rc-sm", "rabin/rc-ind"}, set(rates))
        self.assertTrue(all(rate > 0 for rate in rates.values()))

    def test_sizes_of_equal_means_are_searched(self):
        measured = fair_runs.measure({"images": ("c", [self.file])}, BUILD / "cli/cutpoint", lambda _: None)
        self.assertEqual(json.loads(fair_runs.text_of(measured)), measured)
        entries = measured["images"]["algorithms"]
        self.assertTrue(all("why" in entry or abs(fair_runs.off(entry["mean_bytes"])) <= fair_runs.NEAR for entry in entries.values()))
        self.assertGreater(sum("why" not in entry for entry in entries.values()), 5)


if __name__ == "__main__":
    unittest.main()
