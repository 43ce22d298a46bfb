"""The tables of docs/papers/p-dedupe-store.md, from what store_runs.py measured."""

from experiments.papers.evidence import Evidence, ratio
from experiments.papers.store_runs import ALGORITHMS, FIXED_THREADS, KEPT, SETS, SIZE, SIZES, STAGES, STUDIED, TIMED_SEGMENTS, Job, approaches, segmented, with_threads
from experiments.papers.tables import DASH, Rows, lines, percent, plain, table, times


def rate(bytes_per_second: float | None) -> str:
    """In MB/s (10^6), as in the paper."""
    return DASH if bytes_per_second is None else f"{bytes_per_second / 1e6:,.0f}"


def conditions(measured: dict) -> list[str]:
    """The machine, the program and the data of a measurement, or that there was none."""
    if not measured:
        return ["- not measured"]
    sets = ", ".join(f"{name} {checksum[:12]}" for name, checksum in measured["checksums"].items())
    processor = f"- processor: {measured['processor']}, {measured['processors']} processors"
    return [processor, f"- cutpoint {measured['version']}", f"- medians of {measured['rounds']} runs, in turns", f"- data: {sets}"]


@lines("p-dedupe-store-where")
def where(evidence: Evidence) -> list[str]:
    return conditions(evidence.store.measurements)


@table(
    "p-dedupe-store-figure-14", "algorithm", "data", "Baseline %", "no join %", "P-Dedupe %", "Baseline MB/s", "Pipeline MB/s", "P-Dedupe MB/s",
    "Pipeline / Baseline", "P-Dedupe / Baseline", "P-Dedupe / Pipeline", words=2,
)  # fmt: skip
def figure_14(evidence: Evidence) -> Rows:
    """Savings and speeds of the three approaches: tables 3, 5 and 6 and figure 14."""
    for algorithm in ALGORITHMS:
        for dataset in SETS:
            jobs = approaches(dataset, algorithm)
            unjoined = percent(evidence.store.savings(segmented(dataset, "4M", "none"))) if algorithm == "rabin" else ""
            saved = [percent(evidence.store.savings(jobs[0])), unjoined, percent(evidence.store.savings(jobs[2]))]
            speeds = [evidence.store.speed(job) for job in jobs]
            gains = [times(ratio(speeds[a], speeds[b])) for a, b in ((1, 0), (2, 0), (2, 1))]
            yield [algorithm, dataset, *saved, *map(rate, speeds), *gains]


@table("p-dedupe-store-stages", "linux, s/GB", *STAGES, "processors, Baseline", "Pipeline", "P-Dedupe")
def stage_times(evidence: Evidence) -> Rows:
    for algorithm in ALGORITHMS:
        baseline, pipeline, parallel = approaches("linux", algorithm)
        spent = [plain(evidence.store.seconds_per_gb(baseline, "stage_seconds", stage), 3) for stage in range(len(STAGES))]
        yield [algorithm, *spent, *(plain(evidence.store.seconds_per_gb(job, "processor_seconds"), 3) for job in (baseline, pipeline, parallel))]


def with_fixed_threads(evidence: Evidence, dataset: str, algorithm: str, cutters: int, hashers: int) -> float | None:
    """Bytes a second by equation 6, from the seconds that the stages of Baseline took, which are T_w / D for writing."""
    baseline = approaches(dataset, algorithm)[0]
    seconds = [evidence.store.seconds_per_gb(baseline, "stage_seconds", stage) for stage in range(len(STAGES))]
    if None in seconds:
        return None
    return 1e9 / max(each / threads for each, threads in zip(seconds, (cutters, hashers, 1, 1), strict=True))


@table(
    "p-dedupe-store-threads", "algorithm", "data", "eq. 6: 4 + 4 threads, MB/s", "3 + 5", "the paper's threads", "measured with these", "over Baseline",
    "P-Dedupe's own threads / Baseline", words=2,
)  # fmt: skip
def fixed_threads(evidence: Evidence) -> Rows:
    for algorithm, threads in FIXED_THREADS.items():
        for dataset in SETS:
            baseline, _, parallel = (evidence.store.speed(job) for job in approaches(dataset, algorithm))
            predicted = [with_fixed_threads(evidence, dataset, algorithm, *each) for each in ((4, 4), (3, 5))]
            job = with_threads(dataset, algorithm)
            measured = evidence.noted(evidence.store.speed(job), f"store {job.name}")
            gains = [times(ratio(speed, baseline)) for speed in (measured, parallel)]
            yield [algorithm, dataset, *map(rate, predicted), " + ".join(map(str, threads)), rate(measured), *gains]


@table("p-dedupe-store-figure-10", "data", "segment", "Baseline MB/s", "no join MB/s", "P-Dedupe's join MB/s", "join / no join", words=2)
def figure_10(evidence: Evidence) -> Rows:
    for dataset in STUDIED:
        serial = evidence.store.speed(Job(dataset, "rabin", SIZE, "baseline"))
        for segment in TIMED_SEGMENTS:
            speeds = [evidence.store.speed(segmented(dataset, segment, join)) for join in ("none", "pdedupe")]
            yield [dataset, segment, rate(serial), *map(rate, speeds), times(ratio(speeds[1], speeds[0]))]


@table("p-dedupe-store-figure-13", "size, linux", "Baseline MB/s", "P-Dedupe MB/s", "P-Dedupe / Baseline")
def figure_13(evidence: Evidence) -> Rows:
    for size in SIZES:
        serial, _, parallel = (evidence.store.speed(job) for job in approaches("linux", size=size, segment="1M"))
        yield [size, rate(serial), rate(parallel), times(ratio(parallel, serial))]


@table(
    "p-dedupe-store-life", "data", "oldest, MB/s", "newest", f"newest, {KEPT} left", "forget ms", "prune ms", "prune again ms", "stored MB", "freed MB",
)  # fmt: skip
def life(evidence: Evidence) -> Rows:
    for dataset, facts in evidence.store.measurements.get("life", {}).items():
        before, after = facts["before"], facts["after"]

        def restored(what: str, layout: dict, facts: dict = facts) -> str:
            return f"{rate(layout['bytes'] / facts[f'restore {what}'])} ({layout['containers_per_mib']:.2f})"

        freed = before["container_bytes"] - after["container_bytes"]
        deletion = [plain(1e3 * facts[name], 0) for name in ("forget", "prune", "prune, nothing to free")]
        speeds = [restored("oldest", before["oldest"]), restored("newest", before["newest"]), restored("newest afterwards", after["newest"])]
        yield [dataset, *speeds, *deletion, plain(before["container_bytes"] / 1e6, 0), plain(freed / 1e6, 0)]
