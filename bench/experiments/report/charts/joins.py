"""The cost of joins that are not exact: chunks that the sequential algorithm does not make, and duplicates that are missed."""

import itertools

import altair as alt

from experiments.report.charts.dots import BYTES, by_algorithm, chart, log_scale, mechanisms_of, tips
from experiments.report.section import Key, Panel, Section, columns_of, number, percent
from experiments.report.select import by_group, datasets_of, listed, usual_first
from experiments.report.style import DASHES, SHAPES, colour, member
from experiments.results import Results
from experiments.sizes import text_of

EXACT = "exact"
MEASURES = {"dirty": ("dirty chunks", "dirty chunks, share"), "missed_share": ("missed duplicates", "missed duplicates, share")}

COLUMNS = columns_of(
    ("join", lambda row: row["join_name"]),
    ("segment", lambda row: text_of(row["segment_bytes"])),
    ("dirty chunks", number("dirty_chunks")),
    ("dirty %", percent("dirty", 3)),
    ("missed duplicates %", percent("missed_share", 3)),
    ("savings %", percent("savings")),
)


def panel(rows: list[dict], measure: str, mechanisms: dict[str, str], dashes: dict[str, list[int]]) -> alt.LayerChart:
    labels = sorted(mechanisms)
    shown = [
        {"algorithm": r["algorithm"], "join": r["join_name"], "segment": r["segment_bytes"], "value": r[measure], "chunks": r["dirty_chunks"]}
        for r in rows
        if r[measure] is not None
    ]
    ticks = sorted({row["segment"] for row in shown})
    axis = alt.Axis(values=ticks, labelExpr=BYTES, grid=False)
    base = chart(
        shown,
        alt.X("segment:Q", title="segment, bytes", scale=log_scale(ticks[0] / 1.15, ticks[-1] * 1.15, base=2), axis=axis),
        alt.Y("value:Q", title=MEASURES[measure][1], axis=alt.Axis(format="~%", tickCount=5)),
        by_algorithm(mechanisms),
    )
    lines = base.mark_line(strokeWidth=1.8).encode(
        alt.StrokeDash("join:N", scale=alt.Scale(domain=list(dashes), range=list(dashes.values())), title="join")
    )
    points = base.mark_point(filled=True, size=48, opacity=1).encode(
        alt.Shape("algorithm:N", title=None, scale=alt.Scale(domain=labels, range=[SHAPES[member(mechanisms[name])] for name in labels])),
        tooltip=tips(
            ("algorithm:N",), ("join:N",), ("segment:Q", "segment, bytes", ",.0f"), ("value:Q", MEASURES[measure][0], ".3%"),
            ("chunks:Q", "dirty chunks", ",.0f"),
        ),  # fmt: skip
    )
    return alt.layer(lines, points).properties(height=170)


def finding(rows: list[dict]) -> str:
    most = max(rows, key=lambda row: row["dirty"])
    text = f"Joins that are not exact leave up to {most['dirty']:.1%} of chunks dirty"
    missed = [row for row in rows if row["missed_share"] is not None]
    if missed:
        text += f" and miss up to {max(max(row['missed_share'] for row in missed), 0):.2%} of the duplicates"
    return text


def joins(results: Results) -> Section | None:
    rows = []
    for row in results.runs:
        if row["join_name"] != EXACT and row["dirty_chunks"] is not None and row["chunk_count"] and row["parameters"] == "{}":
            rows.append(row | {"segment_bytes": row["report"]["segment_bytes"], "dirty": row["dirty_chunks"] / row["chunk_count"]})
    if not rows:
        return None
    rows = by_group(rows)
    aims, mechanisms = usual_first(rows), mechanisms_of(rows)
    dashes = dict(zip(dict.fromkeys(row["join_name"] for row in rows), itertools.cycle(DASHES)))
    panels = []
    for aim in aims:
        of_aim = [row for row in rows if row["aim"] == aim]
        for name in datasets_of(of_aim, results):
            here = [row for row in of_aim if row["dataset"] == name]
            for measure, (title, _) in MEASURES.items():
                if any(row[measure] is not None for row in here):
                    panels.append(Panel(f"{name} — {title}", panel(here, measure, mechanisms, dashes), aim))
    keys = [Key(name, colour(mechanism), SHAPES[member(mechanism)]) for name, mechanism in sorted(mechanisms.items())]
    keys += [Key(f"join {name}", "@muted", "line", tuple(dash)) for name, dash in dashes.items()]
    caption = f"Whole engine with the join {listed(list(dashes))}, against the exact cuts of the same bytes. "
    caption += "Dirty: chunks that the exact cuts do not have. Missed: duplicates, in bytes, that the exact cuts find and these do not; "
    caption += "by chance it can be negative. With the exact join, which is the default, both are zero."
    return Section("joins", "Joins", finding(rows), caption, panels, COLUMNS, rows, keys, aims, panels_a_row=4)
