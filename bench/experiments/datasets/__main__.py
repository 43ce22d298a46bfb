"""scripts/datasets: lists, makes and verifies data sets."""

import argparse
import signal
from pathlib import Path

from experiments import sizes
from experiments.cli import DATA, DONE, FAILED, INTERRUPTED, WRONG_USAGE, logger, run_script
from experiments.datasets import catalog, store
from experiments.datasets.base import Failed

log = logger("datasets")


def size_of(text: str) -> int:
    try:
        return sizes.bytes_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def whole_number(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number")
    return int(text)


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/datasets",
        description="Data sets like those of the papers, made on this machine (docs/datasets.md).",
        epilog="Exit codes: 0 done; 1 something failed; 2 wrong usage; 130 interrupted: the same command resumes.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("list", help="list the data sets, the papers' sets that they stand for, and their requirements")
    make = commands.add_parser("make", help="make a data set, or resume making it; prints its folder")
    make.add_argument("name", metavar="NAME", help="a name of the list")
    make.add_argument("--size", type=size_of, metavar="SIZE", help="approximate bytes of all versions together: 128M, 1G")
    make.add_argument("--versions", type=whole_number, metavar="N", help="number of versions")
    make.add_argument("--seed", type=whole_number, metavar="N", default=1, help="seed of all random draws (1)")
    make.add_argument("--folder", type=Path, metavar="DIR", default=DATA, help="parent of the set's folder (CUTPOINT_DATA, else data/ of the repository)")
    verify = commands.add_parser("verify", help="read data sets again and compare every file with the manifest")
    verify.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="folder of a data set")
    options = parser.parse_args(words)
    if options.command == "make" and options.versions == 0:
        parser.error("argument --versions: must be at least 1")
    return options


def print_list() -> int:
    for entry in catalog.ENTRIES.values():
        print(f"{entry.name:<12} {entry.what}")
        print(f"{'':<12} stands for {', '.join(entry.stands_for) or 'no data set of the papers'}; default {sizes.text_of(entry.size)} in "
              f"{entry.versions} versions; needs {', '.join(entry.needs)}")
    return DONE


def verify(folders: list[Path]) -> int:
    outcome = DONE
    for folder in folders:
        try:
            problems = store.verify(folder)
        except Failed as failed:
            problems = [str(failed)]
        for problem in problems:
            log(problem)
        if problems:
            outcome = FAILED
        else:
            print(f"{folder}: all files are as they were made")
    return outcome


def main(words: list[str]) -> int:
    options = parse(words)
    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))  # SIGTERM stops servers too
    try:
        if options.command == "list":
            return print_list()
        if options.command == "verify":
            return verify(options.folders)
        print(store.make(options.name, options.size, options.versions, options.seed, options.folder, log).folder)
        return DONE
    except ValueError as wrong:
        log(str(wrong))
        return WRONG_USAGE
    except Failed as failed:
        log(str(failed))
        return FAILED
    except KeyboardInterrupt:
        log("interrupted; the same command resumes after the last complete version")
        return INTERRUPTED


if __name__ == "__main__":
    run_script(main)
