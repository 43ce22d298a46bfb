"""scripts/report: writes the report of a results file."""

import argparse
from pathlib import Path

from experiments.cli import DONE, FAILED, logger, run_script
from experiments.report import Unreadable, write

log = logger("report")


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/report",
        description="Writes the report of a sweep's results: DIR/index.html, a page that needs no other file, and its plots as DIR/*.png.",
        epilog="Exit codes: 0 written; 1 something failed; 2 wrong usage.",
    )
    parser.add_argument("results", metavar="RESULTS.sqlite", type=Path, nargs="?", help="results of scripts/sweep; the file is only read")
    parser.add_argument(
        "--store", metavar="STATS.json", type=Path, action="append", default=[],
        help="what cutpoint stats --details --json printed of a store, which the file's name names; repeatable",
    )  # fmt: skip
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, required=True, help="folder to write to; made if it is missing")
    options = parser.parse_args(words)
    if options.results is None and not options.store:
        parser.error("nothing to report: give results or --store")
    for path in filter(None, [options.results, *options.store]):
        if not path.is_file():
            parser.error(f"there is no file {path}")
    try:
        write(options.results, options.output, log, options.store)
    except Unreadable as problem:
        log(str(problem))
        return FAILED
    except BrokenPipeError:
        raise  # run_script ends it
    except OSError as problem:
        log(f"{problem.filename or options.output}: {problem.strerror}")
        return FAILED
    return DONE


if __name__ == "__main__":
    run_script(main)
