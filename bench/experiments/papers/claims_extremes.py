"""AE's claims, and PRUNE's."""

from experiments.papers import ae, prune
from experiments.papers.evidence import Evidence
from experiments.papers.cells import AE_EXPECTED, AE_SETS, DATASETS, PRUNE_BITS, TARGETS
from experiments.papers.claim import HOLDS, PART, Claim, Finding, at_least, at_most, by_cases
from experiments.papers.lengths import share_beyond, spread
from experiments.papers.markdown import plain, times
from experiments.papers.ours import less, ratio, value

DRAWN = ("linux", "images")
CASES = [(dataset, expected) for dataset in AE_SETS for expected in AE_EXPECTED]


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _tail(evidence: Evidence) -> Finding:
    """AE's share of long chunks is below Rabin_0.25's, as table 4 has it from m = 3 on."""
    cases = []
    for m in (3, 4, 5):
        shares = []
        for name in ("AE", "Rabin_0.25"):
            algorithm, size, parameters = ae.tails()[name]
            row = evidence.ours.run("random", algorithm, size, parameters, hash="xxh3")
            shares.append(share_beyond(row, m * value(row, "mean_bytes")) if row else None)
        cases.append((f"m = {m}", ratio(shares[0], shares[1])))
    return at_most(cases, 0.5, times)


def _detects(name: str, other: str, average: float):
    """Bytes of low-entropy strings that one detects, over those of another, where that finds any; and how far on average."""

    def judge(evidence: Evidence) -> Finding:
        cases = [(f"{d} {e}", ratio(*(ae.found(evidence, d, e, row) for row in (name, other)))) for d, e in CASES]
        found = by_cases([(case, v, v is not None and v > 1) for case, v in cases], times)
        known = [v for _, v in cases if v is not None]
        if not known:
            return found
        mean = sum(known) / len(known)
        return Finding(
            f"{found.ours}; {times(mean)} on average", PART if found.verdict == HOLDS and mean < 0.8 * average else found.verdict
        )

    return judge


def _maximum(evidence: Evidence) -> Finding:
    cases = [(f"{d} {e}", ae.from_maximum(evidence, d, e)) for d, e in CASES]
    return by_cases([(name, v, v is not None and abs(v) <= 0.001) for name, v in cases], _percent)


def _either(evidence: Evidence) -> Finding:
    """AE_MAX's savings less AE_MIN's, on every data set."""
    cases = []
    for dataset in DATASETS:
        for target in TARGETS:
            least, most = (value(evidence.matrix(dataset, name, target), "savings") for name in ("ae-min", "ae-max"))
            cases.append((f"{dataset} {target}", less(most, least)))
    return at_least(cases, 0, lambda share: f"{plain(100 * share, 2)} points")


def _over(name: str, other: str, mean_matters: bool = True):
    """Ratios of elimination. Where one is ahead and its chunks are a tenth smaller, nothing follows, and the case does not count."""

    def judge(evidence: Evidence) -> Finding:
        cases = []
        for dataset, expected in CASES:
            rows = ae.four(evidence, dataset, expected)
            found, means = ([value(rows[which], path) for which in (name, other)] for path in ("elimination_ratio", "mean_bytes"))
            over, size = ratio(*found), ratio(*means)
            unfair = mean_matters and over is not None and (over >= 1 and size < 0.9 or over < 1 and size > 1.1)
            cases.append((f"{dataset} {expected}", None if unfair else over))
        return at_least(cases, 1, times)

    return judge


def _spread(evidence: Evidence) -> Finding:
    cases = []
    for expected in ("4 KB", "8 KB", "16 KB"):
        found = {name: spread(row) for name, row in ae.four(evidence, "linux", expected).items()}
        best = [found["Rabin_0.25"], found["MAXP"]]
        cases.append((expected, found["AE"], None not in (found["AE"], *best) and found["AE"] < min(best)))
    return by_cases(cases, lambda v: f"spread {v:.2f}")


def _faster(other: str, least: float):
    def judge(evidence: Evidence) -> Finding:
        cases = [
            (f"{d} {e}", ratio(ae.cutting(evidence, d, "AE", e, "scalar"), ae.cutting(evidence, d, other, e, "scalar")))
            for d in DRAWN
            for e in AE_EXPECTED
        ]
        return at_least(cases, least, times)

    return judge


