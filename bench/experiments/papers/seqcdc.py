"""The tables of docs/papers/seqcdc.md about savings and lengths."""

import itertools
import math

from experiments.papers.evidence import Evidence, less, ratio, value
from experiments.papers.lengths import PERCENTILES, length_cells
from experiments.papers.paper import SEQCDC, SEQCDC_NAMES, TARGETS
from experiments.papers.tables import DASH, Rows, kib, percent, plain, speed, table, times

DRAWN = ("images", "database")  # the paper's DEB and TPCC, which its figures 9, 11 and 13 show
PLAIN = ("RC", "TTTD", "CRC", "GEAR", "FCDC", "AE", "RAM", "SEQ")
KB = {"4K": "4 KB", "8K": "8 KB", "16K": "16 KB"}
BOTH = [(set_, dataset, f"{set_} / {dataset}") for set_, dataset in SEQCDC.items()]  # with the label of the two


def kendall(a: list[float], b: list[float]) -> float | None:
    """Kendall's τ-b: 1 for the same order, -1 for the opposite one, about 0 for unrelated ones. None if all numbers of a list are equal."""
    pairs = list(itertools.combinations(zip(a, b, strict=True), 2))
    sign = [((x > u) - (x < u), (y > v) - (y < v)) for (x, y), (u, v) in pairs]
    untied = [sum(1 for pair in sign if pair[i]) for i in (0, 1)]
    return sum(x * y for x, y in sign) / (untied[0] * untied[1]) ** 0.5 if all(untied) else None


def cell(evidence: Evidence, dataset: str, name: str, target: str) -> dict | None:
    return evidence.matrix(dataset, SEQCDC_NAMES[name], target)


def cut(evidence: Evidence, dataset: str, name: str, target: str, backend: str | None) -> float | None:
    return evidence.cutting(dataset, SEQCDC_NAMES[name], target, backend)


def theirs(evidence: Evidence, set_: str, name: str, target: str) -> float | None:
    """The paper's savings in percent."""
    return evidence.papers["seqcdc"].tables["appendices"].at(f"{set_} {name}", KB[target])


@table("seqcdc-table-i", "data: the paper's / ours", "paper GB", "ours GB", "paper, fixed 16 KB %", "ours")
def table_i(evidence: Evidence) -> Rows:
    fixed = evidence.papers["seqcdc"].tables["table-I"]
    for set_, dataset, label in BOTH:
        row = evidence.matrix(dataset, "fixed", "16K")
        gigabytes = plain(fixed.at(set_, "GB"), 0), plain((value(row, "bytes") or 0) / 1e9)
        yield [label, *gigabytes, plain(fixed.at(set_, "fixed 16 KB %")), percent(value(row, "savings"))]


def recommendation(evidence: Evidence, dataset: str) -> dict | None:
    """The candidate that the search for 16 KB recommends."""
    result = evidence.ours.tune(dataset, "seqcdc-inc", "16K")
    chosen = value(result, "recommendation.candidate")
    return None if chosen is None else result["candidates"][chosen]


@table(
    "seqcdc-table-ii", "data: the paper's / ours", "paper: SeqLength, SkipTrigger, SkipSize", "ours", "mean KiB of the sample",
    "combinations tried", "savings %", "savings % by default",
)  # fmt: skip
def table_ii(evidence: Evidence) -> Rows:
    chosen = evidence.papers["seqcdc"].tables["table-II"]
    for set_, dataset, label in BOTH:
        best = recommendation(evidence, dataset)
        numbers = [value(best, f"parameters.{name}") for name in ("seq_length", "skip_trigger", "skip_size")]
        cells = [label, ", ".join(plain(v, 0) for v in chosen.rows[set_]), DASH if best is None else ", ".join(map(str, numbers))]
        cells += [kib(value(best, "mean_bytes")), plain(value(best, "tried_count"), 0), percent(value(best, "whole.savings_share"))]
        yield [*cells, percent(value(cell(evidence, dataset, "SEQ", "16K"), "savings"))]


@table("seqcdc-figure-2", "random data, scalar, GB/s", *KB.values(), "16 KB / 4 KB")
def figure_2(evidence: Evidence) -> Rows:
    for name in (n for n in PLAIN if n != "SEQ"):
        speeds = [cut(evidence, "random", name, target, "scalar") for target in TARGETS]
        yield [f"{name} ({SEQCDC_NAMES[name]})", *map(speed, speeds), times(ratio(speeds[2], speeds[0]))]


