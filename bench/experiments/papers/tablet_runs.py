"""Measures PRUNE's fingerprint table in its four ways beside the index of a store, where memory is a quarter of the one table's file.

A first backup comes to an empty table. For what comes second, one fills a table where memory is not bounded, and what is measured begins with that
table on the disk alone: the same backup again, and one of new fingerprints. These are asked from their middle on, until they end or some seconds
are over: the further a backup has come, the further a linear list is walked, so that its middle is its mean, and the other ways do not care where.
First backups and rounds of growth are whole.

`only` measures some groups of jobs, and keeps what was measured of the others. Results are kept after each job.
"""

import json
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from experiments import memory_limit
from experiments.papers.measured import conditions, lines_of

FILE = "prune-tablets.json"  # beside the pages
FINGERPRINTS = 600_000
OF_PAPER = 12_000_000  # about: 100 GB in chunks of 8 KiB
ORDERS = ("single", "linear", "lru", "lru-list", "lru-creation")
SHARDS = "shards"
TABLET_KIB = tuple(512 * half for half in (1, 2, 3, 4, 5, 6, 9, 12, 15, 18, 21, 24, 27))  # 0.5 to 13.5 MB, as in figure 13
BEST_KIB = 1536
FILTER_BITS = (0, 2, 4, 6, 8, 12, 16)
USUAL_BITS = 8
MANY_BITS = 16  # of the rounds of growth that are beside those with the usual bits
ROUNDS_OF_GROWTH = 10
SIZES = (0.1, 0.3, 1, 3, 10)  # of the one table's file, over the memory
SMALL_LIMIT = 8_000_000  # bytes of memory for these
OPEN = (1, 4, 16, 64)  # tablets, where their number is bounded
SECONDS = 2  # of a second backup from its middle on, and of all runs of a job, after which there is no further one


@dataclass(frozen=True)
class Job:
    """A table and what is asked of it. `backup` is `first`, `same`, `new`, `scattered` or `growth`."""

    index: str
    backup: str = "same"
    tablet_kib: int = BEST_KIB
    filter_bits: int = USUAL_BITS
    most_open: int = 0  # all
    fingerprints: int = FINGERPRINTS
    limit: str = "quarter"  # of the file of the one table; or `half` of that, or bytes

    @property
    def all_fingerprints(self) -> int:
        """An upper bound of what the table has at last."""
        return self.fingerprints * (ROUNDS_OF_GROWTH if self.backup == "growth" else 1)

    @property
    def name(self) -> str:
        return " ".join(str(word) for word in asdict(self).values())


def orders() -> Iterator[Job]:
    """The store's shards take more memory than that for a first backup, whose containers and lists they keep until they write them."""
    yield from (Job(index, "first") for index in ORDERS)
    yield from (Job(index, backup) for index in (*ORDERS, SHARDS) for backup in ("new", "same"))
    yield Job(SHARDS, limit="half")


def by_tablet_size() -> Iterator[Job]:
    yield from (Job("lru", backup, tablet_kib=size) for size in TABLET_KIB for backup in ("new", "same"))


def by_filter() -> Iterator[Job]:
    yield from (Job("lru", backup, filter_bits=bits) for bits in FILTER_BITS for backup in ("new", "same"))


def by_open_tablets() -> Iterator[Job]:
    yield from (Job("lru", backup, most_open=count) for count in OPEN for backup in ("new", "same"))


