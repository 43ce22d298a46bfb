"""The tables of docs/papers/seqcdc.md about throughput."""

from experiments.papers.cells import TARGETS
from experiments.papers.evidence import Evidence
from experiments.papers.markdown import DASH, kib, speed, table, times
from experiments.papers.ours import ratio, value
from experiments.papers.seqcdc import BOTH, DRAWN, KB, PLAIN, cut

VECTOR = "avx2"  # the widest that the machine of docs/papers has
BASE = {"skip_trigger": 0}
BASE_LIKE = {"seq_length": 6, "skip_trigger": 0}  # about the mean that skipping gives
CHUNKING = "report.stages.chunking.bytes_per_second"


def figure_9(evidence: Evidence) -> list[str]:
    rows = [[d, name, *(speed(cut(evidence, d, name, target, "scalar")) for target in TARGETS)] for d in DRAWN for name in PLAIN]
    return table(["data", "scalar, GB/s", *KB.values()], rows, words=2)


def order(evidence: Evidence) -> list[str]:
    """Algorithms from the fastest on; the paper's as far as its text has them."""
    said = {"scalar": evidence.papers["seqcdc"].said["figure-9"]["order"], VECTOR: evidence.papers["seqcdc"].said["figure-11"]["order"]}
    rows = []
    for dataset in DRAWN:
        for backend, paper in said.items():
            for target in TARGETS:
                speeds = {name: cut(evidence, dataset, name, target, backend) for name in PLAIN}
                ours = DASH if None in speeds.values() else " ".join(sorted(speeds, key=speeds.get, reverse=True))
                rows.append([f"{dataset}, {KB[target]}", backend, paper.get(target, DASH), ours])
    return table(["data", "back end", "paper: order, fastest first", "ours"], rows, words=4)


def over(evidence: Evidence, name: str, target: str, dataset: str, backend: str = "scalar") -> float | None:
    """SeqCDC's speed of cutting over another algorithm's."""
    return ratio(cut(evidence, dataset, "SEQ", target, backend), cut(evidence, dataset, name, target, backend))


def figure_9_ratios(evidence: Evidence) -> list[str]:
    said = evidence.papers["seqcdc"].said["figure-9"]
    rows = []
    for name, key in (("FCDC", "over_fastcdc"), ("AE", "over_ae")):
        for target in TARGETS:
            rows.append([f"SEQ over {name}, {KB[target]}", times(said[key][target]), *(times(over(evidence, name, target, d)) for d in DRAWN)])
    return table(["scalar", "paper", *(f"ours, {d}" for d in DRAWN)], rows)


def figure_10(evidence: Evidence) -> list[str]:
    said = evidence.papers["seqcdc"].said["figure-10"]
    paper = {"RAM": said["vram_over_ram"], "SEQ": said["vseq_over_seq"]}
    rows = []
    for name in ("CRC", "GEAR", "FCDC", "RC", "TTTD", "AE", "RAM", "SEQ"):
        native, vector = (cut(evidence, "images", name, "16K", backend) for backend in ("scalar", VECTOR))
        rows.append([name, speed(native), speed(vector), times(ratio(vector, native)), times(paper.get(name))])
    return table(["images, 16 KB", "scalar GB/s", "AVX2 GB/s", "gain", "paper's gain, AVX-512"], rows)


def figure_11(evidence: Evidence) -> list[str]:
    rows = []
    for dataset in DRAWN:
        for target in TARGETS:
            ram, seq = (cut(evidence, dataset, name, target, VECTOR) for name in ("RAM", "SEQ"))
            rows.append([dataset, KB[target], speed(ram), speed(seq), times(ratio(seq, ram))])
    return table(["data", "size", "VRAM GB/s", "VSEQ GB/s", "VSEQ / VRAM"], rows, words=2)


def skipping(evidence: Evidence, dataset: str, parameters: dict, backend: str) -> dict | None:
    return evidence.ours.run(dataset, "seqcdc-inc", "16K", parameters, hash="xxh3", backend=backend, threads=1)


def chunking(evidence: Evidence, dataset: str, parameters: dict, backend: str) -> float | None:
    """Bytes a second of the engine's chunking stage, in one thread, at 16 KB."""
    return value(skipping(evidence, dataset, parameters, backend), CHUNKING)


def figure_12(evidence: Evidence) -> list[str]:
    said = evidence.papers["seqcdc"].said["figure-12"]
    rows = []
    for set_, dataset, label in BOTH:
        cells = [label]
        for backend, key in (("scalar", "native"), (VECTOR, "vector")):
            mine, *bases = (chunking(evidence, dataset, parameters, backend) for parameters in ({}, BASE, BASE_LIKE))
            cells += [speed(mine), *(times(ratio(mine, base)) for base in bases), said[key].get(set_, DASH)]
        rows.append(cells)
    header = [
        "data", "SEQ GB/s", "over BASE, same SeqLength", "over BASE, like mean", "paper", "VSEQ GB/s (AVX2)", "over VBASE, same SeqLength",
        "over VBASE, like mean", "paper (AVX-512)",
    ]  # fmt: skip
    return table(header, rows)


def figure_12_means(evidence: Evidence) -> list[str]:
    rows = [[label, *(kib(value(skipping(evidence, d, p, "scalar"), "mean_bytes")) for p in ({}, BASE, BASE_LIKE))] for _, d, label in BOTH]
    return table(["mean KiB", "SEQ", "BASE, same SeqLength", "BASE, SeqLength 6"], rows)


def figure_14(evidence: Evidence) -> list[str]:
    said = evidence.papers["seqcdc"].said["figure-14"]
    rows = []
    for name in ("SEQ", "RAM"):
        for target in TARGETS:
            native, *wider = (cut(evidence, "images", name, target, backend) for backend in ("scalar", "sse4", VECTOR))
            paper = [f"{a}–{b}×" for a, b in (said["sse4"], said["avx2"])] if (name, target) == ("SEQ", "16K") else [DASH, DASH]
            gains = [cell for found, printed in zip(wider, paper, strict=True) for cell in (times(ratio(found, native)), printed)]
            rows.append([name, KB[target], *map(speed, (native, *wider)), *gains])
    return table(["images", "size", "scalar GB/s", "SSE4 GB/s", "AVX2 GB/s", "SSE4 gain", "paper", "AVX2 gain", "paper"], rows, words=2)


def window_speed(evidence: Evidence, window: int) -> float | None:
    return value(evidence.ours.run("images", "rabin", "8K:8K:32K", {"window": window}, hash="xxh3", backend="scalar", threads=1), CHUNKING)


def appendix_b(evidence: Evidence) -> list[str]:
    return table(["window of Rabin, bytes", "scalar, one thread, GB/s"], [[str(w), speed(window_speed(evidence, w))] for w in (48, 6)])


TABLES = {
    "seqcdc-figure-9": figure_9,
    "order-of-speed": order,
    "seqcdc-figure-9-ratios": figure_9_ratios,
    "seqcdc-figure-10": figure_10,
    "seqcdc-figure-11": figure_11,
    "seqcdc-figure-12": figure_12,
    "seqcdc-figure-12-means": figure_12_means,
    "seqcdc-figure-14": figure_14,
    "seqcdc-appendix-b": appendix_b,
}
