"""Inputs that are the same on every machine and in every execution.

A corpus is a list of files on disk. Clients and the cutpoint command read the same files, so no data
crosses a pipe, and one process can answer for thousands of them.
"""

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

WORDS = (b"chunk", b"stream", b"the", b"of", b"a", b"boundary", b"hash", b"window",
         b"is", b"content", b"defined", b"cut", b"and", b"max", b"min", b"segment")  # fmt: skip


def noise(label: str, size: int) -> bytes:
    """Returns random bytes that depend only on the label (SHAKE-128)."""
    return hashlib.shake_128(label.encode()).digest(size)


def number(label: str, low: int, high: int) -> int:
    """Returns a number in [low, high] that depends only on the label."""
    return low + int.from_bytes(noise(label, 16), "big") % (high - low + 1)


def periodic(period: int) -> Callable[[int], bytes]:
    return lambda size: (noise(f"period {period}", period) * (size // period + 1))[:size]


def text(size: int) -> bytes:
    """Returns lines of about ten words from a small vocabulary."""
    out = b"".join(WORDS[b & 15] + (b"\n" if b >= 230 else b" ") for b in noise("text", size // 4 + 1))
    return (out * 2)[:size]


def two_symbols(size: int) -> bytes:
    return bytes(b"ab"[b & 1] for b in noise("two symbols", size))


def runs(size: int) -> bytes:
    """Returns runs of 1 to about 2000 equal bytes. Every chunk has some, and some are longer than a chunk."""
    out = bytearray()
    control = noise("runs", 4 * (size // 8 + 1))
    for i in range(0, len(control), 4):
        if len(out) >= size:
            break
        value, exponent, extra = control[i], control[i + 1] % 11, int.from_bytes(control[i + 2 : i + 4], "big")
        out += bytes([value]) * ((1 << exponent) + extra % (1 << exponent))
    return bytes(out[:size])


def sparse(size: int) -> bytes:
    """Returns zeros with a single random byte about every 200 bytes."""
    out = bytearray(size)
    at = 0
    for value in noise("sparse", size // 100 + 1):
        at += 1 + value * 3 // 2
        if at >= size:
            break
        out[at] = value
    return bytes(out)


def islands(size: int) -> bytes:
    """Returns four quarters: random, constant, random, and with a short period."""
    quarter = size // 4
    return noise("island 1", quarter) + bytes(quarter) + noise("island 2", quarter) + periodic(16)(size - 3 * quarter)


SHAPES: dict[str, Callable[[int], bytes]] = {
    "random": lambda size: noise("random", size),
    "text": text,
    "zeros": bytes,
    "ones": lambda size: b"\xff" * size,
    "ramp": lambda size: (bytes(range(256)) * (size // 256 + 1))[:size],
    "two-symbols": two_symbols,
    "runs": runs,
    "sparse": sparse,
    "islands": islands,
    **{f"period-{p}": periodic(p) for p in (2, 3, 7, 64, 251)},
}


def write(folder: Path, files: Iterable[tuple[str, bytes]]) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, data in files:
        path = folder / name
        path.write_bytes(data)
        paths.append(path)
    return paths


def prefixes(shape: str, lengths: Iterable[int]) -> Iterable[tuple[str, bytes]]:
    """Returns one file for each length. All have the same beginning."""
    lengths = sorted(set(lengths))
    data = SHAPES[shape](lengths[-1])
    return ((f"{shape}.{length}", data[:length]) for length in lengths)


def shapes(sizes: Iterable[int], names: Iterable[str] = tuple(SHAPES)) -> Iterable[tuple[str, bytes]]:
    return ((f"{name}.{size}", SHAPES[name](size)) for name in names for size in sizes)


def around(*marks: int, reach: int = 2) -> list[int]:
    """Returns the lengths that differ from a mark by at most `reach`."""
    return sorted({max(0, mark + delta) for mark in marks for delta in range(-reach, reach + 1)})
