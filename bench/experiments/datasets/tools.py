"""Programs and packages that generators use: run with errors that say what failed, installed when a set that needs them is made."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from experiments.datasets.base import Failed

SETUP = Path(__file__).resolve().parents[3] / "scripts" / "setup"


def _said(text: bytes) -> str:
    """The first line that is an error, else the last."""
    lines = [line.strip() for line in text.decode(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("E:", "ERROR", "error", "fatal"))]
    return (errors or lines[-1:] or ["it says nothing"])[0]


def run(what: str, command: Sequence[str | Path], **options: object) -> bytes:
    """Runs a program to its end and returns what it printed. Raises Failed, which begins with `what`, where it fails or is not there."""
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    try:
        done = subprocess.run([str(word) for word in command], **options)
    except FileNotFoundError:
        raise Failed(f"{what}: no {command[0]} on this machine") from None
    if done.returncode != 0:
        reason = _said(done.stderr or done.stdout or b"")
        raise Failed(f"{what} failed ({Path(command[0]).name}, exit code {done.returncode}): {reason}")
    return done.stdout or b""


def version_of(*command: str) -> str:
    """The first line that a program prints of its version."""
    said = run("asking for a version", command, stderr=subprocess.STDOUT).decode(errors="replace").strip()
    return said.splitlines()[0] if said else "unknown"


@contextmanager
def output_of(what: str, command: Sequence[str | Path]) -> Iterator[IO[bytes]]:
    """What a program prints, as a stream. Raises Failed at the end where the program failed."""
    try:
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except FileNotFoundError:
        raise Failed(f"{what}: no {command[0]} on this machine") from None
    try:
        yield process.stdout
        while process.stdout.read(1 << 20):  # to its end, or it would fail for a closed pipe
            pass
        reason = _said(process.stderr.read())
        if process.wait() != 0:
            raise Failed(f"{what} failed ({command[0]}): {reason}")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def need_packages(name: str, packages: Sequence[str]) -> None:
    """Debian packages, as scripts/setup installs them: at once where they are there, by root or sudo where they are not."""
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


def remove(path: Path) -> None:
    """A file or a whole folder, or nothing where there is none."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
