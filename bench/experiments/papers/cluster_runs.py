"""Measures AppDedupe's tables and figures: real data as chunk traces, which `cutpoint-cluster` stores in simulated clusters.

Files of a data set are of one class, which is named like the set. Each policy gets the files version by version, of all sets in turns.
What is counted depends on the data alone; the speeds of figure 7 and what figure 8 takes are of the machine.
"""

import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from itertools import zip_longest
from pathlib import Path

from experiments.papers.measured import checksums, conditions, lines_of

FILE = "appdedupe.json"  # beside the pages
SETS = ("linux", "gcc", "packages", "images", "containers", "database", "redis", "media")
RANDOM = "random"
SCHEMES = ("fixed", "fastcdc")
SIZES = ("1K", "2K", "4K", "8K", "16K", "32K")
USUAL = "fastcdc 4K"  # how all data are cut if a paper's scheme does not choose by class
FIXED = "fixed 4K"
NODES = (1, 2, 4, 8, 16, 32, 64, 128)
POLICIES = ("app-dedupe", "sigma-dedupe", "emc-stateful", "emc-stateless", "extreme-binning", "produck")  # figures 10 and 11
ALSO_OF_ALL = ("calb", "dht")  # table 2 has them too, of all data on most nodes
PRODUCK = "fastcdc 1K"  # section 4.5
FILTERED = "fastcdc 8K"  # section 4.3, for the Bloom filter
HANDPRINTS = (1, 2, 4, 8, 16, 32, 64)
COMPARED = (8 << 20, "tttd", "1K:4K:32K")  # figure 1
# Figure 8: super-chunks a node, by the number of nodes. They have 8 chunks each, of versions of random data of 512 MiB.
BALANCED = {10: 65_536, 128: 8_192, 1280: 1_024}
VERSION_SUPER_CHUNKS = 65_536
LARGEST = 1280  # nodes that get as many super-chunks as the paper's, a version each
BALANCE_HANDPRINTS = (1, 4, 8)
BALANCE_CHUNK, BALANCE_SUPER_CHUNK = "1K", "8K"
# Figure 6: streams at once, and locks of one table.
STREAMS = (1, 2, 4, 8, 16, 32)
LOCKS = (1, 4, 16, 64, 256, 1024)
STREAM_WORDS = ()  # further options of the program that measures them
EVOLVED = ("linux", "images", "containers")
EVOLVED_BYTES = 40 << 30
# What the paper leaves open, each alone, at 64 nodes.
CHOICES = {
    "ours": [],
    "batches of 1": ["--batch", 1],
    "batches of 64": ["--batch", 64],
    "overloaded above 100 %": ["--overload", 100],
    "overloaded above 150 %": ["--overload", 150],
    "overloaded above 400 %": ["--overload", 400],
    "never overloaded": ["--overload", 0],
    "handprints of 4": ["--handprint", 4],
    "handprints of 16": ["--handprint", 16],
    "handprints of 32": ["--handprint", 32],
    "fixed super-chunks": ["--fixed-super-chunks"],
    "super-chunks of 512 KiB": ["--super-chunk", "512K"],
    "super-chunks of 4 MiB": ["--super-chunk", "4M"],
    "1 point on the ring": ["--points", 1],
    "nodes that find what their containers lead to": ["--deduplication", "containers"],
}
CHOSEN_NODES = 64
# What can be measured alone, with the data sets that it needs.
GROUPS = {
    "counted": SETS,
    "efficiencies": SETS,
    "balance": (RANDOM,),
    "evolved_balance": EVOLVED,
    "largest_balance": (RANDOM,),
    "streams": (),
}


def program_of(group: str) -> str:
    """The program that measures a group, below the folder of a build."""
    return "bench/cutpoint_node_streams" if group == "streams" else "cluster_cli/cutpoint-cluster"


