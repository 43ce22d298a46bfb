"""Profile ronomon against the fastcdc package, compiled and pure Python."""

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from inputs import SHAPES, around, noise, number, prefixes, shapes
from oracle import assert_same_cuts


def check(chunker: Callable, paths: Sequence[Path], low: int, average: int, high: int) -> None:
    theirs = [[chunk.length for chunk in chunker(path.read_bytes(), low, average, high)] for path in paths]
    assert_same_cuts(["--profile", "ronomon", "--size", f"{low}:{average}:{high}"], paths, theirs)


@pytest.mark.parametrize("shape", ["random", "text", "islands", "zeros"])
def test_every_length_to_twice_max(fastcdc, corpus, shape):
    check(fastcdc.fastcdc, corpus(f"{shape} to 2058", lambda: prefixes(shape, range(2059))), 64, 256, 1024)


def test_every_length_in_pure_python(fastcdc, corpus):
    pure = importlib.import_module("fastcdc.fastcdc_py").fastcdc_py
    check(pure, corpus("random to 2058", lambda: prefixes("random", range(2059))), 64, 256, 1024)


@pytest.mark.parametrize("size", [(64, 256, 1024), (2048, 8192, 65536), (16384, 65536, 262144)], ids=str)
def test_shapes_with_even_and_odd_tails(fastcdc, corpus, size):
    paths = corpus("shapes of 640K", lambda: shapes([655_360, 655_361, 655_360 - 127]))
    check(fastcdc.fastcdc, paths, *size)


def test_lengths_around_the_limits(fastcdc, corpus):
    """The masks change at avg - min(avg, min + ceil(min/2)) = 5120."""
    marks = around(2048, 5120, 8192, 65536, 65536 + 2048, 65536 + 5120, 2 * 65536, reach=5)
    for shape in ("random", "zeros", "text"):
        check(fastcdc.fastcdc, corpus(f"{shape} around 5120", lambda s=shape: prefixes(s, marks)), 2048, 8192, 65536)


@pytest.mark.parametrize("draw", range(40))
def test_random_parameters(fastcdc, corpus, draw):
    average = number(f"{draw} avg", 256, 256 << number(f"{draw} scale", 0, 9))
    low = number(f"{draw} min", 64, average)
    high = max(1024, number(f"{draw} max", average, average * 8))
    paths = corpus("a mixture", lambda: ((name, SHAPES[name](300_001 + len(name))) for name in SHAPES))
    check(fastcdc.fastcdc, paths, low, average, high)


@pytest.mark.parametrize("size", [(2048, 8192, 65536), (65536, 262144, 1048576), (524288, 2097152, 8388608)], ids=str)
def test_megabytes(fastcdc, corpus, size):
    check(fastcdc.fastcdc, corpus("24 MiB", lambda: [("random.24M", noise("24 MiB", (24 << 20) + 1))]), *size)
