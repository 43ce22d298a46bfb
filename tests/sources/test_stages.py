"""Tests how scripts/test runs its stages and what it prints at the end, with stand-ins for the builds and for ctest."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
STAND_INS = """
pick_nvcc() { printf '%s' "${NVCC:-}"; }
pick_tool() { printf '%s\\n' "$root/ctest"; }
build() {
  echo "compiling $1"
  if [[ $1 == "${BROKEN:-}" ]]; then echo "an error"; return 3; fi
  touch "$root/build/$1.built"
}
"""
CTEST = """#!/bin/bash
if [[ $* == *--show-only* ]]; then printf '%s\\n' "$TESTS"; seq 100000; exit; fi
[[ $1 == --preset ]] || exit 9
echo "asked for: $*"
[[ -e $ROOT/build/$2.built ]] || exit 7
for n in 1 2 3 4 5 6 7; do
  printf '%s/7 Test #%s: test_%s ..................   Passed   %s.50 sec\\n' "$n" "$n" "$n" "$((n * 10))"
done
printf '\\n100%% tests passed, 0 tests failed out of 7\\n'
"""


class Stages(unittest.TestCase):
    def run_stages(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "scripts").mkdir()
            shutil.copy(ROOT / "scripts/test", root / "scripts/test")
            (root / "scripts/lib.sh").write_text((ROOT / "scripts/lib.sh").read_text() + STAND_INS)
            for path, text in (("scripts/setup", "#!/bin/sh\n"), ("ctest", CTEST)):
                (root / path).write_text(text)
                (root / path).chmod(0o755)
            variables = {"PATH": "/usr/bin:/bin", "CUTPOINT_FIXED_ADDRESSES": "1", "ROOT": folder, **environment}
            run = subprocess.run(
                [root / "scripts/test", *arguments], env=variables, capture_output=True, text=True, timeout=60, check=False
            )
            record = root / "build/stages.csv"
            run.recorded = record.read_text().splitlines() if record.exists() else []
            return run

    def test_the_slowest_come_before_the_closing_lines(self):
        run = self.run_stages()
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        end = run.stdout[run.stdout.index("== slowest stages") :].splitlines()
        self.assertEqual(len([line for line in end[: end.index("")] if ": " in line]), 2, run.stdout)
        tests = end[end.index("== slowest tests") + 1 :][:5]
        self.assertEqual([line.split() for line in tests[:2]], [["70.50", "s", "release:", "test_7"], ["60.50", "s", "release:", "test_6"]])
        self.assertEqual(end[-1], "100% tests passed, 0 tests failed out of 7")

    def test_one_build_is_tested_without_sanitizers_or_with_them(self):
        for arguments, preset, other in (((), "release", "debug"), (("--sanitizers",), "debug", "release")):
            with self.subTest(arguments=arguments):
                run = self.run_stages(*arguments)
                self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
                self.assertIn(f"asked for: --preset {preset} --parallel", run.stdout)
                self.assertIn("-LE ^full$", run.stdout)
                self.assertNotIn(f"compiling {other}", run.stdout)

    def test_a_failed_build_is_named_and_nothing_is_tested(self):
        run = self.run_stages(BROKEN="release")
        self.assertEqual(run.returncode, 1)
        self.assertEqual(run.stderr, "failed: release: build\n")
        self.assertIn("an error", run.stdout)
        self.assertNotIn("asked for", run.stdout)

    def test_stages_of_a_full_run_are_recorded_with_their_outcome_and_all_run(self):
        run = self.run_stages("--full", "tsan", "fuzz", "sanitizers", BROKEN="tsan")
        self.assertEqual(run.returncode, 1)
        self.assertEqual(run.stderr.splitlines()[-1], "failed: tsan: build")
        self.assertEqual(
            [line.split(",")[1:4] for line in run.recorded],
            [["unknown", "tsan", "FAILED"], ["unknown", "fuzz", "passed"], ["unknown", "sanitizers", "passed"]],
        )

    def test_a_stage_that_does_not_exist_or_is_not_of_a_full_run_is_refused(self):
        for arguments in (("tsan",), ("--full", "everything"), ("--preset", "release")):
            with self.subTest(arguments=arguments):
                run = self.run_stages(*arguments)
                self.assertEqual(run.returncode, 2)
                self.assertIn("usage: scripts/test", run.stderr)

    def test_tests_of_compiled_kernels_do_not_vanish_where_there_is_a_compiler(self):
        run = self.run_stages(NVCC="/opt/nvcc", TESTS="store_tests.index")
        self.assertEqual(run.returncode, 1)
        self.assertIn("the tests of the compiled kernels are missing", run.stdout + run.stderr)
        run = self.run_stages(NVCC="/opt/nvcc", TESTS="cuda_ptx_tests.several")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main()
