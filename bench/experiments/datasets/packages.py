"""Releases of Python packages: sources and builds of one package, and a build server's tree in which one package follows its releases."""

import io
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from experiments.datasets import tars
from experiments.datasets.base import Failed, Generator, Planned, numbered, release_order
from experiments.datasets.pypi import File, Index, release_of

TAG = "cp311-cp311-manylinux"  # in the names of wheels; each release has had one since 2022
MACHINE = "x86_64.whl"
NEVER = 315_532_800  # 1980-01-01, the time of all files of wheels


def is_wheel(file: File) -> bool:
    return TAG in file.name and file.name.endswith(MACHINE)


def releases_of(index: Index, package: str, kinds: tuple[str, ...] = ("sdist", "wheel")) -> dict[str, dict[str, File]]:
    """Final releases that have files of all these kinds, oldest first: {"2.0.1": {"sdist": …, "wheel": …}}."""
    releases: dict[str, dict[str, File]] = {}
    for file in index.files(package):
        kind = "sdist" if file.name.endswith(".tar.gz") else "wheel" if is_wheel(file) else None
        version = release_of(file.name, package)
        if kind in kinds and version:
            releases.setdefault(version, {}).setdefault(kind, file)
    return {version: releases[version] for version in sorted(releases, key=release_order) if len(releases[version]) == len(kinds)}


def window(releases: list[str], count: int, draws, what: str) -> list[str]:
    """Successive releases, of which the first is drawn."""
    if len(releases) < count:
        raise Failed(f"there are {len(releases)} releases of {what} that will do, and {count} were asked for")
    start = draws.randrange(len(releases) - count + 1)
    return releases[start : start + count]


def wheel_members(wheel: zipfile.ZipFile, prefix: str):
    """The files of a wheel as members of a tar, in the wheel's order."""
    for info in wheel.infolist():
        if not info.is_dir():
            member = tarfile.TarInfo(f"{prefix}/{info.filename}")
            member.size, member.mtime, member.mode = info.file_size, NEVER, (info.external_attr >> 16) & 0o777 or 0o644
            yield info, member


def wheel_sizes(path: Path, prefix: str) -> Counter[str]:
    with zipfile.ZipFile(path) as wheel:
        sizes_found = Counter()
        for info, member in wheel_members(wheel, prefix):
            sizes_found[tars.folder_of(member.name)] += tars.blocks(info.file_size)
        return sizes_found


def copy_wheel(path: Path, prefix: str, folders: set[str] | None, target: tarfile.TarFile) -> None:
    """Copies a wheel's files in these folders, or all of them for None."""
    with zipfile.ZipFile(path) as wheel:
        for info, member in wheel_members(wheel, prefix):
            if folders is None or tars.folder_of(member.name) in folders:
                target.addfile(member, io.BytesIO(wheel.read(info)))


class OfIndex(Generator):
    """A data set of files of the Python package index."""

    @cached_property
    def index(self) -> Index:
        return Index()

    def fetch(self, file: File) -> Path:
        return self.index.fetch(file, self.job.cache / "python")


class Packages(OfIndex):
    """Successive releases of NumPy, a tar each: the trees of the sdist and of the wheel, of which the same folders are taken to fit the size."""

    notes = "Trees of sdists keep their order, owners and times; files of wheels follow in the wheel's order, all of one time."

    PACKAGE = "numpy"

    def plan(self) -> Iterator[Planned]:
        releases = releases_of(self.index, self.PACKAGE)
        chosen = window(list(releases), self.job.version_count, self.job.draws("start"), self.PACKAGE)
        first = releases[chosen[-1]]
        self.job.log(f"measuring the folders of {self.PACKAGE} {chosen[-1]}")
        with tars.open_tar(self.fetch(first["sdist"])) as tar:
            folder_sizes = Counter({f"sdist/{folder}": size for folder, size in tars.sizes_of(tar).items()})
        for folder, size in wheel_sizes(self.fetch(first["wheel"]), "wheel").items():
            folder_sizes[f"wheel/{folder}"] = size
        folders = tars.chosen_folders(folder_sizes, self.job.share, self.job.draws("folders"), self.PACKAGE)
        for index, version in enumerate(chosen):
            files = {kind: vars(file) for kind, file in releases[version].items()}
            made_from = " and ".join(file["name"] for file in files.values())
            yield numbered(index, f"{self.PACKAGE}-{version}", ".tar", made_from, version=version, files=files, folders=folders)

    def make(self, planned: Planned, target: Path, former: Path | None) -> None:
        files = {kind: self.fetch(File(**file)) for kind, file in planned.facts["files"].items()}
        chosen = {kind: {folder.partition("/")[2] for folder in planned.facts["folders"] if folder.startswith(f"{kind}/")} for kind in files}
        with tars.written(target) as output:
            with tars.open_tar(files["sdist"]) as tar:
                tars.copy_folders(tar, chosen["sdist"], output)
            copy_wheel(files["wheel"], f"{planned.name}-wheel", chosen["wheel"], output)


class Nightly(OfIndex):
    """Backups of a build server, a tar each: a tree of installed packages in which only one compiled package changes, by its releases.

    The package that changes is the first, so that the others are at another offset in each tar.
    """

    notes = "Installed files of wheels, all of one time; the same folders of the packages that stay in each version."

    CHANGING = "pydantic-core"
    STAYING = ("numpy", "pandas", "scipy", "scikit-learn", "matplotlib")

    def plan(self) -> Iterator[Planned]:
        releases = {version: files["wheel"] for version, files in releases_of(self.index, self.CHANGING, ("wheel",)).items()}
        chosen = window(list(releases), self.job.version_count, self.job.draws("start"), self.CHANGING)
        left = self.job.share - sum(wheel_sizes(self.fetch(releases[chosen[-1]]), "tree/changing").values())
        staying = []
        for package in self.STAYING:
            files = releases_of(self.index, package, ("wheel",))
            file = files[list(files)[-1]]["wheel"]
            folder_sizes = wheel_sizes(self.fetch(file), f"tree/{package}")
            folders = tars.chosen_folders(folder_sizes, left, self.job.draws(package))
            left -= sum(folder_sizes[folder] for folder in folders)
            staying.append({"package": package, "file": vars(file), "folders": folders})
        for index, version in enumerate(chosen):
            made_from = f"{releases[version].name} in a tree of {', '.join(self.STAYING)}"
            yield numbered(index, f"{self.CHANGING}-{version}", ".tar", made_from, changing=vars(releases[version]), staying=staying)

    def make(self, planned: Planned, target: Path, former: Path | None) -> None:
        with tars.written(target) as output:
            copy_wheel(self.fetch(File(**planned.facts["changing"])), "tree/changing", None, output)
            for entry in planned.facts["staying"]:
                copy_wheel(self.fetch(File(**entry["file"])), f"tree/{entry['package']}", set(entry["folders"]), output)

