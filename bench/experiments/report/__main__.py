"""scripts/report: writes the report of a results file, or compares two."""

import argparse
from pathlib import Path

from experiments.cli import DONE, FAILED, logger, run_script
from experiments.report import Unreadable, write
from experiments.report.comparison import compare

log = logger("report")


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/report",
        description="Writes the report of a sweep's results: DIR/index.html, a page that needs no other file, and its plots as DIR/*.png. Of two "
        "results files, it prints what is faster, slower or cut otherwise in the second.",
        epilog="Exit codes: 0 written; 1 something failed; 2 wrong usage.",
    )
    parser.add_argument("results", metavar="RESULTS.sqlite", type=Path, nargs="*", help="results of scripts/sweep; the files are only read")
    parser.add_argument(
        "--store", metavar="STATS.json", type=Path, action="append", default=[],
        help="what cutpoint stats --details --json printed of a store, which the file's name names; repeatable",
    )  # fmt: skip
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, help="folder to write to; made if it is missing")
    parser.add_argument("--svg", action="store_const", const="svg", default="png", dest="picture", help="plots as SVG")
    options = parser.parse_args(words)
    if not options.results and not options.store:
        parser.error("nothing to report: give results or --store")
    if len(options.results) > 2 or len(options.results) == 2 and (options.store or options.output):
        parser.error("two results are compared on standard output, and no more than two")
    if len(options.results) < 2 and not options.output:
        parser.error("the following arguments are required: -o/--output")
    for path in [*options.results, *options.store]:
        if not path.is_file():
            parser.error(f"there is no file {path}")
    try:
        if len(options.results) == 2:
            print(compare(*options.results), end="")
            return DONE
        write(options.results[0] if options.results else None, options.output, log, options.store, options.picture)
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
