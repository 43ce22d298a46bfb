"""Data sets on disk: a folder for each, with its versions, a `manifest` with a checksum for each file, and `dataset.json` once it is complete.

    NAME-SIZE-vVERSIONS-sSEED/
        001-….tar          the versions
        manifest           "sha256  bytes  relative-path" of all files, sorted by path
        dataset.json       written last
        .making/           until then: plan.json, the version being made, the lines of the manifest so far

A version is made under another name, hashed, and renamed. So a version with its own name is complete, however the process ended.
"""

import errno
import fcntl
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from experiments import sizes
from experiments.datasets import catalog, tools
from experiments.datasets.base import Failed, Generator, Job, Planned

FORMAT = 1
LEAST, MOST = 1 << 20, 1 << 44
MOST_VERSIONS = 999
MOST_SEED = (1 << 32) - 1


@dataclass(frozen=True)
class DataSet:
    """A complete data set."""

    folder: Path
    info: dict  # dataset.json

    name = property(lambda self: self.info["name"])
    checksum = property(lambda self: self.info["checksum"])
    bytes = property(lambda self: self.info["bytes"])
    versions = property(lambda self: self.info["versions"])

    @property
    def paths(self) -> list[Path]:
        """The absolute paths of the versions, in their order."""
        return [self.folder / version["path"] for version in self.versions]


def make(name: str, size: int | None, versions: int | None, seed: int, folder: Path, log: Callable[[str], None]) -> DataSet:
    """Makes a set below a folder, or resumes making it. Returns at once if it is complete. None stands for the catalog's default.

    Raises ValueError (or its subclass Unknown) for wrong arguments, and Failed for failures.
    """
    entry, size, versions = check(name, size, versions, seed)
    folder = folder_of(name, size, versions, seed, folder)
    if (folder / "dataset.json").is_file():
        tools.remove(folder / ".making")  # if the process was killed after writing dataset.json
        return open_set(folder)
    cache = folder.parent / ".cache"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with _locked(cache / f"{folder.name}.lock", log):
            if not (folder / "dataset.json").is_file():
                tools.need_packages(name, entry.packages)
                _need_space(folder, size + entry.scratch(size))
                job = Job(name, size, versions, seed, cache, folder / ".making" / "work", log)
                _build(entry, job, folder)
    except OSError as error:
        where = error.filename or folder
        full = "; free some space and start it again: it resumes" if error.errno == errno.ENOSPC else ""
        raise Failed(f"data set '{name}' in {folder.parent}: {error.strerror or error}: {where}{full}") from None
    return open_set(folder)


def folder_of(name: str, size: int | None, versions: int | None, seed: int, folder: Path) -> Path:
    """The folder of a set below another one, whether or not it is there. Raises ValueError as `make` does."""
    _, size, versions = check(name, size, versions, seed)
    return folder.absolute() / f"{name}-{sizes.text_of(size)}-v{versions}-s{seed}"


def check(name: str, size: int | None, versions: int | None, seed: int) -> tuple[catalog.Entry, int, int]:
    """The catalog's entry of a set, and its size and versions. None stands for the catalog's default. Raises ValueError as `make` does."""
    entry = catalog.entry(name)
    size, versions = size or entry.size, versions or entry.versions
    if not LEAST <= size <= MOST:
        raise ValueError(f"size {sizes.text_of(size)} is outside {sizes.text_of(LEAST)} to {sizes.text_of(MOST)}")
    if not 1 <= versions <= MOST_VERSIONS:
        raise ValueError(f"version count {versions} is outside 1 to {MOST_VERSIONS}")
    if not 0 <= seed <= MOST_SEED:
        raise ValueError(f"seed {seed} is outside 0 to {MOST_SEED}")
    if size // versions < entry.least:
        raise ValueError(
            f"data set '{entry.name}' takes at least {sizes.text_of(entry.least)} for each version: {versions} in {sizes.text_of(size)} are too many"
        )
    return entry, size, versions


def _need_space(folder: Path, size: int) -> None:
    there = sum(file.stat().st_size for file in folder.glob("*") if file.is_file())
    free = shutil.disk_usage(folder.parent).free
    if free < size - there:
        raise Failed(f"{folder.parent} has {sizes.rounded(free)} free, and making {folder.name} takes about {sizes.rounded(size - there)}")


