"""What deduplication would save."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, SupportsIndex

from cutpoint import _core
from cutpoint._settings import Parameter, settings


def dedup(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    cuts: str = "fastcdc",
    *,
    fingerprint: str = "sha256",
    fingerprint_key: bytes | None = None,
    backend: str = "auto",
    threads: SupportsIndex | None = None,
    memory_bytes: SupportsIndex | None = None,
    follow_links: bool = False,
    **parameters: Parameter,
) -> dict[str, Any]:
    """Cuts and fingerprints files, and folders with all that is in them, and reports what storing each chunk once would
    save. Nothing is stored. Chunks with equal fingerprints count as equal. The other arguments are those of `chunk`;
    "none" is no fingerprint here.

    follow_links
        Whether symbolic links inside folders are followed. A path that is given always is.

    The report is that of `cutpoint dedup --json`, with the same names, units in them, and None where a number is not
    defined: `version`, `cuts`, `fingerprint`, `thread_count`, `segment_bytes`, `memory_limit_bytes`, `input_count`,
    `failed_input_count`, `result` (`bytes`, `chunk_count`, `unique_bytes`, `savings_share`, `chunks`, ...), `kinds`,
    `wall_seconds`, `bytes_per_second`, `backends`, `stages` and `work`. Its own is `failures`: for each input that
    failed its `path`, the `error` ("io_error"), `errno` or None, and the `message`. An input that fails raises nothing:
    all others are done.
    """
    how = settings(cuts, fingerprint, fingerprint_key, backend, threads, memory_bytes, parameters)
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    return _core.dedup(how, list(paths), follow_links)
