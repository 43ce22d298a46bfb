"""What deduplication would save."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsIndex

from cutpoint import _core
from cutpoint._settings import Engine, Parameter, Path, Size, _list, settings


def dedup(
    paths: Path | Iterable[Path],
    cuts: str = "fastcdc",
    *,
    fingerprint: str = "sha256",
    fingerprint_key: bytes | None = None,
    backend: str = "auto",
    threads: SupportsIndex | Engine | None = None,
    memory_bytes: Size | None = None,
    follow_links: bool = False,
    exclude: Path | Iterable[Path] = (),
    include: Path | Iterable[Path] = (),
    one_file_system: bool = False,
    exclude_caches: bool = False,
    **parameters: Parameter,
) -> dict[str, Any]:
    """Cuts and fingerprints files, and directories with all their files, and reports what storing each chunk once would
    save. Stores nothing. Chunks with equal fingerprints count as equal. A file that several names lead to is read once.
    The arguments that are not listed here are those of `chunk`; `fingerprint` must not be "none".

    follow_links
        Whether symbolic links inside directories are followed. A given path is always followed.
    exclude, include
        Patterns of paths inside directories, as `cutpoint dedup --exclude` and `--include` take them.
    one_file_system
        Whether directories on other file systems are left out.
    exclude_caches
        Whether of a directory with a CACHEDIR.TAG only this tag is read.

    The report is that of `cutpoint dedup --json` with the same names, and None for a number that is not defined:
    `version`, `cuts`, `fingerprint`, `thread_count`, `segment_bytes`, `memory_limit_bytes`, `input_count`,
    `failed_input_count`, `repeated_input_count`, `result` (`bytes`, `chunk_count`, `unique_bytes`, `savings_share`,
    `chunks`, ...), `kinds`, `wall_seconds`, `bytes_per_second`, `backends`, `stages` and `work`. The list `failures` is
    in this report alone: it has, for each input that failed, its `path`, the `error` ("io_error"), `errno` or None, and
    the `message`. An input that fails raises no exception, and the others are still read.
    """
    how = settings(cuts, fingerprint, fingerprint_key, backend, threads, memory_bytes, parameters)
    return _core.dedup(
        how, _list(paths), follow_links, _list(exclude), _list(include), one_file_system, exclude_caches
    )
