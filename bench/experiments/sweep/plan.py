"""Reads a sweep's TOML file: its data sets, and its cells, which are all combinations of the lists of each block."""

import hashlib
import itertools
import json
import math
import os
import re
import stat
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import date, time
from pathlib import Path

from experiments.cli import shown
from experiments.sizes import bytes_of, text_of

# A cell: a combination of settings that is measured as a whole, and the key of its result.

# The settings of each kind of cell besides data set, algorithm, size and parameters.
OF_ENGINE = {"hash", "backend", "threads", "segment", "rounds", "input", "devices", "device_memory", "batch", "placement", "memory"}
OF_KIND = {
    "dedup": OF_ENGINE | {"join"},
    "backup": OF_ENGINE | {"compression"},
    "restore": {"hash", "rounds", "input", "compression"},
    "kernels": {"bytes", "rounds"},
    "device-kernels": {"bytes", "rounds", "devices"},
    "tune": {"sample", "goal"},
}
ALL = "all"  # the algorithm of a search among all
ENGINE_KINDS = ("dedup", "backup")  # those that run the whole engine, and whose results have its report
STORES = ("backup", "restore")  # those that make a store
KERNELS = ("kernels", "device-kernels")  # those that cut alone: on the processor, and on a GPU
INPUTS = ("cache", "cold", "memory")  # where data are when a round begins: the page cache, the disk, or files in memory

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
    # These are settings where they are given, so that results from before there were any keep their keys.
    goal: str = ""
    input: str = "cache"
    devices: str = ""  # as for --device, and below as for the options of these names
    device_memory: str = ""
    batch: str = ""
    placement: str = ""
    memory: str = ""
    compression: str = ""

    @property
    def settings(self) -> dict:
        """All settings that affect the result, except the data and the binary."""
        every, of_kind = asdict(self), OF_KIND[self.kind]
        shared = ("kind", "algorithm", "size", "parameters")
        chosen = {name for name in LATER if getattr(self, name) != getattr(Cell, name)}
        return {name: every[name] for name in every if name in shared or name in of_kind and (name not in LATER or name in chosen)}

    def key(self, binary: str, checksum: str) -> str:
        return digest({"binary": binary, "data": checksum, "settings": self.settings})

    def simpler(self) -> Iterator[tuple[str, object, "Cell"]]:
        """The key and the value of each setting that is not the usual one, and the cell without it: the algorithm last, as it decides what the
        others may be."""
        usual = Cell(self.kind, self.dataset, "fastcdc")
        for name, value in self.parameters.items():
            yield name, value, replace(self, parameters={other: self.parameters[other] for other in self.parameters if other != name})
        for name in (*sorted(OF_KIND[self.kind] | {"size"}), "algorithm"):
            if (value := getattr(self, name)) != getattr(usual, name):
                key = next((key for key, (field_name, _) in AXES.items() if field_name == name), name)
                yield key, value, replace(self, **{name: getattr(usual, name)})

    def __str__(self) -> str:
        words = [self.kind, self.dataset, self.algorithm, self.size]
        words += [f"{name}={value}" for name, value in self.parameters.items()]
        usual = Cell(self.kind, self.dataset, self.algorithm)
        words += [
            FORMS.get(name, "{}").format(getattr(self, name))
            for name in ("hash", "backend", "threads", "join", "segment", *LATER)
            if name in OF_KIND[self.kind] and getattr(self, name) != getattr(usual, name)
        ]
        return " ".join(words)


LATER = ("goal", "input", "devices", "device_memory", "batch", "placement", "memory", "compression")
FORMS = {
    "threads": "{} threads", "segment": "{} segments", "devices": "devices {}", "device_memory": "{} of a device", "batch": "batches of {}",
    "memory": "{} of memory", "placement": "placed by {}", "input": "from {}",
}  # fmt: skip


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
    "inputs": ("input", str),
    "devices": ("devices", str),
    "device_memories": ("device_memory", str),
    "batches": ("batch", str),
    "placements": ("placement", str),
    "memories": ("memory", str),
    "compressions": ("compression", str),
    "goals": ("goal", str),
}
SCALARS = {"group": str, "kind": str, "rounds": int, "bytes": str, "sample": str}
OF_BLOCK = {"datasets": list, "grid": dict} | SCALARS | {axis: list for axis in AXES}
OF_DATASET = {"make": str, "size": str, "versions": int, "seed": int, "path": (str, list)}


