"""The speed of each instruction set over that of the scalar reference, cutting alone."""

import altair as alt

from experiments.report.charts.dots import ROW, chart, log_scale, tips
from experiments.report.charts.throughput import rounds_text
from experiments.report.section import Key, Panel, Section, columns_of, number
from experiments.report.select import aims_of, datasets_of, usual_first
from experiments.report.style import back_end_looks
from experiments.results import GIB, Results

REFERENCE = "scalar"

COLUMNS = columns_of(
    ("place", lambda row: row["place"]),
    ("back end", lambda row: row["backend"]),
    ("GiB/s", number("speed", 3)),
    ("over scalar", lambda row: f"{row['gain']:.2f}"),
    ("of a plain read", number("of_read", 3)),
)


def gains(rows: list[dict]) -> list[dict]:
    """Adds to each row its rate over that of the reference in the same cell."""
    scalar = {(row["key"], row["place"]): row["bytes_per_second"] for row in rows if row["backend"] == REFERENCE}
    return [
        row | {"gain": row["bytes_per_second"] / scalar[row["key"], row["place"]], "speed": row["bytes_per_second"] / GIB}
        for row in rows
        if (row["key"], row["place"]) in scalar
    ]


def panel(rows: list[dict], order: list[str], most: float, looks: dict[str, tuple[str, str]]) -> alt.LayerChart:
    here = {row["algorithm"] for row in rows}
    order = [name for name in order if name in here]
    sets, (colours, shapes) = list(looks), zip(*looks.values())
    shown = [{"algorithm": r["algorithm"], "set": r["backend"], "gain": round(r["gain"], 3), "speed": round(r["speed"], 3)} for r in rows]
    scale = log_scale(min(0.8, min(r["gain"] for r in rows) / 1.05), most * 1.25, base=2)
    y = alt.Y("algorithm:N", sort=order, title=None, axis=alt.Axis(grid=True, labelColor="@text"))
    x = alt.X("gain:Q", title="times as fast as scalar", scale=scale, axis=alt.Axis(format="~r", tickCount=5))
    base = chart(shown, y, x)
    thread = base.mark_line(strokeWidth=1.5, color="@rule").encode(alt.Detail("algorithm:N"), alt.Order("gain:Q"))
    points = base.mark_point(filled=True, size=62, opacity=1, strokeWidth=2).encode(
        alt.Color("set:N", title=None, scale=alt.Scale(domain=sets, range=list(colours))),
        alt.Shape("set:N", title=None, scale=alt.Scale(domain=sets, range=list(shapes))),
        tooltip=tips(("algorithm:N",), ("set:N", "back end"), ("gain:Q", "over scalar", ".2f"), ("speed:Q", "GiB/s", ".2f")),
    )
    best = {}
    for row in shown:
        if row["gain"] >= best.get(row["algorithm"], row)["gain"]:
            best[row["algorithm"]] = row
    labels = chart(list(best.values()), y, x, alt.Text("gain:Q", format=".1f")).mark_text(align="left", dx=8, fontSize=10, color="@muted")
    return alt.layer(thread, points, labels).properties(height=ROW * len(order))


def best_gains(rows: list[dict]) -> dict[str, float]:
    best: dict[str, float] = {}
    for row in rows:
        best[row["algorithm"]] = max(best.get(row["algorithm"], 0), row["gain"])
    return best


def finding(best: dict[str, float]) -> str:
    most, least = max(best, key=best.get), min(best, key=best.get)
    return f"Vectors cut {most} up to {best[most]:.1f} times as fast as the plain loop, {least} {best[least]:.1f} times"


def speedups(results: Results) -> Section | None:
    rows = gains([row for row in results.speeds if row["parameters"] == "{}"])
    aims = aims_of(rows)
    rows = [row for row in rows if row["aim"] in aims]
    if len({row["backend"] for row in rows}) < 2:
        return None
    choices = usual_first(rows)
    of_memory = [row for row in rows if row["place"] == "memory"] or rows
    best = best_gains([row for row in of_memory if row["aim"] == choices[0]])
    order = sorted({row["algorithm"] for row in of_memory}, key=lambda name: (-best.get(name, 0), name))
    most = max(row["gain"] for row in of_memory)
    looks = back_end_looks(results.catalog.in_order(row["backend"] for row in rows), REFERENCE)
    rows.sort(key=lambda row: list(looks).index(row["backend"]))
    panels = []
    for choice in choices:
        here = [row for row in of_memory if row["aim"] == choice]
        for name in datasets_of(here, results):
            panels.append(Panel(name, panel([row for row in here if row["dataset"] == name], order, most, looks), choice))
    keys = [Key(name, *look) for name, look in looks.items()]
    caption = "Cutting alone, one thread, data in memory, over the scalar back end of the same run; logarithmic, the number is the best. "
    caption += f"A back end without a kernel for an algorithm has no dot. The table has the data in the L2 cache too. {rounds_text(rows)}"
    return Section("speedups", "Speed-ups", finding(best), caption, panels, COLUMNS, rows, keys, choices)
