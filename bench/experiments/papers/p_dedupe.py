"""The tables of docs/papers/p-dedupe.md."""

import math

from experiments.papers.evidence import Evidence
from experiments.papers.cells import P_DEDUPE, REAL
from experiments.papers.lengths import share_beyond
from experiments.papers.markdown import kib, percent, plain, speed, table, times, tiny
from experiments.papers.ours import less, ratio, value

SIZE = "2K:8K:64K"
TIMED = ("linux", "packages", "images", "redis")
STUDIED = ("linux", "images", "redis")  # figures 10 to 13: the paper's Linux, FreeBSD and Redis
SEGMENTS = {"256K": 0.25, "512K": 0.5, "1M": 1, "2M": 2, "4M": 4, "8M": 8}
SIZES = ("1K:4K:32K", SIZE, "4K:16K:128K", "8K:32K:256K")
DIRTY_KIB = 0.6258  # equation 8, of each segment

EXACT = "report.comparison.exact.savings_share"


def joined(evidence: Evidence, dataset: str, join: str, segment: str, algorithm: str = "rabin", size: str = SIZE) -> dict | None:
    return evidence.ours.run(dataset, algorithm, size, join=join, segment=segment)


def missed(row: dict | None) -> float | None:
    """Share of all bytes, as in the paper's table 3, whose "missed" is the difference of the two ratios."""
    return ratio(value(row, "report.comparison.missed_duplicate_bytes"), value(row, "bytes"))


def cut_seconds(row: dict | None) -> float | None:
    """Seconds of the processor, all threads together, to cut and join a GB."""
    busy = [value(row, f"report.stages.{stage}.busy_seconds") for stage in ("chunking", "joining")]
    return None if None in busy else 1e9 * sum(busy) / value(row, "bytes")


def table_3(evidence: Evidence) -> list[str]:
    theirs = evidence.papers["p-dedupe"].tables["table-3"]
    rows = []
    for names, dataset in P_DEDUPE:
        for name in names:
            rows.append(
                [f"{name} (paper)", *(plain(theirs.at(name, c)) for c in theirs.columns[:3]), plain(theirs.at(name, "missed"), 4), ""]
            )
        if dataset:
            none, pdedupe = (joined(evidence, dataset, join, "4M") for join in ("none", "pdedupe"))
            rows.append(
                [
                    f"**{dataset}** (ours)",
                    *(percent(v) for v in (value(pdedupe, EXACT), value(none, "savings"), value(pdedupe, "savings"))),
                    percent(missed(pdedupe), 4),
                    percent(value(pdedupe, "missed_share"), 4),
                ]
            )
    return table(["data", "sequential %", "no join %", "P-Dedupe's join %", "missed, points", "missed, % of duplicates"], rows)


def _other(evidence: Evidence, algorithm: str, key: str) -> list[str]:
    theirs = evidence.papers["p-dedupe"].tables[key]
    rows = []
    for names, dataset in P_DEDUPE:
        for name in names:
            baseline, parallel = (theirs.at(name, f"{whose} MB/s") for whose in ("baseline", "P-Dedupe"))
            rows.append(
                [
                    f"{name} (paper)",
                    *(plain(theirs.at(name, f"{whose} %")) for whose in ("baseline", "P-Dedupe")),
                    speed(1e6 * baseline),
                    speed(1e6 * parallel),
                    times(parallel / baseline),
                ]
            )
        if dataset:
            row = joined(evidence, dataset, "pdedupe", "4M", algorithm)
            one, two = timed(evidence, dataset, algorithm) if dataset in TIMED else (None, None)
            rows.append(
                [
                    f"**{dataset}** (ours)",
                    percent(value(row, EXACT)),
                    percent(value(row, "savings")),
                    speed(one),
                    speed(two),
                    times(ratio(two, one)),
                ]
            )
    return table(["data", "sequential %", "P-Dedupe's join %", "one thread GB/s", "parallel GB/s", "parallel / one"], rows)


def timed(evidence: Evidence, dataset: str, algorithm: str = "rabin", size: str = SIZE) -> tuple[float | None, float | None]:
    """Bytes a second of the engine on one thread and on two."""
    one, two = (value(evidence.ours.run(dataset, algorithm, size, threads=n), "bytes_per_second") for n in (1, 2))
    return one, two


def dirty(evidence: Evidence) -> list[str]:
    rows = []
    for dataset in ("random", *REAL):
        for segment in ("1M", "4M"):
            row = joined(evidence, dataset, "pdedupe", segment)
            per_end = value(row, "report.comparison.dirty_bytes_per_boundary")
            rows.append(
                [
                    dataset,
                    segment,
                    percent(ratio(value(row, "dirty_chunks"), value(row, "chunk_count")), 3),
                    percent(ratio(value(joined(evidence, dataset, "none", segment), "dirty_chunks"), value(row, "chunk_count")), 3),
                    "–" if per_end is None else plain(per_end / 1024, 2),
                ]
            )
    return table(
        ["data", "segment", "dirty chunks, P-Dedupe's join %", "dirty chunks, no join %", "dirty KiB an end of a segment (eq. 8: 0.63)"],
        rows,
        words=2,
    )


