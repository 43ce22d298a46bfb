"""Stores of other projects beside Cutpoint's: the same files, in turns, each into a fresh store on the same file system."""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


class Store:
    """A program with its commands. `first` and later steps get the store's folder and the data."""

    def __init__(self, name, program, version, environment, steps):
        self.name, self.program, self.version, self.environment, self.steps = name, program, version, environment, steps


def stores(command):
    """Cutpoint, and those peers that are on PATH. Compression is zstd at level 1 in all, as far as they can be told."""
    cutpoint = {
        "init": lambda s, d, t: [command, "init", "--store", s, "--encryption", "none"],
        "first backup": lambda s, d, t: [command, "backup", "--store", s, d],
        "unchanged": lambda s, d, t: [command, "backup", "--store", s, d],
        "again, all read": lambda s, d, t: [command, "backup", "--store", s, "--force", d],
        "restore": lambda s, d, t: [command, "restore", "latest", "--store", s, "--target", t],
        "check, all data": lambda s, d, t: [command, "check", "--store", s, "--read-data"],
    }
    yield Store("cutpoint", command, (command, "--version"), {}, cutpoint)
    # With a password, as restic and rustic always have one.
    encrypted = {**cutpoint, "init": lambda s, d, t: [command, "init", "--store", s, "--encryption", "password"]}
    yield Store("cutpoint, encrypted", command, (command, "--version"), {"CUTPOINT_PASSWORD_COMMAND": "/bin/echo x"}, encrypted)
    peers_average = ["--cuts", "fastcdc(min_bytes=256K,avg_bytes=1M,max_bytes=4M)"]  # that of restic and rustic
    longer = {**cutpoint, "init": lambda s, d, t: [*cutpoint["init"](s, d, t), *peers_average]}
    yield Store("cutpoint, 1 MiB", command, (command, "--version"), {}, longer)
    help_text = subprocess.run(["restic", "backup", "--help"], capture_output=True, text=True).stdout if shutil.which("restic") else ""
    restic = ["restic", "--quiet", "--no-cache", "--compression", "fastest" if "fastest" in help_text else "auto"]
    yield Store("restic", "restic", ("restic", "version"), {"RESTIC_PASSWORD": "x"}, {
        "init": lambda s, d, t: ["restic", "--quiet", "--no-cache", "--repo", s, "init"],
        "first backup": lambda s, d, t: [*restic, "--repo", s, "backup", d],
        "unchanged": lambda s, d, t: [*restic, "--repo", s, "backup", d],
        "again, all read": lambda s, d, t: [*restic, "--repo", s, "backup", "--force", d],
        "restore": lambda s, d, t: [*restic, "--repo", s, "restore", "latest", "--target", t],
        "check, all data": lambda s, d, t: [*restic, "--repo", s, "check", "--read-data"],
    })
    borg = ["borg", "create", "--compression", "zstd,1"]
    yield Store("borg", "borg", ("borg", "--version"), {"BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes"}, {
        "init": lambda s, d, t: ["borg", "init", "--encryption", "none", s],
        "first backup": lambda s, d, t: [*borg, f"{s}::a", d],
        "unchanged": lambda s, d, t: [*borg, f"{s}::b", d],
        "again, all read": lambda s, d, t: [*borg, "--files-cache", "disabled", f"{s}::c", d],
        "restore": lambda s, d, t: ["borg", "extract", f"{s}::a"],
        "check, all data": lambda s, d, t: ["borg", "check", "--verify-data", s],
    })
    rustic = ["rustic", "--no-progress", "--log-level", "error", "--no-cache", "--password", "x", "--repository"]
    yield Store("rustic", "rustic", ("rustic", "--version"), {}, {
        "init": lambda s, d, t: [*rustic, s, "init", "--set-compression", "1"],
        "first backup": lambda s, d, t: [*rustic, s, "backup", d],
        "unchanged": lambda s, d, t: [*rustic, s, "backup", d],
        "again, all read": lambda s, d, t: [*rustic, s, "backup", "--force", d],
        "restore": lambda s, d, t: [*rustic, s, "restore", "latest", t],
        "check, all data": lambda s, d, t: [*rustic, s, "check", "--read-data"],
    })


STEPS = ("first backup", "unchanged", "again, all read", "restore", "check, all data")


