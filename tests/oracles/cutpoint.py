"""Functions that run the cutpoint command to get chunk lengths."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def binary() -> Path:
    """Returns the path of the command under test: CUTPOINT_BIN, or that of the release build."""
    return Path(os.environ.get("CUTPOINT_BIN") or REPOSITORY / "build/release/cli/cutpoint").resolve()


def chunk(arguments: Sequence[str], folder: Path, names: Sequence[str]) -> str:
    command = [str(binary()), "chunk", *arguments, *names]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        shown = " ".join(["cutpoint", "chunk", *arguments, *names[:3]])
        raise AssertionError(f"{shown} … exited {done.returncode}: {done.stderr.strip()[:2000]}")
    return done.stdout


def lengths(arguments: Sequence[str], paths: Sequence[Path]) -> list[list[int]]:
    """Returns the chunk lengths of each file. One process cuts all files, which must be in one folder."""
    folder = paths[0].parent
    output = chunk([*arguments, "--hash", "none", "--format", "jsonl"], folder, [path.name for path in paths])
    lengths_of: dict[str, list[int]] = {path.name: [] for path in paths}
    reached = dict.fromkeys(lengths_of, 0)
    for line in output.splitlines():
        row = json.loads(line)
        if "length" not in row:  # the first line names the cuts
            continue
        name = Path(row["path"]).name
        assert row["offset"] == reached[name], f"{name}: chunks are not contiguous: {line}"
        lengths_of[name].append(row["length"])
        reached[name] += row["length"]
    for path in paths:
        assert reached[path.name] == path.stat().st_size, f"{path.name}: chunks do not cover the file"
    return [lengths_of[path.name] for path in paths]
