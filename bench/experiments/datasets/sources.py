"""Successive releases of the Linux kernel and of GCC, from Debian's source packages."""

import re
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from experiments.datasets import tars
from experiments.datasets.apt import SUITES, Apt, Gone
from experiments.datasets.base import Failed, Generator, Planned, numbered, release_order


class Releases(Generator):
    """Successive releases, one for each version, of which the first is drawn. The same folders of each are drawn to fit the size."""

    notes = "Upstream tars without Debian's patches, cut down to the same folders in each; members keep their order, owners and times."

    packages: list[str]

    @cached_property
    def apt(self) -> Apt:
        apt = Apt(self.job.cache / "apt-sources", "deb-src", SUITES)
        self.job.log("fetching the lists of Debian's source packages")
        apt.update(self.job.log)
        return apt

    def releases(self) -> list[tuple[str, str, str]]:
        """Upstream versions, source packages and their versions, oldest first. Debian's revisions of one release share its tar."""
        by_version = {}
        for package in self.packages:
            for version in self.apt.source_versions(package):
                upstream = version.split(":")[-1].rpartition("-")[0]
                if re.fullmatch(r"[0-9.]+", upstream):
                    by_version.setdefault(upstream, (upstream, package, version))
        return sorted(by_version.values(), key=lambda release: release_order(release[0]))

    def plan(self) -> Iterator[Planned]:
        releases, count = self.releases(), self.job.version_count
        if not releases:
            raise Failed(f"none of this machine's Debian sources has a source package {self.packages[0]}")
        if len(releases) < count:
            raise Failed(f"Debian has {len(releases)} releases for data set '{self.job.name}' now, and {count} were asked for")
        releases = self._fetchable(releases, self.job.draws("start").randrange(len(releases) - count + 1))
        self.job.log(f"measuring the folders of {self.job.name} {releases[0][0]}")
        with self._tree(*releases[0]) as tar:
            folders = tars.chosen_folders(tars.sizes_of(tar), self.job.share, self.job.draws("folders"), self.job.name)
        for index, (upstream, package, version) in enumerate(releases):
            facts = {"upstream": upstream, "package": package, "version": version, "folders": folders}
            yield numbered(index, f"{self.job.name}-{upstream}", ".tar", f"Debian source package {package} {version}", **facts)

    def _fetchable(self, releases: list[tuple[str, str, str]], start: int) -> list[tuple[str, str, str]]:
        """The releases from `start` on, then those before it, without those that the mirror no longer has."""
        there = []
        for release in releases[start:] + releases[:start][::-1]:
            if len(there) == self.job.version_count:
                break
            self.job.log(f"fetching {release[1]} {release[2]}")
            try:
                self._fetched(*release)
                there.append(release)
            except Gone:
                self.job.log(f"leaving out {release[1]} {release[2]}, which the mirror no longer has")
        if len(there) < self.job.version_count:
            raise Failed(f"Debian has {len(there)} releases for data set '{self.job.name}' now, and {self.job.version_count} were asked for")
        return sorted(there, key=lambda release: release_order(release[0]))

    def make(self, planned: Planned, target: Path, former: Path | None) -> None:
        facts = planned.facts
        with self._tree(facts["upstream"], facts["package"], facts["version"]) as tar, tars.written(target) as output:
            tars.copy_folders(tar, set(facts["folders"]), output)

    def _fetched(self, upstream: str, package: str, version: str) -> Path:
        folder = self.job.cache / "sources"
        self.apt.fetch_source(package, version, folder)
        for path in folder.glob(f"{package}_{upstream}.orig.tar.*"):
            if path.suffix in tars.UNPACK:
                return path
        raise Failed(f"the source package {package} {version} has no tar of the release")

    @contextmanager
    def _tree(self, upstream: str, package: str, version: str) -> Iterator[tarfile.TarFile]:
        with tars.open_tar(self._fetched(upstream, package, version)) as tar:
            yield tar


class Linux(Releases):
    packages = ["linux"]


class Gcc(Releases):
    packages = [f"gcc-{major}" for major in range(9, 30)]

    @contextmanager
    def _tree(self, upstream: str, package: str, version: str) -> Iterator[tarfile.TarFile]:
        """Opens the release's tar, which Debian wraps in another."""
        inner = self.job.work / "gcc.tar.xz"
        with tars.open_tar(self._fetched(upstream, package, version)) as outer:
            for member in tars.members(outer):
                if re.search(r"/gcc-[^/]*\.tar\.xz$", member.name):
                    with inner.open("wb") as file:
                        shutil.copyfileobj(outer.extractfile(member), file, tars.BLOCK)
                    break
        if not inner.exists():
            raise Failed(f"the tar of {package} {version} holds no tar of GCC")
        with tars.open_tar(inner) as tar:
            yield tar
        inner.unlink()
