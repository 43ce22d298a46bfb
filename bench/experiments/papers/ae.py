"""The tables of docs/papers/ae.md."""

import math

from experiments.papers.evidence import WIDEST, Evidence, ratio, value
from experiments.papers.lengths import PERCENTILES, length_cells, share_beyond
from experiments.papers.paper import AE_ALL_SETS, AE_EXPECTED, AE_NEAR, AE_OTHERS, AE_RABIN, AE_SETS, MAXP_WINDOWS
from experiments.papers.store_runs import AE_SETS as AE_STORE_SETS
from experiments.papers.store_runs import ae_systems
from experiments.papers.tables import DASH, Rows, kib, percent, plain, speed, table, times, tiny

NO_MAXIMUM = {"max_bytes": 0}
LEST_DIVISOR = 8  # the paper's choice: LEST is an eighth of the expected chunk size
FOUR = ("Rabin_0.25", "MAXP", "AE", "AE-Opt2")
DRAWN = ("linux", "images", "bench")
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


def stages_alone(evidence: Evidence, dataset: str) -> tuple[float | None, float | None]:
    """Bytes a second of Rabin_0.25 at 8 KB and of SHA-1, each stage of a run in one thread."""
    row = evidence.ours.run(dataset, "rabin", AE_RABIN["8 KB"], threads=1)
    chunking, fingerprinting = (value(row, f"report.stages.{stage}.bytes_per_second") for stage in ("chunking", "fingerprinting"))
    return chunking, fingerprinting


@table("ae-table-2", "one thread", "Rabin_0.25 GB/s", "SHA-1 GB/s", "SHA-1 / Rabin_0.25")
def table_2(evidence: Evidence) -> Rows:
    printed = evidence.papers["ae"].tables["table-2"]
    for name in printed.rows:
        rabin, sha1 = (1e6 * printed.at(name, column) for column in printed.columns)
        yield [f"{name} (paper)", speed(rabin), speed(sha1), times(ratio(sha1, rabin))]
    for dataset in DRAWN:
        rabin, sha1 = stages_alone(evidence, dataset)
        yield [f"**{dataset}** (ours)", speed(rabin), speed(sha1), times(ratio(sha1, rabin))]


@table("ae-table-4", "m", *(f"{name} {whose}" for name in TAILS for whose in ("paper", "ours")), "Rabin_0.25, e^(0.25-1.25m)")
def table_4(evidence: Evidence) -> Rows:
    printed = evidence.papers["ae"].tables["table-4"]
    for m in range(2, 9):
        cells = [str(m)]
        for name in TAILS:
            row = tail(evidence, name)
            cells += [tiny(printed.at(str(m), name)), tiny(share_beyond(row, m * value(row, "mean_bytes"))) if row else DASH]
        yield [*cells, tiny(math.exp(0.25 - 1.25 * m))]


@table("ae-table-5", "bytes detected, %", "data", *AE_EXPECTED, words=2)
def table_5(evidence: Evidence) -> Rows:
    printed = evidence.papers["ae"].tables["table-5"]
    for name in printed.rows:
        for whose in ("open-source", "VMDK"):
            yield [name, f"{whose} (paper)", *(plain(printed.at(name, f"{whose} {expected}")) for expected in AE_EXPECTED)]
            for dataset in (d for d, stands_for in AE_SETS.items() if stands_for == whose):
                yield ["", f"**{dataset}** (ours)", *(percent(evidence.detected_share(dataset, expected, name)) for expected in AE_EXPECTED)]


@table("ae-figure-4", "data", "expected chunk", "AE_MAX", "AE_MAX_T", "AE_MIN", "AE_MIN_T", words=2)
def figure_4(evidence: Evidence) -> Rows:
    for dataset in AE_ALL_SETS:
        for expected in AE_EXPECTED:
            runs = [other(evidence, dataset, name, expected, p) for name in ("ae-max", "ae-min") for p in (NO_MAXIMUM, {})]
            yield [dataset, expected, *(plain(value(row, "elimination_ratio"), 4) for row in runs)]


@table("ae-figure-5", "data", "expected chunk", *(f"{name}: DER at mean KiB" for name in FOUR), words=2)
def figure_5(evidence: Evidence) -> Rows:
    for dataset, stands_for in AE_ALL_SETS.items():
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


@table("ae-figure-7", "data", "expected chunk", *(f"{b} {n}" for b in ("scalar", "vectors") for n in (*FOUR[:3], "AE / Rabin_0.25", "AE / MAXP")), words=2)
def figure_7(evidence: Evidence) -> Rows:
    for dataset in DRAWN:
        for expected in AE_EXPECTED:
            cells = [dataset, expected]
            for backend in ("scalar", WIDEST):
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


@table(
    "ae-figure-8-store",
    "data",
    "8 KB, SHA-1, all four stages",
    "pipeline MB/s",
    "over Rabin_0.25",
    "parallel MB/s",
    "over Rabin_0.25",
    "slowest stage of the pipeline",
    words=2,
)
def figure_8_store(evidence: Evidence) -> Rows:
    """With writing, by store_runs.py."""
    for dataset in AE_STORE_SETS:
        systems = ae_systems(dataset)
        base = [evidence.store.speed(job) for job in systems["Rabin_0.25"]]
        for name, jobs in systems.items():
            rates = [evidence.noted(evidence.store.speed(job), f"store {job.name}") for job in jobs]
            cells = [cell for r, b in zip(rates, base, strict=True) for cell in (plain(r and r / 1e6, 0), times(ratio(r, b)))]
            yield [dataset, "AE, AE-Opt1" if name == "AE" else name, *cells, evidence.store.slowest(jobs[0]) or DASH]


def opt2_and_sha1(evidence: Evidence, dataset: str, backend: str) -> list[float | None]:
    """Bytes a second of AE, AE-Opt2 and SHA-1, each stage of a run in one thread, at 8 KB."""
    ae, opt = (evidence.ours.run(dataset, "ae-max", AE_OTHERS["8 KB"], p, backend=backend, threads=1) for p in ({}, opt2("8 KB")))
    return [value(row, f"report.stages.{stage}.bytes_per_second") for row, stage in ((ae, "chunking"), (opt, "chunking"), (ae, "fingerprinting"))]


@table("ae-figure-7-opt2", "data, 8 KB, in the cache", "back end", "AE GB/s", "AE-Opt2 GB/s", "SHA-1 GB/s", words=2)
def figure_7_opt2(evidence: Evidence) -> Rows:
    for dataset in DRAWN:
        for backend in ("scalar", evidence.ours.widest):
            yield [dataset, backend, *map(speed, opt2_and_sha1(evidence, dataset, backend))]
