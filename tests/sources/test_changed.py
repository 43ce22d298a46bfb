"""Tests which programs are built and which tests are run after a change."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import changed_tests  # noqa: E402

NINJA = """
rule compile
  command = cp $in $out && echo "$out: $in $header" >$out.d
  depfile = $out.d
  deps = gcc
rule link
  command = cat $in >$out
build one.o: compile {root}/one.cc
  header = {root}/shared.h
build two.o: compile {root}/two.cc
build one_tests: link one.o
build two: link two.o
"""
CTEST = """
add_test(one_tests.first {build}/one_tests)
add_test(one_tests.second {build}/one_tests)
add_test(cli_two python3)
set_tests_properties(cli_two PROPERTIES WORKING_DIRECTORY {root}/tests/cli ENVIRONMENT BIN={build}/two)
add_test(long {build}/two)
set_tests_properties(long PROPERTIES LABELS full)
add_test(package {build}/two)
"""


@unittest.skipUnless(shutil.which("ninja"), "no ninja here")
class Changed(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        self.build = self.root / "build"
        for folder in (self.build, self.root / "tests/cli"):
            folder.mkdir(parents=True)
        for name in ("one.cc", "two.cc", "shared.h", "unused.h"):
            (self.root / name).write_text("")
        for name, text in (("build.ninja", NINJA), ("CTestTestfile.cmake", CTEST)):
            (self.build / name).write_text(text.format(root=self.root, build=self.build))
        subprocess.run(["ninja", "-C", self.build], check=True, capture_output=True)

    def affected(self, *names: str) -> tuple[set[str], set[str]]:
        changed = {self.root / name for name in names}
        programs, tests = changed_tests.affected(self.root, self.build, os.environ.get("CUTPOINT_CTEST", "ctest"), changed)
        return programs, tests - changed_tests.ALWAYS

    def test_a_source_affects_the_tests_of_its_program(self):
        self.assertEqual(self.affected("one.cc"), ({"one_tests"}, {r"one_tests\..*"}))

    def test_a_header_affects_what_includes_it(self):
        self.assertEqual(self.affected("shared.h"), ({"one_tests"}, {r"one_tests\..*"}))
        self.assertEqual(self.affected("unused.h"), (set(), set()))

    def test_a_command_is_tested_by_the_tests_that_run_it_but_not_by_long_ones(self):
        self.assertEqual(self.affected("two.cc"), ({"two"}, {"cli_two"}))

    def test_what_was_never_built_is_built_and_tested(self):
        (self.build / "two").unlink()
        with (self.build / "CTestTestfile.cmake").open("a") as tests:
            tests.write("add_test(three_tests_NOT_BUILT three_tests_NOT_BUILT)\n")
        self.assertEqual(self.affected("unused.h"), ({"two", "three_tests"}, {"cli_two", r"three_tests\..*"}))

    def test_a_test_is_affected_by_the_files_beside_it(self):
        self.assertEqual(self.affected("tests/cli/test_two.py"), ({"two"}, {"cli_two"}))
        self.assertEqual(self.affected("tests/other.py"), (set(), set()))


if __name__ == "__main__":
    unittest.main()
