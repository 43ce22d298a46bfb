"""The cuts of other chunkers with Python interfaces, on what hypothesis draws: ours are the same."""

import json
import shutil
import subprocess
from pathlib import Path

import cutpoint
import pytest
from conftest import ROOT, client, load, missing, oracle_inputs
from hypothesis import given
from hypothesis import strategies as st

ORACLES = ROOT / "tests" / "oracles"

contents = st.one_of(
    st.binary(max_size=6000),
    st.builds(
        lambda name, size: oracle_inputs.SHAPES[name](size),
        st.sampled_from(sorted(oracle_inputs.SHAPES)),
        st.integers(0, 200_000),
    ),
    st.builds(
        lambda seed, size: oracle_inputs.noise(f"peers {seed}", size), st.integers(0, 50), st.integers(0, 300_000)
    ),
)
#: even, as the crate's are
even_sizes = st.tuples(st.integers(32, 512), st.integers(128, 1024), st.integers(512, 4096)).map(
    lambda t: (2 * min(t[0], t[1] // 2), 2 * t[1], 2 * max(t[1], t[2]))
)


def lengths(content: bytes, name: str, **parameters) -> list[int]:
    return cutpoint.chunk_arrays(content, name, fingerprint="none", **parameters).lengths.tolist()


@given(content=contents, sizes=even_sizes, normalization=st.integers(0, 3), seed=st.sampled_from([0, 1, 1 << 40]))
def test_pyfastcdc(content, sizes, normalization, seed):
    pyfastcdc = client("pyfastcdc", "pyfastcdc")
    low, average, high = sizes
    low = max(low, 64)
    theirs = pyfastcdc.FastCDC(average, min_size=low, max_size=high, normalized_chunking=normalization, seed=seed)
    ours = lengths(
        content, "fastcdc2020", min_bytes=low, avg_bytes=average, max_bytes=high, normalization=normalization, seed=seed
    )
    assert ours == [piece.length for piece in theirs.cut_buf(content)]


@given(content=contents, average=st.sampled_from([256, 512, 1024, 4096]))
def test_fastcdc(content, average):
    fastcdc = client("fastcdc", "fastcdc")
    low, high = average // 4, average * 8
    theirs = [piece.length for piece in fastcdc.fastcdc(content, low, average, high)]
    assert lengths(content, "ronomon", min_bytes=low, avg_bytes=average, max_bytes=high) == theirs


@given(contents=st.lists(contents, max_size=4))
def test_hf_xet(contents, tmp_path_factory):
    client("hf-xet", "blake3")
    hf_xet = client("hf-xet", "hf_xet")
    file_hash = load(ORACLES / "xet_hash.py").file_hash
    folder = tmp_path_factory.mktemp("xet")
    paths = oracle_inputs.write(folder, ((str(i), content) for i, content in enumerate(contents)))
    theirs = [info.hash for info in hf_xet.hash_files([str(path) for path in paths])]
    assert [file_hash(content, lengths(content, "xet")) for content in contents] == theirs
    shutil.rmtree(folder)


def borg_interpreter() -> list[str]:
    """The interpreter that the system's BorgBackup 1.x names."""
    command = shutil.which("borg")
    if command is None:
        missing("borg1", "the borg command is not installed")
    first_line = Path(command).read_bytes().splitlines()[0]
    if not first_line.startswith(b"#!"):
        missing("borg1", "the borg command is no Python script")
    worker = [*first_line[2:].decode().split(), str(ORACLES / "borg_worker.py")]
    done = subprocess.run([*worker, "--version"], capture_output=True, text=True, check=False)
    if done.returncode != 0 or not done.stdout.startswith("1."):
        missing("borg1", f"its chunker cannot be had: {done.stdout}{done.stderr[-200:]}")
    return worker


@pytest.mark.parametrize("seed", [0, 1, 0x80000000, 0xFFFFFFFF])
def test_borgbackup(seed, tmp_path):
    worker = borg_interpreter()
    paths = oracle_inputs.write(tmp_path, oracle_inputs.shapes([100_000, 131_072, 300_001]))
    settings = [
        {"min_exp": 6, "max_exp": 10, "mask_bits": 8, "window": 63},
        {"min_exp": 10, "max_exp": 16, "mask_bits": 12, "window": 4095},
    ]
    jobs = [{"paths": [str(path) for path in paths], "seed": seed, **each} for each in settings]
    done = subprocess.run(worker, input=json.dumps(jobs), capture_output=True, text=True, check=True)
    for each, theirs in zip(settings, json.loads(done.stdout), strict=True):
        assert [lengths(path.read_bytes(), "borg1", seed=seed, **each) for path in paths] == theirs
