"""`--trace FILE`: a timeline in Chrome's trace event format, whole whatever becomes of the run."""

import json
import os
import signal
import subprocess
from collections import defaultdict

from command import (
    INTERRUPTED, PATIENCE, CommandTest, faulty_reads, has_read_all, is_waiting, needs_faulty_reads,
    wait_until,
)
from schemas import needs_jsonschema, problems_in
from streams import random_bytes

STAGES = ("reading", "intake", "chunking", "joining", "fingerprinting", "delivery")
QUEUES = {"held bytes", "segments to map", "bytes to fingerprint", "bytes to deliver"}
MANY_SPANS = ("--algorithm", "gear", "--size", "256:1K:4K", "--segment", "64K")
CLOCK_ERROR = 0.0015  # microseconds: times are rounded to the nanosecond


class Trace(CommandTest):
    def events(self, name="trace") -> list[dict]:
        events = json.loads((self.folder / name).read_text(encoding="utf-8"))
        self.assertEqual(problems_in("trace", events), [])
        self.assertLessEqual({event["name"] for event in events if event["ph"] == "X"}, set(STAGES))
        return events

    def spans(self, events) -> dict:
        """By process and thread."""
        lanes = defaultdict(list)
        for event in events:
            if event["ph"] == "X":
                lanes[event["pid"], event["tid"]].append(event)
        return lanes

    def assert_no_overlap(self, events):
        for spans in self.spans(events).values():
            spans.sort(key=lambda span: span["ts"])
            for before, after in zip(spans, spans[1:]):
                self.assertLessEqual(before["ts"] + before["dur"], after["ts"] + CLOCK_ERROR)

    def traced(self, *arguments, **how):
        run = self.run_command(*arguments, "--trace", "trace", **how)
        self.assert_done(run)
        return run


@needs_jsonschema
class Lanes(Trace):
    def setUp(self):
        super().setUp()
        self.write("tree/a", random_bytes(1_500_000))
        self.write("tree/b", random_bytes(700_000, 2))
        for index in range(30):
            self.write(f"tree/small/{index}", random_bytes(1000, index))

    def test_sum_up_to_what_the_report_says(self):
        for more in ((), ("--join", "pdedupe")):
            with self.subTest(more):
                report = self.traced("dedup", "--json", *MANY_SPANS, "--threads", "3", *more, "tree").json()
                events = self.events()
                self.assert_no_overlap(events)
                sums = defaultdict(float)
                for (_, lane), spans in self.spans(events).items():
                    for span in spans:
                        sums[lane, span["name"]] += span["dur"] / 1e6
                for lane in report["lanes"]:
                    for stage in STAGES:
                        self.assertAlmostEqual(sums[lane["lane"], stage], lane[f"{stage}_seconds"], delta=1e-5)
                bytes_of = defaultdict(int)
                for spans in self.spans(events).values():
                    for span in spans:
                        bytes_of[span["name"]] += span["args"]["bytes"]
                self.assertEqual(bytes_of, {stage["stage"]: stage["bytes"] for stage in report["stages"]})

    def test_are_named_and_so_is_the_process(self):
        report = self.traced("dedup", "--json", "--threads", "2", "tree").json()
        names = {(e["name"], e["tid"]): e["args"]["name"] for e in self.events() if e["name"].endswith("_name")}
        lanes = {("thread_name", lane["lane"]): lane["name"] for lane in report["lanes"]}
        self.assertEqual(names, {("process_name", 0): "cutpoint dedup", **lanes})
        self.assertEqual(lanes["thread_name", 1], "processor 1")

    def test_of_chunk_are_traced_too_and_nothing_that_comes_out_changes(self):
        words = ("chunk", *MANY_SPANS, "tree")
        self.assertEqual(self.traced(*words).stdout, self.run_command(*words).stdout)
        self.assertEqual({e["args"]["name"] for e in self.events() if e["name"] == "process_name"}, {"cutpoint chunk"})
        levels = [event for event in self.events() if event["ph"] == "C"]
        self.assertEqual({event["name"] for event in levels}, QUEUES)
        last = {event["name"]: event["args"]["value"] for event in sorted(levels, key=lambda event: event["ts"])}
        self.assertEqual(set(last.values()), {0}, "queues end empty")
        self.assertGreater(max(event["args"]["value"] for event in levels if event["name"] == "held bytes"), 0)

    def test_of_the_engines_benchmark_have_a_process_for_each_side_of_each_job(self):
        run = self.run_command("bench", "--engine", "--cpu", "-q", "--bytes", "64K", "--rounds", "1", "--algorithm", "gear",
                               "--hash", "md5", "--hash", "sha1", "--trace", "trace")
        self.assert_done(run)
        events = self.events()
        self.assert_no_overlap(events)
        names = [event["args"]["name"] for event in events if event["name"] == "process_name"]
        self.assertEqual(names, [f"gear 2K:8K:64K {name}, processor" for name in ("md5", "sha1")])


