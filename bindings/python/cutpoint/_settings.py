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


#: An object with a buffer. Before Python 3.12 type checkers do not know that NumPy arrays have one.
Bytes: TypeAlias = "Buffer | NDArray[Any]"
Path: TypeAlias = "str | os.PathLike[str]"
Name = TypeVar("Name", bound="str | os.PathLike[str]")
#: A stream of bytes: as they are, in the file with this path, or in blocks
Stream: TypeAlias = "Bytes | Path | SupportsRead | Iterable[Bytes]"

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


def _threads(threads: SupportsIndex | None) -> int:
    return 0 if threads is None else _number("threads", threads, 1, MOST_THREADS)


def _memory(memory_bytes: SupportsIndex | None) -> int | None:
    return None if memory_bytes is None else _number("memory_bytes", memory_bytes, 1, MOST_BYTES)


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
    threads: SupportsIndex | None = None,
    memory_bytes: SupportsIndex | None = None,
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
        _threads(threads),
        _memory(memory_bytes),
    )
    for warning in checked.warnings:
        warnings.warn(warning, UserWarning, stacklevel=3)
    return checked
