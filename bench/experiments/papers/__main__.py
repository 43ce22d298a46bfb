"""scripts/papers: writes the tables of docs/papers."""

import argparse
import json
import subprocess
from dataclasses import replace
from pathlib import Path

from experiments import memory_limit
from experiments.cli import DATA, DONE, FAILED, ROOT, WRONG_USAGE, logger, run_script
from experiments.papers import (  # noqa: F401
    ae, ae_claims, appdedupe, claim, cluster_runs, context_runs, contexts, coverage, definition_runs, definitions, fair_runs, measured, p_dedupe, p_dedupe_claims,
    p_dedupe_store, pages, paper, phase_runs, prune, runs, seqcdc,
    seqcdc_claims, seqcdc_fair, seqcdc_speed, store_runs, summary, tablet_runs, tablets,
)  # fmt: skip
from experiments.papers.evidence import Absent, Evidence, NoSweep, Ours, Stored
from experiments.papers.paper import AE_SETS
from experiments.papers.tables import TABLES
from experiments.results import Unreadable

log = logger("papers")
MOST = 40  # most missing rows that are named


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/papers", allow_abbrev=False,  # the script knows whole names
        description="Writes the tables of docs/papers/*.md, with the papers' numbers beside those of a sweep. Other text does not change.",
        epilog="Exit codes: 0 done; 1 rows are missing (their cells have a dash), or --check found a page that differs; 2 wrong usage.",
    )
    parser.add_argument(
        "results", type=Path, metavar="RESULTS.sqlite", nargs="?",
        help="results of scripts/sweep scripts/sweeps/full.toml; without them the tables that need them stay as they are",
    )  # fmt: skip
    parser.add_argument("--check", action="store_true", help="do not write; name the pages that would change")
    parser.add_argument("--all", action="store_true", help="measure all of the following first, one after the other; the script runs the sweeps before them if no results are given")
    parser.add_argument("--dry-run", action="store_true", help="say what would be measured, by which binary and machine, and do nothing")
    parser.add_argument("--machine", default="", metavar="NAME", help=f"name of this machine in {claim.FILE} and in the table of claims (its processor)")
    parser.add_argument("--low-entropy", action="store_true", help=f"measure AE's table 5 first, which takes minutes, and keep it in {runs.FILE}")
    parser.add_argument("--store", action="store_true", help=f"measure P-Dedupe with the store first, and keep it in {store_runs.FILE}")
    parser.add_argument("--definitions", action="store_true", help=f"compare definitions and shift bytes first, and keep it in {definition_runs.FILE}")
    parser.add_argument("--phases", action="store_true", help=f"measure the time by phase of SeqCDC's figure 1 first, and keep it in {phase_runs.FILE}")
    parser.add_argument("--cluster", action="store_true", help=f"simulate AppDedupe's clusters first, and keep it in {cluster_runs.FILE}")
    parser.add_argument("--cluster-only", action="append", default=[], choices=list(cluster_runs.GROUPS), help="measure this of --cluster alone, and keep the rest")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each job of --store, --contexts, --tablets, --phases and --cluster, and of each definition, of which 0 measures no times (5)")
    parser.add_argument("--contexts", action="store_true", help=f"measure PRUNE's methods and contexts first, and keep it in {context_runs.FILE}")
    parser.add_argument("--tablets", action="store_true", help=f"measure PRUNE's tablets first, and keep it in {tablet_runs.FILE}")
    parser.add_argument("--only", action="append", default=[], choices=tablet_runs.GROUPS, help="measure these jobs of --tablets alone, and keep the others")
    parser.add_argument("--fingerprints", type=int, default=tablet_runs.FINGERPRINTS, metavar="N", help=f"of a backup of --tablets ({tablet_runs.FINGERPRINTS:,}; the paper has some {tablet_runs.OF_PAPER:,}, which take hours)")
    parser.add_argument("--missing", action="store_true", help="of the jobs of --contexts and --tablets, measure those that their files lack")
    parser.add_argument("--fair", action="store_true", help=f"search sizes with means near SeqCDC's 16 KB first, and keep them in {fair_runs.FILE}")
    parser.add_argument("--scratch", type=Path, metavar="DIR", default=Path("/dev/shm"), help="folder for the data and the stores of --store and --contexts, and for the traces of --cluster (/dev/shm)")
    parser.add_argument("--disk", type=Path, metavar="DIR", default=ROOT / "build", help="folder on a disk for the tables of --tablets (build/)")
    parser.add_argument("--data", type=Path, metavar="DIR", default=DATA, help="folder of its data sets (CUTPOINT_DATA, else data/)")
    parser.add_argument("--build", type=Path, metavar="DIR", default=ROOT / "build/release", help="folder of programs that measure, built already (default: build/release, which is built)")
    parser.add_argument("--pages", type=Path, metavar="DIR", default=ROOT / "docs/papers", help="folder of the pages (docs/papers)")
    return parser.parse_args(words)


