"""AE's claims."""

from dataclasses import replace
from functools import partial
from itertools import product

from experiments.papers.ae import DRAWN, NO_MAXIMUM, cutting, engine, four, opt2_and_sha1, other, stages_alone, tail
from experiments.papers.claim import DIRECTION, above, add_claim, below, by_cases, gain, in_percent, points, within
from experiments.papers.evidence import WIDEST, less, ratio, value
from experiments.papers.lengths import share_beyond, spread
from experiments.papers.paper import AE_EXPECTED, AE_SETS, DATASETS, TARGETS
from experiments.papers.store_runs import AE_SETS as AE_STORE_SETS
from experiments.papers.store_runs import STAGES, ae_systems
from experiments.papers.tables import times

CASES = [(dataset, expected) for dataset in AE_SETS for expected in AE_EXPECTED]
claim = partial(add_claim, "AE")

claim("table 2", "fingerprints are faster than Rabin_0.25 cuts, in one thread (both in the cache)", "1.49 and 1.92×", gain(times, 1.49, 1.92))(
    lambda evidence: [(d, ratio(*reversed(stages_alone(evidence, d)))) for d in DRAWN]
)
claim("table 2", "the same (Rabin_0.25 from memory)", "1.49 and 1.92×", gain(times, 1.49, 1.92))(
    lambda evidence: [(d, ratio(stages_alone(evidence, d)[1], cutting(evidence, d, "Rabin_0.25", "8 KB", WIDEST))) for d in DRAWN]
)
claim("table 2", "the same (scalar, Rabin_0.25 from memory)", "1.49 and 1.92×", gain(times, 1.49, 1.92))(
    lambda evidence: [(d, ratio(opt2_and_sha1(evidence, d, "scalar")[2], cutting(evidence, d, "Rabin_0.25", "8 KB", "scalar"))) for d in DRAWN]
)


@claim("table 4", "AE makes very long chunks more rarely than Rabin_0.25: its share over Rabin's", "0.23, 0.03, 0.003×", gain(times, 0.23, 0.03, 0.003))
def _tail(evidence):
    """From m = 3 on, as in table 4."""
    rows = [tail(evidence, name) for name in ("AE", "Rabin_0.25")]
    return [(f"m = {m}", ratio(*(share_beyond(row, m * value(row, "mean_bytes")) if row else None for row in rows))) for m in (3, 4, 5)]


LEAST_SHARE = 0.0001  # a ratio of less is one of single chunks; the paper's least share is 0.14 %


def _detects(name: str, other: str):
    """Bytes of low-entropy strings that one detects, over those of another. A case does not count where that finds next to none."""

    def cases(evidence):
        for dataset, expected in CASES:
            over, under = (evidence.detected_share(dataset, expected, row) for row in (name, other))
            yield f"{dataset} {expected}", ratio(over, under) if under is not None and under >= LEAST_SHARE else None

    return cases


claim(
    "table 5",
    "AE detects more low-entropy strings than Rabin_0.25 (where that finds 0.01 % of the data)",
    "3.9× on average",
    replace(gain(times, 3.9), size_of_mean=True),
    source="low_entropy",
)(_detects("AE", "Rabin_0.25"))
claim(
    "table 5",
    "AE-Opt2 with LEST of 1/8 detects more than AE (where that finds 0.01 %)",
    "2.09× on average",
    replace(gain(times, 2.09), size_of_mean=True),
    source="low_entropy",
)(_detects("AE-Opt2 1/8", "AE"))


@claim("figure 4", "a maximum does not change the elimination ratio (rule: 0.1 %)", "0.003 %", within(-0.001, 0.001, in_percent))
def _maximum(evidence):
    """The difference that the maximum makes to AE_MAX's ratio, as a share of it."""
    for dataset, expected in CASES:
        limited, free = (value(other(evidence, dataset, "ae-max", expected, p), "elimination_ratio") for p in ({}, NO_MAXIMUM))
        yield f"{dataset} {expected}", ratio(less(limited, free), free)


def _ahead(name: str, other: str, datasets):
    """Savings of one algorithm less those of another."""

    def cases(evidence):
        for dataset in datasets:
            for target in TARGETS:
                yield f"{dataset} {target}", less(*(value(evidence.matrix(dataset, which, target), "savings") for which in (name, other)))

    return cases


TRAFFIC = ("packets",)
claim("figure 4", "AE_MAX saves at least what AE_MIN saves, but for network traffic", "“on all datasets”", above(0, points(2)))(
    _ahead("ae-max", "ae-min", [dataset for dataset in DATASETS if dataset not in TRAFFIC])
)
claim("figure 4", "AE_MIN saves more than AE_MAX of network traffic (ours is synthetic)", "without numbers", above(0, points(2)))(
    _ahead("ae-min", "ae-max", TRAFFIC)
)


