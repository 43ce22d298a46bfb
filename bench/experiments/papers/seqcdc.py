"""The tables of docs/papers/seqcdc.md about savings and lengths."""

import math

from experiments.papers.cells import SEQCDC, SEQCDC_NAMES, TARGETS
from experiments.papers.evidence import Evidence
from experiments.papers.lengths import PERCENTILES, length_cells
from experiments.papers.markdown import DASH, kib, percent, plain, speed, table, times
from experiments.papers.order import kendall
from experiments.papers.ours import less, ratio, value

DRAWN = ("images", "database")  # the paper's DEB and TPCC, which its figures 9, 11 and 13 show
PLAIN = ("RC", "TTTD", "CRC", "GEAR", "FCDC", "AE", "RAM", "SEQ")
KB = {"4K": "4 KB", "8K": "8 KB", "16K": "16 KB"}
BOTH = [(set_, dataset, f"{set_} / {dataset}") for set_, dataset in SEQCDC.items()]  # with the label of the two


def cell(evidence: Evidence, dataset: str, name: str, target: str) -> dict | None:
    return evidence.matrix(dataset, SEQCDC_NAMES[name], target)


def cut(evidence: Evidence, dataset: str, name: str, target: str, backend: str) -> float | None:
    return evidence.cutting(dataset, SEQCDC_NAMES[name], target, backend)


def theirs(evidence: Evidence, set_: str, name: str, target: str) -> float | None:
    """The paper's savings in percent. For DKR it has only those of 16 KB, in appendix C."""
    tables = evidence.papers["seqcdc"].tables
    printed = tables["appendix-table-I"].at(f"{set_} {name}", KB[target])
    if printed is None and target == "16K":
        return tables["appendix-table-II-VII"].at(f"{set_} {name}", "savings")
    return printed


def table_i(evidence: Evidence) -> list[str]:
    fixed = evidence.papers["seqcdc"].tables["table-I"]
    rows = []
    for set_, dataset, label in BOTH:
        row = evidence.matrix(dataset, "fixed", "16K")
        gigabytes = plain(fixed.at(set_, "GB"), 0), plain((value(row, "bytes") or 0) / 1e9)
        rows.append([label, *gigabytes, plain(fixed.at(set_, "fixed 16 KB %")), percent(value(row, "savings"))])
    return table(["data: the paper's / ours", "paper GB", "ours GB", "paper, fixed 16 KB %", "ours"], rows)


def found(evidence: Evidence, dataset: str) -> dict | None:
    """The candidate that the search for 16 KB recommends."""
    result = evidence.ours.tune(dataset, "seqcdc-inc", "16K")
    chosen = value(result, "recommendation.candidate")
    return None if chosen is None else result["candidates"][chosen]


def table_ii(evidence: Evidence) -> list[str]:
    chosen = evidence.papers["seqcdc"].tables["table-II"]
    rows = []
    for set_, dataset, label in BOTH:
        best = found(evidence, dataset)
        numbers = [value(best, f"parameters.{name}") for name in ("seq_length", "skip_trigger", "skip_size")]
        cells = [label, ", ".join(plain(v, 0) for v in chosen.rows[set_]), DASH if best is None else ", ".join(map(str, numbers))]
        cells += [kib(value(best, "mean_bytes")), plain(value(best, "tried_count"), 0), percent(value(best, "whole.savings_share"))]
        rows.append([*cells, percent(value(cell(evidence, dataset, "SEQ", "16K"), "savings"))])
    header = ["data: the paper's / ours", "paper: SeqLength, SkipTrigger, SkipSize", "ours", "mean KiB of the sample"]
    return table([*header, "combinations tried", "savings %", "savings % by default"], rows)


def figure_2(evidence: Evidence) -> list[str]:
    rows = []
    for name in (n for n in PLAIN if n != "SEQ"):
        speeds = [cut(evidence, "random", name, target, "scalar") for target in TARGETS]
        rows.append([f"{name} ({SEQCDC_NAMES[name]})", *map(speed, speeds), times(ratio(speeds[2], speeds[0]))])
    return table(["random data, scalar, GB/s", *KB.values(), "16 KB / 4 KB"], rows)


