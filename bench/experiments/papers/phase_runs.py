"""Measures the time of cutting and fingerprinting by phase, as in SeqCDC's figure 1. All phases of an algorithm are of its shortest round, in one thread."""

from functools import partial
from pathlib import Path

from experiments.papers.definition_runs import ask
from experiments.papers.measured import conditions, lines_of

FILE = "phases.json"  # beside the pages
SET = "random"
PHASES = ("rolling hash", "boundary test", "extreme search", "range scan", "fingerprint")


def measure(paths: list[Path], build: Path, rounds: int) -> dict:
    """By SeqCDC's name of the algorithm: the seconds of each phase, those that readings of the clock have of them, and those of the loop that the
    phases are taken from."""
    program = build / "bench/cutpoint_paper_runs"
    rows = ask(program, "phases", paths[0], "--rounds", rounds)
    return conditions(build / "cli/cutpoint", program, rounds) | {"algorithms": {row.pop("name"): row for row in rows}}


text_of = partial(lines_of, depth=2)  # a line for each algorithm
