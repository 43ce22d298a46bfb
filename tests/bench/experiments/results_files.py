"""Results files as a sweep leaves them, with numbers that a test chooses."""

import json
import sqlite3
import subprocess
from pathlib import Path

from programs import BINARY, ROOT

from experiments.catalog import Catalog, summary_of
from experiments.papers.claim import Finding
from experiments.papers.tables import DASH
from experiments.sweep.plan import ENGINE_KINDS

LISTING = json.loads(subprocess.run([BINARY, "list", "--json"], capture_output=True, check=True).stdout)
CATALOG = Catalog.merged([summary_of(LISTING)])
# The back ends of this build, those that other machines have, and one that nobody has yet.
BACK_ENDS = list(dict.fromkeys([*CATALOG.back_ends, "neon", "cuda", "hybrid", "unheard-of"]))
SCHEMA = ROOT / "bench" / "experiments" / "sweep" / "schema.sql"
GIB = 1 << 30
BUSY = {"reading": 0.2, "intake": 0.0, "chunking": 0.4, "joining": 0.01, "fingerprinting": 0.6, "delivery": 0.02}
PARALLEL = ("chunking", "fingerprinting")


def cuts_of(algorithm: str, least: int, mean: int, most: int) -> str:
    """A canonical string of an algorithm or a profile. Several names have the same word before the parenthesis."""
    return f"{CATALOG.entries[algorithm]['algorithm']}(min_bytes={least},avg_bytes={mean},max_bytes={most})"