def rate(k: int, values: int = 256) -> float:
    """λ_k of appendix E: increasing sequences of k bytes, without overlap, for each byte of random data."""
    return (values + 1) / values * sum(math.comb(values, k * j) / values ** (k * j) / (1 + 1 / (k * j)) for j in range(1, values // k + 1))


def unlimited(evidence: Evidence, steps: int) -> dict | None:
    """A run on random data without skipping and with next to no limits."""
    return evidence.ours.run("random", "seqcdc-inc", f"{steps + 1}:8K:64M", {"seq_length": steps, "skip_trigger": 0}, hash="xxh3")


@table("seqcdc-figure-6", "seq_length (steps)", "bytes in order, k", "1 / λ_k", "measured mean", "off by %", "1 / λ for k = seq_length")
def figure_6(evidence: Evidence) -> Rows:
    for steps in (4, 5, 6, 7):
        mean, expected = value(unlimited(evidence, steps), "mean_bytes"), 1 / rate(steps + 1)
        off = percent(mean / expected - 1) if mean else DASH
        yield [str(steps), str(steps + 1), plain(expected, 1), plain(mean, 1), off, plain(1 / rate(steps), 1)]


def savings(evidence: Evidence, set_: str, dataset: str, target: str) -> tuple[dict[str, float | None], dict[str, float | None]]:
    """The savings of the paper's algorithms: on its data set as printed, and on the one that stands for it as measured here."""
    ours = {name: value(cell(evidence, dataset, name, target), "savings") for name in PLAIN}
    return {name: theirs(evidence, set_, name, target) for name in PLAIN}, ours


def best_first(savings: dict[str, float | None], whole: bool = True) -> str:
    """The names in the order of their savings, or the first one alone. A dash if one has none."""
    if None in savings.values():
        return DASH
    names = sorted(savings, key=savings.get, reverse=True)
    return " ".join(names) if whole else names[0]


@table("seqcdc-figure-7", "data, size", "paper: best first", "SEQ behind, points", "ours: best first", "SEQ behind, points", "order: Kendall's τ")
def figure_7(evidence: Evidence) -> Rows:
    """The order of the algorithms, how far SeqCDC is behind the best, and whether the order is the paper's. Where the paper has none, ours is the best alone."""
    for set_, dataset, label in BOTH:
        for target in TARGETS:
            paper, ours = savings(evidence, set_, dataset, target)
            known, measured = None not in paper.values(), None not in ours.values()
            cells = [best_first(paper), plain(max(paper.values()) - paper["SEQ"] if known else None)]
            cells += [best_first(ours, known), percent(behind(evidence, dataset, target))]
            tau = kendall(list(paper.values()), list(ours.values())) if known and measured else None
            yield [f"{label} {KB[target]}", *cells, plain(tau)]


def behind(evidence: Evidence, dataset: str, target: str) -> float | None:
    """How far SeqCDC's savings are behind those of the best of the paper's algorithms, as a share of all bytes."""
    savings = {name: value(cell(evidence, dataset, name, target), "savings") for name in PLAIN}
    return None if None in savings.values() else max(savings.values()) - savings["SEQ"]


def fall(evidence: Evidence, dataset: str) -> float | None:
    """The difference of SeqCDC's savings at 4 KB and at 16 KB."""
    return less(*(value(cell(evidence, dataset, "SEQ", target), "savings") for target in ("4K", "16K")))


@table(
    "seqcdc-appendices", "data: the paper's / ours", "", *(f"{whose} {kb} %" for kb in KB.values() for whose in ("paper", "ours")),
    "paper mean KiB, 16 KB", "ours", "paper DER, 16 KB", "ours", words=2,
)  # fmt: skip
def appendices(evidence: Evidence) -> Rows:
    printed = evidence.papers["seqcdc"].tables["appendices"]
    for set_, dataset, label in BOTH:
        for name in PLAIN:
            rows = [cell(evidence, dataset, name, target) for target in TARGETS]
            pairs = [(plain(theirs(evidence, set_, name, target)), percent(value(row, "savings"))) for target, row in zip(TARGETS, rows, strict=True)]
            means = [kib(printed.at(f"{set_} {name}", "mean")), kib(value(rows[2], "mean_bytes"))]
            ratios = [plain(printed.at(f"{set_} {name}", "DER"), 3), plain(value(rows[2], "elimination_ratio"), 3)]
            yield [label, name, *itertools.chain(*pairs), *means, *ratios]


@table("seqcdc-figure-13", "data", "", "mean KiB", *(f"{p} %" for p in PERCENTILES), "(95 % - 5 %) / mean", words=2)
def figure_13(evidence: Evidence) -> Rows:
    return [[dataset, name, *length_cells(cell(evidence, dataset, name, "16K"))] for dataset in DRAWN for name in PLAIN]
