"""P-Dedupe's claims."""

import math

from experiments.papers import p_dedupe
from experiments.papers.evidence import Evidence
from experiments.papers.cells import REAL
from experiments.papers.claim import Claim, Finding, at_least, at_most, by_cases
from experiments.papers.lengths import share_beyond
from experiments.papers.markdown import plain, times
from experiments.papers.ours import less, ratio, value

POINTS = 100


def _points(number: float) -> str:
    return f"{plain(number, 3)} points"


def _percent(number: float) -> str:
    return f"{number:.3g} %"


def _missed(evidence: Evidence) -> Finding:
    return at_most([(d, p_dedupe.lost(evidence, d)) for d in REAL], 0.05, _points)


def _dirty(evidence: Evidence) -> Finding:
    cases = []
    for dataset in ("random", *REAL):
        row = p_dedupe.joined(evidence, dataset, "pdedupe", "1M")
        share = ratio(value(row, "dirty_chunks"), value(row, "chunk_count"))
        cases.append((dataset, None if share is None else 100 * share))
    return at_most(cases, 0.1, _percent)


def _regained(evidence: Evidence) -> Finding:
    """Nearly the baseline's ratio: most of what is lost without a join comes back."""
    return at_least([(d, p_dedupe.regained(evidence, d)) for d in REAL], 0.85, lambda share: f"{100 * share:.0f} %")


def _joining(evidence: Evidence) -> Finding:
    """Processor time to cut and join, P-Dedupe's join over none, within a twentieth."""
    cases = []
    for dataset in p_dedupe.STUDIED:
        for segment in ("256K", "1M", "4M"):
            none, pdedupe = (p_dedupe.cut_seconds(p_dedupe.joined(evidence, dataset, join, segment)) for join in ("none", "pdedupe"))
            cases.append((f"{dataset} {segment}", ratio(pdedupe, none)))
    return at_most(cases, 1.05, times)


def _segments(evidence: Evidence) -> Finding:
    cases = []
    for dataset in p_dedupe.STUDIED:
        small, large = (
            value(evidence.ours.run(dataset, "rabin", p_dedupe.SIZE, threads=2, segment=s), "bytes_per_second") for s in ("256K", "4M")
        )
        cases.append((dataset, ratio(large, small)))
    return at_least(cases, 1.05, times)


def _exponential(evidence: Evidence) -> Finding:
    row = evidence.ours.run("random", "rabin", "48:8K:64M", hash="xxh3")
    cases = []
    for length in (2048, 8192, 16384):
        share = share_beyond(row, length)
        expected = math.exp(-length / 8192)
        cases.append((f"{length // 1024} KiB", None if share is None else 100 * abs(share / expected - 1)))
    return at_most(cases, 3, lambda off: f"{off:.2g} % off")


def _math(evidence: Evidence) -> Finding:
    """The share that is missed is the one that equation 8 expects, within a factor of two."""
    cases = []
    for dataset in ("linux", "redis"):
        lost = p_dedupe.missed(p_dedupe.joined(evidence, dataset, "pdedupe", "1M"))
        factor = ratio(lost, p_dedupe.DIRTY_KIB / 1024)
        cases.append((dataset, factor, factor is not None and 0.5 <= factor <= 2))
    return by_cases(cases, times)


def _speedup(evidence: Evidence) -> Finding:
    cases = [(size, ratio(*reversed(p_dedupe.timed(evidence, "linux", size=size)))) for size in p_dedupe.SIZES]
    return at_least(cases, 1.6, times)


def _faster(evidence: Evidence) -> Finding:
    return at_least([(d, ratio(*reversed(p_dedupe.timed(evidence, d)))) for d in p_dedupe.TIMED], 1.6, times)


def _others(evidence: Evidence) -> Finding:
    cases = []
    for algorithm in ("adler", "gear"):
        for dataset in REAL:
            row = p_dedupe.joined(evidence, dataset, "pdedupe", "4M", algorithm)
            rabin = p_dedupe.joined(evidence, dataset, "pdedupe", "4M")
            difference = less(value(row, p_dedupe.EXACT), value(rabin, p_dedupe.EXACT))
            cases.append((f"{algorithm} on {dataset}", None if difference is None else POINTS * abs(difference)))
    return at_most(cases, 3, _points)


CLAIMS = [
    Claim("P-Dedupe", "table 3", "with 4 MB segments its join misses at most 0.05 points of the savings", "0.005 to 0.048 points", _missed),
    Claim("P-Dedupe", "section 3.3", "less than 0.1 % of the chunks are dirty with segments of 1 MB", "< 0.1 %", _dirty),
    Claim("P-Dedupe", "figure 8", "without limits the lengths of Rabin's chunks are exponential", "“identical”", _exponential),
    Claim("P-Dedupe", "figure 9", "its join restores nearly all that no join loses (rule: 85 %)", "87 to 98 % (table 3)", _regained),
    Claim("P-Dedupe", "figure 10", "joining costs nearly nothing (rule: 5 % of the time to cut)", "“nearly the same”", _joining),
    Claim("P-Dedupe", "figure 10", "larger segments are faster (rule: 4 MB over 256 KB by 5 %)", "“in proportion”", _segments),
    Claim(
        "P-Dedupe",
        "figure 11",
        "what is missed is what equation 8 expects, on Linux and Redis (over it; rule: a factor of 2)",
        "“nearly identical”",
        _math,
    ),
    Claim("P-Dedupe", "figure 13", "the gain is the same at every chunk size (rule: 1.6 on two cores)", "3 to 4× on 4 cores", _speedup),
    Claim("P-Dedupe", "figure 14", "near-linear with the cores (rule: 1.6 on two)", "about 4× on 4 cores", _faster),
    Claim("P-Dedupe", "tables 5, 6", "Adler and Gear save about what Rabin saves (rule: 3 points)", "0 to 2.7 points", _others),
]
