"""The command: its report, its messages and exit codes, and traces of real listings."""

import json
import os
import random
import subprocess
import tempfile
import unittest
from pathlib import Path

from schemas import needs_jsonschema, problems_in
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
        self.assertEqual(run.stderr, f"cutpoint-cluster: error: {message}\n")


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
        self.assertEqual([len(each["nodes"]) for each in reports[0]["simulations"]], [3] * 9 + [16] * 9)

    @needs_jsonschema
    def test_a_report_is_what_its_schema_says(self):
        self.assertEqual(problems_in("simulate", self.report("--nodes", "3", "--live", "2@50")), [])

    def test_handprints_of_several_sizes_are_those_that_are_asked_for_alone(self):
        words = ["--policy", "app-dedupe", "--nodes", "3", "--nodes", "9", "--super-chunk", "50K"]
        together = self.report(*words, "--handprint", "2", "--handprint", "16", "--threads", "2")["simulations"]
        self.assertEqual([(each["node_count"], each["handprint_size"]) for each in together], [(3, 2), (3, 16), (9, 2), (9, 16)])
        for size in (2, 16):
            alone = self.report(*words, "--handprint", str(size))["simulations"]
            for ours, theirs in zip((each for each in together if each["handprint_size"] == size), alone, strict=True):
                self.assertGreater(ours.pop("seconds") * theirs.pop("seconds"), 0)
                self.assertEqual(ours, theirs)

    def test_the_table_has_a_row_for_each_simulation(self):
        run = self.run_command("simulate", "trace", "--policy", "dht", "--policy", "calb", "--nodes", "2", "--nodes", "3")
        self.assertEqual(run.returncode, 0, run)
        rows = [line.split()[:2] for line in run.stdout.splitlines()[3:]]
        self.assertEqual(rows, [["dht", "2"], ["calb", "2"], ["dht", "3"], ["calb", "3"]])

    def test_nodes_that_find_no_duplicates_store_the_whole_trace(self):
        report = self.report("--deduplication", "none", "--nodes", "5", "--super-chunk", "50K")
        for simulation in report["simulations"]:
            self.assertEqual(simulation["stored_bytes"], report["trace"]["byte_count"], simulation["policy"])

    def test_nodes_that_died_are_named_dead(self):
        changes = ["--live", "2@0", "--live", "4@30", "--live", "3@70", "--batch", "1"]
        report = self.report("--policy", "app-dedupe", "--nodes", "4", "--super-chunk", "10K", *changes)
        self.assertEqual([node["is_alive"] for node in report["simulations"][0]["nodes"]], [True, True, True, False])

    def test_handprints_longer_than_super_chunks_are_warned_of(self):
        (self.folder / "trace").write_bytes(trace_bytes([File(0, 0, [Chunk(1, 5), Chunk(2, 5)])]))
        run = self.run_command("simulate", "trace", "--policy", "sigma-dedupe", "--handprint", "3")
        self.assertEqual(run.returncode, 0)
        message = "sigma-dedupe: 1 of 1 routing units have fewer than 3 different chunks, and shorter handprints"
        self.assertEqual(run.stderr, f"cutpoint-cluster: warning: {message}\n")

    def test_wrong_options_are_refused_with_the_bounds(self):
        for message, *words in (
            ("the number of nodes is 0, and may be 1 to 65536", "--nodes", "0"),
            ("the number of nodes is 1000000, and may be 1 to 65536", "--nodes", "1000000"),
            ("the handprint size is 65, and may be 1 to 64", "--handprint", "65"),
            ("the number of live nodes is 5, and may be 1 to 4, of all nodes", "--live", "5@10"),
            ("--live 3@x: must have the form COUNT@PERCENT", "--live", "3@x"),
            ("no policy 'dhd', did you mean 'dht'?", "--policy", "dhd"),
            ("trace: is the trace, and would be written over", "--placements", "trace"),
            ("out: cannot have both the placements and the report", "--placements", "out", "-o", "out"),
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
    def list_chunks(self, *words: str) -> list[str]:
        """Returns the lines of the chunks in a listing."""
        done = subprocess.run(
            [os.environ["CUTPOINT_BIN"], "chunk", *words], cwd=self.folder, capture_output=True, check=True, timeout=60, text=True
        )
        (self.folder / "listing").write_text(done.stdout)
        return [line for line in done.stdout.splitlines() if not line.startswith("#")]

    def trace_report(self, *words: str) -> dict:
        run = self.run_command("trace", "-o", "trace", *words)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        simulated = self.run_command("simulate", "trace", "--policy", "dht", "--json")
        return json.loads(simulated.stdout)["trace"]

    def write_files(self, *names: str):
        for name in names:
            (self.folder / name).write_bytes(random.Random(name[0] == "c").randbytes(300_000))

    def test_a_listing_becomes_a_trace_with_classes_by_extension(self):
        self.write_files("a.txt", "b.txt", "c.bin")
        lines = self.list_chunks(".")
        trace = self.trace_report("listing", "--client", "7")
        self.assertEqual(len(trace["applications"]), 2)
        self.assertEqual((trace["file_count"], trace["byte_count"], trace["unique_bytes"]), (3, 900_000, 600_000))
        self.assertEqual(trace["chunk_count"], len(lines))

    def test_listings_that_were_cut_differently_become_one_trace_with_the_classes_of_a_context(self):
        self.write_files("a.mp4", "c.txt")
        short = len(self.list_chunks("c.txt", "--size", "4K"))
        (self.folder / "listing").rename(self.folder / "first")
        fixed = len(self.list_chunks("a.mp4", "--algorithm", "fixed", "--size", "8K"))
        trace = self.trace_report("first", "listing", "--context", "prune")
        self.assertEqual((trace["applications"], trace["chunk_count"]), (["others", "immutable"], short + fixed))
        (self.folder / "rules").write_text('[class.films]\nextensions = ["mp4"]\nalgorithm = "fixed"\n')
        self.assertEqual(self.trace_report("first", "listing", "--context", "rules")["applications"], ["others", "films"])

    def test_a_wrong_listing_or_context_leaves_the_old_trace(self):
        self.write_files("a.txt")
        self.list_chunks("a.txt")
        self.trace_report("listing")
        before = (self.folder / "trace").read_bytes()
        (self.folder / "rules").write_text("[class.films]\n")
        message = "listing: is a listing, and the trace would be written over it"
        self.assert_refused(message, "trace", "listing", "-o", "listing")
        for words in (("listing", "missing"), ("listing", "--context", "rules"), ("listing", "--context", "prune", "--class", "a")):
            run = self.run_command("trace", *words, "-o", "trace")
            self.assertNotEqual(run.returncode, 0, words)
            self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertEqual((self.folder / "trace").read_bytes(), before)

    def test_a_listing_without_digests_is_refused(self):
        (self.folder / "a").write_bytes(bytes(10))
        subprocess.run(
            [os.environ["CUTPOINT_BIN"], "chunk", "a", "--hash", "none", "-o", "listing"], cwd=self.folder, check=True
        )
        run = self.run_command("trace", "listing", "-o", "trace")
        self.assertEqual(run.returncode, 1)
        self.assertIn("a: the listing has chunks without a fingerprint of at least 8 bytes", run.stderr)


class Evolve(CommandTest):
    def setUp(self):
        super().setUp()
        generator = random.Random(1)
        first = [Chunk(generator.getrandbits(64), 5000) for _ in range(4000)]
        second = [Chunk(generator.getrandbits(64), 5000) if i % 100 < 5 else first[i] for i in range(4000)]
        (self.folder / "trace").write_bytes(trace_bytes([File(0, 0, first), File(0, 0, second)]))

    def evolve(self, *words: str) -> dict:
        run = self.run_command("evolve", "trace", "-o", "evolved", *words)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        simulated = self.run_command("simulate", "evolved", "--policy", "dht", "--json", "-q")
        return json.loads(simulated.stdout)["trace"]

    def test_versions_change_as_those_of_the_real_trace(self):
        trace = self.evolve("--versions", "50")
        self.assertEqual((trace["applications"], trace["file_count"], trace["chunk_count"]), (["synthetic-000"], 50, 200_000))
        self.assertAlmostEqual(trace["unique_bytes"] / 5000, 4000 + 49 * 200, delta=1000)
        run = self.run_command("evolve", "trace", "-o", "evolved", "--versions", "2", "-v")
        self.assertEqual(run.stderr, "cutpoint-cluster: 000: 4000 chunks, of which 5.0000 % change, 5.00 together\n")

    def test_versions_that_change_wholly_are_new(self):
        trace = self.evolve("--versions", "3", "--changed", "100", "--seed", "5")
        self.assertEqual(trace["unique_bytes"], trace["byte_count"])

    def test_what_cannot_be_evolved_is_refused(self):
        before = (self.folder / "trace").read_bytes()
        for message, *words in (
            ("--versions 0: must be between 1 and 1000000", "--versions", "0"),
            ("--changed 101: must be between 0 and 100", "--versions", "2", "--changed", "101"),
            ("trace: is the trace, and would be written over", "--versions", "2", "-o", "trace"),
        ):
            self.assert_refused(message, "evolve", "trace", *words)
        (self.folder / "one").write_bytes(trace_bytes([File(0, 0, [Chunk(1, 5)])]))
        message = "one: the class '000' has one version, so how it changes is not known: give --changed"
        self.assert_refused(message, "evolve", "one", "--versions", "2", "-o", "evolved")
        self.assertEqual((self.folder / "trace").read_bytes(), before)
        self.assertFalse((self.folder / "evolved").exists())