def write(evidence: Evidence, name: str) -> list[str] | None:
    """None if the table needs results that were not given."""
    if name not in TABLES:
        raise pages.Malformed(f"no table '{name}'; there are {', '.join(sorted(TABLES))}")
    try:
        return TABLES[name](evidence)
    except NoSweep:
        return None


def sets(options: argparse.Namespace, names) -> dict[str, tuple[str, list[Path]]]:
    """Checksums and paths of data sets, which are made if they are not there."""
    from experiments import datasets  # imported late, since generators need more packages

    data_sets = [datasets.make(name, None, None, 1, options.data.resolve(), log) for name in names]
    return {set_.name: (set_.checksum, set_.paths) for set_ in data_sets}


def keep(options: argparse.Namespace, module, measurements: dict) -> None:
    """Writes what was measured beside the pages, with the machine and the commit, and with the binary if the measurements do not name one."""
    told = measured.source(options.build / "cli/cutpoint", options.machine)
    version = {"version": told.pop("version")}
    (options.pages / module.FILE).write_text(module.text_of(version | measurements | told), encoding="utf-8")


def measure_low_entropy(options: argparse.Namespace) -> None:
    keep(options, runs, runs.measure_sets(options.build / "cli/cutpoint", sets(options, AE_SETS)))


def measure_store(options: argparse.Namespace) -> None:
    keep(options, store_runs, store_runs.measure(sets(options, store_runs.SETS), options.build, options.scratch, options.rounds, log))


def measure_contexts(options: argparse.Namespace) -> None:
    known = stored_json(options.pages / context_runs.FILE) if options.missing else {}
    for measurements in context_runs.measure(sets(options, context_runs.SETS), options.build, options.scratch, options.rounds, log, known):
        keep(options, context_runs, measurements)


def measure_fair(options: argparse.Namespace) -> None:
    keep(options, fair_runs, fair_runs.measure(sets(options, fair_runs.SETS), options.build / "cli/cutpoint", log))


def measure_definitions(options: argparse.Namespace) -> None:
    keep(options, definition_runs, definition_runs.measure(sets(options, definition_runs.SETS), options.build, options.rounds, log))


def measure_phases(options: argparse.Namespace) -> None:
    ((_, paths),) = sets(options, [phase_runs.SET]).values()
    keep(options, phase_runs, phase_runs.measure(paths, options.build, options.rounds))


def measure_cluster(options: argparse.Namespace) -> None:
    known, data = stored_json(options.pages / cluster_runs.FILE), sets(options, cluster_runs.sets_of(options.cluster_only))
    keep(options, cluster_runs, cluster_runs.measure(data, options.build, options.scratch, options.rounds, log, only=options.cluster_only, known=known))


def measure_tablets(options: argparse.Namespace) -> None:
    known = stored_json(options.pages / tablet_runs.FILE)
    for measurements in tablet_runs.measure(options.build, options.disk, options.rounds, log, options.fingerprints, only=options.only, known=known, skips_known=options.missing):
        keep(options, tablet_runs, measurements)


STEPS = {  # by the option that asks for it, in the order in which --all does them
    "low_entropy": measure_low_entropy,
    "fair": measure_fair,
    "definitions": measure_definitions,
    "phases": measure_phases,
    "store": measure_store,
    "contexts": measure_contexts,
    "tablets": measure_tablets,
    "cluster": measure_cluster,
}
# The files beside the pages, by the field of Evidence that has what they have.
FILES = {
    "low_entropy": runs.FILE, "store": store_runs.FILE, "definitions": definition_runs.FILE, "phases": phase_runs.FILE, "tablets": tablet_runs.FILE,
    "fair": fair_runs.FILE, "clusters": cluster_runs.FILE, "contexts": context_runs.FILE,
}  # fmt: skip
FAILURES = (OSError, RuntimeError, subprocess.CalledProcessError, memory_limit.Unlimited)


