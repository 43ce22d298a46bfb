"""Savings of deduplication by data set, algorithm and mean chunk."""

from collections import Counter

import altair as alt

from experiments.catalog import OWN
from experiments.report.charts.dots import BYTES, aim_keys, algorithm_keys, by_algorithm, chart, domain, dots, log_scale, looks, mechanisms_of, points
from experiments.report.section import Panel, Section, columns_of, number, percent
from experiments.report.select import aim_text, datasets_of, listed, main_aims, order_by, plain, usual_aim
from experiments.results import Results
from experiments.sizes import bytes_of, rounded

LIKE = 1.5  # means within this factor of the aim are compared
LEAST = 0.0005  # smaller savings are not compared
VIEWS = ("aimed at", "measured")

COLUMNS = columns_of(
    ("savings %", percent("savings")),
    ("DER", number("elimination_ratio", 3)),
    ("mean chunk B", number("mean_bytes")),
    ("chunks", number("chunk_count")),
    ("unique bytes", number("unique_bytes")),
    ("bytes", number("bytes")),
)


def finding(rows: list[dict]) -> str:
    """Names the algorithms that save most, and on how many data sets. Only rows with a mean near the aim count, since shorter chunks save more."""
    aim = usual_aim(rows)
    of_aim = [row for row in rows if row["aim"] == aim and (aim == OWN or 1 / LIKE <= row["mean_bytes"] / bytes_of(aim) <= LIKE)]
    datasets = {row["dataset"] for row in of_aim}
    best: Counter[str] = Counter()
    for name in datasets:
        here = [row for row in of_aim if row["dataset"] == name]
        most = max(row["savings"] for row in here)
        best.update(row["algorithm"] for row in here if row["savings"] == most and len(here) > 1)
    if not best:
        return "Savings of deduplication"
    count = max(best.values())
    winners = sorted(name for name, times in best.items() if times == count)
    where = f"{count} of {len(datasets)} data sets" if len(datasets) > 1 else next(iter(datasets))
    who = f"{winners[0]} saves" if len(winners) == 1 else f"it depends on the data: {listed(winners)} each save"
    return f"With an aim and a measured mean of {aim_text(aim)}, {who} most on {where}"


def by_mean(rows: list[dict], aims: list[str]) -> alt.LayerChart:
    """A panel: savings against the measured mean chunk. It compares algorithms at equal means."""
    shown = [
        {"algorithm": row["algorithm"], "aim": row["aim"], "mean": round(row["mean_bytes"]), "savings": row["savings"]} | looks(row["aim"], aims)
        for row in rows
    ]
    means = [row["mean"] for row in shown]
    scale = log_scale(min(means) / 1.1, max(means) * 1.1, base=2)
    base = chart(
        shown,
        alt.X("mean:Q", title="mean chunk as measured, bytes", scale=scale, axis=alt.Axis(labelExpr=BYTES, tickCount=6)),
        alt.Y("savings:Q", title="savings, share of the bytes", scale=domain([row["savings"] for row in shown]), axis=alt.Axis(format=".3~%", tickCount=5)),
        by_algorithm(mechanisms_of(rows)),
    )
    drawn = points(base, ("mean:Q", "mean chunk, bytes", ",.0f"), ("savings:Q", None, ".2%"))
    return alt.layer(base.mark_line(strokeWidth=1.5, opacity=0.5), drawn).properties(height=270)


def means_text(rows: list[dict]) -> str:
    """Says how far measured means are from the aim."""
    aim = usual_aim(rows)
    means = [row["mean_bytes"] for row in rows if row["aim"] == aim and row["mechanism"] != "fixed"]
    if not means:
        return ""
    span = f"measured means are {rounded(min(means))} to {rounded(max(means))}"
    return f"For an aim of {aim_text(aim)} {span}, and the title counts those within a factor of {LIKE}. "


def savings(results: Results) -> Section | None:
    rows, aims = main_aims([row for row in plain(results.runs) if row["savings"] is not None])
    if not rows:
        return None
    names = datasets_of(rows, results)
    barren = [name for name in names if all(row["savings"] < LEAST for row in rows if row["dataset"] == name)]
    fertile = [row for row in rows if row["dataset"] not in barren] or rows
    order = order_by(fertile, "savings")
    panels = []
    for name in names:
        here = [row for row in rows if row["dataset"] == name]
        if name not in barren or len(barren) == len(names):
            more = (("mean_bytes", "mean chunk, bytes", ",.0f"),)
            panels.append(Panel(name, dots(here, "savings", "savings, share of the bytes", order, aims, ".3~%", more=more), VIEWS[0]))
            panels.append(Panel(name, by_mean([row for row in here if row["aim"] != OWN] or here, aims), VIEWS[1]))
    caption = "1 − unique bytes / bytes with exact cuts, which do not depend on machine or threads. Algorithms are in the order of their mean savings. "
    caption += f"{means_text(fertile)}Compare by the measured means too, which leave out profiles with their own sizes. "
    caption += "Axes begin at zero only if a dot is near it."
    notes = [f"{listed(barren)}: every algorithm saves less than {LEAST:.2%}."] if barren else []
    keys = aim_keys(aims) + algorithm_keys(fertile)
    return Section("savings", "Savings", finding(fertile), caption, panels, COLUMNS, rows, keys, list(VIEWS), "mean chunk", notes=notes)
