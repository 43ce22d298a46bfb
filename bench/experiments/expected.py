"""The papers' formulas for random data."""


def random_mean(least: float, divisor: float, most: float) -> float:
    """PRUNE's equation 2: the mean chunk if each position is a candidate with the probability 1 / divisor."""
    return least + divisor * (1 - (1 - 1 / divisor) ** (most - least))
