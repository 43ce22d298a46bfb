"""Reports the progress of a sweep: the cell that was measured, how many are left, and the estimated time for them."""

import statistics
import sys
from collections import defaultdict
from collections.abc import Callable

from experiments.sweep.cell import Cell
from experiments.sweep.measure import Measured


def duration(seconds: float) -> str:
    """A duration as text: '40 s', '12 min', '1 h 05 min'."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"


# Seconds for each unit of work (`work_of`) on a small machine, which count until a cell of the kind was measured.
USUAL_RATES = {"dedup": 2e-9, "kernels": 1.5, "tune": 1e-7}


class Estimate:
    """Estimates the seconds of cells by those of cells with the same kind and algorithm, else with the same kind."""

    def __init__(self):
        self._rates: dict[tuple, list[float]] = defaultdict(list)
        # The medians of the rates are kept, since all cells left are estimated after each one.
        self._medians: dict[tuple, float] = {(kind,): rate for kind, rate in USUAL_RATES.items()}

    def learn(self, kind: str, algorithm: str, work: float, seconds: float) -> None:
        for key in ((kind, algorithm), (kind,)):
            self._rates[key].append(seconds / max(work, 1))
            self._medians[key] = statistics.median(self._rates[key])

    def of(self, cell: Cell, work: float) -> float:
        return work * self._medians.get((cell.kind, cell.algorithm), self._medians[cell.kind,])


def work_of(kind: str, rounds: int, size: int) -> float:
    """The amount of work of a cell: bytes times rounds. Kernels are measured for a fixed time."""
    return rounds if kind == "kernels" else rounds * size


def outcome_text(done: Measured) -> str:
    """The result of a cell in a few words."""
    if done.outcome != "done":
        return f"{done.outcome}: {done.problem}"
    if done.cell.kind == "dedup":
        result = done.result["report"]["result"]
        saved = result["savings_share"]
        shown = "" if saved is None else f", saves {100 * saved:.2f} %"
        return f"{done.result['bytes_per_second'] / 1e9:.2f} GB/s{shown}"
    if done.cell.kind == "kernels":
        row = next(row for row in done.result["rows"] if row["kind"] == "cuts" and row["place"] == "memory")
        rates = {name: end["bytes_per_second"] for name, end in row["back_ends"].items() if end["bytes_per_second"]}
        return ", ".join(f"{name} {rate / 1e9:.2f}" for name, rate in rates.items()) + " GB/s"
    return f"searched in {duration(done.seconds)}"


class Progress:
    """Prints a line for each cell on standard error. On a terminal it overwrites the line."""

    def __init__(self, total: int, log: Callable[[str], None]):
        self.total, self.count, self._log = total, 0, log
        self._is_terminal = sys.stderr.isatty()

    def add(self, done: Measured, seconds_left: float) -> None:
        self.count += 1
        end = "" if self.count == self.total else f"; about {duration(seconds_left)} left"
        line = f"{self.count}/{self.total} {done.cell}: {outcome_text(done)}{end}"
        if self._is_terminal and done.outcome == "done":
            print(f"\r\033[K{line[:160]}", end="\n" if self.count == self.total else "", file=sys.stderr, flush=True)
        else:
            self._log(line)
