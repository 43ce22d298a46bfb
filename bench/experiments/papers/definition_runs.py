"""Measures definitions as the papers print them beside ours, the chunks that change when bytes are inserted or deleted, and the methods that papers
compare with.

Cuts, savings and changed chunks are exact. Times are the shortest of the rounds, in one thread; without rounds there are none. Those of
methods are medians.
"""

import json
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

from experiments.papers.measured import lines_of
from experiments.papers.paper import matrix_size
from experiments.sizes import bytes_of

FILE = "definitions.json"  # beside the pages
SETS = ("random", "linux", "packages", "images", "redis")
BASELINES = "random"  # the set beside whose figures are those of methods, of random bytes, too
SHIFTED_BYTES = "64M"
SHIFTS = 1000  # of each kind at each place
PLACES = ("minimum", "skipped", "sequence", "between", "maximum", "window")
CHANGES = ("insertion", "deletion")
TARGET = "8K"

# The algorithms whose chunks are shifted, at TARGET, and what canonical strings call them.
SHIFTED = {name: name for name in ("gear", "rabin", "rabin-inck", "adler", "crc32", "buzhash", "tttd", "fastcdc", "maxp", "ram", "fixed")} | {
    "ae-max": "ae", "ae-max of 8 bytes": "ae", "seqcdc-inc": "seqcdc",
}  # fmt: skip


def cuts_of(name: str) -> str:
    """The chunker of one of SHIFTED, as the program takes it."""
    if name in ("ae-max", "ae-max of 8 bytes", "seqcdc-inc", "maxp", "ram", "fixed"):
        return f"{SHIFTED[name]}(avg_bytes={bytes_of(TARGET)}{',value_bytes=8' if name.endswith('8 bytes') else ''})"
    least, average, most = map(bytes_of, matrix_size(name, TARGET).split(":"))
    return f"{SHIFTED[name]}(min_bytes={least},avg_bytes={average},max_bytes={most})"


def ask(program: Path, *words):
    """What a program prints as JSON."""
    return json.loads(subprocess.run([*map(str, (program, *words))], stdout=subprocess.PIPE, check=True).stdout)


def definitions(program: Path, paths: list[Path], rounds: int) -> dict[str, dict]:
    """By the definition's name: both sums of chunks, and the cuts that both share."""
    rows = ask(program, "definitions", *paths, "--rounds", rounds)
    return {row["name"]: {key: row[key] for key in ("bytes", "printed", "ours", "shared_cuts")} for row in rows}


def shifts(program: Path, paths: list[Path]) -> dict[str, dict[str, dict]]:
    """By the algorithm's name, and by place and change: the sums of many shifts. Places that no chunk has are missing."""
    tallies: dict[str, dict[str, dict]] = {}
    for name in SHIFTED:
        rows = ask(program, "shifts", paths[0], "--bytes", bytes_of(SHIFTED_BYTES), "--count", SHIFTS, "--cuts", cuts_of(name))
        tallies[name] = {f"{row['place']} {row['change']}": {key: row[key] for key in row if key not in ("cuts", "place", "change")} for row in rows}
    return tallies


def baselines(program: Path, rounds: int, *words) -> dict[str, float]:
    """By algorithm and method, as in `gear/ss-cdc`: bytes a second of a thread's time. Methods that the processor cannot run are missing."""
    runs = ask(program, "--benchmark_filter=^baseline/", "--benchmark_format=json", f"--benchmark_repetitions={rounds}", *words)["benchmarks"]
    medians = [run for run in runs if run.get("aggregate_name") == "median"]
    return {run["run_name"].removeprefix("baseline/"): run["bytes_per_second"] for run in medians if "bytes_per_second" in run}


def measure(sets: dict[str, tuple[str, list[Path]]], build: Path, rounds: int, log: Callable[[str], None]) -> dict:
    """Everything, for data sets given by name with checksum and paths."""
    program = build / "bench/cutpoint_paper_runs"
    measured = {}
    for name, (checksum, paths) in sets.items():
        log(f"comparing definitions on {name}")
        measured[name] = {"checksum": checksum, "definitions": definitions(program, paths, rounds), "shifts": shifts(program, paths)}
        if name == BASELINES and rounds:
            measured[name]["baselines"] = baselines(build / "bench/cutpoint_bench", rounds)
    return measured


text_of = partial(lines_of, depth=3)  # a line for each definition, and for each algorithm that was shifted
