"""A results file, opened to be read: as it is at that moment, though a sweep may be writing to it."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote


class Unreadable(Exception):
    """The file holds no results; the message names it and says why."""


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Rows are sqlite3.Row. Raises Unreadable, also for what goes wrong in the database meanwhile."""
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