def run(words, environment, folder):
    """Seconds of the clock, seconds of processors, and the largest memory in MiB."""
    begin = time.monotonic()
    process = subprocess.Popen(words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench-stores: {' '.join(words)} ended with {process.returncode}: {said.strip()[-500:]}")
    return time.monotonic() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def size_of(folder):
    return sum(path.lstat().st_size for path in Path(folder).rglob("*") if path.is_file() and not path.is_symlink())


def measure(store, data, work):
    """The figures of one round: for each step seconds, processor seconds and MiB, and the bytes stored after the first."""
    folder, target = work / "store", work / "target"
    for path in (folder, target, work / "home"):
        shutil.rmtree(path, ignore_errors=True)
    target.mkdir()
    environment = {**os.environ, **store.environment, "HOME": str(work / "home"), "BORG_BASE_DIR": str(work / "home")}
    run(store.steps["init"](str(folder), str(data), str(target)), environment, work)
    figures = {}
    for step in STEPS:
        words = store.steps[step](str(folder), str(data), str(target))
        figures[step] = run(words, environment, target if step == "restore" else work)
        if step == "first backup":
            figures["stored"] = size_of(folder)
        if step == "restore":
            restored = target / str(data).lstrip("/")
            source = restored if restored.exists() else target
            differing = subprocess.run(["diff", "-r", "--no-dereference", data, source], capture_output=True, text=True)
            if differing.returncode != 0 and "while file" not in differing.stdout:
                sys.exit(f"bench-stores: what {store.name} restored differs: {differing.stdout[:300]}")
    return figures


def medians(rounds):
    figures = {step: [statistics.median(values) for values in zip(*(each[step] for each in rounds))] for step in STEPS}
    figures["stored"] = statistics.median(each["stored"] for each in rounds)
    return figures


def table(results, gibibytes):
    """Seconds (processor seconds; MiB of memory) of each step, and Cutpoint's seconds over the best peer's."""
    names = list(results)
    yield "| | " + " | ".join(names) + " | Cutpoint over the best peer |"
    yield "|---|" + "--:|" * (len(names) + 1)
    for step in STEPS:
        cells = [f"{seconds:.2f} s ({cpu / gibibytes:.2f}; {memory:.0f})" for seconds, cpu, memory in (results[name][step] for name in names)]
        peers = [results[name][step][0] for name in names if not name.startswith("cutpoint")]
        cells.append(f"{results['cutpoint'][step][0] / min(peers):.2f}" if peers else "-")
        yield f"| {step} | " + " | ".join(cells) + " |"
    yield "| stored, MiB | " + " | ".join(f"{results[name]['stored'] / 2**20:.1f}" for name in names) + " | |"


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench-stores", description=__doc__)
    parser.add_argument("data", type=Path, help="a folder")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, of which medians are shown (3)")
    parser.add_argument("--work", type=Path, default=None, help="folder for stores, best in memory (a new one in TMPDIR)")
    parser.add_argument("--json", action="store_true", help="print JSON, not a table")
    parser.add_argument("--command", required=True, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.command = str(Path(arguments.command).resolve())  # commands are run in other folders
    data = arguments.data.resolve()
    if not data.is_dir():
        parser.error(f"{data}: not a folder")
    if arguments.rounds < 1:
        parser.error("--rounds: at least 1")
    chosen = []
    for store in stores(arguments.command):
        if shutil.which(store.program):
            version = subprocess.run(store.version, capture_output=True, text=True).stdout.splitlines()[0]
            print(f"bench-stores: {store.name}: {version}", file=sys.stderr)
            chosen.append(store)
        else:
            print(f"bench-stores: {store.name} is skipped: it is not on PATH", file=sys.stderr)
    rounds = {store.name: [] for store in chosen}
    with tempfile.TemporaryDirectory(dir=arguments.work) as work:
        size = size_of(data)  # reads the names, and the first round reads the data into the cache
        for _ in range(arguments.rounds):
            for store in chosen:
                rounds[store.name].append(measure(store, data, Path(work)))
    results = {name: medians(each) for name, each in rounds.items()}
    if arguments.json:
        print(json.dumps({"bytes": size, "stores": results}, indent=1))
    else:
        print(f"{size / 2**30:.2f} GiB; seconds (processor seconds for each GiB; MiB of memory)\n")
        print("\n".join(table(results, size / 2**30)))


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as the shell's own programs end when their reader does
    main()
