"""The data sets of a sweep. Missing ones are made. They are identified by the checksum of their content and read into the page cache."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from experiments import datasets
from experiments.cli import shown
from experiments.sizes import bytes_of
from experiments.sweep.plan import KERNELS, Cell, Source

MEMORY = Path("/dev/shm")


@dataclass(frozen=True)
class Known:
    """An existing data set: its inputs in their order, the checksum of their content, and its description."""

    checksum: str
    paths: list[Path]
    info: dict
    states: dict[Path, tuple[int, int]]  # size and mtime of each file, from before it was read for the checksum


def _unreadable(failed: OSError) -> None:
    raise failed


def files_under(path: Path) -> list[Path]:
    """The regular files below a path, in the byte order of names, or the path itself if it is a file."""
    if path.is_file():
        return [path]
    files = []
    for folder, folders, names in os.walk(path, onerror=_unreadable):
        folders.sort()
        files += [Path(folder, name) for name in sorted(names) if Path(folder, name).is_file() and not Path(folder, name).is_symlink()]
    return files


def _states(paths: list[Path]) -> dict[Path, tuple[int, int]]:
    states = {}
    for file in (file for path in paths for file in files_under(path)):
        facts = file.stat()
        states[file] = (facts.st_size, facts.st_mtime_ns)
    return states


def _checksum(paths: list[Path]) -> tuple[str, int]:
    """The checksum of the names and content of the user's own files, and their size."""
    total, size = hashlib.sha256(), 0
    for path in paths:
        for file in files_under(path):
            try:
                with file.open("rb") as stream:
                    content = hashlib.file_digest(stream, "sha256").hexdigest()
            except OSError as failed:
                raise OSError(failed.errno, failed.strerror, str(file)) from None  # one that fails to be read has no name
            size += file.stat().st_size
            total.update(f"{content}  {file.relative_to(path.parent)}\n".encode(errors="surrogateescape"))
    return total.hexdigest(), size


def forget(files: list[Path]) -> None:
    """Drops files from the page cache, as far as nobody maps them."""
    for file in files:
        with file.open("rb") as stream:
            os.fdatasync(stream.fileno())  # what is not written yet cannot be dropped
            os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@dataclass(frozen=True)
class Input:
    """The data of a cell where it wants them, and the folder for what it writes."""

    paths: list[Path]
    room: Path
    is_cold: bool = False

    def prepare(self) -> None:
        """To be called before each round."""
        if self.is_cold:
            forget([file for path in self.paths for file in files_under(path)])


@dataclass
class Data:
    """The data sets below one folder, by the sweep's names for them."""

    sources: dict[str, Source]
    folder: Path
    known: dict[str, Known] = field(default_factory=dict)
    cached: str = ""  # the set that was read last
    makes_missing: bool = True

    def open(self, name: str, log: Callable[[str], None]) -> Known:
        """Opens a data set, and makes it if it is missing and may be made. Raises the errors of generators."""
        if name not in self.known:
            source = self.sources[name]
            if source.paths:
                log(f"{name}: reading the files for their checksum")
                states = _states(list(source.paths))
                checksum, size = _checksum(list(source.paths))
                if size == 0:  # a speed of 0 would be no measurement
                    raise datasets.Failed(f"data set '{name}' has no bytes")
                info = {"name": name, "bytes": size, "stands_for": [], "versions": [{"name": shown(path.name)} for path in source.paths]}
                self.known[name] = Known(checksum, list(source.paths), info, states)
            else:
                facts = source.make, source.size, source.versions, source.seed, self.folder
                data_set = datasets.make(*facts, log) if self.makes_missing else datasets.open_set(datasets.folder_of(*facts))
                self.known[name] = Known(data_set.checksum, data_set.paths, data_set.info, _states(data_set.paths))
        return self.known[name]

    def changed(self, name: str) -> str:
        """A file of an open data set that is not as it was when the checksum was taken, or an empty string."""
        known = self.known[name]
        states = _states(known.paths)
        return next((str(file) for file in known.states | states if known.states.get(file) != states.get(file)), "")

    def ready(self, name: str) -> list[Path]:
        """Reads the inputs of an open data set into the page cache, as far as they fit, and returns them."""
        paths = self.known[name].paths
        if self.cached != name:
            for path in paths:
                for file in files_under(path):
                    with file.open("rb", buffering=0) as stream:
                        while stream.read(1 << 20):
                            pass
            self.cached = name
        return paths

    @contextmanager
    def input(self, cell: Cell) -> Iterator[Input]:
        """Yields the data of a cell: in the page cache, to be dropped from it, or as copies in memory. Raises OSError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if cell.kind in KERNELS:
            yield Input(self.files(cell.dataset, cell.bytes), self.folder)
        elif cell.input != "memory":
            yield Input(self.ready(cell.dataset), self.folder, cell.input == "cold")
            if cell.input == "cold":
                self.cached = ""
        else:
            paths = self.known[cell.dataset].paths
            with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
                copies = [Path(folder, f"{number}", path.name) for number, path in enumerate(paths)]
                for path, copy in zip(paths, copies):
                    copy.parent.mkdir()
                    shutil.copytree(path, copy, symlinks=True) if path.is_dir() else shutil.copyfile(path, copy)
                yield Input(copies, Path(folder))

    def files(self, name: str, size: str) -> list[Path]:
        """The first files that together have `size` bytes."""
        chosen, left = [], bytes_of(size)
        for path in self.known[name].paths:
            for file in files_under(path):
                length = file.stat().st_size
                if left > 0 and length:
                    chosen.append(file)
                    left -= length
        return chosen
