"""Streams to cut: random bytes that are the same in every run, and the inputs of the golden cuts."""

import hashlib
import random
from functools import lru_cache

MIB = 1 << 20


def random_bytes(count: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(count)


@lru_cache(maxsize=None)
def golden_input(name: str) -> bytes:
    """D1, D2 or D3, made as tests/data/README.md says."""
    if name == "D1":
        return b"".join(hashlib.sha256(counter.to_bytes(8, "big")).digest() for counter in range(MIB))
    if name == "D2":
        d1 = golden_input("D1")
        middle = d1[5 * MIB + 12345 : 9 * MIB]
        return d1[: 10 * MIB] + bytes(3 * MIB) + middle + b"abcdefghijklmnop" * 20000 + d1[2 * MIB : 3 * MIB + 1]
    if name == "D3":
        return golden_input("D2")[:-1]
    raise ValueError(name)
