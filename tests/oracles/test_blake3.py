"""Fingerprints of kind blake3, plain and with a key, against the BLAKE3 package of its authors."""

import json

import pytest

import cutpoint
from inputs import noise, prefixes, shapes

KEYS = [None, bytes(32), noise("key", 32)]


def check(blake3, paths, arguments, key):
    keyed = [] if key is None else ["--hash-key", key.hex()]
    names = [path.name for path in paths]
    output = cutpoint.chunk([*arguments, "--hash", "blake3", *keyed, "--format", "jsonl"], paths[0].parent, names)
    header, *rows = map(json.loads, output.splitlines())
    assert header["fingerprint"] == ("blake3" if key is None else "blake3-keyed")
    contents = {path.name: path.read_bytes() for path in paths}
    for row in rows:
        chunk = contents[row["path"]][row["offset"] : row["offset"] + row["length"]]
        assert row["digest"] == blake3.blake3(chunk, key=key).hexdigest(), row
    assert sum(row["length"] for row in rows) == sum(map(len, contents.values()))


@pytest.mark.parametrize("key", KEYS, ids=["plain", "zeros", "random"])
def test_every_length_to_three_leaves(blake3, corpus, key):
    paths = corpus("random to 3100", lambda: prefixes("random", range(3101)))
    check(blake3, paths, ["--algorithm", "fixed", "--size", "4K"], key)


@pytest.mark.parametrize("key", KEYS, ids=["plain", "zeros", "random"])
def test_chunks_of_shapes(blake3, corpus, key):
    paths = corpus("shapes of 640K", lambda: shapes([655_360, 655_361, 655_360 - 127]))
    check(blake3, paths, ["--size", "2K:8K:64K"], key)