def sets_of(only: Iterable[str]) -> list[str]:
    """The data sets that these groups need, or all groups."""
    needed = {name for group in tuple(only) or GROUPS for name in GROUPS[group]}
    return [name for name in (*SETS, RANDOM) if name in needed]


def page_numbers(simulation: dict) -> dict:
    """What the page needs of a simulation."""
    names = ("normalized_ratio", "normalized_effective_ratio", "data_skew", "relative_saving", "stored_bytes", "message_count", "index_bytes")
    entry = {name: simulation[name] for name in names}
    entry["look_ups"] = simulation["routing_look_ups"] + simulation["chunk_look_ups"]
    return entry


class Workplace:
    """The programs, and the listings and traces that they have written so far."""

    def __init__(self, build: Path, scratch: Path, sets: dict[str, tuple[str, list[Path]]], log: Callable[[str], None]):
        self.command, self.cluster, self.streams = build / "cli/cutpoint", build / "cluster_cli/cutpoint-cluster", build / "bench/cutpoint_node_streams"
        self.scratch, self.log = scratch, log
        self.files = {name: [self._link(name, number, path) for number, path in enumerate(paths)] for name, (_, paths) in sets.items()}

    def _link(self, name: str, number: int, path: Path) -> Path:
        """A link to a version whose extension is the class."""
        link = self.scratch / f"{number:02d}.{name}"
        link.symlink_to(path)
        return link

    def _run(self, *words: object) -> str:
        done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, words[:3]))}: {done.stderr.strip()}")
        return done.stdout

    def listing(self, file: Path, scheme: str) -> Path:
        algorithm, size = scheme.split()
        path = self.scratch / f"{file.name} {scheme}.chunks"
        if not path.exists():
            self._run(self.command, "chunk", "-q", "--follow", "--algorithm", algorithm, "--size", size, "-o", path, file)
        return path

    def trace(self, names: Iterable[str], schemes: str | dict[str, str] = USUAL) -> Path:
        """A trace of data sets, version by version. `schemes` is one for all, or one for each set, by which a context then names the classes."""
        names = list(names)
        text = schemes if isinstance(schemes, str) else "by class"
        path = self.scratch / f"{'+'.join(names)} {text}.trace"
        if not path.exists():
            words: list = []
            if not isinstance(schemes, str):
                words = ["--context", self._context(schemes)]
            order = [file for version in zip_longest(*(self.files[name] for name in names)) for file in version if file]
            listings = [self.listing(file, schemes if isinstance(schemes, str) else schemes[file.suffix[1:]]) for file in order]
            self._run(self.cluster, "trace", "-q", *listings, *words, "-o", path)
        return path

    def _context(self, schemes: dict[str, str]) -> Path:
        rules = [f'[class.{name}]\nextensions = ["{name}"]\nalgorithm = "{scheme.split()[0]}"\nsize = "{scheme.split()[1]}"\n' for name, scheme in schemes.items()]
        path = self.scratch / "context.toml"
        path.write_text("".join(rules), encoding="utf-8")
        return path

    def evolve(self, trace: Path, versions: int, *words: object) -> tuple[Path, str]:
        """A synthetic trace of a class, and what was measured of the real one."""
        path = self.scratch / f"{trace.stem}-{versions}.synthetic"
        done = subprocess.run([*map(str, (self.cluster, "evolve", trace, "-v", "--versions", versions, "-o", path, *words))], capture_output=True, text=True, check=True)
        return path, done.stderr.strip().rpartition(": ")[2]

    def simulate(self, trace: Path, policies: Iterable[str], nodes: Iterable[int], *words: object) -> dict:
        """The report. `words` are further options."""
        repeated = [word for name in policies for word in ("--policy", name)] + [word for count in nodes for word in ("--nodes", count)]
        self.log(f"simulating {trace.stem}: {' '.join(map(str, words))}")
        return json.loads(self._run(self.cluster, "simulate", trace, "--json", "-q", *repeated, *words))

    def totals(self, trace: Path) -> dict:
        return self.simulate(trace, ["dht"], [1])["trace"]

    def measured_simulation(self, trace: Path, *words: object) -> dict:
        """A simulation of one policy with the seconds and the bytes of memory that it took."""
        (simulation,) = self.measured_simulations(trace, *words)
        return simulation

    def measured_simulations(self, trace: Path, *words: object) -> list[dict]:
        """Simulations of one policy, each with its seconds, and the bytes of memory that all of them took."""
        out = self.scratch / "report.json"
        process = subprocess.Popen([*map(str, (self.cluster, "simulate", trace, "--json", "-q", "-o", out, *words))])
        _, wait_status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(wait_status)
        if process.returncode != 0:
            raise RuntimeError(f"cutpoint-cluster simulate {trace}: failed")
        return [
            {"data_skew": each["data_skew"], "units": each["unit_count"], "seconds": each["seconds"], "memory_bytes": usage.ru_maxrss * 1024}
            for each in json.loads(out.read_text())["simulations"]
        ]


