"""`cutpoint info` describes this machine and what work costs on it, and `--version` the command."""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from catalog import listed
from command import BINARY, DONE, IS_SANITIZED, PATIENCE, CommandTest
from schemas import needs_jsonschema, problems_in


class Info(CommandTest):
    def described(self):
        run = self.run_command("info", "--json")
        self.assert_done(run)
        return run.json()

    def test_counts_what_can_be_counted(self):
        machine = self.described()["machine"]
        self.assertGreaterEqual(machine["processors"], machine["cores"])
        self.assertGreaterEqual(machine["cores"], machine["packages"])
        self.assertGreaterEqual(machine["processors"], 1)
        self.assertLessEqual(machine["processors"], os.sysconf("SC_NPROCESSORS_CONF"))

    def test_goes_on_where_hwloc_is_told_to_look_at_what_it_cannot_read(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        data = folder / "data"
        data.write_bytes(os.urandom(2 << 20))
        environment = os.environ | {"HWLOC_XMLFILE": str(folder)}
        environment.pop("HWLOC_COMPONENTS", None)  # which some builds set, and before which hwloc ignores the other
        told = "hwloc cannot look at this machine by HWLOC_XMLFILE"
        text = self.run_command("info", env=environment)
        self.assert_done(text)
        self.assertEqual(len([line for line in text.lines if told in line]), 1)
        described = self.run_command("info", "--json", env=environment).json()["machine"]
        self.assertIn(told, described["problem"])
        self.assertGreaterEqual(described["processors"], described["usable_processors"])
        self.assertNotIn("problem", self.described()["machine"])
        bench = self.run_command("bench", "--kernels", "--algorithm", "gear", "--bytes", "1M", "--rounds", "1", env=environment)
        self.assertEqual(bench.code, DONE, bench.stderr)
        self.assertIn(told, bench.stderr)
        for words in (("dedup", data), ("tune", "--algorithm", "gear", "--size", "8K", data)):
            self.assert_done(self.run_command(*words, env=environment))

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
            self.assertIn("what one would bring: cutpoint info --plan --rates FILE\n", self.run_command("info").stdout)

    def test_says_the_same_as_text(self):
        machine = self.described()["machine"]
        run = self.run_command("info")
        self.assert_done(run)
        for words in (
            ", ".join(f"{machine[noun + 's']} {noun}{'s' * (machine[noun + 's'] != 1)}" for noun in ("package", "core", "processor")),
            " ".join(machine["instruction_sets"]),
            "GPU ",
        ):
            self.assertIn(words, run.stdout)


@unittest.skipIf(IS_SANITIZED, "measures: the tests of the pipeline calibrate under sanitizers")
class Costs(CommandTest):
    """One calibration serves nearly all tests."""

    job = ("--algorithm", "gear", "--size", "4K", "--hash", "sha1")

    @classmethod
    def setUpClass(cls):
        cls.scratch = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="cutpoint-")))
        run = subprocess.run(
            [BINARY, "info", "--calibrate", "--json"],
            env={**os.environ, "CUTPOINT_CACHE_DIR": str(cls.scratch / "cache")},
            capture_output=True,
            timeout=PATIENCE,
            check=True,
        )
        cls.calibrated = json.loads(run.stdout)
        cls.said = run.stderr
        (cls.file,) = (cls.scratch / "cache").iterdir()
        cls.text = cls.file.read_bytes()

    def setUp(self):
        super().setUp()
        self.cache = self.folder / "cache"

    def info(self, *arguments, **variables):
        return self.run_command(
            "info", *arguments, env={**os.environ, "CUTPOINT_CACHE_DIR": str(self.cache), **variables}
        )

    def described(self, *arguments):
        run = self.info("--json", *arguments)
        self.assert_done(run)
        return run.json()

    def keep(self, content):
        self.cache.mkdir(exist_ok=True)
        (self.cache / self.file.name).write_bytes(content)

    def test_are_not_known_at_first_and_info_says_how_to_know_them(self):
        described = self.described()
        self.assertEqual((described["costs"], described["costs_file"]), (None, None))
        self.assertIn("cutpoint info --calibrate", self.info().stdout)
        self.assertFalse(self.cache.exists())

    @needs_jsonschema
    def test_are_what_the_schema_says(self):
        self.assertEqual(problems_in("info", self.calibrated), [])

    def test_are_kept_in_one_file_and_shown_again(self):
        self.assertEqual(self.said, b"")
        self.assertEqual(self.calibrated["costs_file"], str(self.file))
        self.keep(self.text)
        described = self.described()
        self.assertEqual(described["costs"], self.calibrated["costs"])
        self.assertEqual(described["costs_file"], str(self.cache / self.file.name))

    def test_are_of_the_job_that_dedup_does_by_default(self):
        costs = self.calibrated["costs"]
        report = self.run_command("dedup", "--json", str(self.file)).json()
        self.assertEqual([rate["cuts"] for rate in costs["processor"]["cuts"]], [report["cuts"]])
        self.assertEqual([rate["name"] for rate in costs["processor"]["fingerprints"]], ["sha256"])
        for rate in costs["processor"]["cuts"] + costs["processor"]["fingerprints"]:
            self.assertGreater(rate["bytes_per_second"], 0, rate)
            self.assertIn(rate["back_end"], {b["name"] for b in listed()["back_ends"] if b["runs_here"]})
        for name, rate in costs["memory"].items():
            self.assertGreater(rate, 0, name)
        self.assertEqual(costs["processors"], self.calibrated["machine"]["processors"])

    def test_are_the_same_as_text(self):
        self.keep(self.text)
        run = self.info()
        self.assert_done(run)
        self.assertIn(f"stored in {self.cache / self.file.name}", run.stdout)
        self.assertRegex(run.stdout, r"(?m)^processor    cuts [0-9.]+, chunks of [0-9.]+K by ")
        self.assertRegex(run.stdout, r"(?m)^processor    fingerprints [0-9.]+ \(sha256\), ")
        self.assertRegex(run.stdout, r"(?m)^predicted    processor [0-9.]+ GB/s, bound by ")

    def test_are_of_any_job_that_options_name(self):
        costs = self.described("--calibrate", *self.job)["costs"]
        self.assertEqual([rate["name"] for rate in costs["processor"]["cuts"]], ["gear"])
        self.assertEqual([rate["name"] for rate in costs["processor"]["fingerprints"]], ["sha1"])
        self.assertEqual(self.described(*self.job)["costs"], costs)
        self.assertIsNone(self.described()["costs"], "another job's")

    def test_that_cannot_be_used_count_as_none_and_stay(self):
        foreign = json.dumps({**json.loads(self.text), "build": "0.0.0 of somebody else"})
        for content in (b"\0" * 100, foreign.encode()):
            self.keep(content)
            self.assertIsNone(self.described()["costs"])
            self.assertEqual((self.cache / self.file.name).read_bytes(), content, "looking changes nothing")

    def test_are_shown_where_they_cannot_be_kept(self):
        self.cache.write_bytes(b"no folder")
        run = self.info("--calibrate", "--json", *self.job)
        self.assertEqual(run.code, DONE, run)
        self.assertIn("the costs are not stored: ", run.stderr)
        self.assertIsNotNone(run.json()["costs"])
        self.assertIsNone(run.json()["costs_file"])


class Version(CommandTest):
    def test_is_the_same_everywhere(self):
        run = self.run_command("--version")
        self.assert_done(run)
        version = run.stdout.removeprefix("cutpoint ").rstrip("\n")
        self.assertRegex(version, r"^\d+\.\d+\.\d+$")
        self.assertEqual(listed()["version"], version)
        self.assertEqual(json.loads(self.run_command("info", "--json").stdout)["version"], version)
