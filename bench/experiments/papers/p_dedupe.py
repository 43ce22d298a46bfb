"""The tables of docs/papers/p-dedupe.md, and the paper's claims."""

import math
from functools import partial

from experiments.papers.cells import P_DEDUPE, REAL
from experiments.papers.claim import add_claim, at_least, at_most, each, in_percent, off, points
from experiments.papers.evidence import Evidence, less, ratio, value
from experiments.papers.lengths import share_beyond
from experiments.papers.store_runs import SIZE, SIZES, STUDIED
from experiments.papers.tables import DASH, Rows, kib, percent, plain, speed, table, times, tiny

TIMED = ("linux", "packages", "images", "redis")
SEGMENTS = {"256K": 0.25, "512K": 0.5, "1M": 1, "2M": 2, "4M": 4, "8M": 8}
FEW_SEGMENTS = ("256K", "1M", "4M")
JOINS = ("none", "pdedupe")
DIRTY_KIB = 0.6258  # equation 8, of each segment

EXACT = "report.comparison.exact.savings_share"


def joined(evidence: Evidence, dataset: str, join: str, segment: str, algorithm: str = "rabin", size: str = SIZE) -> dict | None:
    return evidence.ours.run(dataset, algorithm, size, join=join, segment=segment)


def missed(row: dict | None) -> float | None:
    """The share of all bytes, as in the paper's table 3, whose "missed" is the difference of the two ratios."""
    return ratio(value(row, "report.comparison.missed_duplicate_bytes"), value(row, "bytes"))


def dirty_share(row: dict | None) -> float | None:
    return ratio(value(row, "dirty_chunks"), value(row, "chunk_count"))


def cut_seconds(row: dict | None) -> float | None:
    """Processor seconds of all threads to cut and join a GB."""
    busy = [value(row, f"report.stages.{stage}.busy_seconds") for stage in ("chunking", "joining")]
    return None if None in busy else 1e9 * sum(busy) / value(row, "bytes")


def three_savings(none: dict | None, pdedupe: dict | None) -> list[str]:
    """Savings of the sequential chunker, without a join, and with P-Dedupe's."""
    return [percent(share) for share in (value(pdedupe, EXACT), value(none, "savings"), value(pdedupe, "savings"))]


def timed(evidence: Evidence, dataset: str, algorithm: str = "rabin", size: str = SIZE) -> tuple[float | None, float | None]:
    """Bytes a second of the engine on one thread and on two."""
    one, two = (value(evidence.ours.run(dataset, algorithm, size, threads=n), "bytes_per_second") for n in (1, 2))
    return one, two


def speeds(one: float | None, two: float | None) -> list[str]:
    return [speed(one), speed(two), times(ratio(two, one))]


@table("p-dedupe-table-3", "data", "sequential %", "no join %", "P-Dedupe's join %", "missed, points", "missed, % of duplicates")
def table_3(evidence: Evidence) -> Rows:
    theirs = evidence.papers["p-dedupe"].tables["table-3"]
    for names, dataset in P_DEDUPE:
        for name in names:
            yield [f"{name} (paper)", *(plain(theirs.at(name, c)) for c in theirs.columns[:3]), plain(theirs.at(name, "missed"), 4), ""]
        if dataset:
            none, pdedupe = (joined(evidence, dataset, join, "4M") for join in JOINS)
            misses = [percent(share, 4) for share in (missed(pdedupe), value(pdedupe, "missed_share"))]
            yield [f"**{dataset}** (ours)", *three_savings(none, pdedupe), *misses]


def _other(algorithm: str, key: str, evidence: Evidence) -> Rows:
    theirs = evidence.papers["p-dedupe"].tables[key]
    for names, dataset in P_DEDUPE:
        for name in names:
            saved, rates = ([theirs.at(name, f"{whose} {unit}") for whose in ("baseline", "P-Dedupe")] for unit in ("%", "MB/s"))
            yield [f"{name} (paper)", *map(plain, saved), *speeds(*(1e6 * rate for rate in rates))]
        if dataset:
            row = joined(evidence, dataset, "pdedupe", "4M", algorithm)
            rates = timed(evidence, dataset, algorithm) if dataset in TIMED else (None, None)
            yield [f"**{dataset}** (ours)", percent(value(row, EXACT)), percent(value(row, "savings")), *speeds(*rates)]


