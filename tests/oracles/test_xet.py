"""Profile xet against hf-xet, which returns only the hash of a file. We compute it from our chunks.

A hash does not show where a wrong cut is. The first test, on files of one chunk, tests xet_hash.py itself.
"""

import subprocess

import pytest

import cutpoint
from inputs import around, noise, number, prefixes, shapes

MIN, MAX = 8192, 131072


def check(hf_xet, paths) -> None:
    from xet_hash import file_hash

    theirs = [info.hash for info in hf_xet.hash_files([str(path) for path in paths])]
    ours = cutpoint.lengths(["--profile", "xet"], paths)
    wrong = [
        f"{path.name}: our {len(mine)} chunks begin {mine[:6]}"
        for path, mine, other in zip(paths, ours, theirs, strict=True)
        if file_hash(path.read_bytes(), mine) != other
    ]
    assert not wrong, f"{len(wrong)} of {len(paths)} file hashes differ: {wrong[:8]}"


def test_the_hash_itself_on_files_of_one_chunk(hf_xet, corpus):
    """A file not longer than min is always one chunk, so this does not depend on our cuts."""
    from xet_hash import file_hash

    paths = corpus("one chunk", lambda: prefixes("random", [0, 1, 31, 32, 33, 1023, 1024, 1025, 8191, 8192]))
    for path, info in zip(paths, hf_xet.hash_files([str(path) for path in paths]), strict=True):
        size = path.stat().st_size
        assert file_hash(path.read_bytes(), [size] if size else []) == info.hash, path.name


@pytest.mark.parametrize("shape", ["random", "text", "zeros", "islands"])
def test_lengths_to_twice_max(hf_xet, corpus, shape):
    """Every length would be 262144 files. These are the lengths near the limits and a hundred others."""
    marks = around(0, 64, MIN - 64, MIN, 2 * MIN, MAX - MIN, MAX, MAX + MIN, 2 * MAX, reach=3)
    drawn = [number(f"length {i}", 1, 2 * MAX) for i in range(100)]
    check(hf_xet, corpus(f"xet {shape}", lambda: prefixes(shape, [*marks, *drawn])))


def test_shapes_with_odd_tails(hf_xet, corpus):
    check(hf_xet, corpus("xet shapes", lambda: shapes([1_000_000, 1_048_577, 1_310_719])))


def test_megabytes(hf_xet, corpus):
    """Hundreds of chunks, which make a tree of several levels."""
    check(
        hf_xet, corpus("xet megabytes", lambda: [(f"random.{i}", noise(f"xet {i}", (8 << 20) + i)) for i in range(4)])
    )


def example_lines(program, *words) -> list[list[str]]:
    done = subprocess.run([program, *words], capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


def test_the_example_prints_the_hashes_of_the_client(hf_xet, corpus, example):
    """Compares examples/xet, which has its own code for the tree, with the client."""
    marks = around(0, 64, MIN, 2 * MIN, MAX, MAX + MIN, 2 * MAX, reach=3)
    paths = [
        *corpus("xet example", lambda: prefixes("random", marks)),
        *corpus("xet shapes", lambda: shapes([1_000_000, 1_048_577, 1_310_719])),
        *corpus("xet 24 MiB", lambda: [(f"random.{i}", noise(f"xet {i}", (24 << 20) + i)) for i in range(2)]),
    ]
    theirs = [[info.hash, str(path.stat().st_size), str(path)]
              for path, info in zip(paths, hf_xet.hash_files([str(path) for path in paths]), strict=True)]  # fmt: skip
    assert example_lines(example("xet/xet_hash"), *paths) == theirs


def test_the_example_prints_the_keyed_hash_of_each_chunk(blake3, corpus, example):
    from xet_hash import DATA_KEY, hexadecimal

    for path in corpus("xet shapes", lambda: shapes([1_000_000, 1_048_577, 1_310_719])):
        data = path.read_bytes()
        for _, digest, offset, length in example_lines(example("xet/xet_hash"), "--chunks", path)[:-1]:
            chunk = data[int(offset) : int(offset) + int(length)]
            assert hexadecimal(blake3.blake3(chunk, key=DATA_KEY).digest()) == digest, path.name
