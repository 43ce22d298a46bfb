"""Parts that several charts share, and the chart of dots: a row for each algorithm, a dot for each aim (see catalog.py)."""

import altair as alt

from experiments.catalog import OWN
from experiments.report.section import Key
from experiments.report.select import aim_text
from experiments.report.style import ALGORITHMS, colour

ROW = 17  # pixels of a row
SMALLEST, STEP = 22, 44  # areas of dots
MOST_TICKS = 12

# Vega's expression for the labels of an axis in bytes.
BYTES = "datum.value >= 1048576 ? datum.value / 1048576 + 'M' : datum.value >= 1024 ? datum.value / 1024 + 'K' : datum.value"


def chart(rows: list[dict], *encodings, **more) -> alt.Chart:
    return alt.Chart(alt.Data(values=rows)).encode(*encodings, **more)


def tips(*entries: tuple) -> list[alt.Tooltip]:
    """Tooltips of (field,), (field, title) or (field, title, format). A title of None leaves the field's name."""
    return [alt.Tooltip(field, **{key: text for key, text in zip(("title", "format"), rest) if text}) for field, *rest in entries]


def by_algorithm(mechanisms: dict[str, str], order: list[str] | None = None, **options) -> alt.Color:
    """The colours of algorithms and profiles, which are those of their mechanisms."""
    names = order or sorted(mechanisms)
    return alt.Color("algorithm:N", scale=alt.Scale(domain=names, range=[colour(mechanisms[name]) for name in names]), **({"title": None} | options))


def mechanisms_of(rows: list[dict]) -> dict[str, str]:
    return {row["algorithm"]: row["mechanism"] for row in rows}


def algorithm_keys(rows: list[dict]) -> list[Key]:
    seen = {row["mechanism"] for row in rows}
    return [Key(name, colour(name)) for name in ALGORITHMS if name in seen] + [Key("other", colour("")) for _ in [0] if seen - set(ALGORITHMS)]


def area(aim: str, aims: list[str]) -> int:
    return SMALLEST + STEP * aims.index(aim)


def shape(aim: str) -> str:
    return "diamond" if aim == OWN else "circle"


def looks(aim: str, aims: list[str]) -> dict:
    """Area and shape of a dot of this aim, as part of its datum."""
    return {"area": area(aim, aims), "shape": shape(aim)}


def aim_keys(aims: list[str]) -> list[Key]:
    """The key of the sizes of dots."""
    return [Key(aim_text(aim), "@muted", shape(aim), area=area(aim, aims)) for aim in aims]


def log_scale(least: float, most: float, **options) -> alt.Scale:
    return alt.Scale(type="log", domain=[least, most], nice=False, **options)


def domain(values: list[float], log: bool = False) -> alt.Scale:
    """From zero if that costs less than half of the width; on a logarithmic scale a factor of two at least."""
    least, most = min(values), max(values)
    if log:
        return log_scale(least / 1.1, max(most * 1.1, least * 2))
    if least >= 0 and least < 0.5 * most:
        return alt.Scale(domain=[-0.015 * most, most * 1.03], nice=False)
    spread = max(most - least, 0.02 * abs(most))
    return alt.Scale(domain=[least - 0.06 * spread, most + 0.06 * spread], nice=False)


def log_ticks(values: list[float]) -> list[float]:
    """Round values for a logarithmic axis of `values`: 1, 2 and 5 of each power of ten, more if these are few."""

    def steps(factors: tuple[float, ...]) -> list[float]:
        every = [float(f"{factor}e{power}") for power in range(-4, 7) for factor in factors]
        return [step for step in every if min(values) / 1.1 <= step <= max(values) * 1.1]

    few = steps((1, 2, 5))
    return few if len(few) > 3 else steps((1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8))


def whole_ticks(most: int) -> list[int]:
    """Whole numbers from 1 on, few enough for an axis. Vega's own ticks lie between whole numbers too, which look equal when they are rounded."""
    return list(range(1, most + 1, -(-most // MOST_TICKS)))


def points(base: alt.Chart, *more: tuple) -> alt.Chart:
    """The dots of rows that have `looks`. Their tooltips have the algorithm, the aim and `more`."""
    return base.mark_point(filled=True, opacity=0.95).encode(
        alt.Size("area:Q", scale=None), alt.Shape("shape:N", scale=None), tooltip=tips(("algorithm:N",), ("aim:N", "aims at"), *more)
    )


def dots(
    rows: list[dict], value: str, title: str, order: list[str], aims: list[str], form: str, log: bool = False, more: tuple = ()
) -> alt.LayerChart:
    """A panel. `form` is the format of values, as d3 has it; `more` are tooltips of (field, title, format)."""
    mechanisms = mechanisms_of(rows)
    order = [name for name in order if name in mechanisms]
    shown = [
        {"algorithm": r["algorithm"], "aim": r["aim"], "value": r[value]} | looks(r["aim"], aims) | {name: r[name] for name, *_ in more}
        for r in rows
    ]
    values = [row["value"] for row in shown]
    axis = alt.Axis(format=form, values=log_ticks(values)) if log else alt.Axis(format=form, tickCount=5)
    base = chart(
        shown,
        alt.Y("algorithm:N", sort=order, title=None, axis=alt.Axis(grid=True, labelColor="@text")),
        alt.X("value:Q", title=title, scale=domain(values, log), axis=axis),
        by_algorithm(mechanisms, order, legend=None, title=alt.Undefined),
    )
    thread = base.mark_line(strokeWidth=1.5, opacity=0.45).encode(alt.Order("area:Q"))
    value_tip = ("value:Q", title, form if form.endswith("%") else ".3~f")
    return alt.layer(thread, points(base, value_tip, *((f"{name}:Q", *rest) for name, *rest in more))).properties(height=ROW * len(order))
