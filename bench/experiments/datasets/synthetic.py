"""Bytes drawn by a seed: random bytes, and the low-entropy strings of AE section 3.3."""

import sys
from collections.abc import Iterator
from pathlib import Path

from experiments.datasets.base import Generator, Planned, numbered

BLOCK = 1 << 22


class Random(Generator):
    """Uniform random bytes."""

    made_from = "Mersenne Twister, seeded by name, seed and version"
    programs = {"python": (sys.executable, "--version")}

    def plan(self) -> Iterator[Planned]:
        for index in range(self.job.version_count):
            yield numbered(index, self.job.name, ".bin", self.made_from, f"{self.job.name}-{index + 1}", index=index)

    def make(self, planned: Planned, target: Path, former: Path | None) -> None:
        draws, left = self.job.draws(planned.facts["index"]), self.job.share
        with target.open("wb") as file:
            while left:
                left -= file.write(draws.randbytes(min(BLOCK, left)))


class LowEntropy(Random):
    """Runs of one byte and repeats of a short string, with random bytes between them.

    A quarter of the byte ranges are runs, a quarter repeats, half random bytes. Their lengths are drawn evenly on a logarithmic scale from 256
    bytes to 1 MiB, so that most bytes are in ranges of many chunks. Repeated strings have 2 to 64 bytes, of which at least two differ.
    """

    made_from = "runs, repeats and random stretches"
    LEAST_BITS, MOST_BITS = 8, 20

    def make(self, planned: Planned, target: Path, former: Path | None) -> None:
        draws, left = self.job.draws(planned.facts["index"]), self.job.share
        with target.open("wb", buffering=BLOCK) as file:
            while left:
                length = min(left, int(2 ** draws.uniform(self.LEAST_BITS, self.MOST_BITS)))
                kind = draws.randrange(4)
                if kind == 0:
                    file.write(bytes([draws.randrange(256)]) * length)
                elif kind == 1:
                    string = _string(draws)
                    file.write((string * (length // len(string) + 1))[:length])
                else:
                    file.write(draws.randbytes(length))
                left -= length


def _string(draws) -> bytes:
    string = draws.randbytes(draws.randint(2, 64))
    return string if len(set(string)) > 1 else bytes([string[0], string[0] ^ 1])