def redundancy(work: Workplace) -> dict:
    """Tables 3 and 4: what classes save alone and together, with fixed chunks, and with those by content."""
    every = work.totals(work.trace(SETS, FIXED))
    rows = {}
    for name in SETS:
        alone, rest = work.totals(work.trace([name], FIXED)), work.totals(work.trace([each for each in SETS if each != name], FIXED))
        by_content = work.totals(work.trace([name]))
        shared = alone["unique_bytes"] + rest["unique_bytes"] - every["unique_bytes"]
        rows[name] = {"bytes": alone["byte_count"], "fixed_unique_bytes": alone["unique_bytes"], "shared_bytes": shared, "unique_bytes": by_content["unique_bytes"]}
    return rows


def resemblances(work: Workplace) -> dict:
    """Figure 1: the resemblance of the first 8 MiB of two versions, and its estimates."""
    length, algorithm, size = COMPARED

    def beginning(file: Path) -> list[str]:
        digests = []
        for line in work.listing(file, f"{algorithm} {size}").read_text().splitlines():
            if line.startswith("#"):
                continue
            offset, _, digest, _ = line.split(" ", 3)
            if int(offset) >= length:
                break
            digests.append(digest)
        return sorted(set(digests))

    def share(first: list[str], second: list[str]) -> float:
        return len(set(first) & set(second)) / len(set(first) | set(second))

    rows = {}
    for name in SETS:
        first, second = (beginning(file) for file in work.files[name][:2])
        rows[name] = {"real": share(first, second)} | {str(k): share(first[:k], second[:k]) for k in HANDPRINTS}
    return rows


def efficiencies(work: Workplace, rounds: int) -> dict:
    """Figure 7: bytes that one node saves a second, by scheme and size. Rounds are in turns."""
    rows = {}
    for name in SETS:
        work.log(f"measuring figure 7 on {name}")
        measured: dict[str, list] = {f"{algorithm} {size}": [] for algorithm in SCHEMES for size in SIZES}
        for _ in range(rounds):
            for scheme, runs in measured.items():
                algorithm, size = scheme.split()
                report = json.loads(work._run(work.command, "dedup", "--json", "-q", "--follow", "--hash", "sha1", "--algorithm", algorithm, "--size", size, *work.files[name]))
                runs.append((report["result"]["duplicate_bytes"], report["wall_seconds"]))
        rows[name] = {scheme: runs[0][0] / statistics.median(seconds for _, seconds in runs) for scheme, runs in measured.items()}
    return rows


def best_schemes(measured: dict) -> dict[str, str]:
    """The scheme of each class that saves most bytes a second: application-aware chunking."""
    return {name: max(rates, key=rates.__getitem__) for name, rates in measured.items()}


