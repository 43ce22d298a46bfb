"""Reads a sweep's TOML file: its data sets, and its cells, which are all combinations of the lists of each block."""

import itertools
import tomllib
from dataclasses import dataclass
from pathlib import Path

from experiments.sizes import bytes_of
from experiments.sweep.cell import OF_KIND, Cell

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
SCALARS = {"group": str, "kind": str, "rounds": int, "bytes": str, "sample": str, "grid": dict}
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


def _known(table: dict, names, where: str) -> None:
    for key in table:
        if key not in names:
            raise Wrong(f"{where}: no key '{key}'; there are {', '.join(sorted(names))}")


def _size(text: str, where: str) -> int:
    try:
        return bytes_of(text)
    except ValueError as wrong:
        raise Wrong(f"{where}: {wrong}") from None


def _source(name: str, table: dict, folder: Path, where: str) -> Source:
    _known(_typed(table, dict, where), OF_DATASET, where)
    for key, value in table.items():
        _typed(value, OF_DATASET[key], f"{where}: {key}")
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


def _values(block: dict, axis: str, where: str) -> list:
    listed = _typed(block[axis], list, f"{where}: {axis}")
    if not listed:
        raise Wrong(f"{where}: {axis} is empty")
    return [_typed(value, AXES[axis][1], f"{where}: {axis}") for value in listed]


def _grid(block: dict, where: str) -> list[dict]:
    """All combinations of the parameters' values."""
    grid = block.get("grid", {})
    for name, values in grid.items():
        if not _typed(values, list, f"{where}: grid.{name}"):
            raise Wrong(f"{where}: grid.{name} is empty")
    return [dict(zip(grid, values)) for values in itertools.product(*grid.values())]


def _block(block: dict, names: list[str], where: str) -> list[tuple[str, Cell]]:
    _known(_typed(block, dict, where), {"datasets", *AXES, *SCALARS}, where)
    for key, kind in SCALARS.items():
        if key in block:
            _typed(block[key], kind, f"{where}: {key}")
    kind = block.get("kind", "dedup")
    if kind not in OF_KIND:
        raise Wrong(f"{where}: no kind '{kind}'; there are {', '.join(OF_KIND)}")
    shared = {"datasets", "algorithms", "sizes", "parameters", "group", "kind", "grid"}
    allowed = shared | {axis for axis, (field, _) in AXES.items() if field in OF_KIND[kind]} | OF_KIND[kind]
    _known(block, allowed & {"datasets", *AXES, *SCALARS}, f"{where} (kind {kind})")
    if "algorithms" not in block:
        raise Wrong(f"{where}: algorithms are missing")
    datasets = _typed(block.get("datasets", ["*"]), list, f"{where}: datasets")
    if datasets == ["*"]:
        datasets = names
    for name in datasets:
        if name not in names:
            raise Wrong(f"{where}: no data set '{name}'; there are {', '.join(names) or 'none'}")
    if block.get("rounds", 1) < 1:
        raise Wrong(f"{where}: rounds is {block['rounds']}, at least 1")
    if "bytes" in block:
        _size(block["bytes"], f"{where}: bytes")
    axes = {AXES[axis][0]: _values(block, axis, where) for axis in AXES if axis in block}
    once = {name: block[name] for name in ("rounds", "bytes", "sample") if name in block}
    grid = _grid(block, where)
    cells = []
    for values in itertools.product(datasets, *axes.values()):
        chosen = dict(zip(["dataset", *axes], values))
        for point in grid:
            parameters = {**chosen.get("parameters", {}), **point}
            cells.append((block.get("group", kind), Cell(**{**chosen, **once, "kind": kind, "parameters": parameters})))
    return cells


def read(path: Path) -> Plan:
    """Reads the sweep of a file. Raises Wrong if it is wrong, OSError if it cannot be read."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as wrong:
        raise Wrong(f"{path}: {wrong}") from None
    _known(table, {"datasets", "cells"}, str(path))
    sources = {
        name: _source(name, entry, path.parent, f"{path}: datasets.{name}")
        for name, entry in _typed(table.get("datasets", {}), dict, f"{path}: datasets").items()
    }
    blocks = _typed(table.get("cells", []), list, f"{path}: cells")
    members = [
        member for i, block in enumerate(blocks, 1) for member in _block(block, list(sources), f"{path}: cells, block {i}")
    ]
    if not members:
        raise Wrong(f"{path}: there are no cells")
    return Plan(path.stem, sources, members)
