"""The evidence for tables and claims: the papers' numbers and our results."""

from dataclasses import dataclass

from experiments.papers.cells import matrix_size
from experiments.papers.ours import Ours
from experiments.papers.paper import Paper


@dataclass(frozen=True)
class Evidence:
    papers: dict[str, Paper]
    ours: Ours | None  # None if only the tables that need no sweep are written
    low_entropy: dict  # shares measured by runs.py, by data set, expected chunk and row of AE's table 5
    store: dict  # measured by store_runs.py

    def matrix(self, dataset: str, algorithm: str, target: str) -> dict | None:
        """The run of every algorithm on every data set at 4, 8 and 16 KiB."""
        return self.ours.run(dataset, algorithm, matrix_size(algorithm, target))

    def cutting(self, dataset: str, algorithm: str, target: str, backend: str) -> float | None:
        """Bytes a second of the same, cutting alone."""
        return self.ours.speed(dataset, algorithm, matrix_size(algorithm, target), backend)
