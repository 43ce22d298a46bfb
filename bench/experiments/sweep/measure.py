"""Measures a cell: runs the command once for each round, and makes one result of its outputs."""

import json
import statistics
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from experiments.sweep.cell import Cell
from experiments.sweep.command import Command, Failed
from experiments.sweep.data import Data

# Values that do not depend on threads or time, and so must be equal in all rounds.
CONSTANT = ("cuts", "fingerprint", "result.bytes", "result.chunk_count", "result.unique_bytes", "result.unique_chunk_count")


@dataclass(frozen=True)
class Measured:
    """The outcome of a cell: done, failed or unavailable. The latter two have a problem."""

    cell: Cell
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


def _run(command: Command, data: Data, cell: Cell) -> tuple[str, str, dict | None]:
    """Outcome, problem and result."""
    if absence := command.absence(cell):
        return "unavailable", absence, None
    run = {"dedup": dedup, "kernels": kernels, "tune": tune}[cell.kind]
    try:
        paths = data.ready(cell.dataset) if cell.kind != "kernels" else data.files(cell.dataset, cell.bytes)
        return "done", "", run(command, cell, paths)
    except (Failed, OSError, json.JSONDecodeError) as failed:
        return "failed", str(failed), None


def measure(command: Command, data: Data, cell: Cell) -> Measured:
    started, begin = datetime.now(UTC).isoformat(timespec="seconds"), time.monotonic()
    outcome, problem, result = _run(command, data, cell)
    return Measured(cell, started, time.monotonic() - begin, outcome, problem, result)
