"""Tests how scripts/test runs its stages and what it prints at the end, with stand-ins for the builds and for ctest."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
STAND_INS = """
pick_tool() { printf '%s\\n' "$root/ctest"; }
build() {
  echo "compiling $1"
  if [[ $1 == "${BROKEN:-}" ]]; then echo "an error"; return 3; fi
  touch "$root/build/$1.built"
}
"""
CTEST = """#!/bin/bash
[[ $1 == --preset ]] || exit 9
preset=$2
if [[ $preset == release ]]; then # a build of the next preset is under way, or was
  for ((i = 0; i < 100; ++i)); do [[ -s $ROOT/build/build-debug.log ]] && break; sleep 0.1; done
  [[ -s $ROOT/build/build-debug.log ]] || exit 8
fi
[[ -e $ROOT/build/$preset.built ]] || exit 7
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
            return subprocess.run(
                [root / "scripts/test", *arguments], env=variables, capture_output=True, text=True, timeout=60, check=False
            )

    def test_the_slowest_come_before_the_closing_lines(self):
        run = self.run_stages()
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        end = run.stdout[run.stdout.index("== slowest stages") :].splitlines()
        self.assertEqual(len([line for line in end[: end.index("")] if ": " in line]), 4, run.stdout)
        tests = end[end.index("== slowest tests") + 1 :][:5]
        self.assertEqual([line.split()[0] for line in tests], ["70.50", "70.50", "60.50", "60.50", "50.50"])
        self.assertEqual({" ".join(line.split()[1:]) for line in tests[:2]}, {"s release: test_7", "s debug: test_7"})
        self.assertEqual(end[-1], "100% tests passed, 0 tests failed out of 7")

    def test_a_preset_is_built_while_another_is_tested(self):
        run = self.run_stages()
        self.assertLess(run.stdout.index("== release: test"), run.stdout.index("compiling debug"))
        self.assertIn("== debug: rest of build: passed", run.stdout)

    def test_a_failed_build_is_named_and_the_other_presets_are_still_tested(self):
        for broken, tested in (("release", "debug"), ("debug", "release")):
            with self.subTest(broken=broken):
                run = self.run_stages(BROKEN=broken)
                self.assertEqual(run.returncode, 1)
                self.assertRegex(run.stderr, f"failed: {broken}: (rest of )?build\n")
                self.assertIn("an error", run.stdout)
                self.assertIn(f"== {tested}: test: passed", run.stdout)
                self.assertNotIn(f"== {broken}: test", run.stdout)

    def test_what_failed_is_named_where_no_tests_ran(self):
        for preset in "release", "fuzz":
            run = self.run_stages("--preset", preset, BROKEN=preset)
            self.assertEqual(run.returncode, 1)
            self.assertEqual(run.stderr, f"failed: {preset}: build\n")


if __name__ == "__main__":
    unittest.main()
