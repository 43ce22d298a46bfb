"""Bytes drawn by a seed: random bytes, and the low-entropy strings of AE section 3.3."""

import sys
from pathlib import Path

from experiments.datasets.base import Generator, Planned, numbered

BLOCK = 1 << 22


class Random(Generator):
    """Uniform random bytes."""

    def plan(self) -> list[Planned]:
        return [
            Planned(f"random-{index + 1}", numbered(index, "random", ".bin"), "Mersenne Twister, seeded by name, seed and version", {"index": index})
            for index in range(self.job.version_count)
        ]

    def make(self, planned: Planned, target: Path, former: Path | None) -> None:
        draws, left = self.job.draws(planned.facts["index"]), self.job.share
        with target.open("wb") as file:
            while left:
                left -= file.write(draws.randbytes(min(BLOCK, left)))

    def made_with(self) -> dict[str, str]:
        return {"python": sys.version.split()[0]}


class LowEntropy(Random):
    """Runs of one byte and repeats of a short string, with random bytes between them.

    A quarter of the byte ranges are runs, a quarter repeats, half random bytes. Their lengths are drawn evenly on a logarithmic scale from 256
    bytes to 1 MiB, so that most bytes are in ranges of many chunks. Repeated strings have 2 to 64 bytes, of which at least two differ.
    """

    LEAST_BITS, MOST_BITS = 8, 20

    def plan(self) -> list[Planned]:
        return [
            Planned(f"low-entropy-{index + 1}", numbered(index, "low-entropy", ".bin"), "runs, repeats and random stretches", {"index": index})
            for index in range(self.job.version_count)
        ]

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
