"""The tables of docs/papers/prune-contexts.md, from what context_runs.py measured, and PRUNE's claims about its methods."""

from functools import partial

from experiments.papers.claim import add_claim, at_least, at_most, gain, points, within
from experiments.papers.context_runs import BITS, KINDS, METHODS, PAPERS_BITS, RULED, TREES, RULE_SETS, Job, with_rules, with_bits
from experiments.papers.context_search import RULES
from experiments.papers.evidence import Evidence, less, ratio
from experiments.papers.p_dedupe_store import conditions
from experiments.papers.tables import Rows, kib, lines, percent, plain, table, times

CHUNKINGS = tuple(method for method in METHODS if method != "TAR")
TITLES = {"linux": "Linux", "media": "multimedia", "mixed": "mixed"}
USUAL_RULE = list(RULES)[-1]
LEAST_SHARE = 0.01  # of a tree, for a class to be shown


def tree_of(evidence: Evidence, name: str) -> dict | None:
    return evidence.contexts.get("trees", {}).get(name)


def speed(evidence: Evidence, job: Job) -> float | None:
    """Bytes a second."""
    tree = tree_of(evidence, job.tree)
    return tree["content"]["bytes"] / tree["jobs"][job.name]["seconds"] if tree else None


def saved(evidence: Evidence, job: Job) -> float | None:
    """The share of the tree's bytes that the backup does not take; below 0 if it is longer."""
    tree = tree_of(evidence, job.tree)
    return 1 - tree["jobs"][job.name]["stored_bytes"] / tree["content"]["bytes"] if tree else None


def megabytes(number: float | None, digits: int = 0) -> str:
    return plain(number and number / 1e6, digits)


@lines("prune-contexts-where")
def where(evidence: Evidence) -> list[str]:
    return conditions(evidence.contexts)


@table("prune-table-5", "tree", "versions of", "files", "MB", "mean KiB", "median KiB", "least bytes", "most MB", "most of its bytes, %", words=2)
def table_5(evidence: Evidence) -> Rows:
    for name, sets in TREES.items():
        if tree := tree_of(evidence, name):
            common = ", ".join(f"{extension or 'none'} {percent(count / tree['content']['bytes'], 0)}" for extension, count in list(tree["extensions"].items())[:5])
            versions = ", ".join(f"{set_} {count}" for set_, count in sets.items())
            content = tree["content"]
            sizes = [kib(content["bytes"] / content["files"]), kib(content["median"]), plain(content["least"], 0), megabytes(content["most"], 1)]
            yield [name, versions, plain(content["files"], 0), megabytes(content["bytes"]), *sizes, common]


@table("prune-figure-14", "bits", "paper MB/s", *(f"{kind}: {what}" for kind in KINDS for what in ("MB/s", "saved %")))
def figure_14(evidence: Evidence) -> Rows:
    printed = evidence.papers["prune"].statements["figure-14"]["speed"]
    for bits in BITS:
        jobs = [with_bits(kind, bits) for kind in KINDS]
        yield [str(bits), plain(printed.get(str(bits)), 0), *(cell for job in jobs for cell in (megabytes(speed(evidence, job)), percent(saved(evidence, job))))]


def all_methods() -> list[tuple[str, bool]]:
    return [(method, is_compressed) for is_compressed in (False, True) for method in METHODS]


FIGURE_17 = {  # a number of the paper and of ours: its table, what its columns are called, and how ours is had and written
    "speed": ("prune-figure-17-speed", "paper MB/s", "ours MB/s", lambda evidence, job: megabytes(speed(evidence, job))),
    "saved": ("prune-figure-17-bytes", "paper: saved %", "ours: saved %", lambda evidence, job: percent(saved(evidence, job), 1)),
}


def figure_17(which: str, evidence: Evidence) -> Rows:
    for method, is_compressed in all_methods():
        name, cells = method + ("-zip" if is_compressed else ""), []
        for kind in KINDS:
            printed = evidence.papers["prune"].statements[f"figure-17-{kind}"][which].get(name)
            cells += [plain(printed, 1), FIGURE_17[which][3](evidence, Job(kind, method, is_compressed))]
        yield [name, *cells]


for _which, (_table, *_columns, _) in FIGURE_17.items():
    table(_table, "method", *(f"{TITLES[kind]}, {column}" for kind in KINDS for column in _columns))(partial(figure_17, _which))


@table("prune-contexts-rules", "tree", "rules", "seconds", "stored bytes", "of the usual chunker's, %", "seconds to get the rules", words=2)
def rule_sets(evidence: Evidence) -> Rows:
    for name in RULED:
        if tree := tree_of(evidence, name):
            usual = tree["jobs"][with_rules(name, RULE_SETS[0]).name]
            costs = {f"tuned for {goal}": seconds for goal, seconds in tree["tune_seconds"].items()} | {"searched": tree["search"]["seconds"]}
            for rules in RULE_SETS:
                entry = tree["jobs"][with_rules(name, rules).name]
                share = percent(entry["stored_bytes"] / usual["stored_bytes"], 1)
                cost = plain(costs[rules], 1) if rules in costs else ""
                yield [name, rules, plain(entry["seconds"], 2), plain(entry["stored_bytes"], 0), share, cost]


