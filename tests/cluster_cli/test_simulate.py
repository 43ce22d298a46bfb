"""The command: its report, its messages and exit codes, and traces of real listings."""

import json
import os
import random
import subprocess
import tempfile
import unittest
from pathlib import Path

from traces import Chunk, File, random_files, run_command, trace_bytes


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_command(self, *words: str, **how) -> subprocess.CompletedProcess:
        return run_command(*words, cwd=self.folder, **how)

    def assert_refused(self, message: str, *words: str, code: int = 2):
        run = self.run_command(*words)
        self.assertEqual((run.returncode, run.stdout), (code, ""), run)
        self.assertEqual(run.stderr, f"cutpoint: error: {message}\n")


class Simulate(CommandTest):
    def setUp(self):
        super().setUp()
        files = [file for seed in range(20) for file in random_files(random.Random(seed)) if file.application == 0]
        self.trace = trace_bytes(files)
        (self.folder / "trace").write_bytes(self.trace)

    def report(self, *words: str) -> dict:
        run = self.run_command("simulate", "trace", "--json", "-q", *words)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return json.loads(run.stdout)

    def test_a_report_is_the_same_on_any_number_of_threads(self):
        words = ["--nodes", "3", "--nodes", "16", "--super-chunk", "50K"]
        reports = [self.report(*words, "--threads", threads) for threads in ("1", "2", "5")]
        for report in reports:
            for simulation in report["simulations"]:
                self.assertGreater(simulation.pop("seconds"), 0)
        self.assertEqual(reports[0], reports[1])
        self.assertEqual(reports[0], reports[2])
        self.assertEqual([len(each["nodes"]) for each in reports[0]["simulations"]], [3] * 8 + [16] * 8)

    def test_dht_stores_nothing_twice(self):
        report = self.report("--policy", "dht", "--nodes", "7")
        self.assertEqual(report["simulations"][0]["stored_bytes"], report["trace"]["unique_bytes"])
        self.assertEqual(report["simulations"][0]["normalized_ratio"], 1)

    def test_the_table_has_a_row_for_each_simulation(self):
        run = self.run_command("simulate", "trace", "--policy", "dht", "--policy", "calb", "--nodes", "2", "--nodes", "3")
        self.assertEqual(run.returncode, 0, run)
        rows = [line.split()[:2] for line in run.stdout.splitlines()[3:]]
        self.assertEqual(rows, [["dht", "2"], ["calb", "2"], ["dht", "3"], ["calb", "3"]])

    def test_nodes_that_died_are_named_dead(self):
        changes = ["--live", "2@0", "--live", "4@30", "--live", "3@70", "--batch", "1"]
        report = self.report("--policy", "app-dedupe", "--nodes", "4", "--super-chunk", "10K", *changes)
        self.assertEqual([node["is_alive"] for node in report["simulations"][0]["nodes"]], [True, True, True, False])

    def test_handprints_longer_than_super_chunks_are_warned_of(self):
        (self.folder / "trace").write_bytes(trace_bytes([File(0, 0, [Chunk(1, 5), Chunk(2, 5)])]))
        run = self.run_command("simulate", "trace", "--policy", "sigma-dedupe", "--handprint", "3")
        self.assertEqual(run.returncode, 0)
        message = "sigma-dedupe: 1 of 1 routing units have fewer than 3 different chunks, and shorter handprints"
        self.assertEqual(run.stderr, f"cutpoint: warning: {message}\n")

    def test_wrong_options_are_refused_with_the_bounds(self):
        for message, *words in (
            ("the number of nodes is 0, and may be 1 to 65536", "--nodes", "0"),
            ("the number of nodes is 1000000, and may be 1 to 65536", "--nodes", "1000000"),
            ("the handprint size is 65, and may be 1 to 64", "--handprint", "65"),
            ("the number of live nodes is 5, and may be 1 to 4, of all nodes", "--live", "5@10"),
            ("--live 3@x: must have the form COUNT@PERCENT", "--live", "3@x"),
            ("no policy 'dhd', did you mean 'dht'?", "--policy", "dhd"),
            ("trace: is the trace, and would be written over", "--placements", "trace"),
        ):
            self.assert_refused(message, "simulate", "trace", *words)
        self.assertEqual((self.folder / "trace").read_bytes(), self.trace)

    def test_traces_that_cannot_be_read_are_refused_with_the_place(self):
        def assert_unreadable(content: bytes, message: str):
            (self.folder / "other").write_bytes(content)
            self.assert_refused(message, "simulate", "other")

        count = len(self.trace) // 12 - 2
        assert_unreadable(self.trace[:-12], f"other: is cut off after {count} records: its end is missing")
        version = self.trace[:8] + b"\x02" + self.trace[9:]
        message = "other: has version 2 of the format for chunk traces, and only version 1 can be read"
        assert_unreadable(version, message)
        unknown_class = trace_bytes([File(0, 0, [])])[:36] + trace_bytes([File(7, 0, [])])[12:]
        assert_unreadable(unknown_class, "other: record 2 names the application class 7, and 1 are defined")
        self.assert_refused("missing: cannot be found: No such file or directory", "simulate", "missing", code=1)


class Trace(CommandTest):
    def test_a_listing_becomes_a_trace_with_classes_by_extension(self):
        for name in ("a.txt", "b.txt", "c.bin"):
            (self.folder / name).write_bytes(random.Random(name[0] == "c").randbytes(300_000))
        listing = subprocess.run(
            [os.environ["CUTPOINT_BIN"], "chunk", "."], cwd=self.folder, capture_output=True, check=True, timeout=60
        ).stdout
        (self.folder / "listing").write_bytes(listing)
        run = self.run_command("trace", "listing", "-o", "trace", "--client", "7")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        simulated = self.run_command("simulate", "trace", "--policy", "dht", "--json")
        trace = json.loads(simulated.stdout)["trace"]
        self.assertEqual(len(trace["applications"]), 2)
        self.assertEqual((trace["file_count"], trace["byte_count"], trace["unique_bytes"]), (3, 900_000, 600_000))
        lines = [line for line in listing.decode().splitlines() if not line.startswith("#")]
        self.assertEqual(trace["chunk_count"], len(lines))

    def test_a_listing_without_digests_is_refused(self):
        (self.folder / "a").write_bytes(bytes(10))
        subprocess.run(
            [os.environ["CUTPOINT_BIN"], "chunk", "a", "--hash", "none", "-o", "listing"], cwd=self.folder, check=True
        )
        run = self.run_command("trace", "listing", "-o", "trace")
        self.assertEqual(run.returncode, 1)
        self.assertIn("a: the listing has chunks without a fingerprint of at least 8 bytes", run.stderr)


if __name__ == "__main__":
    unittest.main()
