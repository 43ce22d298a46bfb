"""Compares the order of two lists."""

import itertools


def kendall(a: list[float], b: list[float]) -> float | None:
    """Kendall's τ-b: 1 for the same order, -1 for the opposite one, about 0 for unrelated ones. None if all numbers of a list are equal."""
    pairs = list(itertools.combinations(zip(a, b, strict=True), 2))
    sign = [((x > u) - (x < u), (y > v) - (y < v)) for (x, y), (u, v) in pairs]
    untied = [sum(1 for pair in sign if pair[i]) for i in (0, 1)]
    return sum(x * y for x, y in sign) / (untied[0] * untied[1]) ** 0.5 if all(untied) else None
