"""Functions that the tests share: they run a client, compare its cuts with ours, and handle missing clients."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import pytest

import cutpoint

HERE = Path(__file__).resolve().parent


def missing(client: str, reason: str) -> NoReturn:
    """Skips the test, or fails it if CUTPOINT_ORACLES_REQUIRED (comma-separated names, or `all`) has this client."""
    required = os.environ.get("CUTPOINT_ORACLES_REQUIRED", "").split(",")
    if client in required or "all" in required:
        pytest.fail(f"{client} is required here, but {reason}")
    pytest.skip(f"{client}: {reason}")


def ask(worker: Sequence[str | Path], jobs: list[dict]) -> list[list[list[int]]]:
    """Gives a client's worker its jobs as JSON on standard input. Returns the chunk lengths for each job and file.

    A job holds `paths` and whatever parameters the worker knows.
    """
    done = subprocess.run(
        [str(word) for word in worker],
        input=json.dumps(jobs, default=str),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{worker[-1]} exited {done.returncode}: {done.stderr.strip()[-2000:]}"
    return json.loads(done.stdout)


def assert_same_cuts(arguments: Sequence[str], paths: Sequence[Path], theirs: Sequence[list[int]]) -> None:
    """Expects that our cuts with these arguments equal the client's, for each file."""
    ours = cutpoint.lengths(arguments, paths)
    assert len(theirs) == len(paths)
    wrong = [
        describe(path, mine, other) for path, mine, other in zip(paths, ours, theirs, strict=True) if mine != other
    ]
    if wrong:
        pytest.fail(
            f"cutpoint chunk {' '.join(arguments)}: {len(wrong)} of {len(paths)} files are cut differently\n  "
            + "\n  ".join(wrong[:8]),
            pytrace=False,
        )


def describe(path: Path, ours: list[int], theirs: list[int]) -> str:
    """Describes the first chunk that differs, with its neighbours."""
    pairs = zip(ours, theirs, strict=False)
    at = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(ours), len(theirs)))
    return (
        f"{path.name} ({path.stat().st_size} bytes): chunk {at}, at {sum(ours[:at])}: "
        f"ours {ours[at : at + 3]} of {len(ours)} chunks, theirs {theirs[at : at + 3]} of {len(theirs)}"
    )
