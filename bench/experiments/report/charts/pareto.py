"""Processor time against savings, and the front: the settings that no other beats in both."""

import math

import altair as alt

from experiments.report.charts.dots import aim_keys, algorithm_keys, by_algorithm, chart, log_scale, log_ticks, looks, mechanisms_of, tips
from experiments.report.charts.savings import LEAST
from experiments.report.charts.stages import total
from experiments.report.section import Panel, Section, columns_of, number, percent
from experiments.report.select import ENGINE, datasets_of, engine_text, listed, main_aims, plain, usual
from experiments.results import GIB, Results

COLUMNS = columns_of(
    ("processor s/GiB", lambda row: f"{row['cost']:.3f}"),
    ("savings %", percent("savings")),
    ("GiB/s", number("bytes_per_second", 3, GIB)),
    ("on the front", lambda row: "yes" if row["front"] else ""),
)


def mark_front(rows: list[dict]) -> list[dict]:
    """Adds to each row whether it is on the front: no other costs less and saves as much, or saves more at the same cost."""
    most, marked = -1.0, []
    for row in sorted(rows, key=lambda row: (row["cost"], -row["savings"])):
        marked.append(row | {"front": row["savings"] > most})
        most = max(most, row["savings"])
    return marked


def with_room(rows: list[dict], every: list[dict]) -> list[dict]:
    """The rows whose labels do not overlap, the ends of the front first. Labels need more width than height."""
    costs, savings = [math.log(row["cost"]) for row in every], [row["savings"] for row in every]
    width, height = max(costs) - min(costs) + 0.5, max(max(savings) - min(savings), 1e-6)
    named: list[tuple[float, float, dict]] = []
    for row in [rows[-1], *rows[:1], *sorted(rows[1:-1], key=lambda row: -row["savings"])]:
        x, y = math.log(row["cost"]) / width, row["savings"] / height
        if all(abs(x - other_x) > 0.4 or abs(y - other_y) > 0.075 for other_x, other_y, _ in named):
            named.append((x, y, row))
    return [row for _, _, row in named]


def panel(rows: list[dict], aims: list[str]) -> alt.LayerChart:
    fields = ("algorithm", "aim", "cost", "savings", "front")
    changed = [{"cost": round(row["cost"], 4), "label": f"{row['algorithm']} {row['aim']}"} | looks(row["aim"], aims) for row in rows]
    shown = [{name: row[name] for name in fields} | more for row, more in zip(rows, changed)]
    savings = [row["savings"] for row in shown]
    spread = max(max(savings) - min(savings), 0.002)
    costs = [row["cost"] for row in shown]
    x = alt.X(
        "cost:Q", title="processor seconds for a GiB", axis=alt.Axis(values=log_ticks(costs), format="~r"),
        scale=log_scale(min(costs) / 1.12, max(costs) * 1.45),
    )  # fmt: skip
    y = alt.Y(
        "savings:Q", title="savings, share of the bytes", axis=alt.Axis(format=".3~%", tickCount=5),
        scale=alt.Scale(domain=[min(savings) - 0.08 * spread, max(savings) + 0.12 * spread], nice=False),
    )  # fmt: skip
    front = [row for row in shown if row["front"]]
    line = chart(front, x, y).mark_line(interpolate="step-after", strokeWidth=1.5, color="@muted", strokeDash=[3, 3])
    points = chart(shown, x, y).mark_point(filled=True).encode(
        by_algorithm(mechanisms_of(rows)),
        alt.Size("area:Q", scale=None),
        alt.Shape("shape:N", scale=None),
        opacity=alt.condition("datum.front", alt.value(1), alt.value(0.4)),
        tooltip=tips(("label:N", "cuts"), ("cost:Q", "processor s/GiB", ".3f"), ("savings:Q", None, ".2%")),
    )  # fmt: skip
    labels = chart(with_room(front, shown), x, y, alt.Text("label:N")).mark_text(align="left", dx=7, dy=7, fontSize=10)
    return alt.layer(line, points, labels).properties(height=270)


def finding(rows: list[dict]) -> str:
    datasets = {row["dataset"] for row in rows}
    times: dict[str, set] = {}
    for row in rows:
        if row["front"]:
            times.setdefault(row["algorithm"], set()).add(row["dataset"])
    most = max(len(where) for where in times.values())
    best = sorted(name for name, where in times.items() if len(where) == most)
    if len(best) > 4:
        count = sum(row["front"] for row in rows)
        return f"Cost against savings: {count} of {len(rows)} settings are on the front"
    on = "is on the front" if len(best) == 1 else "are on the front"
    return f"Cost against savings: {listed(best)} {on} of {most} of {len(datasets)} data sets"


def pareto(results: Results) -> Section | None:
    rows = [row for row in plain(results.runs) if row["savings"] is not None and row["report"]["result"]["bytes"]]
    rows, aims = main_aims(usual(rows, ENGINE))
    rows = [row | {"cost": total(row)} for row in rows]
    marked, panels = [], []
    for name in datasets_of(rows, results):
        here = mark_front([row for row in rows if row["dataset"] == name and row["cost"] > 0])
        if len(here) > 1 and max(row["savings"] for row in here) >= LEAST:
            marked += here
            panels.append(Panel(name, panel(here, aims)))
    if not panels:
        return None
    caption = f"Processor time of all stages for a GiB of input (logarithmic) against savings: {engine_text(rows)}. The dashed line is the "
    caption += "front: no cheaper setting saves as much. Its members are named if there is room. The cost does not include writing chunks."
    return Section("pareto", "Cost and savings", finding(marked), caption, panels, COLUMNS, marked, algorithm_keys(marked) + aim_keys(aims))
