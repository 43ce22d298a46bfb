"""Profile fastcdc2020 against pyfastcdc, whose compiled and pure Python chunkers are separate code."""

import importlib
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from inputs import SHAPES, around, noise, number, prefixes, shapes
from oracle import assert_same_cuts

MAX_SEED = (1 << 64) - 1


def check(module, paths: Sequence[Path], low: int, average: int, high: int, normalization: int, seed: int = 0) -> None:
    if seed > MAX_SEED // 2:  # the compiled chunker raises OverflowError on these
        module = importlib.import_module("pyfastcdc.py")
    chunker = module.FastCDC(average, min_size=low, max_size=high, normalized_chunking=normalization, seed=seed)
    theirs = [[chunk.length for chunk in chunker.cut_buf(path.read_bytes())] for path in paths]
    arguments = ["--profile", "fastcdc2020", "--size", f"{low}:{average}:{high}"]
    arguments += ["--param", f"normalization={normalization}"]
    if seed:
        arguments += ["--param", f"seed={seed}"]
    assert_same_cuts(arguments, paths, theirs)


@pytest.mark.parametrize("normalization", range(4))
@pytest.mark.parametrize("shape", ["random", "text", "islands"])
def test_every_length_to_twice_max(pyfastcdc, corpus, shape, normalization):
    paths = corpus(f"{shape} to 2058", lambda: prefixes(shape, range(2059)))
    check(pyfastcdc, paths, 64, 256, 1024, normalization)


@pytest.mark.parametrize("normalization", [1, 2])
def test_every_length_in_pure_python(pyfastcdc, corpus, normalization):
    pure = importlib.import_module("pyfastcdc.py")
    check(pure, corpus("random to 2058", lambda: prefixes("random", range(2059))), 64, 256, 1024, normalization)


@pytest.mark.parametrize("normalization", range(4))
@pytest.mark.parametrize("size", [(64, 256, 1024), (2048, 8192, 65536), (16384, 65536, 262144)], ids=str)
def test_shapes_with_even_and_odd_tails(pyfastcdc, corpus, size, normalization):
    paths = corpus("shapes of 640K", lambda: shapes([655_360, 655_361, 655_360 - 127]))
    check(pyfastcdc, paths, *size, normalization)


def test_lengths_around_the_limits(pyfastcdc, corpus):
    """With an odd length the last byte is not tested; with an odd rest below avg the masks change elsewhere."""
    marks = around(2048, 8192, 65536, 65536 + 2048, 65536 + 8192, 2 * 65536, reach=5)
    for shape in ("random", "zeros", "text"):
        check(pyfastcdc, corpus(f"{shape} around 2K:8K:64K", lambda s=shape: prefixes(s, marks)), 2048, 8192, 65536, 2)


@pytest.mark.parametrize("seed", [1, MAX_SEED >> 1, 1 << 63, MAX_SEED])
def test_seeds(pyfastcdc, corpus, seed):
    check(pyfastcdc, corpus("shapes of 64K", lambda: shapes([65_536, 65_537])), 256, 1024, 4096, 1, seed)


@pytest.mark.parametrize("draw", range(40))
def test_random_parameters(pyfastcdc, corpus, draw):
    """Sizes are even, as the crate's are; avg need not be a power of two."""
    average = number(f"{draw} avg", 128, 1 << number(f"{draw} scale", 8, 16)) * 2
    average = max(256, average)
    low = max(64, number(f"{draw} min", 32, average // 2) * 2)
    high = max(1024, average, number(f"{draw} max", average // 2, average * 4) * 2)
    seed = number(f"{draw} seed", 0, MAX_SEED >> 1) if draw % 2 else 0
    paths = corpus("a mixture", lambda: ((name, SHAPES[name](300_001 + len(name))) for name in SHAPES))
    check(pyfastcdc, paths, low, average, high, draw % 4, seed)


@pytest.mark.parametrize(
    "size", [(4096, 16384, 65536), (131072, 524288, 2097152), (1 << 20, 4 << 20, 16 << 20)], ids=str
)
def test_megabytes(pyfastcdc, corpus, size):
    paths = corpus("24 MiB", lambda: [("random.24M", noise("24 MiB", (24 << 20) + 1))])
    for normalization in range(4):
        check(pyfastcdc, paths, *size, normalization)


@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize("size", [(64, 256, 1024), (2048, 8192, 65536), (16384, 65536, 262144)], ids=str)
def test_the_example_lists_the_chunks_of_the_client(pyfastcdc, corpus, example, size, level):
    """Compares examples/fastcdc2020 with the client. One process cuts all files."""
    low, average, high = size
    paths = corpus("shapes of 640K", lambda: shapes([655_360, 655_361, 655_360 - 127]))
    command = [example("fastcdc2020/v2020"), f"--level={level}", *map(str, size), *paths]
    ours = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    chunker = pyfastcdc.FastCDC(average, min_size=low, max_size=high, normalized_chunking=level, seed=0)
    theirs = []
    for path in paths:
        theirs.append(str(path))
        theirs += [f"offset={chunk.offset} size={chunk.length}" for chunk in chunker.cut_buf(path.read_bytes())]
    assert ours.splitlines() == theirs
