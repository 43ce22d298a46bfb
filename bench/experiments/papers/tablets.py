"""The tables of docs/papers/prune-tablets.md, from what tablet_runs.py measured, and PRUNE's claims about its tablets."""

import statistics
from functools import partial

from experiments.papers.claim import above, add_claim, at_least, at_most, gain, within
from experiments.papers.evidence import Evidence, ratio
from experiments.papers.tables import DASH, Rows, lines, percent, plain, table, times
from experiments.papers.tablet_runs import BEST_KIB, FILTER_BITS, MANY_BITS, OPEN, ROUNDS_OF_GROWTH, SECONDS, SHARDS, SIZES, TABLET_KIB, USUAL_BITS, ORDERS, Job, growth, by_table_size

NAMES = {"single": "single", "linear": "linear", "lru": "LRU", "lru-list": "LRU, next in the list", "lru-creation": "LRU, created next", SHARDS: "the store's shards"}


def rounds(evidence: Evidence, job: Job) -> list[dict]:
    return evidence.tablets.get("jobs", {}).get(job.name, [])


def row(evidence: Evidence, job: Job) -> dict | None:
    return next(iter(rounds(evidence, job)), None)


def killed(evidence: Evidence, *jobs: Job) -> str:
    """What a row says of jobs that needed more memory than they were allowed."""
    return ", killed" if any(job.name in evidence.tablets.get("killed", ()) for job in jobs) else ""


def speed(entry: dict | None) -> float | None:
    """Lookups a second."""
    return ratio(entry["lookups"], entry["seconds"]) if entry else None


def per_lookup(entry: dict | None, key: str) -> float | None:
    return entry[key] / entry["lookups"] if entry and key in entry else None


def pages_read(entry: dict | None) -> float | None:
    """Pages of 4 KiB that a lookup reads from the disk."""
    return entry["read_bytes"] / 4096 / entry["lookups"] if entry else None


def wrong_share(entry: dict | None) -> float | None:
    """The share of new fingerprints that the filter takes for known ones."""
    return ratio(entry["false_positives"], entry["lookups"] - entry["present"]) if entry else None


def thousands(number: float | None) -> str:
    return DASH if number is None else plain(number / 1e3, 1)


def microseconds(lookups_per_second: float | None) -> str:
    return DASH if lookups_per_second is None else plain(1e6 / lookups_per_second, 2)


@lines("prune-tablets-where")
def where(evidence: Evidence) -> list[str]:
    measured = evidence.tablets
    if not measured:
        return ["- not measured"]
    single, limits = measured["single"], measured["limits"]
    sizes = f"{single['file_bytes'] / 1e6:,.0f} MB; memory: {limits['quarter'] / 1e6:.1f} MB, a quarter of it, and {limits['half'] / 1e6:.1f} MB"
    return [
        f"- processor: {measured['processor']}",
        f"- cutpoint {measured['version']}",
        f"- medians of up to {measured['rounds']} runs, as many as begin within {SECONDS} seconds; {measured['fingerprints']:,} fingerprints of 20 bytes; the one table's file: {sizes}",
    ]


PAPER_MB = {"single": (2.8, 3.3), "linear": (76.9, 42.9), "lru": (80.3, 79.3), "lru-list": (81.7, 80.0)}  # figure 15


@table(
    "prune-tablets-figure-15", "", "paper MB/s, first", "second", "ours, 1000/s, first", "new", "same", "same, tablets", "tree pages", "pages read",
)  # fmt: skip
def figure_15(evidence: Evidence) -> Rows:
    jobs = [Job(index) for index in (*ORDERS, SHARDS)] + [Job(SHARDS, limit="half")]
    for job in jobs:
        printed = [plain(number, 1) for number in PAPER_MB.get(job.index, (None, None))]
        *others, same = (row(evidence, Job(job.index, backup, limit=job.limit)) for backup in ("first", "new", "same"))
        speeds = [thousands(speed(each)) for each in (*others, same)]
        examined = [plain(per_lookup(same, key), 2) for key in ("examined", "pages")]
        name = NAMES[job.index] + (", half of the memory" if job.limit == "half" else "") + killed(evidence, job)
        yield [name, *printed, *speeds, *examined, plain(pages_read(same), 3)]


