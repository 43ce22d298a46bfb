"""scripts/sweep: measures the cells of a sweep that have no result yet, and writes the report."""

import argparse
import sys
from pathlib import Path

from experiments.cli import DATA, DONE, FAILED, INTERRUPTED, ROOT, WRONG_USAGE, logger
from experiments.sweep import plan
from experiments.sweep.command import Command, Failed
from experiments.sweep.run import Run, check
from experiments.sweep.store import Busy, Store

log = logger("sweep")


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/sweep",
        description="Measures every combination of a sweep's file that has no result yet, keeps each at once, and writes a report. After an "
        "interruption the same command continues.",
        epilog="Exit codes: 0 all cells are measured; 1 a cell or a data set failed (the others are done); 2 wrong usage; 130 interrupted.",
    )
    parser.add_argument("file", type=Path, metavar="FILE.toml", help="the sweep (docs/sweeps.md)")
    parser.add_argument("--data", type=Path, metavar="DIR", default=DATA, help="folder of the data sets (CUTPOINT_DATA, else data/)")
    parser.add_argument("--results", type=Path, metavar="FILE", help="file of the results (sweeps/NAME/results.sqlite in the folder of the data sets)")
    parser.add_argument("--report", type=Path, metavar="DIR", help="folder of the report (report/ beside the results)")
    parser.add_argument("--no-report", action="store_true", help="write no report")
    parser.add_argument("--only", metavar="GROUP", help="measure only this group of cells")
    parser.add_argument("--list", action="store_true", help="print the cells without a result, and measure nothing")
    parser.add_argument("--command", type=Path, metavar="PATH", default=ROOT / "build/release/cli/cutpoint", help="the command to measure")
    return parser.parse_args(words)


def sweep(options: argparse.Namespace) -> int:
    wanted = plan.read(options.file)
    if options.only and options.only not in {group for group, _ in wanted.members}:
        raise plan.Wrong(f"no group '{options.only}'; there are {', '.join(sorted({group for group, _ in wanted.members}))}")
    command = Command(options.command)
    check(wanted, command)
    results = options.results or options.data / "sweeps" / wanted.name / "results.sqlite"
    store = Store(results)
    try:
        run = Run(wanted, command, options.data.resolve(), store, log)
        cells = run.missing(options.only)
        if options.list:
            for cell in cells:
                print(cell)
            log(f"{len(cells)} of {len(wanted.cells)} cells are missing in {results}")
            return DONE
        log(f"{len(cells)} of {len(wanted.cells)} cells are to be measured; results: {results}")
        failed = run.measure(cells)
        for outcome, problem in store.problems(wanted.name):
            log(f"{outcome}: {problem}")
    finally:
        store.close()
    if not options.no_report:
        from experiments import report

        report.write(results, options.report or results.parent / "report", log)
    return FAILED if failed or run.absent else DONE


def main(words: list[str]) -> int:
    options = parse(words)
    try:
        return sweep(options)
    except KeyboardInterrupt:
        log("interrupted; results are kept, and the same command continues")
        return INTERRUPTED
    except plan.Wrong as wrong:
        log(str(wrong))
        return WRONG_USAGE
    except OSError as failed:
        log(f"{failed.filename or ''}: {failed.strerror or failed}".removeprefix(": "))
        return WRONG_USAGE if failed.filename == str(options.file) else FAILED
    except (Failed, Busy) as failed:
        log(str(failed))
        return FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