@contextmanager
def _locked(path: Path, log: Callable[[str], None]) -> Iterator[None]:
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log(f"waiting for another process that makes {path.stem}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(entry: catalog.Entry, job: Job, folder: Path) -> None:
    making = folder / ".making"
    making.mkdir(parents=True, exist_ok=True)
    generator = entry.generator(job)
    try:
        versions = _plan(generator, making / "plan.json")
        if not generator.resumes:
            for planned in versions:
                tools.remove(folder / planned.file)
        former = None
        for index, planned in enumerate(versions):
            path = folder / planned.file
            if not path.exists():
                job.log(f"{folder.name}: version {index + 1} of {len(versions)}: {planned.name}")
                _make_version(generator, planned, making, path, former)
            former = path
        _finish(entry, job, generator, versions, folder)
    finally:
        generator.close()


def _plan(generator: Generator, path: Path) -> list[Planned]:
    if not path.exists():
        _empty(generator.job.work)
        _write(path, json.dumps([asdict(planned) for planned in generator.plan()]))
    return [Planned(**planned) for planned in json.loads(path.read_text())]


def _make_version(generator: Generator, planned: Planned, making: Path, path: Path, former: Path | None) -> None:
    unfinished = making / "part"
    tools.remove(unfinished)
    _empty(generator.job.work)
    generator.make(planned, unfinished, former)
    _write(_lines_of(making, planned), "".join(_hashed(unfinished, planned.file)))
    unfinished.rename(path)


def _lines_of(making: Path, planned: Planned) -> Path:
    return making / f"{planned.file}.lines"


def _finish(entry: catalog.Entry, job: Job, generator: Generator, versions: list[Planned], folder: Path) -> None:
    lines, facts = [], []
    for planned in versions:
        own = _lines_of(folder / ".making", planned).read_text().splitlines(keepends=True)
        lines += own
        facts.append({
            "name": planned.name,
            "path": planned.file,
            "bytes": sum(int(line.split("  ")[1]) for line in own),
            "file_count": len(own),
            "made_from": planned.made_from,
        })
    text = "".join(sorted(lines, key=lambda line: line.split("  ", 2)[2]))
    _write(folder / "manifest", text)
    info = {
        "format": FORMAT,
        "name": job.name,
        "stands_for": list(entry.stands_for),
        "size": job.size,
        "version_count": len(versions),
        "seed": job.seed,
        "bytes": sum(fact["bytes"] for fact in facts),
        "checksum": hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest(),
        "deterministic": entry.deterministic,
        "versions": facts,
        "made_with": {name: tools.version_of(*command) for name, command in generator.programs.items()},
        "notes": generator.notes,
    }
    _write(folder / "dataset.json", json.dumps(info, indent=2) + "\n")
    tools.remove(folder / ".making")


def _hashed(path: Path, name: str) -> Iterator[str]:
    """Yields a line of the manifest for each file of a version."""
    if path.is_dir():
        for child in sorted(path.iterdir()):
            yield from _hashed(child, f"{name}/{child.name}")
    elif path.is_file() and not path.is_symlink():
        yield f"{tools.sha256_of(path)}  {path.stat().st_size}  {name}\n"


def _write(path: Path, text: str) -> None:
    new = path.with_name(path.name + ".new")
    new.write_text(text, errors="surrogateescape")
    new.rename(path)


def _empty(folder: Path) -> None:
    tools.remove(folder)
    folder.mkdir(parents=True)


def open_set(folder: Path) -> DataSet:
    """Opens a complete set. Raises Failed if the folder has none."""
    path = folder.absolute() / "dataset.json"
    try:
        info = json.loads(path.read_text())
        if info["format"] != FORMAT:
            raise Failed(f"{path} is of format {info['format']}; this program reads format {FORMAT}")
    except (FileNotFoundError, NotADirectoryError):
        raise Failed(f"{folder} is no data set, or one that is not whole: it has no dataset.json") from None
    except (ValueError, KeyError, TypeError):
        raise Failed(f"{path} is no description of a data set") from None
    return DataSet(path.parent, info)


def verify(folder: Path) -> list[str]:
    """Reads all files again and returns a sentence for each difference from the manifest. Raises Failed if the folder has no complete set."""
    data = open_set(folder)
    try:
        text = (data.folder / "manifest").read_text(errors="surrogateescape")
    except OSError as error:
        return [f"{data.folder}/manifest cannot be read: {error.strerror}"]
    problems = []
    if hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest() != data.checksum:
        problems.append(f"{data.folder}/manifest is not the one whose checksum dataset.json has")
    wanted = {line.split("  ", 2)[2]: line for line in text.splitlines(keepends=True)}
    actual = {}
    for path in sorted(data.folder.iterdir()):
        if path.name not in ("manifest", "dataset.json", ".making"):
            actual |= {line.split("  ", 2)[2]: line for line in _hashed(path, path.name)}
    for name in sorted(wanted.keys() | actual.keys()):
        if name not in actual:
            problems.append(f"{data.folder}/{name.rstrip()} is missing")
        elif name not in wanted:
            problems.append(f"{data.folder}/{name.rstrip()} is not in the manifest")
        elif wanted[name] != actual[name]:
            problems.append(f"{data.folder}/{name.rstrip()} has changed")
    return problems
