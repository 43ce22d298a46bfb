"""scripts/papers: writes the tables of docs/papers."""

import argparse
import json
import subprocess
from pathlib import Path

from experiments import memory_limit
from experiments.cli import DATA, DONE, FAILED, ROOT, WRONG_USAGE, logger, run_script
from experiments.papers import (  # noqa: F401
    ae, ae_claims, appdedupe, cluster_runs, context_runs, contexts, coverage, definition_runs, definitions, fair_runs, p_dedupe, p_dedupe_claims,
    p_dedupe_store, pages, paper, prune, runs, seqcdc,
    seqcdc_claims, seqcdc_fair, seqcdc_speed, store_runs, summary, tablet_runs, tablets,
)  # fmt: skip
from experiments.papers.evidence import Evidence, Ours, Stored
from experiments.papers.paper import AE_SETS
from experiments.papers.tables import TABLES
from experiments.results import Unreadable

log = logger("papers")
OWN_RUNS = ("p-dedupe-store.md", "prune-contexts.md", "prune-tablets.md", "appdedupe.md")  # pages that need no sweep
MOST = 40  # most missing rows that are named


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/papers", allow_abbrev=False,  # the script knows whole names
        description="Writes the tables of docs/papers/*.md, with the papers' numbers beside those of a sweep. Other text does not change.",
        epilog="Exit codes: 0 done; 1 rows are missing (their cells have a dash), or --check found a page that differs; 2 wrong usage.",
    )
    parser.add_argument(
        "results", type=Path, metavar="RESULTS.sqlite", nargs="?",
        help=f"results of scripts/sweep scripts/sweeps/full.toml; without them only {', '.join(OWN_RUNS)} are written",
    )  # fmt: skip
    parser.add_argument("--check", action="store_true", help="do not write; name the pages that would change")
    parser.add_argument("--low-entropy", action="store_true", help=f"measure AE's table 5 first, which takes minutes, and keep it in {runs.FILE}")
    parser.add_argument("--store", action="store_true", help=f"measure P-Dedupe with the store first, and keep it in {store_runs.FILE}")
    parser.add_argument("--definitions", action="store_true", help=f"compare definitions and shift bytes first, and keep it in {definition_runs.FILE}")
    parser.add_argument("--cluster", action="store_true", help=f"simulate AppDedupe's clusters first, and keep it in {cluster_runs.FILE}")
    parser.add_argument("--cluster-only", action="append", default=[], choices=list(cluster_runs.GROUPS), help="measure this of --cluster alone, and keep the rest")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each job of --store, --contexts, --tablets and --cluster, and of each definition, of which 0 measures no times (5)")
    parser.add_argument("--contexts", action="store_true", help=f"measure PRUNE's methods and contexts first, and keep it in {context_runs.FILE}")
    parser.add_argument("--tablets", action="store_true", help=f"measure PRUNE's tablets first, and keep it in {tablet_runs.FILE}")
    parser.add_argument("--only", action="append", default=[], choices=tablet_runs.GROUPS, help="measure these jobs of --tablets alone, and keep the others")
    parser.add_argument("--missing", action="store_true", help="of the jobs of --contexts and --tablets, measure those that their files lack")
    parser.add_argument("--fair", action="store_true", help=f"search sizes with means near SeqCDC's 16 KB first, and keep them in {fair_runs.FILE}")
    parser.add_argument("--scratch", type=Path, metavar="DIR", default=Path("/dev/shm"), help="folder for the data and the stores of --store and --contexts, and for the traces of --cluster (/dev/shm)")
    parser.add_argument("--disk", type=Path, metavar="DIR", default=ROOT / "build", help="folder on a disk for the tables of --tablets (build/)")
    parser.add_argument("--data", type=Path, metavar="DIR", default=DATA, help="folder of its data sets (CUTPOINT_DATA, else data/)")
    parser.add_argument("--build", type=Path, metavar="DIR", default=ROOT / "build/release", help="folder of programs that measure, built already (default: build/release, which is built)")
    parser.add_argument("--pages", type=Path, metavar="DIR", default=ROOT / "docs/papers", help="folder of the pages (docs/papers)")
    return parser.parse_args(words)


def write(evidence: Evidence, name: str) -> list[str]:
    if name not in TABLES:
        raise pages.Malformed(f"no table '{name}'; there are {', '.join(sorted(TABLES))}")
    return TABLES[name](evidence)


def sets(options: argparse.Namespace, names) -> dict[str, tuple[str, list[Path]]]:
    """Checksums and paths of data sets, which are made if they are not there."""
    from experiments import datasets  # imported late, since generators need more packages

    data_sets = [datasets.make(name, None, None, 1, options.data.resolve(), log) for name in names]
    return {set_.name: (set_.checksum, set_.paths) for set_ in data_sets}


