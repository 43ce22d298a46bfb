"""What the scripts of the experiments share: exit codes, messages on standard error, and the folder of data sets."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CUTPOINT_DATA") or ROOT / "data")
DONE, FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130


def logger(script: str) -> Callable[[str], None]:
    """Returns the function that prints a message of this script."""
    return lambda text: print(f"{script}: {text}", file=sys.stderr, flush=True)
