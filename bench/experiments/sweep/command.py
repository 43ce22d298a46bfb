"""Runs the command `cutpoint` for a sweep: its identity, its catalog, and the options of a cell."""

import hashlib
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from experiments.catalog import INSTRUCTION_SETS, summary_of
from experiments.cli import WRONG_USAGE
from experiments.sizes import text_of
from experiments.sweep.data import Data, Input, files_under, forget
from experiments.sweep.plan import ALL, KERNELS, LEAST_BYTES, OF_KIND, STORES, Cell, digest


class Failed(Exception):
    """The command failed. The message is its own."""

    def __init__(self, message: str, code: int | None = None):
        super().__init__(message)
        self.code = code

    @property
    def reason(self) -> str:
        return str(self).removeprefix("cutpoint: error: ")


class Lacking(Exception):
    """The machine cannot do what a cell asks for. The message says why."""


class Command:
    """A binary of the command. Its answers are cached."""

    def __init__(self, path: Path):
        self.path = Path(os.path.realpath(path))
        self._absences: dict[tuple[str, ...], str] = {}  # by back end and the options of devices

    def run(self, *words: str) -> str:
        """Returns the output. Raises Failed with the last line of standard error, or with the exit code if that is empty."""
        run = subprocess.run([self.path, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        if run.returncode:
            messages = run.stderr.strip().splitlines()
            raise Failed(messages[-1] if messages else f"cutpoint {words[0]}: exit code {run.returncode}", run.returncode)
        return run.stdout

    def _answer(self, word: str) -> dict:
        """What the command says of itself."""
        try:
            return json.loads(self.run(word, "--json"))
        except ValueError as problem:
            raise Failed(f"{self.path}: what '{word} --json' prints is no JSON: {problem}") from None

    @cached_property
    def key(self) -> str:
        """The checksum of the binary, which is part of the key of results."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @cached_property
    def info(self) -> dict:
        return {"version": self._list["version"], "bytes": self.path.stat().st_size, "catalog": summary_of(self._list)}

    @cached_property
    def machine(self) -> dict:
        """Processors, caches and GPUs, without values that change from day to day, as what a virtual machine has of memory does."""
        info = self._answer("info")
        for node in info["machine"]["numa_nodes"]:
            del node["memory_bytes"]
        usable = [entry["name"] for entry in self._list["back_ends"] if entry["runs_here"]]
        return {"machine": info["machine"], "gpus": info["gpus"], "kernel": os.uname().release, "back_ends": usable}

    @property
    def machine_key(self) -> str:
        return digest(self.machine)

    @cached_property
    def _list(self) -> dict:
        return self._answer("list")

    @cached_property
    def profiles(self) -> set[str]:
        return {entry["name"] for entry in self._list["entries"] if entry["kind"] == "profile"}

    @cached_property
    def back_ends(self) -> dict[str, bool]:
        """The back ends, and whether each runs on this machine. Those of other architectures do not."""
        here = {entry["name"]: entry["runs_here"] for entry in self._list["back_ends"]} | {"auto": True}
        return here | {name: False for name in INSTRUCTION_SETS if name not in here}

    def absence(self, cell: Cell) -> str:
        """What this machine lacks for a cell and why, empty if it lacks nothing."""
        back_end = "cuda" if cell.kind == "device-kernels" else cell.backend
        if not {"backend", "devices"} & OF_KIND[cell.kind]:
            return ""
        processors = self.machine["machine"]["usable_processors"]
        if cell.threads > processors:
            return f"{cell.threads} threads do not run at once here: {processors} {'processors are' if processors > 1 else 'processor is'} usable"
        options = self._of_devices(cell)
        key = (back_end, *options)
        if key not in self._absences:
            runs_here = self.back_ends[back_end]
            self._absences[key] = "" if runs_here and not options else self._problem_of(back_end, options)
        return self._absences[key]

    def _problem_of(self, back_end: str, options: list[str]) -> str:
        """The command's own words, which say why it cannot use a back end or devices; empty if it can."""
        try:
            self.run("chunk", "-q", "--algorithm", "fixed", "--backend", back_end, *options, os.devnull)
        except Failed as refused:
            return refused.reason
        return "" if self.back_ends[back_end] else f"back end '{back_end}' does not run here"

    @staticmethod
    def _of_devices(cell: Cell) -> list[str]:
        options = {"--device": cell.devices, "--device-memory": cell.device_memory, "--batch": cell.batch}
        return [word for option, value in options.items() if value for word in (option, value)]

    def cuts(self, cell: Cell) -> list[str]:
        """The options that decide the cuts."""
        if cell.algorithm == ALL:
            return []
        words = ["--profile" if cell.algorithm in self.profiles else "--algorithm", cell.algorithm]
        if cell.size != "own":
            words += ["--size", cell.size]
        return words + [word for name, value in cell.parameters.items() for word in ("--param", f"{name}={value}")]

    def engine(self, cell: Cell) -> list[str]:
        """The options of a run of the engine that do not decide the cuts."""
        words = ["--backend", cell.backend]
        if cell.threads:
            words += ["--threads", str(cell.threads)]
        if cell.segment != "auto":
            words += ["--segment", cell.segment]
        options = {"--placement": cell.placement, "--memory": cell.memory}
        return words + self._of_devices(cell) + [word for option, value in options.items() if value for word in (option, value)]

    def store(self, cell: Cell) -> list[str]:
        """The words that make a store for a cell, but for its folder. It takes any fingerprint."""
        compression = ["--compression", cell.compression] if cell.compression else []
        return ["init", "--encryption", "none", "--for-experiments", "--hash", cell.hash, *compression, *self.cuts(cell)]

    def words(self, cell: Cell) -> list[str]:
        """The words of a run for a cell, before those for the data."""
        if cell.kind in KERNELS:
            where = ["--backend", "cuda", *self._of_devices(cell)] if cell.kind == "device-kernels" else []
            return ["bench", "--kernels", "--json", "-q", *where, "--bytes", cell.bytes, "--rounds", str(cell.rounds), *self.cuts(cell)]
        if cell.kind == "tune":
            return ["tune", "--json", "-q", "--sample", cell.sample, *(["--goal", cell.goal] if cell.goal else []), *self.cuts(cell)]
        if cell.kind == "backup":
            return ["backup", "--json", *self.engine(cell)]
        if cell.kind == "restore":
            return ["restore", "--json"]
        return ["dedup", "--json", "-q", *self.cuts(cell), "--hash", cell.hash, "--join", cell.join, *self.engine(cell)]

    def refusal(self, cell: Cell) -> str:
        """The command's message if it refuses such a cell, else an empty string. It is run on an empty input."""
        if cell.backend not in self.back_ends:
            return f"no back end '{cell.backend}'; there are {', '.join(self.back_ends)}"
        if not self.back_ends[cell.backend]:
            cell = replace(cell, backend="auto")  # checks the other options
        if cell.kind in STORES:
            return self._refusal_of_store(cell)
        if cell.kind in KERNELS:
            cell = replace(cell, bytes=text_of(LEAST_BYTES))  # for which the command takes memory before it looks at the data
        try:
            self.run(*self.words(cell), *(["--data"] if cell.kind in KERNELS else []), os.devnull)
        except Failed as refused:
            return self._wrong_usage(refused)
        return ""

    @staticmethod
    def _wrong_usage(refused: Failed) -> str:
        """The message, or nothing if it is about the empty input or about GPUs that other machines have."""
        return refused.reason if refused.code == WRONG_USAGE and "there is no GPU" not in refused.reason else ""

    def _refusal_of_store(self, cell: Cell) -> str:
        with tempfile.TemporaryDirectory() as folder:
            try:
                self.run(*self.store(cell), "--store", f"{folder}/store")
                if cell.kind == "backup":
                    self.run(*self.words(cell), "--store", f"{folder}/store", os.devnull)
            except Failed as refused:
                return self._wrong_usage(refused)
        return ""


# Measures a cell: runs the command once for each round, and makes one result of its outputs.
# Values that do not depend on threads or time, and so must be equal in all rounds.
CONSTANT = ("cuts", "fingerprint", "result.bytes", "result.chunk_count", "result.unique_bytes", "result.unique_chunk_count")


@dataclass(frozen=True)
class Measured:
    """The outcome of a cell: done, failed or unavailable. The latter two have a problem."""

    cell: Cell
    started: str
    seconds: float
    outcome: str
    problem: str = ""
    result: dict | None = None


def _at(report: dict, path: str):
    for name in path.split("."):
        report = report[name]
    return report


def _alone(report: dict) -> dict[str, float]:
    """Seconds that each stage and device would take without the others."""
    devices = {f"device {each['device']}": each["alone_seconds"] for each in report["devices"]}
    return {each["stage"]: each["alone_seconds"] for each in report["stages"]} | devices


def of_rounds(reports: list[dict]) -> dict:
    """The report of the round with the median time, and the times of all."""
    reports = sorted(reports, key=lambda report: report["wall_seconds"])
    alone = [_alone(report) for report in reports]
    return {
        "report": reports[(len(reports) - 1) // 2],
        "wall_seconds": [report["wall_seconds"] for report in reports],
        "alone_seconds": {name: [each.get(name, 0) for each in alone] for name in {name: None for each in alone for name in each}},
        "bytes_per_second": statistics.median(report["bytes_per_second"] or 0 for report in reports),
    }


def dedup(command: Command, cell: Cell, data: Input) -> dict:
    """The whole engine, without writing."""
    words = [*command.words(cell), *map(str, data.paths)]
    reports = []
    for _ in range(cell.rounds):
        data.prepare()
        reports.append(json.loads(command.run(*words)))
    for path in CONSTANT:
        values = {json.dumps(_at(report, path)) for report in reports}
        if len(values) > 1:
            raise Failed(f"rounds differ in {path}: {', '.join(sorted(values))}")
    return of_rounds(reports)


def kernels(command: Command, cell: Cell, data: Input) -> dict:
    """The speeds of the processor's back ends in one thread, or of a GPU, on the first bytes of the data."""
    report = json.loads(command.run(*command.words(cell), *(word for path in data.paths for word in ("--data", str(path)))))
    for row in report["rows"] if cell.kind == "device-kernels" else []:
        if row["back_ends"]["cuda"]["outcome"] == "unavailable":
            raise Lacking(row["back_ends"]["cuda"]["problem"])
    return report


def tune(command: Command, cell: Cell, data: Input) -> dict:
    """The search for the best parameters on a sample. The best five are tried on all of the data."""
    return json.loads(command.run(*command.words(cell), "--verify", *map(str, data.paths)))


@contextmanager
def _new_store(command: Command, cell: Cell, folder: Path) -> Iterator[tuple[Path, str]]:
    """A store for a cell. Yields its path, and its cuts as a canonical string."""
    with tempfile.TemporaryDirectory(prefix="cutpoint-sweep-", dir=folder) as room:
        store = Path(room, "store")
        facts = dict(line.split(None, 1) for line in command.run(*command.store(cell), "--store", str(store)).splitlines())
        yield store, facts["cuts"]


def _backed_up(command: Command, words: list[str], data: Input, store: Path) -> dict:
    """Backs up all of the data as one snapshot. Returns what the backup says at its end."""
    return json.loads(command.run(*words, "--store", str(store), *map(str, data.paths)).splitlines()[-1])


def _bytes_under(*folders: Path) -> int:
    return sum(file.stat().st_size for folder in folders for file in files_under(folder))


def backup(command: Command, cell: Cell, data: Input) -> dict:
    """First backups, each into a new store. Their reports have `cuts`, `result` and `bytes_per_second` as those of `dedup` do."""
    reports = []
    for _ in range(cell.rounds):
        with _new_store(command, cell, data.room) as (store, cuts):
            data.prepare()
            summary = _backed_up(command, command.words(cell), data, store)
            stored = _bytes_under(store / "containers", store / "shards")
        rate = summary["read_bytes"] / summary["wall_seconds"]
        reports.append(summary | {"cuts": cuts, "result": {"bytes": summary["read_bytes"]}, "bytes_per_second": rate})
    return of_rounds(reports) | {"bytes": summary["read_bytes"], "stored_bytes": stored}


def restore(command: Command, cell: Cell, data: Input) -> dict:
    """Restores all of the data from a store into an empty folder."""
    with _new_store(command, cell, data.room) as (store, _):
        snapshot = _backed_up(command, ["backup", "--json"], data, store)
        seconds = []
        for _ in range(cell.rounds):
            if cell.input == "cold":
                forget(files_under(store / "containers"))
            with tempfile.TemporaryDirectory(prefix="cutpoint-sweep-", dir=data.room) as target:
                begin = time.monotonic()
                command.run(*command.words(cell), "--store", str(store), "--target", f"{target}/restored", snapshot["id"])
                seconds.append(time.monotonic() - begin)
        size = snapshot["read_bytes"]
        return {
            "bytes": size, "wall_seconds": sorted(seconds), "bytes_per_second": size / statistics.median(seconds),
            "stored_bytes": _bytes_under(store / "containers", store / "shards"),
        }  # fmt: skip


def _run(command: Command, data: Data, cell: Cell) -> tuple[str, str, dict | None]:
    """Outcome, problem and result."""
    if absence := command.absence(cell):
        return "unavailable", absence, None
    run = {"dedup": dedup, "kernels": kernels, "device-kernels": kernels, "tune": tune, "backup": backup, "restore": restore}[cell.kind]
    try:
        with data.input(cell) as inputs:
            result = run(command, cell, inputs)
        if file := data.changed(cell.dataset):
            return "failed", f"{file} has changed since the checksum of '{cell.dataset}' was taken: start the sweep again", None
        return "done", "", result
    except Lacking as lacking:
        return "unavailable", str(lacking), None
    except (Failed, OSError, json.JSONDecodeError) as failed:
        return "failed", str(failed), None


def measure(command: Command, data: Data, cell: Cell) -> Measured:
    started, begin = datetime.now(UTC).isoformat(timespec="seconds"), time.monotonic()
    outcome, problem, result = _run(command, data, cell)
    return Measured(cell, started, time.monotonic() - begin, outcome, problem, result)
