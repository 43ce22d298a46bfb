"""Where the programs lie that these tests run, and runs of the experiments' own programs in this process."""

import contextlib
import io
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("CUTPOINT_BUILD") or ROOT / "build/release")
BINARY = Path(os.environ.get("CUTPOINT_BIN") or BUILD / "cli/cutpoint").resolve()


def run_here(program: Callable[[list[str]], int], *words: object) -> subprocess.CompletedProcess:
    """Runs the main function of a program, as a process would run it."""
    arguments = [*map(str, words)]
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            code = program(arguments)
        except SystemExit as end:
            code = end.code
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), said.getvalue())
