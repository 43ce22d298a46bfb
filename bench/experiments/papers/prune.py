"""The tables of docs/papers/prune.md, and the paper's claims."""

from functools import partial

from experiments.catalog import random_mean
from experiments.papers.claim import add_claim, at_most, gain, in_percent, points, within
from experiments.papers.evidence import WIDEST, Evidence, less, ratio, value
from experiments.papers.paper import PRUNE_BITS
from experiments.papers.tables import DASH, Rows, kib, percent, plain, speed, table, times

K = 1024
SETS = ("media", "linux", "images")
LIMITS = [(1, 32), (1, 48), (1, 64), (2, 32), (2, 48), (2, 64)]  # KB, figure 9


def run(evidence: Evidence, dataset: str, bits: int, algorithm: str = "rabin") -> dict | None:
    return evidence.ours.run(dataset, algorithm, PRUNE_BITS[bits])


def quartiles(row: dict | None) -> list[str]:
    at = [value(row, f"report.result.chunks.percentile_{p}_bytes") for p in (25, 50)]
    return [*map(kib, at), kib(value(row, "mean_bytes")), kib(value(row, "report.result.chunks.percentile_75_bytes"))]


@table("prune-table-2", "bits", "25 %", "50 %", "mean", "75 %", "E[S]", "mean off E[S] by %")
def table_2(evidence: Evidence) -> Rows:
    printed = evidence.papers["prune"].tables["table-2"]
    for bits in range(10, 16):
        paper = [plain(printed.at(str(bits), column), 1) for column in printed.columns[:5]]
        yield [f"{bits} paper", *paper, percent(printed.at(str(bits), "mean") / printed.at(str(bits), "E[S]") - 1, 1)]
        for dataset in ("random", "linux"):
            row = run(evidence, dataset, bits)
            expected = kib(value(row, "report.result.chunks.expected_mean_bytes"))
            yield [f"{bits} ours, {dataset}", *quartiles(row), expected, percent(off(row), 1)]


def off(row: dict | None) -> float | None:
    """The relative difference of the mean from equation 2's."""
    return less(ratio(value(row, "mean_bytes"), value(row, "report.result.chunks.expected_mean_bytes")), 1)


@table("prune-figure-9", "bits", "2^bits KiB", *(f"{least}–{most} KiB" for least, most in LIMITS))
def figure_9(evidence: Evidence) -> Rows:
    for bits in range(10, 16):
        yield [str(bits), plain(2**bits / K, 0), *(kib(random_mean(least * K, 2**bits, most * K)) for least, most in LIMITS)]
    measured = [kib(value(evidence.ours.run("random", "rabin", f"{least}K:8K:{most}K"), "mean_bytes")) for least, most in LIMITS]
    yield ["13, measured on random data", DASH, *measured]


def cutting(evidence: Evidence, dataset: str, algorithm: str, bits: int, backend: str = "scalar") -> float | None:
    return evidence.ours.speed(dataset, algorithm, PRUNE_BITS[bits], backend)


@table(
    "prune-figure-11", "bits", *(f"{of} {c}" for of in ("paper, Linux:", "linux:", "media:") for c in ("Rabin MB/s", "INC-K MB/s", "INC-K / Rabin")),
    *(f"{of} {name} GB/s, vectors" for of in ("linux:", "media:") for name in ("Rabin", "INC-K")),
)  # fmt: skip
def figure_11(evidence: Evidence) -> Rows:
    statements = evidence.papers["prune"].statements["figure-11"]
    for bits in range(10, 16):
        paper = [statements[name].get(str(bits)) for name in ("rabin", "inc_k")]
        cells = [str(bits), *(plain(v, 0) for v in paper), times(ratio(*reversed(paper)))]
        for dataset in ("linux", "media"):
            rates = [cutting(evidence, dataset, name, bits) for name in ("rabin", "rabin-inck")]
            cells += [*(plain(v and v / 1e6, 0) for v in rates), times(ratio(*reversed(rates)))]
        yield [*cells, *(speed(cutting(evidence, d, name, bits, WIDEST)) for d in ("linux", "media") for name in ("rabin", "rabin-inck"))]


@table("prune-figure-12", "data", "chunks, 11 bits", "12", "13", "11 / 13", "savings %, 11 bits", "12", "13", "falls by, points")
def figure_12(evidence: Evidence) -> Rows:
    for dataset in SETS:
        runs = [run(evidence, dataset, bits) for bits in (11, 12, 13)]
        counts, savings = [plain(value(row, "chunk_count"), 0) for row in runs], [percent(value(row, "savings")) for row in runs]
        yield [dataset, *counts, times(more_chunks(evidence, dataset)), *savings, percent(falls(evidence, dataset))]


def falls(evidence: Evidence, dataset: str) -> float | None:
    return less(*(value(run(evidence, dataset, bits), "savings") for bits in (11, 13)))


def more_chunks(evidence: Evidence, dataset: str) -> float | None:
    return ratio(*(value(run(evidence, dataset, bits), "chunk_count") for bits in (11, 13)))


claim = partial(add_claim, "PRUNE")
claim("table 2", "equation 2 is the mean chunk of random data", "within 1 %", within(-0.01, 0.01, in_percent))(
    lambda evidence: [(f"{bits} bits", off(run(evidence, "random", bits))) for bits in PRUNE_BITS]
)


@claim("figure 11", "Incremental Modulo-K is faster than Rabin (scalar, from memory)", "1.05 to 1.15×", gain(times, 1.05, 1.15))
def _incremental(evidence):
    for dataset in ("linux", "media"):
        for bits in PRUNE_BITS:
            yield f"{dataset} {bits} bits", ratio(*(cutting(evidence, dataset, name, bits) for name in ("rabin-inck", "rabin")))


@claim("figure 11", "cutting is slower with longer patterns: 14 over 11 bits (scalar, from memory)", "0.4× (14 over 10)", gain(times, 0.4))
def _slower(evidence):
    for dataset in ("linux", "media"):
        for name in ("rabin", "rabin-inck"):
            yield f"{name} on {dataset}", ratio(*(cutting(evidence, dataset, name, bits) for bits in (14, 11)))


claim("figure 12", "from 11 to 13 bits the savings fall by", "0.66 %; 2 % (section 1.1; rule)", at_most(0.02, points(2)))(
    lambda evidence: [(d, falls(evidence, d)) for d in SETS]
)
claim("section 1.1", "cutting is slower with 13 bits than with 11: 13 over 11 bits (scalar, from memory)", "100 over 150 MB/s: 0.67×", gain(times, 0.67))(
    lambda evidence: [
        (f"{n} on {d}", ratio(*(cutting(evidence, d, n, bits) for bits in (13, 11)))) for d in ("linux", "media") for n in ("rabin", "rabin-inck")
    ]
)
claim("figure 12", "11 bits make 2.5 times the chunks of 13", "2.5×", gain(times, 2.5))(
    lambda evidence: [(d, more_chunks(evidence, d)) for d in SETS]
)
