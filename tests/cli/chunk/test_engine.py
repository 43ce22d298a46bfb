"""Options of the engine reach it: threads, segments, joins, memory, placement, the way of reading. Only joins may change a cut."""

import os
import subprocess
import unittest
from pathlib import Path

from command import CommandTest, wait_until
from listings import read_jsonl, read_lengths
from streams import MIB, random_bytes

SMALL = ("--algorithm", "gear", "--size", "256:1K:4K")
UNBOUNDED = ("--algorithm", "rabin", "--size", "2K:8K:0", "--format", "lengths")


class WhatChangesNoCut(CommandTest):
    def test_is_everything_but_a_join(self):
        self.write("tree/a", random_bytes(700_000) + bytes(100_000) + random_bytes(3000, 99))
        self.write("tree/b", b"")
        for index in range(30):
            self.write(f"tree/small/{index}", random_bytes(index * 37, index))
        for cuts in (SMALL, ("--algorithm", "ae-max", "--size", "1K"), ("--profile", "ronomon"), ("--algorithm", "seqcdc-inc")):
            expected = self.run_command("chunk", *cuts, "--threads", "1", "tree").stdout
            self.assertGreater(expected.count("\n"), 50)
            for options in (
                ("--threads", "2", "--segment", "4K"), ("--threads", "3", "--segment", "5001"), ("--segment", "1T"), ("--join", "exact"),
                ("--memory", "1M", "--segment", "64K"), ("--placement", "devices"), ("--threads", "2", "--placement", "cores"),
            ):  # fmt: skip
                run = self.run_command("chunk", *cuts, *options, "tree")
                self.assert_done(run)
                self.assertEqual(run.stdout, expected, (cuts, options))


class Memory(CommandTest):
    def test_that_a_cut_does_not_fit_in_is_refused(self):
        self.write("a", b"content")
        for memory in ("0", "65535"):
            run = self.run_command("chunk", "--memory", memory, "--format", "lengths", "a", "-", content=b"more")
            self.assert_refused(run, "depends on 65536 bytes, more than the memory allowed", "--memory")

    def test_that_a_chunk_outgrows_is_told_and_the_rest_is_done(self):
        self.write("a", random_bytes(100_000) + bytes(2 * MIB))
        self.write("b", b"fits")
        expected = read_lengths(self.run_command("chunk", *UNBOUNDED, "a", "b").stdout)
        run = self.run_command("chunk", *UNBOUNDED, "--memory", "1M", "a", "b")
        lengths = read_lengths(run.stdout)
        self.assertEqual(lengths, expected[:-2] + [4])
        self.assert_failed(run, f"a: the chunk at offset {sum(lengths[:-1])} outgrows the memory allowed, 1M: give a maximum")

    def test_that_a_chunk_outgrows_does_not_wait_for_the_end(self):
        self.assert_failed(self.run_command("chunk", *UNBOUNDED, "--memory", "1M", "/dev/zero"), "/dev/zero: the chunk at offset 0")


class EndlessRuns(CommandTest):
    def test_come_out_while_they_go_on(self):
        process = self.start("chunk", "--format", "jsonl", "/dev/zero")
        self.assertEqual(len(read_jsonl(b"".join(process.stdout.readline() for _ in range(3000)).decode()).rows), 2999)


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one processor: a thread has no other")
class Placement(CommandTest):
    def affinities(self, placement):
        """The processors of each thread of a run that waits for its input."""
        process = self.start("chunk", "--threads", "2", "--placement", placement, "-", stdin=subprocess.PIPE)
        tasks = Path(f"/proc/{process.pid}/task")
        wait_until(
            lambda: ["\nState:\tS" in (task / "status").read_text() for task in tasks.iterdir()].count(True) > 1,
            "both threads wait",
        )
        threads = [os.sched_getaffinity(int(task.name)) for task in tasks.iterdir()]
        self.assert_done(self.wait(process))
        return threads

    def test_on_cores_binds_a_thread_that_works_and_else_none(self):
        usable = os.sched_getaffinity(0)
        for placement in ("none", "devices"):
            self.assertTrue(all(each == usable for each in self.affinities(placement)), placement)
        bound = [each for each in self.affinities("cores") if each != usable]
        self.assertEqual([len(each) for each in bound], [1])
        self.assertLess(bound[0], usable)


class WrongValues(CommandTest):
    def test_are_named_with_their_bounds_and_nothing_is_written(self):
        self.write("a")
        for options, told in (
            *((("--threads", wrong), f"--threads {wrong}: must be between 1 and 4096") for wrong in ("0", "4097", "99999999999")),
            *(((f"--threads={wrong}",), "--threads") for wrong in ("two", "-1", "", "1.5", "99999999999999999999")),
            (("--placement", "core"), "no placement 'core', did you mean 'cores'?"),
            (("--placement", "zzzzzz"), "no placement 'zzzzzz'; there are none, devices"),
            *((("--segment", wrong), f"--segment {wrong}: must be at least 4K") for wrong in ("0", "4095")),
            *(((f"--segment={wrong}",), "--segment") for wrong in ("-1", "1X", "", "99999999999999999999")),
            (("--join", "pdedup"), "no join 'pdedup', did you mean 'pdedupe'?"),
            (("--join", "zzzzzz"), "no join 'zzzzzz'; there are exact"),
            *((("--join", join, "--segment", "128K"), "segment = 131072") for join in ("none", "pdedupe")),
            (("--algorithm", "rabin", "--size", "2K:8K:0", "--join", "none"), "join none"),
        ):
            for command in ("chunk", "dedup"):
                run = self.run_command(command, *options, "-o", "out", "a")
                self.assert_refused(run, told)
                self.assertFalse((self.folder / "out").exists(), run)
