"""Fixtures: shared corpora and the real clients. Tests of a client that is absent are skipped with the reason."""

import importlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType

import pytest

import cutpoint
import inputs
from oracle import HERE, missing


def pytest_report_header() -> str:
    return f"cutpoint: {cutpoint.binary()}"


def pytest_sessionstart() -> None:
    if not os.access(cutpoint.binary(), os.X_OK):
        pytest.exit(f"no cutpoint command at {cutpoint.binary()}: build it or set CUTPOINT_BIN", returncode=2)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[], Iterable]], list[Path]]:
    """`corpus(name, make)` writes make()'s files once and returns their paths."""
    files_of: dict[str, list[Path]] = {}

    def get(name: str, make: Callable[[], Iterable[tuple[str, bytes]]]) -> list[Path]:
        if name not in files_of:
            files_of[name] = inputs.write(tmp_path_factory.mktemp("corpus"), make())
        return files_of[name]

    return get


def python_client(client: str, module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        missing(client, f"cannot be imported ({error})")


@pytest.fixture(scope="session")
def example() -> Callable[[str], Path]:
    """`example("xet/xet_hash")` returns the path of a program of examples/ that tests/examples built."""
    built = Path(os.environ.get("CUTPOINT_EXAMPLES") or cutpoint.REPOSITORY / "build/release/tests/examples/built")

    def get(name: str) -> Path:
        program = built.resolve() / name
        return program if program.exists() else missing("examples", f"{program} was not built")

    return get


@pytest.fixture(scope="session")
def pyfastcdc() -> ModuleType:
    return python_client("pyfastcdc", "pyfastcdc")


@pytest.fixture(scope="session")
def fastcdc() -> ModuleType:
    return python_client("fastcdc", "fastcdc")


@pytest.fixture(scope="session")
def hf_xet() -> ModuleType:
    python_client("hf-xet", "blake3")
    return python_client("hf-xet", "hf_xet")


@pytest.fixture(scope="session")
def blake3() -> ModuleType:
    return python_client("blake3", "blake3")


@pytest.fixture(scope="session")
def casync() -> str:
    return shutil.which("casync") or missing("casync", "the command is not installed")


@pytest.fixture(scope="session")
def restic() -> str:
    return shutil.which("restic") or missing("restic", "the command is not installed")


@pytest.fixture(scope="session")
def borg1() -> list[str | Path]:
    """Borg 1.x from the system's packages, under the interpreter its command names."""
    command = shutil.which("borg")
    if command is None:
        missing("borg1", "the borg command is not installed")
    first_line = Path(command).read_bytes().splitlines()[0]
    if not first_line.startswith(b"#!"):
        missing("borg1", "the borg command is no Python script, so its chunker cannot be called")
    worker = [*first_line[2:].decode().split(), HERE / "borg_worker.py"]
    return checked_borg("borg1", worker, "1.")


@pytest.fixture(scope="session")
def borg2() -> list[str | Path]:
    """Borg 2 from a virtual environment of its own, since both versions call their package `borg`."""
    python = Path(os.environ.get("CUTPOINT_BORG2_PYTHON") or cutpoint.REPOSITORY / ".deps/oracles-borg2/bin/python")
    if not python.exists():
        missing("borg2", "it is not installed (tests/oracles/run says why)")
    return checked_borg("borg2", [python, HERE / "borg_worker.py"], "2.")


def checked_borg(client: str, worker: list[str | Path], version: str) -> list[str | Path]:
    done = subprocess.run([*worker, "--version"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        missing(client, f"its chunker cannot be imported ({done.stderr.strip().splitlines()[-1]})")
    if not done.stdout.startswith(version):
        missing(client, f"version {version}x is needed, found {done.stdout.strip()}")
    return worker


@pytest.fixture(scope="session")
def go_chunkers(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The Go chunkers, built into one worker. No toolchain is downloaded for them."""
    go = shutil.which("go")
    if go is None:
        missing("go", "there is no Go toolchain")
    program = tmp_path_factory.mktemp("go") / "chunkers"
    done = subprocess.run(
        [go, "build", "-mod=readonly", "-o", program, "."],
        cwd=HERE / "go",
        env={**os.environ, "GOTOOLCHAIN": "local", "GOWORK": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        missing("go", f"the worker does not build: {' '.join(done.stderr.split())[-300:]}")
    return [program]
