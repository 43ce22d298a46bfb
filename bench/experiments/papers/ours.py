"""Our measurements by their settings. A row that is missing is noted, and is None."""

import json
import sqlite3
from pathlib import Path

from experiments.sweep.results import reading

# The settings by which a row is found. Of several binaries, machines or data of one name, the last one measured counts.
RUN = ("dataset", "algorithm", "size", "parameters", "hash", "backend", "threads", "join_name", "segment")
SPEED = ("dataset", "algorithm", "size", "parameters", "backend")
TUNE = ("dataset", "algorithm", "size")
USUAL = ("{}", "sha1", "auto", "exact", 0)  # settings that messages leave out


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


class Ours:
    """A results file. `missing` describes every row that was looked up but does not exist."""

    def __init__(self, path: Path):
        self.missing: list[str] = []
        with reading(path) as opened:
            self._read(opened)

    def _read(self, opened: sqlite3.Connection) -> None:
        def rows(view: str, names: tuple[str, ...], where: str = "1") -> dict[tuple, dict]:
            joined = f"select {view}.*, cells.checksum, cells.started from {view} join cells using (key) where {where} order by cells.started, key"
            found = [dict(row) | {"parameters": _text(json.loads(row["parameters"]))} for row in opened.execute(joined)]
            return {tuple(row[name] for name in names): row for row in found}

        self._runs = rows("rows", RUN)
        self._speeds = rows("speeds", SPEED, "speeds.outcome = 'measured' and speeds.place = 'memory'")
        tunes = opened.execute("select * from cells where kind = 'tune' and outcome = 'done' order by started, key")
        self._tunes = {tuple(row[name] for name in TUNE): json.loads(row["result"]) for row in tunes}
        for row in self._runs.values():
            row["report"] = json.loads(row.pop("result"))["report"]
        infos = {row["checksum"]: json.loads(row["info"]) for row in opened.execute("select * from datasets")}
        self.datasets = {row["dataset"]: infos[row["checksum"]] | {"checksum": row["checksum"]} for row in self._runs.values()}
        self.machines = [json.loads(row["info"]) for row in opened.execute("select * from machines order by rowid")]
        self.binaries = [json.loads(row["info"]) | {"key": row["key"]} for row in opened.execute("select * from binaries order by rowid")]
        self.first, self.last = opened.execute("select min(started), max(started) from cells").fetchone()

    def _get(self, table: dict, names: tuple[str, ...], key: tuple, kind: str):
        if key not in table:
            said = zip(names, key, strict=True)
            words = " ".join([kind, *(f"{word} threads" if name == "threads" else word for name, word in said if word not in USUAL)])
            if words not in self.missing:
                self.missing.append(words)
        return table.get(key)

    def run(self, dataset: str, algorithm: str, size: str, parameters: dict | None = None, **settings) -> dict | None:
        """A run of the whole engine. `settings` are hash, backend, threads, join and segment, if they are not the sweep's defaults."""
        chosen = {"hash": "sha1", "backend": "auto", "threads": 0, "join": "exact", "segment": "auto"}
        unknown = set(settings) - set(chosen)
        if unknown:
            raise TypeError(f"no settings {unknown}")
        return self._get(self._runs, RUN, (dataset, algorithm, size, _text(parameters), *(chosen | settings).values()), "dedup")

    def speed(self, dataset: str, algorithm: str, size: str, backend: str) -> float | None:
        """Bytes a second of cutting alone, in memory, in one thread. The scalar speed counts for a name without a kernel for the back end."""
        for name in (backend, "scalar"):
            if row := self._speeds.get((dataset, algorithm, size, "{}", name)):
                return row["bytes_per_second"]
        return self._get(self._speeds, SPEED, (dataset, algorithm, size, "{}", backend), "kernels")

    def tune(self, dataset: str, algorithm: str, size: str) -> dict | None:
        """The result of a search for parameters."""
        return self._get(self._tunes, TUNE, (dataset, algorithm, size), "tune")
