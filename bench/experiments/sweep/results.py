"""Opens a results file for reading, even while a sweep writes to it."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote


class Unreadable(Exception):
    """The file has no results. The message names it and says why."""


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Yields a connection to a snapshot of the file, whose rows are sqlite3.Row. Raises Unreadable, also for later errors of the database."""
    try:
        opened = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True)
    except sqlite3.Error as problem:
        raise Unreadable(f"{path}: {problem}") from None
    opened.row_factory = sqlite3.Row
    try:
        opened.execute("begin")
        yield opened
    except sqlite3.Error as problem:
        raise Unreadable(f"{path} is no results file of scripts/sweep: {problem}") from None
    finally:
        opened.close()
