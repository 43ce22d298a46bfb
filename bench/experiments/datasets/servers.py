"""Data sets that are snapshots of servers: Redis and PostgreSQL, which run for this process alone and are stopped when it ends."""

import hashlib
import os
import pwd
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from experiments.datasets.base import Failed, Generator, Planned, numbered
from experiments.datasets.tools import remove, run

PATIENCE = 120  # seconds for a server to answer, or to end


class Place:
    """A folder below TMPDIR that the servers' user owns. Its path is short, since the path of a socket has at most 107 bytes.

    Its name follows from `work_folder`, the folder of the data set's work, so that the files of a killed process are found and removed.

    Root's servers run as `user`, those of other users as themselves.
    """

    def __init__(self, user: str, work_folder: Path):
        self.folder = Path(tempfile.gettempdir(), f"cutpoint-{hashlib.sha256(str(work_folder).encode()).hexdigest()[:12]}")
        remove(self.folder)
        self.folder.mkdir(mode=0o700)
        self.prefix: list[str] = ["setpriv", "--pdeathsig", "INT"]
        if os.geteuid() == 0:
            try:
                account = pwd.getpwnam(user)
            except KeyError:
                raise Failed(f"this machine has no user '{user}' to run a server as") from None
            os.chown(self.folder, account.pw_uid, account.pw_gid)
            self.prefix += ["--reuid", str(account.pw_uid), "--regid", str(account.pw_gid), "--clear-groups"]

    def command(self, *words: str | Path) -> list[str]:
        """The words that run a program here as that user."""
        return [*self.prefix, "--", *(str(word) for word in words)]

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