for _algorithm, _key in (("adler", "table-5"), ("gear", "table-6")):
    table(f"p-dedupe-{_key}", "data", "sequential %", "P-Dedupe's join %", "one thread GB/s", "parallel GB/s", "parallel / one")(partial(_other, _algorithm, _key))


@table(
    "p-dedupe-dirty", "data", "segment", "dirty chunks, P-Dedupe's join %", "dirty chunks, no join %", "dirty KiB an end of a segment (eq. 8: 0.63)",
    words=2,
)  # fmt: skip
def dirty(evidence: Evidence) -> Rows:
    for dataset in ("random", *REAL):
        for segment in ("1M", "4M"):
            none, row = (joined(evidence, dataset, join, segment) for join in JOINS)
            without = ratio(value(none, "dirty_chunks"), value(row, "chunk_count"))
            per_end = ratio(value(row, "report.comparison.dirty_bytes_per_boundary"), 1024)
            yield [dataset, segment, percent(dirty_share(row), 3), percent(without, 3), plain(per_end)]


@table("p-dedupe-figure-8", "longer than", "equation 7", "ours")
def figure_8(evidence: Evidence) -> Rows:
    row = evidence.ours.run("random", "rabin", "48:8K:64M", hash="xxh3")
    return [[f"{k} KiB", tiny(math.exp(-k / 8)), tiny(share_beyond(row, 1024 * k))] for k in (1, 2, 4, 8, 16, 32, 64)]


@table("p-dedupe-figure-9", "data", *(f"{segment} {join}" for segment in FEW_SEGMENTS for join in ("no join", "join")))
def figure_9(evidence: Evidence) -> Rows:
    for dataset in REAL:
        runs = [joined(evidence, dataset, join, segment) for segment in FEW_SEGMENTS for join in JOINS]
        yield [dataset, *(percent(ratio(value(row, "savings"), value(row, EXACT))) for row in runs)]


@table("p-dedupe-figure-10", "data", "segment", "exact join, two threads, GB/s", "s/GB to cut, no join", "P-Dedupe's join", "exact join", words=2)
def figure_10(evidence: Evidence) -> Rows:
    for dataset in STUDIED:
        for segment in FEW_SEGMENTS:
            exact = evidence.ours.run(dataset, "rabin", SIZE, threads=2, segment=segment)
            runs = [*(joined(evidence, dataset, join, segment) for join in JOINS), exact]
            yield [dataset, segment, speed(value(exact, "bytes_per_second")), *(plain(cut_seconds(row), 3) for row in runs)]


@table("p-dedupe-figure-11", "segment", "equation 8 %", *STUDIED)
def figure_11(evidence: Evidence) -> Rows:
    for segment, mib in SEGMENTS.items():
        ours = [percent(missed(joined(evidence, dataset, "pdedupe", segment)), 4) for dataset in STUDIED]
        yield [segment, percent(DIRTY_KIB / (1024 * mib), 4), *ours]


@table("p-dedupe-figure-12", "data", "size", "mean KiB", "sequential %", "no join %", "P-Dedupe's join %", words=2)
def figure_12(evidence: Evidence) -> Rows:
    for dataset in STUDIED:
        for size in SIZES:
            none, pdedupe = (joined(evidence, dataset, join, "1M", size=size) for join in JOINS)
            yield [dataset, size, kib(value(pdedupe, "mean_bytes")), *three_savings(none, pdedupe)]


@table("p-dedupe-figure-13", "size, linux", "one thread GB/s", "two threads GB/s", "two / one")
def figure_13(evidence: Evidence) -> Rows:
    return [[size, *speeds(*timed(evidence, "linux", size=size))] for size in SIZES]


@table(
    "p-dedupe-figure-14", "data", "one thread GB/s", "two threads GB/s", "two / one",
    "eq. 4 (one after the other)", "eq. 5 (pipeline)", "eq. 6 (two threads)", "slowest stage",
)  # fmt: skip
def figure_14(evidence: Evidence) -> Rows:
    for dataset in TIMED:
        single, parallel = (evidence.ours.run(dataset, "rabin", SIZE, threads=n) for n in (1, 2))
        model = [(single, "serial"), (single, "pipelined"), (parallel, "parallel")]
        predicted = [speed(value(row, f"report.model.{name}_bytes_per_second")) for row, name in model]
        yield [dataset, *speeds(*timed(evidence, dataset)), *predicted, value(parallel, "bottleneck") or DASH]


