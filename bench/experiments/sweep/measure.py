"""Measures a cell: runs the command once for each round, and makes one result of its outputs."""

import json
import statistics
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from experiments.sweep.cell import Cell
from experiments.sweep.command import Command, Failed
from experiments.sweep.data import Data, Unequal

# Values that do not depend on threads or time, and so must be equal in all rounds.
CONSTANT = ("cuts", "fingerprint", "result.bytes", "result.chunk_count", "result.unique_bytes", "result.unique_chunk_count")


@dataclass(frozen=True)
class Measured:
    """The outcome of a cell: done, failed or unavailable. The latter two have a problem."""

    cell: Cell
    key: str
    machine: dict
    machine_key: str
    started: str
    seconds: float
    outcome: str
    problem: str = ""
    result: dict | None = None


def _at(report: dict, path: str):
    for name in path.split("."):
        report = report[name]
    return report


def dedup(command: Command, cell: Cell, paths: list[Path]) -> dict:
    """The report of the round with the median time, and the times of all."""
    words = ["dedup", "--json", "-q", *command.engine(cell), *map(str, paths)]
    reports = sorted((json.loads(command.run(*words)) for _ in range(cell.rounds)), key=lambda report: report["wall_seconds"])
    for path in CONSTANT:
        values = {json.dumps(_at(report, path)) for report in reports}
        if len(values) > 1:
            raise Failed(f"rounds differ in {path}: {', '.join(sorted(values))}")
    return {
        "report": reports[(len(reports) - 1) // 2],
        "wall_seconds": [report["wall_seconds"] for report in reports],
        "bytes_per_second": statistics.median(report["bytes_per_second"] or 0 for report in reports),
    }


def kernels(command: Command, cell: Cell, paths: list[Path]) -> dict:
    """The speeds of the processor's back ends in one thread on the first bytes of the data."""
    words = ["bench", "--kernels", "--json", "-q", "--bytes", cell.bytes, "--rounds", str(cell.rounds), *command.cuts(cell)]
    return json.loads(command.run(*words, *(word for path in paths for word in ("--data", str(path)))))


def tune(command: Command, cell: Cell, paths: list[Path]) -> dict:
    """The search for the best parameters on a sample. The best five are tried on all of the data."""
    return json.loads(command.run("tune", "--json", "-q", "--verify", "--sample", cell.sample, *command.cuts(cell), *map(str, paths)))


@dataclass
class Measurer:
    """Measures cells on the machine on which it is called. It can be sent to other machines. `checksums` are those of the data on all machines."""

    command: Command
    data: Data
    binary: str
    checksums: dict[str, str]

    def __call__(self, cell: Cell) -> Measured:
        started, begin = datetime.now(UTC).isoformat(timespec="seconds"), time.monotonic()
        outcome, problem, result = "failed", "", None
        try:
            outcome, result = self._measure(cell)
        except (Failed, Unequal, OSError, json.JSONDecodeError) as failed:
            problem = str(failed)
        if outcome == "unavailable":
            problem = f"back end '{cell.backend}' does not run here"
        key = cell.key(self.binary, self.checksums[cell.dataset])
        return Measured(
            cell, key, self.command.machine, self.command.machine_key, started, time.monotonic() - begin, outcome, problem, result
        )

    def _measure(self, cell: Cell) -> tuple[str, dict | None]:
        if self.command.key != self.binary:
            raise Failed(f"{self.command.path} differs from the binary that the sweep began with: build the same one on every machine")
        if cell.kind == "dedup" and not self.command.back_ends[cell.backend]:
            return "unavailable", None
        paths = self.data.ready(cell.dataset, self.checksums[cell.dataset])
        if cell.kind == "dedup":
            return "done", dedup(self.command, cell, paths)
        if cell.kind == "kernels":
            return "done", kernels(self.command, cell, self.data.files(cell.dataset, cell.bytes))
        return "done", tune(self.command, cell, paths)
