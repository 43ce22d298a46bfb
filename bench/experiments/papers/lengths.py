"""Chunk lengths of a run, from its histogram and its percentiles."""

import math

from experiments.papers.evidence import value
from experiments.papers.tables import kib, plain

PERCENTILES = (5, 25, 50, 75, 95)


def share_beyond(row: dict | None, length: float) -> float | None:
    """The share of chunks longer than `length`. Within a bucket, an eighth of an octave, the logarithm of the share is taken as linear."""
    histogram, count = value(row, "report.result.chunks.histogram"), value(row, "chunk_count")
    if not histogram:
        return None
    beyond = count  # chunks of this bucket and later ones
    for bucket in histogram:
        rest = beyond - bucket["chunk_count"]
        if length < bucket["least_bytes"]:
            break
        if length < bucket["most_bytes"]:
            fraction = (length + 1 - bucket["least_bytes"]) / (bucket["most_bytes"] + 1 - bucket["least_bytes"])
            if rest == 0:
                return beyond * (1 - fraction) / count
            return math.exp(math.log(beyond) + fraction * (math.log(rest) - math.log(beyond))) / count
        beyond = rest
    return beyond / count


def percentiles(row: dict | None) -> list[float | None]:
    return [value(row, f"report.result.chunks.percentile_{p}_bytes") for p in PERCENTILES]


def spread(row: dict | None) -> float | None:
    """The width of the middle nine tenths of the lengths, over the mean."""
    least, *_, most = percentiles(row)
    return None if row is None else (most - least) / value(row, "mean_bytes")


def length_cells(row: dict | None) -> list[str]:
    """The mean, the percentiles and the spread, as a table shows them."""
    return [kib(value(row, "mean_bytes")), *map(kib, percentiles(row)), plain(spread(row))]
