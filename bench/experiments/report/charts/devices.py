"""Processor against GPU: what a job takes by the processor, by a GPU, and by both. The rows are those of scripts/gpu_results.py."""

import itertools

import altair as alt

from experiments.report.charts.dots import chart, tips
from experiments.report.section import Key, Panel, Section, number

COLOURS = ("@stage-reading", "@device", "@stage-delivery", "@stage-joining")
BAR = 15  # pixels
GIGA = 1e9

COLUMNS = [
    ("job", lambda row: row["job"]),
    ("algorithm", lambda row: row["algorithm"]),
    ("by", lambda row: row["by"]),
    ("GB/s", number("bytes_per_second", 2, GIGA)),
    ("bottleneck", lambda row: row["bottleneck"] or "–"),
]


def colours_of(rows: list[dict]) -> dict[str, str]:
    """A colour for each of those that did the work, in their order."""
    return dict(zip(dict.fromkeys(row["by"] for row in rows), itertools.cycle(COLOURS)))


def panel(rows: list[dict], colours: dict[str, str]) -> alt.LayerChart:
    shown = [
        {"algorithm": row["algorithm"], "by": row["by"], "speed": round(row["bytes_per_second"] / GIGA, 3), "bottleneck": row["bottleneck"]} for row in rows
    ]
    for row in shown:
        row["text"] = f"{row['speed']:.2f}" + (f", {row['bottleneck']}" if row["bottleneck"] else "")
    order = list(dict.fromkeys(row["algorithm"] for row in shown))
    y = alt.Y("algorithm:N", sort=order, title=None, axis=alt.Axis(labelColor="@text"), scale=alt.Scale(paddingInner=0.25))
    offset = alt.YOffset("by:N", sort=list(colours))
    x = alt.X("speed:Q", title="GB/s", scale=alt.Scale(domain=[0, 1.35 * max(row["speed"] for row in shown)], nice=False))
    fill = alt.Color("by:N", title=None, sort=list(colours), scale=alt.Scale(domain=list(colours), range=list(colours.values())))
    bars = chart(shown, y, offset, x, fill).mark_bar()
    bars = bars.encode(tooltip=tips(("algorithm:N",), ("by:N",), ("speed:Q", "GB/s", ".2f"), ("bottleneck:N",)))
    labels = chart(shown, y, offset, x, alt.Text("text:N")).mark_text(align="left", dx=5, fontSize=10, color="@muted")
    return alt.layer(bars, labels).properties(height=(BAR * len(colours) + 10) * len(order))


def finding(rows: list[dict]) -> str:
    """The largest and the smallest gain by a GPU, alone or with the processor."""
    alone = {(row["job"], row["algorithm"]): row["bytes_per_second"] for row in rows if row["by"] == "processor"}
    best: dict[tuple[str, str], float] = {}
    for row in rows:
        key = row["job"], row["algorithm"]
        if row["by"] != "processor" and alone.get(key):
            best[key] = max(best.get(key, 0), row["bytes_per_second"] / alone[key])
    if not best:
        return "Processor against GPU"
    most, least = max(best, key=best.get), min(best, key=best.get)
    return f"With a GPU, {most[1]} is {best[most]:.2f} times as fast ({most[0]}), {least[1]} {best[least]:.2f} times ({least[0]})"


def processor_against_gpu(rows: list[dict], device: str) -> Section | None:
    """A panel for each job; None without rows. A row has job, algorithm, by (processor, GPU, both), bytes_per_second, bottleneck."""
    if not rows:
        return None
    colours = colours_of(rows)
    panels = [Panel(job, panel([row for row in rows if row["job"] == job], colours)) for job in dict.fromkeys(row["job"] for row in rows)]
    caption = f"Cut and fingerprinted with SHA-1 by the processor, by {device}, and by both, of one run; beside a speed stands its bottleneck."
    keys = [Key(name, colour, "bar") for name, colour in colours.items()]
    return Section("processor-against-gpu", "GPU", finding(rows), caption, panels, COLUMNS, rows, keys, panels_a_row=2)
