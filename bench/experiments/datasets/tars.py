"""Makes tars of the members of other archives. Folders are left out to fit a size. Members keep their order, owners and times."""

import tarfile
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from random import Random

from experiments.datasets.base import Failed
from experiments.datasets.tools import output_of
from experiments.sizes import text_of

BLOCK = 1 << 20
DEPTH = 3
UNPACK = {".xz": ["xz", "--decompress", "--stdout", "--threads=0"], ".gz": ["gzip", "--decompress", "--stdout"], ".bz2": ["bzip2", "--decompress", "--stdout"]}


@contextmanager
def _unpacked(path: Path, command: list[str]) -> Iterator[tarfile.TarFile]:
    with output_of(f"unpacking {path.name}", [*command, path]) as stream:
        try:
            with tarfile.open(fileobj=stream, mode="r|", bufsize=BLOCK) as tar:
                yield tar
        except tarfile.TarError as error:
            raise Failed(f"{path.name} is no whole tar: {error}") from None


def open_tar(path: Path) -> AbstractContextManager[tarfile.TarFile]:
    """Opens a compressed tar, which is read once from its beginning."""
    return _unpacked(path, UNPACK[path.suffix])


def debian_package(path: Path) -> AbstractContextManager[tarfile.TarFile]:
    """Opens the files of a Debian package as a tar, which is read once from its beginning."""
    return _unpacked(path, ["dpkg-deb", "--fsys-tarfile"])


def members(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Iterates over the members without keeping them in memory."""
    while (member := tar.next()) is not None:
        yield member
        tar.members.clear()


def folder_of(name: str) -> str:
    """The folder of a member that is taken or left out as a whole: up to three levels below the release's own folder."""
    return "/".join(name.split("/")[1:-1][:DEPTH])


def blocks(size: int) -> int:
    """The size of a member in a tar."""
    return 512 + (size + 511) // 512 * 512


def sizes_of(tar: tarfile.TarFile) -> Counter[str]:
    """Bytes of each folder in a tar."""
    sizes = Counter()
    for member in members(tar):
        if not member.isdir():
            sizes[folder_of(member.name)] += blocks(member.size)
    return sizes


def chosen_folders(sizes: Counter[str], most: int, draws: Random, what: str = "") -> list[str]:
    """Takes folders in a drawn order, each if it still fits. Raises Failed if none does and `what` says of what they are."""
    left, chosen = most, []
    order = sorted(sizes)
    draws.shuffle(order)
    for folder in order:
        if sizes[folder] <= left:
            left -= sizes[folder]
            chosen.append(folder)
    if what and not chosen:
        raise Failed(f"no folder of {what} is as small as {text_of(most)}, the share of one version")
    return sorted(chosen)


def copy_folders(tar: tarfile.TarFile, folders: set[str], target: tarfile.TarFile) -> None:
    """Copies the members in these folders unchanged."""
    for member in members(tar):
        if not member.isdir() and folder_of(member.name) in folders:
            target.addfile(member, tar.extractfile(member) if member.isreg() else None)


@contextmanager
def written(path: Path) -> Iterator[tarfile.TarFile]:
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        yield tar
