"""Compressed files: music, pictures and archives of Debian's packages, each only once."""

from collections.abc import Iterator
from pathlib import Path

from experiments.datasets import tars
from experiments.datasets.apt import Apt
from experiments.datasets.base import Failed, Generator, Planned, numbered

RELEASE = "bookworm"
PACKAGES = (
    "wesnoth-1.16-music", "plasma-workspace-wallpapers", "gnome-backgrounds", "sonic-pi-samples", "hedgewars-data", "fillets-ng-data",
    "warzone2100-music", "extremetuxracer-data", "beneath-a-steel-sky", "supertuxkart-data",
)
ARCHIVES = ["build-essential"]  # its package file, and those of its dependencies
SUFFIXES = (".ogg", ".oga", ".opus", ".mp3", ".flac", ".jpg", ".jpeg", ".png", ".webp", ".avi", ".ogv", ".webm", ".zip", ".gz", ".xz", ".bz2")
LEAST_BYTES = 16 << 10  # in a tar, smaller files would be mostly headers


class Media(Generator):
    """A tar for each version, each of other files. Packages are fetched in a drawn order until their files suffice."""

    programs = {"dpkg": ("dpkg", "--version")}

    @property
    def _debs(self) -> Path:
        return self.job.cache / "debs"

    def plan(self) -> Iterator[Planned]:
        apt = Apt(self.job.cache / "apt-media", "deb", (RELEASE,), archives=self._debs)
        self.job.log(f"fetching the lists of Debian {RELEASE}")
        apt.update(self.job.log)
        archives = apt.files_of(ARCHIVES)
        apt.fetch(ARCHIVES)
        files = [(name, "", (self._debs / name).stat().st_size) for name in archives if (self._debs / name).stat().st_size >= LEAST_BYTES]
        for package in self.job.draws("packages").sample(PACKAGES, len(PACKAGES)):
            if sum(size for _, _, size in files) >= self.job.size:
                break
            self.job.log(f"fetching {package}")
            files += self._files(apt.fetch_one(package, self._debs))
        self.job.draws("files").shuffle(files)
        for index, members in enumerate(self._files_of_versions(files)):
            yield numbered(index, "media", ".tar", f"{len(members)} files of Debian packages", f"media-{index + 1}", files=members)

    def make(self, planned: Planned, target: Path, former: Path | None) -> None:
        wanted: dict[str, set[str]] = {}
        for deb, member, _ in planned.facts["files"]:
            wanted.setdefault(deb, set()).add(member)
        with tars.written(target) as output:
            for deb in sorted(wanted):
                if wanted[deb] == {""}:
                    output.add(self._debs / deb, arcname=f"archives/{deb}", filter=_plain)
                    continue
                with tars.debian_package(self._debs / deb) as package:
                    for member in tars.members(package):
                        if member.name in wanted[deb]:
                            output.addfile(member, package.extractfile(member))

    def _files(self, deb: str) -> list[tuple[str, str, int]]:
        with tars.debian_package(self._debs / deb) as package:
            return [
                (deb, member.name, member.size)
                for member in tars.members(package)
                if member.isreg() and member.size >= LEAST_BYTES and member.name.lower().endswith(SUFFIXES)
            ]

    def _files_of_versions(self, files: list[tuple[str, str, int]]) -> list[list[tuple[str, str, int]]]:
        """Splits the files, in order, into a list for each version that fills its share of the size or of the files."""
        share = min(self.job.share, sum(size for _, _, size in files) // self.job.version_count)
        lists: list[list[tuple[str, str, int]]] = [[]]
        left = share
        for file in files:
            if left <= 0:
                if len(lists) == self.job.version_count:
                    break
                lists.append([])
                left = share
            lists[-1].append(file)
            left -= file[2]
        if len(lists) < self.job.version_count:
            raise Failed(f"too few files for {self.job.version_count} versions of data set 'media'")
        return lists


def _plain(member):
    """Removes the owner and the time of the download."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member
