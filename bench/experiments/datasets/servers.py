"""Servers for this process: on sockets in a folder of their own, as an unprivileged user, stopped when this process ends."""

import hashlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from experiments.datasets.base import Failed, Generator, Job
from experiments.datasets.tools import remove

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
                    raise Failed(f"{name} did not start: {self._said()}")
                time.sleep(0.05)
        except BaseException:
            self.stop()
            raise

    def _said(self) -> str:
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

    def __init__(self, job: Job):
        super().__init__(job)
        self._place: Place | None = None
        self._server: Server | None = None

    def close(self) -> None:
        if self._server is not None:
            self._server.stop()
        if self._place is not None:
            self._place.remove()
