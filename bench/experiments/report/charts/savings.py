"""What deduplication would save, for each data set, algorithm and mean chunk."""

from collections import Counter

import altair as alt

from experiments.report.aims import OWN
from experiments.report.charts.dots import aim_keys, dots, looks, points
from experiments.report.charts.lengths import BYTES
from experiments.report.rows import Results
from experiments.report.section import Key, Panel, Section, columns_of, number, percent
from experiments.report.select import aim_text, aims_of, datasets_of, listed, once, order_by, plain, usual_aim
from experiments.report.style import ALGORITHMS, colour
from experiments.sizes import bytes_of, rounded

LIKE = 1.5  # times the aim, or one part of so many: means that are compared
LEAST = 0.0005  # of savings, below which there is nothing to compare
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
    """Who saves most, and on how many data sets, of those whose mean came out near the aim: shorter chunks save more by any algorithm."""
    aim = usual_aim(rows)
    of_aim = [row for row in rows if row["aim"] == aim and (aim == OWN or 1 / LIKE <= row["mean_bytes"] / bytes_of(aim) <= LIKE)]
    datasets = {row["dataset"] for row in of_aim}
    best: Counter[str] = Counter()
    for name in datasets:
        here = [row for row in of_aim if row["dataset"] == name]
        most = max(row["savings"] for row in here)
        best.update(row["algorithm"] for row in here if row["savings"] == most and len(here) > 1)
    if not best:
        return "What deduplication would save"
    count = max(best.values())
    winners = sorted(name for name, times in best.items() if times == count)
    where = f"{count} of {len(datasets)} data sets" if len(datasets) > 1 else next(iter(datasets))
    who = f"{winners[0]} saves" if len(winners) == 1 else f"it depends on the data: {listed(winners)} each save"
    return f"Where a mean of {aim_text(aim)} was aimed at and came out, {who} most on {where}"


def by_mean(rows: list[dict], aims: list[str]) -> alt.LayerChart:
    """A panel: savings against the mean chunk that came of it, so that algorithms are compared at equal means."""
    mechanisms = {row["algorithm"]: row["mechanism"] for row in rows}
    names = sorted(mechanisms)
    shown = [
        {"algorithm": row["algorithm"], "aim": row["aim"], "mean": round(row["mean_bytes"]), "savings": row["savings"]} | looks(row["aim"], aims)
        for row in rows
    ]
    means = [row["mean"] for row in shown]
    scale = alt.Scale(type="log", base=2, domain=[min(means) / 1.1, max(means) * 1.1], nice=False)
    base = alt.Chart(alt.Data(values=shown)).encode(
        alt.X("mean:Q", title="mean chunk as measured, bytes", scale=scale, axis=alt.Axis(labelExpr=BYTES, tickCount=6)),
        alt.Y("savings:Q", title="savings, share of the bytes", scale=alt.Scale(zero=False, nice=False), axis=alt.Axis(format=".3~%", tickCount=5)),
        alt.Color("algorithm:N", title=None, scale=alt.Scale(domain=names, range=[colour(mechanisms[name]) for name in names])),
    )
    tips = (alt.Tooltip("mean:Q", title="mean chunk, bytes", format=",.0f"), alt.Tooltip("savings:Q", format=".2%"))
    return alt.layer(base.mark_line(strokeWidth=1.5, opacity=0.5), points(base, *tips)).properties(height=270)


def means_text(rows: list[dict]) -> str:
    """How far means are from the aim: equal aims are not equal chunks."""
    aim = usual_aim(rows)
    means = [row["mean_bytes"] for row in rows if row["aim"] == aim and row["mechanism"] != "fixed"]
    if not means:
        return ""
    span = f"means came out from {rounded(min(means))} to {rounded(max(means))}"
    return f"Where {aim_text(aim)} were aimed at, {span}, and the title counts those within a factor of {LIKE}"


def savings(results: Results) -> Section | None:
    rows = once([r for r in plain(results.runs) if r["savings"] is not None], ("dataset", "algorithm", "aim"))
    aims = aims_of(rows)
    rows = [row for row in rows if row["aim"] in aims]
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
            tips = (("mean_bytes", "mean chunk, bytes", ",.0f"),)
            panels.append(Panel(name, dots(here, "savings", "savings, share of the bytes", order, aims, ".3~%", tips=tips), VIEWS[0]))
            panels.append(Panel(name, by_mean([row for row in here if row["aim"] != OWN] or here, aims), VIEWS[1]))
    caption = "1 − unique bytes / bytes, exact cuts, which depend on neither machine nor threads. Algorithms stand in the order of their mean savings. "
    caption += f"{means_text(fertile)}: compare by the measured means too, where profiles with sizes of their own are left out. "
    caption += "Axes begin at zero only where a dot is near it."
    notes = [f"Nothing to save on {listed(barren)}: less than {LEAST:.2%} by any algorithm."] if barren else []
    seen = {row["mechanism"] for row in fertile}
    keys = aim_keys(aims) + [Key(name, f"@{name}") for name in ALGORITHMS if name in seen]
    return Section(
        "savings", "Savings", finding(fertile), caption, panels, COLUMNS, rows, keys, list(VIEWS), "mean chunk", notes=notes
    )  # fmt: skip
