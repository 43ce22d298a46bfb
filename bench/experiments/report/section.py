"""A section of the report: a question or finding, the measurement, panels, a key, and all numbers as a table."""

from collections.abc import Callable
from dataclasses import dataclass, field

import altair as alt

Column = tuple[str, Callable[[dict], str]]


@dataclass(frozen=True)
class Key:
    """An entry of the key above the panels. Shapes are Vega's, or `line` with its dashes, or `bar`."""

    label: str
    colour: str
    shape: str = "circle"
    dash: tuple[int, ...] = ()
    area: int = 60


@dataclass(frozen=True)
class Panel:
    """A chart without a width. If a section has choices, the page shows the panels of one at a time, and each choice has its own plot."""

    title: str
    chart: alt.LayerChart
    choice: str = ""


@dataclass
class Section:
    name: str  # the name of the anchor and of the PNG
    nav: str
    title: str
    caption: str
    panels: list[Panel]
    columns: list[Column]
    rows: list[dict]
    keys: list[Key] = field(default_factory=list)
    choices: list[str] = field(default_factory=list)  # the first is selected at first
    choice_label: str = "mean aimed at"
    hint: str = ""  # what a reader can do on the page, but not with a plot
    notes: list[str] = field(default_factory=list)
    panels_a_row: int = 3
    is_in_order: bool = False  # the rows of the table

    @property
    def table(self) -> list[list[str]]:
        return [[text(row) for _, text in self.columns] for row in self.rows]


def columns_of(*extra: Column) -> list[Column]:
    """The columns that every table begins with, and `extra`."""
    return [
        ("data set", lambda row: row["dataset"]),
        ("algorithm", lambda row: row["algorithm"]),
        ("size", lambda row: row["size"]),
        *extra,
    ]


def percent(name: str, digits: int = 2) -> Callable[[dict], str]:
    return lambda row: "–" if row[name] is None else f"{100 * row[name]:.{digits}f}"


def number(name: str, digits: int = 0, scale: float = 1) -> Callable[[dict], str]:
    return lambda row: "–" if row[name] is None else f"{row[name] / scale:.{digits}f}"
