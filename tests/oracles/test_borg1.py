"""Profile borg1 against the chunker of the system's BorgBackup 1.x."""

import pytest

from inputs import SHAPES, around, noise, number, prefixes, shapes
from oracle import ask, assert_same_cuts

SMALL = {"min_exp": 6, "max_exp": 10, "mask_bits": 8, "window": 63, "seed": 0}
DEFAULT = {"min_exp": 19, "max_exp": 23, "mask_bits": 21, "window": 4095, "seed": 0}


def check(borg1, paths, **parameters) -> None:
    [theirs] = ask(borg1, [{"paths": paths, **parameters}])
    arguments = ["--profile", "borg1"]
    for name, value in parameters.items():
        arguments += ["--param", f"{name}={value}"]
    assert_same_cuts(arguments, paths, theirs)


@pytest.mark.parametrize("window", [31, 63, 255, 959])
@pytest.mark.parametrize("shape", ["random", "text", "islands"])
def test_every_length_to_twice_max(borg1, corpus, shape, window):
    """A window of 959 is the largest that Borg takes here: min + window + 1 = max."""
    paths = corpus(f"{shape} to 2058", lambda: prefixes(shape, range(2059)))
    check(borg1, paths, **{**SMALL, "window": window})


@pytest.mark.parametrize("seed", [0, 1, 0x6E2C21F2, 0x80000000, 0xFFFFFFFF])
def test_shapes_with_odd_tails(borg1, corpus, seed):
    paths = corpus("shapes of 640K", lambda: shapes([655_360, 655_361, 655_360 - 127]))
    check(borg1, paths, **{**SMALL, "seed": seed})
    check(borg1, paths, min_exp=10, max_exp=16, mask_bits=12, window=4095, seed=seed)


def test_lengths_around_the_limits(borg1, corpus):
    """A match in the last window before the end has no effect, so the limits are also tested with a window added."""
    least, window, most = 1 << 10, 4095, 1 << 13
    marks = around(
        least, window, least + window, most, most + least, most + window, most + least + window, 2 * most, reach=4
    )
    for shape in ("random", "zeros", "period-7"):
        paths = corpus(f"{shape} around 4095", lambda s=shape: prefixes(s, marks))
        check(borg1, paths, min_exp=10, max_exp=13, mask_bits=10, window=window, seed=0)


@pytest.mark.parametrize("draw", range(30))
def test_random_parameters(borg1, corpus, draw):
    low = number(f"{draw} min", 6, 14)
    high = number(f"{draw} max", low + 2, 17)
    window = 2 * number(f"{draw} window", 8, ((1 << high) - (1 << low) - 2) // 2) + 1
    mask_bits = number(f"{draw} mask", low, high)
    paths = corpus("a mixture", lambda: ((name, SHAPES[name](300_001 + len(name))) for name in SHAPES))
    seed = number(f"{draw} seed", 0, 0xFFFFFFFF)
    check(borg1, paths, min_exp=low, max_exp=high, mask_bits=mask_bits, window=min(window, 4095), seed=seed)


def test_megabytes(borg1, corpus):
    paths = corpus("24 MiB", lambda: [("random.24M", noise("24 MiB", (24 << 20) + 1))])
    check(borg1, paths, **DEFAULT)
    check(borg1, paths, **{**DEFAULT, "seed": 0xDEADBEEF})
    check(borg1, paths, min_exp=15, max_exp=19, mask_bits=17, window=4095, seed=1849058162)
