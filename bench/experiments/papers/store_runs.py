"""Measures P-Dedupe's approaches with a store behind them, and what the paper leaves out: deletion and restore.

Data and stores are in memory, as on the paper's RAM disk. Each run backs up all versions of a data set into a fresh store, a snapshot for each.
"""

import json
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from experiments.papers.measured import checksums, conditions, lines_of
from experiments.sizes import bytes_of

FILE = "p-dedupe-store.json"  # beside the pages
SIZE = "2K:8K:64K"
SETS = ("linux", "packages", "images", "redis")
STUDIED = ("linux", "images", "redis")  # figures 10 to 12: the paper's Linux, FreeBSD and Redis
ALGORITHMS = ("rabin", "adler", "gear")
APPROACHES = ("baseline", "pipeline", "pdedupe")
FIXED_THREADS = {"rabin": (4, 4), "adler": (4, 4), "gear": (3, 5)}  # for cutting and for fingerprints, as the paper gives them
TIMED_SEGMENTS = ("256K", "1M", "4M")
SIZES = ("1K:4K:32K", SIZE, "4K:16K:128K", "8K:32K:256K")
CONTAINER = "4M"
SHA1 = ("--hash", "sha1", "--for-experiments")  # the papers' fingerprint, which a store must not trust
STAGES = ("chunking", "fingerprinting", "indexing", "writing")
# AE's figure 8 at 8 KB expected: the algorithm's name in canonical strings, and its sizes or other parameters.
AE_SETS = ("linux", "packages")
AE_SYSTEMS = {
    "Rabin_0.25": ("rabin", SIZE),
    "MAXP": ("maxp", "avg_bytes=16384,half_window=2500"),
    "AE": ("ae", "avg_bytes=10240"),
    "AE-Opt2": ("ae", "avg_bytes=10240,lest=1024"),
}
KEPT = 4  # versions that a deletion leaves


@dataclass(frozen=True)
class Job:
    """A way to back a data set up. The size is MIN:AVG:MAX, or parameters as canonical strings have them. Segments and joins are P-Dedupe's; the
    others have none."""

    dataset: str
    algorithm: str
    size: str
    approach: str
    segment: str = ""
    join: str = ""

    @property
    def cuts(self) -> str:
        """The canonical string."""
        if "=" in self.size:
            return f"{self.algorithm}({self.size})"
        least, average, most = self.size.split(":")
        return f"{self.algorithm}(min_bytes={least},avg_bytes={average},max_bytes={most})"

    @property
    def name(self) -> str:
        return " ".join(word for word in asdict(self).values() if word)


def approaches(dataset: str, algorithm: str = "rabin", size: str = SIZE, segment: str = "4M") -> list[Job]:
    return [Job(dataset, algorithm, size, a, *((segment, "pdedupe") if a == "pdedupe" else ())) for a in APPROACHES]


def with_threads(dataset: str, algorithm: str, size: str = SIZE, segment: str = "4M") -> Job:
    """P-Dedupe as the paper schedules it: a pipeline with fixed numbers of threads for cutting and for fingerprints."""
    return Job(dataset, algorithm, size, "threads {} + {}".format(*FIXED_THREADS[algorithm]), segment, "pdedupe")


def segmented(dataset: str, segment: str, join: str, size: str = SIZE) -> Job:
    return Job(dataset, "rabin", size, "pdedupe", segment, join)


def ae_systems(dataset: str) -> dict[str, tuple[Job, Job]]:
    """AE's figure 8: a system with each algorithm in a pipeline, and in parallel with the cuts of the sequential chunker."""
    return {name: (Job(dataset, *cuts, "pipeline"), Job(dataset, *cuts, "pdedupe", "4M", "exact")) for name, cuts in AE_SYSTEMS.items()}


def timed_groups() -> Iterator[list[Job]]:
    """Jobs whose times are compared with each other, and so are measured in turns."""
    for dataset in SETS:
        for algorithm in ALGORITHMS:
            yield [*approaches(dataset, algorithm), with_threads(dataset, algorithm)]
    for dataset in STUDIED:
        yield [segmented(dataset, segment, join) for segment in TIMED_SEGMENTS for join in ("none", "pdedupe")]
    for size in SIZES:
        yield approaches("linux", size=size, segment="1M")
    for dataset in AE_SETS:
        yield [job for jobs in ae_systems(dataset).values() for job in jobs]


