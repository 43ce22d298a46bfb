"""The options that all functions share, and their checks."""

from __future__ import annotations

import operator
import os
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypeAlias, TypeVar, cast

from cutpoint import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Buffer


class SupportsRead(Protocol):
    """A binary file object."""

    def read(self, size: int, /) -> bytes | None: ...


class SupportsRecv(Protocol):
    """A socket, or what is read like one."""

    def recv(self, size: int, /) -> Bytes: ...


class SupportsReadinto(Protocol):
    def readinto(self, buffer: bytearray, /) -> int | None: ...


#: An object with a buffer. Before Python 3.12 type checkers do not know that NumPy arrays have one.
Bytes: TypeAlias = "Buffer | NDArray[Any]"
Path: TypeAlias = "str | os.PathLike[str]"
Name = TypeVar("Name", bound="str | os.PathLike[str]")
#: A stream of bytes: as they are, in the file with this path, or in blocks
Stream: TypeAlias = "Bytes | Path | SupportsRead | SupportsRecv | SupportsReadinto | Iterable[Bytes]"

#: A number of bytes, or text in the syntax of the command ("64M").
Size: TypeAlias = SupportsIndex | str

#: A parameter of an algorithm: a number, text in the syntax of the command ("16K"), or bytes for a key.
Parameter: TypeAlias = SupportsIndex | str | bytes

MOST_THREADS = 4096
MOST_BYTES = (1 << 64) - 1

os.register_at_fork(after_in_child=_core.forget_threads)


def _number(name: str, value: SupportsIndex, least: int, most: int) -> int:
    number = operator.index(value)
    if not least <= number <= most:
        raise ValueError(f"{name} = {number} must be from {least} to {most}")
    return number


def _size(name: str, value: Size) -> int:
    try:
        number = _core.parse_size(value) if isinstance(value, str) else value
    except ValueError as error:
        raise ValueError(f"{name} = {error}") from None
    return _number(name, number, 1, MOST_BYTES)


def _threads(threads: SupportsIndex | None) -> int:
    return 0 if threads is None else _number("threads", threads, 1, MOST_THREADS)


class Engine:
    """Threads, and a bound of memory, that many streams share: it is given as `threads` to `Chunker`, `chunk` and the other functions
    that cut, to `Store.backup` and to `Store.push`.

        engine = cutpoint.Engine(memory_bytes="64M")
        chunkers = [cutpoint.Chunker("fastcdc", threads=engine) for _ in range(64)]

    Half of `memory_bytes` is for what each open stream needs at least: the longest chunk and 64 KiB, and a third more. An open stream
    has that, so it never waits for another one, and any number of them may be written by one thread in turn. If it is used up, one
    more raises MemoryError, which names the bound that would do. The other half makes the first streams faster. Without an
    `Engine` all streams use threads of the process, and each has its own bound.

    Any number of threads may use one.
    """

    def __init__(
        self,
        threads: SupportsIndex | None = None,
        *,
        thread_limit: SupportsIndex | None = None,
        memory_bytes: Size | None = None,
    ) -> None:
        """Starts the threads.

        threads
            The number of threads, 1 to 4096. With None there is one for each processor.
        thread_limit
            The most threads that work at a time, those that write into streams included. None is no limit.
        memory_bytes
            The most bytes that all open streams hold together, a number or text such as "64M". None is no limit.
        """
        limit = 0 if thread_limit is None else _number("thread_limit", thread_limit, 1, MOST_THREADS)
        self._engine = _core.Engine(_threads(threads), limit, _memory(memory_bytes) or 0)

    @property
    def threads(self) -> int:
        """The number of threads that work on one stream, the one that writes into it included."""
        return self._engine.threads


def _engine(threads: SupportsIndex | Engine | None) -> int | _core.Engine:
    return threads._engine if isinstance(threads, Engine) else _threads(threads)


def _memory(memory_bytes: Size | None) -> int | None:
    return None if memory_bytes is None else _size("memory_bytes", memory_bytes)


def _text(name: str, value: Parameter) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, bool):
        raise TypeError(f"{name} must be a number, str or bytes, not bool")
    try:
        return str(operator.index(value))
    except TypeError:
        raise TypeError(f"{name} must be a number, str or bytes, not {type(value).__name__}") from None


def _checked(name: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {kind.__name__}, not {type(value).__name__}")


def _list(names: Name | Iterable[Name]) -> list[Name]:
    """A list of paths, patterns or tags; one that stands alone is no iterable of letters."""
    return [cast("Name", names)] if isinstance(names, str | os.PathLike) else list(names)


def settings(
    cuts: str,
    fingerprint: str = "none",
    fingerprint_key: bytes | None = None,
    backend: str = "auto",
    threads: SupportsIndex | Engine | None = None,
    memory_bytes: Size | None = None,
    parameters: dict[str, Parameter] | None = None,
) -> _core.Settings:
    for name, value in ("cuts", cuts), ("fingerprint", fingerprint), ("backend", backend):
        _checked(name, value, str)
    if fingerprint_key is not None:
        _checked("fingerprint_key", fingerprint_key, bytes)
    checked = _core.Settings.make(
        cuts,
        [(name, _text(name, value)) for name, value in (parameters or {}).items()],
        fingerprint,
        fingerprint_key,
        backend,
        _engine(threads),
        _memory(memory_bytes),
    )
    for warning in checked.warnings:
        warnings.warn(warning, UserWarning, stacklevel=3)
    return checked
