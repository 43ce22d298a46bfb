"""The command: scripts/report RESULTS.sqlite -o DIR."""

import argparse
import sys
from pathlib import Path

from experiments.report import Unreadable, write


def say(text: str) -> None:
    print(f"report: {text}", file=sys.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="report",
        description="Writes DIR/index.html, one page with everything in it, and its plots as DIR/*.png, of the results of a sweep.",
        epilog="Exit codes: 0 written; 1 something failed; 2 wrong usage.",
    )
    parser.add_argument("results", metavar="RESULTS.sqlite", type=Path, help="what scripts/sweep keeps; it is only read")
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, required=True, help="folder to write to; made where it is missing")
    given = parser.parse_args()
    if not given.results.is_file():
        parser.error(f"there is no file {given.results}")
    try:
        write(given.results, given.output, say)
    except Unreadable as problem:
        say(str(problem))
        return 1
    except OSError as problem:
        say(f"{problem.filename or given.output}: {problem.strerror}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
