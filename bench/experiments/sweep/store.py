"""The results file: an SQLite database to which each cell is written in one transaction."""

import contextlib
import fcntl
import json
import sqlite3
from pathlib import Path

from experiments.cli import shown
from experiments.results import HEADER, Unreadable
from experiments.sweep.command import Command, Measured
from experiments.sweep.plan import OF_KIND

SCHEMA = Path(__file__).with_name("schema.sql")
CLOSE = "\n);"  # of a table


class Busy(Exception):
    """Another sweep is writing to the file."""


def _text(value) -> str:
    return json.dumps(value, sort_keys=True)


def _check_kind(path: Path) -> None:
    """Raises Unreadable if there is something at the path that can be no results file, beside which nothing is then made."""
    if path.is_dir():
        raise Unreadable(f"{path} is a folder, and no file for results")
    if path.exists() and not path.is_file():
        raise Unreadable(f"{path} is no regular file, so it cannot have results")
    if path.exists():
        with path.open("rb") as file:
            if file.read(len(HEADER)) not in (b"", HEADER):
                raise Unreadable(f"{path} is no results file of scripts/sweep: it is no SQLite database")


class Store:
    """The results, opened for writing. A missing file is made. Only one process may have it open.

    Raises Unreadable if there is something else or a damaged file, Busy, OSError, and later errors of SQLite as they are.
    """

    def __init__(self, path: Path):
        _check_kind(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as resources:
            lock = resources.enter_context(path.with_name(path.name + ".lock").open("w"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Busy(f"another sweep is writing to {path}") from None
            except OSError as failed:
                raise Busy(f"{path} cannot be locked: {failed.strerror}") from None
            self._file = resources.enter_context(contextlib.closing(sqlite3.connect(path, isolation_level=None)))
            self._check_content(path)
            self._file.execute("pragma journal_mode = wal")
            schema = SCHEMA.read_text(encoding="utf-8")
            self._free_kinds(schema)
            self._file.executescript(schema)
            self._resources = resources.pop_all()

    def close(self) -> None:
        self._resources.close()

    def _check_content(self, path: Path) -> None:
        tables = [name for name, in self._file.execute("select name from sqlite_master order by name")]
        if tables and "cells" not in tables:
            raise Unreadable(f"{path} is no results file of scripts/sweep: it is a database of something else, with '{tables[0]}'")
        verdict, = self._file.execute("pragma quick_check(1)").fetchone()
        if verdict != "ok":
            raise Unreadable(f"{path} is damaged: {' '.join(verdict.split())}")

    def _free_kinds(self, schema: str) -> None:
        """Makes the table anew if an older version made it, which knew fewer kinds of cells and refuses others."""
        known = self._file.execute("select sql from sqlite_master where name = 'cells'").fetchone()
        if known and "check (kind in" in known[0]:
            create = schema[schema.index("create table if not exists cells") :]
            self._file.executescript(
                "begin; drop view if exists rows; drop view if exists speeds; alter table cells rename to earlier;"
                f"{create.partition(CLOSE)[0]}{CLOSE} insert into cells select * from earlier; drop table earlier; commit;"
            )

    def outcomes(self) -> dict[str, str]:
        """The outcome of each cell that was measured, by key."""
        return dict(self._file.execute("select key, outcome from cells"))

    def seconds(self) -> list[tuple[str, str, int, str, float]]:
        """The time of done cells: kind, algorithm, rounds, data checksum, seconds."""
        rows = self._file.execute("select kind, algorithm, coalesce(rounds, 1), checksum, seconds from cells where outcome = 'done'")
        return rows.fetchall()

    def problems(self, sweep: str) -> list[tuple[str, str]]:
        """Outcome and problem of the sweep's cells that failed or could not run, each problem once."""
        return self._file.execute(
            "select distinct outcome, problem from cells join members using (key) where sweep = ? and outcome <> 'done' order by 1, 2",
            (sweep,),
        ).fetchall()

    def add_binary(self, key: str, info: dict) -> None:
        self._file.execute("insert or replace into binaries values (?, ?)", (key, _text(info)))

    def add_machine(self, key: str, info: dict) -> None:
        self._file.execute("insert or replace into machines values (?, ?)", (key, _text(info)))

    def add_dataset(self, checksum: str, info: dict) -> None:
        self._file.execute("insert or replace into datasets values (?, ?)", (checksum, _text(info)))

    def set_members(self, sweep: str, members: list[tuple[str, str]]) -> None:
        """Replaces the cells of the sweep, by group and key. The results of former members are kept."""
        self._file.execute("begin")
        self._file.execute("delete from members where sweep = ?", (sweep,))
        self._file.executemany("insert or ignore into members values (?, ?, ?)", ((sweep, group, key) for group, key in members))
        self._file.execute("commit")

    def add(self, done: Measured, key: str, checksum: str, command: Command) -> None:
        """Writes the result of a cell, and replaces an earlier one."""
        cell, of_kind = done.cell, OF_KIND[done.cell.kind]
        row = {
            "key": key, "kind": cell.kind, "dataset": cell.dataset, "checksum": checksum, "algorithm": cell.algorithm,
            "size": cell.size, "parameters": _text(cell.parameters), "settings": _text(cell.settings), "binary": command.key,
            "machine": command.machine_key, "started": done.started, "seconds": done.seconds, "outcome": done.outcome,
            "problem": shown(done.problem), "result": _text(done.result) if done.result is not None else None,
        }  # fmt: skip
        row["join_name"] = cell.join if "join" in of_kind else None
        row |= {name: getattr(cell, name) if name in of_kind else None for name in ("hash", "backend", "threads", "segment", "rounds")}
        columns, places = ", ".join(row), ", ".join("?" * len(row))
        self._file.execute(f"insert or replace into cells ({columns}) values ({places})", list(row.values()))
