"""Cumulative shares of chunks by their length."""

import altair as alt

from experiments.report.charts.dots import BYTES, by_algorithm, chart, log_scale, mechanisms_of, tips
from experiments.report.section import Key, Panel, Section, columns_of, number
from experiments.report.select import datasets_of, main_aims, means_of, place, plain, usual_first
from experiments.report.style import DASHES, colour, member
from experiments.results import Results

FINE = 0.002  # smaller steps of the curve are left out, since they are not visible

COLUMNS = columns_of(
    ("chunks", number("chunk_count")),
    ("mean B", number("mean_bytes")),
    *[(f"{p} % ≤ B", lambda row, p=p: f"{chunks_of(row)[f'percentile_{p}_bytes']}") for p in (5, 25, 50, 75, 95)],
    ("longest B", lambda row: f"{chunks_of(row)['max_bytes']}"),
)


def chunks_of(row: dict) -> dict:
    return row["report"]["result"]["chunks"]


def curve(row: dict) -> list[dict]:
    """Points of the curve: lengths in bytes, and the share of chunks that are no longer. It is flat between the buckets of the histogram."""
    chunks = chunks_of(row)
    total = sum(bucket["chunk_count"] for bucket in chunks["histogram"])
    points, before, so_far = [], {"b": chunks["min_bytes"], "s": 0.0}, 0
    for bucket in chunks["histogram"]:
        so_far += bucket["chunk_count"]
        point = {"b": min(bucket["most_bytes"], chunks["max_bytes"]), "s": round(so_far / total, 4)}
        if point["s"] - (points[-1]["s"] if points else 0) >= FINE or so_far == total:
            least = max(bucket["least_bytes"] - 1, chunks["min_bytes"], 1)
            start = before | {"b": least if bucket["chunk_count"] > total / 5 or least > before["b"] else before["b"]}
            points += [start, point] if not points or start["b"] > points[-1]["b"] else [point]
        before = point
    return [{"algorithm": row["algorithm"]} | point for point in points]


def dash_of(mechanism: str) -> list[int]:
    return DASHES[member(mechanism)]


def cdf(rows: list[dict], order: list[str], mechanisms: dict[str, str]) -> alt.LayerChart:
    """A panel: a curve for each algorithm; `order` has all algorithms of the section."""
    points = [point for row in rows for point in curve(row)]
    shortest = min(chunks_of(row)["percentile_1_bytes"] for row in rows) / 1.2
    longest = max(chunks_of(row)["max_bytes"] for row in rows) * 1.05
    lit = alt.selection_point(fields=["algorithm"], on="pointerover", clear="pointerout")
    base = chart(
        points,
        alt.X("b:Q", title="chunk length, bytes", scale=log_scale(shortest, longest, base=2), axis=alt.Axis(labelExpr=BYTES, tickCount=7)),
        alt.Y("s:Q", title="share of chunks that are no longer", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=5)),
        by_algorithm(mechanisms, order),
        tooltip=tips(("algorithm:N",), ("b:Q", "bytes", ",.0f"), ("s:Q", "share", ".1%")),
    )
    dashes = alt.StrokeDash("algorithm:N", title=None, scale=alt.Scale(domain=order, range=[dash_of(mechanisms[name]) for name in order]))
    lines = base.mark_line(strokeWidth=1.8, clip=True).encode(
        dashes, opacity=alt.condition(lit, alt.value(0.95), alt.value(0.12), empty=True)
    )
    targets = base.mark_line(strokeWidth=9, opacity=0, clip=True).encode(alt.Detail("algorithm:N")).add_params(lit)
    return alt.layer(lines, targets).properties(height=230)


def finding(rows: list[dict]) -> str:
    """Names the algorithms whose lengths spread least and most between the 5th and the 95th percentile."""
    rows = [row for row in rows if row["mechanism"] != "fixed" and chunks_of(row)["percentile_5_bytes"]]
    means = means_of(rows, lambda row: chunks_of(row)["percentile_95_bytes"] / chunks_of(row)["percentile_5_bytes"])
    if len(means) < 2:
        return "How long chunks are"
    even, wide = min(means, key=means.get), max(means, key=means.get)
    return f"Chunk lengths: nine in ten lie within a factor of {means[even]:.2g} with {even}, of {means[wide]:.2g} with {wide}"


def lengths(results: Results) -> Section | None:
    rows, _ = main_aims([row for row in plain(results.runs) if chunks_of(row)["histogram"]])
    if not rows:
        return None
    choices, mechanisms = usual_first(rows), mechanisms_of(rows)
    order = sorted(mechanisms, key=lambda name: (place(mechanisms[name])[0], name))
    panels = []
    for choice in choices:
        here = [row for row in rows if row["aim"] == choice]
        names = [name for name in order if name in {row["algorithm"] for row in here}]
        for name in datasets_of(here, results):
            panels.append(Panel(name, cdf([row for row in here if row["dataset"] == name], names, mechanisms), choice))
    caption = "Cumulative share of chunks by their length, exact cuts. A steep curve means similar lengths; a step at its end is the maximum. "
    caption += "A bucket of lengths is an eighth of an octave; the shortest hundredth is cut off."
    keys = [Key(name, colour(mechanisms[name]), "line", tuple(dash_of(mechanisms[name]))) for name in order]
    title = finding([row for row in rows if row["aim"] == choices[0]])
    return Section("lengths", "Chunk lengths", title, caption, panels, COLUMNS, rows, keys, choices, hint="Point at a curve to see it alone.")
