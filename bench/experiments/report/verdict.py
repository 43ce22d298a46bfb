"""The verdict at the end of the page: which setting to take for each data set, and why. The rule is that of `cutpoint tune`."""

from collections.abc import Callable

from experiments.report.charts.stages import total
from experiments.report.select import ENGINE, datasets_of, plain, usual
from experiments.results import Results
from experiments.sizes import rounded

CHUNK_COST = 64  # bytes that a store needs for each chunk
ENOUGH = 0.98  # of what the best saves
HEADINGS = ("data set", "take", "mean chunk", "saves", "s/GiB", "because", "options")
RULE = (
    f"The rule: of the settings that save at least {ENOUGH:.0%} of what the best saves, after {CHUNK_COST} bytes for each chunk, "
    "take the one that takes the least processor time for a GiB. What a store keeps is compressed too: for it, the rows of cutpoint tune "
    "--goal store decide, where the sweep has them."
)
DEPENDS = "A single data set, or versions of one kind, say nothing about other data. Add your own to the sweep by their path."


def net_savings(row: dict) -> float:
    """The share of the bytes that is saved after the cost of chunks."""
    return (row["bytes"] - row["unique_bytes"] - CHUNK_COST * row["chunk_count"]) / row["bytes"]


def name_of(row: dict) -> str:
    return row["algorithm"] if row["size"] == "own" else f"{row['algorithm']} {row['size']}"


def options_of(row: dict, is_profile: bool) -> str:
    """The words by which `chunk`, `dedup` and `init` take the row's cuts."""
    kind = "--profile" if is_profile else "--algorithm"
    return f"{kind} {row['algorithm']}" + ("" if row["size"] == "own" else f" --size {row['size']}")


def has_equal_lengths(row: dict) -> bool:
    chunks = row["report"]["result"]["chunks"]
    return chunks["percentile_5_bytes"] == chunks["max_bytes"]


def choice(rows: list[dict], savings: Callable[[dict], float], cost: Callable[[dict], float]) -> tuple[dict, str]:
    """The row to take, and why."""
    best = max(rows, key=savings)
    if savings(best) <= 0:
        cheapest = min(rows, key=cost)
        return cheapest, f"no setting saves more than its chunks cost: store these data as they are; {name_of(cheapest)} is the cheapest"
    enough = [row for row in rows if savings(row) >= ENOUGH * savings(best)]
    setting = min(enough, key=cost)
    why = "it saves the most"
    if len(enough) > 1:
        why += f" and is the cheapest of the {len(enough)} that save nearly as much"
    if setting is not best:
        why = f"it is the cheapest of the {len(enough)} settings that save enough; {name_of(best)} saves {savings(best):.1%} at {cost(best):.2f} s/GiB"
    if has_equal_lengths(setting):
        why += "; chunks of a fixed length save hardly anything once bytes are inserted"
    return setting, why


def verdict(results: Results) -> list[list[str]]:
    """A row of text for each data set. It is empty without runs of the whole engine that count savings."""
    rows = usual([row for row in plain(results.runs) if row["savings"] is not None and row["bytes"]], ENGINE)
    lines = []
    for name in datasets_of(rows, results):
        row, why = choice([row for row in rows if row["dataset"] == name], net_savings, total)
        saves = net_savings(row)
        take = name_of(row) if saves > 0 else "no deduplication"
        options = options_of(row, results.catalog.is_profile(row["algorithm"])) if saves > 0 else ""
        lines.append([name, take, rounded(row["mean_bytes"]), f"{saves:.1%}", f"{total(row):.2f}", why, options])
    return lines + [line for tune in results.tunes if (line := of_store(tune))]


def of_store(tune: dict) -> list[str] | None:
    """The row of a search for the smallest store."""
    recommendation = tune["result"].get("recommendation")
    if tune["result"].get("goal") != "store" or not recommendation:
        return None
    chosen = tune["result"]["candidates"][recommendation["candidate"]]
    take = "the default" if chosen["is_default"] else chosen["name"]
    return [f"{tune['dataset']}, a store", take, rounded(chosen["mean_bytes"]), f"{chosen['net_savings_share']:.1%}", "", recommendation["why"], recommendation["options"]]


def title(lines: list[list[str]]) -> str:
    lines = [line for line in lines if line[4]]  # without stores
    names = {take for _, take, *_ in lines}
    if not lines:
        return "Verdict for stores"
    if len(lines) == 1:
        return f"Verdict: for {lines[0][0]} take {lines[0][1]}"
    if len(names) == 1:
        return f"Verdict: for all {len(lines)} data sets take {lines[0][1]}"
    return f"Verdict: it depends on the data, {len(names)} answers for {len(lines)} data sets"
