"""P-Dedupe's claims. Throughputs of the whole system are judged by the runs with a store, which write as the paper's do."""

import math
from functools import partial
from itertools import pairwise

from experiments.papers.claim import NotJudged, above, add_claim, at_least, at_most, gain, in_percent, off, points, within
from experiments.papers.evidence import Evidence, less, ratio, value
from experiments.papers.lengths import share_beyond
from experiments.papers.p_dedupe import DIRTY_KIB, EXACT, FEW_SEGMENTS, JOINS, TIMED, content_and_fixed, cut_seconds, dirty_share, joined, missed, timed
from experiments.papers.p_dedupe_store import with_fixed_threads
from experiments.papers.paper import REAL
from experiments.papers.store_runs import ALGORITHMS, SETS, SIZE, SIZES, STUDIED, TIMED_SEGMENTS, approaches, segmented
from experiments.papers.tables import times

claim = partial(add_claim, "P-Dedupe")
stored = partial(add_claim, "P-Dedupe", page="p-dedupe-store.md", source="store")
PAPERS_CORES = 4


def faster(evidence: Evidence, dataset: str, over: str, under: str, **settings) -> float | None:
    """How many times as fast one approach is as another."""
    jobs = {job.approach: job for job in approaches(dataset, **settings)}
    return ratio(evidence.store.speed(jobs[over]), evidence.store.speed(jobs[under]))


def on_four_cores(cases):
    """What the paper's four cores gain cannot be judged on fewer processors."""

    def judged(evidence: Evidence):
        yield from cases(evidence)
        if evidence.store.processors < PAPERS_CORES:
            yield NotJudged(f"{evidence.store.processors} processors", size_only=True)

    return judged


claim("figure 2", "content-defined chunks of 8 KB find more duplicates than fixed ones", "7 to 80 %", gain(times, 1.07, 1.8))(
    lambda evidence: [(d, ratio(*content_and_fixed(evidence, d))) for d in REAL]
)
claim("table 3", "with 4 MB segments its join misses at most 0.05 points of the savings", "0.005 to 0.048 points", at_most(0.0005, points(3)))(
    lambda evidence: [(d, missed(joined(evidence, d, "pdedupe", "4M"))) for d in REAL]
)
claim("section 3.3", "less than 0.1 % of the chunks are dirty with segments of 1 MB", "< 0.1 %", at_most(0.001, in_percent))(
    lambda evidence: [(d, dirty_share(joined(evidence, d, "pdedupe", "1M"))) for d in ("random", *REAL)]
)


@claim("figure 8", "without limits the lengths of Rabin's chunks are exponential", "“identical”", at_most(0.03, off))
def _exponential(evidence):
    row = evidence.ours.run("random", "rabin", "48:8K:64M", hash="xxh3")
    for length in (2048, 8192, 16384):
        share = share_beyond(row, length)
        yield f"{length // 1024} KiB", None if share is None else abs(share / math.exp(-length / 8192) - 1)


@claim("figure 9", "its join restores nearly all that no join loses (rule: 85 %)", "87 to 98 % (table 3)", at_least(0.85, lambda share: f"{100 * share:.0f} %"))
def _regained(evidence):
    for dataset in REAL:
        none, pdedupe = (missed(joined(evidence, dataset, join, "4M")) for join in JOINS)
        yield dataset, ratio(less(none, pdedupe), none)


@claim("figure 10", "joining costs nearly nothing (rule: 5 % of the time to cut)", "“nearly the same”", at_most(1.05, times))
def _joining(evidence):
    for dataset in STUDIED:
        for segment in FEW_SEGMENTS:
            none, pdedupe = (cut_seconds(joined(evidence, dataset, join, segment)) for join in JOINS)
            yield f"{dataset} {segment}", ratio(pdedupe, none)


@stored("figure 10", "the same of the whole backup (throughput with the join over without; rule: 5 %)", "“nearly the same”", at_least(0.95, times))
def _stored_joining(evidence):
    for dataset in STUDIED:
        for segment in TIMED_SEGMENTS:
            none, pdedupe = (evidence.store.speed(segmented(dataset, segment, join)) for join in JOINS)
            yield f"{dataset} {segment}", ratio(pdedupe, none)


GROWS = "throughput grows with the segment, from 256 KB to 1 MB and to 4 MB (rule: each step by 5 %)"


@claim("figure 10", f"{GROWS}; nothing written", "“in proportion”", above(1.05, times))
def _segments(evidence):
    for dataset in STUDIED:
        for small, large in pairwise(FEW_SEGMENTS):
            runs = (evidence.ours.run(dataset, "rabin", SIZE, threads=2, segment=segment) for segment in (large, small))
            yield f"{dataset} {large}", ratio(*(value(row, "bytes_per_second") for row in runs))