def _system(evidence: Evidence) -> Finding:
    cases = [(d, ratio(*(value(ae.engine(evidence, d, name), "bytes_per_second") for name in ("AE", "Rabin_0.25")))) for d in DRAWN]
    return at_least(cases, 1.54, times)


def _expected(evidence: Evidence) -> Finding:
    cases = [(f"{bits} bits", prune.off(prune.run(evidence, "random", bits))) for bits in PRUNE_BITS]
    return by_cases([(name, v, v is not None and abs(v) <= 0.01) for name, v in cases], _percent)


def _incremental(evidence: Evidence) -> Finding:
    cases = [
        (f"{d} {bits} bits", ratio(*(prune.cutting(evidence, d, name, bits) for name in ("rabin-inck", "rabin"))))
        for d in ("linux", "media")
        for bits in PRUNE_BITS
    ]
    return at_least(cases, 1.1, times)


def _slower(evidence: Evidence) -> Finding:
    """14 bits over 11 bits: below 1."""
    cases = [
        (f"{name} on {d}", ratio(prune.cutting(evidence, d, name, 14), prune.cutting(evidence, d, name, 11)))
        for d in ("linux", "media")
        for name in ("rabin", "rabin-inck")
    ]
    return at_most(cases, 0.9, times)


def _detection(evidence: Evidence) -> Finding:
    return at_most([(d, prune.falls(evidence, d)) for d in prune.SETS], 0.0066, lambda share: f"{plain(100 * share, 2)} points")


def _more(evidence: Evidence) -> Finding:
    return by_cases([(d, v, v is not None and 2.25 <= v <= 2.75) for d in prune.SETS for v in [prune.more_chunks(evidence, d)]], times)


CLAIMS = [
    Claim(
        "AE",
        "table 4",
        "AE makes very long chunks more rarely than Rabin_0.25: its share over Rabin's (rule: half)",
        "0.23, 0.03, 0.003×",
        _tail,
    ),
    Claim(
        "AE",
        "table 5",
        "AE detects more low-entropy strings than Rabin_0.25",
        "3.9× on average (rule: 0.8 of it)",
        _detects("AE", "Rabin_0.25", 3.9),
    ),
    Claim(
        "AE",
        "table 5",
        "AE-Opt2 with LEST of 1/8 detects more than AE",
        "2.09× on average (rule: 0.8 of it)",
        _detects("AE-Opt2 1/8", "AE", 2.09),
    ),
    Claim("AE", "figure 4", "a maximum does not change the elimination ratio (rule: 0.1 %)", "0.003 %", _maximum),
    Claim("AE", "figure 4", "AE_MAX saves at least what AE_MIN saves", "all but network traffic", _either),
    Claim("AE", "figure 5", "AE's elimination ratio over Rabin_0.25's", "above 1 but on Bench", _over("AE", "Rabin_0.25")),
    Claim("AE", "figure 5", "AE's elimination ratio over MAXP's", "above 1", _over("AE", "MAXP")),
    Claim("AE", "figure 5", "AE-Opt2's elimination ratio over AE's", "above 1", _over("AE-Opt2", "AE", mean_matters=False)),
    Claim("AE", "figure 6", "AE's lengths vary least", "“more uniform”", _spread),
    Claim(
        "AE", "figure 7", "AE cuts faster than Rabin_0.25, scalar (rule: 0.8 of the paper's)", "3.21×", _faster("Rabin_0.25", 0.8 * 3.21)
    ),
    Claim("AE", "figure 7", "AE cuts faster than MAXP, scalar (rule: 0.8 of the paper's)", "2.55×", _faster("MAXP", 0.8 * 2.55)),
    Claim("AE", "figure 8", "the whole system is faster with AE than with Rabin_0.25", "1.54 and 1.84×", _system),
    Claim("PRUNE", "table 2", "equation 2 is the mean chunk of random data", "within 1 %", _expected),
    Claim("PRUNE", "figure 11", "Incremental Modulo-K is faster than Rabin, scalar", "1.10 to 1.15×", _incremental),
    Claim("PRUNE", "figure 11", "cutting is slower with longer patterns: 14 over 11 bits (rule: 0.9)", "0.4× (14 over 10)", _slower),
    Claim("PRUNE", "figure 12", "from 11 to 13 bits the savings fall by", "0.66 %", _detection),
    Claim("PRUNE", "figure 12", "11 bits make 2.5 times the chunks of 13", "2.5×", _more),
]
