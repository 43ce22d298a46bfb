"""Measures PRUNE's eight methods, its sizes of target patterns, and contexts on mixed data, by first backups of trees into fresh stores.

Trees, stores and archives are in memory. The bytes of a method are those of its whole store, or of the archive.
"""

import shutil
import statistics
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from experiments.papers import context_search
from experiments.papers.measured import checksums, conditions, lines_of
from experiments.papers.store_runs import SHA1, Programs

FILE = "prune-contexts.json"  # beside the pages
# The trees: of which data sets, and how many of their versions. Versions have a folder each.
TREES = {"linux": {"linux": 8}, "media": {"media": 4}, "mixed": {"media": 4, "packages": 4}, "packages": {"packages": 8}}
SETS = ("linux", "media", "packages")
KINDS = ("linux", "media", "mixed")  # the paper's three kinds of data
RULED = ("mixed", "packages")  # on which contexts are compared
BITS = (11, 12, 13)
PAPERS_BITS = 13
GOALS = ("balanced", "savings")  # of `cutpoint tune`
CHUNK_COST = 192  # bytes that a chunk takes in a store beside its content: what media's stores have more than its files, by chunks
RULE_SETS = ("usual", "prune", *(f"tuned for {goal}" for goal in GOALS), "chunker tuned for savings", "searched")  # compared on RULED


def variable(bits: int) -> str:
    return f"rabin-inck(min_bytes=2048,avg_bytes={2**bits},max_bytes=65536)"


METHODS = {
    "F": ("--cuts", "fixed(avg_bytes=8192)"),
    "V": ("--cuts", variable(PAPERS_BITS)),
    "CA": ("--cuts", variable(PAPERS_BITS), "--context", "prune"),
    "TAR": None,  # no store
}


@dataclass(frozen=True)
class Job:
    """A first backup of a tree: by one of METHODS, by V with a pattern of some bits, or by one of RULE_SETS."""

    tree: str
    method: str
    is_compressed: bool = False

    @property
    def name(self) -> str:
        return f"{self.tree} {self.method}{'-zip' if self.is_compressed else ''}"


def with_bits(tree: str, bits: int) -> Job:
    return Job(tree, "V" if bits == PAPERS_BITS else f"V {bits} bits")


def with_rules(tree: str, rules: str) -> Job:
    return Job(tree, rules, is_compressed=True)


def groups(tree: str) -> Iterator[list[Job]]:
    """Jobs whose times are compared with each other, and so are measured in turns."""
    if tree in KINDS:
        methods = [Job(tree, method, is_compressed) for is_compressed in (False, True) for method in METHODS]
        yield list(dict.fromkeys([*methods, *(with_bits(tree, bits) for bits in BITS)]))
    if tree in RULED:
        yield [with_rules(tree, rules) for rules in RULE_SETS]


def settings_of(job: Job, contexts: Path) -> tuple[object, ...] | None:
    """The words after `cutpoint init`. None if there is no store."""
    chunkers = {"usual": (), "prune": ("--context", "prune")} | {rules: ("--context", contexts / rules) for rules in RULE_SETS[2:]}
    if job.method in chunkers:
        return chunkers[job.method]
    cuts = METHODS[job.method] if job.method in METHODS else ("--cuts", variable(int(job.method.split()[1])))
    return cuts and (*SHA1, *cuts, "--compression", "zstd" if job.is_compressed else "none")


@dataclass
class Tree:
    """A tree of files in memory."""

    folder: Path
    files: list[Path] = field(default_factory=list)

    @property
    def sizes(self) -> list[int]:
        return [file.stat().st_size for file in self.files]

    def facts(self) -> dict:
        """Its row of table 5, and the bytes of its commonest extensions."""
        sizes, by_extension = self.sizes, defaultdict(int)
        for file, size in zip(self.files, sizes, strict=True):
            by_extension[context_search.extension_of(file.name)] += size
        content = {"bytes": sum(sizes), "files": len(sizes), "median": statistics.median(sizes), "least": min(sizes), "most": max(sizes)}
        return {"content": content, "extensions": dict(sorted(by_extension.items(), key=lambda each: -each[1])[:8])}


