"""What papers expect of random data."""


def random_mean(least: float, divisor: float, most: float) -> float:
    """PRUNE's equation 2: the mean chunk where each position is a cut-point with the probability 1 / divisor."""
    return least + divisor * (1 - (1 - 1 / divisor) ** (most - least))
