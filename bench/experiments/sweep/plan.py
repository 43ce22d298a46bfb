"""Reads a sweep's TOML file: its data sets, and its cells, which are all combinations of the lists of each block."""

import hashlib
import itertools
import json
import math
import os
import stat
import tomllib
from dataclasses import asdict, dataclass, field
from datetime import date, time
from pathlib import Path

from experiments.cli import shown
from experiments.sizes import bytes_of, text_of

# A cell: a combination of settings that is measured as a whole, and the key of its result.

# The settings of each kind of cell besides data set, algorithm, size and parameters.
OF_KIND = {
    "dedup": {"hash", "backend", "threads", "join", "segment", "rounds"},
    "kernels": {"bytes", "rounds"},
    "tune": {"sample"},
}

MOST_ROUNDS = 1000  # of `cutpoint bench`; those of `dedup` have no other bound
LEAST_BYTES = 64 << 10  # of `cutpoint bench`
MOST_CELLS = 100_000  # of a sweep, which asks the command about each before it begins
MOST_FILE_BYTES = 16 << 20  # of a sweep's file


def digest(value) -> str:
    """The SHA-256 of a value in canonical JSON. Equal values have equal digests."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True)
class Cell:
    """Settings of a measurement. Those that its kind does not use keep their defaults and are not part of the key."""

    kind: str
    dataset: str  # its name in the sweep
    algorithm: str  # or a profile
    size: str = "own"  # as for --size; own: no --size
    parameters: dict = field(default_factory=dict, hash=False)  # as for --param
    hash: str = "sha1"
    backend: str = "auto"
    threads: int = 0  # 0: the command's default
    join: str = "exact"
    segment: str = "auto"
    rounds: int = 1
    bytes: str = "256M"
    sample: str = "10%"

    @property
    def settings(self) -> dict:
        """All settings that affect the result, except the data and the binary."""
        every = asdict(self)
        shared = ("kind", "algorithm", "size", "parameters")
        return {name: every[name] for name in every if name in shared or name in OF_KIND[self.kind]}

    def key(self, binary: str, checksum: str) -> str:
        return digest({"binary": binary, "data": checksum, "settings": self.settings})

    def __str__(self) -> str:
        words = [self.kind, self.dataset, self.algorithm, self.size]
        words += [f"{name}={value}" for name, value in self.parameters.items()]
        usual = Cell(self.kind, self.dataset, self.algorithm)
        words += [
            str(getattr(self, name)) + {"threads": " threads", "segment": " segments"}.get(name, "")
            for name in ("hash", "backend", "threads", "join", "segment")
            if name in OF_KIND[self.kind] and getattr(self, name) != getattr(usual, name)
        ]
        return " ".join(words)


# The keys of a block with lists, each with the field of the cell and the type of its values.
AXES = {
    "algorithms": ("algorithm", str),
    "sizes": ("size", str),
    "parameters": ("parameters", dict),
    "hashes": ("hash", str),
    "backends": ("backend", str),
    "threads": ("threads", int),
    "joins": ("join", str),
    "segments": ("segment", str),
}
SCALARS = {"group": str, "kind": str, "rounds": int, "bytes": str, "sample": str}
OF_BLOCK = {"datasets": list, "grid": dict} | SCALARS | {axis: list for axis in AXES}
OF_DATASET = {"make": str, "size": str, "versions": int, "seed": int, "path": (str, list)}


class Wrong(ValueError):
    """The sweep's file is wrong. The message says what is wrong, where, and what is allowed."""


@dataclass(frozen=True)
class Source:
    """The source of a data set: a generator with its settings, or the user's own files."""

    name: str
    make: str = ""
    size: int | None = None
    versions: int | None = None
    seed: int = 1
    paths: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Plan:
    """A sweep: its name, its data sets by name, and its cells with the groups that want them."""

    name: str
    sources: dict[str, Source]
    members: list[tuple[str, Cell]]

    @property
    def cells(self) -> list[Cell]:
        """Each cell once, in the order of data sets, so that one at a time is in the page cache."""
        unique: dict[str, Cell] = {}
        for _, cell in self.members:
            unique.setdefault(cell.key("", cell.dataset), cell)
        order = list(self.sources)
        return sorted(unique.values(), key=lambda cell: order.index(cell.dataset))


def _typed(value, kind, where: str):
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    names = {str: "a text", int: "a whole number", dict: "a table", list: "a list", (str, list): "a text or a list of texts"}
    raise Wrong(f"{where}: {value!r} is not {names[kind]}")


def _table(table, types: dict, where: str) -> dict:
    """The table, with keys and values as `types` has them."""
    for key, value in _typed(table, dict, where).items():
        if key not in types:
            raise Wrong(f"{where}: no key '{key}'; there are {', '.join(sorted(types))}")
        _typed(value, types[key], f"{where}: {key}")
    return table


def _size(text: str, where: str) -> int:
    try:
        return bytes_of(text)
    except ValueError as wrong:
        raise Wrong(f"{where}: {wrong}") from None


def _path(text: str, folder: Path, where: str) -> Path:
    """The path of a file or folder that can be read to its end."""
    try:
        path = folder / Path(text).expanduser()
        kind = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        pattern = "; a path is no pattern, so name the files or their folder" if set("*?[") & set(text) else ""
        raise Wrong(f"{where}: there is no {path}{pattern}") from None
    except OSError as failed:
        raise Wrong(f"{where}: {path}: {failed.strerror}") from None
    except (RuntimeError, ValueError) as wrong:  # no home folder; a zero byte
        raise Wrong(f"{where}: {text!r}: {wrong}") from None
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        raise Wrong(f"{where}: {path} is neither a file nor a folder")
    return path