def measure(options: argparse.Namespace) -> None:
    if options.low_entropy:
        runs.write(options.pages / runs.FILE, options.build / "cli/cutpoint", sets(options, AE_SETS))
    if options.store:
        measurements = store_runs.measure(sets(options, store_runs.SETS), options.build, options.scratch, options.rounds, log)
        (options.pages / store_runs.FILE).write_text(store_runs.text_of(measurements), encoding="utf-8")
    if options.contexts:
        known = stored_json(options.pages / context_runs.FILE) if options.missing else {}
        for measurements in context_runs.measure(sets(options, context_runs.SETS), options.build, options.scratch, options.rounds, log, known):
            (options.pages / context_runs.FILE).write_text(context_runs.text_of(measurements), encoding="utf-8")
    if options.fair:
        settings = fair_runs.measure(sets(options, fair_runs.SETS), options.build / "cli/cutpoint", log)
        (options.pages / fair_runs.FILE).write_text(fair_runs.text_of(settings), encoding="utf-8")
    if options.definitions:
        compared = definition_runs.measure(sets(options, definition_runs.SETS), options.build, options.rounds, log)
        (options.pages / definition_runs.FILE).write_text(definition_runs.text_of(compared), encoding="utf-8")
    if options.cluster:
        known = stored_json(options.pages / cluster_runs.FILE)
        data = sets(options, cluster_runs.sets_of(options.cluster_only))
        measurements = cluster_runs.measure(data, options.build, options.scratch, options.rounds, log, only=options.cluster_only, known=known)
        (options.pages / cluster_runs.FILE).write_text(cluster_runs.text_of(measurements), encoding="utf-8")
    if options.tablets:
        known = stored_json(options.pages / tablet_runs.FILE)
        selection = {"only": options.only, "known": known, "skips_known": options.missing}
        for measurements in tablet_runs.measure(options.build, options.disk, options.rounds, log, **selection):
            (options.pages / tablet_runs.FILE).write_text(tablet_runs.text_of(measurements), encoding="utf-8")


def stored_json(file: Path) -> dict:
    try:
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    except ValueError as problem:
        raise Unreadable(f"{file} is no JSON: {problem}") from None


def main(words: list[str]) -> int:
    options = parse(words)
    files = sorted(file for file in options.pages.glob("*.md") if options.results or file.name in OWN_RUNS)
    has_runs = options.store or options.contexts or options.tablets or options.cluster
    if options.rounds < (least := 1 if has_runs else 0):
        log(f"--rounds is {options.rounds}, at least {least}")
        return WRONG_USAGE
    kept_runs = [options.pages / each.FILE for each in (store_runs, context_runs, tablet_runs, cluster_runs)]
    if not options.results and not has_runs and not any(file.is_file() for file in kept_runs):
        log("no results are given")
        return WRONG_USAGE
    if (options.results and not options.results.is_file()) or not files:
        log(f"there is no file {options.results}" if files else f"there are no pages in {options.pages}")
        return WRONG_USAGE
    try:
        measure(options)
        ours = Ours(options.results) if options.results else None
        files_of_runs = (runs.FILE, store_runs.FILE, definition_runs.FILE, tablet_runs.FILE, fair_runs.FILE, cluster_runs.FILE, context_runs.FILE)
        low_entropy, stored, *others = (stored_json(options.pages / name) for name in files_of_runs)
        evidence = Evidence(paper.read_all(), ours, low_entropy, Stored(stored), *others)
        done = {file: pages.rewrite(file.name, file.read_text(encoding="utf-8"), lambda name: write(evidence, name)) for file in files}
        changed = [file for file, text in done.items() if file.read_text(encoding="utf-8") != text]
        for file in changed:
            if options.check:
                log(f"{file} differs from the results")
            else:
                file.write_text(done[file], encoding="utf-8")
    except (Unreadable, pages.Malformed) as wrong:
        log(str(wrong))
        return WRONG_USAGE
    except BrokenPipeError:
        raise  # run_script ends it
    except (OSError, RuntimeError, subprocess.CalledProcessError, memory_limit.Unlimited) as failed:
        log(str(failed))
        return FAILED
    missing = ours.missing if ours else []
    for each in missing[:MOST]:
        log(f"missing: {each}")
    if len(missing) > MOST:
        log(f"missing: {len(missing) - MOST} more")
    return FAILED if missing or (options.check and changed) else DONE


if __name__ == "__main__":
    run_script(main)
