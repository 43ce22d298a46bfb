"""Tables and claims of definition_runs.py: printed definitions on the pages of their papers, and SeqCDC's shifts of bytes."""

import math
from functools import partial

from experiments.papers.claim import SIZE, Rule, Write, above, add_claim, at_least, at_most, below, gain, off, points
from experiments.papers.definition_runs import CHANGES, PLACES, SETS, SHIFTED
from experiments.papers.evidence import Evidence, less, ratio
from experiments.papers.phase_runs import PHASES
from experiments.papers.tables import DASH, Rows, kib, percent, plain, speed, table, times


def pair(evidence: Evidence, dataset: str, name: str) -> tuple[dict | None, dict | None, dict | None]:
    """What was measured of a definition: all of it, the printed one, and ours."""
    entry = evidence.definition(dataset, name)
    return (entry, entry["printed"], entry["ours"]) if entry else (None, None, None)


def saved(entry: dict | None, sums: dict | None) -> float | None:
    return None if sums is None else 1 - sums["unique_bytes"] / entry["bytes"]


def rate(entry: dict | None, sums: dict | None) -> float | None:
    """Bytes a second; None if no time was measured."""
    return None if sums is None or not sums["seconds"] else entry["bytes"] / sums["seconds"]


def shared(entry: dict | None) -> float | None:
    """The share of our cuts that the printed definition has too."""
    return None if entry is None else entry["shared_cuts"] / entry["ours"]["chunks"]


def _rows(names: tuple[str, ...], evidence: Evidence) -> Rows:
    for name in names:
        for dataset in SETS:
            entry, *both = pair(evidence, dataset, name)
            means = [kib(entry["bytes"] / sums["chunks"]) if sums else DASH for sums in both]
            savings, rates = ([f(show(entry, sums)) for sums in both] for f, show in ((percent, saved), (speed, rate)))
            yield [name, dataset, *means, *savings, percent(shared(entry), 1), *rates]


_COLUMNS = ("definition", "data", "mean KiB, printed", "ours", "savings %, printed", "ours", "shared cuts %", "GB/s, printed", "ours")
for _name, _definitions in {
    "ae-definitions": ("ae-algorithm-1", "ae-algorithm-2", "ae-algorithm-3", "maxp-strict", "maxp-minimum"),
    "p-dedupe-adler": ("adler-printed",),
    "prune-xor-steps": ("rabin-xor-steps",),
    "seqcdc-definitions": ("ram-greater", "seqcdc-absorbing"),
}.items():
    table(_name, *_COLUMNS, words=2)(partial(_rows, _definitions))


@table("ae-maxp-candidates", "data", "bytes for each candidate, strict on both sides", "ours", "strict of ours %")
def candidates(evidence: Evidence) -> Rows:
    for dataset in SETS:
        entry, *both = pair(evidence, dataset, "maxp-strict-candidates")
        yield [dataset, *(plain(entry["bytes"] / sums["chunks"], 0) if sums else DASH for sums in both), percent(shared(entry), 1)]


def tally(evidence: Evidence, dataset: str, algorithm: str, place: str, change: str, key: str) -> float | None:
    """The mean for each shift of a sum."""
    entry = evidence.shifts(dataset, algorithm).get(f"{place} {change}")
    return ratio(entry[key], entry["shifts"]) if entry else None


def both_changes(write: Write, of_change: list[float | None]) -> str:
    return "" if of_change == [None, None] else " / ".join(DASH if v is None else write(v) for v in of_change)


@table("seqcdc-figure-5", "data", "", "S1 minimum", "S2 skipped", "S3 sequence", "S4 between", "S5 maximum", "AE's window", words=2)
def figure_5(evidence: Evidence) -> Rows:
    """Changed chunks for each insertion / deletion."""
    for dataset in SETS:
        for name in SHIFTED:
            means = [[tally(evidence, dataset, name, place, change, "changed") for change in CHANGES] for place in PLACES]
            yield [dataset, name, *(both_changes(lambda v: f"{v:.2f}", cell) for cell in means)]


@table("ae-section-3-2", "data", "values", "before the maximum: none after, %", "one after at most, %", "behind it: one after at most, %", "most chunks")
def section_3_2(evidence: Evidence) -> Rows:
    for dataset in SETS:
        for name in ("ae-max", "ae-max of 8 bytes"):
            before = [
                both_changes(lambda v: plain(100 * v, 1), of_change)
                for of_change in (_without_later(evidence, dataset, name), _alone(evidence, dataset, name, "between"))
            ]
            entries = evidence.shifts(dataset, name)
            most = max((entry["most_changed"] for key, entry in entries.items() if key.startswith(("between", "window"))), default=None)
            behind = both_changes(lambda v: plain(100 * v, 1), _alone(evidence, dataset, name, "window"))
            yield [dataset, "8 bytes" if name.endswith("8 bytes") else "1 byte", *before, behind, plain(most, 0)]