def _check_apart(paths: tuple[Path, ...], where: str) -> None:
    """Raises Wrong if the command would read a file by two of the paths, since it reads it once."""
    known: dict[Path, Path] = {}
    for path in paths:
        if (real := path.resolve()) in known:
            raise Wrong(f"{where}: {path} is given twice" + (f", also as {known[real]}" if known[real] != path else ""))
        known[real] = path
    for real, path in known.items():
        if around := next((known[above] for above in real.parents if above in known), None):
            raise Wrong(f"{where}: {path} is given twice, since it lies in {around}")


def _source(name: str, table: dict, folder: Path, where: str) -> Source:
    _table(table, OF_DATASET, where)
    if "path" in table:
        if len(table) > 1:
            raise Wrong(f"{where}: path stands alone, without {', '.join(sorted(set(table) - {'path'}))}")
        listed = [table["path"]] if isinstance(table["path"], str) else table["path"]
        if not listed:
            raise Wrong(f"{where}: path is empty")
        paths = tuple(_path(_typed(path, str, f"{where}: path"), folder, where) for path in listed)
        _check_apart(paths, where)
        return Source(name, paths=paths)
    if table.get("versions", 1) < 1:
        raise Wrong(f"{where}: versions is {table['versions']}, at least 1")
    size = _size(table["size"], f"{where}: size") if "size" in table else None
    return Source(name, table.get("make", name), size, table.get("versions"), table.get("seed", 1))


def _values(listed, kind: type | None, where: str) -> list:
    """A list that is not empty, of values of this kind if there is one."""
    if not _typed(listed, list, where):
        raise Wrong(f"{where} is empty")
    return [_typed(value, kind, where) if kind else value for value in listed]


def _parameter(value, where: str):
    """A value that can be given as NAME=VALUE."""
    if isinstance(value, (dict, list, date, time)):
        raise Wrong(f"{where}: {value!r} is neither a number nor a text")
    return value


def _block(block: dict, names: list[str], most: int, where: str) -> list[tuple[str, Cell]]:
    kind = _table(block, OF_BLOCK, where).get("kind", "dedup")
    if kind not in OF_KIND:
        raise Wrong(f"{where}: no kind '{kind}'; there are {', '.join(OF_KIND)}")
    fields = {key: AXES[key][0] if key in AXES else key for key in OF_BLOCK}
    shared = {"datasets", "algorithm", "size", "group", "kind"} | OF_KIND[kind]
    if kind == "dedup":  # kernels have each name's own parameters, and tune searches for them
        shared |= {"parameters", "grid"}
    _table(block, {key: OF_BLOCK[key] for key, field in fields.items() if field in shared}, f"{where} (kind {kind})")
    if "algorithms" not in block:
        raise Wrong(f"{where}: algorithms are missing")
    datasets = block.get("datasets", ["*"])
    if datasets == ["*"]:
        datasets = names
    for name in datasets:
        if name not in names:
            raise Wrong(f"{where}: no data set '{name}'; there are {', '.join(names) or 'none'}")
    if not 1 <= block.get("rounds", 1) <= MOST_ROUNDS:
        raise Wrong(f"{where}: rounds is {block['rounds']}, outside 1 to {MOST_ROUNDS}")
    if "bytes" in block and _size(block["bytes"], f"{where}: bytes") < LEAST_BYTES:
        raise Wrong(f"{where}: bytes is {block['bytes']}, at least {text_of(LEAST_BYTES)}")
    axes = {field: _values(block[axis], kind_of_value, f"{where}: {axis}") for axis, (field, kind_of_value) in AXES.items() if axis in block}
    once = {name: block[name] for name in ("rounds", "bytes", "sample") if name in block}
    grid = {name: _values(values, None, f"{where}: grid.{name}") for name, values in block.get("grid", {}).items()}
    for table in [grid, *axes.get("parameters", [])]:
        for name, value in table.items():
            for each in value if table is grid else [value]:
                _parameter(each, f"{where}: {name}")
    if math.prod(map(len, [datasets, *axes.values(), *grid.values()])) > most:
        raise Wrong(f"{where}: its lists make more cells than a sweep may have, {MOST_CELLS}")
    points = [dict(zip(grid, values)) for values in itertools.product(*grid.values())]
    cells = []
    for values in itertools.product(datasets, *axes.values()):
        chosen = dict(zip(["dataset", *axes], values))
        for point in points:
            parameters = {**chosen.get("parameters", {}), **point}
            cells.append((block.get("group", kind), Cell(**{**chosen, **once, "kind": kind, "parameters": parameters})))
    return cells


def read(path: Path) -> Plan:
    """Reads the sweep of a file. Raises Wrong if it is wrong, OSError if it cannot be read."""
    with path.open("rb") as file:
        content = file.read(MOST_FILE_BYTES + 1)
    if len(content) > MOST_FILE_BYTES:
        raise Wrong(f"{path}: no sweep has more than {text_of(MOST_FILE_BYTES)} bytes")
    try:
        table = tomllib.loads(content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as wrong:
        raise Wrong(f"{path}: {wrong}") from None
    except RecursionError:
        raise Wrong(f"{path}: lists or tables lie too deep in each other") from None
    _table(table, {"datasets": dict, "cells": list}, str(path))
    sources = {name: _source(name, entry, path.parent, f"{path}: datasets.{name}") for name, entry in table.get("datasets", {}).items()}
    members: list[tuple[str, Cell]] = []
    for i, block in enumerate(table.get("cells", []), 1):
        members += _block(block, list(sources), MOST_CELLS - len(members), f"{path}: cells, block {i}")
    if not members:
        raise Wrong(f"{path}: there are no cells")
    return Plan(shown(path.stem), sources, members)
