"""The tables of docs/papers/prune.md."""

from experiments.catalog import random_mean
from experiments.papers.cells import PRUNE_BITS
from experiments.papers.evidence import Evidence
from experiments.papers.markdown import DASH, kib, percent, plain, speed, table, times
from experiments.papers.ours import less, ratio, value

K = 1024
SETS = ("media", "linux", "images")
LIMITS = [(1, 32), (1, 48), (1, 64), (2, 32), (2, 48), (2, 64)]  # KB, figure 9


def run(evidence: Evidence, dataset: str, bits: int, algorithm: str = "rabin") -> dict | None:
    return evidence.ours.run(dataset, algorithm, PRUNE_BITS[bits])


def quartiles(row: dict | None) -> list[str]:
    at = [value(row, f"report.result.chunks.percentile_{p}_bytes") for p in (25, 50)]
    return [*map(kib, at), kib(value(row, "mean_bytes")), kib(value(row, "report.result.chunks.percentile_75_bytes"))]


def table_2(evidence: Evidence) -> list[str]:
    printed = evidence.papers["prune"].tables["table-2"]
    rows = []
    for bits in range(10, 16):
        paper = [plain(printed.at(str(bits), column), 1) for column in printed.columns[:5]]
        rows.append([f"{bits} paper", *paper, percent(printed.at(str(bits), "mean") / printed.at(str(bits), "E[S]") - 1, 1)])
        for dataset in ("random", "linux") if bits in PRUNE_BITS else ():
            row = run(evidence, dataset, bits)
            expected = kib(value(row, "report.result.chunks.expected_mean_bytes"))
            rows.append([f"{bits} ours, {dataset}", *quartiles(row), expected, percent(off(row), 1)])
    return table(["bits", "25 %", "50 %", "mean", "75 %", "E[S]", "mean off E[S] by %"], rows)


def off(row: dict | None) -> float | None:
    """The relative difference of the mean from equation 2's."""
    return less(ratio(value(row, "mean_bytes"), value(row, "report.result.chunks.expected_mean_bytes")), 1)


def figure_9(evidence: Evidence) -> list[str]:
    rows = []
    for bits in range(10, 16):
        rows.append([str(bits), plain(2**bits / K, 0), *(kib(random_mean(least * K, 2**bits, most * K)) for least, most in LIMITS)])
    measured = [kib(value(evidence.ours.run("random", "rabin", f"{least}K:8K:{most}K"), "mean_bytes")) for least, most in LIMITS]
    rows.append(["13, measured on random data", DASH, *measured])
    return table(["bits", "2^bits KiB", *(f"{least}–{most} KiB" for least, most in LIMITS)], rows)


def cutting(evidence: Evidence, dataset: str, algorithm: str, bits: int, backend: str = "scalar") -> float | None:
    return evidence.ours.speed(dataset, algorithm, PRUNE_BITS[bits], backend)


def figure_11(evidence: Evidence) -> list[str]:
    said = evidence.papers["prune"].said["figure-11"]
    rows = []
    for bits in range(10, 16):
        paper = [said[name].get(str(bits)) for name in ("rabin", "inc_k")]
        cells = [str(bits), *(plain(v, 0) for v in paper), times(ratio(*reversed(paper)))]
        for dataset in ("linux", "media"):
            found = [cutting(evidence, dataset, name, bits) for name in ("rabin", "rabin-inck")] if bits in PRUNE_BITS else [None, None]
            cells += [*(plain(v and v / 1e6, 0) for v in found), times(ratio(*reversed(found)))]
        rows.append(cells)
    columns = [f"{of} {c}" for of in ("paper, Linux:", "linux:", "media:") for c in ("Rabin MB/s", "INC-K MB/s", "INC-K / Rabin")]
    return table(["bits", *columns], rows)


def figure_11_vector(evidence: Evidence) -> list[str]:
    columns = [(dataset, name) for dataset in ("linux", "media") for name in ("rabin", "rabin-inck")]
    rows = [[str(bits), *(speed(cutting(evidence, *column, bits, "avx2")) for column in columns)] for bits in PRUNE_BITS]
    return table(["bits, AVX2, GB/s", *(f"{d}: {n}" for d in ("linux", "media") for n in ("Rabin", "INC-K"))], rows)


def figure_12(evidence: Evidence) -> list[str]:
    rows = []
    for dataset in SETS:
        runs = [run(evidence, dataset, bits) for bits in (11, 12, 13)]
        counts, savings = [plain(value(row, "chunk_count"), 0) for row in runs], [percent(value(row, "savings")) for row in runs]
        rows.append([dataset, *counts, times(more_chunks(evidence, dataset)), *savings, percent(falls(evidence, dataset))])
    return table(["data", "chunks, 11 bits", "12", "13", "11 / 13", "savings %, 11 bits", "12", "13", "falls by, points"], rows)


def falls(evidence: Evidence, dataset: str) -> float | None:
    return less(*(value(run(evidence, dataset, bits), "savings") for bits in (11, 13)))


def more_chunks(evidence: Evidence, dataset: str) -> float | None:
    return ratio(*(value(run(evidence, dataset, bits), "chunk_count") for bits in (11, 13)))


TABLES = {
    "prune-table-2": table_2,
    "prune-figure-9": figure_9,
    "prune-figure-11": figure_11,
    "prune-figure-11-vector": figure_11_vector,
    "prune-figure-12": figure_12,
}
