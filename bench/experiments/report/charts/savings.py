"""What deduplication would save, for each data set, algorithm and size."""

from collections import Counter

from experiments.report.charts.dots import dots, size_keys
from experiments.report.rows import Results
from experiments.report.section import Panel, Section, columns_of, number, percent
from experiments.report.select import asked_text, datasets_of, listed, once, order_by, plain, sizes_of, usual_size

LEAST = 0.0005  # of savings, below which there is nothing to compare

COLUMNS = columns_of(
    ("savings %", percent("savings")),
    ("DER", number("elimination_ratio", 3)),
    ("mean chunk B", number("mean_bytes")),
    ("chunks", number("chunk_count")),
    ("unique bytes", number("unique_bytes")),
    ("bytes", number("bytes")),
)


def finding(rows: list[dict]) -> str:
    """Who saves most, and on how many data sets."""
    size = usual_size(rows)
    of_size = [row for row in rows if row["size"] == size]
    best = Counter()
    datasets = {row["dataset"] for row in of_size}
    for name in datasets:
        here = [row for row in of_size if row["dataset"] == name]
        most = max(row["savings"] for row in here)
        best.update(row["algorithm"] for row in here if row["savings"] == most and len(here) > 1)
    if not best:
        return "What deduplication would save"
    count = max(best.values())
    winners = sorted(name for name, times in best.items() if times == count)
    where = f"{count} of {len(datasets)} data sets" if len(datasets) > 1 else next(iter(datasets))
    verb = "saves" if len(winners) == 1 else "each save"
    return f"At {asked_text(size)}, {listed(winners)} {verb} most on {where}"


def savings(results: Results) -> Section | None:
    rows = once([r for r in plain(results.runs) if r["savings"] is not None], ("dataset", "algorithm", "size"))
    sizes = sizes_of(rows)
    rows = [row for row in rows if row["size"] in sizes]
    if not rows:
        return None
    names = datasets_of(rows, results)
    barren = [name for name in names if all(row["savings"] < LEAST for row in rows if row["dataset"] == name)]
    fertile = [row for row in rows if row["dataset"] not in barren] or rows
    order = order_by(fertile, "savings")
    panels = [
        Panel(
            name,
            dots(
                [row for row in rows if row["dataset"] == name], "savings", "savings, share of the bytes", order, sizes, ".3~%",
                tips=(("mean_bytes", "mean chunk, bytes", ",.0f"),),
            ),
        )
        for name in names
        if name not in barren
    ]  # fmt: skip
    caption = "1 − unique bytes / bytes, exact cuts: they depend on neither machine nor threads. Algorithms in the order of their mean "
    caption += f"savings at {asked_text(usual_size(fertile))}; axes begin at zero only where a dot is near it."
    notes = [f"Nothing to save on {listed(barren)}: less than {LEAST:.2%} by any algorithm."] if barren else []
    return Section("savings", "Savings", finding(fertile), caption, panels, COLUMNS, rows, size_keys(sizes), notes=notes)
