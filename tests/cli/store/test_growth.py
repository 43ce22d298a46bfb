"""Commands on a store with four times as many snapshots, files, shards or entries of the log cost at most five times as much.

The calls of a command and the memory that it asks for are counted by a library, so that the outcome does not depend on the machine.
"""

import json
import os
import shutil
import subprocess
import time
import unittest
from pathlib import Path

from command import BINARY, DONE, IS_SANITIZED, CommandTest, subcommands

# The library that counts calls, as the build names it; else that of the release build.
COUNTED_CALLS = os.path.abspath(
    os.environ.get("CUTPOINT_COUNTED_CALLS") or Path(BINARY).parents[1] / "tests/cli/libcounted_calls.so"
)

TIMES = 4
MOST_GROWTH = 5
# So many snapshots and others there are at first, if the environment does not say more.
COUNT = int(os.environ.get("CUTPOINT_GROWTH_COUNT", "20"))
# What costs no more than that whatever the store has does not count.
NEGLIGIBLE = {"opens": 60, "reads": 60, "writes": 60, "removals": 60, "listings": 60, "listed_names": 200, "read_bytes": 200_000,
              "allocations": 20_000}  # fmt: skip

NOT_MEASURED = {
    "chunk": "it has no store",
    "dedup": "it has no store",
    "tune": "it has no store",
    "bench": "it has no store",
    "list": "it has no store",
    "info": "it has no store",
    "init": "it makes an empty store",
    "mount": "it runs until it is unmounted, and reads a snapshot as ls and dump do when somebody looks",
    "key": "only an encrypted store has keys, each of which costs a second by intention",
}

# What is run and counted; before that, what is run first. Words in braces are snapshots.
COMMANDS: dict[str, list] = {
    "backup": ["data"],
    "snapshots": [],
    "ls": ["latest"],
    "find": ["*1"],
    "restore": ["latest", "--target", "out"],
    "diff": ["{first}", "latest"],
    "dump": ["latest:{data}"],
    "copy": ["--from-store", "store"],
    "check": ["--read-data"],
    "repair": [],
    "forget": ["{all}"],
    "tag": ["--add", "new"],
    "rewrite": ["--exclude", "*3"],
    "prune": ["--max-unused", "0"],
    "stats": [],
    "sessions": [],
}
BEFORE: dict[str, list[list[str]]] = {"prune": [["forget", "--keep-last", "1", "--group-by", ""]]}


def run(words: list[str], folder: Path, **variables) -> bytes:
    process = subprocess.run([BINARY, *words], cwd=folder, env={**os.environ, **variables}, capture_output=True)
    if process.returncode != DONE:
        raise AssertionError(f"{words}: {process.returncode}\n{process.stderr.decode()}")
    return process.stdout


def counted_calls(words: list[str], folder: Path) -> dict:
    counts = folder / "counts"
    run(words, folder, LD_PRELOAD=COUNTED_CALLS, CUTPOINT_COUNTS=str(counts))
    return json.loads(counts.read_text())


class Sample:
    """A folder with files and a store, as one of the makers below leaves it."""

    def __init__(self, folder: Path, count: int):
        self.folder, self.count = folder, count
        (folder / "data").mkdir(parents=True)
        self.run("init", "--encryption", "none")

    def run(self, command: str, *words: str) -> bytes:
        return run([command, "--store", "store", *words], self.folder)

    def write_files(self, count: int):
        for number in range(count):
            (self.folder / "data" / f"{number}").write_text(f"{number}\n")

    def back_up(self, number: int = 0):
        (self.folder / "data" / "1").write_text(f"change {number}\n")
        self.run("backup", "data")

    def cost_of(self, command: str, measured=counted_calls):
        """What `measured` says of a command on the store, which is then as it was before."""
        shutil.copytree(self.folder / "store", self.folder / "kept")
        for words in BEFORE.get(command, []):
            self.run(*words)
        run(["init", "--encryption", "none", "--store", "target"], self.folder)
        words = [command, "--store", "target" if command == "copy" else "store"]
        snapshots = [json.loads(line)["id"] for line in self.run("snapshots", "--json").splitlines()]
        for word in COMMANDS[command]:
            words += snapshots if word == "{all}" else [word.format(first="".join(snapshots[:1]), data=self.folder / "data")]
        cost = measured(words, self.folder)
        for written in ("store", "target", "out"):
            shutil.rmtree(self.folder / written, ignore_errors=True)
        (self.folder / "kept").rename(self.folder / "store")
        return cost


def many_snapshots(sample: Sample):
    sample.write_files(20)
    for number in range(sample.count):
        sample.back_up(number)


def many_files(sample: Sample):
    sample.write_files(10 * sample.count)
    time.sleep(2.1)  # a ctime that is younger than two seconds is not stored, and such a file is read again
    for number in range(2):
        sample.back_up(number)


def many_shards(sample: Sample):
    """The same shard under many names: those of backups are merged."""
    sample.write_files(20)
    sample.back_up()
    sample.back_up(1)
    shards = sample.folder / "store/shards"
    original = max(shards.iterdir(), key=lambda path: path.stat().st_size)
    for number in range(sample.count):
        shutil.copy(original, shards / f"{number:032x}")


def many_log_entries(sample: Sample):
    sample.write_files(20)
    sample.back_up()
    sample.back_up(1)
    for number in range(sample.count):
        sample.run("tag", "latest", "--set", f"tag{number}")


@unittest.skipIf(IS_SANITIZED, "a sanitizer's library must be the first that is loaded")
@unittest.skipUnless(os.path.exists(COUNTED_CALLS), "needs the library that counts calls")
class Growth(CommandTest):
    def test_every_command_is_measured_or_has_a_reason(self):
        self.assertEqual(sorted([*COMMANDS, *NOT_MEASURED]), sorted(subcommands()))

    def assert_linear(self, make):
        samples = []
        for count in (COUNT, TIMES * COUNT):
            samples.append(Sample(self.folder / f"{count}" / "sample", count))
            make(samples[-1])
        least = Sample(self.folder / "0" / "sample", 0).cost_of("sessions")  # what every command costs
        faults = []
        for command in COMMANDS:
            few, many = (sample.cost_of(command) for sample in samples)
            for what, negligible in NEGLIGIBLE.items():
                before, after = few[what] - least[what], many[what] - least[what]
                if after > max(negligible, MOST_GROWTH * before):
                    faults.append(f"{command}: {what} {before} and {after}")
        self.assertEqual(faults, [], f"{COUNT} and {TIMES * COUNT} {make.__name__}")

    def test_a_prune_opens_no_container_for_each_of_its_records(self):
        sample = Sample(self.folder / "many" / "sample", COUNT)
        many_files(sample)
        least = Sample(self.folder / "0" / "sample", 0).cost_of("sessions")
        files = 10 * COUNT
        self.assertLess(sample.cost_of("prune")["opens"] - least["opens"], files)

    def test_in_the_number_of_snapshots(self):
        self.assert_linear(many_snapshots)

    def test_in_the_number_of_files_in_a_folder(self):
        self.assert_linear(many_files)

    def test_in_the_number_of_shards(self):
        self.assert_linear(many_shards)

    def test_in_the_number_of_log_entries(self):
        self.assert_linear(many_log_entries)


if __name__ == "__main__":
    unittest.main()
