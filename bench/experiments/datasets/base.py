"""What a generator is told, what it plans, and what it does. Folders, checksums and resuming are the store's."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


class Failed(RuntimeError):
    """A data set cannot be made or read; one sentence for the user."""


@dataclass(frozen=True)
class Job:
    """One data set to make."""

    name: str
    size: int  # bytes of all versions together, about
    version_count: int
    seed: int
    cache: Path  # downloads; shared by all sets below one folder and kept
    work: Path  # emptied before each version
    say: Callable[[str], None]

    @property
    def share(self) -> int:
        """Bytes of one version, about."""
        return self.size // self.version_count

    def draws(self, *labels: object) -> random.Random:
        """Random draws that depend on the set's name, its seed, and the labels alone."""
        return random.Random(":".join(str(word) for word in (self.name, self.seed, *labels)))


@dataclass(frozen=True)
class Planned:
    """One version before it is made. The plan is kept, so that a resumed set is made of the same things."""

    name: str
    file: str  # below the set's folder
    made_from: str
    facts: dict = field(default_factory=dict)  # as JSON has them; for the generator alone


class Generator:
    """Makes the versions of one set, in their order."""

    #: False where the versions depend on a state that ends with the process: an interrupted set begins with its first version.
    resumes = True

    def __init__(self, job: Job):
        self.job = job

    def plan(self) -> list[Planned]:
        """All versions. Whatever is drawn, is drawn here or follows from the seed."""
        raise NotImplementedError

    def make(self, planned: Planned, target: Path, former: Path | None) -> None:
        """One version, as a file or folder `target` that is not there yet; `former` is the version before it."""
        raise NotImplementedError

    def made_with(self) -> dict[str, str]:
        """Programs whose versions bear on the content."""
        return {}

    def notes(self) -> str:
        """What a reader of results has to know of this set."""
        return ""

    def close(self) -> None:
        """Ends what `make` left running; called on every way out."""


def numbered(index: int, name: str, suffix: str) -> str:
    """A file name that sorts as the versions do."""
    return f"{index + 1:03d}-{name}{suffix}"
