"""The tables of docs/papers/p-dedupe-store.md, from what store_runs.py measured."""

from experiments.papers.markdown import DASH, percent, plain, table, times
from experiments.papers.ours import less, ratio
from experiments.papers.store_runs import ALGORITHMS, KEPT, SEGMENTS, SETS, SIZE, SIZES, STUDIED, TIMED_SEGMENTS, Job, approaches, segmented

STAGES = ("chunking", "fingerprinting", "indexing", "writing")


class Stored:
    """What was measured. Jobs that were not are None everywhere."""

    def __init__(self, kept: dict):
        self.kept = kept

    def savings(self, job: Job) -> float | None:
        entry = self.kept["jobs"].get(job.name)
        return 1 - entry["chunk_bytes"] / entry["bytes"] if entry else None

    def speed(self, job: Job) -> float | None:
        """Bytes a second."""
        entry = self.kept["jobs"].get(job.name)
        return entry["bytes"] / entry["seconds"] if entry else None

    def seconds_per_gb(self, job: Job, name: str, stage: int | None = None) -> float | None:
        entry = self.kept["jobs"].get(job.name)
        if entry is None:
            return None
        return (entry[name] if stage is None else entry[name][stage]) / entry["bytes"] * 1e9


def rate(bytes_per_second: float | None) -> str:
    """In MB/s (10^6), as in the paper."""
    return DASH if bytes_per_second is None else f"{bytes_per_second / 1e6:,.0f}"


def where(stored: Stored) -> list[str]:
    kept = stored.kept
    sets = ", ".join(f"{name} {checksum[:12]}" for name, checksum in kept["checksums"].items())
    lines = [f"- processor: {kept['processor']}, {kept['processors']} processors", f"- cutpoint {kept['version']}", f"- medians of {kept['rounds']} runs, in turns"]
    return [*lines, f"- data: {sets}"]


def figure_14(stored: Stored) -> list[str]:
    """Savings and speeds of the three approaches: tables 3, 5 and 6 and figure 14."""
    rows = []
    for algorithm in ALGORITHMS:
        for dataset in SETS:
            jobs = approaches(dataset, algorithm)
            unjoined = percent(stored.savings(segmented(dataset, "4M", "none"))) if algorithm == "rabin" else ""
            saved = [percent(stored.savings(jobs[0])), unjoined, percent(stored.savings(jobs[2]))]
            speeds = [stored.speed(job) for job in jobs]
            gains = [times(ratio(speeds[a], speeds[b])) for a, b in ((1, 0), (2, 0), (2, 1))]
            rows.append([algorithm, dataset, *saved, *map(rate, speeds), *gains])
    header = ["algorithm", "data", "Baseline %", "no join %", "P-Dedupe %", "Baseline MB/s", "Pipeline MB/s", "P-Dedupe MB/s"]
    return table([*header, "Pipeline / Baseline", "P-Dedupe / Baseline", "P-Dedupe / Pipeline"], rows, words=2)


def stage_times(stored: Stored) -> list[str]:
    rows = []
    for algorithm in ALGORITHMS:
        baseline, pipeline, parallel = approaches("linux", algorithm)
        spent = [plain(stored.seconds_per_gb(baseline, "stage_seconds", stage), 3) for stage in range(len(STAGES))]
        rows.append([algorithm, *spent, *(plain(stored.seconds_per_gb(job, "processor_seconds"), 3) for job in (baseline, pipeline, parallel))])
    return table(["linux, s/GB", *STAGES, "processors, Baseline", "Pipeline", "P-Dedupe"], rows)


def figure_9(stored: Stored) -> list[str]:
    """Savings normalized to Baseline's, and what is missed of all bytes: figures 9 and 11."""
    rows = []
    for dataset in SETS:
        exact = stored.savings(Job(dataset, "rabin", SIZE, "baseline"))
        for segment in SEGMENTS:
            saved = [stored.savings(segmented(dataset, segment, join)) for join in ("none", "pdedupe")]
            rows.append([dataset, segment, *(percent(ratio(share, exact)) for share in saved), percent(less(exact, saved[1]), 4)])
    return table(["data", "segment", "no join, % of Baseline's", "P-Dedupe's join, % of Baseline's", "missed, points"], rows, words=2)


def figure_10(stored: Stored) -> list[str]:
    rows = []
    for dataset in STUDIED:
        serial = stored.speed(Job(dataset, "rabin", SIZE, "baseline"))
        for segment in TIMED_SEGMENTS:
            speeds = [stored.speed(segmented(dataset, segment, join)) for join in ("none", "pdedupe")]
            rows.append([dataset, segment, rate(serial), *map(rate, speeds), times(ratio(speeds[1], speeds[0]))])
    return table(["data", "segment", "Baseline MB/s", "no join MB/s", "P-Dedupe's join MB/s", "join / no join"], rows, words=2)


def figure_12(stored: Stored) -> list[str]:
    """Savings and speeds by the average chunk size: figures 12 and 13."""
    rows = []
    for dataset in STUDIED:
        for size in SIZES:
            serial, _, parallel = approaches(dataset, size=size, segment="1M")
            saved = [stored.savings(job) for job in (serial, segmented(dataset, "1M", "none", size), parallel)]
            speeds = [stored.speed(job) if dataset == "linux" else None for job in (serial, parallel)]
            gains = [*map(rate, speeds), times(ratio(speeds[1], speeds[0]))]
            rows.append([dataset, size, *map(percent, saved), *(["", "", ""] if dataset != "linux" else gains)])
    header = ["data", "size", "Baseline %", "no join %", "P-Dedupe's join %", "Baseline MB/s", "P-Dedupe MB/s", "P-Dedupe / Baseline"]
    return table(header, rows, words=2)


def life(stored: Stored) -> list[str]:
    rows = []
    for dataset, found in stored.kept["life"].items():
        before, after = found["before"], found["after"]

        def restored(what: str, layout: dict, found: dict = found) -> str:
            return f"{rate(layout['bytes'] / found[f'restore {what}'])} ({layout['containers_per_mib']:.2f})"

        freed = before["container_bytes"] - after["container_bytes"]
        deletion = [plain(1e3 * found[name], 0) for name in ("forget", "prune", "prune, nothing to free")]
        speeds = [restored("oldest", before["oldest"]), restored("newest", before["newest"]), restored("newest afterwards", after["newest"])]
        rows.append([dataset, *speeds, *deletion, plain(before["container_bytes"] / 1e6, 0), plain(freed / 1e6, 0)])
    header = ["data", "oldest, MB/s", "newest", f"newest, {KEPT} left", "forget ms", "prune ms", "prune again ms", "stored MB", "freed MB"]
    return table(header, rows)


TABLES = {
    "p-dedupe-store-where": where,
    "p-dedupe-store-figure-14": figure_14,
    "p-dedupe-store-stages": stage_times,
    "p-dedupe-store-figure-9": figure_9,
    "p-dedupe-store-figure-10": figure_10,
    "p-dedupe-store-figure-12": figure_12,
    "p-dedupe-store-life": life,
}
