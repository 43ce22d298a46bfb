"""Dots: a row for each algorithm, a dot for each mean that was aimed at. What savings, throughput and speed-ups have in common."""

import altair as alt

from experiments.report.aims import OWN
from experiments.report.section import Key
from experiments.report.select import aim_text
from experiments.report.style import colour

ROW = 17  # pixels of a row
SMALLEST, STEP = 22, 44  # areas of dots


def area(aim: str, aims: list[str]) -> int:
    return SMALLEST + STEP * aims.index(aim)


def shape(aim: str) -> str:
    return "diamond" if aim == OWN else "circle"


def looks(aim: str, aims: list[str]) -> dict:
    """How a dot of this aim looks, as part of its datum."""
    return {"area": area(aim, aims), "shape": shape(aim)}


def aim_keys(aims: list[str]) -> list[Key]:
    """What the sizes of dots mean."""
    return [Key(aim_text(aim), "@muted", shape(aim), area=area(aim, aims)) for aim in aims]


def domain(values: list[float], log: bool = False) -> alt.Scale:
    """From zero where that costs less than half of the width; on a logarithmic scale a factor of two at least."""
    least, most = min(values), max(values)
    if log:
        return alt.Scale(type="log", domain=[least / 1.1, max(most * 1.1, least * 2)], nice=False)
    if least >= 0 and least < 0.5 * most:
        return alt.Scale(domain=[-0.015 * most, most * 1.03], nice=False)
    spread = max(most - least, 0.02 * abs(most))
    return alt.Scale(domain=[least - 0.06 * spread, most + 0.06 * spread], nice=False)


def log_ticks(values: list[float]) -> list[float]:
    """Round values that a logarithmic axis of these shows: 1, 2 and 5 of each power of ten, more where there are few."""

    def steps(factors: tuple[float, ...]) -> list[float]:
        every = [float(f"{factor}e{power}") for power in range(-4, 7) for factor in factors]
        return [step for step in every if min(values) / 1.1 <= step <= max(values) * 1.1]

    few = steps((1, 2, 5))
    return few if len(few) > 3 else steps((1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8))


def points(base: alt.Chart, *tips: alt.Tooltip) -> alt.Chart:
    """The dots of rows that have `looks`, each telling its algorithm, its aim and these."""
    return base.mark_point(filled=True, opacity=0.95).encode(
        alt.Size("area:Q", scale=None),
        alt.Shape("shape:N", scale=None),
        tooltip=[alt.Tooltip("algorithm:N"), alt.Tooltip("aim:N", title="aims at"), *tips],
    )


def dots(
    rows: list[dict], value: str, title: str, order: list[str], aims: list[str], form: str, log: bool = False, tips: tuple = ()
) -> alt.LayerChart:
    """A panel. `form` is how values are written, in d3's format."""
    mechanisms = {row["algorithm"]: row["mechanism"] for row in rows}
    order = [name for name in order if name in mechanisms]
    shown = [
        {"algorithm": r["algorithm"], "aim": r["aim"], "value": r[value]} | looks(r["aim"], aims) | {name: r[name] for name, _, _ in tips}
        for r in rows
    ]
    axis = alt.Axis(format=form, values=log_ticks([row["value"] for row in shown])) if log else alt.Axis(format=form, tickCount=5)
    base = alt.Chart(alt.Data(values=shown)).encode(
        alt.Y("algorithm:N", sort=order, title=None, axis=alt.Axis(grid=True, labelColor="@text")),
        alt.X("value:Q", title=title, scale=domain([r["value"] for r in shown], log), axis=axis),
        alt.Color("algorithm:N", legend=None, scale=alt.Scale(domain=order, range=[colour(mechanisms[name]) for name in order])),
    )
    thread = base.mark_line(strokeWidth=1.5, opacity=0.45).encode(alt.Order("area:Q"))
    told = alt.Tooltip("value:Q", title=title, format=form if form.endswith("%") else ".3~f")
    rest = [alt.Tooltip(f"{name}:Q", title=text, format=how) for name, text, how in tips]
    return alt.layer(thread, points(base, told, *rest)).properties(height=ROW * len(order))
