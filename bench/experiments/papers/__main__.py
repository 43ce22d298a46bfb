"""scripts/papers: writes the tables of docs/papers."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from experiments.papers import ae, p_dedupe, pages, paper, prune, runs, seqcdc, seqcdc_speed, summary
from experiments.papers.evidence import Evidence
from experiments.papers.cells import AE_SETS
from experiments.papers.claims import TABLES as CLAIMS
from experiments.papers.ours import Ours
from experiments.sweep.results import Unreadable

ROOT = Path(__file__).resolve().parents[3]
TABLES = {**p_dedupe.TABLES, **seqcdc.TABLES, **seqcdc_speed.TABLES, **ae.TABLES, **prune.TABLES, **summary.TABLES, **CLAIMS}
DONE, FAILED, WRONG_USAGE = 0, 1, 2
MOST = 40  # most missing rows that are named


def say(text: str) -> None:
    print(f"papers: {text}", file=sys.stderr)


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/papers",
        description="Writes the tables of docs/papers/*.md, with the papers' numbers beside those of a sweep. Other text does not change.",
        epilog="Exit codes: 0 done; 1 rows are missing (their cells have a dash), or --check found a page that differs; 2 wrong usage.",
    )
    parser.add_argument("results", type=Path, metavar="RESULTS.sqlite", help="results of scripts/sweep scripts/sweeps/full.toml")
    parser.add_argument("--check", action="store_true", help="do not write; name the pages that would change")
    parser.add_argument("--low-entropy", action="store_true", help=f"measure AE's table 5 first, which takes minutes, and keep it in {runs.FILE}")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        default=Path(os.environ.get("CUTPOINT_DATA") or ROOT / "data"),
        help="folder of its data sets (CUTPOINT_DATA, else data/)",
    )
    parser.add_argument(
        "--command", type=Path, metavar="PATH", default=ROOT / "build/release/cli/cutpoint", help="the command to cut them with"
    )
    parser.add_argument("--pages", type=Path, metavar="DIR", default=ROOT / "docs/papers", help="folder of the pages (docs/papers)")
    return parser.parse_args(words)


def write(evidence: Evidence, name: str) -> list[str]:
    if name not in TABLES:
        raise pages.Malformed(f"no table '{name}'; there are {', '.join(sorted(TABLES))}")
    return TABLES[name](evidence)


def measure_low_entropy(options: argparse.Namespace) -> None:
    from experiments import datasets  # imported late, since generators need more packages

    made = [datasets.make(name, 1 << 30, None, 1, options.data.resolve(), say) for name in AE_SETS]
    runs.write(options.pages / runs.FILE, options.command, {set_.name: (set_.checksum, set_.paths) for set_ in made})


def main(words: list[str]) -> int:
    options = parse(words)
    files = sorted(options.pages.glob("*.md"))
    if not options.results.is_file() or not files:
        say(f"there is no file {options.results}" if files else f"there are no pages in {options.pages}")
        return WRONG_USAGE
    try:
        if options.low_entropy:
            measure_low_entropy(options)
        kept = options.pages / runs.FILE
        evidence = Evidence(paper.read_all(), Ours(options.results), json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {})
        done = {file: pages.rewrite(file.name, file.read_text(encoding="utf-8"), lambda name: write(evidence, name)) for file in files}
    except (Unreadable, pages.Malformed) as wrong:
        say(str(wrong))
        return WRONG_USAGE
    except (OSError, subprocess.CalledProcessError) as failed:
        say(str(failed))
        return FAILED
    changed = [file for file, text in done.items() if file.read_text(encoding="utf-8") != text]
    for file in changed:
        if options.check:
            say(f"{file} differs from the results")
        else:
            file.write_text(done[file], encoding="utf-8")
    for missing in evidence.ours.missing[:MOST]:
        say(f"missing: {missing}")
    if len(evidence.ours.missing) > MOST:
        say(f"missing: {len(evidence.ours.missing) - MOST} more")
    return FAILED if evidence.ours.missing or (options.check and changed) else DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
