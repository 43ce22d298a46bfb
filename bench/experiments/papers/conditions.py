"""What is told of a measurement: the machine, the program, the rounds and the data."""

import hashlib
import json
import subprocess
from pathlib import Path


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