def growth() -> Iterator[Job]:
    for index, bits in (("single", USUAL_BITS), ("lru", USUAL_BITS), ("lru", MANY_BITS)):
        yield Job(index, "growth", filter_bits=bits, fingerprints=FINGERPRINTS // ROUNDS_OF_GROWTH)


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
        settings = ["--index", job.index, "--fingerprints", job.fingerprints, "--tablet-kib", job.tablet_kib, "--filter-bits", job.filter_bits, "--filter-fingerprints", job.all_fingerprints, "--open", job.most_open]
        done = memory_limit.run([*map(str, [self.program, folder, *settings, "--table-cache-kib", 512, *words])], limit)
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
        """Fills a table by a first backup, unless the last job had the same, and returns what that took.

        Tablets do not depend on the filter, and without one a first backup looks each new fingerprint up in all tablets. So the usual
        filter is there, and the job's is made of the full tablets.
        """
        key = (job.index, job.tablet_kib, job.fingerprints)
        if not self._filled or self._filled[0] != key:
            (first,) = self._run(self._new_folder("table"), replace(job, most_open=0, filter_bits=USUAL_BITS), None, "--rounds", 1)
            self._filled = (key, first)
        if job.filter_bits != USUAL_BITS:
            self._run(self.scratch / "table", job, None, "--rounds", 0)
        return self._filled[1]

    def _copy(self, table: Path, job: Job) -> Path:
        """Copies a table, of which only the newest tablet and the filter are ever changed, and drops the copy from memory."""
        newest = max(table.glob("tablet-*"), default=None)

        def copy(source: str, target: str) -> None:
            is_changed = Path(source) == newest or Path(source).name.startswith("filter-")
            (shutil.copy2 if is_changed else os.link)(source, target)

        folder = self.scratch / "copy"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(table, folder, copy_function=copy)
        self._run(folder, job, None, "--rounds", 0)
        return folder

    def _ask(self, job: Job, limit: int | None, table: Path, *words: object) -> dict:
        """Measures a backup where memory is bounded. What adds fingerprints works on a copy."""
        folder = self._copy(table, job) if "--changed" in words else table
        (entry,) = self._run(folder, job, limit, "--rounds", 1, *words)
        return entry

    def measure(self, job: Job, limit: int | None, times: int = 1) -> list[dict]:
        """The medians of a job's rounds. Raises Killed."""
        if job.backup == "first":
            return [repeated(times, lambda: self._ask(job, limit, self._new_folder("first")))]
        if job.backup == "growth":
            table, entries = self._new_folder("growing"), []
            for number in range(ROUNDS_OF_GROWTH):
                words = ("--first-round", number, "--changed", 0.9)
                entries.append(repeated(times, lambda words=words: self._ask(job, limit, table, *words)))
                self._run(table, job, None, "--rounds", 1, *words)
            return entries
        self.fill(job)
        words = ["--first-round", 1, "--first", job.fingerprints // 2, "--seconds", SECONDS]
        words += {"same": [], "new": ["--changed", 1], "scattered": ["--scattered"]}[job.backup]
        return [repeated(times, lambda: self._ask(job, limit, self.scratch / "table", *words))]


def repeated(times: int, run: Callable[[], dict]) -> dict:
    """The median of some runs; of fewer if they are slow."""
    entries: list[dict] = []
    while len(entries) < times and sum(entry["seconds"] for entry in entries) < SECONDS:
        entries.append(run())
    return median(entries)


def median(rounds: list[dict]) -> dict:
    """The round whose speed is the median's."""
    speeds = sorted(rounds, key=lambda each: each["lookups"] / each["seconds"])
    return speeds[(len(speeds) - 1) // 2]


text_of = partial(lines_of, depth=2)  # a line for each job


# The jobs by the tables of the page that have them. A function takes the bytes of the one table's file for each fingerprint.
GROUPS: dict[str, Callable[[float], Iterable[Job]]] = {
    "orders": lambda _: orders(),
    "open": lambda _: by_open_tablets(),
    "tablet-sizes": lambda _: by_tablet_size(),
    "filter": lambda _: by_filter(),
    "growth": lambda _: growth(),
    "table-sizes": lambda file_bytes_each: by_table_size(SMALL_LIMIT, file_bytes_each),
}


def measure(
    build: Path, scratch: Path, rounds: int, log: Callable[[str], None], fingerprints: int = FINGERPRINTS,
    only: Iterable[str] = (), known: dict | None = None, skips_known: bool = False,
) -> Iterator[dict]:  # fmt: skip
    """Measures all jobs, or the groups `only`, or those of them that are not in `known`. Yields all measurements after each job. Those whose memory
    is a share of the one table's file have `fingerprints` for FINGERPRINTS.

    What is `known` of other jobs with as many fingerprints is kept. Raises memory_limit.Unlimited, RuntimeError if a program fails.
    """
    program = build / "bench/cutpoint_tablets"
    known = known if known and (only or skips_known) and known.get("fingerprints", fingerprints) == fingerprints else {}
    entries: dict[str, list[dict]] = dict(known.get("jobs", {}))
    killed = set(known.get("killed", ()))
    told = conditions(build / "cli/cutpoint", program, rounds)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        tables = Tables(program, Path(folder))
        log("filling the one table")
        single = known.get("single") or tables.fill(Job("single", fingerprints=fingerprints))
        quarter = single["file_bytes"] // 4
        limits = {"quarter": quarter, "half": quarter // 2}
        file_bytes_each = single["file_bytes"] / fingerprints
        jobs = dict.fromkeys(job for name, jobs_of in GROUPS.items() if not only or name in only for job in jobs_of(file_bytes_each))
        for job in jobs:
            if skips_known and (job.name in entries or job.name in killed):
                continue
            scaled = replace(job, fingerprints=job.fingerprints * fingerprints // FINGERPRINTS) if job.limit in limits else job
            log(f"measuring {job.name}")
            entries.pop(job.name, None)
            killed.discard(job.name)
            try:
                entries[job.name] = tables.measure(scaled, limits.get(job.limit) or int(job.limit), rounds)
            except Killed as why:
                log(str(why))
                killed.add(job.name)
            yield told | {
                "fingerprints": fingerprints,
                "limits": limits,
                "single": single,
                "small_limit": SMALL_LIMIT,
                "killed": sorted(killed),
                "jobs": entries,
            }
