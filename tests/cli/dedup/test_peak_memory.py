"""A stream of any length passes through bounded memory, as the kernel counts it."""

import subprocess
import unittest

from command import DONE, IS_SANITIZED, CommandTest, is_waiting, status_of, wait_until
from listings import read_lengths
from streams import MIB, random_bytes

KIB = 1 << 10

# What a run takes for itself, whatever it reads: buffers of the listing, the heap's grain.
CONSTANT = 4 * MIB


@unittest.skipIf(IS_SANITIZED, "a sanitizer's memory is not the command's")
class PeakMemory(CommandTest):
    """`VmHWM` of a command that waits for more of its standard input, having read all that was sent."""

    def peak(self, arguments, blocks):
        """The run's peak in bytes, and what it came to."""
        options = ("--format", "lengths", "-o", "listing", *arguments)  # a pipe would fill up
        process = self.start("chunk", *options, "-", stdin=subprocess.PIPE)
        for block in blocks:
            process.stdin.write(block)
        process.stdin.flush()
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

    def test_of_zeros_through_a_pipe_is_a_few_buffers(self):
        peak, run = self.peak(("--threads", "2"), (bytes(MIB) for _ in range(256)))
        self.assert_done(run)
        self.assertEqual(sum(read_lengths(run.stdout)), 256 * MIB)
        self.assertLess(peak - self.least, 4 * 2 * MIB + CONSTANT)

    def test_is_bounded_for_every_content(self):
        """Two segments, and one for each thread: 2 MiB, or as much as is said."""
        block = random_bytes(MIB)
        for arguments, threads, segment_bytes in (
            (("--algorithm", "ae-max"), 1, MIB),
            (("--algorithm", "maxp"), 2, 2 * MIB),
            (("--profile", "ronomon", "--segment", "64K"), 2, 64 * KIB),
        ):
            peak, run = self.peak((*arguments, "--threads", str(threads)), (block[i:] + block[:i] for i in range(48)))
            self.assertEqual(run.code, DONE)
            self.assertLess(peak - self.least, (threads + 2) * segment_bytes + 2 * CONSTANT, arguments)

    def test_grows_with_what_a_cut_depends_on_up_to_the_limit_that_is_given(self):
        """Zeros are no cut-point of rabin, so that the stream is one chunk there, as long as it may be."""
        unlimited = ("--algorithm", "rabin", "--size", "2K:8K:0", "--memory", "64M")
        for arguments, most in (
            (("--profile", "restic"), 3 * 8 * MIB),
            (("--profile", "restic", "--memory", "8M"), 8 * MIB),
            (unlimited, 64 * MIB),
        ):
            peak, run = self.peak(arguments, (bytes(MIB) for _ in range(64)))
            self.assertEqual(run.code, DONE)
            self.assertEqual(sum(read_lengths(run.stdout)), 64 * MIB)
            self.assertLess(peak - self.least, most + CONSTANT, arguments)
