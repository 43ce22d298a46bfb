"""Processor time of each stage, and the bottleneck."""

from collections import Counter

import altair as alt

from experiments.report.charts.dots import ROW, chart, tips
from experiments.report.section import Column, Key, Panel, Section, columns_of, number
from experiments.report.select import ENGINE, aim_text, datasets_of, engine_text, once, plain, usual, usual_aim
from experiments.report.style import STAGES
from experiments.results import GIB, Results


def cost(row: dict, which: str = "busy_seconds") -> dict[str, float]:
    """Seconds of each stage for a GiB of input."""
    of = row["report"]["result"]["bytes"] / GIB
    return {stage["stage"]: stage[which] / of for stage in row["report"]["stages"]}


def total(row: dict) -> float:
    return sum(cost(row).values())


def stage_column(name: str):
    return name, lambda row: f"{cost(row).get(name, 0):.3f}"


def stages_of(rows: list[dict]) -> list[str]:
    """The stages of rows in their order. Some rows may have others, such as those of devices."""
    seen = dict.fromkeys(name for row in rows for name in cost(row))
    return [name for name in STAGES if name in seen] + [name for name in seen if name not in STAGES]


def columns(rows: list[dict]) -> list[Column]:
    return columns_of(
        ("hash", lambda row: row["hash"]),
        ("threads", lambda row: f"{row['report']['thread_count']}"),
        *[stage_column(name) for name in stages_of(rows)],
        ("sum s/GiB", lambda row: f"{total(row):.3f}"),
        ("bottleneck", lambda row: row["bottleneck"]),
        ("GiB/s", number("bytes_per_second", 3, GIB)),
    )


def token(stage: str) -> str:
    return f"@stage-{stage}" if stage in STAGES else "@device"


def bars(rows: list[dict]) -> alt.LayerChart:
    """A panel: a bar for each algorithm, the cheapest first."""
    order = [row["algorithm"] for row in sorted(rows, key=total)]
    names = stages_of(rows)
    shown = [
        {"algorithm": row["algorithm"], "stage": stage, "place": names.index(stage), "seconds": round(seconds, 4)}
        for row in rows
        for stage, seconds in cost(row).items()
    ]
    ends = [{"algorithm": row["algorithm"], "seconds": round(total(row), 4), "bound": row["bottleneck"] or ""} for row in rows]
    y = alt.Y("algorithm:N", sort=order, title=None, axis=alt.Axis(labelColor="@text"))
    most = max(end["seconds"] for end in ends)
    scale = alt.Scale(domain=[0, most * 1.42], nice=False)
    drawn = chart(
        shown,
        y,
        alt.X("seconds:Q", title="processor seconds for a GiB", scale=scale, axis=alt.Axis(tickCount=5)),
        alt.Color("stage:N", title=None, scale=alt.Scale(domain=names, range=[token(name) for name in names])),
        alt.Order("place:Q"),
        tooltip=tips(("algorithm:N",), ("stage:N",), ("seconds:Q", "seconds for a GiB", ".3f")),
    ).mark_bar(height={"band": 0.72})
    label = chart(ends, y, alt.X("seconds:Q"), alt.Text("bound:N")).mark_text(align="left", dx=5, fontSize=10, color="@muted")
    return alt.layer(drawn, label).properties(height=(ROW + 1) * len(order))


def keys_of(rows: list[dict]) -> list[Key]:
    seen = {stage for row in rows for stage in cost(row)} | {row["bottleneck"] for row in rows}
    return [Key(name, token(name), "bar") for name in [*STAGES, *sorted(n for n in seen - set(STAGES) if n)] if name in seen]


def stages(results: Results) -> Section | None:
    rows = [row for row in plain(results.runs) if row["report"]["stages"] and row["report"]["result"]["bytes"]]
    rows = usual(rows, ENGINE)
    if not rows:
        return None
    aim = usual_aim(rows)
    rows = once([row for row in rows if row["aim"] in (aim, "own")], ("dataset", "algorithm"))
    most, count = Counter(row["bottleneck"] for row in rows).most_common(1)[0]
    title = f"Time by stage: {most} is the bottleneck of {count} of {len(rows)} runs at {aim_text(aim)}"
    caption = f"Busy time of all threads by stage, for a GiB of input, mean aimed at {aim_text(aim)} (profiles: their own): {engine_text(rows)}. "
    caption += "The name beside each bar is the bottleneck: the stage that takes longest alone, with parallel stages divided among the threads."
    panels = [Panel(name, bars([row for row in rows if row["dataset"] == name])) for name in datasets_of(rows, results)]
    return Section("stages", "Stages", title, caption, panels, columns(rows), rows, keys_of(rows))