def figure_8(evidence: Evidence) -> list[str]:
    row = evidence.ours.run("random", "rabin", "48:8K:64M", hash="xxh3")
    rows = []
    for thousands in (1, 2, 4, 8, 16, 32, 64):
        length = 1024 * thousands
        rows.append([f"{thousands} KiB", tiny(math.exp(-length / 8192)), tiny(share_beyond(row, length))])
    return table(["longer than", "equation 7", "ours"], rows)


def figure_9(evidence: Evidence) -> list[str]:
    rows = []
    for dataset in REAL:
        cells = [dataset]
        for segment in ("256K", "1M", "4M"):
            for join in ("none", "pdedupe"):
                row = joined(evidence, dataset, join, segment)
                cells.append(percent(ratio(value(row, "savings"), value(row, EXACT))))
        rows.append(cells)
    return table(["data", *(f"{segment} {join}" for segment in ("256K", "1M", "4M") for join in ("no join", "join"))], rows)


def figure_10(evidence: Evidence) -> list[str]:
    rows = []
    for dataset in STUDIED:
        for segment in ("256K", "1M", "4M"):
            exact = evidence.ours.run(dataset, "rabin", SIZE, threads=2, segment=segment)
            none, pdedupe = (joined(evidence, dataset, join, segment) for join in ("none", "pdedupe"))
            rows.append(
                [dataset, segment, speed(value(exact, "bytes_per_second")), *(plain(cut_seconds(r), 3) for r in (none, pdedupe, exact))]
            )
    return table(
        ["data", "segment", "exact join, two threads, GB/s", "s/GB to cut, no join", "P-Dedupe's join", "exact join"], rows, words=2
    )


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
            none, pdedupe = (joined(evidence, dataset, join, "1M", size=size) for join in ("none", "pdedupe"))
            rows.append(
                [
                    dataset,
                    size,
                    kib(value(pdedupe, "mean_bytes")),
                    *(percent(v) for v in (value(pdedupe, EXACT), value(none, "savings"), value(pdedupe, "savings"))),
                ]
            )
    return table(["data", "size", "mean KiB", "sequential %", "no join %", "P-Dedupe's join %"], rows, words=2)


def figure_13(evidence: Evidence) -> list[str]:
    rows = []
    for size in SIZES:
        one, two = timed(evidence, "linux", size=size)
        rows.append([size, speed(one), speed(two), times(ratio(two, one))])
    return table(["size, linux", "one thread GB/s", "two threads GB/s", "two / one"], rows)


def figure_14(evidence: Evidence) -> list[str]:
    rows = []
    for dataset in TIMED:
        one, two = timed(evidence, dataset)
        single = evidence.ours.run(dataset, "rabin", SIZE, threads=1)
        parallel = evidence.ours.run(dataset, "rabin", SIZE, threads=2)
        model = [value(single, f"report.model.{name}_bytes_per_second") for name in ("serial", "pipelined")]
        rows.append(
            [
                dataset,
                speed(one),
                speed(two),
                times(ratio(two, one)),
                *map(speed, model),
                speed(value(parallel, "report.model.parallel_bytes_per_second")),
                value(parallel, "bottleneck") or "–",
            ]
        )
    return table(
        [
            "data",
            "one thread GB/s",
            "two threads GB/s",
            "two / one",
            "eq. 4 (one after the other)",
            "eq. 5 (pipeline)",
            "eq. 6 (two threads)",
            "slowest stage",
        ],
        rows,
    )


def section_2_2(evidence: Evidence) -> list[str]:
    said = evidence.papers["p-dedupe"].said["section-2-2"]
    row = evidence.ours.run("linux", "rabin", SIZE, threads=1)
    ours = [value(row, f"report.stages.{stage}.bytes_per_second") for stage in ("chunking", "fingerprinting")]
    return table(
        ["one thread, GB/s", "the paper", "ours"],
        [["Rabin", speed(1e6 * said["rabin"]), speed(ours[0])], ["SHA-1", speed(1e6 * said["sha1"]), speed(ours[1])]],
    )


def lost(evidence: Evidence, dataset: str) -> float | None:
    """How far P-Dedupe's join falls behind the sequential chunker with 4 MB segments, in points."""
    share = missed(joined(evidence, dataset, "pdedupe", "4M"))
    return None if share is None else 100 * share


def regained(evidence: Evidence, dataset: str) -> float | None:
    """Of the bytes that are missed without a join, those that P-Dedupe's join finds."""
    none, pdedupe = (missed(joined(evidence, dataset, join, "4M")) for join in ("none", "pdedupe"))
    return ratio(less(none, pdedupe), none)


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
