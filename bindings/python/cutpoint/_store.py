"""The class Store: deduplicated backups of files in a folder."""

from __future__ import annotations

import errno
import io
import os
import socket
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path as _Path
from types import TracebackType
from typing import Any, BinaryIO, SupportsIndex, cast

from cutpoint import _core
from cutpoint._lanes import Lanes, _fields, _warn
from cutpoint._settings import MOST_BYTES, Engine, Path, Size, _engine, _list, _memory, _number, _threads
from cutpoint._push import PushSession
from cutpoint._store_records import (
    BackupProgress, Change, Checked, Copied, Decision, Description, Difference, Edited, Key, Progress, Pruned,
    Repaired, Restored, Session, Snapshot, StoredFile, _snapshot, _with_problems,
)

_SECOND = 1_000_000_000
_PERIODS = ("hourly", "daily", "weekly", "monthly", "yearly")


class Store:
    """A store in a folder, which any number of processes and objects may use at once.

        with cutpoint.Store.create("/backup", password="secret") as store:
            snapshot = store.backup(["/home"])
            store.restore(snapshot, "/tmp/home")

    `Store.create` and `Store.open` make objects of this class. A snapshot is given as a `Snapshot`, or as its whole id.
    `restore`, `check`, `prune` and `copy_snapshots` take a function that receives a `Progress` about ten times a second; if it
    raises, the call ends. One thread at a time may use an object; a second one gets RuntimeError. All calls release the GIL, and Ctrl-C ends
    them; a backup that was ended has no snapshot, and a later one uses what it stored.
    """

    def __init__(self, store: _core.OpenStore) -> None:
        self._store = store

    @classmethod
    def create(
        cls,
        folder: Path,
        *,
        password: str | None = None,
        key_file: Path | None = None,
        cuts: str | None = None,
        fingerprint: str = "blake3",
        compression_level: int = 1,
        container_bytes: int = 32 << 20,
        context: str = "",
        insecure_cuts: bool = False,
    ) -> Store:
        """Makes a store in a folder, which is created if it does not exist, and opens it. With a password or a key file it
        is encrypted. `cuts` is a name or a canonical string, without a key, which an encrypted store derives from its own, `fingerprint` "blake3" or "sha256", `compression_level` from
        0 (none) to 19, and `container_bytes` the size of the store's files. `context` has rules for files of some kinds: it is
        "prune" or the text of a context file (docs/contexts.md). With `insecure_cuts` an encrypted store takes "borg2-fastcdc" and
        "borg1", whose key can be computed from lengths of chunks (docs/secure-cuts.md), and a UserWarning says so now and
        whenever the store is opened. Raises FileExistsError if a store is there."""
        options = _options(locals())
        secret = _secret(password, key_file)
        _core.create_store(folder, secret, options)
        return cls._open_store(folder, secret)

    @classmethod
    def _open_store(cls, folder: Path, secret: tuple[str, bytes] | None) -> Store:
        store = _core.OpenStore(folder, secret)
        for warning in store.insecure_cuts():
            warnings.warn(warning, UserWarning, stacklevel=3)
        return cls(store)

    @classmethod
    def open(cls, folder: Path, *, password: str | None = None, key_file: Path | None = None) -> Store:
        """Opens a store. Raises ValueError if the password or key file is wrong, missing or not needed, and CutpointError
        if the folder is no store."""
        return cls._open_store(folder, _secret(password, key_file))

    def backup(
        self,
        paths: Path | Iterable[Path],
        *,
        host: str | None = None,
        tags: str | Iterable[str] = (),
        time: int = 0,
        parent: Snapshot | str = "",
        read_everything: bool = False,
        trust_change_time: bool = False,
        exclude: Path | Iterable[Path] = (),
        include: Path | Iterable[Path] = (),
        one_file_system: bool = False,
        exclude_caches: bool = False,
        standard_input_name: str = "stdin",
        dry_run: bool = False,
        skip_unchanged: bool = False,
        most_old_containers: SupportsIndex = 0,
        threads: SupportsIndex | Engine | None = None,
        lanes: Lanes | None = None,
        memory_bytes: Size | None = None,
        most_bytes_per_second: SupportsIndex = 0,
        progress: Callable[[BackupProgress], object] | None = None,
    ) -> Snapshot:
        """Backs up files and folders, and returns the snapshot, which is durable then. The path "-" is standard input.

        host, tags
            Kept with the snapshot. The default host is the name of this machine.
        time
            Of the snapshot, in nanoseconds since 1970; 0 is now.
        parent
            The snapshot whose unchanged files are not read; by default the newest with the same host and paths. With
            `read_everything` all files are read, and with `trust_change_time` an equal ctime counts on any file system.
        exclude, include, one_file_system, exclude_caches
            As for `dedup`.
        dry_run, skip_unchanged
            With `dry_run` nothing is written, and the result says what would be added. With `skip_unchanged` no snapshot is
            made if nothing has changed since the parent. If none was made, the result has an empty id.
        most_old_containers
            At most so many containers of earlier backups are referred to for each 100 MiB that are read, and what only
            others have is stored again, so that a restore reads few containers. 0 is no bound.
        threads
            The number of threads, or an `Engine`, whose bound of memory counts too.
        lanes
            The back end, GPUs and segments; by default the processor. None of it changes what is stored.
        most_bytes_per_second
            An upper rate for what is read. 0 is no bound.
        progress
            Called with what was done so far, about ten times a second and at the end. If it raises, the backup ends.

        File objects are refused with TypeError. A file that cannot be read is one of the snapshot's `problems`. OSError is raised if nothing could be read."""
        if hasattr(paths, "read"):
            raise TypeError(f"paths are needed, not a {type(paths).__name__}: a file object gives lines, which are no paths")
        options = {**_options(locals()), "progress": _made_of(BackupProgress, progress)}
        record = self._store.back_up(options)
        _warn(record.pop("device_warning"))
        return _snapshot(record)

    def push(
        self,
        *,
        host: str | None = None,
        paths: Path | Iterable[Path] = "/",
        tags: str | Iterable[str] = (),
        time: int = 0,
        most_streams: SupportsIndex = 4,
        threads: SupportsIndex | Engine | None = None,
        lanes: Lanes | None = None,
        memory_bytes: Size | None = None,
        most_bytes_per_second: SupportsIndex = 0,
    ) -> PushSession:
        """Begins a push session, which stores streams whose bytes the program has as the files of one snapshot.

            with store.push(tags=["nightly"]) as session:
                with session.stream("/vm/disk.img") as stream:
                    stream.write(b"...")
            print(session.snapshot)

        paths
            What the snapshot is of: everything lies at or below one of them.
        most_streams
            How many streams may be open at once. They share half of `memory_bytes`, and the other half is for what is
            known of the files. If `threads` is an `Engine` with a bound of memory, what all of them need is theirs from now on, or
            MemoryError says which bound would do.
        most_bytes_per_second
            An upper rate for what all streams together take. 0 is no bound.

        `host`, `tags`, `time` and `lanes` are as for `backup`; each stream may use its share of a GPU's memory."""
        return PushSession(self._store, self._store.begin_push(_options(locals())))

    def snapshots(self) -> list[Snapshot]:
        """Returns all snapshots that can be read, the oldest first. `check` names the others."""
        return [Snapshot(**record) for record in self._store.snapshots()]

    def find(self, id: str) -> Snapshot:
        """Finds a snapshot by its id, by the beginning of its id, or by the word "latest". Raises ValueError if none or several
        have it."""
        return Snapshot(**self._store.find(id))

    def remove(self, snapshot: Snapshot | str | Iterable[Snapshot | str]) -> None:
        """Removes a snapshot, or several at once, durably, but not their data, which `prune` removes."""
        self._store.remove({"snapshots": _ids(snapshot)})

    def change_tags(
        self,
        snapshots: Snapshot | str | Iterable[Snapshot | str],
        *,
        tags: str | Iterable[str] | None = None,
        add: str | Iterable[str] = (),
        remove: str | Iterable[str] = (),
    ) -> Edited:
        """Replaces snapshots by others with other tags, other ids and everything else of the old ones. First `tags` take the place
        of those that a snapshot has, then those of `add` are added, then those of `remove` are removed."""
        return _edited(self._store.change_tags(_options(locals())))

    def rewrite(
        self,
        snapshots: Snapshot | str | Iterable[Snapshot | str],
        exclude: Path | Iterable[Path],
        *,
        replace: bool = False,
        dry_run: bool = False,
    ) -> Edited:
        """Writes snapshots without the files that match patterns. With `replace` the new ones take the places of the old ones;
        otherwise both stay, and the new ones get the tag "rewrite". With `dry_run` nothing is changed. The data stay until the
        old snapshots are removed and the store is pruned."""
        return _edited(self._store.rewrite(_options(locals())))

    def forget(
        self,
        *,
        keep_last: SupportsIndex = 0,
        keep_hourly: SupportsIndex = 0,
        keep_daily: SupportsIndex = 0,
        keep_weekly: SupportsIndex = 0,
        keep_monthly: SupportsIndex = 0,
        keep_yearly: SupportsIndex = 0,
        keep_within: str = "",
        keep_within_hourly: str = "",
        keep_within_daily: str = "",
        keep_within_weekly: str = "",
        keep_within_monthly: str = "",
        keep_within_yearly: str = "",
        keep_tags: str | Iterable[str] = (),
        hosts: str | Iterable[str] = (),
        paths: Path | Iterable[Path] = (),
        tags: str | Iterable[str] = (),
        group_by: str | Iterable[str] = ("host", "paths"),
        distrust_times: bool = False,
        rehearse: bool = False,
    ) -> list[Decision]:
        """Removes the snapshots that no rule keeps, but not their data. Returns all decisions, also with `rehearse`, which
        removes nothing.

        keep_last, keep_hourly, ...
            So many of the newest snapshots, or of the last hours, days, ISO weeks, months or years that have a snapshot
            the newest one.
        keep_within, keep_within_hourly, ...
            A span before the newest snapshot, such as "1y2m3d4h", in which all snapshots, or the newest one of each hour
            and so on, are kept.
        keep_tags
            Snapshots that have one of these tags; "" stands for no tags.
        hosts, paths, tags
            Only snapshots of one of the hosts, with all of the paths and with one of the tags, are looked at.
        group_by
            The rules are applied to each group of snapshots for which these are the same: any of "host", "paths" and
            "tags".
        distrust_times
            Whether snapshots count at the times when they were put. Those whose times plus durations differ from that by more than an
            hour are kept and take no place; their only reason begins with "distrusted time".

        Raises ValueError if there is no rule, or if the rules keep no snapshot of a group. Snapshots that cannot be read
        are not removed."""
        options = _options(locals())
        groups = set(_list(group_by))
        if unknown := groups - {"host", "paths", "tags"}:
            raise ValueError(f"group_by: {unknown.pop()!r} is not one of 'host', 'paths' and 'tags'")
        options["counts"] = [options[f"keep_{period}"] for period in ("last", *_PERIODS)]
        options["spans"] = [keep_within, *(options[f"keep_within_{period}"] for period in _PERIODS)]
        options |= {f"by_{each}": each in groups for each in ("host", "paths", "tags")}
        records = self._store.apply_policy(options)
        decisions = [Decision(Snapshot(**record), reasons) for record, reasons in records]
        if not rehearse:
            self.remove([each.snapshot for each in decisions if not each.reasons])
        return decisions

    def copy_snapshots(
        self,
        source: Store,
        snapshots: Iterable[Snapshot | str] = (),
        *,
        threads: SupportsIndex | None = None,
        lanes: Lanes | None = None,
        memory_bytes: Size | None = None,
        progress: Callable[[Progress], object] | None = None,
    ) -> Copied:
        """Copies snapshots of another store, or all of them, into this one, the oldest first. Each copy is durable on its
        own. A snapshot that was copied before is skipped, and one of which the source has lost data is a problem. `lanes` are as
        for `backup`, for contents that are cut again."""
        record = self._store.copy_snapshots(source._store, _options(locals()))
        _warn(record.pop("device_warning"))
        return Copied(**_with_problems(record))

    def restore(
        self,
        snapshot: Snapshot | str,
        target: Path,
        *,
        path: Path = "",
        include: Path | Iterable[Path] = (),
        exclude: Path | Iterable[Path] = (),
        replace_files: bool = False,
        remove_others: bool = False,
        dry_run: bool = False,
        verify: bool = False,
        threads: SupportsIndex | None = None,
        most_bytes_per_second: SupportsIndex = 0,
        progress: Callable[[Progress], object] | None = None,
        visit: Callable[[str, str], object] | None = None,
    ) -> Restored:
        """Restores what is at or below `path`, or everything, into the folder `target`; the entries of a folder are put
        into it. With `include` only what matches one of the patterns is restored, and what matches `exclude` is left out.
        Existing files are problems unless `replace_files`, which changes or replaces them. With `remove_others` files of
        the target are removed that the snapshot lacks. With `dry_run` nothing is changed. With `verify` the contents are
        read back from the disk and compared with their digests. `most_bytes_per_second` is an upper rate for what is written.
        A pattern of `include` that matches nothing is a problem. `visit` is called with the path of each file and folder in the
        target, and with "restored" or "removed"; if it raises, the restore ends.

        Raises OSError if nothing was restored because of problems, and FileNotFoundError if nothing matches `include`."""
        record = self._store.restore(_id(snapshot), _options(locals()))
        restored = Restored(**_with_problems(record))
        if restored.files == 0 and restored.folders == 0:
            for problem in restored.problems:
                raise OSError(problem.errno or errno.EIO, problem.message.removeprefix(f"{problem.path}: "), problem.path)
            if _list(include):
                raise FileNotFoundError(errno.ENOENT, "no file of the snapshot matches `include`")
        return restored

    def files(self, snapshot: Snapshot | str, path: Path = "") -> Iterator[StoredFile]:
        """Returns an iterator over the files at or below `path`, in the order of a walk. It holds the list of them."""
        return map(_file, self._store.files(_id(snapshot), path))

    def diff(
        self,
        before: Snapshot | str,
        after: Snapshot | str,
        *,
        before_path: Path = "",
        after_path: Path = "",
        compare_metadata: bool = False,
    ) -> Difference:
        """Compares two snapshots, or folders of them. What is equal is not read. Files of which only metadata differs are
        reported with `compare_metadata`. Raises OSError if a folder does not exist."""
        record = self._store.diff(_options(locals()))
        changes = [Change(*fields) for fields in record.pop("changes")]
        return Difference(changes=changes, **_with_problems(record))

    def read(self, snapshot: Snapshot | str, path: Path, begin: int = 0, end: int | None = None) -> bytes:
        """Returns the bytes [begin, end) of a regular file, as far as it has them."""
        _number("begin", begin, 0, MOST_BYTES)
        stop = MOST_BYTES if end is None else _number("end", end, 0, MOST_BYTES)
        return self._store.read(_id(snapshot), path, begin, stop)

    def file(self, snapshot: Snapshot | str, path: Path) -> BinaryIO:
        """Returns a regular file as a file object that can be read and that seeks. It uses the store whenever it is read."""
        entry = next(self.files(snapshot, path))
        if entry.kind != "regular file":
            raise ValueError(f"{entry.path}: it is a {entry.kind}, which has no content")
        reader = _Reader(self, _id(snapshot), path, entry.size)
        return cast(BinaryIO, io.BufferedReader(reader, 1 << 20))

    def check(
        self,
        *,
        read_data: bool = False,
        subset: tuple[int, int] = (1, 1),
        share: float = 1.0,
        most_bytes: SupportsIndex | None = None,
        threads: SupportsIndex | None = None,
        progress: Callable[[Progress], object] | None = None,
    ) -> Checked:
        """Checks everything, with `read_data` all bytes too, or those of some containers: of subset number `subset[0]`, from 1 on,
        of `subset[1]`, which are always the same; of these the share `share`, drawn at random; and of these `most_bytes` at most,
        but one container at least. Changes nothing. Damage raises no exception."""
        return Checked(**_with_problems(self._store.check(_options(locals()))))

    def repair(self, *, threads: SupportsIndex | None = None) -> Repaired:
        """Makes the store consistent for what is left. Backups may run meanwhile."""
        record = self._store.repair(_threads(threads))
        return Repaired(**_with_problems(record))

    def prune(
        self,
        *,
        most_unused: float = 0.05,
        most_rewritten_bytes: SupportsIndex | None = None,
        rehearse: bool = False,
        forgotten: Iterable[Snapshot | str] = (),
        threads: SupportsIndex | None = None,
        progress: Callable[[Progress], object] | None = None,
    ) -> Pruned:
        """Removes what no snapshot refers to. Backups may run meanwhile. Containers are rewritten until at most the share
        `most_unused` of the stored bytes, 0 to 1, is unused; at most `most_rewritten_bytes` are copied. With `rehearse`
        nothing is changed, and the snapshots in `forgotten` count as removed. Raises CutpointError if another prune was
        faster."""
        return Pruned(**_with_problems(self._store.prune(_options(locals()))))

    def describe(self) -> Description:
        """Returns what was fixed when the store was made, and how old it is."""
        return Description(**self._store.describe())

    def statistics(self) -> dict[str, int]:
        """Returns the numbers `snapshots`, `containers`, `container_bytes`, `records`, `shards` and `shard_bytes`."""
        return self._store.statistics()

    def sessions(self) -> list[Session]:
        """Returns the sessions that use the store, this program's too."""
        return [Session(*fields) for fields in self._store.sessions()]

    def end_session(self, id: str) -> None:
        """Ends a session that you declare dead, durably, so that prunes do not wait for it any more. If it lives after all, it
        commits if nothing that it refers to was removed meanwhile, and otherwise fails. Raises ValueError if there is none."""
        self._store.end_session(id)

    def survives_power_cuts(self) -> bool:
        """Whether what was stored survives a power cut, as it survives the end of any process: not where the file system cannot sync folders,
        which this tries. Raises OSError."""
        return self._store.survives_power_cuts()

    def keys(self) -> list[Key]:
        """Returns the keys of an encrypted store. Raises ValueError, as the two functions below, if it is not encrypted."""
        return [Key(*fields) for fields in self._store.keys()]

    def add_key(self, *, password: str | None = None, key_file: Path | None = None) -> str:
        """Adds a key for another password or key file, durably, and returns its id."""
        return self._store.add_key(_secret(password, key_file))

    def remove_key(self, id: str) -> None:
        """Removes a key, durably. Whoever has read it before can still open the store."""
        self._store.remove_key(id)

    def cancel(self) -> None:
        """Ends the call that another thread is in: it raises `Cancelled`. Any thread may call this at any time."""
        self._store.cancel()

    def close(self) -> None:
        """Frees the memory, and abandons push sessions. After this call all others raise ValueError."""
        self._store.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class _Reader(io.RawIOBase):
    def __init__(self, store: Store, snapshot: str, path: Path, size: int) -> None:
        self._store, self._snapshot, self._path, self._size = store, snapshot, path, size
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        position = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        if position < 0:
            raise ValueError(f"the position {position} is before the file's first byte")
        self._position = position
        return position

    def readinto(self, buffer: Any) -> int:
        room = memoryview(buffer).cast("B")
        data = self._store.read(self._snapshot, self._path, self._position, self._position + len(room))
        room[: len(data)] = data
        self._position += len(data)
        return len(data)


