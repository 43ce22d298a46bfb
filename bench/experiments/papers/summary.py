"""The tables of docs/papers/README.md: all algorithms on all data sets, their order beside SeqCDC's, machines, binaries and data."""

from experiments.papers import seqcdc
from experiments.papers.cells import ALGORITHMS, DATASETS, SEQCDC, TARGETS
from experiments.papers.evidence import Evidence
from experiments.papers.markdown import DASH, kib, percent, plain, speed, table
from experiments.papers.order import kendall
from experiments.papers.ours import value
from experiments.papers.seqcdc import KB


def savings(evidence: Evidence, target: str) -> list[str]:
    rows = []
    for algorithm in ALGORITHMS:
        found = [evidence.matrix(dataset, algorithm, target) for dataset in DATASETS]
        rows.append([algorithm, *(f"{percent(value(row, 'savings'), 1)} at {kib(value(row, 'mean_bytes'))}" for row in found)])
    return table(["% at mean KiB", *DATASETS], rows)


def engine(evidence: Evidence, target: str) -> list[str]:
    rows = [[a, *(speed(value(evidence.matrix(d, a, target), "bytes_per_second")) for d in DATASETS)] for a in ALGORITHMS]
    return table(["engine, GB/s", *DATASETS], rows)


def cutting(evidence: Evidence, target: str) -> list[str]:
    rows = [[a, *(speed(evidence.cutting(d, a, target, "avx2")) for d in DATASETS)] for a in ALGORITHMS if a != "fixed"]
    return table(["cutting, GB/s", *DATASETS], rows)


def order(evidence: Evidence) -> list[str]:
    """The paper's algorithms, those that save most first."""
    rows = []
    for set_, dataset in SEQCDC.items():
        for target in TARGETS:
            paper, ours = seqcdc.savings(evidence, set_, dataset, target)
            if None in paper.values():
                continue
            known = None not in ours.values()
            orders = [" ".join(sorted(names, key=names.get, reverse=True)) if None not in names.values() else DASH for names in (paper, ours)]
            tau = kendall(list(paper.values()), list(ours.values())) if known else None
            rows.append([f"{set_} / {dataset}, {KB[target]}", *orders, plain(tau)])
    return table(["data: the paper's / ours", "SeqCDC's order", "ours", "Kendall's τ"], rows, words=3)


def agreement(evidence: Evidence, target: str) -> list[float]:
    """Kendall's τ of our order with SeqCDC's, for each data set that both have."""
    found = []
    for set_, dataset in SEQCDC.items():
        paper, ours = (list(found.values()) for found in seqcdc.savings(evidence, set_, dataset, target))
        if None not in paper + ours and (tau := kendall(paper, ours)) is not None:
            found.append(tau)
    return found


def where(evidence: Evidence) -> list[str]:
    machines = [m["machine"] for m in evidence.ours.machines]
    lines = [f"- processor: {m['processor_model']}, {m['processors']} processors, {', '.join(m['instruction_sets'])}" for m in machines]
    lines += [f"- cutpoint {b['version']}, binary {b['key'][:12]}" for b in evidence.ours.binaries]
    return [*lines, f"- measured from {evidence.ours.first} to {evidence.ours.last}"]


def data(evidence: Evidence) -> list[str]:
    rows = []
    for name in DATASETS:
        if set_ := evidence.ours.datasets.get(name):
            stands_for = ", ".join(set_.get("stands_for", [])) or DASH
            rows.append([name, stands_for, str(len(set_["versions"])), plain(set_["bytes"] / 1e9), set_["checksum"][:12]])
    return table(["data set", "stands for", "versions", "GB", "checksum"], rows, words=2)


TABLES = {
    **{f"savings-{target}": (lambda evidence, target=target: savings(evidence, target)) for target in TARGETS},
    **{f"engine-{target}": (lambda evidence, target=target: engine(evidence, target)) for target in TARGETS},
    **{f"cutting-{target}": (lambda evidence, target=target: cutting(evidence, target)) for target in TARGETS},
    "order": order,
    "where": where,
    "data": data,
}
