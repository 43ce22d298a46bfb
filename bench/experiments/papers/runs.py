"""Measures AE's table 5: the bytes of low-entropy strings that cuts detect. Reports do not have them, since they depend on the content of chunks.

A chunk detects such a string if all its bytes are equal and its length is the algorithm's for equal bytes: Rabin's maximum, AE's window and
one byte, AE-Opt2's LEST. Deduplication eliminates these equal chunks of one length. MAXP, whose rule is strict on one side, does not cut
within equal bytes.
"""

import mmap
import subprocess
from functools import partial
from pathlib import Path

from experiments.papers.measured import lines_of
from experiments.papers.paper import AE_EXPECTED, AE_OTHERS, AE_RABIN
from experiments.sizes import bytes_of

FILE = "low-entropy.json"  # beside the pages
WINDOW_LESS = 256  # a window for byte values is shorter than the expected chunk by this (`cutpoint list ae-max`)


def settings(expected: str) -> dict[str, tuple[list[str], int]]:
    """For each row of table 5: the words of the command, and the length of a chunk that is a low-entropy string."""
    ecs, others = AE_EXPECTED[expected], AE_OTHERS[expected]
    ae = ["--algorithm", "ae-max", "--size", others]
    rows = {
        "Rabin_0.25": (["--algorithm", "rabin", "--size", AE_RABIN[expected]], 8 * ecs),
        "AE": (ae, bytes_of(others) - WINDOW_LESS + 1),
    }
    for divisor in (2, 4, 8):
        rows[f"AE-Opt2 1/{divisor}"] = ([*ae, "--param", f"lest={ecs // divisor}"], ecs // divisor)
    return rows


def detected(path: Path, lengths: list[int], length: int) -> int:
    """The bytes in chunks of this length that consist of one value."""
    total = start = 0
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for size in lengths:
            if size == length and data[start] == data[start + size // 2] == data[start + size - 1]:
                chunk = data[start : start + size]
                total += size if chunk.count(chunk[:1]) == size else 0
            start += size
    return total


def measure(command: Path, paths: list[Path], words: list[str], length: int) -> float:
    """The share of the data that is detected."""
    detected_bytes = every = 0
    for path in paths:
        run = subprocess.run([command, "chunk", "-q", "--format", "lengths", *words, path], stdout=subprocess.PIPE, check=True)
        lengths = [int(line) for line in run.stdout.split()]
        detected_bytes += detected(path, lengths, length)
        every += sum(lengths)
    return detected_bytes / every


def measure_sets(command: Path, sets: dict[str, tuple[str, list[Path]]]) -> dict:
    """The shares of each row and size, of data sets given by name with checksum and paths."""
    return {
        name: {"checksum": checksum}
        | {expected: {row: measure(command, paths, *how) for row, how in settings(expected).items()} for expected in AE_EXPECTED}
        for name, (checksum, paths) in sets.items()
    }


text_of = partial(lines_of, depth=2)  # a line for each size
