"""Runs a sweep: opens its data sets, measures the missing cells, and keeps them in the results file."""

from collections.abc import Callable
from pathlib import Path

from experiments import datasets
from experiments.sweep.cell import Cell
from experiments.sweep.command import Command
from experiments.sweep.data import Data
from experiments.sweep.measure import measure
from experiments.sweep.plan import Plan, Wrong
from experiments.sweep.progress import Estimate, Progress, work_of
from experiments.sweep.store import Store

Log = Callable[[str], None]


def check(plan: Plan, command: Command) -> None:
    """Checks every combination with the command before the sweep, which takes milliseconds each. Raises Wrong."""
    for source in plan.sources.values():
        if source.make and source.make not in datasets.names():
            raise Wrong(f"{plan.name}: no data set '{source.make}' can be made; there are {', '.join(datasets.names())}")
    asked: dict[tuple, str] = {}
    for cell in plan.cells:
        key = cell.key("", "")
        if key not in asked:
            asked[key] = command.refusal(cell)
        if asked[key]:
            raise Wrong(f"{plan.name}: {cell}: {asked[key]}")


class Run:
    """A running sweep: its cells, their data, and the results."""

    def __init__(self, plan: Plan, command: Command, folder: Path, store: Store, log: Log):
        self.plan, self.command, self.store, self.log = plan, command, store, log
        self.data = Data(plan.sources, folder)
        self.absent: set[str] = set()  # data sets that could not be made
        used = {cell.dataset for cell in plan.cells}
        for name in (name for name in plan.sources if name in used):
            self._open(name)
        self.members = [(group, cell) for group, cell in plan.members if cell.dataset not in self.absent]
        store.add_binary(command.key, command.info)
        store.add_machine(command.machine_key, command.machine)
        store.set_members(plan.name, [(group, self.key(cell)) for group, cell in self.members])

    def _open(self, name: str) -> None:
        try:
            known = self.data.open(name, self.log)
        except datasets.Failed as failed:
            self.absent.add(name)
            self.log(f"failed: {failed}; the cells of '{name}' are left out")
        except ValueError as wrong:
            raise Wrong(f"{self.plan.name}: datasets.{name}: {wrong}") from None
        else:
            self.store.add_dataset(known.checksum, known.info)

    def key(self, cell: Cell) -> str:
        return cell.key(self.command.key, self.data.known[cell.dataset].checksum)

    def missing(self, group: str | None = None) -> list[Cell]:
        """The cells of a group, or all cells, without a result. They include cells that failed or could not run."""
        outcomes = self.store.outcomes()
        wanted = {self.key(cell) for of, cell in self.members if group in (None, of)}
        there = [cell for cell in self.plan.cells if cell.dataset not in self.absent]
        return [cell for cell in there if self.key(cell) in wanted and outcomes.get(self.key(cell)) != "done"]

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
