"""Snapshots of a real Redis server under its own benchmark: a round of writes, a SAVE, a copy of dump.rdb, and so on.

The first round fills most of a key space: strings, and as many fields of a hash, members of a set, and members of a sorted set. Each
later round writes one key in 200 of it, which redis-benchmark draws. The values are the same printable bytes at every key and in every
round, so snapshots differ only in keys that had not been drawn before and in the scores of the sorted set. The file has Redis's default
compression (LZF for values above 20 bytes, which finds little in these).
"""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from experiments.datasets.base import Planned, numbered
from experiments.datasets.servers import Place, ServedGenerator, Server
from experiments.datasets.tools import run

STRUCTURES = "set,hset,sadd,zadd"
VALUE_BYTES = 256
KEY_BYTES = 523  # measured bytes in a snapshot for each key of the key space, drawn or not, with its fields in the other structures
FILL = 2  # writes for each key in the first round: 1 - exp(-2) of them are drawn
CHANGED = 200  # later rounds write one key in this many


class Redis(ServedGenerator):
    # A server orders its keys by a seed that it draws at its start, so snapshots of two servers have little in common.
    resumes = False
    notes = "rdbcompression yes (the default). Keys are in the order of the server's hash table."
    programs = {"redis": ("redis-server", "--version")}


    def plan(self) -> Iterator[Planned]:
        keys = max(1000, self.job.share // KEY_BYTES)
        for index in range(self.job.version_count):
            writes = keys * FILL if index == 0 else max(1, keys // CHANGED)
            made_from = f"redis-benchmark, {writes} writes of {VALUE_BYTES} bytes to {keys} keys"
            yield numbered(index, "dump", ".rdb", made_from, f"dump-{index + 1}", keys=keys, writes=writes)

    def make(self, planned: Planned, target: Path, former: Path | None) -> None:
        if self._server is None:
            self._start()
        facts = planned.facts
        run(
            f"redis-benchmark of {planned.name}",
            ["redis-benchmark", "-s", self._socket, "-t", STRUCTURES, "-r", facts["keys"], "-n", facts["writes"], "-d", VALUE_BYTES,
             "-P", 64, "-c", 4, "-q"],
        )
        run(f"saving {planned.name}", ["redis-cli", "-e", "-s", self._socket, "save"])
        shutil.copyfile(self._place.folder / "dump.rdb", target)

    def _start(self) -> None:
        self._place = Place("nobody", self.job.work)
        self._server = Server(
            "redis-server", self._place,
            ["redis-server", "--port", "0", "--unixsocket", self._socket, "--dir", self._place.folder, "--save", "", "--appendonly", "no"],
            self._answers,
        )

    @property
    def _socket(self) -> Path:
        return self._place.folder / "socket"

    def _answers(self) -> bool:
        asked = subprocess.run(["redis-cli", "-s", str(self._socket), "ping"], stdin=subprocess.DEVNULL, capture_output=True)
        return asked.stdout.strip() == b"PONG"