def _secret(password: str | None, key_file: Path | None) -> tuple[str, bytes] | None:
    if password is not None and key_file is not None:
        raise ValueError("give a password or a key file, not both")
    if key_file is not None:
        return "key file", _Path(key_file).read_bytes()
    return None if password is None else ("password", password.encode())


def _made_of(kind: type[Any], function: Callable[[Any], object] | None) -> Callable[[tuple[Any, ...]], object] | None:
    """What calls a function with a record of named fields."""
    return None if function is None else (lambda fields: function(kind._make(fields)))


def _id(snapshot: Snapshot | str) -> str:
    return snapshot.id if isinstance(snapshot, Snapshot) else snapshot


def _ids(snapshots: Snapshot | str | Iterable[Snapshot | str]) -> list[str]:
    return [_id(each) for each in ([snapshots] if isinstance(snapshots, Snapshot | str) else snapshots)]


def _bounded(name: str, least: int = 0, most: int = MOST_BYTES) -> Callable[[SupportsIndex | None], int | None]:
    return lambda value: None if value is None else _number(name, value, least, most)


#: What checks and converts the arguments of calls, by their names. Others are passed as they are.
_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("paths", "exclude", "include", "add", "remove", "keep_tags", "hosts"), _list),
    **dict.fromkeys(("snapshots", "forgotten"), _ids),
    **dict.fromkeys(("parent", "before", "after"), _id),
    **{name: _bounded(name) for name in ("most_old_containers", "most_bytes_per_second", "most_bytes", "most_rewritten_bytes")},
    **{name: _bounded(name) for name in (f"keep_{period}" for period in ("last", *_PERIODS))},
    "most_streams": _bounded("most_streams", 1),
    "container_bytes": _bounded("container_bytes", 0, (1 << 32) - 1),
    "compression_level": _bounded("compression_level", 0, 1 << 30),
    "insecure_cuts": bool,
    "tags": lambda tags: None if tags is None else _list(tags),
    "host": lambda host: socket.gethostname() if host is None else host,
    "threads": _engine,
    "memory_bytes": _memory,
    "lanes": _fields,
    "progress": lambda progress: _made_of(Progress, progress),
    "visit": lambda visit: None if visit is None else (lambda fields: visit(*fields)),
}


def _options(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call as the compiled module takes them."""
    return {name: _CONVERSIONS[name](value) if name in _CONVERSIONS else value for name, value in arguments.items()}


def _edited(record: dict[str, Any]) -> Edited:
    return Edited(left_out=record.pop("left_out"), **_with_problems(record))


def _file(fields: tuple[Any, ...]) -> StoredFile:
    *first, seconds, nanoseconds, target, changed_seconds, changed_nanoseconds = fields[:11]
    modified, changed = seconds * _SECOND + nanoseconds, changed_seconds * _SECOND + changed_nanoseconds
    return StoredFile._make((*first, modified, target, changed, *fields[11:]))