def _alone(evidence: Evidence, dataset: str, name: str, place: str) -> list[float | None]:
    return [tally(evidence, dataset, name, place, change, "with_one_after") for change in CHANGES]


def _without_later(evidence: Evidence, dataset: str, name: str) -> list[float | None]:
    return [tally(evidence, dataset, name, "between", change, "with_none_after") for change in CHANGES]


def share(value: float) -> str:
    return f"{100 * value:.1f} %"


def _shifted(algorithm: str, places: tuple[str, ...], key: str):
    def cases(evidence):
        for dataset in SETS:
            for place in places:
                for change in CHANGES:
                    yield f"{dataset} {place} {change}", tally(evidence, dataset, algorithm, place, change, key)

    return cases


claim = partial(add_claim, source="definitions")
seqcdc = partial(claim, "SeqCDC", "section III-E")
seqcdc("a shift between sequences changes its chunk and at most the next (S4; share of shifts; rule: 95 %)", "“unaffected”", at_least(0.95, share))(
    _shifted("seqcdc-inc", ("between",), "with_one_after")
)
seqcdc(
    "a shift within a sequence leaves later chunks as they are (S3; share with at most one of them changed; rule: 95 %)", "“unaffected”", at_least(0.95, share)
)(_shifted("seqcdc-inc", ("sequence",), "with_one_after"))
seqcdc("shifts in regions that are skipped change few chunks (S1, S2; mean; rule: 3)", "“a limited number”", at_most(3, lambda v: f"{v:.2f}"))(
    _shifted("seqcdc-inc", ("minimum", "skipped"), "changed")
)

PHASED_NAMES = ("FCDC", "RC", "TTTD", "RAM", "GEAR", "AE", "SEQ")  # the paper's four first


def phase_share(evidence: Evidence, name: str, phase: str) -> float | None:
    entry = evidence.phased(name)
    return ratio(entry[phase], sum(entry[each] for each in PHASES)) if entry else None


@table("seqcdc-figure-1", "% of the time", *PHASES, "the paper", "readings of the clock, %", "time over that of one loop")
def figure_1(evidence: Evidence) -> Rows:
    printed = evidence.papers["seqcdc"].statements["figure-1"]["shares"]
    for name in PHASED_NAMES:
        shares = (percent(phase_share(evidence, name, phase), 1) for phase in PHASES)
        entry = evidence.phased(name)
        over = ratio(sum(entry[each] for each in PHASES), entry["one loop"]) if entry else None
        yield [name, *shares, printed.get(name, DASH), percent(phase_share(evidence, name, "readings"), 1), times(over)]


def _phase_shares(names: tuple[str, ...], phase: str):
    return lambda evidence: [(name, phase_share(evidence, name, phase)) for name in names]


phases = partial(add_claim, "SeqCDC", "figure 1", source="phases")
phases("fingerprints take little of the time (XXH3 for MurmurHash3; rule: 5 %)", "2 to 3 %", at_most(0.05, share))(_phase_shares(PHASED_NAMES[:4], "fingerprint"))
phases("rolling hashes take more than half of the time of FastCDC, Rabin and TTTD", "57 to 59 %", at_least(0.5, share))(
    _phase_shares(PHASED_NAMES[:3], "rolling hash")
)
phases("RAM spends its time on the search of extremes (rule: 90 %)", "96 %", at_least(0.9, share))(_phase_shares(("RAM",), "extreme search"))


def method_gain(evidence: Evidence, name: str, over: str) -> float | None:
    """The speed of a method over that of another of the same algorithm."""
    return ratio(evidence.baseline(name), evidence.baseline(f"{name.split('/')[0]}/{over}"))


@table("seqcdc-ss-cdc", "random, 16 KB", "reference, GB/s", "two stages", "SS-CDC", "SS-CDC over two stages", "over the reference")
def ss_cdc(evidence: Evidence) -> Rows:
    for name in ("gear", "crc32"):
        rates = [speed(evidence.baseline(f"{name}/{method}")) for method in ("reference", "two-stages", "ss-cdc")]
        yield [name, *rates, *(times(method_gain(evidence, f"{name}/ss-cdc", over)) for over in ("two-stages", "reference"))]


