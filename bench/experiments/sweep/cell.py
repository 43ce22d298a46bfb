"""A cell: a combination of settings that is measured as a whole, and the key of its result."""

import hashlib
import json
from dataclasses import asdict, dataclass, field

# The settings of each kind of cell besides data set, algorithm, size and parameters.
OF_KIND = {
    "dedup": {"hash", "backend", "threads", "join", "segment", "rounds"},
    "kernels": {"bytes", "rounds"},
    "tune": {"sample"},
}


def digest(value) -> str:
    """The SHA-256 of a value in canonical JSON. Equal values have equal digests."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True)
class Cell:
    """Settings of a measurement. Those that its kind does not use keep their defaults and are not part of the key."""

    kind: str
    dataset: str  # its name in the sweep
    algorithm: str  # or a profile
    size: str = "own"  # as for --size; own: no --size
    parameters: dict = field(default_factory=dict, hash=False)  # as for --param
    hash: str = "sha1"
    backend: str = "auto"
    threads: int = 0  # 0: the command's default
    join: str = "exact"
    segment: str = "auto"
    rounds: int = 1
    bytes: str = "256M"
    sample: str = "10%"

    @property
    def settings(self) -> dict:
        """All settings that affect the result, except the data and the binary."""
        every = asdict(self)
        shared = ("kind", "algorithm", "size", "parameters")
        return {name: every[name] for name in every if name in shared or name in OF_KIND[self.kind]}

    def key(self, binary: str, checksum: str) -> str:
        return digest({"binary": binary, "data": checksum, "settings": self.settings})

    def __str__(self) -> str:
        words = [self.kind, self.dataset, self.algorithm, self.size]
        words += [f"{name}={value}" for name, value in self.parameters.items()]
        usual = Cell(self.kind, self.dataset, self.algorithm)
        words += [
            str(getattr(self, name)) + {"threads": " threads", "segment": " segments"}.get(name, "")
            for name in ("hash", "backend", "threads", "join", "segment")
            if name in OF_KIND[self.kind] and getattr(self, name) != getattr(usual, name)
        ]
        return " ".join(words)
