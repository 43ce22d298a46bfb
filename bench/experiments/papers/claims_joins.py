"""P-Dedupe's claims."""

import math

from experiments.papers import p_dedupe
from experiments.papers.cells import REAL
from experiments.papers.claim import Claims, at_least, at_most, each, off, percent, points
from experiments.papers.lengths import share_beyond
from experiments.papers.markdown import times
from experiments.papers.ours import less, ratio, value
from experiments.papers.p_dedupe import STUDIED, joined, timed

P_DEDUPE = Claims("P-Dedupe")


@P_DEDUPE.add("table 3", "with 4 MB segments its join misses at most 0.05 points of the savings", "0.005 to 0.048 points", at_most(0.0005, points(3)))
def _missed(evidence):
    return [(d, p_dedupe.missed(joined(evidence, d, "pdedupe", "4M"))) for d in REAL]


@P_DEDUPE.add("section 3.3", "less than 0.1 % of the chunks are dirty with segments of 1 MB", "< 0.1 %", at_most(0.001, percent))
def _dirty(evidence):
    return [(d, p_dedupe.dirty_share(joined(evidence, d, "pdedupe", "1M"))) for d in ("random", *REAL)]


@P_DEDUPE.add("figure 8", "without limits the lengths of Rabin's chunks are exponential", "“identical”", at_most(0.03, off))
def _exponential(evidence):
    row = evidence.ours.run("random", "rabin", "48:8K:64M", hash="xxh3")
    for length in (2048, 8192, 16384):
        share = share_beyond(row, length)
        yield f"{length // 1024} KiB", None if share is None else abs(share / math.exp(-length / 8192) - 1)


@P_DEDUPE.add(
    "figure 9", "its join restores nearly all that no join loses (rule: 85 %)", "87 to 98 % (table 3)", at_least(0.85, lambda share: f"{100 * share:.0f} %")
)
def _regained(evidence):
    for dataset in REAL:
        none, pdedupe = (p_dedupe.missed(joined(evidence, dataset, join, "4M")) for join in ("none", "pdedupe"))
        yield dataset, ratio(less(none, pdedupe), none)


@P_DEDUPE.add("figure 10", "joining costs nearly nothing (rule: 5 % of the time to cut)", "“nearly the same”", at_most(1.05, times))
def _joining(evidence):
    for dataset in STUDIED:
        for segment in ("256K", "1M", "4M"):
            none, pdedupe = (p_dedupe.cut_seconds(joined(evidence, dataset, join, segment)) for join in ("none", "pdedupe"))
            yield f"{dataset} {segment}", ratio(pdedupe, none)


@P_DEDUPE.add("figure 10", "larger segments are faster (rule: 4 MB over 256 KB by 5 %)", "“in proportion”", at_least(1.05, times))
def _segments(evidence):
    for dataset in STUDIED:
        runs = (evidence.ours.run(dataset, "rabin", p_dedupe.SIZE, threads=2, segment=segment) for segment in ("4M", "256K"))
        yield dataset, ratio(*(value(row, "bytes_per_second") for row in runs))


@P_DEDUPE.add(
    "figure 11", "what is missed is what equation 8 expects, on Linux and Redis (over it; rule: a factor of 2)", "“nearly identical”",
    each(lambda factor: 0.5 <= factor <= 2, times),
)  # fmt: skip
def _math(evidence):
    return [(d, ratio(p_dedupe.missed(joined(evidence, d, "pdedupe", "1M")), p_dedupe.DIRTY_KIB / 1024)) for d in ("linux", "redis")]


@P_DEDUPE.add("figure 13", "the gain is the same at every chunk size (rule: 1.6 on two cores)", "3 to 4× on 4 cores", at_least(1.6, times))
def _speedup(evidence):
    return [(size, ratio(*reversed(timed(evidence, "linux", size=size)))) for size in p_dedupe.SIZES]


@P_DEDUPE.add("figure 14", "near-linear with the cores (rule: 1.6 on two)", "about 4× on 4 cores", at_least(1.6, times))
def _faster(evidence):
    return [(d, ratio(*reversed(timed(evidence, d)))) for d in p_dedupe.TIMED]


@P_DEDUPE.add("tables 5, 6", "Adler and Gear save about what Rabin saves (rule: 3 points)", "0 to 2.7 points", at_most(0.03, points(3)))
def _others(evidence):
    for algorithm in ("adler", "gear"):
        for dataset in REAL:
            rows = (joined(evidence, dataset, "pdedupe", "4M", name) for name in (algorithm, "rabin"))
            difference = less(*(value(row, p_dedupe.EXACT) for row in rows))
            yield f"{algorithm} on {dataset}", None if difference is None else abs(difference)
