"""Back ends side by side: what a job takes by each of those that a sweep names, instruction sets and GPUs."""

import altair as alt

from experiments.report.charts.dots import chart, tips
from experiments.report.section import Key, Panel, Section, columns_of, number
from experiments.report.select import aim_text, datasets_of, engine_text, once, plain, size_order, usual
from experiments.report.style import back_end_looks
from experiments.results import GIB, Results

REFERENCE = "scalar"
DEVICES = ("cuda", "hybrid")
BAR = 15  # pixels


def panel(rows: list[dict], colours: dict[str, str]) -> alt.LayerChart:
    shown = [
        {"algorithm": row["algorithm"], "by": row["by"], "speed": round(row["bytes_per_second"] / GIB, 3), "bottleneck": row["bottleneck"]} for row in rows
    ]
    for row in shown:
        row["text"] = f"{row['speed']:.2f}" + (f", {row['bottleneck']}" if row["bottleneck"] else "")
    order = list(dict.fromkeys(row["algorithm"] for row in shown))
    y = alt.Y("algorithm:N", sort=order, title=None, axis=alt.Axis(labelColor="@text"), scale=alt.Scale(paddingInner=0.25))
    offset = alt.YOffset("by:N", sort=list(colours))
    x = alt.X("speed:Q", title="GiB/s", scale=alt.Scale(domain=[0, 1.35 * max(row["speed"] for row in shown)], nice=False))
    fill = alt.Color("by:N", title=None, sort=list(colours), scale=alt.Scale(domain=list(colours), range=list(colours.values())))
    bars = chart(shown, y, offset, x, fill).mark_bar()
    bars = bars.encode(tooltip=tips(("algorithm:N",), ("by:N",), ("speed:Q", "GiB/s", ".2f"), ("bottleneck:N",)))
    labels = chart(shown, y, offset, x, alt.Text("text:N")).mark_text(align="left", dx=5, fontSize=10, color="@muted")
    return alt.layer(bars, labels).properties(height=(BAR * len(colours) + 10) * len(order))


COLUMNS = columns_of(
    ("hash", lambda row: row["hash"]),
    ("back end", lambda row: row["by"]),
    ("GiB/s", number("bytes_per_second", 2, GIB)),
    ("over scalar", lambda row: f"{row['gain']:.2f}"),
    ("bottleneck", lambda row: row["bottleneck"] or "–"),
)


def gains(rows: list[dict]) -> list[dict]:
    """Adds to each row its rate over that of the scalar back end at the same setting. Rows without such a rate are left out."""
    names = ("dataset", "algorithm", "size", "hash")
    scalar = {tuple(row[name] for name in names): row["bytes_per_second"] for row in rows if row["backend"] == REFERENCE}
    settings = [(row, tuple(row[name] for name in names)) for row in rows]
    return [row | {"by": row["backend"], "gain": row["bytes_per_second"] / scalar[key]} for row, key in settings if key in scalar]


def gain_text(rows: list[dict]) -> str:
    """The largest gain by an instruction set and by a device."""
    words = []
    for what, chosen in (("instruction sets", [r for r in rows if r["by"] not in DEVICES]), ("a GPU", [r for r in rows if r["by"] in DEVICES])):
        if chosen:
            best = max(chosen, key=lambda row: row["gain"])
            words.append(f"{what} up to {best['gain']:.1f} times ({best['algorithm']}, {best['by']})")
    return f"The whole engine over its scalar back end: {'; '.join(words)}"


def back_ends(results: Results) -> Section | None:
    """The whole engine by each back end that a sweep names."""
    rows = usual([row for row in plain(results.runs) if row["backend"] != "auto" and row["bytes_per_second"]], ("threads", "segment"))
    rows = gains(once(rows, ("dataset", "algorithm", "aim", "hash", "backend")))
    names = results.catalog.in_order(row["by"] for row in rows)
    if len(names) < 2:
        return None
    colours = {name: "@device" if name in DEVICES else look[0] for name, look in back_end_looks(names, REFERENCE).items()}
    rows.sort(key=lambda row: list(colours).index(row["by"]))
    panels, choices = [], {}
    for aim, hash_name in sorted({(row["aim"], row["hash"]) for row in rows}, key=lambda pair: (pair[1] != rows[0]["hash"], pair[1], size_order(pair[0]))):
        choice = f"{aim_text(aim)}, {hash_name}"
        here = [row for row in rows if (row["aim"], row["hash"]) == (aim, hash_name)]
        for name in datasets_of(here, results):
            panels.append(Panel(name, panel([row for row in here if row["dataset"] == name], colours), choice))
        choices[choice] = None
    caption = f"Whole engine, from files to counted chunks, every back end by name: {engine_text([row | {'backend': 'as named'} for row in rows])}."
    keys = [Key(name, colour, "bar") for name, colour in colours.items()]
    return Section("back-ends", "Back ends", gain_text(rows), caption, panels, COLUMNS, rows, keys, list(choices), "mean aimed at, hash")
