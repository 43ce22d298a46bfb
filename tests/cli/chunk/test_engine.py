"""Threads, segments and the way of reading change no cut; what a join changes is what it says."""

import itertools
import os
import select
import subprocess
import unittest
from pathlib import Path

from command import PATIENCE, CommandTest, is_waiting, wait_until
from listings import failed_paths, read_jsonl, read_lengths
from streams import MIB, random_bytes

SMALL = ("--algorithm", "gear", "--size", "256:1K:4K")


def mixed_bytes() -> bytes:
    """Random bytes with runs between them, short and long."""
    blocks = []
    for seed, length in enumerate((1, 100_000, 5, 300_000, 70_000)):
        blocks += [random_bytes(150_000 + seed, seed), bytes([seed]) * length]
    return b"".join(blocks) + random_bytes(3000, 99)


class WhatChangesNoCut(CommandTest):
    def setUp(self):
        super().setUp()
        self.content = mixed_bytes()
        self.write("tree/a", self.content)
        self.write("tree/b", b"")
        self.write("tree/c", self.content[:70_000])
        for index in range(30):
            self.write(f"tree/small/{index}", random_bytes(index * 37, index))

    def listing(self, *options, **how):
        run = self.run_command("chunk", *options, **how)
        self.assert_done(run)
        return run.stdout

    def test_threads_and_segments(self):
        for cuts in (SMALL, ("--algorithm", "ae-max", "--size", "1K"), ("--profile", "ronomon"), ("--algorithm", "seqcdc-inc")):
            expected = self.listing(*cuts, "--threads", "1", "tree")
            self.assertGreater(expected.count("\n"), 50)
            for threads, segment in itertools.product("123", ("4K", "5001", "64K", "1M", "1T")):
                listing = self.listing(*cuts, "--threads", threads, "--segment", segment, "tree")
                self.assertEqual(listing, expected, (cuts, threads, segment))

    def test_the_way_of_reading(self):
        options = (*SMALL, "--format", "lengths", "--threads", "3", "--segment", "100K")
        expected = self.listing(*SMALL, "--format", "lengths", "--threads", "1", "tree/a")
        self.assertEqual(self.listing(*options, "-", content=self.content), expected)
        self.assertEqual(self.listing(*options, "/dev/stdin", content=self.content), expected)
        os.mkfifo(self.folder / "fifo")
        process = self.start("chunk", *options, "fifo")
        (self.folder / "fifo").write_bytes(self.content)
        run = self.wait(process)
        self.assert_done(run)
        self.assertEqual(run.stdout, expected)

    def test_the_placement(self):
        expected = self.listing(*SMALL, "--threads", "1", "tree")
        for placement in ("none", "devices", "cores"):
            self.assertEqual(self.listing(*SMALL, "--threads", "2", "--placement", placement, "tree"), expected, placement)

    def test_the_joins_name(self):
        expected = self.listing(*SMALL, "tree")
        self.assertEqual(self.listing(*SMALL, "--join", "exact", "tree"), expected)