def unpacked(tree: str, sets: dict[str, tuple[str, list[Path]]], scratch: Path) -> Tree:
    folder = scratch / "tree"
    shutil.rmtree(folder, ignore_errors=True)
    for name, count in TREES[tree].items():
        for archive in sets[name][1][:count]:
            version = folder / name / archive.stem
            version.mkdir(parents=True)
            subprocess.run(["tar", "-xf", archive, "-C", version], check=True)
    return Tree(folder, sorted(file for file in folder.rglob("*") if file.is_file() and not file.is_symlink()))


def stored_bytes(store: Path) -> int:
    """What a store takes, without the room that it reserves for a full disk."""
    return sum(file.stat().st_size for file in store.rglob("*") if file.is_file() and file.parent.name != "temporary")


def back_up(programs: Programs, folder: Path, settings: tuple[object, ...] | None, is_compressed: bool = True) -> tuple[float, int]:
    """The seconds that a backup of a folder takes, and what it leaves. Without settings, an archive of `tar` is the backup."""
    if settings is not None:
        store = programs.make_store(*settings)
        seconds = programs.timed(programs.command, "backup", "-q", "--store", store, folder)
        return seconds, stored_bytes(store)
    archive = programs.scratch / "archive.tar"
    archive.unlink(missing_ok=True)
    compressor = ["-I", "zstd -q -1 -T0"] if is_compressed else []  # as a store does it: level 1, all processors
    return programs.timed("tar", *compressor, "-cf", archive, "-C", folder, "."), archive.stat().st_size


def rules_of(programs: Programs, tree: Tree) -> dict:
    """Writes the files of contexts that are not built in, and returns them with what they cost."""
    contexts = programs.scratch / "contexts"
    contexts.mkdir(exist_ok=True)
    tune = (programs.command, "tune", "-q", "--chunk-cost", CHUNK_COST, "--context")
    seconds = {goal: programs.timed(*tune, contexts / f"tuned for {goal}", "--goal", goal, tree.folder) for goal in GOALS}
    rules = (contexts / "tuned for savings").read_text()
    (contexts / "chunker tuned for savings").write_text(rules.split("\n[class")[0])  # the table [others] comes first
    search = context_search.search(programs, tree.files, lambda folder, *settings: back_up(programs, folder, settings))
    (contexts / "searched").write_text(search.pop("context"))
    return {"tune_seconds": seconds, "search": search, "contexts": {name: (contexts / name).read_text() for name in RULE_SETS[2:]}}


def measure_tree(programs: Programs, tree: Tree, missing: list[list[Job]], rounds: int) -> dict:
    """The tree's facts, and the groups of jobs `missing`."""
    measured, jobs = tree.facts(), {}
    for group in missing:
        if group[0].method in RULE_SETS:
            measured |= rules_of(programs, tree)
        runs: dict[str, list] = defaultdict(list)
        for _ in range(rounds):
            for job in group:
                runs[job.name].append(back_up(programs, tree.folder, settings_of(job, programs.scratch / "contexts"), job.is_compressed))
        for name, each in runs.items():
            jobs[name] = {"seconds": statistics.median(s for s, _ in each), "stored_bytes": statistics.median_low(b for _, b in each)}
    return measured | {"jobs": jobs}


text_of = partial(lines_of, depth=4)  # a line for each job


def measure(
    sets: dict[str, tuple[str, list[Path]]], build: Path, scratch: Path, rounds: int, log: Callable[[str], None], known: dict | None = None
) -> Iterator[dict]:  # fmt: skip
    """Everything but the groups of jobs that are `known`, for data sets given by name with checksum and paths. Yields all measurements after each
    tree. Raises RuntimeError if a program fails."""
    for program in ("bash", "tar", "zstd"):
        if shutil.which(program) is None:
            raise RuntimeError(f"the program {program} is missing, which --contexts measures with")
    trees = dict((known or {}).get("trees", {}))
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        programs = Programs(build, Path(folder))
        told = conditions(programs.command, programs.command, rounds) | checksums(sets)
        for name in TREES:
            jobs = trees.get(name, {}).get("jobs", {})
            if missing := [group for group in groups(name) if any(job.name not in jobs for job in group)]:
                log(f"measuring {name}")
                measured = measure_tree(programs, unpacked(name, sets, programs.scratch), missing, rounds)
                trees[name] = trees.get(name, {}) | measured | {"jobs": jobs | measured["jobs"]}
            yield told | {"trees": trees}
