"""Searches, for each of SeqCDC's data sets and algorithms, the size whose mean chunk is near the target (section VI-E, appendix C).

Means and savings are exact. What a search varies has a mean that grows with it, on most data; where it does not, the nearest counts.
"""

import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from experiments.papers.measured import lines_of
from experiments.papers.paper import SEQCDC, SEQCDC_NAMES

FILE = "fair.json"  # beside the pages
SETS = tuple(SEQCDC.values())
TARGET = 16 << 10
NEAR = 0.06  # of the target
LONGEST_SKIP = 704  # the paper's
STEPS = 9  # bisections of one range
MEASURED = ("mean_bytes", "savings_share", "elimination_ratio", "percentile_5_bytes", "percentile_95_bytes")


@dataclass(frozen=True)
class Setting:
    """A size as for --size, and parameters as for --param."""

    size: str
    parameters: tuple[str, ...] = ()


Knob = tuple[Callable[[int], Setting], int, int]  # makes the setting of a number between two bounds


def knobs(name: str) -> Iterator[Knob]:
    """What is varied, one after the other until the mean fits. The paper's limits, a minimum of half and a maximum of twice, come first."""
    if name in ("AE", "RAM"):
        yield lambda average: Setting(str(average)), 1 << 10, 2 * TARGET
    elif name == "FCDC":
        for least in (8192, 4096, 2048, 512):
            yield lambda half, least=least: Setting(f"{least}:{2 * half}:32K"), max(least, 512) // 2, 15 << 10
    elif name == "SEQ":
        for length in (5, 6, 4, 3):
            yield lambda skip, length=length: Setting("8K:16K:32K", (f"seq_length={length}", f"skip_size={skip}")), 0, LONGEST_SKIP
    else:
        for divisor in ("8K", "4K", "2K", "1K"):
            yield lambda least, divisor=divisor: Setting(f"{least}:{divisor}:32K"), 64, 15 << 10


def off(mean: float) -> float:
    return mean / TARGET - 1


class Search:
    """Looks for the setting of one algorithm on one data set. `measure` returns what MEASURED names."""

    def __init__(self, name: str, measure: Callable[[Setting], dict]):
        self.name, self._measure = name, measure
        self.tried: dict[Setting, dict] = {}

    def run(self) -> dict:
        for knob in knobs(self.name):
            if self._bisect(*knob):
                break
        setting = min(self.tried, key=lambda each: abs(off(self.tried[each]["mean_bytes"])))
        measured = self.tried[setting]
        entry = {"size": setting.size, "parameters": " ".join(setting.parameters), "tried": len(self.tried)} | measured
        if abs(off(measured["mean_bytes"])) > NEAR:
            entry["why"] = f"none of {len(self.tried)} settings comes nearer than {100 * abs(off(measured['mean_bytes'])):.0f} %"
        return entry

    def _off(self, setting: Setting) -> float:
        if setting not in self.tried:
            self.tried[setting] = self._measure(setting)
        return off(self.tried[setting]["mean_bytes"])

    def _bisect(self, make: Callable[[int], Setting], low: int, high: int) -> bool:
        """Whether a setting within the bounds is near the target."""
        ends = [self._off(make(number)) for number in (low, high)]
        if min(map(abs, ends)) <= NEAR:
            return True
        if ends[0] > 0 or ends[1] < 0:
            return False
        for _ in range(STEPS):
            middle = (low + high) // 2
            distance = self._off(make(middle))
            if abs(distance) <= NEAR:
                return True
            low, high = (middle, high) if distance < 0 else (low, middle)
        return False


def measure(sets: dict[str, tuple[str, list[Path]]], command: Path, log: Callable[[str], None]) -> dict:
    """Everything, for data sets given by name with checksum and paths."""

    def run(paths: list[Path], algorithm: str, setting: Setting) -> dict:
        parameters = [word for each in setting.parameters for word in ("--param", each)]
        words = [command, "dedup", "--json", "-q", "--hash", "xxh3", "--algorithm", algorithm, "--size", setting.size, *parameters, *paths]
        result = json.loads(subprocess.run([*map(str, words)], stdout=subprocess.PIPE, check=True).stdout)["result"]
        return {key: (result | result["chunks"])[key] for key in MEASURED}

    settings = {}
    for dataset, (checksum, paths) in sets.items():
        log(f"searching sizes on {dataset}")
        entries = {name: Search(name, partial(run, paths, algorithm)).run() for name, algorithm in SEQCDC_NAMES.items()}
        settings[dataset] = {"checksum": checksum, "algorithms": entries}
    return settings


text_of = partial(lines_of, depth=3)  # a line for each algorithm