def memory(work: Workplace, schemes: dict[str, str]) -> dict:
    """Table 5: the index of one node, and what it saves of what an exact one does."""
    rows = {}
    for name in SETS:
        how = {
            "emc-stateless": (FILTERED, []),
            "produck": (PRODUCK, []),
            "sigma-dedupe": (USUAL, ["--deduplication", "containers"]),
            "app-dedupe": (schemes, ["--deduplication", "containers"]),
        }
        entries = {policy: work.simulate(work.trace([name], cuts), [policy], [1], *words)["simulations"][0] for policy, (cuts, words) in how.items()}
        rows[name] = {f"{policy} {key}": entry[key] for key in ("index_bytes", "relative_saving") for policy, entry in entries.items()}
    return rows


def three_nodes(work: Workplace) -> dict:
    """Table 6."""
    report = work.simulate(work.trace(SETS), ["app-aware", "sigma-dedupe", "app-dedupe"], [3])
    return {each["policy"]: page_numbers(each) | {"classes": [node["application_count"] for node in each["nodes"]]} for each in report["simulations"]}


def clusters(work: Workplace, schemes: dict[str, str]) -> dict:
    """Figures 10 and 11: each policy with its own chunks, and with equal ones; each set, and all of them."""
    rows = {}
    for name in (*SETS, "all"):
        names = SETS if name == "all" else [name]
        counts = NODES if name == "all" else NODES[-1:]
        usual = work.simulate(work.trace(names), POLICIES, counts, "--threads", 2)
        rows[name] = {"trace": {key: usual["trace"][key] for key in ("unique_bytes", "byte_count", "chunk_count")}}
        reports = [(USUAL, usual)]
        if name == "all":
            reports.append((USUAL, work.simulate(work.trace(names), ALSO_OF_ALL, NODES[-1:], "--threads", 2)))
        reports.append(("by class", work.simulate(work.trace(names, schemes), ["app-dedupe"], counts, "--threads", 2)))
        reports.append((PRODUCK, work.simulate(work.trace(names, PRODUCK), ["produck"], counts, "--threads", 2)))
        for cuts, report in reports:
            unique = report["trace"]["unique_bytes"]
            for each in report["simulations"]:
                rows[name][f"{each['policy']} {cuts} {each['node_count']}"] = page_numbers(each) | {"own_unique_bytes": unique}
    return rows


def handprint_sizes(work: Workplace) -> dict:
    """Figure 9, on linux."""
    counts = NODES[2:]
    rows: dict[str, dict] = {str(count): {} for count in counts}
    for k in HANDPRINTS:
        for each in work.simulate(work.trace(["linux"]), ["app-dedupe"], counts, "--handprint", k)["simulations"]:
            rows[str(each["node_count"])][str(k)] = each["normalized_ratio"]
    return rows


def choices(work: Workplace) -> dict:
    trace = work.trace(SETS)
    return {label: page_numbers(work.simulate(trace, ["app-dedupe"], [CHOSEN_NODES], *words)["simulations"][0]) for label, words in CHOICES.items()}


BALANCE = ("--policy", "sigma-dedupe", "--fixed-super-chunks", "--super-chunk", BALANCE_SUPER_CHUNK, "--deduplication", "none")


def largest_balance(work: Workplace) -> dict:
    """Figure 8a at its full size, by the handprint. The trace is 96 bytes a super-chunk. The longest simulation begins first."""
    trace, _ = work.evolve(work.trace([RANDOM], f"fixed {BALANCE_CHUNK}"), LARGEST, "--changed", 100)
    sizes = sorted(BALANCE_HANDPRINTS, reverse=True)
    repeated = [word for k in sizes for word in ("--handprint", k)]
    work.log(f"simulating {LARGEST} nodes")
    rows = work.measured_simulations(trace, *BALANCE, "--nodes", LARGEST, "--points", 100, "--threads", 2, *repeated)
    trace.unlink()
    return dict(sorted(zip(map(str, sizes), rows, strict=True)))


