"""The data sets of a sweep on one machine: made where they are missing, named by the checksum of their content, held in the page cache."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from experiments import datasets
from experiments.sizes import bytes_of
from experiments.sweep.plan import Source


class Unequal(Exception):
    """The data here are not those that the sweep began with."""


@dataclass(frozen=True)
class Known:
    """A data set that is there: its inputs in their order, the checksum of their content, and what is told of it."""

    checksum: str
    paths: list[Path]
    info: dict


def files_under(path: Path) -> list[Path]:
    """The regular files, in the byte order of names; the path itself where it is one."""
    if path.is_file():
        return [path]
    found = []
    for folder, folders, names in os.walk(path):
        folders.sort()
        found += [Path(folder, name) for name in sorted(names) if Path(folder, name).is_file() and not Path(folder, name).is_symlink()]
    return found


def _checksum(paths: list[Path]) -> tuple[str, int]:
    """Of the user's own files, names and content, and how many bytes they are."""
    total, size = hashlib.sha256(), 0
    for path in paths:
        for file in files_under(path):
            with file.open("rb") as opened:
                content = hashlib.file_digest(opened, "sha256").hexdigest()
            size += file.stat().st_size
            total.update(f"{content}  {file.relative_to(path.parent)}\n".encode(errors="surrogateescape"))
    return total.hexdigest(), size


@dataclass
class Data:
    """The data sets by the names that the sweep has for them, below one folder."""

    sources: dict[str, Source]
    folder: Path
    known: dict[str, Known] = field(default_factory=dict)
    cached: str = ""  # the set that was read last

    def __reduce__(self):
        return Data, (self.sources, self.folder)  # on another machine they are found or made again

    def open(self, name: str, say: Callable[[str], None]) -> Known:
        """Makes it where it is missing. Raises what the generators raise."""
        if name not in self.known:
            source = self.sources[name]
            if source.paths:
                say(f"{name}: reading the files for their checksum")
                checksum, size = _checksum(list(source.paths))
                info = {"name": name, "bytes": size, "stands_for": [], "versions": [{"name": path.name} for path in source.paths]}
                self.known[name] = Known(checksum, list(source.paths), info)
            else:
                made = datasets.make(source.make, source.size, source.versions, source.seed, self.folder, say)
                self.known[name] = Known(made.checksum, made.paths, made.info)
        return self.known[name]

    def ready(self, name: str, checksum: str) -> list[Path]:
        """Its inputs, in the page cache as far as they fit. Raises Unequal where their content is another than the one named."""
        known = self.open(name, lambda _: None)
        if known.checksum != checksum:
            raise Unequal(f"data set {name} is another here than where the sweep began: share its folder between the machines")
        if self.cached != name:
            for path in known.paths:
                for file in files_under(path):
                    with file.open("rb", buffering=0) as opened:
                        while opened.read(1 << 20):
                            pass
            self.cached = name
        return known.paths

    def files(self, name: str, size: str) -> list[Path]:
        """The first files of it that have so many bytes together."""
        chosen, left = [], bytes_of(size)
        for path in self.known[name].paths:
            for file in files_under(path):
                length = file.stat().st_size
                if left > 0 and length:
                    chosen.append(file)
                    left -= length
        return chosen
