"""Runs programs in a bounded amount of memory, with the page cache that they use: a memory controller of cgroups, version 1 or 2."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")


class Unlimited(Exception):
    """This machine does not bound memory for us. The text says why."""


def _parent() -> tuple[Path, str]:
    """The folder to make groups in, and the name of the file for their limit."""
    first, second = ROOT / "memory", next((path for path in (ROOT, ROOT / "unified") if (path / "cgroup.controllers").is_file()), None)
    if (first / "memory.limit_in_bytes").is_file():
        return first, "memory.limit_in_bytes"
    if second and "memory" in (second / "cgroup.subtree_control").read_text().split():
        return second, "memory.max"
    raise Unlimited("no memory controller of cgroups is here")


@contextmanager
def group(limit_bytes: int) -> Iterator[Path]:
    """A group with a limit, which is removed at the end. Raises Unlimited."""
    parent, limit = _parent()
    folder = parent / f"cutpoint-{os.getpid()}"
    try:
        folder.mkdir()
        (folder / limit).write_text(str(limit_bytes))
    except OSError as refused:
        if folder.exists():
            folder.rmdir()
        raise Unlimited(f"memory cannot be bounded: {refused}") from refused
    try:
        yield folder
    finally:
        folder.rmdir()


def run(words: list[str], limit_bytes: int | None) -> subprocess.CompletedProcess:
    """Runs a program, in a group of its own if there is a limit. Its output is text. Raises Unlimited."""
    if limit_bytes is None:
        return subprocess.run(words, capture_output=True, text=True)
    with group(limit_bytes) as folder:
        return subprocess.run(words, capture_output=True, text=True, preexec_fn=lambda: (folder / "cgroup.procs").write_text("0"))
