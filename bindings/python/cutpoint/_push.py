"""Push sessions: backups of streams whose bytes the program has."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType, TracebackType
from typing import Any, SupportsIndex

from cutpoint import _core
from cutpoint._lanes import _warn
from cutpoint._settings import MOST_BYTES, Bytes, Path, _number
from cutpoint._store_records import Snapshot, _snapshot

_NONE: Mapping[str, Bytes] = MappingProxyType({})


class PushSession:
    """Stores streams as the files of one snapshot, which `Store.push` begins. They are cut, deduplicated and stored as a
    backup does with files of the same content. Nothing is visible before the commit.

    As a context manager it commits at the end, and abandons everything if an exception is raised. Several threads may begin
    streams and write different ones at once. Metadata that is not given has defaults: this process's user and group, the
    permissions 0o600, or 0o700 for folders, and the present time. `modified` is in nanoseconds since 1970. `attributes` are
    extended attributes, such as `{"user.comment": b"..."}`."""

    def __init__(self, store: _core.OpenStore, session: _core.PushedSession) -> None:
        self._store, self._session = store, session
        self._snapshot: Snapshot | None = None
        self._is_over = False
        self._is_commit_unknown = False

    @property
    def snapshot(self) -> Snapshot:
        """The committed snapshot. Raises ValueError if there is none, or if a commit has failed or was interrupted: then the
        store may have a snapshot all the same."""
        if self._is_commit_unknown:
            raise ValueError("the commit of the push session did not end: the store may have its snapshot or not")
        if self._snapshot is None:
            raise ValueError("the push session has committed nothing")
        return self._snapshot

    def stream(
        self,
        path: Path,
        *,
        permissions: int | None = None,
        user_id: int | None = None,
        group_id: int | None = None,
        modified: int | None = None,
        attributes: Mapping[str, Bytes] = _NONE,
    ) -> PushStream:
        """Begins a regular file. Its path begins with a slash, and no name in it is empty, "." or "..". Folders above it are
        made. Raises ValueError for a path that is there already, or if too many streams are open."""
        return PushStream(self._session.begin_stream(path, _metadata(permissions, user_id, group_id, modified, attributes)))

    def add_folder(
        self,
        path: Path,
        *,
        permissions: int | None = None,
        user_id: int | None = None,
        group_id: int | None = None,
        modified: int | None = None,
        attributes: Mapping[str, Bytes] = _NONE,
    ) -> None:
        """Adds a folder, or sets the metadata of one that streams were pushed below."""
        self._session.add(path, None, _metadata(permissions, user_id, group_id, modified, attributes))

    def add_link(
        self,
        path: Path,
        target: Path,
        *,
        user_id: int | None = None,
        group_id: int | None = None,
        modified: int | None = None,
        attributes: Mapping[str, Bytes] = _NONE,
    ) -> None:
        """Adds a symbolic link."""
        self._session.add(path, target, _metadata(None, user_id, group_id, modified, attributes))

    def commit(self) -> Snapshot:
        """Commits the snapshot, which is durable then, and ends the session. Streams that have failed and were not pushed again
        are its `problems`, and it is incomplete. Raises ValueError if a stream is open, after which the session goes on, or if
        there is nothing to commit."""
        self._is_commit_unknown = True
        try:
            record = self._store.commit_push(self._session)
        except ValueError:
            self._is_commit_unknown = False
            raise
        self._is_commit_unknown = False
        self._is_over = True
        _warn(record.pop("device_warning"))
        self._snapshot = _snapshot(record)
        return self._snapshot

    def abandon(self) -> None:
        """Ends the session without a snapshot. What was stored is used by later backups, or removed by `prune`."""
        self._is_over = True
        self._session.close()

    def cancel(self) -> None:
        """Ends what other threads do with the session: they get `Cancelled`, and nothing can be committed."""
        self._session.cancel()

    def __enter__(self) -> PushSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if error is None and not self._is_over:
                self.commit()
        finally:
            self.abandon()


class PushStream:
    """A file that is being pushed, which can be written to like a file object. As a context manager it ends as whole, or fails
    if an exception is raised. A stream that is not ended fails. One thread at a time may use it."""

    def __init__(self, stream: _core.PushedStream) -> None:
        self._stream = stream
        self._is_over = False

    def write(self, data: Bytes, /) -> int:
        """Takes all bytes and returns their number. Waits as long as there is no memory for them, or by the upper rate."""
        return self._stream.write(data)

    def write_hole(self, count: SupportsIndex) -> None:
        """Takes zeros that are not stored."""
        self._stream.write_hole(_number("count", count, 0, MOST_BYTES))

    def writable(self) -> bool:
        return True

    def end(self) -> None:
        """Ends the stream, which is whole."""
        self._is_over = True
        self._stream.end()

    def fail(self, reason: str) -> None:
        """Ends the stream, which has failed. The snapshot lacks the file, is incomplete, and has the reason in its `problems`.
        The path may be pushed again. Has no effect on a stream that has ended."""
        self._is_over = True
        self._stream.fail(reason.encode(errors="backslashreplace").decode())

    def __enter__(self) -> PushStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._is_over:
            return
        if error is None:
            self.end()
        else:
            self.fail(str(error) or type(error).__name__)


def _metadata(
    permissions: int | None, user_id: int | None, group_id: int | None, modified: int | None, attributes: Mapping[str, Bytes]
) -> dict[str, Any]:
    known = {"permissions": permissions, "user_id": user_id, "group_id": group_id, "modified": modified}
    return {**known, "attributes": dict(attributes)}
