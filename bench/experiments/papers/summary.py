"""The tables of docs/papers/README.md: all algorithms on all data sets, machines, binaries and data."""

from itertools import product

from experiments.papers import ae, seqcdc
from experiments.papers.evidence import WIDEST, Evidence, ratio, value
from experiments.papers.paper import ALGORITHMS, DATASETS, SEQCDC, TARGETS
from experiments.papers.seqcdc import kendall
from experiments.papers.seqcdc_speed import chunking
from experiments.papers.tables import DASH, Rows, kib, lines, percent, plain, speed, table, times

KIB = {"4K": "4 KiB", "8K": "8 KiB", "16K": "16 KiB"}


@table("savings", "size", "% at mean KiB", *DATASETS, words=2)
def savings(evidence: Evidence) -> Rows:
    for target, algorithm in product(TARGETS, ALGORITHMS):
        runs = [evidence.matrix(dataset, algorithm, target) for dataset in DATASETS]
        yield [KIB[target], algorithm, *(f"{percent(value(row, 'savings'), 1)} at {kib(value(row, 'mean_bytes'))}" for row in runs)]


@table("throughput", "size", "cutting / engine, GB/s", *DATASETS, words=2)
def throughput(evidence: Evidence) -> Rows:
    for target, algorithm in product(TARGETS, ALGORITHMS):
        cutting = [evidence.cutting(dataset, algorithm, target, WIDEST) if algorithm != "fixed" else None for dataset in DATASETS]
        engine = [value(evidence.matrix(dataset, algorithm, target), "bytes_per_second") for dataset in DATASETS]
        yield [KIB[target], algorithm, *(f"{speed(cuts)} / {speed(whole)}" for cuts, whole in zip(cutting, engine, strict=True))]


@table("memory-and-cache", "one thread, GB/s", "data", "back end", "from memory", "in the cache", "cache / memory", words=3)
def memory_and_cache(evidence: Evidence) -> Rows:
    """Cutting alone in memory, and by the engine, whose reading has left the bytes in the cache."""
    back_ends = ("scalar", evidence.ours.widest)
    both = [("SeqCDC, 16 KB", d, b, seqcdc.cut(evidence, d, "SEQ", "16K", b), chunking(evidence, d, {}, b)) for d in seqcdc.DRAWN for b in back_ends]
    both += [("AE, 8 KB", d, b, ae.cutting(evidence, d, "AE", "8 KB", b), ae.opt2_and_sha1(evidence, d, b)[0]) for d in ae.DRAWN for b in back_ends]
    both += [("Rabin_0.25, 8 KB", d, back_ends[1], ae.cutting(evidence, d, "Rabin_0.25", "8 KB", WIDEST), ae.stages_alone(evidence, d)[0]) for d in ae.DRAWN]
    for name, dataset, backend, memory, cache in both:
        yield [name, dataset, backend, speed(memory), speed(cache), times(ratio(cache, memory))]


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
