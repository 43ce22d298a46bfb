"""What the functions of Store return."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any, NamedTuple

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


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


def _with_problems(record: dict[str, Any]) -> dict[str, Any]:
    """The fields of a record, whose lists are problems."""
    return {name: [Problem(*each) for each in value] if isinstance(value, list) else value for name, value in record.items()}


class BackupProgress(NamedTuple):
    """What a backup has done so far."""

    #: that the parent does not have, or all without a parent; of all kinds except folders
    new_files: int
    changed_files: int
    unchanged_files: int
    new_folders: int
    changed_folders: int
    unchanged_folders: int
    #: of the contents, with holes, that were read or found unchanged
    bytes: int
    #: of these, the bytes that were read
    read_bytes: int
    problems: int
    #: that the parent has, which are as many as may be expected; 0 without a parent
    parent_files: int
    #: of the contents of the parent
    parent_bytes: int
    #: of the present file or folder; empty with the totals, which come last
    path: str


class Progress(NamedTuple):
    """What a restore, a check, a prune or a copy has done of its present activity."""

    #: such as "restoring files"
    activity: str
    #: that were done: what the activity names, such as files or containers
    items: int
    #: 0 if it is unknown
    total_items: int
    #: that were done; 0 if the activity counts none
    bytes: int
    #: 0 if it is unknown
    total_bytes: int
    #: of the present item: a path, or the id of an object
    name: str


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
    #: the same for what nobody may expect although it is no failure: that the store lies in a folder and is left out, that
    #: standard input was empty, or that a pattern of `exclude` matched nothing
    warnings: tuple[Problem, ...] = ()
    #: of one that was made from another one, such as with other tags: the id of the backup's snapshot; otherwise empty
    original: str = ""
    #: that a backup stored again, because all stored copies are damaged; 0 if the snapshot was looked up
    healed_chunks: int = 0

    @property
    def datetime(self) -> dt.datetime:
        """The `time` as an aware datetime in UTC, cut to microseconds."""
        return _EPOCH + dt.timedelta(microseconds=self.time // 1000)


def _snapshot(record: dict[str, Any]) -> Snapshot:
    """The snapshot of a backup, with its problems and warnings."""
    problems, warnings = (tuple(map(Problem._make, record.pop(name, ()))) for name in ("problems", "warnings"))
    return Snapshot(**record, problems=problems, warnings=warnings)


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
    #: ctime, in nanoseconds since 1970, UTC; 0 if the file was so young that this does not tell later changes
    changed: int
    link_count: int
    #: 0, or of a file with several names the ordinal of its file system; older snapshots have the number of the system
    device: int
    inode: int
    #: of a character or block device
    device_number: int
    #: as FS_IOC_GETFLAGS numbers them: 0x10 immutable, 0x20 append only, 0x40 no dump
    flags: int


@dataclass(frozen=True)
class Restored:
    """What a restore has restored."""

    files: int
    folders: int
    #: of the contents, with holes
    bytes: int
    #: of the contents, without those that were there already and without holes
    written_bytes: int
    #: from which chunks were read, counted anew for each 65,536 chunks or 1,024 files
    read_containers: int
    #: files that the snapshot lacks; a folder with everything in it counts once
    removed: int
    #: names of a file with several that became copies, since the target permits no hard link
    copied_links: int
    problems: list[Problem]
    #: patterns of `exclude` that matched nothing
    warnings: list[Problem]


@dataclass(frozen=True)
class Checked:
    """What a check has found. The store is whole if both lists are empty."""

    containers: int
    records: int
    snapshots: int
    #: references to chunks that lie in other containers than their hints say, which is no damage
    moved_chunks: int
    #: whose data were read
    read_containers: int
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


@dataclass(frozen=True)
class Edited:
    """Which snapshots have new versions, with other tags or without some files."""

    #: their ids, each with that of the new version, which is empty in a dry run
    edited: dict[str, str]
    #: snapshots for which there was nothing to do
    unchanged: int
    #: the id of a snapshot, and a path that is left out of its new version; that of a folder ends with a slash
    left_out: list[tuple[str, str]]
    #: snapshots that cannot be edited, by their ids
    problems: list[Problem]
    #: patterns that matched nothing
    warnings: list[Problem]


class Decision(NamedTuple):
    """A snapshot that `Store.forget` has looked at."""

    snapshot: Snapshot
    #: why it is kept, such as "daily snapshot"; empty if it is removed
    reasons: tuple[str, ...]


class Change(NamedTuple):
    """A file that differs between two snapshots."""

    #: in the compared folders; begins with a slash, and that of a folder ends with one
    path: str
    #: "added", "removed", "modified" (other content, or another target of a link), "retyped" (a file of another kind) or
    #: "metadata"
    change: str
    #: as that of a `StoredFile`; of the newer file, unless it was removed
    kind: str


@dataclass(frozen=True)
class Difference:
    """What differs between two snapshots."""

    #: folders before what is in them
    changes: list[Change]
    #: files and links
    modified: int
    #: what only the newer one has: the numbers `files`, `folders`, `others` (such as links) and `bytes`
    added: dict[str, int]
    #: what only the older one has
    removed: dict[str, int]
    #: what cannot be compared
    problems: list[Problem]


@dataclass(frozen=True)
class Pruned:
    """What a prune has removed. Unused bytes are those of records that no snapshot refers to."""

    #: before, as the two below
    containers: int
    container_bytes: int
    unused_bytes: int
    removed_containers: int
    removed_bytes: int
    #: whose used records were copied
    rewritten_containers: int
    #: of the copied records
    rewritten_bytes: int
    left_unused_bytes: int
    #: that stay, because a snapshot that was made meanwhile refers to them
    kept_containers: int
    #: that a later prune removes, when the sessions that may refer to them have ended
    waiting_containers: int
    #: copies of records that were to stay in the place of others and are damaged: repair the store, and prune again
    damaged_copies: int
    #: that must be free before the next container can be rewritten; 0 if there was room
    missing_bytes: int
    #: containers that were to stay in the place of others and have a damaged record
    damaged: list[Problem]
    #: hosts, processes and users of the sessions that `waiting_containers` wait for
    awaited: tuple[str, ...]


@dataclass(frozen=True)
class Copied:
    """What a copy has done. The ids are those in the source, each with that of its copy."""

    copied: dict[str, str]
    #: that were copied before
    skipped: dict[str, str]
    #: snapshots that cannot be copied, by their ids or their paths in the source
    problems: list[Problem]
    #: of the chunks and nodes that were added
    new_raw_bytes: int
    #: the same as stored
    new_stored_bytes: int


class Session(NamedTuple):
    """A process that writes to a store, or one that has died and left its lease."""

    id: str
    #: host, process and user
    owner: str
    #: nanoseconds until its lease ends if it is not renewed; less than 0: the next session that begins ends it
    time_left: int


@dataclass(frozen=True)
class Description:
    """What was fixed when a store was made, and how old it is."""

    #: a canonical string, without a key
    cuts: str
    fingerprint: str
    #: of zstd; 0: no compression
    compression_level: int
    container_bytes: int
    #: a line for each rule for files of some kinds, or empty
    context: str
    is_encrypted: bool
    #: drawn at random, 64 hexadecimal digits
    identity: str
    #: of the newest entry of the store's log: a store with a smaller number than before was replaced by an older copy
    log_number: int


class Key(NamedTuple):
    """A password or key file that opens an encrypted store."""

    id: str
    #: "password" or "key file"
    kind: str
    #: whether it opened the store
    is_used: bool