class Joins(CommandTest):
    segment = 50_000

    def setUp(self):
        super().setUp()
        self.write("a", random_bytes(10 * self.segment + 123))
        self.exact = self.ends()

    def ends(self, *options):
        run = self.run_command("chunk", *SMALL, "--format", "lengths", "--segment", str(self.segment), *options, "a")
        self.assert_done(run)
        return list(itertools.accumulate(read_lengths(run.stdout)))

    def test_none_cuts_at_the_ends_of_segments(self):
        boundaries = set(range(self.segment, 10 * self.segment + 1, self.segment))
        self.assertFalse(boundaries <= set(self.exact))
        self.assertLessEqual(boundaries, set(self.ends("--join", "none")))

    def test_pdedupe_cuts_nothing_there_but_near_it(self):
        ends = self.ends("--join", "pdedupe")
        self.assertNotEqual(ends, self.exact)
        self.assertEqual(ends[-1], self.exact[-1])
        self.assertLess(len(set(ends) ^ set(self.exact)), len(ends) // 2)

    def test_change_no_cut_in_a_stream_of_one_segment(self):
        self.write("a", random_bytes(self.segment))
        exact = self.ends()
        for join in ("none", "pdedupe"):
            self.assertEqual(self.ends("--join", join), exact)


class FilesThatChange(CommandTest):
    """Read as two states of the file, maybe: a failure of that input, whose chunks stay listed."""

    def test_while_they_are_read_are_told_after_their_chunks(self):
        self.write("a", random_bytes(2_000_000))
        self.write("b", b"after")
        options = ("--algorithm", "fixed", "--size", "10", "--hash", "none", "--memory", "256K", "--format", "jsonl")
        process = self.start("chunk", *options, "-v", "a", "b")
        self.assertTrue(select.select([process.stdout], [], [], PATIENCE)[0], "no output")
        wait_until(lambda: is_waiting(process), "the pipe is full")
        os.utime(self.folder / "a", (1, 1))
        run = self.wait(process)
        self.assert_failed(run, "a: was written to while it was read")
        self.assertIn("1 inputs, 2000005 bytes, 200001 chunks, 1 failed", run.stderr, run)
        self.assertEqual(failed_paths(run.stdout), ["a"])
        rows = read_jsonl(run.stdout).rows
        self.assertEqual([row.path for row in rows], ["a"] * 200_000 + ["b"])
        records = run.lines[1:]
        self.assertIn("error", records[200_000])


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
    """Each names the option, the value and the bound; nothing is read, and no output is made."""

    def setUp(self):
        super().setUp()
        self.write("a")

    def refused(self, *options, told):
        for command in ("chunk", "dedup"):
            run = self.run_command(command, *options, "-o", "out", "a")
            self.assert_refused(run, *told)
            self.assertFalse((self.folder / "out").exists(), run)

    def test_of_threads(self):
        for wrong in ("0", "4097", "99999999999"):
            self.refused("--threads", wrong, told=(f"--threads {wrong}: must be between 1 and 4096",))
        for wrong in ("two", "-1", "", "1.5", "99999999999999999999"):
            self.refused(f"--threads={wrong}", told=("--threads",))

    def test_of_placements(self):
        self.refused("--placement", "core", told=("no placement 'core', did you mean 'cores'?",))
        self.refused("--placement", "zzzzzz", told=("no placement 'zzzzzz'", "none", "devices", "cores"))

    def test_of_segments(self):
        for wrong in ("0", "4095"):
            self.refused("--segment", wrong, told=(f"--segment {wrong}: must be at least 4K",))
        for wrong in ("-1", "1X", "", "99999999999999999999"):
            self.refused(f"--segment={wrong}", told=("--segment",))

    def test_of_joins(self):
        self.refused("--join", "pdedup", told=("no join 'pdedup', did you mean 'pdedupe'?",))
        self.refused("--join", "zzzzzz", told=("no join 'zzzzzz'", "exact", "pdedupe", "none"))

    def test_of_segments_too_short_for_a_join(self):
        for join in ("none", "pdedupe"):
            self.refused("--join", join, "--segment", "128K", told=("segment = 131072", join, "131072"))

    def test_of_joins_without_a_maximum(self):
        unbounded = ("--algorithm", "rabin", "--size", "2K:8K:0")
        self.refused(*unbounded, "--join", "none", told=("join none", "maximum"))


class LongRuns(CommandTest):
    """Runs are counted, not cut: in no time, however long, and as the sequential algorithm does."""

    def test_of_a_sparse_file_are_what_arithmetic_says(self):
        size = 10 << 30
        with open(self.folder / "sparse", "wb") as file:
            file.truncate(size + 5)
        for threads in "12":
            lengths = read_lengths(self.run_command("chunk", "--threads", threads, "--format", "lengths", "sparse").stdout)
            self.assertEqual(lengths, [65536] * (size // 65536) + [5])

    def test_come_out_while_they_go_on(self):
        process = self.start("chunk", "--format", "jsonl", "/dev/zero")
        self.assertEqual(len(read_jsonl(b"".join(process.stdout.readline() for _ in range(3000)).decode()).rows), 2999)

    def test_between_other_bytes_are_cut_as_the_same_bytes_in_pieces(self):
        content = random_bytes(10_000) + bytes(3 * MIB) + random_bytes(10_000, 2) + b"x" * MIB + random_bytes(50, 3)
        self.write("a", content)
        whole = self.run_command("chunk", *SMALL, "a").stdout
        self.assertEqual(self.run_command("chunk", *SMALL, "--memory", "20000", "a").stdout, whole)
