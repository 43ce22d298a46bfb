"""Images of containers in the format of `docker save`: a tar with a tar for each layer. Several images share layers.

An image is a release of Debian in a state of updates, a runtime, and an application for storage or databases. Its layers are the files
of the packages that each of these needs beyond the layers below, without documentation. No scripts of packages are run.
"""

import hashlib
import io
import json
import re
import shutil
import tarfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from experiments.datasets import tars
from experiments.datasets.apt import RELEASES, Apt
from experiments.datasets.base import Failed, Generator, Planned, numbered
from experiments.datasets.tools import sha256_of

BASE = ["?essential", "apt", "ca-certificates"]
POCKETS = {"released": ("",), "updated": ("", "-updates", "-security")}
RUNTIMES = {"plain": [], "python": ["python3"], "perl": ["perl", "libdbi-perl"], "php": ["php-cli"]}
APPLICATIONS = {
    "redis": ["redis-server"], "memcached": ["memcached"], "sqlite": ["sqlite3"], "postgresql": ["postgresql"], "mariadb": ["mariadb-server"],
    "haproxy": ["haproxy"], "nginx": ["nginx"], "openldap": ["slapd"], "rsync": ["rsync", "openssh-server"], "borg": ["borgbackup"],
}
DOCUMENTATION = re.compile(r"usr/share/(doc|man|info|locale|lintian)/(?!.*/copyright$).+")
MERGED = re.compile(r"(bin|sbin|lib|lib64)/")  # below usr/ in all releases
FIXED_TIME = 1_767_225_600  # 2026-01-01, for files that are in no package


class Containers(Generator):
    notes = "The mirror's state on the day it was made decides about updates. No package's scripts were run."
    programs = {"dpkg": ("dpkg", "--version")}

    def plan(self) -> Iterator[Planned]:
        apts = self._apts()
        kinds = list(product(apts, RUNTIMES, APPLICATIONS))
        order = self.job.draws("kinds").sample(range(len(kinds)), len(kinds))
        chosen = {}
        for index in order:
            if len(chosen) == self.job.version_count:
                break
            (release, runtime, application) = kinds[index]
            steps = [BASE, RUNTIMES[runtime], APPLICATIONS[application]]
            if apts[release].installed_bytes([word for step in steps for word in step]) <= self.job.share * 5 // 4:
                self.job.log(f"fetching packages of {'-'.join(kinds[index])}")
                chosen[index] = self._layers(apts[release], steps)
        if len(chosen) < self.job.version_count:
            raise Failed(f"{len(chosen)} different images are that small, and {self.job.version_count} were asked for: ask for fewer versions or a larger size")
        for number, (index, layers) in enumerate(sorted(chosen.items())):
            made_from = f"{sum(map(len, layers))} packages of Debian {kinds[index][0]} in {len(layers)} layers"
            yield numbered(number, "-".join(kinds[index]), ".tar", made_from, layers=layers, tag=":".join(kinds[index][1:]))

    def make(self, planned: Planned, target: Path, former: Path | None) -> None:
        layers = [self._layer(names) for names in planned.facts["layers"]]
        config = json.dumps({"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": [f"sha256:{path.stem}" for path in layers]}})
        config_name = hashlib.sha256(config.encode()).hexdigest() + ".json"
        inside = [f"{path.stem}/layer.tar" for path in layers]
        manifest = json.dumps([{"Config": config_name, "RepoTags": [f"cutpoint/{planned.facts['tag']}"], "Layers": inside}])
        with tars.written(target) as output:
            for path, name in sorted(zip(layers, inside), key=lambda pair: pair[1]):
                with path.open("rb") as file:
                    output.addfile(_member(name, path.stat().st_size), file)
            for name, text in ((config_name, config), ("manifest.json", manifest)):
                output.addfile(_member(name, len(text)), io.BytesIO(text.encode()))

    @property
    def _debs(self) -> Path:
        return self.job.cache / "debs"

    def _apts(self) -> dict[str, Apt]:
        """An apt for each release and state of updates, without releases that the mirror lacks."""
        apts, failures = {}, []
        for release, (state, pockets) in product(RELEASES, POCKETS.items()):
            apt = Apt(self.job.cache / f"apt-{release}-{state}", "deb", tuple(f"{release}{pocket}" for pocket in pockets), archives=self._debs)
            self.job.log(f"fetching the lists of Debian {release}, {state}")
            try:
                apt.update(self.job.log)
            except Failed as failed:
                failures.append(failed)
                continue
            if apt.has(release):
                apts[f"{release}-{state}"] = apt
        if failures and not apts:
            raise failures[0]
        return apts

    @staticmethod
    def _layers(apt: Apt, steps: list[list[str]]) -> list[list[str]]:
        """Package files of each layer, from the lowest. Each file is in one layer, and no layer is empty."""
        words, below, layers = [], set(), []
        for step in steps:
            words += step
            own = sorted(set(apt.files_of(words)) - below) if step else []
            below |= set(own)
            layers += [own] if own else []
        apt.fetch(words)
        return layers

    def _layer(self, names: list[str]) -> Path:
        """The layer of these packages. It is made once and kept under its checksum."""
        folder = self.job.cache / "layers"
        folder.mkdir(exist_ok=True)
        pointer = folder / (hashlib.sha256("\n".join(names).encode()).hexdigest() + ".name")
        if not pointer.exists():
            new = self.job.work / "layer.tar"
            self._write_layer(names, new)
            digest = sha256_of(new)
            shutil.move(new, folder / f"{digest}.tar")
            pointer.write_text(digest)
        return folder / f"{pointer.read_text()}.tar"

    def _write_layer(self, names: list[str], target: Path) -> None:
        seen = set()
        with tars.written(target) as output:
            for name in names:
                with tars.debian_package(self._debs / name) as package:
                    for member in tars.members(package):
                        place = MERGED.sub(r"usr/\1/", member.name.removeprefix("./").rstrip("/"), count=1)
                        if place in seen or place in ("", ".") or DOCUMENTATION.match(place) or (member.isdir() and MERGED.fullmatch(f"{place}/")):
                            continue
                        seen.add(place)
                        member.name = place
                        if member.islnk():
                            member.linkname = MERGED.sub(r"usr/\1/", member.linkname.removeprefix("./"), count=1)
                        output.addfile(member, package.extractfile(member) if member.isreg() else None)


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mtime = size, FIXED_TIME
    return member
