"""Releases of Python packages: sources and builds of one package, and a build server's tree in which one package follows its releases."""

import io
import tarfile
import zipfile
from collections import Counter
from pathlib import Path

from experiments import sizes
from experiments.datasets import tars
from experiments.datasets.base import Failed, Generator, Planned, numbered
from experiments.datasets.pypi import File, Index, order, release_of

TAG = "cp311-cp311-manylinux"  # of the wheels; each release has had one since 2022
MACHINE = "x86_64.whl"
NEVER = 315_532_800  # 1980-01-01, for times that a zip does not say well


def is_wheel(file: File) -> bool:
    return TAG in file.name and file.name.endswith(MACHINE)


def releases_of(index: Index, package: str) -> dict[str, dict[str, File]]:
    """Final releases, oldest first, that have an sdist and a wheel: {"2.0.1": {"sdist": …, "wheel": …}}."""
    found: dict[str, dict[str, File]] = {}
    for file in index.files(package):
        kind = "sdist" if file.name.endswith(".tar.gz") else "wheel" if is_wheel(file) else None
        version = release_of(file.name, package)
        if kind and version:
            found.setdefault(version, {}).setdefault(kind, file)
    return {version: found[version] for version in sorted(found, key=order) if len(found[version]) == 2}


def window(releases: list[str], count: int, draws, what: str) -> list[str]:
    """Successive releases, the first drawn."""
    if len(releases) < count:
        raise Failed(f"there are {len(releases)} releases of {what} with an sdist and a wheel, and {count} were asked for")
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


def copy_wheel(path: Path, prefix: str, folders: set[str] | None, to: tarfile.TarFile) -> None:
    """A wheel's files in these folders; in all when none are named."""
    with zipfile.ZipFile(path) as wheel:
        for info, member in wheel_members(wheel, prefix):
            if folders is None or tars.folder_of(member.name) in folders:
                to.addfile(member, io.BytesIO(wheel.read(info)))


class Packages(Generator):
    """Successive releases of NumPy, a tar each: the sdist's tree and beside it the wheel's, as far as the same folders fit the size."""

    PACKAGE = "numpy"

    def __init__(self, job):
        super().__init__(job)
        self._index = None
        self._folder = job.cache / "python"

    @property
    def index(self) -> Index:
        self._index = self._index or Index()
        return self._index

    def plan(self) -> list[Planned]:
        releases = releases_of(self.index, self.PACKAGE)
        chosen = window(list(releases), self.job.version_count, self.job.draws("start"), self.PACKAGE)
        first = releases[chosen[-1]]
        self.job.say(f"measuring the folders of {self.PACKAGE} {chosen[-1]}")
        with tars.opened(self.index.fetch(first["sdist"], self._folder)) as tar:
            found = Counter({f"sdist/{folder}": size for folder, size in tars.sizes_of(tar).items()})
        for folder, size in wheel_sizes(self.index.fetch(first["wheel"], self._folder), "wheel").items():
            found[f"wheel/{folder}"] = size
        folders = tars.chosen_folders(found, self.job.share, self.job.draws("folders"))
        if not folders:
            raise Failed(f"no folder of {self.PACKAGE} is as small as {sizes.text_of(self.job.share)}, the share of one version")
        return [
            Planned(
                f"{self.PACKAGE}-{version}", numbered(index, f"{self.PACKAGE}-{version}", ".tar"), " and ".join(file.name for file in releases[version].values()),
                {"version": version, "files": {kind: vars(file) for kind, file in releases[version].items()}, "folders": folders},
            )
            for index, version in enumerate(chosen)
        ]

    def make(self, planned: Planned, to: Path, former: Path | None) -> None:
        files = {kind: self.index.fetch(File(**file), self._folder) for kind, file in planned.facts["files"].items()}
        chosen = {kind: {folder.partition("/")[2] for folder in planned.facts["folders"] if folder.startswith(f"{kind}/")} for kind in files}
        with tars.written(to) as made:
            with tars.opened(files["sdist"]) as tar:
                tars.copy_folders(tar, chosen["sdist"], made)
            copy_wheel(files["wheel"], f"{planned.name}-wheel", chosen["wheel"], made)

    def notes(self) -> str:
        return "Trees of sdists keep their order, owners and times; files of wheels follow in the wheel's order, all of one time."
