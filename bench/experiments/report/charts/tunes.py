"""Results of `cutpoint tune` on a sample: candidates by speed and savings, and the one that it recommends."""

import re

import altair as alt

from experiments.catalog import OWN, Catalog
from experiments.report.charts.dots import algorithm_keys, by_algorithm, chart, domain, mechanisms_of, tips
from experiments.report.section import Panel, Section, columns_of, number, percent
from experiments.report.select import datasets_of
from experiments.results import GIB, Results
from experiments.sizes import text_of

COLUMNS = columns_of(
    ("options", lambda row: row["options"]),
    ("mean chunk B", number("mean_bytes")),
    ("savings %", percent("savings")),
    ("after the cost of chunks %", percent("net")),
    ("GiB/s, one thread", number("speed", 3)),
    ("on the front", lambda row: "yes" if row["front"] else ""),
    ("recommended", lambda row: "yes" if row["recommended"] else ""),
)

ORDER = {"seq_length": 1, "skip_trigger": 2, "skip_size": 3}  # SeqCDC's, in the paper's order; results have them in alphabetical order


def label(candidate: dict) -> str:
    """A short name: the algorithm, its target, and the parameters that are not sizes."""
    names = [name for name in candidate["parameters"] if not name.endswith("_bytes")]
    values = [str(candidate["parameters"][name]) for name in sorted(names, key=lambda name: ORDER.get(name, 0))]
    target = text_of(round(candidate["target_bytes"])) if candidate["target_bytes"] else ""
    return " ".join(filter(None, [candidate["name"], target, "/".join(values)]))


def candidates(tune: dict, catalog: Catalog) -> list[dict]:
    """One row for each candidate of a search."""
    result = tune["result"]
    chosen = (result["recommendation"] or {}).get("candidate")
    return [
        {
            "dataset": tune["dataset"], "algorithm": entry["name"], "size": text_of(round(entry["target_bytes"])) if entry["target_bytes"] else OWN,
            "options": re.sub(r"--(algorithm|profile|param) ", "", entry["options"]), "label": label(entry), "mechanism": catalog.mechanism(entry["name"]),
            "mean_bytes": entry["mean_bytes"], "savings": entry["sample"]["savings_share"], "net": entry["net_savings_share"],
            "speed": entry["bytes_per_second"] / GIB, "front": entry["on_front"], "recommended": i == chosen, "aim": OWN,
        }
        for i, entry in enumerate(result["candidates"])
        if entry["bytes_per_second"]
    ]  # fmt: skip


def panel(rows: list[dict]) -> alt.LayerChart:
    shown = [{name: row[name] for name in ("algorithm", "label", "net", "speed", "mean_bytes", "front", "recommended")} for row in rows]
    speeds = [row["speed"] for row in shown]
    room = max(max(speeds) - min(speeds), 0.05 * max(speeds))
    x = alt.X(
        "speed:Q", title="cutting and fingerprinting in one thread, GiB/s", axis=alt.Axis(tickCount=5),
        scale=alt.Scale(domain=[min(speeds) - 0.3 * room, max(speeds) + 0.12 * room], nice=False),
    )  # fmt: skip
    y = alt.Y("net:Q", title="savings after the cost of chunks", scale=domain([row["net"] for row in shown]), axis=alt.Axis(format=".3~%", tickCount=5))
    points = chart(
        shown, x, y, by_algorithm(mechanisms_of(rows)),
        opacity=alt.condition("datum.front", alt.value(1), alt.value(0.4)),
        tooltip=tips(("label:N", "candidate"), ("net:Q", "net savings", ".2%"), ("speed:Q", "GiB/s", ".2f"), ("mean_bytes:Q", "mean chunk, bytes", ",.0f")),
    ).mark_point(filled=True, size=64)  # fmt: skip
    best = chart([row for row in shown if row["recommended"]], x, y)
    ring = best.mark_point(size=190, color="@text", strokeWidth=1.5)
    text = best.mark_text(align="right", dx=-11, fontSize=10).encode(alt.Text("label:N"))
    return alt.layer(points, ring, text).properties(height=230)


def tunes(results: Results) -> Section | None:
    rows, panels = [], []
    for name in datasets_of(results.tunes, results):
        for tune in results.tunes:
            here = candidates(tune, results.catalog) if tune["dataset"] == name else []
            if here:
                panels.append(Panel(f"{name}: {tune['algorithm']}, {tune['size']}", panel(here)))
                rows += here
    if not panels:
        return None
    shares = sorted({tune["result"]["sample"]["share"] for tune in results.tunes if tune["result"]["sample"]})
    sample = f"{shares[0]:.0%}" if shares and shares[0] == shares[-1] else f"{shares[0]:.0%} to {shares[-1]:.0%}" if shares else "a sample"
    chosen = [row for row in rows if row["recommended"]]
    title = f"Parameter search: recommendations for {len({row['dataset'] for row in chosen})} data sets by a sample"
    if len(chosen) == 1:
        title = f"Parameter search: a sample of {chosen[0]['dataset']} recommends {chosen[0]['label']}"
    caption = f"cutpoint tune on {sample} of each data set; the recommended candidate has a ring and a name (of SeqCDC: sequence length / skip trigger / "
    caption += "skip size). Faint candidates are beaten in both by another."
    return Section("tune", "Parameter search", title, caption, panels, COLUMNS, rows, algorithm_keys(rows))
