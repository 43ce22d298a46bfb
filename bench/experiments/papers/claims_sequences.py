"""SeqCDC's claims."""

from experiments.papers import seqcdc
from experiments.papers.evidence import Evidence
from experiments.papers.cells import SEQCDC, TARGETS
from experiments.papers.claim import Claim, Finding, at_least, at_most, by_cases
from experiments.papers.lengths import spread
from experiments.papers.markdown import plain, times
from experiments.papers.ours import ratio, value
from experiments.papers.seqcdc import DRAWN, KB, PLAIN, cell, cut
from experiments.papers.seqcdc_speed import BASE, BASE_LIKE, VECTOR, chunking, over
from experiments.papers.summary import agreement

CUTTERS = [name for name in PLAIN if name != "SEQ"]


def _points(share: float) -> str:
    return f"{plain(100 * share, 1)} points"


def _behind(evidence: Evidence) -> Finding:
    return at_most([(f"{d} {KB[t]}", seqcdc.behind(evidence, d, t)) for d in SEQCDC.values() for t in TARGETS], 0.06, _points)


def _tuned(evidence: Evidence) -> Finding:
    """As the paper has it: the parameters of table II, found for each data set, at 16 KB."""
    cases = []
    for dataset in SEQCDC.values():
        best = [value(cell(evidence, dataset, name, "16K"), "savings") for name in CUTTERS]
        mine = value(seqcdc.found(evidence, dataset), "whole.savings_share")
        cases.append((dataset, None if None in (mine, *best) else max(max(best) - mine, 0)))
    return at_most(cases, 0.06, _points)


def _content(evidence: Evidence) -> Finding:
    cases = []
    for dataset in SEQCDC.values():
        fixed = value(evidence.matrix(dataset, "fixed", "16K"), "savings")
        found = [value(cell(evidence, dataset, name, "16K"), "savings") for name in PLAIN]
        cases.append((dataset, None if None in (fixed, *found) else min(found) - fixed))
    return by_cases([(name, v, v is not None and v > 0) for name, v in cases], _points)


def _falls(evidence: Evidence) -> Finding:
    return at_most([(d, seqcdc.fall(evidence, d)) for d in ("nightly", "containers", "redis", "database")], 0.06, _points)


def _source(evidence: Evidence) -> Finding:
    """Sources lose more than any other data set by larger chunks."""
    falls = {dataset: seqcdc.fall(evidence, dataset) for dataset in SEQCDC.values()}
    others = [v for name, v in falls.items() if name != "linux" and v is not None]
    mine = falls["linux"]
    return by_cases([("linux", mine, mine is not None and mine > max(others, default=0))], _points)


def _order(evidence: Evidence) -> Finding:
    """Evidence 16 KB, where the paper prints all six."""
    return at_least([(f"case {i}", tau) for i, tau in enumerate(agreement(evidence, "16K"), 1)], 0.5, lambda tau: f"τ {tau:.2f}")


def _scale(evidence: Evidence) -> Finding:
    cases = [(name, ratio(cut(evidence, "random", name, "16K", "scalar"), cut(evidence, "random", name, "4K", "scalar"))) for name in CUTTERS]
    return at_most(cases, 1.1, times)


def _model(evidence: Evidence) -> Finding:
    cases = []
    for steps in (4, 5, 6):
        row = evidence.ours.run("random", "seqcdc-inc", f"{steps + 1}:8K:64M", {"seq_length": steps, "skip_trigger": 0}, hash="xxh3")
        mean = value(row, "mean_bytes")
        cases.append((f"{steps} steps", mean and abs(mean * seqcdc.rate(steps + 1) - 1)))
    return at_most(cases, 0.03, lambda share: f"{100 * share:.2g} % off")


def _length(evidence: Evidence) -> Finding:
    printed = evidence.papers["seqcdc"].tables["table-II"]
    cases = []
    for set_, dataset in SEQCDC.items():
        ours = value(seqcdc.found(evidence, dataset), "parameters.seq_length")
        cases.append((dataset, ours, ours == printed.at(set_, "SeqLength")))
    return by_cases(cases, lambda steps: f"{steps:.0f}")


def _native(name: str, bounds: dict[str, float]):
    def judge(evidence: Evidence) -> Finding:
        cases = [(f"{d} {KB[t]}", over(evidence, name, t, d), bounds[t]) for d in DRAWN for t in TARGETS]
        return by_cases([(case, v, v is not None and v >= 0.9 * bound) for case, v, bound in cases], times)

    return judge


def _fastest(evidence: Evidence) -> Finding:
    """SeqCDC over the fastest other, both scalar, at 8 and 16 KB."""
    cases = []
    for dataset in DRAWN:
        for target in ("8K", "16K"):
            found = [cut(evidence, dataset, name, target, "scalar") for name in CUTTERS]
            cases.append(
                (f"{dataset} {KB[target]}", None if None in found else ratio(cut(evidence, dataset, "SEQ", target, "scalar"), max(found)))
            )
    return at_least(cases, 1, times)


def _gain(name: str, backend: str, least: float):
    def judge(evidence: Evidence) -> Finding:
        gain = ratio(cut(evidence, "images", name, "16K", backend), cut(evidence, "images", name, "16K", "scalar"))
        return at_least([("images", gain)], least, times)

    return judge


def _ram_gains(evidence: Evidence) -> Finding:
    """RAM's gain by vectors over SeqCDC's."""
    gains = [ratio(cut(evidence, "images", name, "16K", VECTOR), cut(evidence, "images", name, "16K", "scalar")) for name in ("RAM", "SEQ")]
    return at_least([("images", ratio(*gains))], 1, times)


