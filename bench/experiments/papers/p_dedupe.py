"""The tables of docs/papers/p-dedupe.md."""

import math

from experiments.papers.cells import P_DEDUPE, REAL
from experiments.papers.evidence import Evidence
from experiments.papers.lengths import share_beyond
from experiments.papers.markdown import DASH, kib, percent, plain, speed, table, times, tiny
from experiments.papers.ours import ratio, value

SIZE = "2K:8K:64K"
TIMED = ("linux", "packages", "images", "redis")
STUDIED = ("linux", "images", "redis")  # figures 10 to 13: the paper's Linux, FreeBSD and Redis
SEGMENTS = {"256K": 0.25, "512K": 0.5, "1M": 1, "2M": 2, "4M": 4, "8M": 8}
FEW_SEGMENTS = ("256K", "1M", "4M")
SIZES = ("1K:4K:32K", SIZE, "4K:16K:128K", "8K:32K:256K")
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


def table_3(evidence: Evidence) -> list[str]:
    theirs = evidence.papers["p-dedupe"].tables["table-3"]
    rows = []
    for names, dataset in P_DEDUPE:
        for name in names:
            rows.append([f"{name} (paper)", *(plain(theirs.at(name, c)) for c in theirs.columns[:3]), plain(theirs.at(name, "missed"), 4), ""])
        if dataset:
            none, pdedupe = (joined(evidence, dataset, join, "4M") for join in JOINS)
            misses = [percent(share, 4) for share in (missed(pdedupe), value(pdedupe, "missed_share"))]
            rows.append([f"**{dataset}** (ours)", *three_savings(none, pdedupe), *misses])
    return table(["data", "sequential %", "no join %", "P-Dedupe's join %", "missed, points", "missed, % of duplicates"], rows)


def _other(evidence: Evidence, algorithm: str, key: str) -> list[str]:
    theirs = evidence.papers["p-dedupe"].tables[key]
    rows = []
    for names, dataset in P_DEDUPE:
        for name in names:
            saved, rates = ([theirs.at(name, f"{whose} {unit}") for whose in ("baseline", "P-Dedupe")] for unit in ("%", "MB/s"))
            rows.append([f"{name} (paper)", *map(plain, saved), *speeds(*(1e6 * rate for rate in rates))])
        if dataset:
            row = joined(evidence, dataset, "pdedupe", "4M", algorithm)
            rates = timed(evidence, dataset, algorithm) if dataset in TIMED else (None, None)
            rows.append([f"**{dataset}** (ours)", percent(value(row, EXACT)), percent(value(row, "savings")), *speeds(*rates)])
    return table(["data", "sequential %", "P-Dedupe's join %", "one thread GB/s", "parallel GB/s", "parallel / one"], rows)


def dirty(evidence: Evidence) -> list[str]:
    rows = []
    for dataset in ("random", *REAL):
        for segment in ("1M", "4M"):
            none, row = (joined(evidence, dataset, join, segment) for join in JOINS)
            without = ratio(value(none, "dirty_chunks"), value(row, "chunk_count"))
            per_end = ratio(value(row, "report.comparison.dirty_bytes_per_boundary"), 1024)
            rows.append([dataset, segment, percent(dirty_share(row), 3), percent(without, 3), plain(per_end)])
    header = ["data", "segment", "dirty chunks, P-Dedupe's join %", "dirty chunks, no join %", "dirty KiB an end of a segment (eq. 8: 0.63)"]
    return table(header, rows, words=2)


def figure_8(evidence: Evidence) -> list[str]:
    row = evidence.ours.run("random", "rabin", "48:8K:64M", hash="xxh3")
    rows = [[f"{k} KiB", tiny(math.exp(-k / 8)), tiny(share_beyond(row, 1024 * k))] for k in (1, 2, 4, 8, 16, 32, 64)]
    return table(["longer than", "equation 7", "ours"], rows)


