"""The papers' numbers, read from numbers/*.toml: their tables, and statements about figures whose values they do not print."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

NUMBERS = Path(__file__).parent / "numbers"
NAMES = ("p-dedupe", "seqcdc", "ae", "prune", "appdedupe")


@dataclass(frozen=True)
class Table:
    """A table of a paper: its place, its topic, and its rows by name."""

    place: str
    what: str
    columns: list[str]
    rows: dict[str, list[float]]

    def __post_init__(self):
        for name, row in self.rows.items():
            if len(row) != len(self.columns):
                raise ValueError(f"{self.place}: row '{name}' has {len(row)} numbers for {len(self.columns)} columns")

    def at(self, row: str, column: str) -> float | None:
        """The number, or None if the paper has no such row."""
        return self.rows[row][self.columns.index(column)] if row in self.rows else None


@dataclass(frozen=True)
class Paper:
    name: str
    title: str
    setting: str
    tables: dict[str, Table]
    statements: dict[str, dict]  # each has place, says (its sentence, shortened), and the numbers in it


def read(name: str) -> Paper:
    """One of NAMES."""
    table = tomllib.loads((NUMBERS / f"{name}.toml").read_text(encoding="utf-8"))
    return Paper(
        table["paper"],
        table["title"],
        table["setting"],
        {key: Table(**entry) for key, entry in table["tables"].items()},
        table["statements"],
    )


def read_all() -> dict[str, Paper]:
    return {name: read(name) for name in NAMES}