@needs_jsonschema
class Wholeness(Trace):
    def test_of_a_run_without_inputs_is_an_empty_timeline(self):
        os.mkdir(self.folder / "empty")
        self.traced("dedup", "empty")
        self.assertEqual([event for event in self.events() if event["ph"] == "X" and event["name"] == "chunking"], [])

    def test_survives_an_interruption(self):
        process = self.start("dedup", "--trace", "trace", "-", stdin=subprocess.PIPE)
        os.write(process.stdin.fileno(), random_bytes(60_000))
        wait_until(lambda: has_read_all(process) and is_waiting(process), "the run waits")
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
        self.assertEqual(self.wait(process).code, INTERRUPTED)
        self.assertIn("reading", {event["name"] for event in self.events()})

    @needs_faulty_reads
    def test_survives_an_input_that_fails(self):
        self.write("bad", random_bytes(3_000_000))
        self.write("good", random_bytes(100_000))
        run = self.run_command("dedup", "--trace", "trace", "bad", "good", "missing",
                               env=faulty_reads("bad", 2_000_000))
        self.assert_failed(run, "bad", "missing")
        self.assert_no_overlap(self.events())

    def test_survives_a_run_that_ends_for_want_of_memory(self):
        self.write("a", bytes(100) + random_bytes(9_000_000))
        run = self.run_command("dedup", "--trace", "trace", "--algorithm", "gear", "--size", "64:1G:0", "--memory", "4M", "a")
        self.assert_failed(run, "outgrows the memory")
        self.events()

    def test_takes_the_place_of_an_older_and_longer_one(self):
        self.write("trace", b"x" * 1_000_000)
        self.write("a")
        self.traced("dedup", "a")
        self.assertLess(len((self.folder / "trace").read_bytes()), 100_000)
        self.events()


@needs_jsonschema
class Refusal(Trace):
    def test_of_a_file_that_cannot_be_written(self):
        self.write("a")
        self.assert_failed(self.run_command("dedup", "--trace", "missing/trace", "a"), "missing/trace")
        self.assert_refused(self.run_command("dedup", "--trace=", "a"), "--trace")

    def test_of_an_output_that_is_full_comes_at_the_end(self):
        self.write("a", random_bytes(1_000_000))
        run = self.run_command("dedup", "--json", "--trace", "/dev/full", *MANY_SPANS, "a")
        self.assert_failed(run, "/dev/full: cannot be written: No space left on device")
        self.assertEqual(run.json()["result"]["bytes"], 1_000_000)

    def test_of_what_is_read_or_written_otherwise(self):
        content = random_bytes(5000)
        self.write("a", content)
        for command in ("chunk", "dedup"):
            for paths in ("a", "."):
                self.assert_refused(self.run_command(command, "--trace", "a", paths), "a: is an input, and the trace")
            self.assert_refused(self.run_command(command, "--trace", "out", "-o", "out", "a"), "out")
        self.assertEqual((self.folder / "a").read_bytes(), content)
        self.assert_refused(self.run_command("bench", "--data", "a", "--trace", "a", "--rounds", "1"), "the trace")

    def test_of_a_trace_inside_a_folder_is_to_read_it(self):
        self.write("tree/a", random_bytes(5000))
        for _ in range(2):
            run = self.run_command("dedup", "--json", "--trace", "tree/trace", "tree")
            self.assertIn("tree/trace: skipped", run.stderr)
            self.assertEqual(run.json()["result"]["bytes"], 5000)
            self.events("tree/trace")

    def test_where_no_lane_works(self):
        self.assert_refused(self.run_command("bench", "--kernels", "--trace", "t", "--rounds", "1"), "--trace")
