"""The tables of docs/papers/README.md: all algorithms on all data sets, their order beside SeqCDC's, machines, binaries and data."""

from functools import partial

from experiments.papers import seqcdc
from experiments.papers.evidence import WIDEST, Evidence, value
from experiments.papers.paper import ALGORITHMS, DATASETS, SEQCDC, TARGETS
from experiments.papers.seqcdc import KB, kendall
from experiments.papers.tables import DASH, Rows, kib, lines, percent, plain, speed, table


def savings(target: str, evidence: Evidence) -> Rows:
    for algorithm in ALGORITHMS:
        runs = [evidence.matrix(dataset, algorithm, target) for dataset in DATASETS]
        yield [algorithm, *(f"{percent(value(row, 'savings'), 1)} at {kib(value(row, 'mean_bytes'))}" for row in runs)]


def engine(target: str, evidence: Evidence) -> Rows:
    return [[a, *(speed(value(evidence.matrix(d, a, target), "bytes_per_second")) for d in DATASETS)] for a in ALGORITHMS]


def cutting(target: str, evidence: Evidence) -> Rows:
    return [[a, *(speed(evidence.cutting(d, a, target, WIDEST)) for d in DATASETS)] for a in ALGORITHMS if a != "fixed"]


for _target in TARGETS:
    table(f"savings-{_target}", "% at mean KiB", *DATASETS)(partial(savings, _target))
    table(f"engine-{_target}", "engine, GB/s", *DATASETS)(partial(engine, _target))
    table(f"cutting-{_target}", "cutting, GB/s", *DATASETS)(partial(cutting, _target))


@table("order", "data: the paper's / ours", "SeqCDC's order", "ours", "Kendall's τ", words=3)
def order(evidence: Evidence) -> Rows:
    """The paper's algorithms, those that save most first."""
    for set_, dataset in SEQCDC.items():
        for target in TARGETS:
            paper, ours = seqcdc.savings(evidence, set_, dataset, target)
            if None in paper.values():
                continue
            known = None not in ours.values()
            orders = [" ".join(sorted(names, key=names.get, reverse=True)) if None not in names.values() else DASH for names in (paper, ours)]
            tau = kendall(list(paper.values()), list(ours.values())) if known else None
            yield [f"{set_} / {dataset}, {KB[target]}", *orders, plain(tau)]


def agreement(evidence: Evidence, target: str) -> list[float]:
    """Kendall's τ of our order with SeqCDC's, for each data set that both have."""
    taus = []
    for set_, dataset in SEQCDC.items():
        paper, ours = (list(savings.values()) for savings in seqcdc.savings(evidence, set_, dataset, target))
        if None not in paper + ours and (tau := kendall(paper, ours)) is not None:
            taus.append(tau)
    return taus


@lines("where")
def where(evidence: Evidence) -> list[str]:
    machines = [m["machine"] for m in evidence.ours.machines]
    facts = [f"- processor: {m['processor_model']}, {m['processors']} processors, {', '.join(m['instruction_sets'])}" for m in machines]
    facts.append(f"- vectors: {evidence.ours.widest}, the widest instruction set there, where no table names another")
    facts += [f"- cutpoint {b['version']}, binary {b['key'][:12]}" for b in evidence.ours.binaries]
    return [*facts, f"- measured from {evidence.ours.first} to {evidence.ours.last}"]


@table("data", "data set", "stands for", "versions", "GB", "checksum", words=2)
def data(evidence: Evidence) -> Rows:
    for name in DATASETS:
        if set_ := evidence.ours.datasets.get(name):
            stands_for = ", ".join(set_.get("stands_for", [])) or DASH
            yield [name, stands_for, str(len(set_["versions"])), plain(set_["bytes"] / 1e9), set_["checksum"][:12]]
