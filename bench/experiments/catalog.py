"""The catalog of the command that measured: what `cutpoint list --json` says about names. Nothing here repeats a name of it."""

import math
import re
from dataclasses import dataclass, field

from experiments.sizes import text_of

OWN = "own"  # the aim of a profile, which has its own sizes
INSTRUCTION_SETS = ("neon", "sse4", "avx2", "avx512")  # those with vectors of their own in any build, the narrowest first; a build has those of one architecture
ENTRY_FIELDS = ("name", "kind", "algorithm", "candidates", "lookahead_bytes")


def random_mean(least: float, divisor: float, most: float) -> float:
    """PRUNE's equation 2: the mean chunk of random data if each position is a candidate with the probability 1 / divisor."""
    return least + divisor * (1 - (1 - 1 / divisor) ** (most - least))


def summary_of(listing: dict) -> dict:
    """What results keep of `cutpoint list --json`."""
    entries = [{name: entry[name] for name in ENTRY_FIELDS} for entry in listing["entries"]]
    return {"entries": entries, "back_ends": [entry["name"] for entry in listing["back_ends"]]}


@dataclass(frozen=True)
class Catalog:
    """Algorithms and profiles by name, and the back ends in the command's order. Without entries, every name is taken for an algorithm."""

    entries: dict[str, dict] = field(default_factory=dict)
    back_ends: tuple[str, ...] = ()

    @staticmethod
    def merged(catalogs: list[dict]) -> "Catalog":
        """The catalog of several binaries, the newest last."""
        entries = {entry["name"]: entry for catalog in catalogs for entry in catalog["entries"]}
        return Catalog(entries, tuple(dict.fromkeys(name for catalog in reversed(catalogs) for name in catalog["back_ends"])))

    def is_profile(self, name: str) -> bool:
        return name in self.entries and self.entries[name]["kind"] == "profile"

    def mechanism(self, name: str) -> str:
        """The algorithm of a name; for a profile, the one that it configures."""
        if not self.is_profile(name):
            return name
        algorithm = self.entries[name]["algorithm"]
        return next((other for other, entry in self.entries.items() if entry["algorithm"] == algorithm and not self.is_profile(other)), algorithm)

    def expected_mean(self, name: str, cuts: str) -> float | None:
        """The expected mean in bytes on random data, None without an average.

        Where candidates depend on the bytes before them only, each position is one with the same probability, and PRUNE's equation 2 holds:
        the mean is the minimum and the average together. For other algorithms it is the average.
        """
        sizes = {key: int(value) for key, value in re.findall(r"(min_bytes|avg_bytes|max_bytes)=(\d+)", cuts)}
        mean = sizes.get("avg_bytes")
        entry = self.entries.get(name)
        if not mean or not entry or entry["candidates"] != "windowed" or entry["lookahead_bytes"]:
            return mean or None
        least, most = sizes.get("min_bytes", 0), sizes.get("max_bytes", 0)
        return random_mean(least, mean, most) if most else least + mean

    def aim(self, name: str, cuts: str) -> str:
        """The aim of a setting, by which sizes of different algorithms are compared: the power of two nearest to its expected mean."""
        mean = None if self.is_profile(name) else self.expected_mean(name, cuts)
        return text_of(1 << round(math.log2(mean))) if mean else OWN

    def in_order(self, back_ends) -> list[str]:
        """Names of back ends in the command's order; names that it does not have come last."""
        return sorted(set(back_ends), key=lambda name: (self.back_ends.index(name) if name in self.back_ends else len(self.back_ends), name))
