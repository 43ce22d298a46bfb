"""Tests that the storage of examples/storage keeps the contract, as its author runs the tests that are installed."""

import re
import shutil
import subprocess
import unittest

from examples import SOURCES, ExampleTest, program

SYSTEM_CMAKE = shutil.which("cmake", path="/usr/bin")


class Storage(ExampleTest):
    def test_the_installed_tests_pass(self):
        output = self.run_program(program("storage", "contract_test")).stdout.decode()
        self.assertGreater(int(re.search(r"PASSED  \] (\d+) tests", output)[1]), 10)

    @unittest.skipUnless(SYSTEM_CMAKE, "the system has no CMake")
    def test_the_system_s_cmake_finds_the_installed_tests(self):
        """CMake 3.25 leaves a variable of our package as the packages that it looks for have set it."""
        prefix = program("prefix", "share/cutpoint/tests").parents[2]
        words = [SYSTEM_CMAKE, "-G", "Ninja", "-S", SOURCES / "storage", "-B", self.folder, f"-DCMAKE_PREFIX_PATH={prefix}"]
        subprocess.run(words, check=True, capture_output=True)
        (path,) = re.findall(r"-isystem (\S+/share/cutpoint/tests)", (self.folder / "build.ninja").read_text())
        self.assertEqual(path, f"{prefix}/share/cutpoint/tests")
