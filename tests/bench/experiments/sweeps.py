"""What the tests of sweeps share: a folder with data and a sweep's file, runs of it, and the rows that came of them."""

import contextlib
import io
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BINARY = Path(os.environ.get("CUTPOINT_BIN") or ROOT / "build/release/cli/cutpoint").resolve()
PATIENCE = 120

sys.path.insert(0, str(ROOT / "bench"))

from experiments.sweep.__main__ import main  # noqa: E402

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


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "bench")}


class SweepTest(unittest.TestCase):
    """A test in a folder with two data sets: `a`, random bytes, and `b`, two files that share most of theirs."""

    maxDiff = 4000
    of_small: bytes | None = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cutpoint-sweep-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        drawn = random.Random(8)
        (self.folder / "a").write_bytes(drawn.randbytes(300_000))
        shared = drawn.randbytes(200_000)
        (self.folder / "b1").write_bytes(shared)
        (self.folder / "b2").write_bytes(shared[:70_000] + b"changed" + shared[70_000:])

    @property
    def results(self) -> Path:
        return self.folder / "results.sqlite"

    def begin_with_small(self) -> None:
        """Copies the results of a run of `SMALL` to this test, as if it had run it. The run is made once for all tests."""
        if SweepTest.of_small is None:
            self.sweep(SMALL)
            SweepTest.of_small = self.results.read_bytes()
        self.results.write_bytes(SweepTest.of_small)

    def words(self, text: str, *more: str, binary: Path = BINARY) -> list[str]:
        """The words that run this sweep."""
        file = self.folder / "small.toml"
        file.write_text(text)
        options = ["--results", str(self.results), "--data", str(self.folder / "data"), "--command", str(binary)]
        end = [] if "--report" in more else ["--no-report"]
        return [sys.executable, "-B", "-m", "experiments.sweep", str(file), *options, *end, *more]

    def sweep(self, text: str, *more: str, code: int = 0, binary: Path = BINARY) -> str:
        """Runs it to its end, in this process; what it said on standard error."""
        said = io.StringIO()
        words = self.words(text, *more, binary=binary)
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            ended = main(words[words.index("experiments.sweep") + 1 :])
        self.assertEqual(ended, code, said.getvalue())
        return said.getvalue()

    def killed(self, text: str, seconds: float, binary: Path = BINARY) -> int:
        """Runs it for so long at most; its exit code."""
        with subprocess.Popen(self.words(text, binary=binary), env=environment(), stderr=subprocess.DEVNULL) as run:
            try:
                return run.wait(seconds)
            except subprocess.TimeoutExpired:
                run.kill()
                return run.wait(PATIENCE)

    def interrupted(self, text: str, binary: Path) -> int:
        """Runs it until there is a result, and interrupts it then; its exit code."""
        with subprocess.Popen(self.words(text, binary=binary), env=environment(), stderr=subprocess.DEVNULL) as run:
            while run.poll() is None and not self.has_rows():
                time.sleep(0.05)
            run.send_signal(signal.SIGINT)
            return run.wait(PATIENCE)

    def has_rows(self) -> bool:
        try:
            return self.results.exists() and bool(self.select("select 1 from rows limit 1"))
        except sqlite3.OperationalError:  # it has no tables yet
            return False

    def select(self, query: str) -> list[tuple]:
        with sqlite3.connect(self.results) as file:
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
