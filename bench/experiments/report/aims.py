"""Which mean chunk a setting aims at: what makes differently asked sizes of different algorithms comparable.

A rolling hash adds its divisor to its minimum, so that its mean is larger than the average that is asked for; others take the average
itself. The aim is the power of two nearest to the expected mean of random bytes.
"""

import math
import re

from experiments.expected import random_mean
from experiments.sizes import text_of

OWN = "own"
ROLLING = {"gear", "rabin", "rabin-inck", "adler", "crc32", "buzhash", "tttd"}

# The name in canonical strings, where it is not the algorithm's own, by what it has of its parameters.
VARIANTS = {
    "ae": {"extreme=max": "ae-max", "extreme=min": "ae-min"},
    "seqcdc": {"order=increasing": "seqcdc-inc", "order=decreasing": "seqcdc-dec"},
}


def algorithm_of(cuts: str) -> str:
    """The algorithm of a canonical string: of a profile, the one that it sets."""
    name = cuts.split("(")[0]
    return next((found for parameter, found in VARIANTS.get(name, {}).items() if parameter in cuts), name)


def expected_mean(cuts: str) -> float | None:
    """Bytes, of random data: PRUNE's equation 2 for rolling hashes, the average for others; None where the string names none."""
    found = {name: int(value) for name, value in re.findall(r"(min_bytes|avg_bytes|max_bytes)=(\d+)", cuts)}
    if not found.get("avg_bytes"):
        return None
    mean = found["avg_bytes"]
    if cuts.split("(")[0] not in ROLLING:
        return mean
    least, most = found.get("min_bytes", 0), found.get("max_bytes", 0)
    return random_mean(least, mean, most) if most else least + mean


def aim_of(algorithm: str, cuts: str) -> str:
    """The aim as text, `own` for profiles, which have sizes of their own, and for what names no average."""
    mean = expected_mean(cuts)
    if not mean or algorithm != algorithm_of(cuts):
        return OWN
    return text_of(1 << round(math.log2(mean)))
