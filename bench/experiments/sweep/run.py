"""Runs a sweep: opens its data sets, measures the missing cells, and keeps them in the results file."""

import statistics
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from experiments import datasets
from experiments.results import GIB
from experiments.sweep.command import Command, Measured, measure
from experiments.sweep.data import Data
from experiments.sweep.plan import KERNELS, STORES, Cell, Place, Plan, Source, Wrong
from experiments.sweep.store import Store

# Reports the progress of a sweep: the cell that was measured, how many are left, and the estimated time for them.
def duration(seconds: float) -> str:
    """A duration as text: '40 s', '12 min', '1 h 05 min'."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"


# Seconds for each unit of work (`work_of`) on a small machine, which count until a cell of the kind was measured.
USUAL_RATES = {"dedup": 2e-9, "backup": 4e-9, "restore": 3e-9, "kernels": 1.5, "device-kernels": 1.5, "tune": 1e-7}


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
    return rounds if kind in KERNELS else rounds * size


def outcome_text(done: Measured) -> str:
    """The result of a cell in a few words."""
    if done.outcome != "done":
        return f"{done.outcome}: {done.problem}"
    if done.cell.kind in STORES:
        return f"{done.result['bytes_per_second'] / GIB:.2f} GiB/s, {done.result['stored_bytes'] / 2**20:,.1f} MiB stored"
    if done.cell.kind == "dedup":
        result = done.result["report"]["result"]
        saved = result["savings_share"]
        shown = "" if saved is None else f", saves {100 * saved:.2f} %"
        return f"{done.result['bytes_per_second'] / GIB:.2f} GiB/s{shown}"
    if done.cell.kind in KERNELS:
        row = next(row for row in done.result["rows"] if row["kind"] == "cuts" and row["place"] != "l2")
        rates = {name: end["bytes_per_second"] for name, end in row["back_ends"].items() if end["bytes_per_second"]}
        return ", ".join(f"{name} {rate / GIB:.2f}" for name, rate in rates.items()) + " GiB/s"
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


Log = Callable[[str], None]


def check(plan: Plan, command: Command) -> None:
    """Checks every combination with the command before the sweep, which takes milliseconds each. Raises Wrong, with all mistakes of the file."""
    for source in plan.sources.values():
        with plan.mistakes.noted():
            _check_source(source, plan.places[source.name])
    answers: dict[str, str] = {}

    def refusal(cell: Cell) -> str:
        key = cell.key("", "")
        if key not in answers:
            answers[key] = command.refusal(cell)
        return answers[key]

    for cell in plan.cells():
        place = plan.places[cell.key("", cell.dataset)]
        while reason := refusal(cell):
            # The setting without which the command says something else is the one that it refused; the rest may be wrong too.
            simpler = ((f"{place.line_of('parameters').at(key)} {value}", other) for key, value, other in cell.simpler() if refusal(other) != reason)
            what, cell = next(simpler, (f"{place}: {cell}", None))
            with plan.mistakes.noted():
                raise Wrong(f"{what}: {reason}")
            if not cell:
                break
    plan.mistakes.refuse()


def _check_source(source: Source, where: Place) -> None:
    if source.make and source.make not in datasets.names():
        raise Wrong(f"{where}: no data set '{source.make}' can be made; there are {', '.join(datasets.names())}")
    try:
        if source.make:
            datasets.check(source.make, source.size, source.versions, source.seed)
    except ValueError as wrong:
        raise Wrong(f"{where}: {wrong}") from None


def unmeasured(plan: Plan, command: Command, folder: Path, outcomes: dict[str, str], group: str | None, log: Callable[[str], None]) -> list[str]:
    """A line for each cell of a group, or of all, without a result, and why its data set says nothing about it. It makes no data set."""
    data, problems = Data(plan.sources, folder, makes_missing=False), {}
    cells = plan.cells(group)
    for name in dict.fromkeys(cell.dataset for cell in cells):
        try:
            data.open(name, log)
        except datasets.Failed as failed:
            problems[name] = "its data set is not made yet" if plan.sources[name].make else str(failed)
        except OSError as failed:
            problems[name] = f"{failed.filename or name}: {failed.strerror}"
    return [
        f"{cell} ({problems[cell.dataset]})" if cell.dataset in problems else str(cell)
        for cell in cells
        if cell.dataset in problems or outcomes.get(cell.key(command.key, data.known[cell.dataset].checksum)) != "done"
    ]


class Run:
    """A running sweep: its cells, their data, and the results."""

    def __init__(self, plan: Plan, command: Command, folder: Path, store: Store, log: Log):
        self.plan, self.command, self.store, self.log = plan, command, store, log
        self.data = Data(plan.sources, folder)
        self.absent: set[str] = set()  # data sets that could not be made
        for name in dict.fromkeys(cell.dataset for cell in plan.cells()):
            self._open(name)
        self.members = [(group, cell) for group, cell in plan.members if cell.dataset not in self.absent]
        store.add_binary(command.key, command.info)
        store.add_machine(command.machine_key, command.machine)
        store.set_members(plan.name, [(group, self.key(cell)) for group, cell in self.members])

    def _open(self, name: str) -> None:
        try:
            known = self.data.open(name, self.log)
        except (datasets.Failed, ValueError) as failed:
            self.absent.add(name)
            self.log(f"failed: {failed}; the cells of '{name}' are left out")
        except OSError as failed:
            self.absent.add(name)
            self.log(f"failed: {failed.filename or name}: {failed.strerror}; the cells of '{name}' are left out")
        else:
            self.store.add_dataset(known.checksum, known.info)

    def key(self, cell: Cell) -> str:
        return cell.key(self.command.key, self.data.known[cell.dataset].checksum)

    def missing(self, group: str | None = None) -> list[Cell]:
        """The cells of a group, or all cells, without a result. They include cells that failed or could not run."""
        outcomes = self.store.outcomes()
        there = [cell for cell in self.plan.cells(group) if cell.dataset not in self.absent]
        return [cell for cell in there if outcomes.get(self.key(cell)) != "done"]

    def _work(self, cell: Cell) -> float:
        return work_of(cell.kind, cell.rounds, self.data.known[cell.dataset].info["bytes"])

    def _estimate(self) -> Estimate:
        """An estimate by the results of earlier runs."""
        estimate, sizes = Estimate(), {known.checksum: known.info["bytes"] for known in self.data.known.values()}
        for kind, algorithm, rounds, checksum, seconds in self.store.seconds():
            if checksum in sizes:
                estimate.learn(kind, algorithm, work_of(kind, rounds, sizes[checksum]), seconds)
        return estimate

    def measure(self, cells: list[Cell]) -> int:
        """Measures the cells, keeps each result at once, and returns how many failed."""
        works = [self._work(cell) for cell in cells]
        estimate, progress, failed = self._estimate(), Progress(len(cells), self.log), 0
        for number, cell in enumerate(cells):
            done = measure(self.command, self.data, cell)
            self.store.add(done, self.key(cell), self.data.known[cell.dataset].checksum, self.command)
            if done.outcome == "done":
                estimate.learn(cell.kind, cell.algorithm, works[number], done.seconds)
            failed += done.outcome == "failed"
            progress.add(done, sum(map(estimate.of, cells[number + 1 :], works[number + 1 :])))
        return failed
