"""Two results files beside each other: what is faster, slower or cut otherwise in the second, by more than the rounds of both vary."""

import json
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from experiments.results import GIB, reading

# Medians that differ by less are equal, however little the rounds vary.
LEAST = 0.02


@dataclass(frozen=True)
class Speed:
    """The rates of a setting in bytes per second: the median of its rounds, and the extremes; these are None of what has no rounds."""

    median: float
    least: float | None = None
    most: float | None = None
    cuts: tuple = ()  # the counts that must not differ: of bytes, chunks and unique bytes

    def __str__(self) -> str:
        of_rounds = f" ({self.least / GIB:.2f} to {self.most / GIB:.2f})" if self.least is not None else ""
        return f"{self.median / GIB:.2f}{of_rounds}"


def _of_rounds(size: int, seconds: list[float], cuts: tuple = ()) -> Speed:
    rates = sorted(size / each for each in seconds)
    extremes = (rates[0], rates[-1]) if len(rates) > 1 else (None, None)
    return Speed(statistics.median(rates), *extremes, cuts)


def _speeds(row: dict) -> Iterator[tuple[str, Speed]]:
    """The speeds of a cell, each with what it has besides the cell's settings."""
    result = json.loads(row["result"])
    if row["kind"] == "dedup":
        counts = result["report"]["result"]
        yield "", _of_rounds(counts["bytes"], result["wall_seconds"], tuple(counts[name] for name in ("bytes", "chunk_count", "unique_bytes")))
    elif row["kind"] in ("backup", "restore"):
        yield "", _of_rounds(result["bytes"], result["wall_seconds"])
    elif row["kind"] in ("kernels", "device-kernels"):
        for each in result["rows"]:
            for name, end in each["back_ends"].items():
                if each["kind"] == "cuts" and end["bytes_per_second"]:
                    yield f"{each['place']} {name}", Speed(end["bytes_per_second"])


def _settings(row: dict) -> str:
    """A setting in words: all that differs from the defaults, which are the same in both files."""
    words = [row["kind"], row["dataset"], row["algorithm"], row["size"]]
    words += [f"{name}={value}" for name, value in json.loads(row["parameters"]).items()]
    passed_over = ("kind", "algorithm", "size", "parameters", "rounds")
    usual = {"backend": "auto", "threads": 0, "join": "exact", "segment": "auto", "bytes": "256M"}
    words += [
        f"{value}{' threads' if name == 'threads' else ''}"
        for name, value in json.loads(row["settings"]).items()
        if name not in passed_over and value != usual.get(name)
    ]
    return " ".join(words)


def _read(path: Path) -> tuple[dict[tuple[str, str, str], Speed], set[str], set[str]]:
    """The speeds by setting, data set and its checksum, the newest of each, and the keys of machines and binaries. Raises Unreadable."""
    speeds: dict[tuple[str, str, str], Speed] = {}
    with reading(path) as connection:
        rows = [dict(row) for row in connection.execute("select * from cells where outcome = 'done' order by started, key")]
    for row in rows:
        for what, speed in _speeds(row):
            speeds[f"{_settings(row)} {what}".strip(), row["dataset"], row["checksum"]] = speed
    return speeds, {row["machine"] for row in rows}, {row["binary"] for row in rows}


def verdict(first: Speed, second: Speed) -> str:
    """One word: slower and faster where all rounds of one are, and the medians differ by more than 2 %."""
    if first.cuts != second.cuts:
        return "other chunks"
    ratio = second.median / first.median
    if first.least is None or second.least is None:
        return "no spread" if abs(ratio - 1) > LEAST else "same"
    is_apart = second.least > first.most or second.most < first.least
    return "same" if not is_apart or abs(ratio - 1) <= LEAST else "faster" if ratio > 1 else "slower"


def compare(first: Path, second: Path) -> str:
    """The comparison as text, what differs first. Raises Unreadable."""
    (before, machines, binaries), (after, other_machines, other_binaries) = _read(first), _read(second)
    both = [setting for setting in before if setting in after]
    judged = {setting: verdict(before[setting], after[setting]) for setting in both}
    counts = {word: list(judged.values()).count(word) for word in ("other chunks", "slower", "faster", "no spread", "same")}
    only, only_after = ({each[:2] for each in these if each not in those} for these, those in ((before, after), (after, before)))
    other_data = only & only_after
    lines = [
        f"{len(both)} settings are in both" + ": " * bool(both) + ", ".join(f"{count} {word}" for word, count in counts.items() if count) + ".",
        f"{len(only - other_data)} are only in the first, {len(only_after - other_data)} only in the second.",
    ]
    if other_data:
        names = ", ".join(sorted({dataset for _, dataset in other_data}))
        lines.append(f"{len(other_data)} are of other data, whose size or content differs, and are not compared: {names}.")
    if machines != other_machines:
        lines.append("They were measured on different machines.")
    lines.append("The same binary measured both." if binaries == other_binaries else "Other binaries measured the second.")
    lines.append(
        f"Slower and faster: no round of one is within the rounds of the other, and the medians differ by more than {LEAST:.0%}. "
        "No spread: a setting with one round, or a kernel, so that nothing tells a difference from noise."
    )
    order = list(counts)
    ratios = {setting: after[setting].median / before[setting].median for setting in both}
    shown = sorted((setting for setting in both if judged[setting] != "same"), key=lambda setting: (order.index(judged[setting]), ratios[setting]))
    if shown:
        lines += ["", "| setting | first, GiB/s | second, GiB/s | ratio | |", "|---|--:|--:|--:|---|"]
        lines += [f"| {each[0]} | {before[each]} | {after[each]} | {ratios[each]:.3f} | {judged[each]} |" for each in shown]
    return "\n".join(lines) + "\n"