@table("seqcdc-small-window", "random, 16 KB", "RC, GB/s", "RC-SM", "RC-IND", "RC-IND over RC-SM", "the paper")
def small_window(evidence: Evidence) -> Rows:
    rates = [speed(evidence.baseline(f"rabin/{method}")) for method in ("rc", "rc-sm", "rc-ind")]
    yield ["Rabin", *rates, times(method_gain(evidence, "rabin/rc-ind", "rc-sm")), times(1 - 0.625)]


method = partial(claim, "SeqCDC")
method("figure 10", "SS-CDC makes Gear and CRC little faster (over the reference; rule: at most 3.05, SeqCDC's gain)", "“low speedups”", at_most(3.05, times))(
    lambda evidence: [(name, method_gain(evidence, f"{name}/ss-cdc", "reference")) for name in ("gear", "crc32")]
)
method("section VI-B", "two stages lose what the skipped minimum saves (two stages over the reference)", "“nullifying”", below(1, times))(
    lambda evidence: [(name, method_gain(evidence, f"{name}/two-stages", "reference")) for name in ("gear", "crc32")]
)
method("appendix B", "hashing each window anew is slower (RC-IND over RC-SM)", "0.38×", gain(times, 1 - 0.625))(
    lambda evidence: [("Rabin", method_gain(evidence, "rabin/rc-ind", "rc-sm"))]
)

ae = partial(claim, "AE")
for _values, _name in (("8 bytes, as in its example", "ae-max of 8 bytes"), ("one byte", "ae-max")):
    ae(
        "section 3.2",
        f"a shift before the maximum changes no later chunk (values of {_values}; share; rule: 95 %)",
        "“no efficiency loss”",
        at_least(0.95, share),
    )(_shifted(_name, ("between",), "with_none_after"))
    ae("section 3.2", f"one behind it changes at most the next chunk (values of {_values}; share; rule: 95 %)", "“only one”", at_least(0.95, share))(
        _shifted(_name, ("window",), "with_one_after")
    )


# AE-Opt1 as algorithm 2 prints it makes other cuts, so that its speed says nothing: `ae-max` is the corrected one.
ae(
    "section 3.3",
    "AE-Opt1, corrected, makes the cuts of algorithm 1 (share of them; rule: 99 %)",
    "“the same deduplication efficiency”",
    at_least(0.99, share),
)(lambda evidence: [(d, shared(evidence.definition(d, "ae-algorithm-1"))) for d in SETS])


@ae("figure 7", "AE-Opt1 cuts faster than AE, corrected beside algorithm 1 as printed (scalar, from memory)", "1.73×", gain(times, 1.73))
def _opt1(evidence):
    for dataset in SETS:
        entry, printed, ours = pair(evidence, dataset, "ae-algorithm-1")
        yield dataset, ratio(rate(entry, ours), rate(entry, printed))


WINDOW = 4768  # bytes, of AE with values of 8 bytes and chunks of 8 KiB: 8192 / (e - 1)


@ae("section 3.1", "the mean chunk is (e - 1) w, of random values of 8 bytes (off; rule: 3 %)", "1.718 w", at_most(0.03, off))
def _mean(evidence):
    entry, printed, _ = pair(evidence, "random", "ae-algorithm-3")  # its LEST of equal bytes does not occur among random ones
    yield "random", entry and abs(entry["bytes"] / printed["chunks"] / WINDOW / (math.e - 1) - 1)


@partial(claim, "PRUNE")(
    "figure 11",
    "INC-K is faster than Rabin whose modulo takes 32 steps, which cannot be what the paper measured (scalar, from memory)",
    "1.05 to 1.15×",
    Rule(times, {SIZE: gain(times, 1.05, 1.15).supports[SIZE]}),  # that it is faster says nothing then
)
def _inck(evidence):
    for dataset in SETS:
        entry, steps, inck = pair(evidence, dataset, "rabin-xor-steps")
        yield dataset, ratio(rate(entry, inck), rate(entry, steps))


@ae("section 4.2", "MAXP by maxima saves at least what it saves by minima", "“consistent with those of AE”", above(0, points(2)))
def _maxima(evidence):
    for dataset in SETS:
        entry, minimum, maximum = pair(evidence, dataset, "maxp-minimum")
        yield dataset, less(saved(entry, maximum), saved(entry, minimum))
