"""Savings by an algorithm's own parameters, if a sweep tried several values."""

import json

import altair as alt

from experiments.report.charts.dots import chart, tips
from experiments.report.section import Panel, Section, columns_of, number, percent
from experiments.report.select import datasets_of, once
from experiments.results import GIB, Results

FEWEST = 3  # cells that make a map

COLUMNS = columns_of(
    ("parameters", lambda row: " ".join(f"{name}={value}" for name, value in row["values"].items())),
    ("savings %", percent("savings")),
    ("mean chunk B", number("mean_bytes")),
    ("GiB/s", number("bytes_per_second", 3, GIB)),
)


def axes(rows: list[dict]) -> list[str]:
    """The parameters that differ, in ascending order of their number of values."""
    values = {name: {json.dumps(row["values"].get(name)) for row in rows} for row in rows for name in row["values"]}
    return sorted((name for name, seen in values.items() if len(seen) > 1), key=lambda name: (len(values[name]), name))


def panel(rows: list[dict], x: str, y: str | None) -> alt.LayerChart:
    """A map of one parameter or two."""
    shown = [
        {"x": row["values"][x], "y": row["values"][y] if y else row["algorithm"], "savings": row["savings"], "mean": row["mean_bytes"]} for row in rows
    ]
    below = len({row["y"] for row in shown})
    base = chart(
        shown,
        alt.X("x:O", title=x, axis=alt.Axis(labelAngle=0, grid=False, domain=False, ticks=False)),
        alt.Y("y:O", title=y, axis=alt.Axis(grid=False)),
        tooltip=tips(("x:N", x), ("y:N", y or "algorithm"), ("savings:Q", None, ".2%"), ("mean:Q", "mean chunk, bytes", ",.0f")),
    )
    fill = alt.Color("savings:Q", legend=None, scale=alt.Scale(range=["@grid", "@heat"], zero=False))
    cells = base.mark_rect(cornerRadius=2, stroke="@paper", strokeWidth=2).encode(fill)
    text = base.mark_text(fontSize=10).encode(alt.Text("savings:Q", format=".1%"))
    return alt.layer(cells, text).properties(height=26 * below)


def grids(results: Results) -> Section | None:
    groups: dict[tuple, list[dict]] = {}
    tried = [row for row in results.runs if row["join_name"] == "exact" and row["parameters"] != "{}" and row["savings"] is not None]
    for row in once(tried, ("dataset", "algorithm", "size", "parameters")):
        values = json.loads(row["parameters"])
        groups.setdefault((row["dataset"], row["algorithm"], row["size"], tuple(sorted(values))), []).append(row | {"values": values})
    panels, used = [], []
    for name in datasets_of(tried, results):
        for (dataset, algorithm, size, _), rows in groups.items():
            names = axes(rows)
            if dataset != name or len(rows) < FEWEST or not names:
                continue
            *others, y, x = [None, *names] if len(names) == 1 else names
            for fixed in once([{other: row["values"][other] for other in others if other} for row in rows], tuple(filter(None, others))):
                here = [row for row in rows if all(row["values"][other] == value for other, value in fixed.items())]
                settings = "".join(f", {other} {value}" for other, value in fixed.items())
                panels.append(Panel(f"{dataset}: {algorithm} {size}{settings}", panel(here, x, y)))
            used += rows
    if not panels:
        return None
    span = max(row["savings"] for row in used) - min(row["savings"] for row in used)
    title = "Savings by an algorithm's own parameters"
    if len({row["dataset"] for row in used}) == 1:
        title = f"An algorithm's own parameters move savings by {100 * span:.1f} points on {used[0]['dataset']}"
    caption = "Savings by whole-engine runs, exact cuts. Colours compare within a panel; parameters change the mean chunk too, which the table has."
    return Section("parameters", "Parameters", title, caption, panels, COLUMNS, used)