@table("prune-tablets-figure-13", "tablet MB", "µs a lookup, new", "same", "tablets", "pages read a lookup, same")
def figure_13(evidence: Evidence) -> Rows:
    for size in TABLET_KIB:
        new, same = (row(evidence, Job("lru", backup, tablet_kib=size)) for backup in ("new", "same"))
        count = plain(same and same["tablets"], 0)
        yield [plain(size / 1024, 1), microseconds(speed(new)), microseconds(speed(same)), count, plain(pages_read(same), 3)]


@table(
    "prune-tablets-figure-16", "backup", "single, 1000/s", "LRU, 1000/s", "over single", "tablets a lookup", "wrong, of new, %",
    f"LRU, {MANY_BITS} bits, 1000/s", "over single", "tablets a lookup", "wrong, of new, %",
)  # fmt: skip
def figure_16(evidence: Evidence) -> Rows:
    single, *lru = (rounds(evidence, job) for job in growth())
    for number in range(ROUNDS_OF_GROWTH):
        one, *others = (each[number] if each else None for each in (single, *lru))
        cells = [str(number + 1), thousands(speed(one))]
        for each in others:
            cells += [thousands(speed(each)), times(ratio(speed(each), speed(one))), plain(per_lookup(each, "examined"), 3), percent(wrong_share(each))]
        yield cells


@table("prune-tablets-filter", "bits a fingerprint", "wrong, of those that are new, %", "µs a lookup, new", "same", "tablets a lookup, new")
def filters(evidence: Evidence) -> Rows:
    for bits in FILTER_BITS:
        new, same = (row(evidence, Job("lru", backup, filter_bits=bits)) for backup in ("new", "same"))
        yield [str(bits), percent(wrong_share(new)), microseconds(speed(new)), microseconds(speed(same)), plain(per_lookup(new, "examined"), 2)]


@table("prune-tablets-sizes", "table over memory", "fingerprints", "LRU, 1000/s", "shards", "shards / LRU", "without locality: LRU", "shards", "shards / LRU")
def sizes(evidence: Evidence) -> Rows:
    measured = evidence.tablets
    if not measured:
        return
    jobs = list(by_table_size(measured["small_limit"], measured["single"]["file_bytes"] / measured["fingerprints"]))
    for number, share in enumerate(SIZES):
        of_size = jobs[4 * number : 4 * number + 4]
        local_lru, scattered_lru, local, scattered = (speed(row(evidence, job)) for job in of_size)
        near, far = times(ratio(local, local_lru)), times(ratio(scattered, scattered_lru))
        cells = [thousands(local_lru), thousands(local), near, thousands(scattered_lru), thousands(scattered), far]
        yield [f"{share:g}×" + killed(evidence, *of_size), plain(of_size[0].fingerprints, 0), *cells]


@table("prune-tablets-bytes", "", "bytes a fingerprint in memory", "on the disk")
def bytes_each(evidence: Evidence) -> Rows:
    for index in ("single", "lru", SHARDS):
        same = row(evidence, Job(index))
        cells = [plain(same and same[key] / same["size"], 1) for key in ("memory_bytes", "file_bytes")]
        yield [NAMES[index], *cells]


@table("prune-tablets-open", "open tablets", "µs a lookup, new", "same", "files opened a lookup, same", "pages read a lookup, same")
def open_tablets(evidence: Evidence) -> Rows:
    for count in (*OPEN, 0):
        new, same = (row(evidence, Job("lru", backup, most_open=count)) for backup in ("new", "same"))
        yield [str(count or "all"), microseconds(speed(new)), microseconds(speed(same)), plain(per_lookup(same, "openings"), 5), plain(pages_read(same), 3)]


