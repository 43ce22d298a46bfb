"""A stream of any length passes through bounded memory, as the kernel counts it."""

import os
import subprocess
import unittest

from command import DONE, IS_SANITIZED, CommandTest, has_linux_proc, is_waiting, status_of, wait_until
from listings import read_lengths
from streams import MIB, random_bytes

KIB = 1 << 10

# What a run takes for itself, whatever it reads: buffers of the listing, the heap's grain.
CONSTANT = 4 * MIB


@unittest.skipIf(IS_SANITIZED, "a sanitizer's memory is not the command's")
@unittest.skipUnless(has_linux_proc(), "needs Linux's /proc")
class PeakMemory(CommandTest):
    """`VmHWM` of a command that waits for more of its standard input, having read all that was sent."""

    def peak(self, arguments, blocks):
        """The run's peak in bytes, and what it came to."""
        options = ("--format", "lengths", "-o", "listing", *arguments)  # a pipe would fill up
        process = self.start("chunk", *options, "-", stdin=subprocess.PIPE)
        pipe = process.stdin.fileno()
        try:
            for block in blocks:
                rest = memoryview(block)
                while rest:
                    rest = rest[os.write(pipe, rest) :]
        except BrokenPipeError:
            pass  # it failed, as its outcome will tell
        peak = 0

        def has_read_all():
            nonlocal peak
            if process.poll() is not None:
                return True
            peak = int(status_of(process).get("VmHWM", "0 kB").split()[0]) * KIB
            return is_waiting(process)

        wait_until(has_read_all, "all is read")
        run = self.wait(process)
        run.stdout = (self.folder / "listing").read_text(encoding="ascii")
        return peak, run

    def setUp(self):
        super().setUp()
        self.least, run = self.peak((), [b"1"])
        self.assert_done(run)
        self.assertGreater(self.least, 0)

    def test_of_a_gibibyte_through_a_pipe_is_a_few_buffers(self):
        block = bytes(MIB)
        peak, run = self.peak(("--threads", "2"), (block for _ in range(1024)))
        self.assert_done(run)
        self.assertEqual(sum(read_lengths(run.stdout)), 1024 * MIB)
        self.assertLess(peak - self.least, 4 * 2 * MIB + CONSTANT)

    def test_is_bounded_for_every_content(self):
        """Two segments, and one for each thread: 2 MiB, or as much as is said."""
        block = random_bytes(MIB)
        for arguments in (("--algorithm", "ae-max"), ("--algorithm", "maxp"), ("--profile", "ronomon")):
            for threads, segment, segment_bytes in ((1, (), MIB), (2, (), 2 * MIB), (2, ("--segment", "64K"), 64 * KIB)):
                options = (*arguments, "--threads", str(threads), *segment)
                peak, run = self.peak(options, (block[i:] + block[:i] for i in range(64)))
                self.assertEqual(run.code, DONE)
                self.assertLess(peak - self.least, (threads + 2) * segment_bytes + 2 * CONSTANT, options)

    def test_grows_with_what_a_cut_depends_on(self):
        peak, run = self.peak(("--profile", "restic"), (bytes(MIB) for _ in range(64)))
        self.assertEqual(run.code, DONE)
        self.assertLess(peak - self.least, 3 * 8 * MIB + CONSTANT)

    def test_keeps_to_the_limit_that_is_given(self):
        peak, run = self.peak(("--profile", "restic", "--memory", "8M"), (bytes(MIB) for _ in range(64)))
        self.assertEqual(run.code, DONE)
        self.assertLess(peak - self.least, 8 * MIB + CONSTANT)

    def test_keeps_to_the_limit_where_chunks_have_no_maximum(self):
        """Zeros are no cut-point of rabin, so that the stream is one chunk, here as long as it may be."""
        unlimited = ("--algorithm", "rabin", "--size", "2K:8K:0", "--memory", "64M")
        peak, run = self.peak(unlimited, (bytes(MIB) for _ in range(64)))
        self.assertEqual((run.code, run.stdout), (DONE, f"{64 * MIB}\n"))
        self.assertLess(peak - self.least, 64 * MIB + CONSTANT)
