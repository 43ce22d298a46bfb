"""Snapshots of a real Redis server under its own benchmark: a round of writes, a SAVE, a copy of dump.rdb, and so on.

The first round fills the key space: strings, and a hash, a set and a sorted set of as many fields. Each later round writes a tenth of
it again, with values of another length. The benchmark's values are the same printable bytes at every key. The file is compressed as
Redis does it when nothing is said (LZF for values above 20 bytes, which finds little in them).
"""

import shutil
import subprocess
from pathlib import Path

from experiments.datasets.base import Generator, Planned, numbered
from experiments.datasets.servers import Place, Server
from experiments.datasets.tools import run, version_of

STRUCTURES = ("set", "hset", "sadd", "zadd")
FIRST_BYTES = 256
LEAST_BYTES, MOST_BYTES = 128, 384
KEY_BYTES = 370  # that a key takes in a snapshot, with its fields in the other structures
FILL = 2  # writes for each key in the first round: 1 - exp(-2) of them get a value
CHANGED = 10  # later rounds write one key in so many


class Redis(Generator):
    # A server orders its keys by a seed that it draws when it starts: snapshots of two servers have little in common.
    resumes = False

    def __init__(self, job):
        super().__init__(job)
        self._place = self._server = None

    def plan(self) -> list[Planned]:
        keys = max(1000, self.job.share // KEY_BYTES)
        planned = []
        for index in range(self.job.version_count):
            draws = self.job.draws(index)
            length = FIRST_BYTES if index == 0 else draws.randint(LEAST_BYTES, MOST_BYTES)
            writes = keys * FILL if index == 0 else max(1, keys // CHANGED)
            planned.append(
                Planned(
                    f"dump-{index + 1}", numbered(index, "dump", ".rdb"), f"redis-benchmark, {writes} writes of {length} bytes to {keys} keys",
                    {"keys": keys, "writes": writes, "bytes": length, "seed": draws.randrange(1 << 31)},
                )
            )
        return planned

    def make(self, planned: Planned, to: Path, former: Path | None) -> None:
        if self._server is None:
            self._start()
        facts = planned.facts
        for index, structure in enumerate(STRUCTURES):
            run(
                f"redis-benchmark of {planned.name}",
                ["redis-benchmark", "-s", self._socket, "-t", structure, "-r", facts["keys"], "-n", facts["writes"],
                 "-d", facts["bytes"], "-P", 64, "-c", 4, "--seed", facts["seed"] + index, "-q"],
            )
        run(f"saving {planned.name}", ["redis-cli", "-e", "-s", self._socket, "save"])
        shutil.copyfile(self._place.folder / "dump.rdb", to)

    def made_with(self) -> dict[str, str]:
        return {"redis": version_of("redis-server", "--version")}

    def notes(self) -> str:
        return "rdbcompression yes (the default). Keys are in the order of the server's hash table."

    def _start(self) -> None:
        self._place = Place("nobody")
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

    def close(self) -> None:
        if self._server is not None:
            self._server.stop()
        if self._place is not None:
            self._place.remove()