def _vector_over_native(evidence: Evidence) -> Finding:
    gain = ratio(cut(evidence, "images", "SEQ", "16K", VECTOR), cut(evidence, "images", "FCDC", "16K", "scalar"))
    return at_least([("images", gain)], 10, times)


def _small(evidence: Evidence) -> Finding:
    return at_most([(d, over(evidence, "RAM", "4K", d, VECTOR)) for d in DRAWN], 1, times)


def _large(evidence: Evidence) -> Finding:
    return at_least([(d, over(evidence, "RAM", "16K", d, VECTOR)) for d in DRAWN], 1.2, times)


def _skips(backend: str, base: dict):
    def judge(evidence: Evidence) -> Finding:
        cases = [(d, ratio(chunking(evidence, d, {}, backend), chunking(evidence, d, base, backend))) for d in SEQCDC.values()]
        return at_least(cases, 1.05, times)

    return judge


def _tight(evidence: Evidence) -> Finding:
    """AE and RAM have the least spread of all."""
    cases = []
    for dataset in DRAWN:
        hashed = [spread(cell(evidence, dataset, name, "16K")) for name in ("RC", "TTTD", "CRC", "GEAR", "FCDC", "SEQ")]
        for name in ("AE", "RAM"):
            mine = spread(cell(evidence, dataset, name, "16K"))
            cases.append((f"{name} on {dataset}", mine, None not in (mine, *hashed) and mine < min(hashed)))
    return by_cases(cases, lambda v: f"spread {v:.2f}")


def _window(evidence: Evidence) -> Finding:
    wide, narrow = (
        value(
            evidence.ours.run("images", "rabin", "8K:8K:32K", {"window": w}, hash="xxh3", backend="scalar", threads=1),
            "report.stages.chunking.bytes_per_second",
        )
        for w in (48, 6)
    )
    return at_most([("images", ratio(narrow, wide))], 1.05, times)


CLAIMS = [
    Claim(
        "SeqCDC",
        "figure 7",
        "SeqCDC's savings are within 6 points of the best on all data sets and sizes (by default parameters)",
        "at most 5.3 points",
        _behind,
    ),
    Claim("SeqCDC", "figure 7", "the same at 16 KB with parameters that are searched for each data set", "at most 2.6 points", _tuned),
    Claim("SeqCDC", "figure 7", "content-defined chunks save more than fixed ones, 16 KB (least difference)", "on all data sets", _content),
    Claim("SeqCDC", "appendix C", "the order of algorithms by savings, 16 KB (rule: Kendall's τ of 0.5)", "its own order", _order),
    Claim(
        "SeqCDC",
        "figure 8",
        "from 4 to 16 KB the savings of builds, containers, Redis and databases fall little",
        "0.5 to 6 points",
        _falls,
    ),
    Claim("SeqCDC", "figure 8", "those of the kernel's sources fall most", "29.9 points", _source),
    Claim("SeqCDC", "figure 2", "the others are not faster with larger chunks (16 KB over 4 KB, rule: 10 %)", "“do not scale”", _scale),
    Claim("SeqCDC", "figure 6", "1/λ is the mean chunk of random data", "within 3 %", _model),
    Claim("SeqCDC", "table II", "the SeqLength that the search finds for 16 KB is the paper's", "5, of LNX and RDS 6", _length),
    Claim(
        "SeqCDC",
        "figure 9",
        "scalar SeqCDC is faster than FastCDC by (rule: 0.9 of the paper's)",
        "1.16, 1.3, 2.15×",
        _native("FCDC", {"4K": 1.16, "8K": 1.3, "16K": 2.15}),
    ),
    Claim(
        "SeqCDC",
        "figure 9",
        "scalar SeqCDC is faster than AE by (rule: 0.9 of the paper's)",
        "1.5, 2.8, 4.6×",
        _native("AE", {"4K": 1.5, "8K": 2.8, "16K": 4.6}),
    ),
    Claim("SeqCDC", "figure 9", "scalar SeqCDC is the fastest of all at 8 and 16 KB (over the next)", "1.3 to 2.15×", _fastest),
    Claim("SeqCDC", "figure 10", "vectors make SeqCDC 10 times as fast as FastCDC without, 16 KB", "10× (AVX-512)", _vector_over_native),
    Claim("SeqCDC", "figure 14", "SSE over scalar SeqCDC, 16 KB", "1.57 to 2.19×", _gain("SEQ", "sse4", 1.57)),
    Claim("SeqCDC", "figure 14", "AVX2 over scalar SeqCDC, 16 KB", "2.52 to 3.34×", _gain("SEQ", "avx2", 2.52)),
    Claim("SeqCDC", "figure 10", "RAM gains more by vectors than SeqCDC (its gain over SeqCDC's)", "16 over 3.05: 5.2×", _ram_gains),
    Claim("SeqCDC", "figure 11", "at 4 KB VRAM is faster (VSEQ over VRAM below 1)", "below 1", _small),
    Claim("SeqCDC", "figure 11", "at 16 KB VSEQ is faster than VRAM", "1.23 to 1.35×", _large),
    Claim("SeqCDC", "figure 12", "skipping pays without vectors, at like means (rule: 5 %)", "1.39, 1.8×", _skips("scalar", BASE_LIKE)),
    Claim("SeqCDC", "figure 12", "and with them, at like means", "1.05 to 3.03× (AVX-512)", _skips(VECTOR, BASE_LIKE)),
    Claim("SeqCDC", "figure 12", "and with them, at the same SeqLength", "1.05 to 3.03× (AVX-512)", _skips(VECTOR, BASE)),
    Claim("SeqCDC", "figure 13", "AE's and RAM's lengths lie closest together, 16 KB", "“tighter”", _tight),
    Claim("SeqCDC", "appendix B", "a window of 6 bytes does not make Rabin faster than one of 48 (rule: 5 %)", "no gain", _window),
]
