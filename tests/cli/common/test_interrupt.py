"""Ctrl-C: the run stops, what was cut is written in whole lines, and the exit code says so."""

import json
import os
import select
import signal
import subprocess
import tempfile
import threading
from pathlib import Path

from command import (
    INTERRUPTED, IS_SANITIZED, PATIENCE, CommandTest, handles, has_read_all, is_waiting, unread_bytes, wait_until,
)
from listings import read_jsonl, read_text
from streams import random_bytes


def cpu_seconds_of(process) -> float:
    """Seconds of processor time that the process has used so far."""
    fields = Path("/proc", str(process.pid), "stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Interrupt(CommandTest):
    def start_waiting(self, *arguments, **how):
        """A run that stands still in a system call, with its handlers in place."""
        process = self.start(*arguments, **how)
        wait_until(lambda: handles(process, signal.SIGINT) and is_waiting(process), "the run waits")
        return process

    def assert_interrupted(self, process, inputs=0):
        if process.stdin is not None:
            process.wait(PATIENCE)  # though its input is still open: a listing that fits in the pipe
        run = self.wait(process)
        self.assert_failed(run, f"interrupted after {inputs} whole input{'s' * (inputs != 1)}", code=INTERRUPTED)
        self.assertEqual(len(run.stderr.splitlines()), 1, run)
        return run

    def test_ends_a_run_that_waits_for_a_slow_pipe(self):
        content = random_bytes(30_000)
        whole = read_text(self.run_command("chunk", "-", content=content).stdout).rows
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start("chunk", "-", stdin=subprocess.PIPE)
            os.write(process.stdin.fileno(), content)
            wait_until(lambda: has_read_all(process) and is_waiting(process), "the run waits")
            process.send_signal(number)
            rows = read_text(self.assert_interrupted(process).stdout).rows
            self.assertEqual(rows, whole[: len(rows)])

    def test_ends_a_run_in_the_middle_of_a_segment(self):
        """Each chunk of a few bytes hashes a window of 178,904 bytes, so that a segment takes minutes."""
        self.write("long", random_bytes(4_000_000))
        cuts = "borg1(min_exp=2,max_exp=20,mask_bits=2,window=178904)"
        cutting = 10 if IS_SANITIZED else 0.3  # seconds of processor time, after the back end is chosen
        for command, threads in (("chunk", "2"), ("dedup", "1")):
            process = self.start(command, "--threads", threads, "--cuts", cuts, "long")
            wait_until(lambda: handles(process, signal.SIGINT) and cpu_seconds_of(process) > cutting, "the run cuts")
            process.send_signal(signal.SIGINT)
            process.wait(10)
            run = self.assert_interrupted(process)
            if command == "dedup":
                self.assertIn("the report covers a part of what was read", run.stderr)

    def test_keeps_the_chunks_and_inputs_that_were_done(self):
        content = random_bytes(1_000_000)
        self.write("a", content)
        whole = read_jsonl(self.run_command("chunk", "--format", "jsonl", "a").stdout).rows
        process = self.start("chunk", "--format", "jsonl", "a", "-", "a", stdin=subprocess.PIPE)
        process.stdin.write(content)
        process.stdin.flush()
        wait_until(lambda: has_read_all(process) and is_waiting(process), "the run waits")
        process.send_signal(signal.SIGINT)
        rows = read_jsonl(self.assert_interrupted(process, inputs=1).stdout).rows
        self.assertEqual(rows[: len(whole)], whole)
        cut = [row._replace(path="a") for row in rows[len(whole) :]]
        self.assertGreater(len(cut), 10)
        self.assertEqual(cut, whole[: len(cut)])

    def test_ends_a_run_that_waits_for_a_fifos_writer(self):
        os.mkfifo(self.folder / "fifo")
        process = self.start_waiting("chunk", "fifo")
        process.send_signal(signal.SIGINT)
        self.assertEqual(len(self.assert_interrupted(process).lines), 2)

    def test_ends_a_run_over_an_endless_device_between_lines(self):
        for device in ("/dev/zero", "/dev/urandom"):
            with tempfile.TemporaryFile() as listing:
                process = self.start("chunk", "--format", "jsonl", device, stdout=listing)
                wait_until(lambda: os.fstat(listing.fileno()).st_size > 100_000, "some output")
                process.send_signal(signal.SIGINT)
                self.assert_interrupted(process)
                listing.seek(0)
                text = listing.read().decode("ascii")
            self.assertTrue(text.endswith("\n"))
            reached = 0
            for row in read_jsonl(text).rows:  # every line is whole
                self.assertEqual((row.path, row.offset), (device, reached))
                reached += row.length

    def test_waits_until_a_blocked_output_has_taken_whole_lines(self):
        process = self.start("chunk", "--format", "jsonl", "--memory", "2M", "/dev/zero")
        self.assertTrue(select.select([process.stdout], [], [], PATIENCE)[0], "no output")
        wait_until(lambda: is_waiting(process), "the pipe is full")
        process.send_signal(signal.SIGINT)
        self.assertTrue(read_jsonl(self.assert_interrupted(process).stdout).rows)

    def test_says_no_word_of_results_that_could_not_be_written(self):
        with open("/dev/full", "wb") as full:
            process = self.start_waiting("chunk", "-", stdin=subprocess.PIPE, stdout=full)
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
        run = self.wait(process)
        self.assertIn("standard output: cannot be written: No space left on device", run.stderr, run)
        self.assertNotIn("is written", run.stderr, run)

    def test_ends_a_run_whose_output_nobody_takes(self):
        os.mkfifo(self.folder / "fifo")
        self.write("data", b"x" * 1_000_000)
        self.assert_done(self.run_command("init", "--store", "store", "--encryption", "none"))
        self.assert_done(self.run_command("backup", "data", "--store", "store"))
        dump = ("dump", f"latest:{self.folder}/data", "--store", "store")
        chunk = ("chunk", "--memory", "2M", "/dev/zero")
        fifo = os.open(self.folder / "fifo", os.O_RDWR)
        self.addCleanup(os.close, fifo)
        to_fifo = (*chunk, "-o", "fifo")
        for number, words in ((signal.SIGINT, chunk), (signal.SIGTERM, chunk), (signal.SIGINT, dump), (signal.SIGINT, to_fifo)):
            process = self.start(*words)
            pipe = fifo if words == to_fifo else process.stdout.fileno()
            wait_until(lambda: handles(process, number) and unread_bytes(pipe) > 60_000 and is_waiting(process), "the pipe is full")
            process.send_signal(number)
            self.assertEqual(process.wait(PATIENCE), INTERRUPTED, words)
            self.assertIn(b"interrupted, and nobody takes the rest", process.stderr.read())

    def test_given_twice_ends_a_run_whose_output_nobody_takes(self):
        process = self.start("chunk", "--memory", "2M", "/dev/zero")
        self.assertTrue(select.select([process.stdout], [], [], PATIENCE)[0], "no output")
        wait_until(lambda: is_waiting(process), "the pipe is full")
        process.send_signal(signal.SIGINT)
        wait_until(lambda: not handles(process, signal.SIGINT), "the first is seen")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), -signal.SIGINT)

    def test_reaches_a_run_while_others_wait_for_it(self):
        """As Ctrl-C does: every process of the pipeline gets the signal."""
        process = self.start_waiting("chunk", "-", stdin=subprocess.PIPE, start_new_session=True)
        killer = threading.Timer(0.01, os.killpg, (process.pid, signal.SIGINT))
        killer.start()
        self.addCleanup(killer.join)
        self.assert_interrupted(process)

    def test_stays_ignored_where_it_was_ignored_from_the_start(self):
        """A shell starts background jobs so: Ctrl-C is not meant for them."""
        process = self.start("chunk", "--format", "lengths", "-", stdin=subprocess.PIPE, preexec_fn=ignore_interrupts)
        process.stdin.write(b"12345")
        process.stdin.flush()
        wait_until(lambda: handles(process, signal.SIGTERM) and is_waiting(process), "the run waits")
        process.send_signal(signal.SIGINT)
        process.stdin.write(b"678")
        run = self.wait(process)
        self.assert_done(run)
        self.assertEqual(run.stdout, "8\n")

    def test_ends_a_benchmark_with_the_rows_that_were_measured(self):
        process = self.start("bench", "-q", "--json", "--bytes", "64K", "--rounds", "1000", "--hash", "md5")
        wait_until(lambda: handles(process, signal.SIGINT), "the run measures")
        process.send_signal(signal.SIGINT)
        run = self.wait(process)
        self.assert_failed(run, "interrupted", code=INTERRUPTED)
        self.assertIs(json.loads(run.stdout)["interrupted"], True)


def ignore_interrupts():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