class Server:
    """A running server. Its output is written to a log in its folder."""

    def __init__(self, name: str, place: Place, command: Sequence[str | Path], answers: Callable[[], bool]):
        self.name, self.log = name, place.folder / f"{name}.log"
        with self.log.open("wb") as log:
            # In a session of its own, so that Ctrl-C on the terminal reaches it only through `stop`.
            self.process = subprocess.Popen(place.command(*command), stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=place.folder, start_new_session=True)
        try:
            until = time.monotonic() + PATIENCE
            while not answers():
                if self.process.poll() is not None or time.monotonic() > until:
                    raise Failed(f"{name} did not start: {self._last_line()}")
                time.sleep(0.05)
        except BaseException:
            self.stop()
            raise

    def _last_line(self) -> str:
        lines = self.log.read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "no message"

    def stop(self) -> None:
        """Asks the server to end, and kills it if it does not."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()


class ServedGenerator(Generator):
    """A generator whose versions are snapshots of a server."""

    _place: Place | None = None
    _server: Server | None = None

    def close(self) -> None:
        if self._server is not None:
            self._server.stop()
        if self._place is not None:
            self._place.remove()


STRUCTURES = "set,hset,sadd,zadd"
VALUE_BYTES = 256
KEY_BYTES = 523  # measured bytes in a snapshot for each key of the key space, drawn or not, with its fields in the other structures
FILL = 2  # writes for each key in the first round: 1 - exp(-2) of them are drawn
CHANGED = 200  # later rounds write one key in this many


class Redis(ServedGenerator):
    """Snapshots of a real Redis server under its own benchmark: a round of writes, a SAVE, a copy of dump.rdb, and so on.

    The first round fills most of a key space: strings, and as many fields of a hash, members of a set, and members of a sorted set. Each
    later round writes one key in 200 of it, which redis-benchmark draws. The values are the same printable bytes at every key and in every
    round, so snapshots differ only in keys that had not been drawn before and in the scores of the sorted set. The file has Redis's default
    compression (LZF for values above 20 bytes, which finds little in these).
    """

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


EMPTY_BYTES = 32 << 20  # a cluster without pgbench's tables
SCALE_BYTES = 15 << 20  # pgbench's tables and indices at scale 1
SCALE_PAGES = 1640  # pages of 8 KiB of the table of accounts
PAGES_PER_TRANSACTION = 2
CLIENTS = 4
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",  # the data need not survive a crash
    "shared_buffers": "64MB",
    "max_wal_size": "32MB",
    "min_wal_size": "8MB",
    "wal_recycle": "off",
    "autovacuum": "on",
}


class Database(ServedGenerator):
    """The files of a PostgreSQL server under pgbench, copied between rounds while the server is stopped, like snapshots of its machine.

    pgbench's standard transactions are like TPC-B: three updates of one row, one insert. Each round runs half as many of them as the table of
    accounts has pages, so that about two pages in five of it are written.
    """

    notes = "The whole cluster of the server, log of transactions included, stopped cleanly before each copy. fsync is off."

    def plan(self) -> Iterator[Planned]:
        scale = max(1, round((self.job.share - EMPTY_BYTES) / SCALE_BYTES))
        transactions = scale * SCALE_PAGES // PAGES_PER_TRANSACTION
        for index in range(self.job.version_count):
            made_from = f"pgbench at scale {scale}" + (f", {index} rounds of {transactions} transactions" if index else ", before the first round")
            seed = self.job.draws(index).randrange(1 << 31)
            yield numbered(index, "database", ".tar", made_from, f"database-{index + 1}", scale=scale, transactions=transactions if index else 0, seed=seed)

    def make(self, planned: Planned, target: Path, former: Path | None) -> None:
        self._place = self._place or Place("postgres", self.job.work)
        if not self._data.exists():
            self._begin(former)
        self._start()
        if former is None:
            self._pgbench(planned, "-i", "-s", planned.facts["scale"], "-q")
        else:
            per_client = max(1, planned.facts["transactions"] // CLIENTS)
            self._pgbench(planned, "-c", CLIENTS, "-j", 2, "-t", per_client, "--random-seed", planned.facts["seed"])
        self._stop()
        _write_tar(self._data, target)

    @property
    def programs(self) -> dict[str, tuple[str, ...]]:
        return {"postgresql": (str(self._program("postgres")), "--version")}

    @property
    def _data(self) -> Path:
        return self._place.folder / "data"

    @staticmethod
    def _program(name: str) -> Path:
        """The newest program of this name. Debian does not put the server's programs into the path."""
        programs = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: float(path.parts[4]))
        on_path = shutil.which(name)
        if not programs and not on_path:
            raise Failed(f"data set 'database': no {name} on this machine")
        return programs[-1] if programs else Path(on_path)

    def _begin(self, former: Path | None) -> None:
        if former is None:
            run(
                "making a PostgreSQL cluster",
                self._place.command(self._program("initdb"), "-D", self._data, "--wal-segsize=1", "--no-sync", "--no-locale", "--encoding=UTF8", "-U", "cutpoint", "-A", "trust"),
                cwd=self._place.folder,
            )
        else:
            with tarfile.open(former) as tar:
                tar.extractall(self._place.folder, filter="data")
            owner = self._place.folder.stat()
            for folder, _, names in os.walk(self._data):
                os.chmod(folder, 0o700)
                for path in (folder, *(os.path.join(folder, name) for name in names)):
                    os.chown(path, owner.st_uid, owner.st_gid)

    def _start(self) -> None:
        settings = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
        self._server = Server(
            "postgres", self._place,
            [self._program("postgres"), "-D", self._data, "-k", self._place.folder, *settings],
            self._answers,
        )

    def _answers(self) -> bool:
        asked = subprocess.run([str(self._program("pg_isready")), "-q", "-h", str(self._place.folder)], stdin=subprocess.DEVNULL)
        return asked.returncode == 0

    def _pgbench(self, planned: Planned, *words: object) -> None:
        run(f"pgbench of {planned.name}", [self._program("pgbench"), "-h", self._place.folder, "-U", "cutpoint", *words, "postgres"])

    def _stop(self) -> None:
        """Stops the server cleanly, so that it writes all data to its files."""
        server, self._server = self._server, None
        server.stop()
        if server.process.returncode != 0:
            raise Failed(f"PostgreSQL did not end cleanly (exit code {server.process.returncode})")


def _write_tar(folder: Path, target: Path) -> None:
    """Writes a tar of the folder in the order of names, with the files' own times."""
    with tarfile.open(target, "w") as tar:
        for path in [folder, *sorted(folder.rglob("*"))]:
            if path.is_file() or path.is_dir():
                tar.add(path, arcname=path.relative_to(folder.parent), recursive=False)
