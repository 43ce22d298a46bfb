"""What the tests share: data of many shapes, the command, other chunkers."""

import importlib
import importlib.util
import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[3]
COMMAND = os.environ.get("CUTPOINT_BIN")

# A loaded machine makes single examples slow, which says nothing of them.
hypothesis.settings.register_profile("cutpoint", deadline=None, max_examples=60)
hypothesis.settings.load_profile("cutpoint")


def load(path: Path) -> ModuleType:
    """A module by its file: tests/oracles has one of our package's name, so that it cannot be on the path."""
    spec = importlib.util.spec_from_file_location(f"from_{path.parent.name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


oracle_inputs = load(ROOT / "tests" / "oracles" / "inputs.py")


def missing(client: str, reason: str) -> NoReturn:
    """Skips, or fails where CUTPOINT_ORACLES_REQUIRED (names with commas, or `all`) asks for this client."""
    required = os.environ.get("CUTPOINT_ORACLES_REQUIRED", "").split(",")
    if client in required or "all" in required:
        pytest.fail(f"{client} is required here, but {reason}")
    pytest.skip(f"{client}: {reason}")


def client(name: str, module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        missing(name, f"cannot be imported ({error})")


@pytest.fixture(scope="session")
def data() -> bytes:
    """6 MB in which there is everything: noise, text, short periods, runs, a repetition, an odd end."""
    noise = random.Random(1).randbytes(1_500_000)
    shapes = [oracle_inputs.SHAPES[name](600_000) for name in ("text", "runs", "period-251", "islands")]
    return b"".join([noise, *shapes, bytes(1_000_000), noise[:1_000_000], b"end"])


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
    """Runs `cutpoint`, and gives what it printed."""
    if COMMAND is None:
        pytest.skip("CUTPOINT_BIN does not name the command to compare with")

    def run(*words: object) -> str:
        return subprocess.run([COMMAND, *map(str, words)], check=True, capture_output=True, text=True).stdout

    return run
