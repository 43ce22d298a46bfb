"""JSON of measurements that are committed: a row of numbers is a line, so that differences can be read."""

import hashlib
import json
import subprocess
from pathlib import Path

from experiments.cli import ROOT


def is_row(value: dict) -> bool:
    """Whether these are numbers and lists of numbers alone."""
    return all(isinstance(number, (int, float)) for each in value.values() for number in (each if isinstance(each, list) else [each]))


def lines_of(measured: dict, depth: int) -> str:
    """A row of numbers has one line, and other dictionaries of the first `depth` levels have a line for each of their entries."""

    def text(value, level: int) -> str:
        if level == depth or not isinstance(value, dict) or is_row(value):
            return json.dumps(value)
        entries = [f"{' ' * (level + 1)}{json.dumps(key)}: {text(each, level + 1)}" for key, each in value.items()]
        return "{\n" + ",\n".join(entries) + f"\n{' ' * level}}}"

    return text(measured, 0) + "\n"


# What is told of a measurement: the machine, the program, the rounds and the data.
def source(command: Path, machine: str) -> dict:
    """The machine, by the name that it is given, and the commit and the command that measured."""
    told = conditions(command, command, 0)
    return {"machine": machine or named(told["processor"], told["processors"]), "commit": commit(), "version": told["version"]}


def named(processor: str, processors: int) -> str:
    """The name of a machine to which nobody gave one."""
    return f"{processor}, {processors} processors"


def commit() -> str:
    """The commit of the working tree, and whether it was changed since."""
    asked = [["rev-parse", "--short=8", "HEAD"], ["status", "--porcelain", "--untracked-files=no"]]
    try:
        head, changes = (subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=True).stdout.strip() for words in asked)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + (", changed" if changes else "")


def conditions(command: Path, program: Path, rounds: int) -> dict:
    """Of what `program` measured, by what the command says of the machine."""
    info = json.loads(subprocess.run([command, "info", "--json"], capture_output=True, text=True, check=True).stdout)
    return {
        "processor": info["machine"]["processor_model"],
        "processors": info["machine"]["processors"],
        "version": f"{info['version']}, binary {hashlib.sha256(program.read_bytes()).hexdigest()[:12]}",
        "rounds": rounds,
    }


def checksums(sets: dict[str, tuple[str, list[Path]]]) -> dict:
    """Of data sets by name, with checksum and paths."""
    return {"checksums": {name: checksum for name, (checksum, _) in sets.items()}}
