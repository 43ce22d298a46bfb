"""Throughput of the whole engine, and of cutting alone."""

import math

from experiments.report.charts.dots import aim_keys, dots
from experiments.report.section import Panel, Section, columns_of, number
from experiments.report.select import ENGINE, aim_text, aims_of, datasets_of, engine_text, main_aims, order_by, plain, usual, usual_aim, usual_means
from experiments.results import GIB, Results

UNIT = "throughput, GiB/s"
ENGINE_COLUMNS = columns_of(
    ("GiB/s", number("speed", 3)),
    ("bottleneck", lambda row: row["bottleneck"]),
    ("cut by", lambda row: row["backend_chunking"] or ""),
    ("mean chunk B", number("mean_bytes")),
)
CUTTING_COLUMNS = columns_of(
    ("GiB/s", number("speed", 3)),
    ("of a plain read", number("of_read", 3)),
    ("back end", lambda row: row["backend"]),
    ("mean chunk B", number("mean_bytes")),
)


def spread(rows: list[dict], what: str) -> str:
    """Names the fastest and the slowest at the usual aim, if all rounds of one are faster than those of the other."""
    means = usual_means(rows, "speed")
    if len(means) < 2:
        return f"{what}: GiB a second"
    fast, slow = max(means, key=means.get), min(means, key=means.get)
    if usual_means(rows, "least")[fast] <= usual_means(rows, "most")[slow]:
        return f"{what}: GiB a second; rounds do not tell the algorithms apart at {aim_text(usual_aim(rows))}"
    return f"{what}: {fast} is {means[fast] / means[slow]:.2g} times as fast as {slow} at {aim_text(usual_aim(rows))}"


def with_bounds(row: dict, rates: list[float]) -> dict:
    """The row with its speed, and the speeds of its slowest and its fastest round: these are no bounds where there are not two rounds."""
    least, most = (min(rates), max(rates)) if len(rates) > 1 else (0, math.inf)
    return row | {"speed": row["bytes_per_second"] / GIB, "least": least / GIB, "most": most / GIB}


def panels_of(rows: list[dict], results: Results, log: bool) -> list[Panel]:
    order, aims = order_by(rows, "speed"), aims_of(rows)
    more = (("mean_bytes", "mean chunk, bytes", ",.0f"),)
    return [
        Panel(name, dots([row for row in rows if row["dataset"] == name], "speed", UNIT, order, aims, "~r", log, more))
        for name in datasets_of(rows, results)
    ]


def engine(results: Results) -> Section | None:
    rows, aims = main_aims(usual([row for row in plain(results.runs) if row["bytes_per_second"]], ENGINE))
    rows = [with_bounds(row, [row["bytes"] / seconds for seconds in row["wall_seconds"]]) for row in rows]
    if not rows:
        return None
    caption = f"Whole engine, from files to counted chunks: {engine_text(rows)}. Reading files is part of it."
    title, panels = spread(rows, "The whole engine"), panels_of(rows, results, False)
    return Section("throughput", "Throughput", title, caption, panels, ENGINE_COLUMNS, rows, aim_keys(aims))


def cutting(results: Results) -> Section | None:
    """Cutting alone by the fastest back end of each algorithm, with data in memory."""
    caption = "Cutting alone, one thread, data in memory, the fastest back end of each; logarithmic. Faster than a plain read is possible: "
    return _alone(results, "memory", "cutting", "Cutting alone", caption + "most algorithms do not look at every byte.")


def cutting_by_gpu(results: Results) -> Section | None:
    """A GPU's kernels alone."""
    caption = "The kernels of a GPU that cut, by its own clock, without the copies of the data to it; logarithmic."
    return _alone(results, "device", "gpu", "Cutting by a GPU", caption)


def _alone(results: Results, place: str, name: str, what: str, caption: str) -> Section | None:
    rows = [row for row in results.speeds if row["place"] == place and row["parameters"] == "{}"]
    rows, aims = main_aims(sorted(rows, key=lambda row: -row["bytes_per_second"]))
    rows = [with_bounds(row, [rate for name in ("lowest", "highest") if (rate := row.get(f"{name}_bytes_per_second"))]) for row in rows]
    if not rows:
        return None
    title, panels = spread(rows, what), panels_of(rows, results, True)
    return Section(name, what, title, f"{caption} {rounds_text(rows)}", panels, CUTTING_COLUMNS, rows, aim_keys(aims))


def rounds_text(rows: list[dict]) -> str:
    rounds = sorted({row["rounds"] for row in rows})
    return f"Medians of {rounds[0]} rounds." if len(rounds) == 1 else f"Medians of {rounds[0]} to {rounds[-1]} rounds."
