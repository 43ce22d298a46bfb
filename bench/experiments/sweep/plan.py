"""Reads a sweep's TOML file: its data sets, and its cells, which are all combinations of the lists of each block."""

import hashlib
import itertools
import json
import tomllib
from dataclasses import asdict, dataclass, field
from pathlib import Path

from experiments.sizes import bytes_of

# A cell: a combination of settings that is measured as a whole, and the key of its result.

# The settings of each kind of cell besides data set, algorithm, size and parameters.
OF_KIND = {
    "dedup": {"hash", "backend", "threads", "join", "segment", "rounds"},
    "kernels": {"bytes", "rounds"},
    "tune": {"sample"},
}


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


def _source(name: str, table: dict, folder: Path, where: str) -> Source:
    _table(table, OF_DATASET, where)
    if "path" in table:
        if len(table) > 1:
            raise Wrong(f"{where}: path stands alone, without {', '.join(sorted(set(table) - {'path'}))}")
        listed = [table["path"]] if isinstance(table["path"], str) else table["path"]
        paths = tuple(folder / Path(_typed(path, str, f"{where}: path")).expanduser() for path in listed)
        for path in paths:
            if not path.exists():
                raise Wrong(f"{where}: there is no {path}")
        if not paths:
            raise Wrong(f"{where}: path is empty")
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


def _block(block: dict, names: list[str], where: str) -> list[tuple[str, Cell]]:
    kind = _table(block, OF_BLOCK, where).get("kind", "dedup")
    if kind not in OF_KIND:
        raise Wrong(f"{where}: no kind '{kind}'; there are {', '.join(OF_KIND)}")
    fields = {key: AXES[key][0] if key in AXES else key for key in OF_BLOCK}
    shared = {"datasets", "algorithm", "size", "parameters", "group", "kind", "grid"} | OF_KIND[kind]
    _table(block, {key: OF_BLOCK[key] for key, field in fields.items() if field in shared}, f"{where} (kind {kind})")
    if "algorithms" not in block:
        raise Wrong(f"{where}: algorithms are missing")
    datasets = block.get("datasets", ["*"])
    if datasets == ["*"]:
        datasets = names
    for name in datasets:
        if name not in names:
            raise Wrong(f"{where}: no data set '{name}'; there are {', '.join(names) or 'none'}")
    if block.get("rounds", 1) < 1:
        raise Wrong(f"{where}: rounds is {block['rounds']}, at least 1")
    if "bytes" in block:
        _size(block["bytes"], f"{where}: bytes")
    axes = {field: _values(block[axis], kind_of_value, f"{where}: {axis}") for axis, (field, kind_of_value) in AXES.items() if axis in block}
    once = {name: block[name] for name in ("rounds", "bytes", "sample") if name in block}
    grid = {name: _values(values, None, f"{where}: grid.{name}") for name, values in block.get("grid", {}).items()}
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
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as wrong:
        raise Wrong(f"{path}: {wrong}") from None
    _table(table, {"datasets": dict, "cells": list}, str(path))
    sources = {name: _source(name, entry, path.parent, f"{path}: datasets.{name}") for name, entry in table.get("datasets", {}).items()}
    blocks = enumerate(table.get("cells", []), 1)
    members = [member for i, block in blocks for member in _block(block, list(sources), f"{path}: cells, block {i}")]
    if not members:
        raise Wrong(f"{path}: there are no cells")
    return Plan(path.stem, sources, members)