def measure(options: argparse.Namespace, steps: list[str]) -> list[str]:
    """The steps that failed. Of several that --all does, one that fails does not keep the others from being done."""
    failed = []
    for step in steps:
        log(f"measuring: {step.replace('_', '-')}")
        try:
            STEPS[step](options)
        except FAILURES as why:
            if isinstance(why, BrokenPipeError) or not options.all:
                raise
            log(f"{step.replace('_', '-')}: {why}")
            failed.append(step)
    return failed


def stored_json(file: Path) -> dict:
    try:
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    except ValueError as problem:
        raise Unreadable(f"{file} is no JSON: {problem}") from None


def of_source(told: dict) -> dict:
    """The machine that measured what a file has, and the binaries."""
    versions = dict.fromkeys(told["versions"].values() if "versions" in told else [told.get("version", "of a binary that was not noted")])
    commit = [f"commit {told['commit']}"] if "commit" in told else []
    machine = told.get("machine") or measured.named(told.get("processor", "unknown"), told.get("processors", 1))
    return {"machine": machine, "by": ", ".join(["cutpoint " + " and ".join(versions), *commit])}


def gathered(options: argparse.Namespace, has_claims: bool) -> Evidence:
    """All that is known: the results of a sweep if they are given, what the files beside the pages have, and what claims.json keeps, with what they
    add to it if the pages have the table of claims."""
    ours = Ours(options.results) if options.results else Absent()
    stored = {name: stored_json(options.pages / file) for name, file in FILES.items()}
    sources = {name: of_source(told) for name, told in stored.items() if told}
    if ours and ours.machines:
        facts = ours.machines[-1]["machine"]
        binaries = [f"{each['version']}, binary {each['key'][:12]}" for each in ours.binaries]
        machine = options.machine or measured.named(facts["processor_model"], facts["processors"])
        sources[claim.SWEEP] = {"machine": machine, "by": f"cutpoint {' and '.join(binaries)}"}
    known = stored_json(options.pages / claim.FILE)
    evidence = Evidence(ours=ours, **stored | {"store": Stored(stored["store"])}, claims=known, sources=sources)
    return replace(evidence, claims=claim.updated_records(evidence)) if has_claims else evidence


def main(words: list[str]) -> int:
    options = parse(words)
    files = sorted(options.pages.glob("*.md"))
    steps = [step for step in STEPS if options.all or getattr(options, step)]
    if options.rounds < (least := 1 if set(steps) & {"store", "contexts", "tablets", "phases", "cluster"} else 0):
        log(f"--rounds is {options.rounds}, at least {least}")
        return WRONG_USAGE
    if not options.results and not steps and not any((options.pages / file).is_file() for file in FILES.values()):
        log("no results are given")
        return WRONG_USAGE
    if (options.results and not options.results.is_file()) or not files:
        log(f"there is no file {options.results}" if files else f"there are no pages in {options.pages}")
        return WRONG_USAGE
    try:
        if options.dry_run:
            told = measured.source(options.build / "cli/cutpoint", options.machine)
            log(f"machine: {told['machine']}; cutpoint {told['version']}, commit {told['commit']}")
            for step in steps:
                log(f"would measure: {step.replace('_', '-')}")
            return DONE
        failed = measure(options, steps)
        texts = {file: file.read_text(encoding="utf-8") for file in files}
        has_claims = any("claims" in pages.OPEN.findall(text) for text in texts.values())
        evidence = gathered(options, has_claims)
        done = {file: pages.rewrite(file.name, text, lambda name: write(evidence, name)) for file, text in texts.items()}
        if has_claims:
            done[options.pages / claim.FILE] = measured.lines_of(evidence.claims, depth=2)
        changed = [file for file, text in done.items() if not file.exists() or file.read_text(encoding="utf-8") != text]
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
    except FAILURES as why:
        log(str(why))
        return FAILED
    missing = evidence.ours.missing if evidence.ours else []
    for each in missing[:MOST]:
        log(f"missing: {each}")
    if len(missing) > MOST:
        log(f"missing: {len(missing) - MOST} more")
    return FAILED if failed or missing or (options.check and changed) else DONE


if __name__ == "__main__":
    run_script(main)
