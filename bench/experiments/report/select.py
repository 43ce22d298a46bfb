"""What of the results belongs beside each other: equal settings, sizes in their order, data sets and algorithms in one order."""

from collections import Counter

from experiments.report.aims import OWN
from experiments.report.rows import Results
from experiments.report.style import ALGORITHMS
from experiments.sizes import bytes_of

MOST_AIMS = 6


def size_order(size: str) -> tuple[float, str]:
    """By the average; what has its own size comes last."""
    parts = size.split(":")
    try:
        return bytes_of(parts[1] if len(parts) == 3 else parts[0]), size
    except ValueError:
        return float("inf"), size


def aims_of(rows: list[dict]) -> list[str]:
    """The aims worth showing, at most six, in their order: those that a fifth as many rows have as the most common one."""
    common = Counter(row["aim"] for row in rows).most_common(MOST_AIMS)
    return sorted((aim for aim, count in common if aim == OWN or 5 * count >= common[0][1]), key=size_order)


def usual_aim(rows: list[dict]) -> str:
    """The aim that most rows have, own sizes apart; of several the middle one."""
    counts = Counter(row["aim"] for row in rows if row["aim"] != OWN) or Counter(row["aim"] for row in rows)
    most = sorted((aim for aim, count in counts.items() if count == max(counts.values())), key=size_order)
    return most[(len(most) - 1) // 2]


def datasets_of(rows: list[dict], results: Results) -> list[str]:
    """In the order in which the sweep made them."""
    known = [entry["label"] for entry in results.datasets]
    return sorted({row["dataset"] for row in rows}, key=lambda name: known.index(name) if name in known else len(known))


def plain(rows: list[dict]) -> list[dict]:
    """Of whole-engine rows those with the exact cuts of each name's own parameters; those of large groups first."""
    return by_group([row for row in rows if row["join_name"] == "exact" and row["parameters"] == "{}"])


def by_group(rows: list[dict]) -> list[dict]:
    """Those of large groups first: of two settings with the same aim, the one that most others were measured with."""
    return sorted(rows, key=lambda row: -row["group_size"])


def usual(rows: list[dict], names: tuple[str, ...]) -> list[dict]:
    """The rows whose values of `names` are those that most rows have together, so that nothing else differs."""
    if not rows:
        return []
    most = Counter(tuple(row[name] for name in names) for row in rows).most_common(1)[0][0]
    return [row for row in rows if tuple(row[name] for name in names) == most]


def once(rows: list[dict], names: tuple[str, ...]) -> list[dict]:
    """One row of each combination, the first."""
    kept: dict[tuple, dict] = {}
    for row in rows:
        kept.setdefault(tuple(row[name] for name in names), row)
    return list(kept.values())


def order_by(rows: list[dict], value: str, falling: bool = True) -> list[str]:
    """Algorithms by their mean over rows of the usual aim, where they have it, and then those that have it not."""
    aim = usual_aim(rows)
    found: dict[str, list[float]] = {}
    for row in rows:
        if row["aim"] == aim:
            found.setdefault(row["algorithm"], []).append(row[value])
    means = {name: sum(values) / len(values) for name, values in found.items()}
    known = list(ALGORITHMS)
    others = sorted({row["algorithm"] for row in rows} - set(means), key=lambda n: (known.index(n) if n in known else len(known), n))
    return sorted(means, key=lambda name: (-means[name] if falling else means[name], name)) + others


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
    """An aim as a key or a sentence shows it: 8 KiB."""
    return "own size" if aim == OWN else f"{aim[:-1]} {aim[-1]}iB" if aim[-1].isalpha() else f"{aim} B"


def listed(names: list[str]) -> str:
    """Words in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def in_order(rows: list[dict], results: Results) -> list[dict]:
    """By data set, algorithm and size, as a table lists them."""
    datasets, known = datasets_of(rows, results), list(ALGORITHMS)

    def place(row: dict) -> tuple:
        name = row["algorithm"]
        return datasets.index(row["dataset"]), known.index(name) if name in known else len(known), name, size_order(row["size"])

    return sorted(rows, key=place)
