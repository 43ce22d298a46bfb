"""Profile borg2-fastcdc against the chunker of a Borg 2 pre-release."""

import pytest

from inputs import SHAPES, around, noise, number, prefixes, shapes
from oracle import ask, assert_same_cuts

KEY = noise("borg 2 key", 32).hex()
SMALL = {"min_exp": 6, "max_exp": 10, "mask_bits": 8, "normalization": 2, "key": KEY}
DEFAULT = {"min_exp": 19, "max_exp": 23, "mask_bits": 21, "normalization": 2, "key": KEY}


def check(borg2, paths, **parameters) -> None:
    [theirs] = ask(borg2, [{"paths": paths, **parameters}])
    arguments = ["--profile", "borg2-fastcdc"]
    for name, value in parameters.items():
        arguments += ["--param", f"{name}={value}"]
    assert_same_cuts(arguments, paths, theirs)


@pytest.mark.parametrize("normalization", range(4))
@pytest.mark.parametrize("shape", ["random", "text", "islands"])
def test_every_length_to_twice_max(borg2, corpus, shape, normalization):
    paths = corpus(f"{shape} to 2058", lambda: prefixes(shape, range(2059)))
    check(borg2, paths, **{**SMALL, "normalization": normalization})


@pytest.mark.parametrize("key", ["00" * 32, "ff" * 32, KEY])
def test_shapes_with_odd_tails(borg2, corpus, key):
    paths = corpus("shapes of 640K", lambda: shapes([655_360, 655_361, 655_360 - 127]))
    check(borg2, paths, **{**SMALL, "key": key})
    check(borg2, paths, min_exp=10, max_exp=16, mask_bits=12, normalization=2, key=key)


def test_lengths_around_the_limits(borg2, corpus):
    """The strict mask is used below 2^12 - 2^10 = 3072."""
    marks = around(1 << 10, 3072, 1 << 12, 1 << 14, (1 << 14) + (1 << 10), (1 << 14) + 3072, 1 << 15, reach=4)
    for shape in ("random", "zeros", "period-7"):
        paths = corpus(f"{shape} around 3072", lambda s=shape: prefixes(s, marks))
        check(borg2, paths, min_exp=10, max_exp=14, mask_bits=12, normalization=2, key=KEY)


@pytest.mark.parametrize("draw", range(30))
def test_random_parameters(borg2, corpus, draw):
    low = number(f"{draw} min", 6, 14)
    high = number(f"{draw} max", low + 1, 17)
    mask_bits = number(f"{draw} mask", low, high)
    paths = corpus("a mixture", lambda: ((name, SHAPES[name](300_001 + len(name))) for name in SHAPES))
    normalization = number(f"{draw} normalization", 0, mask_bits - 1)
    key = noise(f"{draw} key", 32).hex()
    check(borg2, paths, min_exp=low, max_exp=high, mask_bits=mask_bits, normalization=normalization, key=key)


def test_megabytes(borg2, corpus):
    paths = corpus("24 MiB", lambda: [("random.24M", noise("24 MiB", (24 << 20) + 1))])
    check(borg2, paths, **DEFAULT)
    check(borg2, paths, min_exp=15, max_exp=19, mask_bits=17, normalization=2, key=KEY)
