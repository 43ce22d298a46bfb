"""Reads results files as lists of dictionaries, each setting once, from the run that was started last; even while a sweep writes to the file."""

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from experiments.catalog import Catalog
from experiments.cli import shown

GIB = 1 << 30
HEADER = b"SQLite format 3\0"  # of a file

# Rows with equal values of these have the same setting. The newest of several binaries or machines counts.
RUN = ("dataset", "algorithm", "size", "parameters", "hash", "backend", "threads", "join_name", "segment")
SPEED = ("dataset", "algorithm", "size", "parameters", "place", "backend")
TUNE = ("dataset", "algorithm", "size")
STORE_FIELDS = {name: int for name in ("snapshots", "snapshot_bytes", "container_bytes", "shard_bytes")}
STORE_FIELDS |= {name: list for name in ("growth", "live_shares", "kinds")} | {name: dict for name in ("oldest", "newest")}


class Unreadable(Exception):
    """The file has no results. The message names it and says why."""


# What SQLite's errors mean to whoever gave the file, by the code without its extension.
MEANINGS = {
    sqlite3.SQLITE_BUSY: "is locked by another program",
    sqlite3.SQLITE_LOCKED: "is locked by another program",
    sqlite3.SQLITE_CORRUPT: "is damaged",
    sqlite3.SQLITE_FULL: "does not fit on its disk",
    sqlite3.SQLITE_IOERR: "cannot be read or written",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened",
    sqlite3.SQLITE_READONLY: "cannot be written",
}


def meaning(path: Path, problem: sqlite3.Error) -> str:
    """A sentence for an error of SQLite about a results file. Errors of queries mean that it is none."""
    code = getattr(problem, "sqlite_errorcode", 0) & 0xFF
    return f"{path} {MEANINGS.get(code, 'is no results file of scripts/sweep')}: {problem}"


@dataclass
class Results:
    """The data of the report. `runs`: whole engine; `backups`: first backups; `speeds`: cutting alone, by back end; `tunes`: searches for parameters;
    `stores`: what `cutpoint stats --details --json` printed, each with a name."""

    runs: list[dict] = field(default_factory=list)
    backups: list[dict] = field(default_factory=list)
    speeds: list[dict] = field(default_factory=list)
    tunes: list[dict] = field(default_factory=list)
    stores: list[dict] = field(default_factory=list)
    datasets: list[dict] = field(default_factory=list)
    machines: list[dict] = field(default_factory=list)
    binaries: list[dict] = field(default_factory=list)
    failures: list[dict] = field(default_factory=list)
    absences: list[dict] = field(default_factory=list)  # what machines lack, each with the number of cells that need it
    outcomes: dict[str, int] = field(default_factory=dict)
    catalog: Catalog = field(default_factory=Catalog)
    first: str = ""
    last: str = ""


def _newest(rows: list[dict], names: tuple[str, ...]) -> list[dict]:
    """The last row of each setting. Rows are in the order of their start."""
    return list({tuple(row[name] for name in names): row for row in rows}.values())


def _label_datasets(rows: list[dict], known: list[dict], has_unique_labels: bool) -> None:
    """Labels the data sets, and adds the checksum to the names of those with one name and different content."""
    named: dict[str, set[str]] = {}
    for row in rows:
        named.setdefault(row["dataset"], set()).add(row["checksum"])
    for row in rows:
        if has_unique_labels and len(named[row["dataset"]]) > 1:
            row["dataset"] = f"{row['dataset']} {row['checksum'][:6]}"
    labels = {row["checksum"]: row["dataset"] for row in rows}
    for entry in known:
        entry["label"] = labels.get(entry["checksum"], entry.get("name", entry["checksum"][:6]))


