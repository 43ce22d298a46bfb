"""The tables of docs/papers/ae.md, and the paper's claims."""

import math
from functools import partial

from experiments.papers.cells import AE_EXPECTED, AE_NEAR, AE_OTHERS, AE_RABIN, AE_SETS, DATASETS, MAXP_WINDOWS, TARGETS
from experiments.papers.claim import HOLDS, PARTLY, Finding, Rule, add_claim, at_least, at_most, by_cases, each, in_percent, points
from experiments.papers.evidence import Evidence, less, ratio, value
from experiments.papers.lengths import PERCENTILES, length_cells, share_beyond, spread
from experiments.papers.tables import DASH, Rows, kib, percent, plain, speed, table, times, tiny

NO_MAXIMUM = {"max_bytes": 0}
LEST_DIVISOR = 8  # the paper's choice: LEST is an eighth of the expected chunk size
FOUR = ("Rabin_0.25", "MAXP", "AE", "AE-Opt2")
DRAWN = ("linux", "images")
TAILS = {
    "AE": ("ae-max", "2K", {"value_bytes": 8} | NO_MAXIMUM),
    "Rabin_0": ("rabin", "48:2K:64M", {}),
    "Rabin_0.25": ("rabin", "512:2K:64M", {}),
    "MAXP": ("maxp", "2K", NO_MAXIMUM),
}  # the columns of table 4: algorithm, size and parameters


def other(evidence: Evidence, dataset: str, algorithm: str, expected: str, parameters: dict | None = None) -> dict | None:
    return evidence.ours.run(dataset, algorithm, AE_OTHERS[expected], parameters)