@table("prune-contexts-classes", "tree", "extension", "MB", "best rule", "compressed", "stored MB", f"by {USUAL_RULE}", "by fixed-8k", words=2)
def classes(evidence: Evidence) -> Rows:
    for name in RULED:
        tree = tree_of(evidence, name) or {"content": {"bytes": 0}, "search": {"classes": {}}}
        by_bytes = sorted(tree["search"]["classes"].items(), key=lambda each: -each[1]["bytes"])
        for extension, entry in by_bytes:
            if entry["bytes"] >= LEAST_SHARE * tree["content"]["bytes"]:
                stored = [megabytes(entry["stored"][rule], 2) for rule in (entry["rule"], USUAL_RULE, "fixed-8k")]
                yield [name, extension, megabytes(entry["bytes"], 1), entry["rule"], "yes" if entry["is_compressed"] else "no", *stored]


claim = partial(add_claim, "PRUNE", page="prune-contexts.md", source="contexts")


def over(evidence: Evidence, one: Job, other: Job) -> float | None:
    return ratio(speed(evidence, one), speed(evidence, other))


def more(evidence: Evidence, one: Job, other: Job) -> float | None:
    """How much more of the tree the first saves."""
    return less(saved(evidence, one), saved(evidence, other))


claim("figure 14", "the whole backup is faster with 13 bits than with 11", "77 over 51 MB/s: 1.51×", gain(times, 1.51))(
    lambda evidence: [(kind, over(evidence, with_bits(kind, PAPERS_BITS), with_bits(kind, 11))) for kind in KINDS]
)
claim("figure 17a", "on Linux fixed lengths are the fastest of all eight methods (over each other one)", "1.06× and more", gain(times, 1.06, ends=False))(
    lambda evidence: [(method, over(evidence, Job("linux", "F"), Job("linux", method, zipped))) for method, zipped in all_methods() if (method, zipped) != ("F", False)]
)
claim("figure 17a", "on Linux the methods without compression differ little in speed (over F's; rule: 0.8 to 1.25)", "0.93 to 0.94×", within(0.8, 1.25, times))(
    lambda evidence: [(method, over(evidence, Job("linux", method), Job("linux", "F"))) for method in METHODS if method != "F"]
)
claim("figure 17a to c", "compression takes half of the speed and more (with over without)", "0.22 to 0.51×", gain(times, 0.51, 0.22))(
    lambda evidence: [(f"{kind} {method}", over(evidence, Job(kind, method, True), Job(kind, method))) for kind in KINDS for method in CHUNKINGS]
)
claim("figure 17b, c", "on multimedia and mixed data tar is the fastest (over F)", "1.27× and 1.22×", gain(times, 1.22, 1.27))(
    lambda evidence: [(kind, over(evidence, Job(kind, "TAR"), Job(kind, "F"))) for kind in ("media", "mixed")]
)
claim("figure 17b", "on multimedia fixed lengths are faster than variable ones", "1.43×", gain(times, 1.43))(
    lambda evidence: [("media", over(evidence, Job("media", "F"), Job("media", "V")))]
)
claim("figure 17b, c", "context-aware chunking is as fast as fixed lengths on multimedia and mixed data (rule: 0.9)", "0.99×", at_least(0.9, times))(
    lambda evidence: [(kind, over(evidence, Job(kind, "CA"), Job(kind, "F"))) for kind in ("media", "mixed")]
)
claim("figure 17d, f", "variable lengths save more than fixed ones on Linux and mixed data, points", "8 and 1.6", gain(points(1), 0.08, 0.016, zero=0))(
    lambda evidence: [(kind, more(evidence, Job(kind, "V"), Job(kind, "F"))) for kind in ("linux", "mixed")]
)
claim("figure 17d, f", "context-aware chunking saves what variable lengths do (rule: at most 0.5 points less)", "0 and 0.1", at_most(0.005, points(2)))(
    lambda evidence: [(kind, more(evidence, Job(kind, "V"), Job(kind, "CA"))) for kind in ("linux", "mixed")]
)
claim("figure 17d", "a tar of Linux is longer than its files (by)", "5.8 %", gain(points(1), 0.058, zero=0))(
    lambda evidence: [("linux", less(0, saved(evidence, Job("linux", "TAR"))))]
)
claim("figure 17e", "on multimedia no method saves anything, compressed or not (rule: 2 %)", "“almost identical”", at_most(0.02, points(2)))(
    lambda evidence: [(f"{method}{'-zip' if zipped else ''}", saved(evidence, Job("media", method, zipped))) for method, zipped in all_methods()]
)
claim("section 5.7.3", "context-aware chunking saves more than fixed lengths where it is as fast, points on mixed data", "1.5", gain(points(1), 0.015, zero=0))(
    lambda evidence: [("mixed", more(evidence, Job("mixed", "CA"), Job("mixed", "F")))]
)
