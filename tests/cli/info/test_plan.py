"""`cutpoint info --plan`: how `auto` would share jobs between the processor and GPUs, here and on machines that are absent."""

import json
import os
import re
import tempfile
import unittest
from pathlib import Path

from command import BINARY, DONE, IS_SANITIZED, CommandTest
from schemas import needs_jsonschema, problems_in

ROOT = Path(__file__).resolve().parents[3]
H200 = ROOT / "docs/results/rates/h200.json"
PAGE = ROOT / "docs/dispatch.md"


class Plans(CommandTest):
    """Of a machine with a GPU, which a file describes."""

    def setUp(self):
        super().setUp()
        self.rates = json.loads(H200.read_text())
        self.costs = self.rates["costs"]
        self.file = self.keep(self.rates)

    def keep(self, content, name="rates.json"):
        return str(self.write(name, json.dumps(content).encode()))

    def plan(self, *arguments, file=None):
        run = self.run_command("info", "--plan", "--json", "--rates", file or self.file, *arguments)
        self.assert_done(run)
        return run.json()

    def plan_of_job(self, *arguments):
        (job,) = self.plan(*arguments)["jobs"]
        return job

    def change(self, *path, value):
        node = self.costs
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = value
        self.keep(self.rates)

    def change_to_lanes_and_gpus_alone(self):
        """Nothing else limits a plan."""
        self.change("memory", value=dict.fromkeys(self.costs["memory"], 0))
        self.change("seconds_of_a_chunk", value=0)

    def assert_file_refused(self, problem, content=None):
        self.keep(self.rates if content is None else content)
        self.assert_refused(self.run_command("info", "--plan", "--rates", self.file), f"--rates {self.file}: {problem}")

    @needs_jsonschema
    def test_are_what_the_schema_says(self):
        jobs = ("--algorithm", "gear", "--algorithm", "rabin", "--hash", "sha1", "--hash", "none")
        self.assertEqual(problems_in("plan", self.plan(), self.plan(*jobs, "--threads", "1")), [])

    def test_use_a_gpu_where_it_promises_a_tenth_more_and_else_none(self):
        self.change_to_lanes_and_gpus_alone()
        for job in (self.plan_of_job("--threads", "4"), self.plan_of_job("--threads", "16")):
            self.assertEqual((job["plan"], job["devices_cut"]), ("shared", True))
            predicted = {each["plan"]: each["bytes_per_second"] for each in job["predictions"]}
            self.assertAlmostEqual(predicted["device"] / 50e9, 1, 2)
            self.assertAlmostEqual(predicted["shared"] / (predicted["device"] + predicted["processor"]), 1, 1)
        for gain, plan in ((0.09, "processor"), (0.11, "shared")):
            self.change("devices", 0, "link_in", value=gain * predicted["processor"])
            self.assertEqual(self.plan_of_job()["plan"], plan)

    def test_follow_the_threads_of_the_machine_or_the_option(self):
        self.assertEqual(self.plan()["thread_count"], 16)
        self.assertEqual(self.plan("--threads", "3")["thread_count"], 3)

    def test_use_the_gpus_that_are_named_and_have_rates(self):
        self.costs["devices"].append(self.costs["devices"][0] | {"index": 7})
        self.change_to_lanes_and_gpus_alone()
        one, both = (self.plan("--device", names) for names in ("7", "0,7"))
        self.assertEqual([[device["index"] for device in plan["devices"]] for plan in (one, both)], [[7], [0, 7]])
        rates = [plan["jobs"][0]["predictions"][0]["bytes_per_second"] for plan in (one, both)]
        self.assertGreater(rates[1], rates[0] + 45e9)
        run = self.run_command("info", "--plan", "--rates", self.file, "--device", "1")
        self.assert_refused(run, "--device 1: the costs have no GPU 1")
        self.change("devices", 0, "problem", value="it is gone")
        self.assertEqual(self.plan_of_job()["plan"], "processor")
        self.assertIn("NVIDIA H200; not measured: it is gone", self.run_command("info", "--plan", "--rates", self.file).stdout)

    def test_only_fingerprint_on_a_gpu_without_a_kernel_for_the_cuts(self):
        self.change_to_lanes_and_gpus_alone()
        self.change("devices", 0, "rates", "cuts", value=[])
        job = self.plan_of_job()
        self.assertEqual((job["plan"], job["devices_cut"]), ("shared", False))
        self.assertEqual(job["predictions"][0]["device_cut_share"], 0)
        self.assertGreater(job["predictions"][0]["device_fingerprint_share"], 0)

    def test_come_as_a_table_with_a_row_for_each_job(self):
        names = ("--algorithm", "gear", "--algorithm", "rabin", "--hash", "sha1", "--hash", "blake3")
        run = self.run_command("info", "--plan", "--rates", self.file, "--threads", "1", *names)
        self.assert_done(run)
        rows = [re.split(r"\s{2,}", line) for line in run.lines[run.lines.index("") + 1 :]]
        self.assertEqual(rows[0], ["cuts", "hash", "plan", "GPU cuts", "GPU hashes", "processor, GB/s", "shared, GB/s", "device, GB/s"])
        jobs = self.plan("--threads", "1", *names)["jobs"]
        self.assertEqual([row[:3] for row in rows[1:]], [[job["name"], job["fingerprint"], job["plan"]] for job in jobs])
        for row, job in zip(rows[1:], jobs, strict=True):
            for prediction in job["predictions"]:
                cell = row[5 + ["processor", "shared", "device"].index(prediction["plan"])]
                self.assertEqual(cell, f"{prediction['bytes_per_second'] / 1e9:.2f} {prediction['limits'][0]['name']}")

    def test_take_what_info_prints_or_its_costs_alone_from_a_file_or_a_pipe(self):
        expected = self.plan()["jobs"]
        self.assertEqual(self.plan(file=self.keep(self.costs))["jobs"], expected)
        run = self.run_command("info", "--plan", "--json", "--rates", "-", content=json.dumps(self.rates).encode())
        self.assertEqual(run.json()["jobs"], expected)

    def test_take_one_file_for_each_job(self):
        cuts = self.costs["processor"]["cuts"]
        files = []
        for each in cuts:
            self.change("processor", "cuts", value=[each])
            files += ["--rates", self.keep(self.rates, f"{each['name']}.json")]
        names = ("--algorithm", "gear", "--algorithm", "rabin")
        run = self.run_command("info", "--plan", "--json", *files, *names)
        self.assert_done(run)
        self.change("processor", "cuts", value=cuts)
        self.assertEqual(run.json()["jobs"], self.plan(*names)["jobs"])
        other = self.keep(self.costs | {"machine": "M"}, "other.json")
        refused = self.run_command("info", "--plan", "--rates", self.file, "--rates", other)
        self.assert_refused(refused, f"--rates {other}: is of another machine than {self.file}")

    def test_need_no_rate_that_may_be_unknown(self):
        for key in ("batch_bytes", "problem"):
            self.costs["devices"][0].pop(key, None)
        self.costs["devices"][0]["from_a_later_version"] = 1
        self.change_to_lanes_and_gpus_alone()
        self.assertEqual(self.plan_of_job()["plan"], "shared")

    def test_refuse_files_by_the_field_and_its_bounds(self):
        self.assert_file_refused("is no JSON object", content=[])
        self.assert_file_refused("has no costs", content={"costs": None})
        self.assert_file_refused("costs are of another format: `format` must be ", content={})
        for path, value, problem in (
            (("format",), 99, "costs are of another format: `format` must be "),
            (("together",), 2, "together must be a number from 1e-06 to 1"),
            (("devices", 0, "link_in"), -1, "devices[0].link_in must be a number from 0 to 1e+18"),
            (("processors",), 0.5, "processors must be a number from 1 to 1e+18"),
        ):
            self.rates = json.loads(H200.read_text())
            self.costs = self.rates["costs"]
            self.change(*path, value=value)
            self.assert_file_refused(problem)
        self.rates = json.loads(H200.read_text())
        self.rates["costs"]["devices"][0].pop("link_out")
        self.assert_file_refused("devices[0].link_out is missing")
        self.assert_refused(self.run_command("info", "--plan", "--rates", "missing"), "--rates missing: ")

    def test_refuse_jobs_whose_rates_are_missing(self):
        for job in (("--algorithm", "ae-max"), ("--hash", "md5"), ("--size", "16K")):
            run = self.run_command("info", "--plan", "--rates", self.file, *job)
            self.assert_refused(run, f"--rates {self.file}: has no rate of the processor for ")

    def test_are_asked_for(self):
        for option, value in (("--rates", self.file), ("--threads", "2"), ("--device", "0"), ("--device-memory", "1G")):
            self.assert_refused(self.run_command("info", option, value), f"{option} is for --plan")
        several = self.run_command("info", "--hash", "sha1", "--hash", "sha256")
        self.assert_refused(several, "several are for --plan")
        for command in ("dedup", "chunk"):
            self.assert_refused(self.run_command(command, "--rates", self.file, self.file), "--rates")
        self.assert_refused(self.run_command("info", "--plan", "--calibrate", "--rates", self.file), "--rates")

    def test_are_those_of_the_page(self):
        """After a change of rates or predictions, the page gets the output of its command again."""
        script, shown = re.search(r"```sh\n(for threads.*?)```\n\n```text\n(.*?)```", PAGE.read_text(), re.DOTALL).groups()
        (self.folder / "bin").mkdir()
        (self.folder / "bin/cutpoint").symlink_to(BINARY)
        run = self.run_shell(f'PATH="$PWD/bin:$PATH"; cd {ROOT}; {script}')
        self.assert_done(run)
        self.assertEqual(run.stdout, shown)