class Wrong(ValueError):
    """The sweep's file is wrong. The message has a line for each mistake: what is wrong, where, and what is allowed."""


class Mistakes:
    """Collects mistakes, so that all of a file are told at once: `noted` goes around each check, and what is right goes on to the next."""

    MOST = 20  # that are told

    def __init__(self):
        self._told: dict[str, None] = {}  # in the order in which they were found

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Notes the mistake that ends the statements within."""
        try:
            yield
        except Wrong as wrong:
            self._told[str(wrong)] = None

    def refuse(self) -> None:
        """Raises Wrong if there are mistakes."""
        if self._told:
            left = len(self._told) - self.MOST
            raise Wrong("\n".join([*self._told][: self.MOST] + ([f"and {left} more"] if left > 0 else [])))


@dataclass(frozen=True)
class Place:
    """A table of the file, or one of its keys, as messages name it."""

    file: str
    name: str
    line: int | None = None
    keys: dict[str, int] = field(default_factory=dict)  # the lines of the table's keys

    def __str__(self) -> str:
        return ": ".join(filter(None, [f"{self.file}:{self.line}" if self.line else self.file, self.name]))

    def line_of(self, key: str) -> "Place":
        """The table, at the line of a key."""
        return replace(self, line=self.keys.get(key, self.line))

    def at(self, key: str) -> "Place":
        return replace(self.line_of(key), name=f"{self.name}: {key}" if self.name else key)


def _places(path: Path, content: str) -> Callable[[str, int], Place]:
    """Returns the function that finds a data set by its name, a block of cells by its number from 1, or the file itself without both. Lines are
    those of the text: of a table that is written within another one, that of its key."""
    keys: dict[str, int] = {}
    tables: dict[tuple[str, int], tuple[int | None, dict[str, int]]] = {("", 0): (None, keys)}
    blocks = 0
    for number, line in enumerate(content.splitlines(), 1):
        if re.match(r"\s*\[\[\s*cells\s*\]\]", line):
            blocks += 1
            tables["", blocks] = number, (keys := {})
        elif header := re.match(r"\s*\[\s*datasets\s*\.\s*[\"']?([^\]\"']+?)[\"']?\s*\]", line):
            tables[header[1], 0] = number, (keys := {})
        elif header := re.match(r"\s*\[+\s*([\w-]+)\s*\]+\s*(#|$)", line):
            tables["", 0][1].setdefault(header[1], number)
            keys = tables["", 0][1] if header[1] == "datasets" else {}
        elif key := re.match(r"\s*[\"']?([\w-]+)[\"']?\s*=", line):
            keys.setdefault(key[1], number)

    def find(dataset: str, block: int) -> Place:
        name = f"datasets.{dataset}" if dataset else f"cells, block {block}" if block else ""
        keys = tables["", 0][1]
        return Place(str(path), name, *tables.get((dataset, block), (keys.get(dataset, keys.get("datasets" if dataset else "cells")),)))

    return find


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
    places: dict[str, Place]  # of data sets by name, and of cells by their key without a binary
    mistakes: Mistakes  # of what is left out here

    def cells(self, group: str | None = None) -> list[Cell]:
        """Each cell of a group, or of all, once, in the order of data sets, so that one at a time is in the page cache."""
        unique: dict[str, Cell] = {}
        for of, cell in self.members:
            if group in (None, of):
                unique.setdefault(cell.key("", cell.dataset), cell)
        order = list(self.sources)
        return sorted(unique.values(), key=lambda cell: order.index(cell.dataset))


def _typed(value, kind, where):
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    names = {str: "a text", int: "a whole number", dict: "a table", list: "a list", (str, list): "a text or a list of texts"}
    raise Wrong(f"{where}: {value!r} is not {names[kind]}")


def _table(table, types: dict, where: Place, mistakes: Mistakes) -> dict:
    """The keys and values of a table that are as `types` has them."""
    right = {}
    for key, value in _typed(table, dict, where).items():
        with mistakes.noted():
            if key not in types:
                raise Wrong(f"{where.line_of(key)}: no key '{key}'; there are {', '.join(sorted(types))}")
            right[key] = _typed(value, types[key], where.at(key))
    return right


def _size(text: str, where: Place) -> int:
    try:
        return bytes_of(text)
    except ValueError as wrong:
        raise Wrong(f"{where}: {wrong}") from None


def _path(text: str, folder: Path, where: Place) -> Path:
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


def _check_apart(paths: tuple[Path, ...], where: Place) -> None:
    """Raises Wrong if the command would read a file by two of the paths, since it reads it once."""
    known: dict[Path, Path] = {}
    for path in paths:
        if (real := path.resolve()) in known:
            raise Wrong(f"{where}: {path} is given twice" + (f", also as {known[real]}" if known[real] != path else ""))
        known[real] = path
    for real, path in known.items():
        if around := next((known[above] for above in real.parents if above in known), None):
            raise Wrong(f"{where}: {path} is given twice, since it lies in {around}")


def _source(name: str, table: dict, folder: Path, where: Place, mistakes: Mistakes) -> Source:
    table = _table(table, OF_DATASET, where, mistakes)
    if "path" in table:
        if len(table) > 1:
            raise Wrong(f"{where}: path stands alone, without {', '.join(sorted(set(table) - {'path'}))}")
        listed = [table["path"]] if isinstance(table["path"], str) else table["path"]
        place, paths = where.at("path"), []
        for path in _values(listed, str, place, mistakes):
            with mistakes.noted():
                paths.append(_path(path, folder, place))
        _check_apart(tuple(paths), place)
        return Source(name, paths=tuple(paths))
    with mistakes.noted():
        if table.get("versions", 1) < 1:
            raise Wrong(f"{where.at('versions')} is {table['versions']}, at least 1")
    size = None
    with mistakes.noted():
        size = _size(table["size"], where.at("size")) if "size" in table else None
    return Source(name, table.get("make", name), size, table.get("versions"), table.get("seed", 1))


def _values(listed: list, kind: type | None, where: Place, mistakes: Mistakes) -> list:
    """The values of a list that is not empty, of this kind if there is one."""
    right = []
    with mistakes.noted():
        if not _typed(listed, list, where):
            raise Wrong(f"{where} is empty")
        for value in listed:
            with mistakes.noted():
                right.append(_typed(value, kind, where) if kind else value)
    return right


def _parameters(table: dict, where: Place, mistakes: Mistakes) -> dict:
    """The entries that can be given as NAME=VALUE."""
    right = {}
    for name, value in table.items():
        with mistakes.noted():
            if isinstance(value, (dict, list, date, time)):
                raise Wrong(f"{where.at(name)}: {value!r} is neither a number nor a text")
            right[name] = value
    return right


def _keys_of(kind: str) -> dict[str, type]:
    """The keys of a block of this kind, or of any if there is no such kind."""
    if kind not in OF_KIND:
        return OF_BLOCK
    shared = {"datasets", "algorithm", "size", "group", "kind"} | OF_KIND[kind]
    if kind in ("dedup", *STORES):  # kernels have each name's own parameters, and tune searches for them
        shared |= {"parameters", "grid"}
    return {key: types for key, types in OF_BLOCK.items() if (AXES[key][0] if key in AXES else key) in shared}


def _block(block: dict, names: list[str], most: int, where: Place, mistakes: Mistakes) -> list[tuple[str, Cell]]:
    """The cells of a block, of which mistakes are left out: what is right is still checked by the command."""
    kind = _typed(block, dict, where).get("kind", "dedup")
    is_known = isinstance(kind, str) and kind in OF_KIND
    with mistakes.noted():
        if isinstance(kind, str) and not is_known:
            raise Wrong(f"{where.at('kind')}: no kind '{kind}'; there are {', '.join(OF_KIND)}")
    named = replace(where, name=f"{where.name} (kind {kind})") if is_known else where
    block = _table(block, _keys_of(kind if is_known else ""), named, mistakes)
    kind = kind if is_known else "dedup"
    with mistakes.noted():
        if "algorithms" not in block:
            raise Wrong(f"{where}: algorithms are missing")
    datasets = _values(block.get("datasets", ["*"]), str, where.at("datasets"), mistakes)
    for name in datasets:
        with mistakes.noted():
            if name not in names and datasets != ["*"]:
                raise Wrong(f"{where.at('datasets')}: no data set '{name}'; there are {', '.join(names) or 'none'}")
    datasets = [name for name in datasets if name in names] or names
    once = {name: block[name] for name in ("bytes", "sample") if name in block}
    with mistakes.noted():
        once["rounds"] = min(max(block.get("rounds", 1), 1), MOST_ROUNDS)
        if once["rounds"] != block.get("rounds", 1):
            raise Wrong(f"{where.at('rounds')} is {block['rounds']}, outside 1 to {MOST_ROUNDS}")
    with mistakes.noted():
        if "bytes" in block and _size(block["bytes"], where.at("bytes")) < LEAST_BYTES:
            raise Wrong(f"{where.at('bytes')} is {block['bytes']}, at least {text_of(LEAST_BYTES)}")
    lists = {axis: _values(block[axis], of_value, where.at(axis), mistakes) for axis, (_, of_value) in AXES.items() if axis in block}
    with mistakes.noted():
        if kind != "tune" and is_known and ALL in lists.get("algorithms", []):
            raise Wrong(f"{where.at('algorithms')}: '{ALL}' is for the kind tune, which searches among them")
    for each in lists.get("inputs", []):
        with mistakes.noted():
            if each not in INPUTS:
                raise Wrong(f"{where.at('inputs')}: no input '{each}'; there are {', '.join(INPUTS)}")
    grid = {}
    for name, values in block.get("grid", {}).items():
        values = _values(values, None, where.line_of(name).at(f"grid.{name}"), mistakes)
        grid[name] = [each for value in values for each in _parameters({name: value}, where, mistakes).values()]
    if "parameters" in lists:
        lists["parameters"] = [_parameters(table, where.line_of("parameters"), mistakes) for table in lists["parameters"]]
    axes = {AXES[axis][0]: values for axis, values in lists.items() if values}
    grid = {name: values for name, values in grid.items() if values}
    if math.prod(map(len, [datasets, *axes.values(), *grid.values()])) > most:
        raise Wrong(f"{where}: its lists make more cells than a sweep may have, {MOST_CELLS}")
    if "algorithm" not in axes:
        return []
    if kind in STORES:
        axes.setdefault("hash", ["blake3"])
    points = [dict(zip(grid, values)) for values in itertools.product(*grid.values())]
    cells = []
    for values in itertools.product(datasets, *axes.values()):
        chosen = dict(zip(["dataset", *axes], values))
        for point in points:
            parameters = {**chosen.get("parameters", {}), **point}
            cells.append((block.get("group", kind), Cell(**{**chosen, **once, "kind": kind, "parameters": parameters})))
    return cells


def read(path: Path) -> Plan:
    """Reads the sweep of a file, with all of its mistakes that can be seen without the command. Raises Wrong if it cannot be read as TOML,
    OSError if not at all."""
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
    place_of, mistakes = _places(path, content.decode()), Mistakes()
    table = _table(table, {"datasets": dict, "cells": list}, place_of("", 0), mistakes)
    sources: dict[str, Source] = {}
    places = {name: place_of(name, 0) for name in table.get("datasets", {})}
    for name, entry in table.get("datasets", {}).items():
        sources[name] = Source(name)
        with mistakes.noted():
            sources[name] = _source(name, entry, path.parent, places[name], mistakes)
    members: list[tuple[str, Cell]] = []
    for number, block in enumerate(table.get("cells", []), 1):
        with mistakes.noted():
            place = place_of("", number)
            cells = _block(block, list(sources), MOST_CELLS - len(members), place, mistakes)
            for _, cell in cells:
                places.setdefault(cell.key("", cell.dataset), place)
            members += cells
    with mistakes.noted():
        if not table.get("cells") or not sources:
            raise Wrong(f"{path}: there are no {'cells' if sources else 'data sets'}")
    return Plan(shown(path.stem), sources, members, places, mistakes)
