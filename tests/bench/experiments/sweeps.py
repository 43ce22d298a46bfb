"""What the tests of sweeps share: a folder with data and a sweep's file, runs of it, and the rows that came of them."""

import contextlib
import os
import random
import signal
import sqlite3
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

from programs import BINARY, run_here

from experiments.sweep.__main__ import main
from experiments.sweep.command import Command, Failed

SMALL = """
[datasets.a]
path = "a"
[datasets.b]
path = ["b1", "b2"]
[[cells]]
group = "savings"
algorithms = ["gear", "seqcdc-inc"]
sizes = ["4K", "8K"]
[[cells]]
group = "parameters"
datasets = ["b"]
algorithms = ["seqcdc-inc"]
sizes = ["8K"]
rounds = 3
[cells.grid]
seq_length = [4, 5]
skip_size = [256, 320]
"""
SMALL_COUNT = 2 * 2 * 2 + 4


ANSWERS: dict[tuple, str | Failed] = {}
run_command = Command.run


def remembered(command: Command, *words: str) -> str:
    """What the command prints. What it says of itself, or of options without an input, it is asked once, as each sweep asks it anew."""
    if words[0] not in ("list", "info") and words[-1] != os.devnull:
        return run_command(command, *words)
    key = (command.key, words)
    if key not in ANSWERS:
        try:
            ANSWERS[key] = run_command(command, *words)
        except Failed as failed:
            ANSWERS[key] = failed
    if isinstance(ANSWERS[key], Failed):
        raise ANSWERS[key]
    return ANSWERS[key]


class SweepTest(unittest.TestCase):
    """A test in a folder with two data sets: `a`, random bytes, and `b`, two files that share most of theirs."""

    maxDiff = 4000
    results_of: dict[str, bytes] = {}  # of sweeps that were run to their end, by their text

    def setUp(self):
        self.enterContext(unittest.mock.patch.object(Command, "run", remembered))
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="cutpoint-sweep-")))
        drawn = random.Random(8)
        (self.folder / "a").write_bytes(drawn.randbytes(300_000))
        shared = drawn.randbytes(200_000)
        (self.folder / "b1").write_bytes(shared)
        (self.folder / "b2").write_bytes(shared[:70_000] + b"changed" + shared[70_000:])

    @property
    def results(self) -> Path:
        return self.folder / "results.sqlite"

    def begin_with(self, text: str) -> None:
        """Copies the results of a sweep to this test, as if it had run it. Each sweep is run once for all tests."""
        if text not in self.results_of:
            self.sweep(text)
            self.results_of[text] = self.results.read_bytes()
        self.results.write_bytes(self.results_of[text])

    def words(self, text: str, *more: str, binary: Path = BINARY) -> list[str]:
        """The words of this sweep."""
        file = self.folder / "small.toml"
        file.write_text(text)
        options = ["--results", str(self.results), "--data", str(self.folder / "data"), "--command", str(binary)]
        end = [] if "--report" in more else ["--no-report"]
        return [str(file), *options, *end, *more]

    def sweep(self, text: str, *more: str, code: int = 0, binary: Path = BINARY) -> str:
        """Runs it to its end; what it said on standard error."""
        run = run_here(main, *self.words(text, *more, binary=binary))
        self.assertEqual(run.returncode, code, run.stderr)
        return run.stderr

    def begun(self, text: str, binary: Path) -> int:
        """Begins it in a process of its own, a copy of this one; its number."""
        words = self.words(text, binary=binary)
        if process := os.fork():
            return process
        os._exit(run_here(main, *words).returncode)

    def killed(self, text: str, seconds: float, binary: Path = BINARY) -> int:
        """Runs it for so long at most; its exit code."""
        process, until = self.begun(text, binary), time.monotonic() + seconds
        while (ended := os.waitpid(process, os.WNOHANG))[0] == 0 and time.monotonic() < until:
            time.sleep(0.01)
        if ended[0] == 0:
            os.kill(process, signal.SIGKILL)
            ended = os.waitpid(process, 0)
        return os.waitstatus_to_exitcode(ended[1])

    def interrupted(self, text: str, binary: Path) -> int:
        """Runs it until there is a result, and interrupts it then; its exit code."""
        process = self.begun(text, binary)
        while not self.has_rows() and os.waitpid(process, os.WNOHANG)[0] == 0:
            time.sleep(0.05)
        os.kill(process, signal.SIGINT)
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

    def has_rows(self) -> bool:
        try:
            return self.results.exists() and bool(self.select("select 1 from rows limit 1"))
        except sqlite3.OperationalError:  # it has no tables yet
            return False

    def select(self, query: str) -> list[tuple]:
        with contextlib.closing(sqlite3.connect(self.results)) as file:
            return file.execute(query).fetchall()

    def cuts(self) -> list[tuple]:
        """All of the results that neither time nor machine decides."""
        return self.select(
            "select grp, dataset, algorithm, size, parameters, bytes, chunk_count, mean_bytes, unique_bytes, savings, key from rows order by 1, 2, 3, 4, 5"
        )

    def disguise(self, shell: str) -> Path:
        """A command that does what these lines of shell say, and for the rest what the real one does."""
        fake = self.folder / "cutpoint"
        fake.write_text(f'#!/bin/bash\n{shell}\nexec "{BINARY}" "$@"\n')
        fake.chmod(0o755)
        return fake
