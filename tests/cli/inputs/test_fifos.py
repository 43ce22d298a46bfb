"""A FIFO is waited for while somebody may come, and not for ever: the run goes on to its other inputs."""

import os
import threading
import time

from command import CommandTest
from listings import failed_paths, read_jsonl

CHUNK = ("chunk", "--format", "jsonl", "--hash", "none")

# Seconds that a FIFO may be without a writer.
WRITER_WAIT = 10


class Fifo(CommandTest):
    def setUp(self):
        super().setUp()
        os.mkfifo(self.folder / "fifo")
        self.write("a", b"before")
        self.write("z", b"after")

    def test_without_a_writer_is_named_in_the_end_and_the_others_are_done(self):
        begin = time.monotonic()
        run = self.run_command(*CHUNK, "a", "fifo", "z")
        self.assertGreaterEqual(time.monotonic() - begin, WRITER_WAIT)
        self.assert_failed(run, f"fifo: FIFO without a writer for {WRITER_WAIT} s")
        self.assertEqual(len(run.stderr.splitlines()), 1, run)
        self.assertEqual(failed_paths(run.stdout), ["fifo"], run)
        self.assertEqual([row.path for row in read_jsonl(run.stdout).rows], ["a", "z"], run)

    def test_is_waited_for_until_its_writer_comes_and_then_until_it_goes(self):
        def write_late():
            time.sleep(0.3)
            with open(self.folder / "fifo", "wb", buffering=0) as fifo:
                time.sleep(0.3)
                fifo.write(b"12345678")

        writer = threading.Thread(target=write_late)
        writer.start()
        self.addCleanup(writer.join)
        run = self.run_command(*CHUNK, "a", "fifo", "z")
        self.assert_done(run)
        self.assertEqual([(row.path, row.length) for row in read_jsonl(run.stdout).rows][1], ("fifo", 8))

    def test_whose_writer_writes_nothing_is_empty(self):
        threading.Thread(target=lambda: open(self.folder / "fifo", "wb").close()).start()
        run = self.run_command(*CHUNK, "a", "fifo", "z")
        self.assert_done(run)
        self.assertEqual([row.path for row in read_jsonl(run.stdout).rows], ["a", "z"])
