"""Selects and orders the rows of a chart: equal settings, sizes, data sets and algorithms in their order."""

from collections import Counter
from collections.abc import Callable
from statistics import median

from experiments.catalog import OWN
from experiments.report.style import ALGORITHMS
from experiments.results import Results
from experiments.sizes import bytes_of

MOST_AIMS = 6
ENGINE = ("hash", "backend", "threads", "segment")  # settings of the whole engine


def size_order(size: str) -> tuple[float, str]:
    """The order of sizes: by the average; own sizes come last."""
    numbers = size.split(":")
    try:
        return bytes_of(numbers[1] if len(numbers) == 3 else numbers[0]), size
    except ValueError:
        return float("inf"), size


def aims_of(rows: list[dict]) -> list[str]:
    """The aims worth showing, in their order: at most six, each with at least a fifth of the rows of the most common one."""
    common = Counter(row["aim"] for row in rows).most_common(MOST_AIMS)
    return sorted((aim for aim, count in common if aim == OWN or 5 * count >= common[0][1]), key=size_order)


def usual_aim(rows: list[dict]) -> str:
    """The aim of most rows, own sizes apart; the middle one of several."""
    counts = Counter(row["aim"] for row in rows if row["aim"] != OWN) or Counter(row["aim"] for row in rows)
    most = sorted((aim for aim, count in counts.items() if count == max(counts.values())), key=size_order)
    return most[(len(most) - 1) // 2]


def datasets_of(rows: list[dict], results: Results) -> list[str]:
    """Data sets in the order in which the sweep made them."""
    known = [entry["label"] for entry in results.datasets]
    return sorted({row["dataset"] for row in rows}, key=lambda name: known.index(name) if name in known else len(known))


def plain(rows: list[dict]) -> list[dict]:
    """Whole-engine rows with the exact cuts of each name's own parameters, those of large groups first."""
    return by_group([row for row in rows if row["join_name"] == "exact" and row["parameters"] == "{}"])


def by_group(rows: list[dict]) -> list[dict]:
    """Rows of large groups first: of two settings with the same aim, the one with which most others were measured."""
    return sorted(rows, key=lambda row: -row["group_size"])


def usual(rows: list[dict], names: tuple[str, ...]) -> list[dict]:
    """The rows that have the most common combination of values of `names`; of back ends with as many rows, those of the fastest."""
    others = tuple(name for name in names if name != "backend")
    if not rows:
        return []
    most = Counter(tuple(row[name] for name in others) for row in rows).most_common(1)[0][0]
    rows = [row for row in rows if tuple(row[name] for name in others) == most]
    if len(others) == len(names):
        return rows
    speeds: dict[str, list[float]] = {}
    for row in rows:
        speeds.setdefault(row["backend"], []).append(row["bytes_per_second"] or 0)
    chosen = max(speeds, key=lambda name: (len(speeds[name]), median(speeds[name])))
    return [row for row in rows if row["backend"] == chosen]


def once(rows: list[dict], names: tuple[str, ...]) -> list[dict]:
    """The first row of each combination of values of `names`."""
    first_rows: dict[tuple, dict] = {}
    for row in rows:
        first_rows.setdefault(tuple(row[name] for name in names), row)
    return list(first_rows.values())


def place(name: str) -> tuple[int, str]:
    """The order of algorithms, then of other names."""
    known = list(ALGORITHMS)
    return known.index(name) if name in known else len(known), name


def means_of(rows: list[dict], value: Callable[[dict], float]) -> dict[str, float]:
    """The mean of a value for each algorithm."""
    by_algorithm: dict[str, list[float]] = {}
    for row in rows:
        by_algorithm.setdefault(row["algorithm"], []).append(value(row))
    return {name: sum(values) / len(values) for name, values in by_algorithm.items()}


def usual_means(rows: list[dict], name: str) -> dict[str, float]:
    """The same over the rows of the usual aim."""
    aim = usual_aim(rows)
    return means_of([row for row in rows if row["aim"] == aim], lambda row: row[name])


def order_by(rows: list[dict], value: str) -> list[str]:
    """Algorithms by their mean at the usual aim, the largest first, and then those that lack that aim."""
    means = usual_means(rows, value)
    return sorted(means, key=lambda name: (-means[name], name)) + sorted({row["algorithm"] for row in rows} - set(means), key=place)


def usual_first(rows: list[dict]) -> list[str]:
    """The aims of the rows, the usual one first."""
    first = usual_aim(rows)
    return sorted({row["aim"] for row in rows}, key=lambda aim: (aim != first, size_order(aim)))


def main_aims(rows: list[dict]) -> tuple[list[dict], list[str]]:
    """One row of each data set, algorithm and aim, for the aims worth showing, and these aims."""
    rows = once(rows, ("dataset", "algorithm", "aim"))
    aims = aims_of(rows)
    return [row for row in rows if row["aim"] in aims], aims


def threads_text(threads: int) -> str:
    return "a thread for each processor" if not threads else "1 thread" if threads == 1 else f"{threads} threads"


def engine_text(rows: list[dict]) -> str:
    """The settings that rows share, for a caption."""
    row = rows[0]
    rounds = sorted({row["rounds"] for row in rows})
    of = f"median of {rounds[0]} runs" if rounds[0] > 1 else "one run"
    if len(rounds) > 1:
        of = f"medians of {rounds[0]} to {rounds[-1]} runs"
    return f"{row['hash']} fingerprints, back end {row['backend']}, {threads_text(row['threads'])}, {of}"


def aim_text(aim: str) -> str:
    """An aim as text, for example 8 KiB."""
    return "own size" if aim == OWN else f"{aim[:-1]} {aim[-1]}iB" if aim[-1].isalpha() else f"{aim} B"


def listed(names: list[str]) -> str:
    """Names as a list in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def in_order(rows: list[dict], results: Results) -> list[dict]:
    """Rows in the order of a table: by data set, algorithm and size."""
    datasets = datasets_of(rows, results)
    return sorted(rows, key=lambda row: (datasets.index(row["dataset"]), place(row["algorithm"]), size_order(row["size"])))
