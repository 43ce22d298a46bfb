"""scripts/gpu-check says in one sentence that there is no GPU; with one, what it reports, from programs that only say what they did."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "scripts" / "gpu-check"
BUILD = os.environ.get("CUTPOINT_BUILD") or ROOT / "build" / "release"

GPU = "cutpoint     0.1.0\nGPU          0: A card, 1.0 GiB"
PASSED = "[==========] 3 tests ran.\n[  PASSED  ] 3 tests."
BENCHMARK = """echo "$@"; while (($# > 0)); do case $1 in --markdown) echo '# Cutpoint on a card' >"$2" ;; --json) echo '{}' >"$2" ;; esac; shift; done"""
SANITIZER = """echo "$2"; echo '========= ERROR SUMMARY: 0 errors'"""


class GpuCheck(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_check(self, script: Path, *words: str, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [script, *words],
            cwd=self.folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def make_program(self, name: str, body: str):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/usr/bin/env bash\n{body}\n")
        path.chmod(0o755)

    def run_bundle(self, *words: str, **programs: str) -> subprocess.CompletedProcess:
        """A bundle whose programs do nothing but print; `programs` are other bodies for some of them."""
        shutil.copy(SCRIPT, self.folder / "gpu-check")
        (self.folder / "commit").write_text("abc123\n")
        bodies = {name: f"echo '{PASSED}'" for name in ("cuda_tests", "cuda_golden_tests", "pipeline_tests")}
        bodies |= {"cutpoint": f"echo '{GPU}'", "cutpoint_device": BENCHMARK} | programs
        self.make_program("tools/compute-sanitizer", bodies.pop("compute_sanitizer", SANITIZER))
        self.make_program("tools/nvidia-smi", "echo 'name, driver'")
        for name, body in bodies.items():
            self.make_program(f"bin/{name}", body)
        return self.run_check(self.folder / "gpu-check", *words, PATH=f"{self.folder}/tools:{os.environ['PATH']}")

    def report(self) -> str:
        return (self.folder / "gpu-report.md").read_text()

    def test_says_in_one_sentence_that_there_is_no_gpu(self):
        run = self.run_check(SCRIPT, "--build", str(BUILD), CUDA_VISIBLE_DEVICES="")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(run.stdout, "")
        self.assertRegex(run.stderr, r"\Agpu-check: no GPU to test on: [^\n]+\n\Z")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_says_why_a_gpu_cannot_be_used(self):
        run = self.run_bundle(cutpoint=f"echo '{GPU}'; echo '   driver for CUDA 13.0; cannot be used: too old'")
        self.assertEqual((run.returncode, run.stderr), (2, "gpu-check: no GPU to test on: too old\n"))

    def test_refuses_wrong_usage(self):
        for words, said in (
            (["--nonsense"], "usage: gpu-check"),
            (["--seconds"], "usage: gpu-check"),
            (["--seconds", "some"], "--seconds some: not a number from 1 to 330"),
            (["--seconds", "331"], "--seconds 331: not a number from 1 to 330"),
            (["--steps", "benchmark,tests"], "--steps: there is no step 'tests'; the steps are cuda-tests, "),
        ):
            run = self.run_check(SCRIPT, *words)
            self.assertEqual(run.returncode, 2, words)
            self.assertIn(said, run.stderr)

    def test_reports_every_step(self):
        run = self.run_bundle()
        self.assertEqual(run.returncode, 0, run.stderr)
        report = self.report()
        for line in (
            "- commit: abc123",
            "GPU          0: A card, 1.0 GiB",
            "name, driver",
            "| cuda-tests | passed: 3 tests | ",
            "| cuda-golden-tests | passed: 3 tests | ",
            "| engine-tests | passed: 3 tests | ",
            "| memcheck | passed: ERROR SUMMARY: 0 errors | ",
            "| racecheck | passed: ERROR SUMMARY: 0 errors | ",
            "| synccheck | passed: ERROR SUMMARY: 0 errors | ",
            "| benchmark | passed | ",
            "## Cutpoint on a card",
        ):
            self.assertIn(line, report)
        self.assertTrue((self.folder / "gpu-report.json").exists())

    def test_quickly_leaves_out_tools(self):
        self.assertEqual(self.run_bundle("--quick").returncode, 0)
        self.assertIn("memcheck", self.report())
        self.assertNotIn("racecheck", self.report())

    def test_runs_only_the_steps_that_are_asked_for_in_their_order(self):
        run = self.run_bundle("--steps", "benchmark,memcheck", "--names", "gear,fixed", "--output", "first.md")
        self.assertEqual(run.returncode, 0, run.stderr)
        steps = re.findall(r"^\| (\S+) \| passed", (self.folder / "first.md").read_text(), re.MULTILINE)
        self.assertEqual(steps, ["benchmark", "memcheck"])
        self.assertIn("--name gear --name fixed", (self.folder / "first-logs" / "benchmark.log").read_text())
        self.assertTrue((self.folder / "first.json").exists())

    def test_keeps_the_report_and_the_logs_of_earlier_steps_if_it_is_killed(self):
        run = self.run_bundle(pipeline_tests="kill -9 $(cut -d " " -f 4 /proc/$PPID/stat)")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("| cuda-golden-tests | passed: 3 tests | ", self.report())
        self.assertIn("PASSED", (self.folder / "gpu-report-logs" / "cuda-tests.log").read_text())

    def test_goes_on_after_a_failure_and_shows_its_end(self):
        run = self.run_bundle(cuda_tests=f"echo '{PASSED}'; echo a chunk differs; exit 1")
        self.assertEqual(run.returncode, 1)
        self.assertIn("| cuda-tests | FAILED: exit code 1 | ", self.report())
        self.assertIn("a chunk differs", self.report())
        self.assertIn("| benchmark | passed | ", self.report())

    def test_takes_a_skipped_test_for_a_failure(self):
        run = self.run_bundle(pipeline_tests=f"echo '{PASSED}'; echo '[  SKIPPED ] 2 tests, listed below:'")
        self.assertEqual(run.returncode, 1)
        self.assertIn("| engine-tests | FAILED: 2 tests were skipped, 3 passed | ", self.report())

    def test_takes_no_test_at_all_for_a_failure(self):
        self.assertEqual(self.run_bundle(pipeline_tests="echo '[  PASSED  ] 0 tests.'").returncode, 1)
        self.assertIn("| engine-tests | FAILED: no test was run | ", self.report())

    def test_leaves_out_a_sanitizer_that_does_not_work(self):
        run = self.run_bundle(compute_sanitizer="echo 'Error: not supported here'; exit 1")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("left out: it does not work on this machine: Error: not supported here", self.report())

    def test_reports_what_the_sanitizer_found(self):
        found = """echo '========= ERROR SUMMARY: 2 errors'; if [[ $* == *--error-exitcode* ]]; then exit 99; fi"""
        self.assertEqual(self.run_bundle(compute_sanitizer=found).returncode, 1)
        self.assertIn("| memcheck | FAILED: exit code 99, ERROR SUMMARY: 2 errors | ", self.report())


if __name__ == "__main__":
    unittest.main()