def _over(name: str, other: str, mean_matters: bool = True, datasets=AE_SETS):
    """Ratios of elimination. A case does not count if the algorithm that is ahead makes chunks that are a tenth smaller."""

    def cases(evidence):
        for dataset, expected in product(datasets, AE_EXPECTED):
            rows = four(evidence, dataset, expected)
            over, size = (ratio(*(value(rows[which], path) for which in (name, other))) for path in ("elimination_ratio", "mean_bytes"))
            unfair = mean_matters and over is not None and (over >= 1 and size < 0.9 or over < 1 and size > 1.1)
            yield f"{dataset} {expected}", None if unfair else over

    return cases


claim("figure 5", "AE's elimination ratio over Rabin_0.25's", "above 1 but on Bench", above(1, times))(_over("AE", "Rabin_0.25"))
claim(
    "figure 5",
    "on Bench the elimination ratios of the others are Rabin_0.25's (over it; rule: 5 %)",
    "“almost the same”",
    within(0.95, 1.05, times),
)(lambda evidence: [(f"{name}, {case}", v) for name in ("MAXP", "AE", "AE-Opt2") for case, v in _over(name, "Rabin_0.25", datasets=("bench",))(evidence)])
claim("figure 5", "AE's elimination ratio over MAXP's", "above 1", above(1, times))(_over("AE", "MAXP"))
claim("figure 5", "AE-Opt2's elimination ratio over AE's", "above 1", above(1, times))(_over("AE-Opt2", "AE", mean_matters=False))


@claim("figure 6", "AE's lengths vary least", "“more uniform”", by_cases(lambda v: f"spread {v:.2f}", DIRECTION))
def _spread(evidence):
    for expected in ("4 KB", "8 KB", "16 KB"):
        rabin, maxp, mine = (spread(row) for row in list(four(evidence, "linux", expected).values())[:3])
        yield expected, mine, None not in (mine, rabin, maxp) and mine < min(rabin, maxp)


def _faster(other: str):
    return lambda evidence: [(f"{d} {e}", ratio(*(cutting(evidence, d, name, e, "scalar") for name in ("AE", other)))) for d in DRAWN for e in AE_EXPECTED]


claim("figure 7", "AE cuts faster than Rabin_0.25 (scalar, from memory)", "3.21×", gain(times, 3.21))(_faster("Rabin_0.25"))
claim("figure 7", "AE cuts faster than MAXP (scalar, from memory)", "2.55×", gain(times, 2.55))(_faster("MAXP"))


def _opt2_over(place: int):
    """AE-Opt2's rate over AE's (0) or SHA-1's (2), by the scalar back end and the widest vectors."""

    def cases(evidence):
        for dataset, backend in product(DRAWN, ("scalar", WIDEST)):
            rates = opt2_and_sha1(evidence, dataset, backend)
            yield f"{dataset} {'vectors' if backend == WIDEST else backend}", ratio(rates[1], rates[place])

    return cases


claim("figure 7", "AE-Opt2 cuts more slowly than AE (AE-Opt2 over it, in the cache)", "without numbers", below(1, times))(_opt2_over(0))
claim("figure 7", "AE-Opt2 cuts faster than SHA-1 is made (AE-Opt2 over it, in the cache)", "without numbers", above(1, times))(_opt2_over(2))
claim("figure 8", "the whole system is faster with AE than with Rabin_0.25", "1.54 and 1.84×", gain(times, 1.54, 1.84))(
    lambda evidence: [(d, ratio(*(value(engine(evidence, d, name), "bytes_per_second") for name in ("AE", "Rabin_0.25")))) for d in DRAWN]
)


@claim("figure 8", "the same with writing", "1.54 and 1.84×", gain(times, 1.54, 1.84), source="store")
def _system(evidence):
    for dataset in AE_STORE_SETS:
        systems = ae_systems(dataset)
        yield dataset, ratio(*(evidence.store.speed(systems[name][1]) for name in ("AE", "Rabin_0.25")))


@claim(
    "section 4.4",
    "with AE the bottleneck is no longer chunking, as it is with Rabin_0.25 (chunking over the slowest other stage)",
    "fingerprinting",
    by_cases(times, DIRECTION),
    source="store",
)
def _bottleneck(evidence):
    """In the pipeline. The case is of AE, and supports the claim only if Rabin's slowest stage is chunking."""
    for dataset in AE_STORE_SETS:
        over = {name: _chunking_over_others(evidence, jobs[0]) for name, jobs in ae_systems(dataset).items()}
        rabin, mine = over["Rabin_0.25"], over["AE"]
        yield dataset, mine if rabin is not None else None, None not in (rabin, mine) and rabin > 1 > mine


def _chunking_over_others(evidence, job) -> float | None:
    chunking, *others = (evidence.store.seconds_per_gb(job, "stage_seconds", stage) for stage in range(len(STAGES)))
    return None if None in others else ratio(chunking, max(others))