class Programs:
    def __init__(self, build: Path, scratch: Path):
        self.command, self.pipeline = build / "cli/cutpoint", build / "bench/cutpoint_store_pipeline"
        self.scratch = scratch

    def run(self, *words) -> str:
        return subprocess.run([*map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True).stdout

    def make_store(self, *settings: object) -> Path:
        """The only store, made anew."""
        store = self.scratch / "store"
        shutil.rmtree(store, ignore_errors=True)
        self.run(self.command, "init", "--store", store, "--encryption", "none", *settings)
        return store

    def new_store(self, job: Job) -> Path:
        return self.make_store(*SHA1, "--compression", "none", "--container-size", CONTAINER, "--cuts", job.cuts)

    def back_up(self, job: Job, files: list[Path]) -> dict:
        store = self.new_store(job)
        one_processor = ["taskset", "-c", "0"] if job.approach == "baseline" else []  # the storage has a thread of its own
        how = ["--approach", job.approach]
        if job.approach.startswith("threads"):
            how = ["--approach", "pipeline", "--fixed-threads", *job.approach.removeprefix("threads ").split(" + ")]
        if job.segment:
            how += ["--segment", bytes_of(job.segment), "--join", job.join]
        return json.loads(self.run(*one_processor, self.pipeline, store, *files, *how)) | {"store": store}

    def details(self, store: Path) -> dict:
        return json.loads(self.run(self.command, "stats", "--store", store, "--details", "--json"))

    def timed(self, *words) -> float:
        """Seconds that a program takes, by a shell's clock: a pause of this one does not count."""
        line = ["bash", "-c", 'TIMEFORMAT=%3R; time "$@"', "bash", *map(str, words)]
        done = subprocess.run(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        *problems, seconds = done.stderr.splitlines()
        if done.returncode != 0:
            raise RuntimeError("\n".join([" ".join(map(str, words)), *problems]))
        return float(seconds)


def copies(scratch: Path, paths: list[Path]) -> list[Path]:
    """The versions in memory, without holes, which the paper's stages do not know."""
    folder = scratch / "data"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    files = []
    for path in paths:
        subprocess.run(["cp", "--sparse=never", path, folder / path.name], check=True)
        files.append(folder / path.name)
    return files


def lives(programs: Programs, dataset: str, files: list[Path], rounds: int) -> dict:
    """Restores the newest and the oldest version, then deletes all but the newest few, and restores the newest again."""
    seconds_by_step: dict[str, list[float]] = {}

    def note(name: str, seconds: float) -> None:
        seconds_by_step.setdefault(name, []).append(seconds)

    def restore(what: str, snapshot: str, version: Path) -> None:
        target = programs.scratch / "target"
        shutil.rmtree(target, ignore_errors=True)
        note(f"restore {what}", programs.timed(programs.command, "restore", snapshot, "--store", programs.scratch / "store", "--target", target))
        restored = next(path for path in target.rglob("*") if path.is_file())
        subprocess.run(["cmp", restored, version], check=True)
        shutil.rmtree(target)

    job = segmented(dataset, "4M", "pdedupe")
    for _ in range(rounds):
        store = programs.back_up(job, files)["store"]
        snapshots = [json.loads(line)["id"] for line in programs.run(programs.command, "snapshots", "--store", store, "--json").splitlines()]
        before = programs.details(store)
        restore("newest", snapshots[-1], files[-1])
        restore("oldest", snapshots[0], files[0])
        forgotten = snapshots[: len(snapshots) - KEPT]
        note("forget", programs.timed(programs.command, "forget", *forgotten, "--store", store))
        note("prune", programs.timed(programs.command, "prune", "--store", store, "--max-unused", "0"))
        after = programs.details(store)
        note("prune, nothing to free", programs.timed(programs.command, "prune", "--store", store))
        restore("newest afterwards", snapshots[-1], files[-1])
        programs.run(programs.command, "check", "--store", store, "--read-data")
    layouts = {"before": before, "after": after}
    return {name: statistics.median(seconds) for name, seconds in seconds_by_step.items()} | {
        name: {key: details[key] for key in ("container_bytes", "oldest", "newest")} for name, details in layouts.items()
    }


def medians(entry: dict) -> dict:
    """What is kept of a job: the medians of its runs."""
    runs = entry.pop("runs")
    stages = [statistics.median(times) for times in zip(*(run["stage_seconds"] for run in runs), strict=True)]
    return entry | {key: statistics.median(run[key] for run in runs) for key in ("seconds", "processor_seconds")} | {"stage_seconds": stages}


text_of = partial(lines_of, depth=2)  # a line for each job and data set


def measure(sets: dict[str, tuple[str, list[Path]]], build: Path, scratch: Path, rounds: int, log: Callable[[str], None]) -> dict:
    """Everything, for data sets given by name with checksum and paths."""
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        programs = Programs(build, Path(folder))
        entries: dict[str, dict] = {}
        life = {}
        groups = [*timed_groups(), *([segmented(dataset, "4M", "none")] for dataset in SETS)]  # of the last only the savings count
        for dataset, (_, paths) in sets.items():
            log(f"measuring {dataset}")
            files = copies(programs.scratch, paths)
            total = sum(file.stat().st_size for file in files)
            for group in groups:
                if group[0].dataset != dataset or (len(group) == 1 and group[0].name in entries):
                    continue
                for _ in range(rounds if len(group) > 1 else 1):
                    for job in group:
                        ran = programs.back_up(job, files)
                        entry = entries.setdefault(job.name, {"bytes": total, "runs": []})
                        if "chunk_bytes" not in entry:
                            entry["chunk_bytes"] = programs.details(ran["store"])["chunks"]["raw_bytes"]
                        entry["runs"].append({key: ran[key] for key in ("seconds", "processor_seconds", "stage_seconds")})
            life[dataset] = lives(programs, dataset, files, rounds)
    return conditions(programs.command, programs.pipeline, rounds) | checksums(sets) | {
        "jobs": {name: medians(entry) for name, entry in entries.items()},
        "life": life,
    }
