"""Tests that the storage of examples/storage keeps the contract, as its author runs the tests that are installed."""

import re

from examples import ExampleTest, program


class Storage(ExampleTest):
    def test_the_installed_tests_pass(self):
        output = self.run_program(program("storage", "contract_test")).stdout.decode()
        self.assertGreater(int(re.search(r"PASSED  \] (\d+) tests", output)[1]), 10)