claim = partial(add_claim, "PRUNE", page="prune-tablets.md", source="tablets")


def over(evidence: Evidence, one: Job, other: Job) -> float | None:
    return ratio(speed(row(evidence, one)), speed(row(evidence, other)))


claim("figure 15", "one table is far behind LRU on the second backup (LRU over it)", "24×", gain(times, 24))(
    lambda evidence: [("same", over(evidence, Job("lru"), Job("single")))]
)
claim("figure 15", "a linear list is slower on the second backup (LRU over it)", "1.85×", gain(times, 1.85))(
    lambda evidence: [("same", over(evidence, Job("lru"), Job("linear")))]
)
claim("figure 15", "one table reads more pages a lookup than LRU, and LRU no more than a linear list", "“random reads”", above(1, times))(
    lambda evidence: [
        (f"{a} over {b}", ratio(pages_read(row(evidence, Job(a))), pages_read(row(evidence, Job(b))))) for a, b in (("single", "lru"), ("linear", "lru"))
    ]
)
claim("figure 15", "prefetching changes LRU's second backup little (rule: 0.8 to 1.25)", "1.01×", within(0.8, 1.25, times))(
    lambda evidence: [(index, over(evidence, Job(index), Job("lru"))) for index in ("lru-list", "lru-creation")]
)
claim("figure 13", "on the second backup tablets of 13.5 MB are slower than those of 1.5 MB (over them)", "0.31×", gain(times, 0.31))(
    lambda evidence: [("13.5 over 1.5 MB", over(evidence, Job("lru", tablet_kib=TABLET_KIB[-1]), Job("lru", tablet_kib=BEST_KIB)))]
)


@claim("figure 13", "backups are fastest with tablets of 1.5 MB (over the fastest other size)", "“peak”", above(1, times))
def _peak(evidence):
    for backup in ("new", "same"):
        speeds = {size: speed(row(evidence, Job("lru", backup, tablet_kib=size))) for size in TABLET_KIB}
        others = [v for size, v in speeds.items() if size != BEST_KIB]
        yield backup, None if None in speeds.values() else ratio(speeds[BEST_KIB], max(others))


claim("figure 15", "one table is far behind LRU on the first backup (LRU over it)", "29×", gain(times, 80.3 / 2.8))(
    lambda evidence: [("first", over(evidence, Job("lru", "first"), Job("single", "first")))]
)


def of_growth(evidence: Evidence, bits: int) -> tuple[list[dict], list[dict]]:
    """The rounds of the one table, and of LRU with a filter of so many bits a fingerprint."""
    single, *lru = growth()
    return rounds(evidence, single), next(rounds(evidence, job) for job in lru if job.filter_bits == bits)


for _bits, _note in ((USUAL_BITS, ""), (MANY_BITS, f"; {MANY_BITS} bits a fingerprint in the filter")):

    @claim("figure 16", f"LRU does not slow as the table grows: the last round over the first (rule: 0.8{_note})", "“approximately 80 MB/sec”: 1×", at_least(0.8, times))
    def _keeps_its_speed(evidence, bits=_bits):
        _, lru = of_growth(evidence, bits)
        return [("LRU", ratio(speed(lru[-1]), speed(lru[0])))] if lru else []

    @claim("figure 16", f"in the last round LRU is far ahead of the one table (over it{_note})", "79 over 4 MB/s: 20×", gain(times, 79 / 4))
    def _last_round(evidence, bits=_bits):
        single, lru = of_growth(evidence, bits)
        return [("round 10", ratio(speed(lru[-1]), speed(single[-1])))] if single and lru else []

    @claim("section 5.6", f"the more tablets a lookup examines, the slower it is (correlation; rule: -0.5{_note})", "-0.62", at_most(-0.5, lambda v: f"{v:.2f}"))
    def correlations(evidence, bits=_bits):
        _, lru = of_growth(evidence, bits)
        return [("LRU", statistics.correlation([speed(each) for each in lru], [per_lookup(each, "examined") for each in lru]))] if lru else []
