"""The tables of docs/papers/p-dedupe.md."""

import math

from experiments.papers.evidence import Evidence, ratio, value
from experiments.papers.lengths import share_beyond
from experiments.papers.paper import P_DEDUPE, P_DEDUPE_MANY, REAL
from experiments.papers.store_runs import SIZE, SIZES, STUDIED
from experiments.papers.tables import DASH, Rows, kib, percent, plain, speed, table, times, tiny

TIMED = ("linux", "packages", "images", "redis", "bench")
SEGMENTS = {"256K": 0.25, "512K": 0.5, "1M": 1, "2M": 2, "4M": 4, "8M": 8}
FEW_SEGMENTS = ("256K", "1M", "4M")
JOINS = ("none", "pdedupe")
SHORT = 0.2211  # equation 8's probability that a chunk is shorter than the minimum, a quarter of the average
DIRTY_KIB = sum(SHORT ** (n + 1) * (1 - SHORT) * (10 + 2 * n) for n in range(1, 100))  # equation 8, of each segment; the paper prints 0.6258

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


@table("p-dedupe-table-2", "data: the paper's / ours", "paper's versions", "ours", "paper's GB", "ours", "paper %", "ours %", "ours, fixed 8 KB %")
def table_2(evidence: Evidence) -> Rows:
    """Savings with as many versions as the paper had."""
    theirs = evidence.papers["p-dedupe"].tables["tables-2-3"]
    for name, dataset in P_DEDUPE_MANY.items():
        row, fixed = evidence.ours.run(dataset, "rabin", SIZE), evidence.ours.run(dataset, "fixed", "8K")
        versions = evidence.ours.datasets[dataset]["versions"] if row else []
        cells = [plain(theirs.at(name, "versions"), 0), str(len(versions) or DASH), plain(theirs.at(name, "GB"))]
        cells += [plain(row and value(row, "bytes") / 1e9), plain(theirs.at(name, "dedupe ratio %"))]
        yield [f"{name} / {dataset}", *cells, percent(value(row, "savings")), percent(value(fixed, "savings"))]


@table("p-dedupe-table-3", "data", "sequential %", "no join %", "P-Dedupe's join %", "missed, points", "missed, % of duplicates")
def table_3(evidence: Evidence) -> Rows:
    theirs = evidence.papers["p-dedupe"].tables["tables-2-3"]
    for names, dataset in P_DEDUPE:
        for name in names:
            yield [f"{name} (paper)", *(plain(theirs.at(name, c)) for c in ("baseline", "w/o joint", "w/ joint")), plain(theirs.at(name, "missed"), 4), ""]
        if dataset:
            none, pdedupe = (joined(evidence, dataset, join, "4M") for join in JOINS)
            misses = [percent(share, 4) for share in (missed(pdedupe), value(pdedupe, "missed_share"))]
            yield [f"**{dataset}** (ours)", *three_savings(none, pdedupe), *misses]


OTHERS = {"Adler": "adler", "Gear": "gear"}


@table(
    "p-dedupe-tables-5-6", "data",
    *(f"{name}: {what}" for name in OTHERS for what in ("sequential %", "join %", "one thread GB/s", "parallel GB/s", "parallel / one")),
)  # fmt: skip
def tables_5_6(evidence: Evidence) -> Rows:
    theirs = evidence.papers["p-dedupe"].tables["tables-5-6"]
    for names, dataset in P_DEDUPE:
        for name in names:
            cells = []
            for algorithm in OTHERS:
                saved, rates = ([theirs.at(name, f"{algorithm} {whose} {unit}") for whose in ("baseline", "P-Dedupe")] for unit in ("%", "MB/s"))
                cells += [*map(plain, saved), *speeds(*(1e6 * rate for rate in rates))]
            yield [f"{name} (paper)", *cells]
        if dataset:
            cells = []
            for algorithm in OTHERS.values():
                row = joined(evidence, dataset, "pdedupe", "4M", algorithm)
                rates = timed(evidence, dataset, algorithm) if dataset in TIMED else (None, None)
                cells += [percent(value(row, EXACT)), percent(value(row, "savings")), *speeds(*rates)]
            yield [f"**{dataset}** (ours)", *cells]


@table(
    "p-dedupe-dirty", "data", "segment", "dirty chunks, P-Dedupe's join %", "dirty chunks, no join %", "dirty KiB an end of a segment (eq. 8: 0.61)",
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
    sha1, sha256 = (evidence.ours.run("linux", "rabin", SIZE, hash=name, threads=1) for name in ("sha1", "sha256"))
    for name, key, row, stage in (
        ("Rabin", "rabin", sha1, "chunking"),
        ("SHA-1", "sha1", sha1, "fingerprinting"),
        ("SHA-256", "sha256", sha256, "fingerprinting"),
    ):
        yield [name, speed(1e6 * statements[key]), speed(value(row, f"report.stages.{stage}.bytes_per_second"))]


def content_and_fixed(evidence: Evidence, dataset: str) -> tuple[float | None, float | None]:
    """The savings of Rabin's chunks, cut sequentially, and of fixed ones of the same average."""
    return value(joined(evidence, dataset, "pdedupe", "4M"), EXACT), value(evidence.ours.run(dataset, "fixed", "8K"), "savings")


@table("p-dedupe-figure-2", "data", "content-defined %", "fixed 8K %", "duplicates over fixed")
def figure_2(evidence: Evidence) -> Rows:
    for dataset in REAL:
        both = content_and_fixed(evidence, dataset)
        yield [dataset, *map(percent, both), times(ratio(*both))]
