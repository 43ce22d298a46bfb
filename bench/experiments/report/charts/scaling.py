"""Throughput of the whole engine by the number of threads, over that of one thread."""

import altair as alt

from experiments.report.charts.dots import algorithm_keys, by_algorithm, chart, log_scale, mechanisms_of, tips
from experiments.report.section import Key, Panel, Section, columns_of, number
from experiments.report.select import datasets_of, plain, size_order, usual, usual_first
from experiments.report.style import DASHES
from experiments.results import GIB, Results

SETTING = ("dataset", "algorithm", "size", "segment")

COLUMNS = columns_of(
    ("segment", lambda row: row["segment"]),
    ("threads", lambda row: f"{row['threads']}"),
    ("GiB/s", number("bytes_per_second", 3, GIB)),
    ("over one thread", lambda row: f"{row['gain']:.2f}"),
    ("of linear", lambda row: f"{row['gain'] / row['threads']:.2f}"),
    ("bottleneck", lambda row: row["bottleneck"]),
)


def gains(rows: list[dict]) -> list[dict]:
    """Adds to each row its rate over that of one thread. Settings that ran with one number of threads only are left out."""
    by_setting: dict[tuple, dict[int, dict]] = {}
    for row in rows:
        by_setting.setdefault(tuple(row[name] for name in SETTING), {})[row["threads"]] = row
    return [
        row | {"gain": row["bytes_per_second"] / runs[1]["bytes_per_second"]}
        for runs in by_setting.values()
        if 1 in runs and len(runs) > 1
        for _, row in sorted(runs.items())
    ]


def panel(rows: list[dict], mechanisms: dict[str, str], dashes: dict[str, list[int]]) -> alt.LayerChart:
    shown = [
        {"algorithm": r["algorithm"], "segment": r["segment"], "size": r["size"], "threads": r["threads"], "gain": round(r["gain"], 3)} for r in rows
    ]
    counts = sorted({row["threads"] for row in shown})
    axis = alt.Axis(values=counts, format="d", grid=False)
    x = alt.X("threads:Q", title="threads", scale=log_scale(counts[0] / 1.1, counts[-1] * 1.1, base=2), axis=axis)
    most = max(counts[-1], *(row["gain"] for row in shown))
    y_scale = log_scale(min(row["gain"] for row in shown) / 1.15, most * 1.15, base=2)
    y = alt.Y("gain:Q", title="times as fast as one", scale=y_scale, axis=alt.Axis(format="~r", tickCount=5))
    linear = chart([{"threads": count, "gain": count} for count in counts], x, y).mark_line(strokeWidth=1, color="@rule")
    base = chart(shown, x, y, by_algorithm(mechanisms), alt.Detail("size:N"))
    lines = base.mark_line(strokeWidth=1.8).encode(alt.StrokeDash("segment:N", scale=alt.Scale(domain=list(dashes), range=list(dashes.values())), title="segment"))
    points = base.mark_point(filled=True, size=40, opacity=1).encode(
        tooltip=tips(("algorithm:N",), ("size:N",), ("segment:N",), ("threads:Q",), ("gain:Q", "over one thread", ".2f"))
    )
    return alt.layer(linear, lines, points).properties(height=190)


def scaling(results: Results) -> Section | None:
    rows = gains(usual([row for row in plain(results.runs) if row["threads"] and row["backend"] == "auto" and row["bytes_per_second"]], ("hash",)))
    if not rows:
        return None
    choices, mechanisms = usual_first(rows), mechanisms_of(rows)
    segments = sorted({row["segment"] for row in rows}, key=size_order)
    dashes = {segment: DASHES[i % len(DASHES)] for i, segment in enumerate(segments)}
    most = max(row["threads"] for row in rows)
    reached = [row["gain"] for row in rows if row["threads"] == most]
    least, best = (f"{gain:.2g}" for gain in (min(reached), max(reached)))
    title = f"{most} threads are {least if least == best else f'{least} to {best}'} times as fast as one"
    panels = []
    for choice in choices:
        here = [row for row in rows if row["aim"] == choice]
        panels += [Panel(name, panel([row for row in here if row["dataset"] == name], mechanisms, dashes), choice) for name in datasets_of(here, results)]
    caption = f"Whole engine over its rate on one thread, both axes logarithmic; the gray line is linear. {rows[0]['hash']} fingerprints, exact cuts."
    keys = algorithm_keys(rows) + [Key(f"segment {name}", "@muted", "line", tuple(dash)) for name, dash in dashes.items() if len(dashes) > 1]
    return Section("scaling", "Threads", title, caption, panels, COLUMNS, rows, keys, choices)