@stored("figure 10", GROWS, "“in proportion”", above(1.05, times))
def _stored_segments(evidence):
    for dataset in STUDIED:
        for small, large in pairwise(TIMED_SEGMENTS):
            yield f"{dataset} {large}", ratio(*(evidence.store.speed(segmented(dataset, segment, "pdedupe")) for segment in (large, small)))


claim(
    "figure 11",
    "what is missed is what equation 8 expects, on Linux and Redis (over it; rule: a factor of 2)",
    "“nearly identical”",
    within(0.5, 2, times),
)(lambda evidence: [(d, ratio(missed(joined(evidence, d, "pdedupe", "1M")), DIRTY_KIB / 1024)) for d in ("linux", "redis")])


@claim(
    "figure 12", "its join saves nearly what the sequential chunker saves at every chunk size, 1 MB segments (rule: 99 % of it)",
    "“nearly the same”", at_least(0.99, in_percent)
)  # fmt: skip
def _at_every_size(evidence):
    for dataset in STUDIED:
        for size in SIZES:
            row = joined(evidence, dataset, "pdedupe", "1M", size=size)
            yield f"{dataset} {size}", ratio(value(row, "savings"), value(row, EXACT))


@claim("figure 12", "savings fall as the average chunk size grows (doubled: by)", "“decreases”", above(0, points(2)))
def _falls(evidence):
    for dataset in STUDIED:
        for small, large in pairwise(SIZES):
            yield f"{dataset} {large}", less(*(value(joined(evidence, dataset, "pdedupe", "1M", size=size), EXACT) for size in (small, large)))


@stored("figure 13", "P-Dedupe over Baseline at every chunk size", "3 to 4× on 4 cores", gain(times, 3, 4))
@on_four_cores
def _sizes(evidence):
    return [(size, faster(evidence, "linux", "pdedupe", "baseline", size=size, segment="1M")) for size in SIZES]


@stored("figure 13", "Baseline and P-Dedupe are faster with larger chunks (doubled: by)", "“higher”", above(1, times))
def _faster_if_larger(evidence):
    for place in (0, 2):  # of Baseline and P-Dedupe among the approaches
        for small, large in pairwise(SIZES):
            small_job, large_job = (approaches("linux", size=size, segment="1M")[place] for size in (small, large))
            yield f"{large_job.approach} {large}", ratio(evidence.store.speed(large_job), evidence.store.speed(small_job))


@stored("figure 14", "P-Dedupe over Baseline, Rabin", "about 4× on 4 cores", gain(times, 4))
@on_four_cores
def _over_baseline(evidence):
    return [(d, faster(evidence, d, "pdedupe", "baseline")) for d in SETS]


stored("figure 14", "P-Dedupe over Pipeline, Rabin", "about 2× on 4 cores", gain(times, 2))(
    on_four_cores(lambda evidence: [(d, faster(evidence, d, "pdedupe", "pipeline")) for d in SETS])
)
stored("figure 14", "Pipeline over Baseline, Rabin", "4 over 2: about 2× on 4 cores", gain(times, 2))(
    on_four_cores(lambda evidence: [(d, faster(evidence, d, "pipeline", "baseline")) for d in SETS])
)
claim("section 3.3", "two threads over one, nothing written", "“linearly speeds up”: 2×", gain(times, 2))(
    lambda evidence: [(d, ratio(*reversed(timed(evidence, d)))) for d in TIMED]
)


@claim("tables 5, 6", "Adler and Gear save about what Rabin saves (rule: 3 points)", "0 to 2.7 points", at_most(0.03, points(3)))
def _others(evidence):
    for algorithm in ("adler", "gear"):
        for dataset in REAL:
            rows = (joined(evidence, dataset, "pdedupe", "4M", name) for name in (algorithm, "rabin"))
            difference = less(*(value(row, EXACT) for row in rows))
            yield f"{algorithm} on {dataset}", None if difference is None else abs(difference)


@stored("tables 5, 6", "P-Dedupe over Baseline with Adler and Gear", "3.4 to 3.9× on 4 cores", gain(times, 3.4, 3.9))
@on_four_cores
def _other_gains(evidence):
    return [(f"{a} on {d}", faster(evidence, d, "pdedupe", "baseline", algorithm=a)) for a in ALGORITHMS if a != "rabin" for d in SETS]


@stored(
    "section 4.4",
    "with Gear 3 + 5 threads are faster than 4 + 4 (equation 6 with the times of our stages; rule: 5 %)",
    "3 and 5 threads",
    above(1.05, times),
)
def _three_and_five(evidence):
    for dataset in SETS:
        yield dataset, ratio(*(with_fixed_threads(evidence, dataset, "gear", *threads) for threads in ((3, 5), (4, 4))))


@stored("tables 5, 6", "Baseline is faster with Gear than with Adler", "1.26 to 1.30×", gain(times, 1.26, 1.3))
def _gear_baseline(evidence):
    for dataset in SETS:
        yield dataset, ratio(*(evidence.store.speed(approaches(dataset, name)[0]) for name in ("gear", "adler")))
