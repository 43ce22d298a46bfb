"""Profiles ipfs-buzhash and repmaxcdc against boxo and go-cdc, the Go packages that real clients are built from."""

import pytest

from inputs import SHAPES, around, noise, number, prefixes, shapes
from oracle import ask, assert_same_cuts

IPFS_MIN, IPFS_MAX = 128 << 10, 512 << 10


def check_ipfs(worker, paths) -> None:
    [theirs] = ask(worker, [{"chunker": "ipfs-buzhash", "paths": paths}])
    assert_same_cuts(["--profile", "ipfs-buzhash"], paths, theirs)


def test_ipfs_lengths_to_twice_max(go_chunkers, corpus):
    marks = around(0, 1, IPFS_MIN - 32, IPFS_MIN, IPFS_MIN + 32, 2 * IPFS_MIN, IPFS_MAX - 32, IPFS_MAX, reach=3)
    marks += around(IPFS_MAX + 32, IPFS_MAX + IPFS_MIN, IPFS_MAX + IPFS_MIN + 32, 2 * IPFS_MAX, reach=3)
    for shape in ("random", "zeros", "text"):
        check_ipfs(go_chunkers, corpus(f"ipfs {shape}", lambda s=shape: prefixes(s, marks)))


def test_ipfs_every_length_around_a_cut(go_chunkers, corpus):
    """Tests a match in the last bytes, with each length from 40 before the first cut to 40 after it."""
    data = noise("ipfs cut", 1 << 20)
    [whole] = corpus("ipfs cut", lambda: [("whole", data)])
    [[[first, *_]]] = ask(go_chunkers, [{"chunker": "ipfs-buzhash", "paths": [whole]}])
    lengths = around(first, reach=40)
    check_ipfs(go_chunkers, corpus("ipfs tails", lambda: ((f"random.{n}", data[:n]) for n in lengths)))


def test_ipfs_shapes_and_megabytes(go_chunkers, corpus):
    check_ipfs(go_chunkers, corpus("ipfs shapes", lambda: shapes([1_500_000, 1_500_001])))
    check_ipfs(go_chunkers, corpus("24 MiB", lambda: [("random.24M", noise("24 MiB", (24 << 20) + 1))]))


def check_repmaxcdc(worker, paths, low: int, horizon: int) -> None:
    job = {"paths": paths, "min_bytes": low, "horizon": horizon}
    fast, simple = ask(worker, [{"chunker": "repmaxcdc", **job}, {"chunker": "repmaxcdc-simple", **job}])
    arguments = ["--profile", "repmaxcdc", "--param", f"min_bytes={low}", "--param", f"horizon={horizon}"]
    assert_same_cuts(arguments, paths, simple)
    assert_same_cuts(arguments, paths, fast)


@pytest.mark.parametrize("horizon", [0, 1, 63, 64, 512])
@pytest.mark.parametrize("shape", ["random", "text", "islands"])
def test_repmaxcdc_every_length(go_chunkers, corpus, shape, horizon):
    paths = corpus(f"{shape} to 2058", lambda: prefixes(shape, range(2059)))
    check_repmaxcdc(go_chunkers, paths, 64, horizon)


@pytest.mark.parametrize(("low", "horizon"), [(64, 512), (1024, 8192), (4096, 1000), (16384, 131072)])
def test_repmaxcdc_shapes_with_odd_tails(go_chunkers, corpus, low, horizon):
    paths = corpus("shapes of 300K", lambda: shapes([300_000, 300_001]))
    check_repmaxcdc(go_chunkers, paths, low, horizon)


@pytest.mark.parametrize("draw", range(20))
def test_repmaxcdc_random_parameters(go_chunkers, corpus, draw):
    low = number(f"{draw} min", 64, 64 << number(f"{draw} scale", 0, 10))
    horizon = number(f"{draw} horizon", 0, 10 * low)
    names = ("random", "text", "runs", "islands")
    paths = corpus("a small mixture", lambda: ((name, SHAPES[name](300_001 + len(name))) for name in names))
    check_repmaxcdc(go_chunkers, paths, low, horizon)


def test_repmaxcdc_megabytes(go_chunkers, corpus):
    paths = corpus("24 MiB", lambda: [("random.24M", noise("24 MiB", (24 << 20) + 1))])
    check_repmaxcdc(go_chunkers, paths, 256 << 10, 2 << 20)