def figure_9(evidence: Evidence) -> list[str]:
    rows = []
    for dataset in REAL:
        runs = [joined(evidence, dataset, join, segment) for segment in FEW_SEGMENTS for join in JOINS]
        rows.append([dataset, *(percent(ratio(value(row, "savings"), value(row, EXACT))) for row in runs)])
    return table(["data", *(f"{segment} {join}" for segment in FEW_SEGMENTS for join in ("no join", "join"))], rows)


def figure_10(evidence: Evidence) -> list[str]:
    rows = []
    for dataset in STUDIED:
        for segment in FEW_SEGMENTS:
            exact = evidence.ours.run(dataset, "rabin", SIZE, threads=2, segment=segment)
            runs = [*(joined(evidence, dataset, join, segment) for join in JOINS), exact]
            rows.append([dataset, segment, speed(value(exact, "bytes_per_second")), *(plain(cut_seconds(row), 3) for row in runs)])
    header = ["data", "segment", "exact join, two threads, GB/s", "s/GB to cut, no join", "P-Dedupe's join", "exact join"]
    return table(header, rows, words=2)


def figure_11(evidence: Evidence) -> list[str]:
    rows = []
    for segment, mib in SEGMENTS.items():
        ours = [percent(missed(joined(evidence, dataset, "pdedupe", segment)), 4) for dataset in STUDIED]
        rows.append([segment, percent(DIRTY_KIB / (1024 * mib), 4), *ours])
    return table(["segment", "equation 8 %", *STUDIED], rows)


def figure_12(evidence: Evidence) -> list[str]:
    rows = []
    for dataset in STUDIED:
        for size in SIZES:
            none, pdedupe = (joined(evidence, dataset, join, "1M", size=size) for join in JOINS)
            rows.append([dataset, size, kib(value(pdedupe, "mean_bytes")), *three_savings(none, pdedupe)])
    return table(["data", "size", "mean KiB", "sequential %", "no join %", "P-Dedupe's join %"], rows, words=2)


def figure_13(evidence: Evidence) -> list[str]:
    rows = [[size, *speeds(*timed(evidence, "linux", size=size))] for size in SIZES]
    return table(["size, linux", "one thread GB/s", "two threads GB/s", "two / one"], rows)


def figure_14(evidence: Evidence) -> list[str]:
    rows = []
    for dataset in TIMED:
        single, parallel = (evidence.ours.run(dataset, "rabin", SIZE, threads=n) for n in (1, 2))
        model = [(single, "serial"), (single, "pipelined"), (parallel, "parallel")]
        predicted = [speed(value(row, f"report.model.{name}_bytes_per_second")) for row, name in model]
        rows.append([dataset, *speeds(*timed(evidence, dataset)), *predicted, value(parallel, "bottleneck") or DASH])
    equations = ["eq. 4 (one after the other)", "eq. 5 (pipeline)", "eq. 6 (two threads)"]
    return table(["data", "one thread GB/s", "two threads GB/s", "two / one", *equations, "slowest stage"], rows)


def section_2_2(evidence: Evidence) -> list[str]:
    said = evidence.papers["p-dedupe"].said["section-2-2"]
    row = evidence.ours.run("linux", "rabin", SIZE, threads=1)
    rows = []
    for name, key, stage in (("Rabin", "rabin", "chunking"), ("SHA-1", "sha1", "fingerprinting")):
        rows.append([name, speed(1e6 * said[key]), speed(value(row, f"report.stages.{stage}.bytes_per_second"))])
    return table(["one thread, GB/s", "the paper", "ours"], rows)


TABLES = {
    "p-dedupe-table-3": table_3,
    "p-dedupe-table-5": lambda evidence: _other(evidence, "adler", "table-5"),
    "p-dedupe-table-6": lambda evidence: _other(evidence, "gear", "table-6"),
    "p-dedupe-dirty": dirty,
    "p-dedupe-figure-8": figure_8,
    "p-dedupe-figure-9": figure_9,
    "p-dedupe-figure-10": figure_10,
    "p-dedupe-figure-11": figure_11,
    "p-dedupe-figure-12": figure_12,
    "p-dedupe-figure-13": figure_13,
    "p-dedupe-figure-14": figure_14,
    "p-dedupe-section-2-2": section_2_2,
}
