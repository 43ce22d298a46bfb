"""What the whole engine does a second, and what cutting alone does."""

from experiments.report.charts.dots import dots, aim_keys
from experiments.report.rows import GIB, Results
from experiments.report.section import Panel, Section, columns_of, number
from experiments.report.select import aim_text, datasets_of, engine_text, once, order_by, plain, aims_of, usual, usual_aim

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
    """The fastest and the slowest at the usual aim, as a finding."""
    aim = usual_aim(rows)
    found: dict[str, list[float]] = {}
    for row in rows:
        if row["aim"] == aim:
            found.setdefault(row["algorithm"], []).append(row["speed"])
    means = {name: sum(values) / len(values) for name, values in found.items()}
    if len(means) < 2:
        return f"{what}: GiB a second"
    fast, slow = max(means, key=means.get), min(means, key=means.get)
    return f"{what}: {fast} is {means[fast] / means[slow]:.2g} times as fast as {slow} at {aim_text(aim)}"


def panels_of(rows: list[dict], results: Results, log: bool) -> list[Panel]:
    order, aims = order_by(rows, "speed"), aims_of(rows)
    tips = (("mean_bytes", "mean chunk, bytes", ",.0f"),)
    return [
        Panel(name, dots([row for row in rows if row["dataset"] == name], "speed", UNIT, order, aims, "~r", log, tips))
        for name in datasets_of(rows, results)
    ]


def engine(results: Results) -> Section | None:
    rows = [row for row in plain(results.runs) if row["bytes_per_second"]]
    rows = once(usual(rows, ("hash", "backend", "threads", "segment")), ("dataset", "algorithm", "aim"))
    aims = aims_of(rows)
    rows = [row | {"speed": row["bytes_per_second"] / GIB} for row in rows if row["aim"] in aims]
    if not rows:
        return None
    caption = f"Whole engine, from files to counted chunks: {engine_text(rows)}. Reading files is part of it."
    return Section(
        "throughput", "Throughput", spread(rows, "The whole engine"), caption, panels_of(rows, results, False), ENGINE_COLUMNS, rows,
        aim_keys(aims),
    )  # fmt: skip


def cutting(results: Results) -> Section | None:
    """The fastest back end of each algorithm, in memory."""
    rows = [row for row in results.speeds if row["place"] == "memory" and row["parameters"] == "{}"]
    fastest = sorted(rows, key=lambda row: -row["bytes_per_second"])
    rows = once(fastest, ("dataset", "algorithm", "aim"))
    aims = aims_of(rows)
    rows = [row | {"speed": row["bytes_per_second"] / GIB} for row in rows if row["aim"] in aims]
    if not rows:
        return None
    caption = "Cutting alone, one thread, data in memory, the fastest back end of each; logarithmic. Faster than a plain read is possible: "
    caption += f"most algorithms do not look at every byte. {rounds_text(rows)}"
    return Section(
        "cutting", "Cutting alone", spread(rows, "Cutting alone"), caption, panels_of(rows, results, True), CUTTING_COLUMNS, rows,
        aim_keys(aims),
    )  # fmt: skip


def rounds_text(rows: list[dict]) -> str:
    rounds = sorted({row["rounds"] for row in rows})
    return f"Medians of {rounds[0]} rounds." if len(rounds) == 1 else f"Medians of {rounds[0]} to {rounds[-1]} rounds."
