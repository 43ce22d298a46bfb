"""Runs programs for generators, with error messages for the user, and installs the packages that they need."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from experiments.datasets.base import Failed

SETUP = Path(__file__).resolve().parents[3] / "scripts" / "setup"


def _error_line(text: bytes) -> str:
    """The first line with an error, else the last line."""
    lines = [line.strip() for line in text.decode(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("E:", "ERROR", "error", "fatal"))]
    return (errors or lines[-1:] or ["no message"])[0]


def run(what: str, command: Sequence[str | Path], **options: object) -> bytes:
    """Runs a program and returns its output. Raises Failed, whose message begins with `what`, if it fails or does not exist."""
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    try:
        done = subprocess.run([str(word) for word in command], **options)
    except FileNotFoundError:
        raise Failed(f"{what}: no {command[0]} on this machine") from None
    if done.returncode != 0:
        reason = _error_line(done.stderr or done.stdout or b"")
        raise Failed(f"{what} failed ({Path(command[0]).name}, exit code {done.returncode}): {reason}")
    return done.stdout or b""


def version_of(*command: str) -> str:
    """The first line of a program's version."""
    output = run("asking for a version", command, stderr=subprocess.STDOUT).decode(errors="replace").strip()
    return output.splitlines()[0] if output else "unknown"


@contextmanager
def output_of(what: str, command: Sequence[str | Path]) -> Iterator[IO[bytes]]:
    """The output of a program as a stream. Raises Failed at the end if the program failed."""
    try:
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except FileNotFoundError:
        raise Failed(f"{what}: no {command[0]} on this machine") from None
    try:
        yield process.stdout
        while process.stdout.read(1 << 20):  # else the program would fail for a closed pipe
            pass
        reason = _error_line(process.stderr.read())
        if process.wait() != 0:
            raise Failed(f"{what} failed ({command[0]}): {reason}")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def need_packages(name: str, packages: Sequence[str]) -> None:
    """Installs Debian packages by scripts/setup. It returns at once if they are installed, else needs root or sudo."""
    if not packages:
        return
    try:
        done = subprocess.run(["bash", str(SETUP), "--packages", " ".join(packages)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    except FileNotFoundError:
        raise Failed(f"data set '{name}' needs {', '.join(packages)}, and there is no bash to install them by scripts/setup") from None
    if done.returncode != 0:
        raise Failed(f"data set '{name}' needs the Debian packages {' '.join(packages)}; see above")


def need_root(name: str, why: str) -> None:
    if os.geteuid() != 0:
        raise Failed(f"data set '{name}' is made by root alone, since {why}: run scripts/datasets as root (sudo -E scripts/datasets …)")


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remove(path: Path) -> None:
    """Removes a file or a folder, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
