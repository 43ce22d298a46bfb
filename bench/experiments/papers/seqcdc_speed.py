"""The tables of docs/papers/seqcdc.md about throughput."""

from experiments.papers.cells import TARGETS
from experiments.papers.evidence import Evidence, ratio, value
from experiments.papers.seqcdc import BOTH, DRAWN, KB, PLAIN, cut
from experiments.papers.tables import DASH, Rows, kib, speed, table, times

VECTOR = "avx2"  # the widest that the machine of docs/papers has
BASE = {"skip_trigger": 0}
BASE_LIKE = {"seq_length": 6, "skip_trigger": 0}  # about the mean that skipping gives
CHUNKING = "report.stages.chunking.bytes_per_second"


@table("seqcdc-figure-9", "data", "scalar, GB/s", *KB.values(), words=2)
def figure_9(evidence: Evidence) -> Rows:
    return [[d, name, *(speed(cut(evidence, d, name, target, "scalar")) for target in TARGETS)] for d in DRAWN for name in PLAIN]


@table("order-of-speed", "data", "back end", "paper: order, fastest first", "ours", words=4)
def order(evidence: Evidence) -> Rows:
    """Algorithms from the fastest on; the paper's as far as its text has them."""
    statements = {"scalar": evidence.papers["seqcdc"].statements["figure-9"]["order"], VECTOR: evidence.papers["seqcdc"].statements["figure-11"]["order"]}
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


@table("seqcdc-figure-10", "images, 16 KB", "scalar GB/s", "AVX2 GB/s", "gain", "paper's gain, AVX-512")
def figure_10(evidence: Evidence) -> Rows:
    statements = evidence.papers["seqcdc"].statements["figure-10"]
    paper = {"RAM": statements["vram_over_ram"], "SEQ": statements["vseq_over_seq"]}
    for name in ("CRC", "GEAR", "FCDC", "RC", "TTTD", "AE", "RAM", "SEQ"):
        native, vector = (cut(evidence, "images", name, "16K", backend) for backend in ("scalar", VECTOR))
        yield [name, speed(native), speed(vector), times(ratio(vector, native)), times(paper.get(name))]


@table("seqcdc-figure-11", "data", "size", "VRAM GB/s", "VSEQ GB/s", "VSEQ / VRAM", words=2)
def figure_11(evidence: Evidence) -> Rows:
    for dataset in DRAWN:
        for target in TARGETS:
            ram, seq = (cut(evidence, dataset, name, target, VECTOR) for name in ("RAM", "SEQ"))
            yield [dataset, KB[target], speed(ram), speed(seq), times(ratio(seq, ram))]


def skipping(evidence: Evidence, dataset: str, parameters: dict, backend: str) -> dict | None:
    return evidence.ours.run(dataset, "seqcdc-inc", "16K", parameters, hash="xxh3", backend=backend, threads=1)


def chunking(evidence: Evidence, dataset: str, parameters: dict, backend: str) -> float | None:
    """Bytes a second of the engine's chunking stage, in one thread, at 16 KB."""
    return value(skipping(evidence, dataset, parameters, backend), CHUNKING)


@table(
    "seqcdc-figure-12", "data", "SEQ GB/s", "over BASE, same SeqLength", "over BASE, like mean", "paper", "VSEQ GB/s (AVX2)",
    "over VBASE, same SeqLength", "over VBASE, like mean", "paper (AVX-512)",
)  # fmt: skip
def figure_12(evidence: Evidence) -> Rows:
    statements = evidence.papers["seqcdc"].statements["figure-12"]
    for set_, dataset, label in BOTH:
        cells = [label]
        for backend, key in (("scalar", "native"), (VECTOR, "vector")):
            mine, *bases = (chunking(evidence, dataset, parameters, backend) for parameters in ({}, BASE, BASE_LIKE))
            cells += [speed(mine), *(times(ratio(mine, base)) for base in bases), statements[key].get(set_, DASH)]
        yield cells


@table("seqcdc-figure-12-means", "mean KiB", "SEQ", "BASE, same SeqLength", "BASE, SeqLength 6")
def figure_12_means(evidence: Evidence) -> Rows:
    return [[label, *(kib(value(skipping(evidence, d, p, "scalar"), "mean_bytes")) for p in ({}, BASE, BASE_LIKE))] for _, d, label in BOTH]


@table("seqcdc-figure-14", "images", "size", "scalar GB/s", "SSE4 GB/s", "AVX2 GB/s", "SSE4 gain", "paper", "AVX2 gain", "paper", words=2)
def figure_14(evidence: Evidence) -> Rows:
    statements = evidence.papers["seqcdc"].statements["figure-14"]
    for name in ("SEQ", "RAM"):
        for target in TARGETS:
            native, *wider = (cut(evidence, "images", name, target, backend) for backend in ("scalar", "sse4", VECTOR))
            paper = [f"{a}–{b}×" for a, b in (statements["sse4"], statements["avx2"])] if (name, target) == ("SEQ", "16K") else [DASH, DASH]
            gains = [cell for rate, printed in zip(wider, paper, strict=True) for cell in (times(ratio(rate, native)), printed)]
            yield [name, KB[target], *map(speed, (native, *wider)), *gains]


def window_speed(evidence: Evidence, window: int) -> float | None:
    return value(evidence.ours.run("images", "rabin", "8K:8K:32K", {"window": window}, hash="xxh3", backend="scalar", threads=1), CHUNKING)


@table("seqcdc-appendix-b", "window of Rabin, bytes", "scalar, one thread, GB/s")
def appendix_b(evidence: Evidence) -> Rows:
    return [[str(w), speed(window_speed(evidence, w))] for w in (48, 6)]
