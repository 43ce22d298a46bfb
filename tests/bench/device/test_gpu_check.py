"""scripts/gpu-check says in one sentence that there is no GPU; with one, what it reports, from programs that only say what they did; and
scripts/gpu_results.py, which makes a page of what came back."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "scripts" / "gpu-check"
RESULTS = ROOT / "scripts" / "gpu_results.py"
BUILD = os.environ.get("CUTPOINT_BUILD") or ROOT / "build" / "release"

GPU = "cutpoint     0.1.0\nGPU          0: A card, 1.0 GiB"
PASSED = "[==========] 3 tests ran.\n[  PASSED  ] 3 tests."
BENCHMARK = """echo "$@"; while (($# > 0)); do case $1 in --markdown) echo '# Cutpoint on a card' >"$2" ;; --json) echo '{}' >"$2" ;; esac; shift; done"""
RUN = {"run_name": "chunk/gear/cuda/64/manual_time", "aggregate_name": "median", "bytes_per_second": 1.5e12, "label": "gear(avg_bytes=8192)"}
RESIDENT = f"""echo "$@"; echo 'chunk/gear/cuda/64/manual_time_median 1 ms'
while (($# > 0)); do case $1 in --benchmark_out=*) echo '{json.dumps({"benchmarks": [RUN]})}' >"${{1#*=}}" ;; esac; shift; done"""
NCU = r"""echo "$@"; while (($# > 0)); do case $1 in
  --export) echo profile >"$2.ncu-rep" ;;
  --import) printf '%s\n' '"ID","Kernel Name","gpu__time_duration.sum"' '"","","ns"' '"0","void cutpoint::cuda::run_kernel<cutpoint::cuda::gear>(T1)","1,500"' ;;
esac; shift; done"""
COMMAND = f"""case $1 in info) echo '{GPU}' ;; dump) cat "${{2#latest:}}" ;; esac
if [[ $* =~ --threads\\ ([0-9]+) ]]; then printf '  "bytes_per_second": %d.5e+08,\\n  "bottleneck": "chunking",\\n' "${{BASH_REMATCH[1]}}"; fi
backend=cpu; [[ $* == *"--backend cuda"* ]] && backend=cuda; [[ $* == *"--backend hybrid"* ]] && backend=hybrid
if [[ $1 == backup ]]; then cat "$(dirname "$0")/../backup-$backend.json"; fi
while (($# > 0)); do case $1 in --output) cp "$(dirname "$0")/../command-$backend.json" "$2" ;; esac; shift; done"""
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

    def run_bundle(self, *words: str, seconds: int = 0, **programs: str) -> subprocess.CompletedProcess:
        """A bundle whose programs do nothing but print; `programs` are other bodies for some of them. `seconds` have passed already."""
        shutil.copy(SCRIPT, self.folder / "gpu-check")
        (self.folder / "commit").write_text("abc123\n")
        bodies = {name: f"echo '{PASSED}'" for name in ("cuda_tests", "cuda_golden_tests", "pipeline_tests")}
        bodies |= {"cutpoint": COMMAND, "cutpoint_bench": RESIDENT, "cutpoint_device": BENCHMARK} | programs
        self.make_program("tools/compute-sanitizer", bodies.pop("compute_sanitizer", SANITIZER))
        self.make_program("tools/ncu", bodies.pop("ncu", NCU))
        self.make_program("tools/nvidia-smi", "echo 'name, driver'")
        self.make_program("tools/nproc", "echo 4")
        for where, rate, bottleneck in (("cpu", 2e9, "chunking"), ("cuda", 4e9, "reading"), ("hybrid", 5e9, "reading")):
            back_ends = {name: {"outcome": "measured", "bytes_per_second": speed} for name, speed in (("processor", 2e9), ("cuda", 4e9), ("hybrid", 5e9))}
            facts = {"bytes_per_second": rate, "bottleneck": bottleneck, "device_cut_share": 0.5, "engine_rows": [{"name": "gear", "back_ends": back_ends}]}
            (self.folder / f"command-{where}.json").write_text(json.dumps(facts))
            summary = {"message_type": "summary", "read_bytes": rate, "wall_seconds": 2, "bottleneck": bottleneck, "device_cut_share": 0.5}
            (self.folder / f"backup-{where}.json").write_text(json.dumps(summary, separators=(",", ":")) + "\n")
        for name, body in bodies.items():
            self.make_program(f"bin/{name}", body)
        return self.run_check(self.folder / "gpu-check", "--data", "bin", *words, PATH=f"{self.folder}/tools:{os.environ['PATH']}", SECONDS=str(seconds))

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
            (["--part", "5"], "--part 5: the parts are 1 to 4"),
            (["--part", "1", "--quick"], "--part chooses the steps: give neither --steps nor --quick"),
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
            "chunk/gear/cuda/64/manual_time_median 1 ms",
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
        chosen = "--benchmark_filter=^(chunk(\\+[^/]+)?/(gear|fixed)|fingerprint/[^/]+)/cuda/[0-9]+/ --seconds=150"
        self.assertIn(chosen, (self.folder / "first-logs" / "resident.log").read_text())
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

    def test_names_the_benchmark_that_failed_or_measured_nothing(self):
        for body, told in (("exit 1", "exit code 1"), ("exit 0", "nothing was measured")):
            self.assertEqual(self.run_bundle("--steps", "benchmark", cutpoint_bench=body).returncode, 1)
            self.assertIn("| benchmark | FAILED: data in device memory (", self.report())
            self.assertIn(told, self.report())
        self.assertEqual(self.run_bundle("--steps", "benchmark", cutpoint_device="exit 1").returncode, 1)
        self.assertIn("| benchmark | FAILED: cutpoint_device (exit code 1) | ", self.report())

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
        errors = """echo '========= ERROR SUMMARY: 2 errors'; if [[ $* == *--error-exitcode* ]]; then exit 99; fi"""
        self.assertEqual(self.run_bundle(compute_sanitizer=errors).returncode, 1)
        self.assertIn("| memcheck | FAILED: exit code 99, ERROR SUMMARY: 2 errors | ", self.report())

    def steps_of(self, report: str) -> list[str]:
        return re.findall(r"^\| (\S+) \| passed", (self.folder / report).read_text(), re.MULTILINE)

    def test_four_parts_make_a_whole_run(self):
        steps_by_number = {
            1: ["cuda-tests", "memcheck", "benchmark"],
            2: ["cuda-golden-tests", "engine-tests", "benchmark", "synccheck", "racecheck"],
            3: ["profile"],
            4: ["variants", "dedup", "backup", "engine", "cores"],
        }
        for number, steps in steps_by_number.items():
            run = self.run_bundle("--part", str(number))
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(self.steps_of(f"gpu-part-{number}.md"), steps)
        self.assertIn("--name gear --name fixed", (self.folder / "gpu-part-1-logs" / "benchmark.log").read_text())
        self.assertEqual(len(list((self.folder / "gpu-part-3-logs").glob("profile-*.ncu-rep"))), 6)
        self.assertIn("--kernel-name regex:rolling_rabin", (self.folder / "gpu-part-3-logs" / "profile-3.log").read_text())
        self.assertEqual(len(list((self.folder / "gpu-part-4-logs").glob("dedup-*.json"))), 6)

    def test_a_part_ends_within_its_time(self):
        run = self.run_bundle("--part", "2", seconds=400)
        self.assertEqual(run.returncode, 1)
        self.assertIn("| engine-tests | FAILED: no time was left | 0 |", (self.folder / "gpu-part-2.md").read_text())

    def test_profiles_what_it_can(self):
        run = self.run_bundle("--steps", "profile", ncu=f"[[ $* == *rabin* ]] && exit 1; {NCU}")
        self.assertEqual(run.returncode, 1)
        self.assertIn("| profile | FAILED: chunk/rabin (rolling_rabin) | ", self.report())
        run = self.run_bundle("--steps", "profile", ncu="echo '==ERROR== Failed to initialize the profiler: LibraryNotLoaded'; exit 1")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("left out: it does not work on this machine: ==ERROR== Failed to initialize", self.report())

    def test_a_run_of_real_data_that_fails_is_named(self):
        run = self.run_bundle("--steps", "dedup", cutpoint=f"[[ $* == *'--backend cuda'* ]] && exit 3; {COMMAND}")
        self.assertEqual(run.returncode, 1)
        self.assertIn("| dedup | FAILED: rabin by cuda fastcdc by cuda | ", self.report())

    def test_a_backup_that_fails_or_gives_other_data_back_is_named(self):
        run = self.run_bundle("--steps", "backup", cutpoint=f"[[ $1 == backup && $* == *'--backend cuda'* ]] && exit 3; {COMMAND}")
        self.assertEqual(run.returncode, 1)
        self.assertIn("| backup | FAILED: cuda | ", self.report())
        run = self.run_bundle("--steps", "backup", cutpoint=f"[[ $1 == dump ]] && exit 0; {COMMAND}")
        self.assertEqual(run.returncode, 1)
        self.assertIn("| backup | FAILED: processor cuda hybrid | ", self.report())
        self.assertIn("cmp: EOF", self.report())
        self.assertEqual(self.run_bundle("--steps", "backup", "--data", "not-here").returncode, 1)
        self.assertIn("| backup | FAILED: no tar can be made of not-here | ", self.report())

    def test_threads_up_to_the_processors_are_compared_and_the_rest_is_named(self):
        run = self.run_bundle("--steps", "cores", cutpoint=COMMAND.replace(GPU, "GPU  none: no driver"))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("| cores | passed: 5 rounds of 1 2 4 threads; not of 8 16, which need as many processors, and there are 4 | ", self.report())
        rows = [line.split("\t") for line in (self.folder / "gpu-report-logs" / "cores.tsv").read_text().splitlines()]
        self.assertEqual(rows[0], ["round", "algorithm", "sizes", "segment", "threads", "bytes_per_second", "bottleneck"])
        self.assertEqual(len(rows), 1 + 5 * 9 * 3)
        self.assertIn(["1", "rabin", "2K:8K:64K", "256K", "4", "4.5e+08", "chunking"], rows)
        self.assertEqual({row[1] for row in rows[1:]}, {"rabin", "adler", "gear"})
        self.assertEqual([path.name for path in (self.folder / "gpu-report-logs").iterdir() if path.is_dir()], [])

    def test_threads_that_fail_or_have_no_data_are_named(self):
        run = self.run_bundle("--steps", "cores", cutpoint=f"[[ $* == *adler*'--threads 2'* ]] && exit 3; {COMMAND}")
        self.assertEqual(run.returncode, 1)
        self.assertIn("| cores | FAILED: adler 2K:8K:64K auto by 2 threads; ", self.report())
        self.assertEqual(self.run_bundle("--steps", "cores", "--data", "not-here").returncode, 1)
        self.assertIn("| cores | FAILED: no tar can be made of not-here | ", self.report())

    def make_page(self) -> subprocess.CompletedProcess:
        words = [sys.executable, "-B", RESULTS, self.folder, "--page", self.folder / "page.md"]
        return subprocess.run(words, capture_output=True, text=True, timeout=60)

    def test_measured_costs_come_back_with_the_logs(self):
        self.run_bundle("--steps", "engine", cutpoint=f'[[ $1 == bench ]] && echo costs >"$CUTPOINT_CACHE_DIR/costs.json"; {COMMAND}')
        self.assertEqual((self.folder / "gpu-report-logs" / "costs.json").read_text(), "costs\n")

    def test_less_data_can_be_asked_for(self):
        self.run_bundle("--steps", "benchmark,variants,engine", "--bytes", "1M", cutpoint=f'echo "$@"; {COMMAND}')
        self.assertIn("--bytes=1M --benchmark_min_time=0", (self.folder / "gpu-report-logs" / "resident.log").read_text())
        for step in ("benchmark", "variants", "engine"):
            self.assertIn("--bytes 1M", (self.folder / "gpu-report-logs" / f"{step}.log").read_text())

    def test_a_page_is_made_of_what_came_back(self):
        row = {"name": "gear", "fingerprint": "sha1", "target_bytes_per_second": 2e12, "problem": ""}
        limits = {"read": 3e12, "link_in_pinned": 5e10, "launch_seconds": 3e-6, "integer_operations": 1e13}
        ends = [row | {"rates": [{"bytes_per_second": 4.9e10, "lanes": 3}]}]
        known = [ends[0] | {"problem": "a planted problem"}]
        variants = [{"name": "gear", "variant": name, "bytes_per_second": rate, "seconds": 0, "problem": ""} for name, rate in (("usual", 1e12), ("other", 1.1e12))]
        variants.append({"name": "wait", "variant": "asleep", "bytes_per_second": 0, "seconds": 7e-6, "problem": ""})
        figures = {"device": "A Card", "about": {"link": "wide"}, "limits": limits}
        (self.folder / "figures.json").write_text(json.dumps(figures | {"variants": variants, "end_to_end": ends, "known_chunks": known}))
        benchmark = """while (($# > 0)); do case $1 in --json) cp "$(dirname "$0")/../figures.json" "$2" ;; esac; shift; done"""
        for number in (1, 3, 4):
            self.assertEqual(self.run_bundle("--part", str(number), cutpoint_device=benchmark).returncode, 0)
        page = self.make_page()
        self.assertEqual(page.returncode, 0, page.stderr)
        page = (self.folder / "page.md").read_text()
        for line in (
            "# Cutpoint on A Card",
            "| 1, memcheck | passed: ERROR SUMMARY: 0 errors | ",
            "| 2 | did not come back | - |",
            "| gear | 1500.0 | 1900.0 (0.79) | 0.50 | 49.0 | 0.98 |",
            "| gear | 2.0 | 4.0 | 5.0 |",
            "| rabin | hybrid | 5.0 | reading | 0.50 |",
            "| `gear` | 1.5 | - |",
            "| gear | other | 1100.0 | 1.10 | - |",
            "| wait | asleep | - | - | 7.0 |",
            "rabin, cuda: chunking → reading",
            "| hybrid | 2.5 | reading | 0.50 |",
            "| cuda: 2.00; hybrid: 2.50 | **holds** |",
            "| gear | 2K:8K:64K | auto | 0.1 | 0.2 | 0.5 | 1.67 | 3.00 |",
            "| 0.9 of the sum, engine from memory | gear: 0.83 | **does not hold** |",
            "- known_chunks, gear: a planted problem",
        ):
            self.assertIn(line, page)

    def test_a_page_of_nothing_is_refused(self):
        page = self.make_page()
        self.assertEqual(page.returncode, 1)
        self.assertIn("has no gpu-part-N.json", page.stderr)


if __name__ == "__main__":
    unittest.main()
