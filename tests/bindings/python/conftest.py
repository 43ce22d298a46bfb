"""Fixtures: data of many shapes, files, and the command."""

import importlib.util
import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[3]
COMMAND = os.environ.get("CUTPOINT_BIN")

# On a loaded machine a single example may take long, so there is no deadline.
hypothesis.settings.register_profile("cutpoint", deadline=None, max_examples=60)
hypothesis.settings.load_profile("cutpoint")


def load(path: Path) -> ModuleType:
    """Loads a module from a file. tests/oracles has a module with the name of our package, so it cannot be on the path."""
    spec = importlib.util.spec_from_file_location(f"from_{path.parent.name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


oracle_inputs = load(ROOT / "tests" / "oracles" / "inputs.py")


@pytest.fixture(scope="session")
def data() -> bytes:
    """6 MB of noise, text, short periods and runs, with a repetition and an odd end."""
    noise = random.Random(1).randbytes(1_500_000)
    shapes = [oracle_inputs.SHAPES[name](600_000) for name in ("text", "runs", "period-251", "islands")]
    return b"".join([noise, *shapes, bytes(1_000_000), noise[:1_000_000], b"end"])


def tree_files(noise: bytes) -> dict[str, bytes]:
    """Files of several kinds that have bytes in common, and a folder that is tagged as a cache."""
    return {
        "a.TXT": noise,
        "sub/b.txt": noise[1000:],
        "sub/c.bin": bytes(500_000) + noise[:700_000],
        "empty": b"",
        ".hidden": b"x",
        "cache/CACHEDIR.TAG": b"Signature: 8a477f597d28d172789f06886806bc55",
        "cache/d": noise[:100_000],
    }


@pytest.fixture
def file_of(tmp_path: Path) -> Callable[..., Path]:
    def write(content: bytes, name: str = "data") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    return write


@pytest.fixture
def command() -> Callable[..., str]:
    """Runs `cutpoint` and returns its output."""
    if COMMAND is None:
        pytest.skip("CUTPOINT_BIN does not name the command to compare with")

    def run(*words: object) -> str:
        return subprocess.run([COMMAND, *map(str, words)], check=True, capture_output=True, text=True).stdout

    return run