@table("p-dedupe-section-2-2", "one thread, GB/s", "the paper", "ours")
def section_2_2(evidence: Evidence) -> Rows:
    statements = evidence.papers["p-dedupe"].statements["section-2-2"]
    row = evidence.ours.run("linux", "rabin", SIZE, threads=1)
    for name, key, stage in (("Rabin", "rabin", "chunking"), ("SHA-1", "sha1", "fingerprinting")):
        yield [name, speed(1e6 * statements[key]), speed(value(row, f"report.stages.{stage}.bytes_per_second"))]


claim = partial(add_claim, "P-Dedupe")
claim("table 3", "with 4 MB segments its join misses at most 0.05 points of the savings", "0.005 to 0.048 points", at_most(0.0005, points(3)))(
    lambda evidence: [(d, missed(joined(evidence, d, "pdedupe", "4M"))) for d in REAL]
)
claim("section 3.3", "less than 0.1 % of the chunks are dirty with segments of 1 MB", "< 0.1 %", at_most(0.001, in_percent))(
    lambda evidence: [(d, dirty_share(joined(evidence, d, "pdedupe", "1M"))) for d in ("random", *REAL)]
)


@claim("figure 8", "without limits the lengths of Rabin's chunks are exponential", "“identical”", at_most(0.03, off))
def _exponential(evidence):
    row = evidence.ours.run("random", "rabin", "48:8K:64M", hash="xxh3")
    for length in (2048, 8192, 16384):
        share = share_beyond(row, length)
        yield f"{length // 1024} KiB", None if share is None else abs(share / math.exp(-length / 8192) - 1)


@claim(
    "figure 9", "its join restores nearly all that no join loses (rule: 85 %)", "87 to 98 % (table 3)", at_least(0.85, lambda share: f"{100 * share:.0f} %")
)
def _regained(evidence):
    for dataset in REAL:
        none, pdedupe = (missed(joined(evidence, dataset, join, "4M")) for join in ("none", "pdedupe"))
        yield dataset, ratio(less(none, pdedupe), none)


@claim("figure 10", "joining costs nearly nothing (rule: 5 % of the time to cut)", "“nearly the same”", at_most(1.05, times))
def _joining(evidence):
    for dataset in STUDIED:
        for segment in ("256K", "1M", "4M"):
            none, pdedupe = (cut_seconds(joined(evidence, dataset, join, segment)) for join in ("none", "pdedupe"))
            yield f"{dataset} {segment}", ratio(pdedupe, none)


@claim("figure 10", "larger segments are faster (rule: 4 MB over 256 KB by 5 %)", "“in proportion”", at_least(1.05, times))
def _segments(evidence):
    for dataset in STUDIED:
        runs = (evidence.ours.run(dataset, "rabin", SIZE, threads=2, segment=segment) for segment in ("4M", "256K"))
        yield dataset, ratio(*(value(row, "bytes_per_second") for row in runs))


claim(
    "figure 11", "what is missed is what equation 8 expects, on Linux and Redis (over it; rule: a factor of 2)", "“nearly identical”",
    each(lambda factor: 0.5 <= factor <= 2, times)
)(lambda evidence: [(d, ratio(missed(joined(evidence, d, "pdedupe", "1M")), DIRTY_KIB / 1024)) for d in ("linux", "redis")])
claim("figure 13", "the gain is the same at every chunk size (rule: 1.6 on two cores)", "3 to 4× on 4 cores", at_least(1.6, times))(
    lambda evidence: [(size, ratio(*reversed(timed(evidence, "linux", size=size)))) for size in SIZES]
)
claim("figure 14", "near-linear with the cores (rule: 1.6 on two)", "about 4× on 4 cores", at_least(1.6, times))(
    lambda evidence: [(d, ratio(*reversed(timed(evidence, d)))) for d in TIMED]
)


@claim("tables 5, 6", "Adler and Gear save about what Rabin saves (rule: 3 points)", "0 to 2.7 points", at_most(0.03, points(3)))
def _others(evidence):
    for algorithm in ("adler", "gear"):
        for dataset in REAL:
            rows = (joined(evidence, dataset, "pdedupe", "4M", name) for name in (algorithm, "rabin"))
            difference = less(*(value(row, EXACT) for row in rows))
            yield f"{algorithm} on {dataset}", None if difference is None else abs(difference)