def _rows(ask, view: str, grouped: str, catalog: Catalog) -> list[dict]:
    """The rows of a view, each with the groups that want it."""
    rows = ask(
        f"select {view}.*, group_concat({view}.grp) as groups, cells.checksum, cells.rounds, cells.kind from {view} join cells on cells.key = {view}.key"
        f" group by {grouped} order by cells.started, cells.key"
    )
    for row in rows:
        if "result" in row:
            result = json.loads(row.pop("result"))
            row["report"], row["alone_seconds"], row["wall_seconds"] = result["report"], result.get("alone_seconds", {}), result.get("wall_seconds", [])
            row["cuts"] = row["report"]["cuts"]
        row["mechanism"] = catalog.mechanism(row["algorithm"])
        row["aim"] = catalog.aim(row["algorithm"], row["cuts"])
    counts = Counter(group for row in rows for group in set(row["groups"].split(",")))
    for row in rows:  # rows of one group are meant to be compared
        row["group_size"] = max(counts[group] for group in row.pop("groups").split(","))
    return rows


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Yields a connection to a snapshot of the file, beside which nothing is written. Raises Unreadable, also for later errors of the database."""
    path = path.resolve()
    # SQLite leaves files of its own where it may only read, so it looks for no other writer unless one has its log there.
    how = "mode=ro" if path.with_name(path.name + "-wal").exists() else "immutable=1"
    try:
        connection = sqlite3.connect(f"file:{quote(os.fsencode(path))}?{how}", uri=True)
    except sqlite3.Error as problem:
        raise Unreadable(meaning(path, problem)) from None
    connection.row_factory = sqlite3.Row
    try:
        connection.execute("begin")
        yield connection
    except sqlite3.Error as problem:
        raise Unreadable(meaning(path, problem)) from None
    finally:
        connection.close()


def read(path: Path, has_unique_labels: bool = True) -> Results:
    """Reads a results file. Data sets with one name and different content get labels of their own unless `has_unique_labels` is false.
    Raises Unreadable if it is none."""
    with reading(path) as connection:
        try:
            return _read(lambda query: [dict(row) for row in connection.execute(query)], has_unique_labels)
        except (ValueError, KeyError, TypeError) as problem:
            raise Unreadable(f"{path} has a result that cannot be read: {problem!r}") from None


def read_stores(paths: Iterable[Path]) -> list[dict]:
    """Reads outputs of `cutpoint stats --details --json`. Raises Unreadable if one is something else, or if two files have one name."""
    stores: dict[str, dict] = {}
    for path in paths:
        name = shown(path.stem)
        if name in stores:
            raise Unreadable(f"two stores are called {name}: rename {path}")
        try:
            store = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as problem:
            raise Unreadable(f"{path} is no JSON: {problem}") from None
        missing = [name for name, kind in STORE_FIELDS.items() if not isinstance(store, dict) or not isinstance(store.get(name), kind)]
        if missing:
            raise Unreadable(f"{path} is not what cutpoint stats --details --json prints: it has no {missing[0]}")
        stores[name] = store | {"name": name}
    return list(stores.values())


def _read(ask, has_unique_labels: bool) -> Results:
    results = Results()
    results.datasets = [json.loads(row["info"]) | {"checksum": row["checksum"]} for row in ask("select * from datasets order by rowid")]
    of_cells = "where key in (select {0} from cells) order by rowid"
    results.machines = [json.loads(row["info"]) for row in ask(f"select info from machines {of_cells.format('machine')}")]
    results.binaries = [
        json.loads(row["info"]) | {"key": row["key"]} for row in ask(f"select key, info from binaries {of_cells.format('binary')}")
    ]
    results.catalog = Catalog.merged([info["catalog"] for info in results.binaries if "catalog" in info])
    runs = _rows(ask, "rows", "rows.key", results.catalog)
    speeds = _rows(ask, "speeds", "speeds.key, speeds.place, speeds.backend", results.catalog)
    speeds = [row for row in speeds if row["outcome"] == "measured" and row["bytes_per_second"]]
    tunes = ask(
        "select key, checksum, dataset, algorithm, size, result from cells where kind = 'tune' and outcome = 'done' order by started, key"
    )
    for row in tunes:
        row["result"] = json.loads(row["result"])
    _label_datasets(runs + speeds + tunes, results.datasets, has_unique_labels)
    results.runs, results.backups = (_newest([row for row in runs if row["kind"] == kind], RUN) for kind in ("dedup", "backup"))
    results.speeds = _newest(speeds, SPEED)
    results.tunes = _newest(tunes, TUNE)
    results.failures = ask(
        "select dataset, kind, algorithm, size, hash, backend, outcome, problem from cells where outcome = 'failed' order by started, key"
    )
    results.absences = ask("select problem, count(*) as cells from cells where outcome = 'unavailable' group by problem order by problem")
    results.outcomes = {row["outcome"]: row["number"] for row in ask("select outcome, count(*) as number from cells group by outcome")}
    times = ask("select min(started) as first, max(started) as last from cells")[0]
    results.first, results.last = times["first"] or "", times["last"] or ""
    return results
