"""How long chunks are: the share that is no longer than a length."""

import altair as alt

from experiments.report.rows import Results
from experiments.report.section import Key, Panel, Section, columns_of, number
from experiments.report.select import datasets_of, once, plain, aims_of, usual_aim
from experiments.report.style import ALGORITHMS, DASHES, colour, member

# Vega's expression for the labels of an axis in bytes.
BYTES = "datum.value >= 1048576 ? datum.value / 1048576 + 'M' : datum.value >= 1024 ? datum.value / 1024 + 'K' : datum.value"
FINE = 0.002  # steps of the curve that no eye sees are left out

COLUMNS = columns_of(
    ("chunks", number("chunk_count")),
    ("mean B", number("mean_bytes")),
    *[(f"{p} % ≤ B", lambda row, p=p: f"{row['report']['result']['chunks'][f'percentile_{p}_bytes']}") for p in (5, 25, 50, 75, 95)],
    ("longest B", lambda row: f"{row['report']['result']['chunks']['max_bytes']}"),
)


def curve(row: dict) -> list[dict]:
    """Its points, from the histogram: lengths in bytes and the share of chunks that are no longer. Flat between buckets."""
    chunks = row["report"]["result"]["chunks"]
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


def cdf(rows: list[dict], names: list[tuple[str, str]]) -> alt.LayerChart:
    """A panel: a curve for each algorithm; `names` are all of the section's, with their mechanisms."""
    points = [point for row in rows for point in curve(row)]
    shortest = min(row["report"]["result"]["chunks"]["percentile_1_bytes"] for row in rows) / 1.2
    longest = max(row["report"]["result"]["chunks"]["max_bytes"] for row in rows) * 1.05
    labels = [name for name, _ in names]
    lit = alt.selection_point(fields=["algorithm"], on="pointerover", clear="pointerout")
    base = alt.Chart(alt.Data(values=points)).encode(
        alt.X(
            "b:Q", title="chunk length, bytes", scale=alt.Scale(type="log", base=2, domain=[shortest, longest], nice=False),
            axis=alt.Axis(labelExpr=BYTES, tickCount=7),
        ),
        alt.Y("s:Q", title="share of chunks that are no longer", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=5)),
        alt.Color("algorithm:N", title=None, scale=alt.Scale(domain=labels, range=[colour(m) for _, m in names])),
        tooltip=[alt.Tooltip("algorithm:N"), alt.Tooltip("b:Q", title="bytes", format=",.0f"), alt.Tooltip("s:Q", title="share", format=".1%")],
    )  # fmt: skip
    dashes = alt.StrokeDash("algorithm:N", title=None, scale=alt.Scale(domain=labels, range=[dash_of(m) for _, m in names]))
    lines = base.mark_line(strokeWidth=1.8, clip=True).encode(
        dashes, opacity=alt.condition(lit, alt.value(0.95), alt.value(0.12), empty=True)
    )
    targets = base.mark_line(strokeWidth=9, opacity=0, clip=True).encode(alt.Detail("algorithm:N")).add_params(lit)
    return alt.layer(lines, targets).properties(height=230)


def finding(rows: list[dict]) -> str:
    """Whose lengths spread least and most between the 5th and the 95th percentile."""
    spreads: dict[str, list[float]] = {}
    for row in rows:
        chunks = row["report"]["result"]["chunks"]
        if row["mechanism"] != "fixed" and chunks["percentile_5_bytes"]:
            spreads.setdefault(row["algorithm"], []).append(chunks["percentile_95_bytes"] / chunks["percentile_5_bytes"])
    means = {name: sum(values) / len(values) for name, values in spreads.items()}
    if len(means) < 2:
        return "How long chunks are"
    even, wide = min(means, key=means.get), max(means, key=means.get)
    return f"Chunk lengths: nine in ten lie within a factor of {means[even]:.2g} with {even}, of {means[wide]:.2g} with {wide}"


def lengths(results: Results) -> Section | None:
    rows = [r for r in plain(results.runs) if r["report"]["result"]["chunks"]["histogram"]]
    rows = once(rows, ("dataset", "algorithm", "aim"))
    aims = aims_of(rows)
    rows = [row for row in rows if row["aim"] in aims]
    if not rows:
        return None
    first = usual_aim(rows)
    choices = [first, *[aim for aim in aims if aim != first]]
    known = list(ALGORITHMS)
    mechanisms = {row["algorithm"]: row["mechanism"] for row in rows}
    order = sorted(mechanisms, key=lambda n: (known.index(mechanisms[n]) if mechanisms[n] in known else len(known), n))
    panels = []
    for choice in choices:
        here = [row for row in rows if row["aim"] == choice]
        names = [(name, mechanisms[name]) for name in order if name in {row["algorithm"] for row in here}]
        for name in datasets_of(here, results):
            panels.append(Panel(name, cdf([row for row in here if row["dataset"] == name], names), choice))
    caption = "Cumulative share of chunks by their length, exact cuts. Where a curve rises steeply, lengths are alike; a step at its end is the maximum. "
    caption += "A bucket of lengths is an eighth of an octave; the shortest hundredth is cut off."
    keys = [Key(name, colour(mechanisms[name]), "line", tuple(dash_of(mechanisms[name]))) for name in order]
    section = Section("lengths", "Chunk lengths", finding([r for r in rows if r["aim"] == first]), caption, panels, COLUMNS, rows, keys, choices)
    section.choice_label = "mean aimed at"
    section.hint = "Point at a curve to see it alone."
    return section


