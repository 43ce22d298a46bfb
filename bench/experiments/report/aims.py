"""The aim of a setting: the mean chunk by which sizes of different algorithms are compared.

A rolling hash adds its divisor to its minimum, so its mean is larger than the average in its size. For other algorithms the average is the
mean. The aim is the power of two nearest to the expected mean of random bytes.
"""

import math
import re

from experiments.expected import random_mean
from experiments.sizes import text_of

OWN = "own"
ROLLING = {"gear", "rabin", "rabin-inck", "adler", "crc32", "buzhash", "tttd"}

# The names in canonical strings that several algorithms share, with the parameter that distinguishes them.
VARIANTS = {
    "ae": {"extreme=max": "ae-max", "extreme=min": "ae-min"},
    "seqcdc": {"order=increasing": "seqcdc-inc", "order=decreasing": "seqcdc-dec"},
}


def algorithm_of(cuts: str) -> str:
    """The algorithm of a canonical string; for a profile, the one that it configures."""
    name = cuts.split("(")[0]
    return next((found for parameter, found in VARIANTS.get(name, {}).items() if parameter in cuts), name)


def expected_mean(cuts: str) -> float | None:
    """Expected mean in bytes on random data: PRUNE's equation 2 for rolling hashes, the average for others, None without an average."""
    found = {name: int(value) for name, value in re.findall(r"(min_bytes|avg_bytes|max_bytes)=(\d+)", cuts)}
    if not found.get("avg_bytes"):
        return None
    mean = found["avg_bytes"]
    if cuts.split("(")[0] not in ROLLING:
        return mean
    least, most = found.get("min_bytes", 0), found.get("max_bytes", 0)
    return random_mean(least, mean, most) if most else least + mean


def aim_of(algorithm: str, cuts: str) -> str:
    """The aim as text; `own` for profiles, which have their own sizes, and for strings without an average."""
    mean = expected_mean(cuts)
    if not mean or algorithm != algorithm_of(cuts):
        return OWN
    return text_of(1 << round(math.log2(mean)))