def opt2(expected: str) -> dict:
    return {"lest": AE_EXPECTED[expected] // LEST_DIVISOR}


def nearest(rows: list[dict | None], mean: float | None) -> dict | None:
    """The row whose mean chunk is nearest to `mean`."""
    known = [row for row in rows if row]
    return min(known, key=lambda row: abs(row["mean_bytes"] - mean)) if known and mean else None


def four(evidence: Evidence, dataset: str, expected: str) -> dict[str, dict | None]:
    """The runs that figure 5 compares, all at about Rabin's mean."""
    run = evidence.ours.run
    base = run(dataset, "rabin", AE_RABIN[expected])
    mean = value(base, "mean_bytes")
    maxp = nearest([run(dataset, "maxp", "16K", {"half_window": window}) for window in MAXP_WINDOWS], mean)
    ae, ae_opt2 = (nearest([run(dataset, "ae-max", size, p) for size in AE_NEAR[expected]], mean) for p in ({}, opt2(expected)))
    return dict(zip(FOUR, (base, maxp, ae, ae_opt2), strict=True))


def tail(evidence: Evidence, name: str) -> dict | None:
    """The run of a column of table 4, on random data."""
    return evidence.ours.run("random", *TAILS[name], hash="xxh3")


@table("ae-table-4", "m", *(f"{name} {whose}" for name in TAILS for whose in ("paper", "ours")), "Rabin_0.25, e^(0.25-1.25m)")
def table_4(evidence: Evidence) -> Rows:
    printed = evidence.papers["ae"].tables["table-4"]
    for m in range(2, 9):
        cells = [str(m)]
        for name in TAILS:
            row = tail(evidence, name)
            cells += [tiny(printed.at(str(m), name)), tiny(share_beyond(row, m * value(row, "mean_bytes"))) if row else DASH]
        yield [*cells, tiny(math.exp(0.25 - 1.25 * m))]


@table("ae-table-4-bytes", "", "mean bytes", "longest bytes", "longest / mean")
def table_4_bytes(evidence: Evidence) -> Rows:
    """AE of byte values, which is the engine's default."""
    row = evidence.ours.run("random", "ae-max", "2K", NO_MAXIMUM, hash="xxh3")
    mean, longest = value(row, "mean_bytes"), value(row, "report.result.chunks.max_bytes")
    cells = ["AE of byte values", plain(mean, 0), plain(longest, 0), plain(ratio(longest, mean))]
    return [cells]


@table("ae-table-5", "bytes detected, %", "data", *AE_EXPECTED, words=2)
def table_5(evidence: Evidence) -> Rows:
    printed = evidence.papers["ae"].tables["table-5"]
    for name in printed.rows:
        for whose in ("open-source", "VMDK"):
            yield [name, f"{whose} (paper)", *(plain(printed.at(name, f"{whose} {expected}")) for expected in AE_EXPECTED)]
            for dataset in (d for d, stands_for in AE_SETS.items() if stands_for == whose and name not in ("Rabin", "MAXP")):
                yield ["", f"**{dataset}** (ours)", *(percent(detected_share(evidence, dataset, expected, name)) for expected in AE_EXPECTED)]


def detected_share(evidence: Evidence, dataset: str, expected: str, name: str) -> float | None:
    """The share of low-entropy strings that a row of table 5 detects. One that was not measured is noted as missing."""
    share = evidence.low_entropy.get(dataset, {}).get(expected, {}).get(name)
    if share is None and (words := f"low-entropy strings of {dataset}") not in evidence.ours.missing:
        evidence.ours.missing.append(words)
    return share


@table("ae-figure-4", "data", "expected chunk", "AE_MAX", "AE_MAX_T", "AE_MIN", "AE_MIN_T", words=2)
def figure_4(evidence: Evidence) -> Rows:
    for dataset in AE_SETS:
        for expected in AE_EXPECTED:
            runs = [other(evidence, dataset, name, expected, p) for name in ("ae-max", "ae-min") for p in (NO_MAXIMUM, {})]
            yield [dataset, expected, *(plain(value(row, "elimination_ratio"), 4) for row in runs)]


@table("ae-figure-5", "data", "expected chunk", *(f"{name}: DER at mean KiB" for name in FOUR), words=2)
def figure_5(evidence: Evidence) -> Rows:
    for dataset, stands_for in AE_SETS.items():
        for expected in AE_EXPECTED:
            runs = four(evidence, dataset, expected).values()
            cells = [f"{plain(value(row, 'elimination_ratio'), 3)} at {kib(value(row, 'mean_bytes'))}" for row in runs]
            yield [f"{dataset} ({stands_for})", expected, *cells]


@table("ae-figure-6", "linux, expected chunk", "", "mean KiB", *(f"{p} %" for p in PERCENTILES), "(95 % - 5 %) / mean", words=2)
def figure_6(evidence: Evidence) -> Rows:
    for expected in ("4 KB", "8 KB", "16 KB"):
        yield from [[expected, name, *length_cells(row)] for name, row in four(evidence, "linux", expected).items() if name != "AE-Opt2"]


def cutting(evidence: Evidence, dataset: str, name: str, expected: str, backend: str) -> float | None:
    algorithm = {"Rabin_0.25": "rabin", "MAXP": "maxp", "AE": "ae-max"}[name]
    return evidence.ours.speed(dataset, algorithm, (AE_RABIN if name == "Rabin_0.25" else AE_OTHERS)[expected], backend)


@table("ae-figure-7", "data", "expected chunk", *(f"{b} {n}" for b in ("scalar", "AVX2") for n in (*FOUR[:3], "AE / Rabin_0.25", "AE / MAXP")), words=2)
def figure_7(evidence: Evidence) -> Rows:
    for dataset in DRAWN:
        for expected in AE_EXPECTED:
            cells = [dataset, expected]
            for backend in ("scalar", "avx2"):
                rabin, maxp, ae = (cutting(evidence, dataset, name, expected, backend) for name in FOUR[:3])
                cells += [*map(speed, (rabin, maxp, ae)), times(ratio(ae, rabin)), times(ratio(ae, maxp))]
            yield cells


def engine(evidence: Evidence, dataset: str, name: str) -> dict | None:
    """A run of the whole engine on two threads, at 8 KB expected."""
    algorithm, size, parameters = {
        "Rabin_0.25": ("rabin", AE_RABIN["8 KB"], {}),
        "MAXP": ("maxp", "16K", {"half_window": 2500}),
        "AE": ("ae-max", AE_OTHERS["8 KB"], {}),
        "AE-Opt2": ("ae-max", AE_OTHERS["8 KB"], opt2("8 KB")),
    }[name]
    return evidence.ours.run(dataset, algorithm, size, parameters, threads=2)


@table("ae-figure-8", "data", "8 KB, two threads, SHA-1", "GB/s", "over Rabin_0.25", "slowest stage", words=2)
def figure_8(evidence: Evidence) -> Rows:
    for dataset in DRAWN:
        runs = {name: engine(evidence, dataset, name) for name in FOUR}
        speeds = {name: value(row, "bytes_per_second") for name, row in runs.items()}
        for name, row in runs.items():
            over = times(ratio(speeds[name], speeds["Rabin_0.25"]))
            yield [dataset, name, speed(speeds[name]), over, value(row, "bottleneck") or DASH]


@table("ae-figure-7-opt2", "data, 8 KB", "back end", "AE GB/s", "AE-Opt2 GB/s", "SHA-1 GB/s", words=2)
def figure_7_opt2(evidence: Evidence) -> Rows:
    for dataset in DRAWN:
        for backend in ("scalar", "avx2"):
            ae, opt = (evidence.ours.run(dataset, "ae-max", AE_OTHERS["8 KB"], p, backend=backend, threads=1) for p in ({}, opt2("8 KB")))
            stages = ((ae, "chunking"), (opt, "chunking"), (ae, "fingerprinting"))
            yield [dataset, backend, *(speed(value(row, f"report.stages.{stage}.bytes_per_second")) for row, stage in stages)]


CASES = [(dataset, expected) for dataset in AE_SETS for expected in AE_EXPECTED]
claim = partial(add_claim, "AE")


@claim("table 4", "AE makes very long chunks more rarely than Rabin_0.25: its share over Rabin's (rule: half)", "0.23, 0.03, 0.003×", at_most(0.5, times))
def _tail(evidence):
    """From m = 3 on, as in table 4."""
    rows = [tail(evidence, name) for name in ("AE", "Rabin_0.25")]
    return [(f"m = {m}", ratio(*(share_beyond(row, m * value(row, "mean_bytes")) if row else None for row in rows))) for m in (3, 4, 5)]


def _on_average(average: float) -> Rule:
    """Every case is above 1, and their mean is at least 0.8 of the paper's."""

    def judge(cases: list[tuple]) -> Finding:
        finding = each(lambda v: v > 1, times)(cases)
        known = [v for _, v in cases if v is not None]
        if not known:
            return finding
        mean = sum(known) / len(known)
        return Finding(f"{finding.ours}; {times(mean)} on average", PARTLY if finding.verdict == HOLDS and mean < 0.8 * average else finding.verdict)

    return judge


def _detects(name: str, other: str):
    """Bytes of low-entropy strings that one detects, over those of another that finds any."""
    return lambda evidence: [(f"{d} {e}", ratio(*(detected_share(evidence, d, e, row) for row in (name, other)))) for d, e in CASES]


claim("table 5", "AE detects more low-entropy strings than Rabin_0.25", "3.9× on average (rule: 0.8 of it)", _on_average(3.9))(_detects("AE", "Rabin_0.25"))
claim("table 5", "AE-Opt2 with LEST of 1/8 detects more than AE", "2.09× on average (rule: 0.8 of it)", _on_average(2.09))(_detects("AE-Opt2 1/8", "AE"))


@claim("figure 4", "a maximum does not change the elimination ratio (rule: 0.1 %)", "0.003 %", each(lambda v: abs(v) <= 0.001, in_percent))
def _maximum(evidence):
    """The difference that the maximum makes to AE_MAX's ratio, as a share of it."""
    for dataset, expected in CASES:
        limited, free = (value(other(evidence, dataset, "ae-max", expected, p), "elimination_ratio") for p in ({}, NO_MAXIMUM))
        yield f"{dataset} {expected}", ratio(less(limited, free), free)


@claim("figure 4", "AE_MAX saves at least what AE_MIN saves", "all but network traffic", at_least(0, points(2)))
def _either(evidence):
    for dataset in DATASETS:
        for target in TARGETS:
            yield f"{dataset} {target}", less(*(value(evidence.matrix(dataset, name, target), "savings") for name in ("ae-max", "ae-min")))


def _over(name: str, other: str, mean_matters: bool = True):
    """Ratios of elimination. A case does not count if the algorithm that is ahead makes chunks that are a tenth smaller."""

    def cases(evidence):
        for dataset, expected in CASES:
            rows = four(evidence, dataset, expected)
            over, size = (ratio(*(value(rows[which], path) for which in (name, other))) for path in ("elimination_ratio", "mean_bytes"))
            unfair = mean_matters and over is not None and (over >= 1 and size < 0.9 or over < 1 and size > 1.1)
            yield f"{dataset} {expected}", None if unfair else over

    return cases


claim("figure 5", "AE's elimination ratio over Rabin_0.25's", "above 1 but on Bench", at_least(1, times))(_over("AE", "Rabin_0.25"))
claim("figure 5", "AE's elimination ratio over MAXP's", "above 1", at_least(1, times))(_over("AE", "MAXP"))
claim("figure 5", "AE-Opt2's elimination ratio over AE's", "above 1", at_least(1, times))(_over("AE-Opt2", "AE", mean_matters=False))


@claim("figure 6", "AE's lengths vary least", "“more uniform”", by_cases(lambda v: f"spread {v:.2f}"))
def _spread(evidence):
    for expected in ("4 KB", "8 KB", "16 KB"):
        rabin, maxp, mine = (spread(row) for row in list(four(evidence, "linux", expected).values())[:3])
        yield expected, mine, None not in (mine, rabin, maxp) and mine < min(rabin, maxp)


def _faster(other: str):
    return lambda evidence: [(f"{d} {e}", ratio(*(cutting(evidence, d, name, e, "scalar") for name in ("AE", other)))) for d in DRAWN for e in AE_EXPECTED]


claim("figure 7", "AE cuts faster than Rabin_0.25, scalar (rule: 0.8 of the paper's)", "3.21×", at_least(0.8 * 3.21, times))(_faster("Rabin_0.25"))
claim("figure 7", "AE cuts faster than MAXP, scalar (rule: 0.8 of the paper's)", "2.55×", at_least(0.8 * 2.55, times))(_faster("MAXP"))
claim("figure 8", "the whole system is faster with AE than with Rabin_0.25", "1.54 and 1.84×", at_least(1.54, times))(
    lambda evidence: [(d, ratio(*(value(engine(evidence, d, name), "bytes_per_second") for name in ("AE", "Rabin_0.25")))) for d in DRAWN]
)
