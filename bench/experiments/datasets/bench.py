"""Snapshots of a file system under a simulated user, the set that AE and P-Dedupe call Bench.

The files are those of the benchmark that the papers started from (Drago et al., Benchmarking personal cloud storage, IMC 2013): text, random
bytes, and JPEG headers before text, of 10 kB to 1 MB with about equal bytes in each decade of sizes. What happens between two snapshots follows
the method that the papers cite (Tarasov et al., Generating realistic datasets for deduplication analysis, USENIX ATC 2012): files are deleted,
created and modified, and a modification is at the beginning, in the middle, at the end, or at several of these places.
"""

import io
import sys
import tarfile
from collections.abc import Collection, Iterator
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from random import Random

from experiments.datasets import tars
from experiments.datasets.base import Generator, Planned, numbered

LEAST_BYTES, MOST_BYTES = 10_000, 1_000_000
KINDS = (".txt", ".bin", ".jpg")
JPEG_HEADER = bytes.fromhex("ffd8ffe000104a46494600010100000100010000")

# The papers print no rates. With these the savings come near P-Dedupe's 86.92 % (docs/datasets.md).
DELETED = 0.02  # of the files, between two snapshots
MODIFIED = 0.08
COPIED = 0.1  # of the created files: copies of others, as in the benchmark's test of deduplication
MOST_EDIT_BITS = 14  # bytes of an edit are drawn on a logarithmic scale up to 16 KiB

FIRST_TIME = 1_767_225_600  # 2026-01-01
DAY = 86_400
WORDS = 4096
LETTERS = b"etaoinshrdlcumwfgypbvkjxqz"
SHARES = (127, 91, 82, 75, 70, 67, 63, 61, 60, 43, 40, 28, 28, 24, 24, 22, 20, 20, 19, 15, 10, 8, 1.5, 1.5, 1, 0.7)  # of English, in thousandths


class Bench(Generator):
    """A tar for each snapshot, sorted by path. Files that stay keep their times, so that their members are the same bytes."""

    notes = "Rates of creation, deletion and modification are ours; the papers do not print theirs."
    programs = {"python": (sys.executable, "--version")}

    def plan(self) -> Iterator[Planned]:
        for index in range(self.job.version_count):
            made_from = f"{DELETED:.0%} of the files deleted, {MODIFIED:.0%} modified, others created" if index else "files of a cloud storage benchmark"
            yield numbered(index, "bench", ".tar", made_from, f"bench-{index + 1}", index=index)

    def make(self, planned: Planned, target: Path, former: Path | None) -> None:
        index = planned.facts["index"]
        draws = self.job.draws("snapshot", index)
        with tars.written(target) as output:
            if former is None:
                self._write(output, {}, None, index, draws)
            else:
                with tarfile.open(former) as before:
                    self._write(output, {member.name: member for member in before}, before, index, draws)

    def _write(self, output: tarfile.TarFile, tree: dict[str, tarfile.TarInfo], before: tarfile.TarFile | None, index: int, draws: Random) -> None:
        """Writes the snapshot that follows from a tree, which is changed."""
        changed = {}  # contents of files that are created or modified
        deleted = draws.sample(sorted(tree), share_of(tree, DELETED))
        for name in deleted:
            del tree[name]
        for name in draws.sample(sorted(tree), share_of(tree, MODIFIED)):
            changed[name] = self._modified(before.extractfile(tree[name]).read(), Path(name).suffix, draws)
        stayed, size, most = sorted(tree), 0, len(changed) + len(deleted)
        while len(changed) < most if before else size < self.job.share:
            if stayed and draws.random() < COPIED:
                source = draws.choice(stayed)
                kind, content = Path(source).suffix, before.extractfile(tree[source]).read()
            else:
                kind = draws.choice(KINDS)
                content = self._content(kind, _size(draws), draws)
            changed[f"{_folder(draws)}/{index:03d}-{len(changed):05d}{kind}"] = content
            size += tars.blocks(len(content))
        for name in sorted({*tree, *changed}):
            if name in changed:
                member = tarfile.TarInfo(name)
                member.size, member.mtime = len(changed[name]), FIRST_TIME + index * DAY + draws.randrange(DAY)
                output.addfile(member, io.BytesIO(changed[name]))
            else:
                output.addfile(tree[name], before.extractfile(tree[name]))

    @cached_property
    def _vocabulary(self) -> tuple[list[bytes], list[float]]:
        """Words of drawn letters, and the sums of their weights, which fall as the ranks of words in a language do."""
        draws = self.job.draws("words")
        words = [bytes(draws.choices(LETTERS, weights=SHARES, k=draws.randint(2, 10))) for _ in range(WORDS)]
        return words, list(accumulate(1 / rank for rank in range(1, WORDS + 1)))

    def _text(self, size: int, draws: Random) -> bytes:
        words, sums = self._vocabulary
        text = b""
        while len(text) < size:
            line = b" ".join(draws.choices(words, cum_weights=sums, k=max(16, (size - len(text)) // 6)))
            text += line + b".\n"
        return text[:size]

    def _content(self, kind: str, size: int, draws: Random) -> bytes:
        if kind == ".bin":
            return draws.randbytes(size)
        header = JPEG_HEADER if kind == ".jpg" else b""
        return header + self._text(size - len(header), draws)

    def _modified(self, content: bytes, kind: str, draws: Random) -> bytes:
        """The content with edits at one to three of its beginning, middle and end; each overwrites, inserts or removes bytes."""
        for place in draws.sample(("beginning", "middle", "end"), draws.randint(1, 3)):
            length = min(int(2 ** draws.uniform(0, MOST_EDIT_BITS)), len(content) // 4)
            at = {"beginning": 0, "middle": draws.randrange(len(content) - length), "end": len(content) - length}[place]
            what = draws.choice(("overwrite", "insert", "remove"))
            new = b"" if what == "remove" else draws.randbytes(length) if kind == ".bin" else self._text(length, draws)
            at += length if what == "insert" and place == "end" else 0
            content = content[:at] + new + content[at + (0 if what == "insert" else length) :]
        return content


def share_of(files: Collection, share: float) -> int:
    """The number of files that a share is, at least one of some."""
    return min(len(files), max(1, round(share * len(files))))


def _size(draws: Random) -> int:
    """A size whose probability falls with its square, so that each decade of sizes has about the same bytes."""
    return int(1 / draws.uniform(1 / MOST_BYTES, 1 / LEAST_BYTES))


def _folder(draws: Random) -> str:
    return "/".join(["home", *(f"folder-{draws.randrange(8)}" for _ in range(draws.randint(1, 3)))])
