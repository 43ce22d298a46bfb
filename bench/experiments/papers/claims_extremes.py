"""AE's claims, and PRUNE's."""

from experiments.papers import ae, prune
from experiments.papers.cells import AE_EXPECTED, AE_SETS, DATASETS, PRUNE_BITS, TARGETS
from experiments.papers.claim import HOLDS, PART, Claims, Finding, Rule, at_least, at_most, by_cases, each, percent, points
from experiments.papers.lengths import share_beyond, spread
from experiments.papers.markdown import times
from experiments.papers.ours import less, ratio, value

DRAWN = ("linux", "images")
CASES = [(dataset, expected) for dataset in AE_SETS for expected in AE_EXPECTED]
AE = Claims("AE")
PRUNE = Claims("PRUNE")


@AE.add("table 4", "AE makes very long chunks more rarely than Rabin_0.25: its share over Rabin's (rule: half)", "0.23, 0.03, 0.003×", at_most(0.5, times))
def _tail(evidence):
    """From m = 3 on, as in table 4."""
    rows = [ae.tail(evidence, name) for name in ("AE", "Rabin_0.25")]
    return [(f"m = {m}", ratio(*(share_beyond(row, m * value(row, "mean_bytes")) if row else None for row in rows))) for m in (3, 4, 5)]


def _on_average(average: float) -> Rule:
    """Every case is above 1, and their mean is at least 0.8 of the paper's."""

    def judge(cases: list[tuple]) -> Finding:
        found = each(lambda v: v > 1, times)(cases)
        known = [v for _, v in cases if v is not None]
        if not known:
            return found
        mean = sum(known) / len(known)
        return Finding(f"{found.ours}; {times(mean)} on average", PART if found.verdict == HOLDS and mean < 0.8 * average else found.verdict)

    return judge


def _detects(name: str, other: str):
    """Bytes of low-entropy strings that one detects, over those of another that finds any."""
    return lambda evidence: [(f"{d} {e}", ratio(*(ae.found(evidence, d, e, row) for row in (name, other)))) for d, e in CASES]


AE.add("table 5", "AE detects more low-entropy strings than Rabin_0.25", "3.9× on average (rule: 0.8 of it)", _on_average(3.9))(_detects("AE", "Rabin_0.25"))
AE.add("table 5", "AE-Opt2 with LEST of 1/8 detects more than AE", "2.09× on average (rule: 0.8 of it)", _on_average(2.09))(_detects("AE-Opt2 1/8", "AE"))


@AE.add("figure 4", "a maximum does not change the elimination ratio (rule: 0.1 %)", "0.003 %", each(lambda v: abs(v) <= 0.001, percent))
def _maximum(evidence):
    """The difference that the maximum makes to AE_MAX's ratio, as a share of it."""
    for dataset, expected in CASES:
        limited, free = (value(ae.other(evidence, dataset, "ae-max", expected, p), "elimination_ratio") for p in ({}, ae.NO_MAXIMUM))
        yield f"{dataset} {expected}", ratio(less(limited, free), free)


@AE.add("figure 4", "AE_MAX saves at least what AE_MIN saves", "all but network traffic", at_least(0, points(2)))
def _either(evidence):
    for dataset in DATASETS:
        for target in TARGETS:
            yield f"{dataset} {target}", less(*(value(evidence.matrix(dataset, name, target), "savings") for name in ("ae-max", "ae-min")))


def _over(name: str, other: str, mean_matters: bool = True):
    """Ratios of elimination. A case does not count if the algorithm that is ahead makes chunks that are a tenth smaller."""

    def cases(evidence):
        for dataset, expected in CASES:
            rows = ae.four(evidence, dataset, expected)
            over, size = (ratio(*(value(rows[which], path) for which in (name, other))) for path in ("elimination_ratio", "mean_bytes"))
            unfair = mean_matters and over is not None and (over >= 1 and size < 0.9 or over < 1 and size > 1.1)
            yield f"{dataset} {expected}", None if unfair else over

    return cases


AE.add("figure 5", "AE's elimination ratio over Rabin_0.25's", "above 1 but on Bench", at_least(1, times))(_over("AE", "Rabin_0.25"))
AE.add("figure 5", "AE's elimination ratio over MAXP's", "above 1", at_least(1, times))(_over("AE", "MAXP"))
AE.add("figure 5", "AE-Opt2's elimination ratio over AE's", "above 1", at_least(1, times))(_over("AE-Opt2", "AE", mean_matters=False))


@AE.add("figure 6", "AE's lengths vary least", "“more uniform”", by_cases(lambda v: f"spread {v:.2f}"))
def _spread(evidence):
    for expected in ("4 KB", "8 KB", "16 KB"):
        rabin, maxp, mine = (spread(row) for row in list(ae.four(evidence, "linux", expected).values())[:3])
        yield expected, mine, None not in (mine, rabin, maxp) and mine < min(rabin, maxp)


def _faster(other: str):
    return lambda evidence: [(f"{d} {e}", ratio(*(ae.cutting(evidence, d, name, e, "scalar") for name in ("AE", other)))) for d in DRAWN for e in AE_EXPECTED]


AE.add("figure 7", "AE cuts faster than Rabin_0.25, scalar (rule: 0.8 of the paper's)", "3.21×", at_least(0.8 * 3.21, times))(_faster("Rabin_0.25"))
AE.add("figure 7", "AE cuts faster than MAXP, scalar (rule: 0.8 of the paper's)", "2.55×", at_least(0.8 * 2.55, times))(_faster("MAXP"))


@AE.add("figure 8", "the whole system is faster with AE than with Rabin_0.25", "1.54 and 1.84×", at_least(1.54, times))
def _system(evidence):
    return [(d, ratio(*(value(ae.engine(evidence, d, name), "bytes_per_second") for name in ("AE", "Rabin_0.25")))) for d in DRAWN]


@PRUNE.add("table 2", "equation 2 is the mean chunk of random data", "within 1 %", each(lambda v: abs(v) <= 0.01, percent))
def _expected(evidence):
    return [(f"{bits} bits", prune.off(prune.run(evidence, "random", bits))) for bits in PRUNE_BITS]


@PRUNE.add("figure 11", "Incremental Modulo-K is faster than Rabin, scalar", "1.10 to 1.15×", at_least(1.1, times))
def _incremental(evidence):
    for dataset in ("linux", "media"):
        for bits in PRUNE_BITS:
            yield f"{dataset} {bits} bits", ratio(*(prune.cutting(evidence, dataset, name, bits) for name in ("rabin-inck", "rabin")))


@PRUNE.add("figure 11", "cutting is slower with longer patterns: 14 over 11 bits (rule: 0.9)", "0.4× (14 over 10)", at_most(0.9, times))
def _slower(evidence):
    for dataset in ("linux", "media"):
        for name in ("rabin", "rabin-inck"):
            yield f"{name} on {dataset}", ratio(*(prune.cutting(evidence, dataset, name, bits) for bits in (14, 11)))


@PRUNE.add("figure 12", "from 11 to 13 bits the savings fall by", "0.66 %", at_most(0.0066, points(2)))
def _detection(evidence):
    return [(d, prune.falls(evidence, d)) for d in prune.SETS]


@PRUNE.add("figure 12", "11 bits make 2.5 times the chunks of 13", "2.5×", each(lambda v: 2.25 <= v <= 2.75, times))
def _more(evidence):
    return [(d, prune.more_chunks(evidence, d)) for d in prune.SETS]
