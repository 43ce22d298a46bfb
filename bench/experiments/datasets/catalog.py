"""The catalog of data sets: content, the papers' sets that each stands for, and requirements."""

from collections.abc import Callable
from dataclasses import dataclass

from experiments.datasets.base import Generator, Job
from experiments.datasets.bench import Bench
from experiments.datasets.containers import Containers
from experiments.datasets.images import Images
from experiments.datasets.media import Media
from experiments.datasets.packages import Nightly, Packages
from experiments.datasets.packets import Packets
from experiments.datasets.servers import Database, Redis
from experiments.datasets.sources import Gcc, Linux
from experiments.datasets.synthetic import LowEntropy, Random

MIB = 1 << 20
GIB = 1 << 30


class Unknown(ValueError):
    """The catalog has no such data set."""


@dataclass(frozen=True)
class Entry:
    """A kind of data set."""

    name: str
    what: str
    stands_for: tuple[str, ...]  # the papers' names
    generator: Callable[[Job], Generator]
    size: int
    versions: int
    least: int = 1  # bytes of one version
    deterministic: bool = True  # equal plans give equal bytes
    packages: tuple[str, ...] = ()  # Debian packages, installed when a set is made
    also: tuple[str, ...] = ()  # other requirements, as text
    downloads: int = 0  # bytes kept beside the sets, for each version

    @property
    def needs(self) -> tuple[str, ...]:
        return (*self.packages, *self.also) or ("nothing",)

    def scratch(self, size: int) -> int:
        """Approximate bytes of disk for downloads and work while it is made."""
        return self.downloads * self.versions + size // self.versions


DEBIAN = "Debian's archive"

ENTRIES = {
    entry.name: entry
    for entry in (
        Entry("linux", "successive releases of the Linux kernel's sources, a tar each", ("LNX", "P-Dedupe Linux", "AE open-source", "PRUNE Linux sources"), Linux, GIB, 8,
              packages=("xz-utils",), also=(DEBIAN,), downloads=150 * MIB),
        Entry("gcc", "successive releases of GCC's sources, a tar each", ("P-Dedupe GCC", "AE open-source"), Gcc, GIB, 8,
              packages=("xz-utils",), also=(DEBIAN,), downloads=110 * MIB),
        Entry("packages", "successive releases of NumPy, sources and builds, a tar each", ("AE open-source", "P-Dedupe SciLab"), Packages, GIB, 8,
              packages=("python3-pip",), also=("the Python package index",), downloads=40 * MIB),
        Entry("images", "ext4 images of Debian machines: releases, package sets, states of updates", ("DEB", "P-Dedupe Centos, Fedora, Freebsd", "AE open-source", "AE VMDK"), Images, GIB, 6,
              least=160 * MIB, deterministic=False, packages=("debootstrap", "e2fsprogs", "util-linux"), also=(DEBIAN, "root"), downloads=70 * MIB),
        Entry("containers", "images of containers as docker save writes them, layers shared", ("DKR",), Containers, GIB, 8,
              least=48 * MIB, packages=("dpkg",), also=(DEBIAN,), downloads=60 * MIB),
        Entry("redis", "snapshots of a Redis server between rounds of its own benchmark", ("RDS", "P-Dedupe Redis"), Redis, GIB, 8,
              least=MIB, deterministic=False, packages=("redis-server", "redis-tools")),
        Entry("database", "data files of a PostgreSQL server between rounds of pgbench, a tar each", ("TPCC",), Database, GIB, 8,
              least=48 * MIB, deterministic=False, packages=("postgresql", "postgresql-contrib")),
        Entry("nightly", "a build server's tree in which one compiled package follows its releases, a tar each", ("DEV",), Nightly, GIB, 8,
              least=8 * MIB, packages=("python3-pip",), also=("the Python package index",), downloads=10 * MIB),
        Entry("bench", "snapshots of a tree of files under a simulated user: created, deleted, modified; a tar each", ("AE Bench", "P-Dedupe Bench"), Bench, GIB, 20,
              least=MIB),
        Entry("media", "music, pictures and archives, compressed already", ("PRUNE multimedia",), Media, GIB // 2, 4,
              least=4 * MIB, packages=("dpkg",), also=(DEBIAN,), downloads=200 * MIB),
        Entry("packets", "synthetic captures of network packets, drawn and never sent", ("AE network traffic",), Packets, GIB // 4, 4,
              least=MIB),
        Entry("random", "random bytes", (), Random, GIB // 2, 1),
        Entry("low-entropy", "runs of one byte and repeats of short strings among random bytes", ("AE low-entropy strings",), LowEntropy, GIB // 4, 1),
    )
}


def names() -> list[str]:
    return list(ENTRIES)


def entry(name: str) -> Entry:
    """The entry of a name. Raises Unknown."""
    try:
        return ENTRIES[name]
    except KeyError:
        raise Unknown(f"no data set '{name}'; there are {', '.join(ENTRIES)}") from None
