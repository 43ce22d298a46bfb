"""scripts/sweep: measures the cells of a sweep that have no result yet, and writes the report."""

import argparse
import contextlib
import os
import sqlite3
from pathlib import Path

from experiments.cli import DATA, DONE, FAILED, INTERRUPTED, ROOT, WRONG_USAGE, logger, run_script
from experiments.results import Unreadable, meaning, reading
from experiments.sweep import plan
from experiments.sweep.command import Command, Failed
from experiments.sweep.run import Run, check, unmeasured
from experiments.sweep.store import Busy, Store

log = logger("sweep")


SWEEPS = ROOT / "scripts" / "sweeps"


def named_plans() -> list[str]:
    return sorted(path.stem for path in SWEEPS.glob("*.toml"))


def plan_file(word: str) -> Path:
    """The file that a word names: the project's, where it is the name of one and there is no such file here."""
    return SWEEPS / f"{word}.toml" if word in named_plans() and not Path(word).exists() else Path(word)


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/sweep",
        description="Measures every combination of a sweep's file that has no result yet, keeps each at once, and writes a report. After an "
        "interruption the same command continues.",
        epilog="Exit codes: 0 all cells are measured; 1 a cell or a data set failed (the others are done); 2 wrong usage; 130 interrupted.",
    )
    parser.add_argument("file", type=plan_file, metavar="SWEEP", help=f"a file (docs/sweeps.md), or the name of one here: {', '.join(named_plans())}")
    parser.add_argument("--data", type=Path, metavar="DIR", default=DATA, help="folder of the data sets (CUTPOINT_DATA, else data/)")
    parser.add_argument("--results", type=Path, metavar="FILE", help="file of the results (sweeps/NAME/results.sqlite in the folder of the data sets)")
    parser.add_argument("--report", type=Path, metavar="DIR", help="folder of the report (report/ beside the results)")
    parser.add_argument("--no-report", action="store_true", help="write no report")
    parser.add_argument("--only", metavar="GROUP", help="measure only this group of cells")
    parser.add_argument("--list", action="store_true", help="print the cells without a result; build, make, fetch, measure and write nothing")
    parser.add_argument("--command", type=Path, metavar="PATH", default=ROOT / "build/release/cli/cutpoint", help="the command to measure")
    return parser.parse_args(words)


def check_places(wanted: plan.Plan, places: dict[str, Path]) -> None:
    """Notes what the sweep would write into data, which it would change."""
    for what, place in places.items():
        real = Path(os.path.realpath(place))
        for source in wanted.sources.values():
            for path in source.paths:
                with wanted.mistakes.noted():
                    if path.resolve() in (real, *real.parents):
                        raise plan.Wrong(f"{wanted.places[source.name].at('path')}: the {what}, {place}, would be written into {path}")


def sweep(options: argparse.Namespace) -> int:
    wanted = plan.read(options.file)
    results = options.results or options.data / "sweeps" / wanted.name / "results.sqlite"
    folder = options.report or results.parent / "report"
    check_places(wanted, {"results": results} | ({} if options.no_report else {"report": folder}))
    if not options.command.exists():
        raise plan.Wrong(f"there is no {options.command}; scripts/build builds the command")
    command = Command(options.command)
    check(wanted, command)
    if options.only and options.only not in (groups := sorted({group for group, _ in wanted.members})):
        raise plan.Wrong(f"no group '{options.only}'; there are {', '.join(groups)}")
    if not options.no_report and folder.exists() and not folder.is_dir():
        raise plan.Wrong(f"{folder} is no folder, so it cannot have the report")
    if options.list:
        list_missing(options, wanted, command, results)
        return DONE
    try:
        failed, absent = measure(options, wanted, command, results)
    except sqlite3.Error as problem:
        ending = "" if problem.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CORRUPT else "; earlier results are kept, and the same command continues"
        raise Unreadable(meaning(results, problem) + ending) from None
    if not options.no_report:
        from experiments import report

        report.write(results, folder, log)
    return FAILED if failed or absent else DONE


def list_missing(options: argparse.Namespace, wanted: plan.Plan, command: Command, results: Path) -> None:
    outcomes: dict[str, str] = {}
    if results.exists():
        with reading(results) as file:
            outcomes = dict(map(tuple, file.execute("select key, outcome from cells")))
    cells = unmeasured(wanted, command, Path(os.path.realpath(options.data)), outcomes, options.only, log)
    for cell in cells:
        print(cell)
    log(f"{len(cells)} of {len(wanted.cells())} cells are missing in {results}")


def measure(options: argparse.Namespace, wanted: plan.Plan, command: Command, results: Path) -> tuple[int, bool]:
    """Measures the missing cells. Returns how many failed, and whether data sets are absent."""
    with contextlib.closing(Store(results)) as store:
        run = Run(wanted, command, Path(os.path.realpath(options.data)), store, log)
        cells = run.missing(options.only)
        log(f"{len(cells)} of {len(wanted.cells())} cells are to be measured; results: {results}")
        failed = run.measure(cells)
        for outcome, problem in store.problems(wanted.name):
            log(f"{outcome}: {problem}")
    return failed, bool(run.absent)


def main(words: list[str]) -> int:
    options = parse(words)
    try:
        return sweep(options)
    except KeyboardInterrupt:
        log("interrupted; results are kept, and the same command continues")
        return INTERRUPTED
    except plan.Wrong as wrong:
        for mistake in str(wrong).splitlines():
            log(mistake)
        return WRONG_USAGE
    except BrokenPipeError:
        raise  # run_script ends it
    except OSError as failed:
        log(f"{failed.filename or ''}: {failed.strerror or failed}".removeprefix(": "))
        return WRONG_USAGE if failed.filename == str(options.file) else FAILED
    except (Failed, Busy, Unreadable) as failed:
        log(str(failed))
        return FAILED


if __name__ == "__main__":
    run_script(main)
