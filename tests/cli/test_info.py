"""`cutpoint info` describes this machine, and `--version` the command."""

import json
import os
import re
import unittest

from catalog import listed
from command import CommandTest


class Info(CommandTest):
    def described(self):
        run = self.run_command("info", "--json")
        self.assert_done(run)
        return json.loads(run.stdout)

    def test_counts_what_can_be_counted(self):
        machine = self.described()["machine"]
        self.assertGreaterEqual(machine["processors"], machine["cores"])
        self.assertGreaterEqual(machine["cores"], machine["packages"])
        self.assertGreaterEqual(machine["processors"], 1)
        self.assertLessEqual(machine["processors"], os.sysconf("SC_NPROCESSORS_CONF"))

    def test_has_the_shape_that_programs_expect(self):
        described = self.described()
        machine = described["machine"]
        shape = {
            "caches": {"level": int, "kind": str, "bytes": int, "line_bytes": int, "count": int, "processors": int},
            "numa_nodes": {"index": int, "memory_bytes": int, "processors": int},
            "devices": {"kind": str, "name": str},
        }
        for name, fields in shape.items():
            for item in machine[name]:
                self.assertEqual({key: type(value) for key, value in item.items()}, fields, name)
        self.assertIsInstance(machine["processor_model"], str)
        self.assertTrue(all(re.fullmatch(r"[a-z0-9_]+", name) for name in machine["instruction_sets"]), machine)

    def test_has_the_back_ends_that_are_listed(self):
        self.assertEqual(self.described()["back_ends"], listed()["back_ends"])
        lines = self.run_command("info").lines
        for backend in listed()["back_ends"]:
            line = next(line for line in lines if line.startswith(f"back end     {backend['name']}: "))
            self.assertEqual(line.endswith("does not run here"), not backend["runs_here"])

    def test_says_why_there_are_no_gpus_or_what_they_are(self):
        described = self.described()
        if described["gpus"]:
            for index, gpu in enumerate(described["gpus"]):
                self.assertEqual(gpu["index"], index)
                self.assertGreater(gpu["memory_bytes"], 0)
                self.assertRegex(gpu["compute_capability"], r"^\d+\.\d+$")
        elif "why_no_gpus" in described:
            self.assertTrue(described["why_no_gpus"])

    def test_says_the_same_as_text(self):
        machine = self.described()["machine"]
        run = self.run_command("info")
        self.assert_done(run)
        for words in (
            f"{machine['packages']} packages, {machine['cores']} cores, {machine['processors']} processors",
            " ".join(machine["instruction_sets"]),
            "GPU ",
        ):
            self.assertIn(words, run.stdout)


class Version(CommandTest):
    def test_is_the_same_everywhere(self):
        run = self.run_command("--version")
        self.assert_done(run)
        version = run.stdout.removeprefix("cutpoint ").rstrip("\n")
        self.assertRegex(version, r"^\d+\.\d+\.\d+$")
        self.assertEqual(listed()["version"], version)
        self.assertEqual(json.loads(self.run_command("info", "--json").stdout)["version"], version)


if __name__ == "__main__":
    unittest.main()
