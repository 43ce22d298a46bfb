"""Profiles borg2-toeplitz-aes and borg2-rabin-aes against the chunkers of Borg 2.0.0b25, by whichever kernels the machine gives both."""

import pytest

from inputs import SHAPES, around, noise, number, prefixes, shapes
from oracle import ask, assert_same_cuts

ALGORITHMS = ["toeplitz-aes", "rabin-aes"]
DRAWS, FILES_OF_A_DRAW = 250, 20  # for each of two algorithms: 10,000 inputs


def job(algorithm, key, paths, low, high, mask_bits, normalization, normal_size=0) -> dict:
    parameters = {"min_exp": low, "max_exp": high, "mask_bits": mask_bits, "normalization": normalization, "normal_size": normal_size}
    return {"paths": paths, "algorithm": algorithm, "key": key.hex(), **parameters}


def check(borg2, folder, jobs) -> None:
    for each, theirs in zip(jobs, ask(borg2, jobs), strict=True):
        key_file = folder / f"{each['key']}.key"
        key_file.write_text(each["key"])
        arguments = ["--profile", f"borg2-{each['algorithm']}", "--key-file", str(key_file)]
        for name in ("min_exp", "max_exp", "mask_bits", "normalization", "normal_size"):
            if name != "normal_size" or each[name] != 0:
                arguments += ["--param", f"{name}={each[name]}"]
        assert_same_cuts(arguments, each["paths"], theirs)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_random_inputs_and_parameters(borg2, corpus, tmp_path, algorithm):
    jobs = []
    for draw in range(DRAWS):
        label = f"{algorithm} {draw}"
        low = number(f"{label} min", 6, 10)
        high = max(number(f"{label} max", low + 1, 14), 9)
        mask_bits = number(f"{label} mask", max(low, 8), high)  # with fewer there are too many chunks to read
        normalization = number(f"{label} normalization", 0, min(3, mask_bits - 1))
        begin = draw * FILES_OF_A_DRAW
        paths = corpus("20 files of one of ten shapes", random_files)[begin % 200 : begin % 200 + FILES_OF_A_DRAW]
        key = bytes(32) if draw == 0 else noise(f"{label} key", 32)
        jobs.append(job(algorithm, key, paths, low, high, mask_bits, normalization))
    check(borg2, tmp_path, jobs)


def random_files():
    names = ["random", "text", "runs", "sparse", "islands", "two-symbols", "zeros", "period-7", "period-64", "period-251"]
    for i in range(200):
        size = number(f"size {i}", 0, 20_000) if i % 4 else number(f"size {i}", 0, 300)
        yield f"{i}", SHAPES[names[i % len(names)]](size)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_lengths_around_windows_and_limits(borg2, corpus, tmp_path, algorithm):
    """Windows have 64 bytes, and the strict mask is used below 2^12 - 2^10 = 3072."""
    marks = around(64, 128, 1 << 10, (1 << 10) + 64, 3072, 1 << 12, 1 << 14, (1 << 14) + (1 << 10), 1 << 15, reach=4)
    key = noise("phte", 32)
    jobs = [job(algorithm, key, corpus(f"{shape} around 3072, phte", lambda s=shape: prefixes(s, marks)), 10, 14, 12, 2) for shape in ("random", "zeros", "period-7")]
    check(borg2, tmp_path, jobs)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_where_the_masks_change(borg2, corpus, tmp_path, algorithm):
    paths = corpus("shapes of 640K", lambda: shapes([655_360, 655_361, 655_360 - 127]))
    jobs = [job(algorithm, noise("phte", 32), paths, 10, 16, 12, 2, normal_size) for normal_size in (0, 1 << 11, 3000, 1 << 14)]
    check(borg2, tmp_path, jobs)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_megabytes(borg2, corpus, tmp_path, algorithm):
    paths = corpus("24 MiB", lambda: [("random.24M", noise("24 MiB", (24 << 20) + 1))])
    check(borg2, tmp_path, [job(algorithm, noise("phte", 32), paths, *sizes, 2) for sizes in ((14, 18, 16), (19, 23, 21))])
