"""The evidence for tables and claims: the papers' numbers, and our measurements by their settings. A row that is missing is noted, and is None."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from experiments.catalog import INSTRUCTION_SETS
from experiments.papers.definition_runs import BASELINES
from experiments.papers.paper import Paper, matrix_size, read_all
from experiments.papers.phase_runs import SET as PHASED
from experiments.papers.store_runs import STAGES, Job
from experiments.results import RUN, SPEED, TUNE, read

WIDEST = "widest"  # as a back end: the widest instruction set of the machine
VECTORS = {128: ("sse4", "neon"), 256: ("avx2",), 512: ("avx512",)}  # instruction sets by the bits of their vectors, of each architecture
USUAL = ("{}", "sha1", "auto", "exact", "memory", 0)  # settings that messages leave out


def value(row: dict | None, path: str):
    """The value at a path of names, such as `report.result.chunks.mean_bytes`; stages by their name. None if the row is None."""
    for name in path.split("."):
        if row is None:
            return None
        row = next((entry for entry in row if entry["stage"] == name), None) if isinstance(row, list) else row[name]
    return row


def ratio(over: float | None, under: float | None) -> float | None:
    return over / under if over is not None and under else None


def less(a: float | None, b: float | None) -> float | None:
    return a - b if a is not None and b is not None else None


def _text(parameters: dict | None) -> str:
    return json.dumps(parameters or {}, sort_keys=True)


class NoSweep(Exception):
    """A table needs the results of a sweep, and none were given."""


class Absent:
    """Stands for results that were not given."""

    def __getattr__(self, name: str):
        raise NoSweep(name)

    def __bool__(self) -> bool:
        return False


class Ours:
    """A results file. `missing` describes every row that was looked up but does not exist.

    Back ends are named as the command names them; WIDEST is that of the machine that measured last. A row by an instruction set that this
    machine lacks is None, and is not missing.
    """

    def __init__(self, path: Path):
        self.missing: list[str] = []
        results = read(path, has_unique_labels=False)
        self._runs = {tuple(row[name] for name in RUN): row for row in results.runs}
        self._speeds = {tuple(row[name] for name in SPEED): row for row in results.speeds}
        self._tunes = {tuple(row[name] for name in TUNE): row["result"] for row in results.tunes}
        infos = {info["checksum"]: info for info in results.datasets}
        self.datasets = {row["dataset"]: infos[row["checksum"]] for row in results.runs}
        self.machines, self.binaries, self.first, self.last = results.machines, results.binaries, results.first, results.last
        self.sets = [name for name in INSTRUCTION_SETS if self.machines and name in self.machines[-1]["back_ends"]]

    @property
    def widest(self) -> str:
        return self.sets[-1] if self.sets else "scalar"

    def of_bits(self, bits: int) -> str | None:
        """The instruction set with vectors of this width, None if the machine has none."""
        return next((name for name in VECTORS[bits] if name in self.sets), None)

    def _lacks(self, backend: str | None) -> bool:
        return backend is None or (backend in INSTRUCTION_SETS and backend not in self.sets)

    def _get(self, table: dict, names: tuple[str, ...], key: tuple, kind: str):
        if key not in table:
            words = " ".join([kind, *(f"{word} threads" if name == "threads" else word for name, word in zip(names, key, strict=True) if word not in USUAL)])
            if words not in self.missing:
                self.missing.append(words)
        return table.get(key)

    def run(self, dataset: str, algorithm: str, size: str, parameters: dict | None = None, **settings) -> dict | None:
        """A run of the whole engine. `settings` are hash, backend, threads, join and segment, if they are not the sweep's defaults."""
        chosen = {"hash": "sha1", "backend": "auto", "threads": 0, "join": "exact", "segment": "auto"}
        unknown = set(settings) - set(chosen)
        if unknown:
            raise TypeError(f"no settings {unknown}")
        chosen |= settings
        if self._lacks(chosen["backend"]):
            return None
        if chosen["backend"] == WIDEST:
            chosen["backend"] = self.widest
        return self._get(self._runs, RUN, (dataset, algorithm, size, _text(parameters), *chosen.values()), "dedup")

    def speed(self, dataset: str, algorithm: str, size: str, backend: str | None) -> float | None:
        """Bytes a second of cutting alone, in memory, in one thread. The scalar speed counts for a name without a kernel for the back end."""
        if self._lacks(backend):
            return None
        backend = self.widest if backend == WIDEST else backend
        for name in (backend, "scalar"):
            if row := self._speeds.get((dataset, algorithm, size, "{}", "memory", name)):
                return row["bytes_per_second"]
        return self._get(self._speeds, SPEED, (dataset, algorithm, size, "{}", "memory", backend), "kernels")

    def tune(self, dataset: str, algorithm: str, size: str) -> dict | None:
        """The result of a search for parameters."""
        return self._get(self._tunes, TUNE, (dataset, algorithm, size), "tune")


