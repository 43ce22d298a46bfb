"""SeqCDC's claims."""

from functools import partial

from experiments.papers import seqcdc
from experiments.papers.claim import DIRECTION, LEAST_GAIN, MOST_GAIN, SIZE, Rule, above, add_claim, at_most, below, by_cases, gain, off, points
from experiments.papers.evidence import WIDEST, ratio, value
from experiments.papers.lengths import spread
from experiments.papers.paper import SEQCDC as SETS, TARGETS
from experiments.papers.seqcdc import DRAWN, KB, PLAIN, cell, cut
from experiments.papers.seqcdc_speed import BASE, BASE_LIKE, chunking, fastcdc_in_cache, over, window_speed
from experiments.papers.summary import agreement
from experiments.papers.tables import times

OTHERS = [name for name in PLAIN if name != "SEQ"]
CASES = [(f"{d} {KB[t]}", d, t) for d in DRAWN for t in TARGETS]
ORDER = Rule(lambda tau: f"τ {tau:.2f}", {DIRECTION: lambda tau: tau > 0, SIZE: lambda tau: tau >= 0.5})
claim = partial(add_claim, "SeqCDC")


def _savings(evidence, dataset: str, names) -> list[float | None]:
    return [value(cell(evidence, dataset, name, "16K"), "savings") for name in names]


def _gain(evidence, name: str, backend: str | None = WIDEST) -> float | None:
    """How many times as fast as its scalar reference a back end cuts, at 16 KB."""
    return ratio(*(cut(evidence, "images", name, "16K", place) for place in (backend, "scalar")))


claim(
    "figure 7", "SeqCDC's savings are within 6 points of the best on all data sets and sizes (by default parameters)", "at most 5.3 points", at_most(0.06, points(1))
)(lambda evidence: [(f"{d} {KB[t]}", seqcdc.behind(evidence, d, t)) for d in SETS.values() for t in TARGETS])


@claim(
    "figure 7", "the same at 16 KB with parameters that are searched for each data set", "at most 2.6 points", at_most(0.06, points(1))
)
def _tuned(evidence):
    for dataset in SETS.values():
        best, mine = _savings(evidence, dataset, OTHERS), value(seqcdc.recommendation(evidence, dataset), "whole.savings_share")
        yield dataset, None if None in (mine, *best) else max(max(best) - mine, 0)


@claim(
    "figure 7", "content-defined chunks save more than fixed ones, 16 KB (least difference)", "on all data sets", above(0, points(1))
)
def _content(evidence):
    for dataset in SETS.values():
        fixed, others = value(evidence.matrix(dataset, "fixed", "16K"), "savings"), _savings(evidence, dataset, PLAIN)
        yield dataset, None if None in (fixed, *others) else min(others) - fixed


# At 16 KB the paper has the numbers of all six data sets.
claim(
    "appendix C", "the order of algorithms by savings, 16 KB (rules: Kendall's τ of 0 and of 0.5)", "its own order", ORDER
)(lambda evidence: [(f"case {i}", tau) for i, tau in enumerate(agreement(evidence, "16K"), 1)])
claim(
    "figure 8", "from 4 to 16 KB the savings of builds, containers, Redis and databases fall little", "0.5 to 6 points", at_most(0.06, points(1))
)(lambda evidence: [(d, seqcdc.fall(evidence, d)) for d in ("nightly", "containers", "redis", "database")])


@claim("figure 8", "those of the kernel's sources fall most", "29.9 points", by_cases(points(1), DIRECTION, SIZE))
def _source(evidence):
    falls = {dataset: seqcdc.fall(evidence, dataset) for dataset in SETS.values()}
    others = [v for name, v in falls.items() if name != "linux" and v is not None]
    mine = falls["linux"]
    return [("linux", mine, mine is not None and mine > max(others, default=0), mine is not None and LEAST_GAIN <= mine / 0.299 <= MOST_GAIN)]


claim("figure 2", "the others are not faster with larger chunks (16 KB over 4 KB, scalar, from memory; rule: 10 %)", "“do not scale”", at_most(1.1, times))(
    lambda evidence: [(name, ratio(*(cut(evidence, "random", name, target, "scalar") for target in ("16K", "4K")))) for name in OTHERS]
)


@claim("figure 6", "1/λ is the mean chunk of random data", "within 3 %", at_most(0.03, off))
def _model(evidence):
    for steps in (4, 5, 6):
        mean = value(seqcdc.unlimited(evidence, steps), "mean_bytes")
        yield f"{steps} steps", mean and abs(mean * seqcdc.rate(steps + 1) - 1)


@claim("table II", "the SeqLength that the search finds for 16 KB is the paper's", "5, of LNX and RDS 6", by_cases(lambda steps: f"{steps:.0f}", SIZE))
def _length(evidence):
    printed = evidence.papers["seqcdc"].tables["table-II"]
    for set_, dataset in SETS.items():
        ours = value(seqcdc.recommendation(evidence, dataset), "parameters.seq_length")
        yield dataset, ours, ours == printed.at(set_, "SeqLength")


def _faster(name: str, paper: dict[str, float]):
    """Each chunk size has a number of the paper's."""

    def cases(evidence):
        for case, dataset, target in CASES:
            faster = over(evidence, name, target, dataset)
            yield case, faster, *(faster is not None and supports(faster) for supports in gain(times, paper[target]).supports.values())

    return cases


