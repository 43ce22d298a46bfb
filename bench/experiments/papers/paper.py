"""The papers' numbers, read from numbers/*.toml: their tables, and statements about figures whose values they do not print."""

import math
import tomllib
from dataclasses import dataclass
from pathlib import Path

NUMBERS = Path(__file__).parent / "numbers"
NAMES = ("p-dedupe", "seqcdc", "ae", "prune", "appdedupe")


@dataclass(frozen=True)
class Table:
    """A table of a paper: its place, its topic, and its rows by name. What a row does not have is nan."""

    place: str
    what: str
    columns: list[str]
    rows: dict[str, list[float]]

    def __post_init__(self):
        for name, row in self.rows.items():
            if len(row) != len(self.columns):
                raise ValueError(f"{self.place}: row '{name}' has {len(row)} numbers for {len(self.columns)} columns")

    def at(self, row: str, column: str) -> float | None:
        """The number, or None if the paper has none."""
        number = self.rows[row][self.columns.index(column)] if row in self.rows else math.nan
        return None if math.isnan(number) else number


@dataclass(frozen=True)
class Paper:
    name: str
    title: str
    setting: str
    tables: dict[str, Table]
    statements: dict[str, dict]  # each has place, says (its sentence, shortened), and the numbers in it


def read(name: str) -> Paper:
    """One of NAMES."""
    table = tomllib.loads((NUMBERS / f"{name}.toml").read_text(encoding="utf-8"))
    return Paper(
        table["paper"],
        table["title"],
        table["setting"],
        {key: Table(**entry) for key, entry in table["tables"].items()},
        table["statements"],
    )


def read_all() -> dict[str, Paper]:
    return {name: read(name) for name in NAMES}


# The data sets that stand for the papers', the papers' names of algorithms, and the sizes of the matrix.
TARGETS = ("4K", "8K", "16K")

# Sizes whose chunks of random data have about the target as their mean (scripts/sweeps/full.toml says why).
HASHED = ("1K:4K:8K", "4K:4K:16K", "8K:8K:32K")
NORMALIZED = ("1K:4K:8K", "4K:8K:16K", "8K:16K:32K")
ALGORITHMS = {
    "gear": HASHED, "rabin": HASHED, "rabin-inck": HASHED, "adler": HASHED, "crc32": HASHED, "buzhash": HASHED, "tttd": HASHED,
    "fastcdc": NORMALIZED, "maxp": TARGETS, "ae-max": TARGETS, "ae-min": TARGETS, "ram": TARGETS, "seqcdc-inc": TARGETS,
    "seqcdc-dec": TARGETS, "fixed": TARGETS,
}  # fmt: skip

REAL = ("linux", "gcc", "packages", "images", "redis", "database", "containers", "nightly", "bench")  # with several versions each, like backups
DATASETS = (*REAL, "media", "packets", "random", "low-entropy")

# P-Dedupe's data sets, and ours that stand for them. Some have no counterpart.
P_DEDUPE = [
    (("SciLab",), "packages"),
    (("GCC",), "gcc"),
    (("Linux",), "linux"),
    (("Centos", "Fedora", "Freebsd"), "images"),
    (("Redis",), "redis"),
    (("Bench",), "bench"),
    ((), "database"),
    ((), "containers"),
    ((), "nightly"),
]

# Sets with as many versions as P-Dedupe's, or as many as there are (scripts/sweeps/versions.toml), by its names.
P_DEDUPE_MANY = {"SciLab": "packages-many", "GCC": "gcc-many", "Linux": "linux-many", "Redis": "redis-many", "Bench": "bench"}

SEQCDC = {"DEB": "images", "DEV": "nightly", "DKR": "containers", "LNX": "linux", "RDS": "redis", "TPCC": "database"}
SEQCDC_NAMES = {
    "AE": "ae-max", "CRC": "crc32", "FCDC": "fastcdc", "GEAR": "gear", "RC": "rabin", "RAM": "ram", "TTTD": "tttd", "SEQ": "seqcdc-inc",
}  # fmt: skip

# AE: Rabin_0.25 at the expected chunk size. Of each other algorithm the setting with the mean nearest to Rabin's is compared with it.
AE_EXPECTED = {"2 KB": 2048, "4 KB": 4096, "8 KB": 8192, "16 KB": 16384}
AE_RABIN = {"2 KB": "512:2K:16K", "4 KB": "1K:4K:32K", "8 KB": "2K:8K:64K", "16 KB": "4K:16K:128K"}
AE_OTHERS = {"2 KB": "2560", "4 KB": "5K", "8 KB": "10K", "16 KB": "20K"}  # Rabin's mean on random data
AE_NEAR = {
    "2 KB": ("2K", "2176", "2304", "2432", "2560"),
    "4 KB": ("4K", "4352", "4608", "4864", "5K"),
    "8 KB": ("8K", "8704", "9K", "9728", "10K"),
    "16 KB": ("16K", "17K", "18K", "19K", "20K"),
}
MAXP_WINDOWS = (600, 750, 900, 1100, 1250, 1500, 1800, 2100, 2500, 3000, 3500, 4200, 5000, 6000, 7000, 8500, 10000, 12000)
AE_SETS = {"linux": "open-source", "packages": "open-source", "images": "VMDK"}  # with low-entropy strings
AE_ALL_SETS = AE_SETS | {"bench": "Bench"}

PRUNE_BITS = {10: "2K:1K:64K", 11: "2K:2K:64K", 12: "2K:4K:64K", 13: "2K:8K:64K", 14: "2K:16K:64K", 15: "2K:32K:64K"}


def matrix_size(algorithm: str, target: str) -> str:
    return ALGORITHMS[algorithm][TARGETS.index(target)]