class Stored:
    """What store_runs.py measured. Jobs that were not measured are None everywhere."""

    def __init__(self, measurements: dict):
        self.measurements = measurements
        self._jobs = measurements.get("jobs", {})
        self.processors = measurements.get("processors", 1)

    def savings(self, job: Job) -> float | None:
        entry = self._jobs.get(job.name)
        return 1 - entry["chunk_bytes"] / entry["bytes"] if entry else None

    def speed(self, job: Job) -> float | None:
        """Bytes a second."""
        entry = self._jobs.get(job.name)
        return entry["bytes"] / entry["seconds"] if entry else None

    def slowest(self, job: Job) -> str | None:
        """The stage that worked longest."""
        entry = self._jobs.get(job.name)
        return max(zip(entry["stage_seconds"], STAGES, strict=True))[1] if entry else None

    def seconds_per_gb(self, job: Job, name: str, stage: int | None = None) -> float | None:
        entry = self._jobs.get(job.name)
        if entry is None:
            return None
        return (entry[name] if stage is None else entry[name][stage]) / entry["bytes"] * 1e9


@dataclass(frozen=True)
class Evidence:
    papers: dict[str, Paper] = field(default_factory=read_all)
    ours: Ours | Absent = Absent()  # without a sweep, its tables stay as they are
    low_entropy: dict = field(default_factory=dict)  # shares measured by runs.py, by data set, expected chunk and row of AE's table 5
    store: Stored = field(default_factory=lambda: Stored({}))
    definitions: dict = field(default_factory=dict)  # measured by definition_runs.py, by data set
    phases: dict = field(default_factory=dict)  # what phase_runs.py measured, if anything
    tablets: dict = field(default_factory=dict)  # what tablet_runs.py measured, if anything
    fair: dict = field(default_factory=dict)  # settings that fair_runs.py came to, by data set
    clusters: dict = field(default_factory=dict)  # what cluster_runs.py measured, if anything
    contexts: dict = field(default_factory=dict)  # what context_runs.py measured, if anything
    claims: dict = field(default_factory=dict)  # numbers of claims by machine, as claim.py keeps them
    sources: dict = field(default_factory=dict)  # the `machine` that measured each of the above, and `by` which binary

    def noted(self, entry, words: str):
        """The entry; one that was not measured is noted as missing."""
        if not entry and self.ours and words not in self.ours.missing:
            self.ours.missing.append(words)
        return entry

    def detected_share(self, dataset: str, expected: str, name: str) -> float | None:
        """The share of low-entropy strings that a row of AE's table 5 detects."""
        entry = self.noted(self.low_entropy.get(dataset, {}).get(expected), f"low-entropy strings of {dataset}")
        return (entry or {}).get(name)

    def definition(self, dataset: str, name: str) -> dict | None:
        """A printed definition beside ours."""
        return (self.noted(self.definitions.get(dataset, {}).get("definitions"), f"definitions on {dataset}") or {}).get(name)

    def phased(self, name: str) -> dict[str, float] | None:
        """The seconds of an algorithm by phase, as in SeqCDC's figure 1."""
        return (self.noted(self.phases.get("algorithms"), f"time by phase on {PHASED}") or {}).get(name)

    def baseline(self, name: str) -> float | None:
        """Bytes a second of a method that papers compare with, as `gear/ss-cdc`."""
        return (self.noted(self.definitions.get(BASELINES, {}).get("baselines"), "methods that papers compare with") or {}).get(name)

    def fair_setting(self, dataset: str, name: str) -> dict | None:
        """The setting with a mean near SeqCDC's target, and what it gives."""
        entries = self.noted(self.fair.get(dataset, {}).get("algorithms"), f"sizes of near means on {dataset}")
        return (entries or {}).get(name)

    def shifts(self, dataset: str, algorithm: str) -> dict[str, dict]:
        """Shifts of an algorithm's chunks, by place and change."""
        return self.noted(self.definitions.get(dataset, {}).get("shifts", {}).get(algorithm), f"shifts of {algorithm} on {dataset}") or {}

    def matrix(self, dataset: str, algorithm: str, target: str) -> dict | None:
        """The run of every algorithm on every data set at 4, 8 and 16 KiB."""
        return self.ours.run(dataset, algorithm, matrix_size(algorithm, target))

    def cutting(self, dataset: str, algorithm: str, target: str, backend: str | None) -> float | None:
        """Bytes a second of the same, cutting alone."""
        return self.ours.speed(dataset, algorithm, matrix_size(algorithm, target), backend)
