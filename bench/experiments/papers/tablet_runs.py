"""Measures PRUNE's fingerprint table in its four ways beside the index of a store, where memory is a quarter of the one table's file.

Each first backup fills a table where memory is not bounded. What is measured then begins with that table on the disk alone: the same backup
again, and one of new fingerprints. Times of slow ones are those of their first seconds.
"""

import hashlib
import json
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from experiments import memory_limit
from experiments.papers.json_lines import lines_of

FILE = "prune-tablets.json"  # beside the pages
FINGERPRINTS = 5_000_000
ORDERS = ("single", "linear", "lru", "lru-list", "lru-creation")
SHARDS = "shards"
TABLET_KIB = tuple(512 * half for half in range(1, 28))  # 0.5 to 13.5 MB, as in figure 13
BEST_KIB = 1536
FILTER_BITS = (0, 2, 4, 6, 8, 12, 16)
USUAL_BITS = 8
ROUNDS_OF_GROWTH = 10
SIZES = (0.1, 0.3, 1, 3, 10)  # of the one table's file, over the memory
SECONDS = 20  # of a backup
SMALLEST_SHARE = 5  # the shards' second limit is this share of the first


@dataclass(frozen=True)
class Job:
    """A table and what is asked of it. `backup` is `same`, `new`, `scattered` or `growth`."""

    index: str
    backup: str = "same"
    tablet_kib: int = BEST_KIB
    filter_bits: int = USUAL_BITS
    fingerprints: int = FINGERPRINTS
    limit: str = "quarter"  # of the file of the one table; or `fifth` of that, or bytes

    @property
    def name(self) -> str:
        return " ".join(str(word) for word in asdict(self).values())


def orders() -> Iterator[Job]:
    for index in (*ORDERS, SHARDS):
        for backup in ("new", "same"):
            yield Job(index, backup)
    yield Job(SHARDS, limit="fifth")


def by_tablet_size() -> Iterator[Job]:
    yield from (Job("lru", backup, tablet_kib=size) for size in TABLET_KIB for backup in ("new", "same"))


def by_filter() -> Iterator[Job]:
    yield from (Job("lru", backup, filter_bits=bits) for bits in FILTER_BITS for backup in ("new", "same"))


def growth() -> Iterator[Job]:
    yield from (Job(index, "growth", fingerprints=FINGERPRINTS // ROUNDS_OF_GROWTH) for index in ("single", "lru"))


def by_table_size(limit_bytes: int, file_bytes_each: float) -> Iterator[Job]:
    for share in SIZES:
        count = int(share * limit_bytes / file_bytes_each)
        for index in ("lru", SHARDS):
            for backup in ("same", "scattered"):
                yield Job(index, backup, fingerprints=count, limit=str(limit_bytes))


class Killed(Exception):
    """A program needed more memory than it was allowed."""


class Tables:
    """Runs `cutpoint_tablets`. A table that several jobs ask is filled once."""

    def __init__(self, program: Path, scratch: Path):
        self.program, self.scratch = program, scratch
        self._filled: tuple | None = None

    def _run(self, folder: Path, job: Job, limit: int | None, *words: object) -> list[dict]:
        settings = ["--index", job.index, "--fingerprints", job.fingerprints, "--tablet-kib", job.tablet_kib, "--filter-bits", job.filter_bits]
        done = memory_limit.run([*map(str, [self.program, folder, *settings, "--table-cache-kib", 1024, *words])], limit)
        if done.returncode == -signal.SIGKILL:
            raise Killed(f"{job.name}: needs more than {limit} bytes of memory")
        if done.returncode != 0:
            raise RuntimeError(f"{job.name}: {done.stderr.strip()}")
        return json.loads(done.stdout)["rounds"]

    def _new_folder(self, name: str) -> Path:
        folder = self.scratch / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    def fill(self, job: Job) -> dict:
        """Fills a table by a first backup, unless the last job had the same, and returns what that took."""
        key = (job.index, job.tablet_kib, job.filter_bits, job.fingerprints)
        if not self._filled or self._filled[0] != key:
            (first,) = self._run(self._new_folder("table"), job, None, "--rounds", 1)
            self._filled = (key, first)
        return self._filled[1]

    def measure(self, job: Job, limit: int) -> list[dict]:
        """The rounds of a job. Those that add fingerprints work on a copy of the table."""
        if job.backup == "growth":
            return self._run(self._new_folder("growing"), job, limit, "--rounds", ROUNDS_OF_GROWTH, "--changed", 0.9, "--seconds", SECONDS)
        self.fill(job)
        folder = self.scratch / "table"
        if job.backup == "new":
            folder = self.scratch / "copy"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(self.scratch / "table", folder)
            self._run(folder, job, None, "--rounds", 0)  # drops the copy from memory
        words = {"same": [], "new": ["--changed", 1], "scattered": ["--scattered"]}[job.backup]
        return self._run(folder, job, limit, "--first-round", 1, "--rounds", 1, "--seconds", SECONDS, *words)


def median(rounds: list[dict]) -> dict:
    """The round whose speed is the median's."""
    speeds = sorted(rounds, key=lambda each: each["lookups"] / each["seconds"])
    return speeds[(len(speeds) - 1) // 2]


text_of = partial(lines_of, depth=2)  # a line for each job


def measure(build: Path, scratch: Path, rounds: int, log: Callable[[str], None], fingerprints: int = FINGERPRINTS) -> dict:
    """Everything. Raises memory_limit.Unlimited, RuntimeError if a program fails."""
    program = build / "bench/cutpoint_tablets"
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        tables = Tables(program, Path(folder))
        log("filling the one table")
        single = tables.fill(Job("single", fingerprints=fingerprints))
        quarter = single["file_bytes"] // 4
        limits = {"quarter": quarter, "fifth": quarter // SMALLEST_SHARE}
        small = by_table_size(quarter // 4, single["file_bytes"] / fingerprints)
        jobs = dict.fromkeys([*orders(), *by_tablet_size(), *by_filter(), *growth(), *small])
        entries: dict[str, list[dict]] = {}
        for job in jobs:
            scaled = job if fingerprints == FINGERPRINTS else Job(**asdict(job) | {"fingerprints": max(1000, job.fingerprints * fingerprints // FINGERPRINTS)})
            log(f"measuring {job.name}")
            try:
                runs = [tables.measure(scaled, limits.get(job.limit) or int(job.limit)) for _ in range(rounds)]
            except Killed as killed:
                log(str(killed))  # a dash in the tables
                continue
            entries[job.name] = [median([run[number] for run in runs]) for number in range(len(runs[0]))]
    info = json.loads(subprocess.run([build / "cli/cutpoint", "info", "--json"], capture_output=True, text=True, check=True).stdout)
    return {
        "processor": info["machine"]["processor_model"],
        "version": f"{info['version']}, binary {hashlib.sha256(program.read_bytes()).hexdigest()[:12]}",
        "rounds": rounds,
        "fingerprints": fingerprints,
        "limits": limits,
        "single": single,
        "small_limit": quarter // 4,
        "jobs": entries,
    }
