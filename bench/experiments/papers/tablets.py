"""The tables of docs/papers/prune-tablets.md, from what tablet_runs.py measured, and PRUNE's claims about its tablets."""

import statistics
from functools import partial

from experiments.papers.claim import add_claim, at_least, at_most, each
from experiments.papers.evidence import Evidence, ratio
from experiments.papers.tables import DASH, Rows, lines, percent, plain, table, times
from experiments.papers.tablet_runs import BEST_KIB, FILTER_BITS, OPEN, ROUNDS_OF_GROWTH, SHARDS, SIZES, TABLET_KIB, ORDERS, Job, growth, by_table_size

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
    sizes = f"{single['file_bytes'] / 1e6:,.0f} MB; memory: {limits['quarter'] / 1e6:.1f} MB, a quarter of it, and {limits['fifth'] / 1e6:.1f} MB"
    return [
        f"- processor: {measured['processor']}",
        f"- cutpoint {measured['version']}",
        f"- medians of {measured['rounds']} runs; {measured['fingerprints']:,} fingerprints of 20 bytes; the one table's file: {sizes}",
    ]


PAPER_MB = {"single": (2.8, 3.3), "linear": (76.9, 42.9), "lru": (80.3, 79.3), "lru-list": (81.7, 80.0)}  # figure 15


@table(
    "prune-tablets-figure-15", "", "paper MB/s, first", "second", "ours, 1000/s, new", "same", "same, tablets", "tree pages", "pages read",
)  # fmt: skip
def figure_15(evidence: Evidence) -> Rows:
    jobs = [Job(index) for index in (*ORDERS, SHARDS)] + [Job(SHARDS, limit="fifth")]
    for job in jobs:
        printed = [plain(number, 1) for number in PAPER_MB.get(job.index, (None, None))]
        new, same = (row(evidence, Job(job.index, backup, limit=job.limit)) for backup in ("new", "same"))
        examined = [plain(per_lookup(same, key), 2) for key in ("examined", "pages")]
        name = NAMES[job.index] + (", a fifth of the memory" if job.limit == "fifth" else "") + killed(evidence, job)
        yield [name, *printed, thousands(speed(new)), thousands(speed(same)), *examined, plain(pages_read(same), 3)]


@table("prune-tablets-figure-13", "tablet MB", "µs a lookup, new", "same", "tablets", "pages read a lookup, same")
def figure_13(evidence: Evidence) -> Rows:
    for size in TABLET_KIB:
        new, same = (row(evidence, Job("lru", backup, tablet_kib=size)) for backup in ("new", "same"))
        count = plain(same and same["tablets"], 0)
        yield [plain(size / 1024, 1), microseconds(speed(new)), microseconds(speed(same)), count, plain(pages_read(same), 3)]


@table("prune-tablets-figure-16", "backup", "single, 1000/s", "LRU, 1000/s", "LRU, tablets a lookup")
def figure_16(evidence: Evidence) -> Rows:
    single, lru = (rounds(evidence, job) for job in growth())
    for number in range(ROUNDS_OF_GROWTH):
        one, other = (each[number] if number < len(each) else None for each in (single, lru))
        yield [str(number + 1), thousands(speed(one)), thousands(speed(other)), plain(per_lookup(other, "examined"), 3)]


@table("prune-tablets-filter", "bits a fingerprint", "wrong, of those that are new, %", "µs a lookup, new", "same", "tablets a lookup, new")
def filters(evidence: Evidence) -> Rows:
    for bits in FILTER_BITS:
        new, same = (row(evidence, Job("lru", backup, filter_bits=bits)) for backup in ("new", "same"))
        wrong = ratio(new["false_positives"], new["lookups"] - new["present"]) if new else None
        yield [str(bits), percent(wrong), microseconds(speed(new)), microseconds(speed(same)), plain(per_lookup(new, "examined"), 2)]


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


claim = partial(add_claim, "PRUNE", page="prune-tablets.md")


def over(evidence: Evidence, one: Job, other: Job) -> float | None:
    return ratio(speed(row(evidence, one)), speed(row(evidence, other)))


claim("figure 15", "one table is far behind LRU on the second backup (LRU over it; rule: 5)", "24×", at_least(5, times))(
    lambda evidence: [("same", over(evidence, Job("lru"), Job("single")))]
)
claim("figure 15", "a linear list is slower on the second backup (LRU over it; rule: 1.5)", "1.85×", at_least(1.5, times))(
    lambda evidence: [("same", over(evidence, Job("lru"), Job("linear")))]
)
claim("figure 15", "one table reads more pages a lookup than LRU, and LRU no more than a linear list", "“random reads”", at_least(1, times))(
    lambda evidence: [
        (f"{a} over {b}", ratio(pages_read(row(evidence, Job(a))), pages_read(row(evidence, Job(b))))) for a, b in (("single", "lru"), ("linear", "lru"))
    ]
)
claim("figure 15", "prefetching changes LRU's second backup little (rule: 0.8 to 1.25)", "1.01×", each(lambda v: 0.8 <= v <= 1.25, times))(
    lambda evidence: [(index, over(evidence, Job(index), Job("lru"))) for index in ("lru-list", "lru-creation")]
)
claim("figure 13", "on the second backup tablets of 13.5 MB are slower than those of 1.5 MB (rule: 0.8 of their speed)", "0.31×", at_most(0.8, times))(
    lambda evidence: [("13.5 over 1.5 MB", over(evidence, Job("lru", tablet_kib=TABLET_KIB[-1]), Job("lru", tablet_kib=BEST_KIB)))]
)


@claim("section 5.6", "the more tablets a lookup examines, the slower it is (correlation; rule: -0.5)", "-0.62", at_most(-0.5, lambda v: f"{v:.2f}"))
def correlations(evidence: Evidence) -> list[tuple]:
    measured = rounds(evidence, list(growth())[1])
    if len(measured) < ROUNDS_OF_GROWTH:
        return [("LRU", None)]
    return [("LRU", statistics.correlation([speed(each) for each in measured], [per_lookup(each, "examined") for each in measured]))]