claim("figure 9", "SeqCDC is faster than FastCDC by (scalar, from memory)", "1.16, 1.3, 2.15×", by_cases(times, DIRECTION, SIZE))(
    _faster("FCDC", {"4K": 1.16, "8K": 1.3, "16K": 2.15})
)
claim("figure 9", "SeqCDC is faster than AE by (scalar, from memory)", "1.5, 2.8, 4.6×", by_cases(times, DIRECTION, SIZE))(
    _faster("AE", {"4K": 1.5, "8K": 2.8, "16K": 4.6})
)


def _grows(target: str, backend: str):
    """SeqCDC's own speed at 16 KB over that at a smaller size."""
    return lambda evidence: [(d, ratio(*(cut(evidence, d, "SEQ", size, backend) for size in ("16K", target)))) for d in DRAWN]


for _target, _least, _most in (("8K", 8.8 / 5.4, 10 / 5.3), ("4K", 8.8 / 2.9, 10 / 2.9)):
    _text = f"SeqCDC's own speed grows with the chunk: 16 KB over {KB[_target]}"
    claim("figure 9", f"{_text} (scalar, from memory)", f"{_least:.2f} to {_most:.2f}×", gain(times, _least, _most))(_grows(_target, "scalar"))
    claim("figure 11", f"{_text} (vectors, from memory)", "“can accomplish this”", above(1, times))(_grows(_target, WIDEST))


@claim("figure 9", "SeqCDC is the fastest of all at 8 and 16 KB (scalar, from memory; over the next)", "1.3 to 2.15×", gain(times, 1.3, 2.15))
def _fastest(evidence):
    for case, dataset, target in CASES:
        if target != "4K":
            others = [cut(evidence, dataset, name, target, "scalar") for name in OTHERS]
            yield case, None if None in others else ratio(cut(evidence, dataset, "SEQ", target, "scalar"), max(others))


claim("figure 10", "vectors make SeqCDC 10 times as fast as FastCDC without, 16 KB (from memory)", "10× (AVX-512)", gain(times, 10))(
    lambda evidence: [("images", ratio(cut(evidence, "images", "SEQ", "16K", WIDEST), cut(evidence, "images", "FCDC", "16K", "scalar")))]
)
claim("figure 10", "the same in the cache", "10× (AVX-512)", gain(times, 10))(
    lambda evidence: [("images", ratio(chunking(evidence, "images", {}, WIDEST), fastcdc_in_cache(evidence)))]
)
for _bits, *_paper in ((128, 1.57, 2.19), (256, 2.52, 3.34), (512, 3.05, 5.8)):
    _text, _theirs = f"vectors of {_bits} bits over scalar SeqCDC, 16 KB", f"{_paper[0]} to {_paper[1]}×"
    claim("figure 14", f"{_text} (from memory)", _theirs, gain(times, *_paper))(
        lambda evidence, bits=_bits: [("images", _gain(evidence, "SEQ", evidence.ours.of_bits(bits)))]
    )
    claim("figure 14", f"{_text} (in the cache)", _theirs, gain(times, *_paper))(
        lambda evidence, bits=_bits: [("images", ratio(*(chunking(evidence, "images", {}, place) for place in (evidence.ours.of_bits(bits), "scalar"))))]
    )
claim("figure 10", "RAM gains more by vectors than SeqCDC (its gain over SeqCDC's; from memory)", "16 over 3.05: 5.2×", gain(times, 16 / 3.05))(
    lambda evidence: [("images", ratio(_gain(evidence, "RAM"), _gain(evidence, "SEQ")))]
)
claim("figure 11", "at 4 KB VRAM is faster (VSEQ over VRAM below 1; from memory)", "below 1", below(1, times))(
    lambda evidence: [(d, over(evidence, "RAM", "4K", d, WIDEST)) for d in DRAWN]
)
claim("figure 11", "at 16 KB VSEQ is faster than VRAM (from memory)", "1.23 to 1.35×", gain(times, 1.23, 1.35))(
    lambda evidence: [(d, over(evidence, "RAM", "16K", d, WIDEST)) for d in DRAWN]
)


def _skips(backend: str, base: dict):
    return lambda evidence: [(d, ratio(*(chunking(evidence, d, parameters, backend) for parameters in ({}, base)))) for d in SETS.values()]


claim("figure 12", "skipping pays without vectors, at like means (in the cache)", "1.39, 1.8×", gain(times, 1.39, 1.8))(_skips("scalar", BASE_LIKE))
claim("figure 12", "and with them, at like means (in the cache)", "1.05 to 3.03× (AVX-512)", gain(times, 1.05, 3.03))(_skips(WIDEST, BASE_LIKE))
claim("figure 12", "and with them, at the same SeqLength (in the cache)", "1.05 to 3.03× (AVX-512)", gain(times, 1.05, 3.03))(_skips(WIDEST, BASE))


@claim("figure 13", "AE's and RAM's lengths lie closest together, 16 KB", "“tighter”", by_cases(lambda v: f"spread {v:.2f}", DIRECTION))
def _tight(evidence):
    for dataset in DRAWN:
        spreads = {name: spread(cell(evidence, dataset, name, "16K")) for name in PLAIN}
        others = [v for name, v in spreads.items() if name not in ("AE", "RAM")]
        for name in ("AE", "RAM"):
            yield f"{name} on {dataset}", spreads[name], None not in (spreads[name], *others) and spreads[name] < min(others)


claim("appendix B", "a window of 6 bytes does not make Rabin faster than one of 48 (rule: 5 %)", "no gain", at_most(1.05, times))(
    lambda evidence: [("images", ratio(window_speed(evidence, 6), window_speed(evidence, 48)))]
)