@unittest.skipIf(IS_SANITIZED, "measures: the tests of the pipeline calibrate under sanitizers")
class PlansOfThisMachine(CommandTest):
    def setUp(self):
        super().setUp()
        cache = self.enterContext(tempfile.TemporaryDirectory(prefix="cutpoint-"))
        self.environment = {**os.environ, "CUTPOINT_CACHE_DIR": cache}

    def json_of(self, *arguments):
        run = self.run_command(*arguments, "--json", env=self.environment)
        self.assertEqual(run.code, DONE, run)
        return run.json()

    def test_are_measured_and_those_of_dedup_and_of_the_costs_in_a_file(self):
        self.write("data", os.urandom(1 << 20))
        job = ("--algorithm", "gear", "--hash", "sha1", "--threads", "2")
        here = self.json_of("info", "--plan", *job)
        (planned,) = here["jobs"]
        report = self.json_of("dedup", "--backend", "auto", *job, "data")
        self.assertEqual((planned["plan"], planned["cuts"]), (report["plan"], report["cuts"]))
        if report["predictions"]:  # made if there is a GPU
            self.assertEqual(planned["predictions"], report["predictions"])
        costs = self.write("costs.json", json.dumps(self.json_of("info", *job[:4])).encode())
        there = self.json_of("info", "--plan", *job, "--rates", str(costs))
        self.assertEqual((there["jobs"], there["machine"]), (here["jobs"], here["machine"]))
