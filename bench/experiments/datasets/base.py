"""The interface of generators of data sets. The store handles folders, checksums and resuming."""

import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path


class Failed(RuntimeError):
    """A data set cannot be made or read. The message is one sentence for the user."""


@dataclass(frozen=True)
class Job:
    """A data set to make."""

    name: str
    size: int  # approximate bytes of all versions together
    version_count: int
    seed: int
    cache: Path  # downloads, kept and shared by all sets below one folder
    work: Path  # emptied before each version
    log: Callable[[str], None]

    @property
    def share(self) -> int:
        """Approximate bytes of one version."""
        return self.size // self.version_count

    def draws(self, *labels: object) -> random.Random:
        """Random draws that depend only on the set's name, its seed, and the labels."""
        return random.Random(":".join(str(word) for word in (self.name, self.seed, *labels)))


@dataclass(frozen=True)
class Planned:
    """A version before it is made. The plan is kept, so that a resumed set uses the same sources."""

    name: str
    file: str  # below the set's folder
    made_from: str
    facts: dict = field(default_factory=dict)  # values of JSON, for the generator


class Generator:
    """Makes the versions of one set, in their order."""

    #: False if the versions depend on a state that ends with the process. An interrupted set then begins with its first version again.
    resumes = True

    def __init__(self, job: Job):
        self.job = job

    #: For readers of results.
    notes = ""

    #: Programs whose versions affect the content, with the words that print them.
    programs: dict[str, tuple[str, ...]] = {}

    def plan(self) -> Iterable[Planned]:
        """Plans all versions. All random draws are made here or follow from the seed."""
        raise NotImplementedError

    def make(self, planned: Planned, target: Path, former: Path | None) -> None:
        """Makes a version as a new file or folder `target`. `former` is the version before it."""
        raise NotImplementedError

    def close(self) -> None:
        """Stops processes that `make` left running. Called in every case."""


def release_order(version: str) -> list[int]:
    """The numbers of a version, by which releases are sorted."""
    return [int(number) for number in re.findall(r"\d+", version)]


def numbered(index: int, name: str, suffix: str, made_from: str, label: str = "", /, **facts) -> Planned:
    """A version in a file whose name sorts in the order of the versions."""
    return Planned(label or name, f"{index + 1:03d}-{name}{suffix}", made_from, facts)
