"""scripts/gpu-check says in one sentence that there is no GPU; with one, how each step ended, of programs that only say what they did; and
scripts/gpu_results.py makes a page of it."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("CUTPOINT_BUILD") or ROOT / "build" / "release")

GPU = "cutpoint     0.1.0\nGPU          0: NVIDIA H200, 1.0 GiB"
TESTS = {"cuda_tests", "cuda_golden_tests", "pipeline_tests"}
PASSED = "echo '[==========] 3 tests ran.'; echo '[  PASSED  ] 3 tests.'"
LIMITS = {"device": "NVIDIA H200", "limits": {"read": 3e12}}
DEVICE = f"""echo "$@"; while (($# > 0)); do case $1 in
  --markdown) printf '# Cutpoint on NVIDIA H200\\n\\n- link: wide\\n\\n## Variants\\n\\nother blocks\\n' >"$2" ;;
  --json) echo '{json.dumps(LIMITS)}' >"$2" ;; esac; shift; done"""


def run_of(name: str, rate: float, label: str, **others) -> dict:
    """A run as Google Benchmark writes it."""
    return {"run_name": f"{name}/manual_time", "aggregate_name": "median", "bytes_per_second": rate, "label": label} | others


RUNS = [
    run_of("chunk/gear/cuda/64", 1.2e12, "gear(avg_bytes=8192)"),
    run_of("chunk/gear/cuda/256", 1.5e12, "gear(avg_bytes=8192)"),
    run_of("chunk/gear/cuda/256", 9e12, "gear(avg_bytes=8192)", aggregate_name="mean"),
    run_of("chunk/kopia/cuda/64", 1e12, "buzhash(avg_bytes=8192)"),
    run_of("chunk/ae-max/cuda/64", 1e12, "ae(avg_bytes=8192)"),
    run_of("chunk+sha1/gear/cuda/64", 0.9e12, "gear(avg_bytes=8192)"),
    run_of("fingerprint/sha1/cuda/64", 1.05e12, "fixed(avg_bytes=8192)"),
    {"run_name": "chunk/rabin/cuda/64/manual_time", "error_occurred": True, "error_message": "wrong answer: chunk 0"},
]
RESIDENT = f"""echo "$@"; while (($# > 0)); do case $1 in --benchmark_out=*) echo '{json.dumps({"benchmarks": RUNS})}' >"${{1#*=}}" ;; esac; shift; done"""
RATES = {"processor": 2e9, "cuda": 4e9, "hybrid": 5e9}
COMMAND = f"""case $1 in info) echo '{GPU}' ;; dump) cat "${{2#latest:}}" ;; esac
where=processor; [[ $* == *"--backend cuda"* ]] && where=cuda; [[ $* == *"--backend hybrid"* ]] && where=hybrid
[[ $where == processor && $1 =~ dedup|backup && ${{CUDA_VISIBLE_DEVICES-all}} ]] && exit 9
if [[ $1 == backup ]]; then cat "$(dirname "$0")/../backup-$where.json"; fi
while (($# > 0)); do case $1 in --output) cp "$(dirname "$0")/../report-$where.json" "$2" ;; esac; shift; done"""
SANITIZER = """shift 4; echo "========= COMPUTE-SANITIZER"; "$@"; echo '========= ERROR SUMMARY: 0 errors'"""


class GpuCheck(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.results = self.folder / "gpu-results"

    def make_program(self, name: str, body: str):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/usr/bin/env bash\n{body}\n")
        path.chmod(0o755)

    def run_bundle(self, *words: str, seconds: int = 0, sanitizer: str = SANITIZER, **programs: str) -> subprocess.CompletedProcess:
        """A bundle whose programs do nothing but print; `programs` are other bodies for some of them. `seconds` have passed already."""
        shutil.copy(ROOT / "scripts" / "gpu-check", self.folder / "gpu-check")
        (self.folder / "commit").write_text("abc123\n")
        bodies = dict.fromkeys(TESTS, PASSED) | {"cutpoint": COMMAND, "cutpoint_bench": RESIDENT, "cutpoint_device": DEVICE} | programs
        for name, body in bodies.items():
            self.make_program(f"bin/{name}", body)
        self.make_program("tools/compute-sanitizer", sanitizer)
        self.make_program("tools/nvidia-smi", "echo 'name, driver'")
        back_ends = {name: {"outcome": "measured", "bytes_per_second": rate} for name, rate in RATES.items()}
        rows = [{"name": "gear", "mean_bytes": 8192.5, "back_ends": {"cuda": back_ends["cuda"] | {"copied_bytes_per_second": 3e9}}}]
        for where, rate in RATES.items():
            facts = {"bytes_per_second": rate, "bottleneck": f"that of {where}", "device_cut_share": 0.5}
            (self.folder / f"report-{where}.json").write_text(json.dumps(facts | {"engine_rows": [{"name": "gear", "back_ends": back_ends}], "rows": rows}))
            summary = {"message_type": "summary", "read_bytes": rate, "wall_seconds": 2} | facts
            (self.folder / f"backup-{where}.json").write_text(json.dumps(summary, separators=(",", ":")) + "\n")
        environment = os.environ | {"PATH": f"{self.folder}/tools:{os.environ['PATH']}", "SECONDS": str(seconds)}
        words = [self.folder / "gpu-check", "--data", "bin", "--bytes", "1M", *words]
        return subprocess.run(words, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)

    def outcomes(self, number: int) -> dict[str, str]:
        return dict(line.split("\t")[:2] for line in (self.results / f"part-{number}.tsv").read_text().splitlines())

    def log(self, step: str) -> str:
        return (self.results / f"{step}.log").read_text()

    def check_outcome(self, number: int, step: str, outcome: str, exit_code: int = 1, **programs: str):
        run = self.run_bundle("--part", str(number), **programs)
        self.assertEqual(run.returncode, exit_code, run.stderr)
        self.assertEqual(self.outcomes(number)[step], outcome)

    def test_says_in_one_sentence_that_there_is_no_gpu(self):
        command = BUILD / "cli" / "cutpoint"
        for words, said in (([f"exec '{command}'", '"$@"'], r"[^\n]+"), (["echo", f"'{GPU}; cannot be used: too old'"], "too old")):
            run = self.run_bundle(cutpoint=f"export CUDA_VISIBLE_DEVICES=; {' '.join(words)}")
            self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
            self.assertRegex(run.stderr, rf"\Agpu-check: no GPU to test on: {said}\n\Z")
            self.assertFalse(self.results.exists())

    def test_refuses_wrong_usage(self):
        for words, said in ((["--nonsense"], "usage: gpu-check"), (["--part"], "usage: gpu-check"), (["--part", "5"], "--part 5: the parts are 1 to 4")):
            run = self.run_bundle(*words)
            self.assertEqual(run.returncode, 2, words)
            self.assertIn(said, run.stderr)

    def test_four_parts_make_a_whole_run(self):
        run = self.run_bundle()
        self.assertEqual(run.returncode, 0, run.stderr)
        tests = "passed: 3 tests"
        self.assertEqual(self.outcomes(1), {"cuda-tests": tests, "golden-tests": tests, "engine-tests": tests, "device": "passed"})
        self.assertEqual(self.outcomes(2), {"resident": "passed", "engine": "passed"})
        names = [name for where in RATES for name in (f"dedup-rabin-{where}", f"dedup-fastcdc-{where}", f"backup-{where}")]
        self.assertEqual(self.outcomes(3), dict.fromkeys(["sample", "kernels", *names, "variants"], "passed"))
        self.assertEqual(self.outcomes(4), dict.fromkeys(["memcheck", "synccheck", "racecheck"], tests))
        for text in ("commit: abc123", GPU, "name, driver"):
            self.assertIn(text, (self.results / "machine.txt").read_text())
        self.assertIn("--bytes=1M", self.log("resident"))
        for step in ("device", "variants"):
            self.assertIn("--bytes 1M", self.log(step))

    def test_goes_on_after_a_failure(self):
        self.check_outcome(1, "cuda-tests", "FAILED: exit code 1", cuda_tests=f"{PASSED}; exit 1")
        self.assertEqual(self.outcomes(1)["golden-tests"], "passed: 3 tests")

    def test_what_ended_before_it_was_killed_is_kept(self):
        run = self.run_bundle("--part", "1", pipeline_tests='kill -9 $(cut -d " " -f 4 /proc/$PPID/stat)')
        self.assertNotEqual(run.returncode, 0)
        self.assertEqual(list(self.outcomes(1)), ["cuda-tests", "golden-tests"])

    def test_tests_that_are_skipped_or_missing_have_failed(self):
        self.check_outcome(1, "engine-tests", "FAILED: 2 tests were skipped", pipeline_tests=f"{PASSED}; echo '[  SKIPPED ] 2 tests, listed below:'")
        self.check_outcome(1, "engine-tests", "FAILED: no test was run", pipeline_tests="echo '[==========] 0 tests ran.'; echo '[  PASSED  ] 0 tests.'")

    def test_a_benchmark_that_measures_nothing_has_failed(self):
        self.check_outcome(2, "resident", "FAILED: exit code 2", cutpoint_bench="exit 0")

    def test_a_part_ends_within_its_time(self):
        run = self.run_bundle("--part", "1", seconds=404)
        self.assertEqual(run.returncode, 1)
        self.assertEqual(set(self.outcomes(1).values()), {"FAILED: no time was left"})
        self.run_bundle("--part", "1", seconds=398, cuda_tests="sleep 60")
        self.assertEqual(self.outcomes(1)["cuda-tests"], "FAILED: took too long")

    def test_a_sanitizer_that_is_missing_or_refuses_is_left_out(self):
        refuses = "echo '========= Error: Device not supported'; exit 1"
        self.check_outcome(4, "memcheck", "left out: the tool does not work here", 0, sanitizer=refuses)
        self.check_outcome(4, "memcheck", "FAILED: exit code 99", sanitizer="echo '========= ERROR SUMMARY: 2 errors'; exit 99")

    def test_real_data_that_fail_or_come_back_changed_are_named(self):
        self.check_outcome(3, "dedup-rabin-cuda", "FAILED: exit code 3", cutpoint=f"[[ $* == *'--backend cuda'* ]] && exit 3; {COMMAND}")
        self.assertEqual(self.outcomes(3)["dedup-rabin-hybrid"], "passed")
        self.check_outcome(3, "backup-cuda", "FAILED: exit code 1", cutpoint=f"[[ $1 == dump ]] && exit 0; {COMMAND}")
        self.assertIn("cmp: EOF", self.log("backup-cuda"))
        self.run_bundle("--part", "3", "--data", "not-here")
        self.assertEqual(self.outcomes(3)["sample"], "FAILED: exit code 1")

    def test_measured_costs_come_back(self):
        self.run_bundle("--part", "2", cutpoint=f'[[ $1 == bench ]] && echo costs >"$CUTPOINT_CACHE_DIR/costs.json"; {COMMAND}')
        self.assertEqual((self.results / "costs.json").read_text(), "costs\n")

    # --- The page ---

    def make_page(self) -> str:
        words = [sys.executable, "-B", ROOT / "scripts" / "gpu_results.py", self.results, self.folder / "page.md"]
        run = subprocess.run(words, capture_output=True, text=True, timeout=60)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return (self.folder / "page.md").read_text()

    def test_a_page_is_made_of_what_came_back(self):
        for number in ("1", "2", "3"):
            self.run_bundle("--part", number, pipeline_tests="echo a chunk differs; exit 1")
        page = self.make_page()
        self.assertTrue(page.startswith("# Cutpoint on NVIDIA H200\n\n- link: wide\n"), page)
        for line in (
            "| 1 | golden-tests | passed: 3 tests | ",
            "| 1 | engine-tests | FAILED: exit code 1 | ",
            "| 4 | - | did not come back | - |",
            "| `chunk/gear` | 1500.0 | 2500.0 | 0.60 | 0.50 |",
            "| `chunk/kopia` | 1000.0 | 1240.0 | 0.81 | 0.33 |",
            "| `chunk/ae-max` | 1000.0 | - | - | 0.33 |",
            "| `chunk+sha1/gear` | 900.0 | - | - | 0.30 |",
            "| `fingerprint/sha1` | 1050.0 | 2110.0 | 0.50 | 0.35 |",
            "| gear | 2.0 | 4.0 | 5.0 | 2.00 | 0.83 |",
            "| `gear` | 4.0 | 3.0 | 8192 |",
            "| `dedup`, rabin | both | 5.0 | 2.50 | that of hybrid | no, it was that of processor | 0.50 |",
            "| first `backup` | GPU | 2.0 | 2.00 | that of cuda | no, it was that of processor | 0.50 |",
            "## Variants\n\nother blocks\n",
            "- chunk/rabin: wrong answer: chunk 0",
            "## The end of engine-tests.log\n\n```text\na chunk differs\n",
        ):
            self.assertIn(line, page)

    def test_a_page_is_made_of_the_machine_alone(self):
        self.run_bundle("--part", "1", cutpoint_device="exit 1")
        page = self.make_page()
        self.assertTrue(page.startswith("# Cutpoint on NVIDIA H200\n"), page)
        self.assertIn("name, driver", page)

    def test_what_was_measured_before_an_end_by_force_counts(self):
        self.run_bundle("--part", "2")
        (self.results / "resident.json").write_text(json.dumps({"context": {}, "benchmarks": RUNS[:2]}, indent=2)[:-60])
        self.assertIn("| `chunk/gear` | 1200.0 | 2500.0 | 0.48 | ", self.make_page())

    def test_a_bottleneck_is_shifted_if_it_was_chunking_and_no_longer_is(self):
        self.run_bundle("--part", "1")
        for before, after, said in (
            ("chunking", "reading", "yes"),
            ("reading", "reading", "no, it was reading"),
            ("reading", "writing", "no, it was reading"),
            ("chunking", "chunking", "no, still chunking"),
            (None, "reading", "not measured"),
        ):
            for where, bottleneck in (("processor", before), ("cuda", after)):
                report = {"bytes_per_second": 1e9, "bottleneck": bottleneck, "device_cut_share": 0.5}
                (self.results / f"dedup-rabin-{where}.json").write_text(json.dumps(report))
            page = self.make_page()
            self.assertIn(f"| `dedup`, rabin | GPU | 1.0 | 1.00 | {after} | {said} | 0.50 |", page)
            self.assertIn(f"| `dedup`, rabin | processor | 1.0 | 1.00 | {before} | - | 0.50 |", page)
        (self.results / "dedup-rabin-processor.json").unlink()
        self.assertIn("| not measured | 0.50 |", self.make_page())

    def test_a_page_of_nothing_is_refused(self):
        run = subprocess.run([sys.executable, "-B", ROOT / "scripts" / "gpu_results.py", self.folder], capture_output=True, text=True, timeout=60)
        self.assertEqual((run.returncode, run.stderr), (1, f"gpu_results.py: {self.folder} has no results of gpu-check\n"))


if __name__ == "__main__":
    unittest.main()
