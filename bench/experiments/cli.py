"""What the scripts of the experiments share: exit codes, messages on standard error, and the folder of data sets."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CUTPOINT_DATA") or ROOT / "data")
DONE, FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130


def shown(text: object) -> str:
    """Text with a path in it, as results keep it and pages show it: bytes that are not UTF-8 become escapes such as \\xfc."""
    return str(text).encode(errors="surrogateescape").decode(errors="backslashreplace")


def logger(script: str) -> Callable[[str], None]:
    """Returns the function that prints a message of this script."""
    return lambda text: print(f"{script}: {text}", file=sys.stderr, flush=True)


def run_script(main: Callable[[list[str]], int]) -> None:
    """Ends the process with the exit code of a script's main function. Where a reader of its output has gone, it ends as if by SIGPIPE,
    without a message; while it runs, that signal is ignored, since it also comes from servers and other programs."""
    if sys.stdout:
        sys.stdout.reconfigure(errors="surrogateescape")  # paths are printed as they are
    try:
        try:
            sys.exit(main(sys.argv[1:]))
        finally:
            print(end="", flush=True)
    except BrokenPipeError:
        os._exit(128 + signal.SIGPIPE)  # anything else would try to write what is left
