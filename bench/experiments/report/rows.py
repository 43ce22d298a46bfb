"""Reads a results file as lists of dictionaries: each setting once, from the run that was started last."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from experiments.catalog import Catalog
from experiments.sweep.results import Unreadable, reading

GIB = 1 << 30

# Rows with equal values of these have the same setting. The newest of several binaries or machines counts.
SETTING = ("dataset", "algorithm", "size", "parameters", "hash", "backend", "threads", "join_name", "segment")
STORE_FIELDS = ("snapshots", "snapshot_bytes", "container_bytes", "shard_bytes", "growth", "live_shares", "oldest", "newest", "kinds")


@dataclass
class Results:
    """The data of the report. `runs`: whole engine; `speeds`: cutting alone, by back end; `tunes`: searches for parameters;
    `stores`: what `cutpoint stats --details --json` printed, each with a name."""

    runs: list[dict] = field(default_factory=list)
    speeds: list[dict] = field(default_factory=list)
    tunes: list[dict] = field(default_factory=list)
    stores: list[dict] = field(default_factory=list)
    datasets: list[dict] = field(default_factory=list)
    machines: list[dict] = field(default_factory=list)
    binaries: list[dict] = field(default_factory=list)
    failures: list[dict] = field(default_factory=list)
    outcomes: dict[str, int] = field(default_factory=dict)
    catalog: Catalog = field(default_factory=Catalog)
    first: str = ""
    last: str = ""


def _newest(rows: list[dict], names: tuple[str, ...]) -> list[dict]:
    """The last row of each setting. Rows are in the order of their start."""
    return list({tuple(row[name] for name in names): row for row in rows}.values())


def _name_datasets(rows: list[dict], known: list[dict]) -> None:
    """Adds the checksum to the names of data sets with one name and different content."""
    named: dict[str, set[str]] = {}
    for row in rows:
        named.setdefault(row["dataset"], set()).add(row["checksum"])
    for row in rows:
        if len(named[row["dataset"]]) > 1:
            row["dataset"] = f"{row['dataset']} {row['checksum'][:6]}"
    labels = {row["checksum"]: row["dataset"] for row in rows}
    for entry in known:
        entry["label"] = labels.get(entry["checksum"], entry.get("name", entry["checksum"][:6]))


def _add_aim(row: dict, cuts: str, catalog: Catalog) -> None:
    row["mechanism"] = catalog.mechanism(row["algorithm"])
    row["aim"] = catalog.aim(row["algorithm"], cuts)


def _by_group(rows: list[dict]) -> list[dict]:
    """Adds to each row the size of its largest group. Rows of one group are meant to be compared."""
    counts = Counter(group for row in rows for group in set(row["groups"].split(",")))
    for row in rows:
        row["group_size"] = max(counts[group] for group in row.pop("groups").split(","))
    return rows


def _runs(ask, catalog: Catalog) -> list[dict]:
    rows = ask(
        "select rows.key, group_concat(rows.grp) as groups, cells.checksum, cells.rounds, rows.dataset, rows.algorithm, rows.size, rows.parameters, rows.hash,"
        " rows.backend, rows.threads, rows.join_name, rows.segment, rows.bytes, rows.chunk_count, rows.mean_bytes, rows.unique_bytes,"
        " rows.savings, rows.elimination_ratio, rows.bytes_per_second, rows.bottleneck, rows.backend_chunking, rows.dirty_chunks,"
        " rows.missed_share, rows.result from rows join cells on cells.key = rows.key"
        " group by rows.key order by cells.started, cells.key"
    )
    for row in rows:
        row["report"] = json.loads(row.pop("result"))["report"]
        _add_aim(row, row["report"]["cuts"], catalog)
    return _by_group(rows)


def _speeds(ask, catalog: Catalog) -> list[dict]:
    rows = ask(
        "select speeds.key, group_concat(speeds.grp) as groups, cells.checksum, cells.rounds, speeds.dataset, speeds.algorithm, speeds.size, speeds.parameters,"
        " speeds.cuts, speeds.mean_bytes, speeds.place, speeds.backend, speeds.outcome, speeds.bytes_per_second, speeds.of_read"
        " from speeds join cells on cells.key = speeds.key"
        " where speeds.outcome = 'measured' and speeds.bytes_per_second > 0"
        " group by speeds.key, speeds.place, speeds.backend order by cells.started, cells.key"
    )
    for row in rows:
        _add_aim(row, row["cuts"], catalog)
    return _by_group(rows)


def read(path: Path) -> Results:
    """Reads a results file. Raises Unreadable if it is none."""
    with reading(path) as opened:
        try:
            return _read(lambda query: [dict(row) for row in opened.execute(query)])
        except (ValueError, KeyError, TypeError) as problem:
            raise Unreadable(f"{path} has a result that cannot be read: {problem!r}") from None


def read_stores(paths: Iterable[Path]) -> list[dict]:
    """Reads outputs of `cutpoint stats --details --json`. Raises Unreadable if one is something else, or if two files have one name."""
    found: dict[str, dict] = {}
    for path in paths:
        if path.stem in found:
            raise Unreadable(f"two stores are called {path.stem}: rename {path}")
        try:
            store = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as problem:
            raise Unreadable(f"{path} is no JSON: {problem}") from None
        missing = [name for name in STORE_FIELDS if not isinstance(store, dict) or name not in store]
        if missing:
            raise Unreadable(f"{path} is not what cutpoint stats --details --json prints: it has no {missing[0]}")
        found[path.stem] = store | {"name": path.stem}
    return list(found.values())


def _read(ask) -> Results:
    found = Results()
    found.datasets = [json.loads(row["info"]) | {"checksum": row["checksum"]} for row in ask("select * from datasets order by rowid")]
    of_cells = "where key in (select {0} from cells) order by rowid"
    found.machines = [json.loads(row["info"]) for row in ask(f"select info from machines {of_cells.format('machine')}")]
    found.binaries = [
        json.loads(row["info"]) | {"key": row["key"]} for row in ask(f"select key, info from binaries {of_cells.format('binary')}")
    ]
    found.catalog = Catalog.merged([info["catalog"] for info in found.binaries if "catalog" in info])
    runs, speeds = _runs(ask, found.catalog), _speeds(ask, found.catalog)
    tunes = ask(
        "select key, checksum, dataset, algorithm, size, result from cells where kind = 'tune' and outcome = 'done' order by started, key"
    )
    for row in tunes:
        row["result"] = json.loads(row["result"])
    _name_datasets(runs + speeds + tunes, found.datasets)
    found.runs = _newest(runs, SETTING)
    found.speeds = _newest(speeds, ("dataset", "algorithm", "size", "parameters", "place", "backend"))
    found.tunes = _newest(tunes, ("dataset", "algorithm", "size"))
    found.failures = ask(
        "select dataset, kind, algorithm, size, hash, backend, outcome, problem from cells where outcome <> 'done' order by outcome, started, key"
    )
    found.outcomes = {row["outcome"]: row["number"] for row in ask("select outcome, count(*) as number from cells group by outcome")}
    times = ask("select min(started) as first, max(started) as last from cells")[0]
    found.first, found.last = times["first"] or "", times["last"] or ""
    return found
