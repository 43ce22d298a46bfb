"""The files of a PostgreSQL server under pgbench, copied between rounds while the server is stopped, like snapshots of its machine.

pgbench's standard transactions are like TPC-B: three updates of one row, one insert. Each round runs half as many of them as the table of
accounts has pages, so that about two pages in five of it are written.
"""

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

from experiments.datasets.base import Failed, Planned, numbered
from experiments.datasets.servers import Place, ServedGenerator, Server
from experiments.datasets.tools import run

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
