"""Profile casync against the casync command, by the table of a .caibx index."""

import platform
import struct
import subprocess
from pathlib import Path

import pytest

from inputs import SHAPES, around, noise, number, prefixes, shapes
from oracle import assert_same_cuts

# Index: a header of 48 bytes, a table header of 16, per chunk its end (u64) and its digest (32 bytes), a tail of 40.
HEADER, ENTRY, TAIL = 64, 40, 40


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    """Returns one store for all tests, so that casync writes shared chunks only once."""
    return tmp_path_factory.mktemp("casync")


def lengths(casync: str, store: Path, path: Path, size: str) -> list[int]:
    index = store / "index.caibx"
    command = [casync, "make", f"--store={store / 'chunks.castr'}", f"--chunk-size={size}", index, path]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, f"{path.name}: casync exited {done.returncode}: {done.stderr.strip()}"
    table = index.read_bytes()[HEADER:-TAIL]
    ends = [struct.unpack_from("<Q", table, at)[0] for at in range(0, len(table), ENTRY)]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


def check(casync, store, paths, low: int, average: int, high: int) -> None:
    size = f"{low}:{average}:{high}"
    theirs = [lengths(casync, store, path, size) for path in paths]
    assert_same_cuts(["--profile", "casync", "--size", size], paths, theirs)


def test_every_length_to_twice_max(casync, store, corpus):
    check(casync, store, corpus("random to 2058", lambda: prefixes("random", range(2059))), 64, 256, 1024)


def test_lengths_around_the_limits(casync, store, corpus):
    """The first position that can be a cut is min. The window is full there, even if min is the window length, 48."""
    marks = around(48, 64, 256, 1024, 1024 + 48, 1024 + 64, 2048, 3 * 1024, reach=2)
    for shape in ("text", "zeros", "islands", "period-7"):
        paths = corpus(f"{shape} around 1024", lambda s=shape: prefixes(s, marks))
        check(casync, store, paths, 64, 256, 1024)
        check(casync, store, paths, 48, 96, 1024)


@pytest.mark.parametrize("size", [(256, 1024, 4096), (1024, 4096, 16384), (16384, 65536, 262144)], ids=str)
def test_shapes_with_odd_tails(casync, store, corpus, size):
    check(casync, store, corpus("shapes of 300K", lambda: shapes([300_000, 300_001])), *size)


@pytest.mark.parametrize("size", [(256, 256, 4096), (1000, 1024, 1025)], ids=str)
def test_the_discriminator_is_at_least_min(casync, store, corpus, size):
    """Without this bound it would be about 0.75 avg."""
    check(casync, store, corpus("shapes of 300K", lambda: shapes([300_000, 300_001])), *size)


def test_the_discriminator_is_at_most_max(casync, store, corpus):
    """Without this bound it would be more than avg, as it is for sizes of megabytes."""
    paths = corpus("24 MiB", lambda: [("random.24M", noise("24 MiB", (24 << 20) + 1))])
    check(casync, store, paths, 1 << 20, 4 << 20, 4 << 20)


def test_equal_limits_make_fixed_chunks(casync, store, corpus):
    check(casync, store, corpus("shapes of 300K", lambda: shapes([300_000, 300_001])), 1024, 1024, 1024)


@pytest.mark.parametrize("draw", range(30))
def test_random_parameters(casync, store, corpus, draw):
    """The discriminator is a rounded function of avg, which need not be a power of two."""
    average = number(f"{draw} avg", 512, 512 << number(f"{draw} scale", 0, 9))
    low = number(f"{draw} min", 256, average)
    high = number(f"{draw} max", average, average * 8)
    names = ("random", "text", "runs", "islands")
    paths = corpus("a small mixture", lambda: ((name, SHAPES[name](300_001 + len(name))) for name in names))
    check(casync, store, paths, low, average, high)


def test_megabytes(casync, store, corpus):
    paths = corpus("24 MiB", lambda: [("random.24M", noise("24 MiB", (24 << 20) + 1))])
    check(casync, store, paths, 16384, 65536, 262144)
    check(casync, store, paths, 262144, 1048576, 4194304)
    check(casync, store, paths, 1 << 20, 8 << 20, 20 << 20)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="casync's conversion of a negative number differs")
def test_the_discriminator_of_a_large_average_is_max(casync, store, corpus):
    paths = corpus("160 MiB", lambda: [("random.160M", noise("160 MiB", (160 << 20) + 1))])
    for low, average, high in ((1 << 16, 16 << 20, 20 << 20), (1 << 16, 9_324_557, 64 << 20), (1 << 16, 9_000_000, 64 << 20)):
        check(casync, store, paths, low, average, high)
