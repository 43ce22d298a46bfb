"""What the functions of Store return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Problem(NamedTuple):
    """A file or an object of the store that could not be handled completely."""

    path: str
    #: one sentence
    message: str
    #: the kind of the failure, such as "io_error"
    error: str
    #: of the failed system call, or None
    errno: int | None
    #: the id of the snapshot that has the file, or empty
    snapshot: str


@dataclass(frozen=True)
class Snapshot:
    """A backup. Times are nanoseconds; `time` counts from 1970, UTC."""

    id: str
    sequence: int
    time: int
    duration: int
    #: whether a file could not be handled completely
    is_incomplete: bool
    #: the id of the snapshot before, or empty
    parent: str
    host: str
    #: absolute
    paths: tuple[str, ...]
    tags: tuple[str, ...]
    #: of all kinds except folders
    files: int
    folders: int
    #: of the contents, with holes
    bytes: int
    #: of the chunks and nodes that the backup added
    new_raw_bytes: int
    #: the same as stored
    new_stored_bytes: int
    #: of the backup that returned this; empty if the snapshot was looked up
    problems: tuple[Problem, ...] = ()


class StoredFile(NamedTuple):
    """A file of a snapshot."""

    path: str
    #: "regular file", "directory", "symbolic link", "FIFO", "socket", "character device" or "block device"
    kind: str
    permissions: int
    user_id: int
    group_id: int
    size: int
    #: nanoseconds since 1970, UTC
    modified: int
    #: of a symbolic link, or empty
    target: str


@dataclass(frozen=True)
class Restored:
    """What a restore has written."""

    files: int
    folders: int
    bytes: int
    problems: list[Problem]


@dataclass(frozen=True)
class Checked:
    """What a check has found. The store is whole if both lists are empty."""

    containers: int
    records: int
    snapshots: int
    #: damaged objects of the store
    object_problems: list[Problem]
    #: files that are lost in part or as a whole, and folders that have lost entries
    file_problems: list[Problem]


@dataclass(frozen=True)
class Repaired:
    """What a repair has done."""

    saved_records: int
    #: objects of the store
    damaged: list[Problem]
    #: files that were left out of their snapshots
    lost: list[Problem]
    #: the ids of the snapshots that lost files, and of those that replace them
    replaced: dict[str, str]


class Key(NamedTuple):
    """A password or key file that opens an encrypted store."""

    id: str
    #: "password" or "key file"
    kind: str
    #: whether it opened the store
    is_used: bool
