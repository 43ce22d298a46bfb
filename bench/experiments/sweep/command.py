"""The command `cutpoint` as a sweep sees it: what it is, what it knows, and how a cell is said to it."""

import hashlib
import json
import os
import subprocess
from functools import cached_property
from pathlib import Path

from experiments.sweep.cell import Cell, digest


class Failed(Exception):
    """The command did not do what it was asked for; the message is its own."""


class Command:
    """One binary. What is asked of it is kept, so that asking again costs nothing."""

    def __init__(self, path: Path):
        self.path = path.resolve()

    def __reduce__(self):
        return Command, (self.path,)  # on another machine it is asked again

    def run(self, *words: str) -> str:
        """What it prints. Raises Failed with its last line of error, and says so where a signal ended it."""
        run = subprocess.run([self.path, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        if run.returncode:
            said = run.stderr.strip().splitlines()
            raise Failed(said[-1] if said else f"cutpoint {words[0]}: exit code {run.returncode}")
        return run.stdout

    @cached_property
    def key(self) -> str:
        """The checksum of the binary, which is what results are kept for."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @cached_property
    def info(self) -> dict:
        return {"version": self._list["version"], "bytes": self.path.stat().st_size}

    @cached_property
    def machine(self) -> dict:
        """Processors, caches and GPUs, without what changes from day to day."""
        info = json.loads(self.run("info", "--json"))
        return {"machine": info["machine"], "gpus": info["gpus"], "kernel": os.uname().release}

    @property
    def machine_key(self) -> str:
        return digest(self.machine)

    @cached_property
    def _list(self) -> dict:
        return json.loads(self.run("list", "--json"))

    @cached_property
    def profiles(self) -> set[str]:
        return {entry["name"] for entry in self._list["entries"] if entry["kind"] == "profile"}

    @cached_property
    def back_ends(self) -> dict[str, bool]:
        """Whether each runs here."""
        return {entry["name"]: entry["runs_here"] for entry in self._list["back_ends"]} | {"auto": True}

    def cuts(self, cell: Cell) -> list[str]:
        """The options that decide the cuts."""
        words = ["--profile" if cell.algorithm in self.profiles else "--algorithm", cell.algorithm]
        if cell.size != "own":
            words += ["--size", cell.size]
        return words + [word for name, value in cell.parameters.items() for word in ("--param", f"{name}={value}")]

    def engine(self, cell: Cell) -> list[str]:
        """The options of a run of the engine."""
        words = [*self.cuts(cell), "--hash", cell.hash, "--backend", cell.backend, "--join", cell.join]
        if cell.threads:
            words += ["--threads", str(cell.threads)]
        if cell.segment != "auto":
            words += ["--segment", cell.segment]
        return words

    def refusal(self, cell: Cell) -> str:
        """Why the command takes no such cell, in its own words; empty where it does. It is asked to cut nothing."""
        if cell.kind == "dedup" and cell.backend not in self.back_ends:
            return f"no back end '{cell.backend}'; there are {', '.join(self.back_ends)}"
        if cell.kind == "kernels" and cell.parameters:
            return "kernels are measured with each name's own parameters: no parameters and no grid here"
        words = self.cuts(cell) if cell.kind != "dedup" else self.engine(cell)
        if cell.kind == "dedup" and not self.back_ends[cell.backend]:
            words[words.index("--backend") + 1] = "auto"  # the rest is right or wrong without it
        try:
            self.run("chunk", "-q", *words, os.devnull)
        except Failed as refused:
            return str(refused).removeprefix("cutpoint: error: ")
        return ""