def streams(work: Workplace, rounds: int) -> dict:
    """Figure 6: look-ups by the locks of a table, and bytes deduplicated by the index, by the streams at once: those of a second, and of a second
    of processor time. Medians."""
    words = ["--rounds", rounds, "--streams", *STREAMS, "--locks", *LOCKS, *STREAM_WORDS]
    work.log("measuring figure 6")
    report = json.loads(work._run(work.streams, *words))
    runs: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in report["rows"]:
        name = row["work"] if row["work"] == "look-ups" else f"{row['work']} {row['tables']}"
        count = row.get("count", row.get("bytes"))
        runs.setdefault((f"{name} {row['locks']}", str(row["streams"])), []).append((count / row["seconds"], count / row["processor_seconds"]))
    rates: dict[str, dict] = {}
    for (name, stream_count), pairs in runs.items():
        for time, values in zip(("by_clock", "by_processor"), zip(*pairs, strict=True), strict=True):
            rates.setdefault(name, {}).setdefault(time, {})[stream_count] = statistics.median(values)
    return {"classes": report["classes"], "rounds": rounds} | rates


def balance(work: Workplace) -> dict:
    """Figure 8a: super-chunks of random data, which are never duplicates."""
    base, rows = work.trace([RANDOM], f"fixed {BALANCE_CHUNK}"), {}
    for count, super_chunks in BALANCED.items():
        trace, _ = work.evolve(base, count * super_chunks // VERSION_SUPER_CHUNKS, "--changed", 100)
        for points in (100, 1):
            for k in BALANCE_HANDPRINTS:
                rows[f"{count} {k} {points}"] = work.measured_simulation(trace, *BALANCE, "--nodes", count, "--handprint", k, "--points", points)
        trace.unlink()
    return rows


def evolved_balance(work: Workplace) -> dict:
    """Figure 8b: synthetic versions of real data, deduplicated."""
    rows = {}
    for name in EVOLVED:
        trace = work.trace([name])
        versions = EVOLVED_BYTES // work.files[name][0].stat().st_size
        synthetic, changes = work.evolve(trace, versions)
        rows[name] = {"versions": versions, "changes": changes}
        for count in (min(BALANCED), max(BALANCED)):
            for k in BALANCE_HANDPRINTS:
                rows[name][f"{count} {k}"] = work.measured_simulation(synthetic, "--policy", "sigma-dedupe", "--nodes", count, "--handprint", k)
        synthetic.unlink()
    return rows


text_of = partial(lines_of, depth=3)


def measure(sets: dict[str, tuple[str, list[Path]]], build: Path, scratch: Path, rounds: int, log: Callable[[str], None], only: Iterable[str] = (), known: dict | None = None) -> dict:
    """All groups, or those in `only` beside what is `known`. Raises RuntimeError if a program fails."""
    chosen = tuple(only) or tuple(GROUPS)
    results = dict(known or {})
    told = {group: conditions(build / "cli/cutpoint", build / program_of(group), rounds) for group in chosen}
    results["processor"] = told[chosen[0]]["processor"]
    results["versions"] = results.get("versions", {}) | {group: each["version"] for group, each in told.items()}
    results["checksums"] = results.get("checksums", {}) | checksums(sets)["checksums"]
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        work = Workplace(build, Path(folder), sets, log)
        if "efficiencies" in chosen:
            results["efficiencies"], results["efficiency_rounds"] = efficiencies(work, rounds), rounds
        if "counted" in chosen:
            schemes = best_schemes(results["efficiencies"])
            results |= {"redundancy": redundancy(work), "resemblances": resemblances(work), "memory": memory(work, schemes), "three_nodes": three_nodes(work)}
            results |= {"clusters": clusters(work, schemes), "handprint_sizes": handprint_sizes(work), "choices": choices(work)}
        if "balance" in chosen:
            results["balance"] = balance(work)
        if "evolved_balance" in chosen:
            results["evolved_balance"] = evolved_balance(work)
        if "largest_balance" in chosen:
            results["largest_balance"] = largest_balance(work)
        if "streams" in chosen:
            results["streams"] = streams(work, rounds) | {"processors": told["streams"]["processors"]}
    return results