def report_of(cuts: str, savings: float | None, mean: int = 8192, size: int = GIB, threads: int = 2, busy: dict | None = None) -> dict:
    """What `cutpoint dedup --json` says, as far as the report reads it."""
    count = size // mean
    stages = [
        {"stage": name, "is_parallel": name in PARALLEL, "busy_seconds": seconds, "alone_seconds": seconds / (threads if name in PARALLEL else 1)}
        for name, seconds in (busy or BUSY).items()
    ]
    third = max(count // 3, 1)
    histogram = [
        {"least_bytes": mean // 2, "most_bytes": mean // 2 + mean // 16 - 1, "chunk_count": third},
        {"least_bytes": mean, "most_bytes": mean + mean // 8 - 1, "chunk_count": count - third},
    ]
    chunks = {"mean_bytes": mean if count else None, "min_bytes": mean // 2, "max_bytes": mean + 100, "histogram": histogram if count else []}
    chunks |= {f"percentile_{percent}_bytes": mean for percent in (1, 5, 25, 50, 75, 95, 99)}
    unique = None if savings is None else round(size * (1 - savings))
    return {
        "cuts": cuts, "thread_count": threads, "segment_bytes": 1 << 20, "backends": {"chunking": "avx2"}, "comparison": None,
        "bottleneck": max(stages, key=lambda stage: stage["alone_seconds"])["stage"], "stages": stages,
        "result": {
            "bytes": size, "chunk_count": count, "unique_bytes": unique, "savings_share": savings,
            "elimination_ratio": None if savings is None else 1 / (1 - savings), "chunks": chunks,
        },
    }  # fmt: skip


class ResultsFile:
    """A file to add cells to, each later than the one before."""

    def __init__(self, path: Path, back_ends: tuple[str, ...] = ("scalar", "avx2")):
        self.path = path
        self.file = sqlite3.connect(path)
        self.file.executescript(SCHEMA.read_text(encoding="utf-8"))
        self.count = 0
        machine = {"machine": {"processor_model": "Test Processor", "cores": 2, "processors": 2, "instruction_sets": ["avx2"]}, "gpus": [], "back_ends": list(back_ends)}
        self.file.execute("insert into machines values ('m', ?)", (json.dumps(machine),))
        for key in ("b", "c"):
            self.file.execute("insert into binaries values (?, ?)", (key, json.dumps({"version": f"1.2.3{key}", "catalog": summary_of(LISTING)})))

    def saved(self) -> Path:
        """The file as it is now."""
        self.file.commit()
        return self.path

    def add_dataset(self, name: str, checksum: str = "") -> str:
        checksum = checksum or (name.encode().hex() * 64)[:64]
        info = {"name": name, "stands_for": ["ABC"], "bytes": GIB, "versions": [{}, {}], "deterministic": True, "notes": ""}
        self.file.execute("insert or ignore into datasets values (?, ?)", (checksum, json.dumps(info)))
        return checksum

    def add(self, kind: str, dataset: str, algorithm: str, size: str, result: dict | None, group: str = "matrix", **more) -> None:
        """A cell; `more` are columns of it."""
        self.count += 1
        row = {
            "key": f"{self.count:064}", "kind": kind, "dataset": dataset, "checksum": self.add_dataset(dataset, more.pop("checksum", "")),
            "algorithm": algorithm, "size": size, "settings": "{}", "binary": "b", "machine": "m", "seconds": 1.0, "outcome": "done",
            "started": f"2026-01-02T03:{self.count // 60:02}:{self.count % 60:02}+00:00", "rounds": 5,
            "result": None if result is None else json.dumps(result),
        } | more  # fmt: skip
        if kind in ENGINE_KINDS:
            row = {"hash": "sha1", "backend": "auto", "threads": 0, "join_name": "exact" if kind == "dedup" else None, "segment": "auto"} | row
        self.file.execute(f"insert into cells ({', '.join(row)}) values ({', '.join('?' * len(row))})", list(row.values()))
        self.file.execute("insert into members values ('sweep', ?, ?)", (group, row["key"]))

    def add_run(self, dataset: str, algorithm: str, size: str, cuts: str, savings: float | None, speed: float = GIB, report: dict | None = None, **more):
        """A whole-engine cell."""
        report = report or report_of(cuts, savings)
        self.add("dedup", dataset, algorithm, size, {"report": report, "wall_seconds": [1.0], "bytes_per_second": speed}, **more)

    def add_stages(self, algorithm: str, back_end: str, kind: str = "dedup", **alone: list[float]) -> None:
        """A run, or a backup, in which each stage took these seconds in every round."""
        cuts = cuts_of(algorithm, 4096, 8192, 16384)
        report = report_of(cuts, 0.5) if kind == "dedup" else {"cuts": cuts, "result": {"bytes": GIB}, "bottleneck": "writing", "stages": []}
        self.add(kind, "linux", algorithm, "8K", {"report": report, "alone_seconds": alone, "bytes_per_second": 1e9}, backend=back_end, rounds=len(alone["chunking"]))

    def add_speeds(self, dataset: str, algorithm: str, size: str, cuts: str, speeds: dict[str, float], **more) -> None:
        """A cell of cutting alone, by back end."""
        back_ends = {name: {"outcome": "measured", "bytes_per_second": speed, "of_read": 0.5} for name, speed in speeds.items()}
        back_ends["absent"] = {"outcome": "does_not_run", "bytes_per_second": None, "of_read": None}
        rows = [{"place": "memory", "kind": "read", "name": "plain read", "cuts": None, "back_ends": back_ends}]
        for place in ("memory", "l2"):
            rows.append({"place": place, "kind": "cuts", "name": algorithm, "cuts": cuts, "mean_bytes": 8000.0, "back_ends": back_ends})
        self.add("kernels", dataset, algorithm, size, {"rows": rows}, **more)

    def add_matrix(self, datasets: tuple[str, ...] | list[str] = ("linux", "random"), **more) -> None:
        """Four algorithms, all with savings of their own, on each data set."""
        for i, dataset in enumerate(datasets):
            for j, (algorithm, size, cuts) in enumerate((
                ("rabin", "4K:4K:16K", cuts_of("rabin", 4096, 4096, 16384)), ("fastcdc", "4K:8K:16K", cuts_of("fastcdc", 4096, 8192, 16384)),
                ("ae-max", "8K", cuts_of("ae-max", 0, 8192, 65536)), ("seqcdc-inc", "8K", cuts_of("seqcdc-inc", 4096, 8192, 16384)),
                ("seqcdc-inc", "16K", cuts_of("seqcdc-inc", 8192, 16384, 32768)),
            )):  # fmt: skip
                self.add_run(dataset, algorithm, size, cuts, 0.25 + i / 10 + j / 100, speed=(1 + j) * GIB / 4, **more)


def words_of(finding: Finding) -> tuple[str, ...]:
    """The verdicts on the direction and on the size of a claim, as far as it has them."""
    return tuple(verdict.word for verdict in (finding.direction, finding.size) if verdict.word != DASH)


def tune_result() -> dict:
    """What `cutpoint tune --json` says, as far as the report reads it."""
    candidates = [
        {
            "name": "seqcdc-inc", "cuts": cuts_of("seqcdc-inc", 4096, 8192, 16384), "target_bytes": 8192, "mean_bytes": 8000.0 + i,
            "options": f"--algorithm seqcdc-inc --size 4K:8K:16K --param seq_length={i}", "parameters": {"avg_bytes": 8192, "seq_length": i},
            "sample": {"savings_share": 0.3 - i / 100}, "net_savings_share": 0.29 - i / 100, "bytes_per_second": (1 + i / 10) * GIB, "on_front": i < 6,
        }
        for i in (4, 5, 6)
    ]  # fmt: skip
    return {"sample": {"share": 0.1}, "candidates": candidates, "recommendation": {"candidate": 1}}


def store_stats(path: Path, snapshots: int = 5, **more) -> Path:
    """What `cutpoint stats --details --json` prints of a made-up store, in a file."""
    growth = [
        {"snapshot": f"{i:064x}", "time": i, "bytes": (100 + i) << 20, "new_raw_bytes": (40 >> i) << 20, "new_stored_bytes": (20 >> i) << 20}
        for i in range(snapshots)
    ]
    layout = {"snapshot": "0" * 64, "bytes": 100 << 20, "stored_bytes": 30 << 20, "containers": 4, "containers_per_mib": 0.04}
    stats = {
        "snapshots": snapshots,
        "snapshot_bytes": sum(each["bytes"] for each in growth),
        "container_bytes": 50 << 20,
        "shard_bytes": 1 << 20,
        "growth": growth,
        "live_shares": [{"at_most": i / 10, "containers": i % 4, "container_bytes": (i % 4) << 25} for i in range(11)],
        "oldest": layout,
        "newest": layout | {"containers": 7, "containers_per_mib": 0.07},
        "kinds": [{"kind": kind, "files": 3, "bytes": 30 << 20, "stored_bytes": 9 << 20} for kind in (".c", ".h", "(none)")],
    }
    path.write_text(json.dumps(stats | more), encoding="utf-8")
    return path
