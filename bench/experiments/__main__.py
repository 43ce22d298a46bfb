"""Runs a script of the experiments, `python -m experiments NAME [ARGUMENT...]`. If nobody reads what it prints any more, it ends as the command
does, by SIGPIPE, after it has cleaned up."""

import importlib
import os
import signal
import sys


def run(name: str, words: list[str]) -> int:
    try:
        try:
            return importlib.import_module(f"experiments.{name}.__main__").main(words)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
        raise


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]))
