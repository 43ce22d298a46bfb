"""The tables of docs/papers/seqcdc.md about throughput."""

from experiments.papers.evidence import VECTORS, WIDEST, Evidence, ratio, value
from experiments.papers.paper import TARGETS, matrix_size
from experiments.papers.seqcdc import BOTH, DRAWN, KB, PLAIN, cut
from experiments.papers.tables import DASH, Rows, kib, speed, table, times

NAMES = {None: "SEQ"} | {bits: f"VSEQ-{bits}" for bits in VECTORS}  # the paper's, by the bits of vectors
PRINTED = {None: "native", 512: "vector"}
BASE = {"skip_trigger": 0}
BASE_LIKE = {"seq_length": 6, "skip_trigger": 0}  # about the mean that skipping gives
CHUNKING = "report.stages.chunking.bytes_per_second"


@table("seqcdc-figure-9", "data", "scalar, GB/s", *KB.values(), words=2)
def figure_9(evidence: Evidence) -> Rows:
    return [[d, name, *(speed(cut(evidence, d, name, target, "scalar")) for target in TARGETS)] for d in DRAWN for name in PLAIN]


@table("order-of-speed", "data", "back end", "paper: order, fastest first", "ours", words=4)
def order(evidence: Evidence) -> Rows:
    """Algorithms from the fastest on; the paper's as far as its text has them."""
    statements = {backend: evidence.papers["seqcdc"].statements[figure]["order"] for backend, figure in (("scalar", "figure-9"), (evidence.ours.widest, "figure-11"))}
    for dataset in DRAWN:
        for backend, paper in statements.items():
            for target in TARGETS:
                speeds = {name: cut(evidence, dataset, name, target, backend) for name in PLAIN}
                ours = DASH if None in speeds.values() else " ".join(sorted(speeds, key=speeds.get, reverse=True))
                yield [f"{dataset}, {KB[target]}", backend, paper.get(target, DASH), ours]


def over(evidence: Evidence, name: str, target: str, dataset: str, backend: str = "scalar") -> float | None:
    """SeqCDC's speed of cutting over another algorithm's."""
    return ratio(cut(evidence, dataset, "SEQ", target, backend), cut(evidence, dataset, name, target, backend))


@table("seqcdc-figure-9-ratios", "scalar", "paper", *(f"ours, {d}" for d in DRAWN))
def figure_9_ratios(evidence: Evidence) -> Rows:
    statements = evidence.papers["seqcdc"].statements["figure-9"]
    for name, key in (("FCDC", "over_fastcdc"), ("AE", "over_ae")):
        for target in TARGETS:
            yield [f"SEQ over {name}, {KB[target]}", times(statements[key][target]), *(times(over(evidence, name, target, d)) for d in DRAWN)]


@table("seqcdc-figure-10", "images, 16 KB", "scalar GB/s", *(f"{bits} bits" for bits in VECTORS), "gain of the widest", "paper's gain, 512 bits")
def figure_10(evidence: Evidence) -> Rows:
    statements = evidence.papers["seqcdc"].statements["figure-10"]
    paper = {"RAM": statements["vram_over_ram"], "SEQ": statements["vseq_over_seq"]}
    for name in ("CRC", "GEAR", "FCDC", "RC", "TTTD", "AE", "RAM", "SEQ"):
        native, *vectors, widest = (cut(evidence, "images", name, "16K", backend) for backend in ("scalar", *map(evidence.ours.of_bits, VECTORS), WIDEST))
        yield [name, speed(native), *map(speed, vectors), times(ratio(widest, native)), times(paper.get(name))]


@table("seqcdc-figure-11", "data", "size", *(f"{name}-{bits}" for bits in VECTORS for name in ("VRAM", "VSEQ", "VSEQ / VRAM")), words=2)
def figure_11(evidence: Evidence) -> Rows:
    for dataset in DRAWN:
        for target in TARGETS:
            cells = [dataset, KB[target]]
            for backend in map(evidence.ours.of_bits, VECTORS):
                ram, seq = (cut(evidence, dataset, name, target, backend) for name in ("RAM", "SEQ"))
                cells += [speed(ram), speed(seq), times(ratio(seq, ram))]
            yield cells


def skipping(evidence: Evidence, dataset: str, parameters: dict, backend: str | None) -> dict | None:
    return evidence.ours.run(dataset, "seqcdc-inc", "16K", parameters, hash="xxh3", backend=backend, threads=1)


def chunking(evidence: Evidence, dataset: str, parameters: dict, backend: str | None) -> float | None:
    """Bytes a second of the engine's chunking stage, in one thread, at 16 KB."""
    return value(skipping(evidence, dataset, parameters, backend), CHUNKING)


def fastcdc_in_cache(evidence: Evidence) -> float | None:
    """The same of FastCDC without vectors, which figure 10 compares with."""
    return value(evidence.ours.run("images", "fastcdc", matrix_size("fastcdc", "16K"), hash="xxh3", backend="scalar", threads=1), CHUNKING)


@table("seqcdc-figure-12", "data", "", "GB/s", "over BASE or VBASE, same SeqLength", "over it, like mean", "paper", words=2)
def figure_12(evidence: Evidence) -> Rows:
    statements = evidence.papers["seqcdc"].statements["figure-12"]
    for set_, dataset, label in BOTH:
        for bits, name in NAMES.items():
            backend = evidence.ours.of_bits(bits) if bits else "scalar"
            mine, *bases = (chunking(evidence, dataset, parameters, backend) for parameters in ({}, BASE, BASE_LIKE))
            printed = statements[PRINTED[bits]].get(set_, DASH) if bits in PRINTED else DASH
            yield [label, name, speed(mine), *(times(ratio(mine, base)) for base in bases), printed]


@table("seqcdc-figure-12-means", "mean KiB", "SEQ", "BASE, same SeqLength", "BASE, SeqLength 6")
def figure_12_means(evidence: Evidence) -> Rows:
    return [[label, *(kib(value(skipping(evidence, d, p, "scalar"), "mean_bytes")) for p in ({}, BASE, BASE_LIKE))] for _, d, label in BOTH]


def window_speed(evidence: Evidence, window: int) -> float | None:
    return value(evidence.ours.run("images", "rabin", "8K:8K:32K", {"window": window}, hash="xxh3", backend="scalar", threads=1), CHUNKING)