def rate(k: int, values: int = 256) -> float:
    """λ_k of appendix E: increasing sequences of k bytes, without overlap, for each byte of random data."""
    return (values + 1) / values * sum(math.comb(values, k * j) / values ** (k * j) / (1 + 1 / (k * j)) for j in range(1, values // k + 1))


def unlimited(evidence: Evidence, steps: int) -> dict | None:
    """A run on random data without skipping and with next to no limits."""
    return evidence.ours.run("random", "seqcdc-inc", f"{steps + 1}:8K:64M", {"seq_length": steps, "skip_trigger": 0}, hash="xxh3")


def figure_6(evidence: Evidence) -> list[str]:
    rows = []
    for steps in (4, 5, 6, 7):
        mean, expected = value(unlimited(evidence, steps), "mean_bytes"), 1 / rate(steps + 1)
        off = percent(mean / expected - 1) if mean else DASH
        rows.append([str(steps), str(steps + 1), plain(expected, 1), plain(mean, 1), off, plain(1 / rate(steps), 1)])
    return table(["seq_length (steps)", "bytes in order, k", "1 / λ_k", "measured mean", "off by %", "1 / λ for k = seq_length"], rows)


def savings(evidence: Evidence, set_: str, dataset: str, target: str) -> tuple[dict[str, float | None], dict[str, float | None]]:
    """The savings of the paper's algorithms: on its data set as printed, and on the one that stands for it as measured here."""
    ours = {name: value(cell(evidence, dataset, name, target), "savings") for name in PLAIN}
    return {name: theirs(evidence, set_, name, target) for name in PLAIN}, ours


def figure_7(evidence: Evidence) -> list[str]:
    """The best algorithm, how far SeqCDC is behind, and whether the order is the paper's."""
    rows = []
    for set_, dataset, label in BOTH:
        for target in TARGETS:
            paper, ours = savings(evidence, set_, dataset, target)
            known, measured = None not in paper.values(), None not in ours.values()
            cells = [max(paper, key=paper.get), plain(max(paper.values()) - paper["SEQ"])] if known else [DASH, DASH]
            cells += [max(ours, key=ours.get) if measured else DASH, percent(behind(evidence, dataset, target))]
            tau = kendall(list(paper.values()), list(ours.values())) if known and measured else None
            rows.append([f"{label} {KB[target]}", *cells, plain(tau)])
    return table(["data, size", "paper: best", "SEQ behind, points", "ours: best", "SEQ behind, points", "order: Kendall's τ"], rows)


def behind(evidence: Evidence, dataset: str, target: str) -> float | None:
    """How far SeqCDC's savings are behind those of the best of the paper's algorithms, as a share of all bytes."""
    savings = {name: value(cell(evidence, dataset, name, target), "savings") for name in PLAIN}
    return None if None in savings.values() else max(savings.values()) - savings["SEQ"]


def figure_8(evidence: Evidence) -> list[str]:
    rows = []
    for set_, dataset, label in BOTH:
        paper = [theirs(evidence, set_, "SEQ", target) for target in TARGETS]
        ours = [percent(value(cell(evidence, dataset, "SEQ", target), "savings")) for target in TARGETS]
        rows.append([label, *map(plain, paper), plain(less(paper[0], paper[2])), *ours, percent(fall(evidence, dataset))])
    return table(["data", *(f"paper {kb} %" for kb in KB.values()), "falls by", *(f"ours {kb} %" for kb in KB.values()), "falls by"], rows)


def fall(evidence: Evidence, dataset: str) -> float | None:
    """The difference of SeqCDC's savings at 4 KB and at 16 KB."""
    return less(*(value(cell(evidence, dataset, "SEQ", target), "savings") for target in ("4K", "16K")))


def appendix_a(evidence: Evidence) -> list[str]:
    rows = []
    for set_, dataset, label in BOTH:
        for name in PLAIN:
            pairs = [(theirs(evidence, set_, name, target), value(cell(evidence, dataset, name, target), "savings")) for target in TARGETS]
            rows.append([label, name, *(text for paper, ours in pairs for text in (plain(paper), percent(ours)))])
    return table(["data: the paper's / ours", "", *(f"{whose} {kb} %" for kb in KB.values() for whose in ("paper", "ours"))], rows, words=2)


def appendix_c(evidence: Evidence) -> list[str]:
    printed, rows = evidence.papers["seqcdc"].tables["appendix-table-II-VII"], []
    for set_, dataset, label in BOTH:
        for name in PLAIN:
            row = cell(evidence, dataset, name, "16K")
            means = [kib(printed.at(f"{set_} {name}", "mean")), kib(value(row, "mean_bytes"))]
            rows.append([label, name, *means, plain(printed.at(f"{set_} {name}", "DER"), 3), plain(value(row, "elimination_ratio"), 3)])
    return table(["data: the paper's / ours", "", "paper mean KiB", "ours", "paper DER", "ours"], rows, words=2)


def figure_13(evidence: Evidence) -> list[str]:
    rows = [[dataset, name, *length_cells(cell(evidence, dataset, name, "16K"))] for dataset in DRAWN for name in PLAIN]
    return table(["data", "", "mean KiB", *(f"{p} %" for p in PERCENTILES), "(95 % - 5 %) / mean"], rows, words=2)


TABLES = {
    "seqcdc-table-i": table_i,
    "seqcdc-table-ii": table_ii,
    "seqcdc-figure-2": figure_2,
    "seqcdc-figure-6": figure_6,
    "seqcdc-figure-7": figure_7,
    "seqcdc-figure-8": figure_8,
    "seqcdc-figure-13": figure_13,
    "seqcdc-appendix-a": appendix_a,
    "seqcdc-appendix-c": appendix_c,
}
