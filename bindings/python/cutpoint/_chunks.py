"""The chunks of bytes or of a file, as an iterator or as NumPy arrays."""

from __future__ import annotations

import errno
import itertools
import os
from array import array
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, TypeVar, cast

from cutpoint import _core
from cutpoint._settings import Bytes, Engine, Parameter, Size, Stream, SupportsReadinto, settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: the number of bytes that are read from a file object at a time
_BLOCK_BYTES = 1 << 20

Read = TypeVar("Read")


class Chunk(NamedTuple):
    """A byte range of a stream."""

    #: the number of bytes before the chunk
    offset: int
    #: the number of its bytes, at least 1
    length: int
    #: the value of the fingerprint; empty with fingerprint="none"
    digest: bytes


class ChunkArrays(NamedTuple):
    """The chunks of a stream, in order. The arrays own their memory."""

    #: uint64: the number of bytes before each chunk
    offsets: NDArray[np.uint64]
    #: uint64: the number of bytes of each chunk
    lengths: NDArray[np.uint64]
    #: uint8: the fingerprint of each chunk, one row for each; rows are empty with fingerprint="none"
    digests: NDArray[np.uint8]


def chunk(
    data_or_path: Stream,
    cuts: str = "fastcdc",
    *,
    fingerprint: str = "sha256",
    fingerprint_key: bytes | None = None,
    backend: str = "auto",
    threads: SupportsIndex | Engine | None = None,
    memory_bytes: Size | None = None,
    **parameters: Parameter,
) -> Iterator[Chunk]:
    """Returns an iterator over the chunks of a stream, `Chunk(offset, length, digest)`, in order.

    The stream is read only as far as chunks are asked for, so a file of any length takes bounded memory. Holes of
    sparse files are not read.

    data_or_path
        A str or os.PathLike is the path of a file, pipe or device. The bytes of an object with a C-contiguous buffer
        (bytes, bytearray, memoryview, mmap, a NumPy array) are not copied in Python; the buffer must not change until
        the iterator has ended or is deleted. A binary file object (BytesIO, an open file), a socket, or any object with
        `read`, `recv` or `readinto` is read from its position to its end; one that is non-blocking and has no bytes at
        present raises BlockingIOError. An iterable gives such buffers as the blocks of one stream.
    cuts
        An algorithm, a profile, or a canonical string; see `algorithms`, `profiles` and `canonical`.
    parameters
        The algorithm's parameters by name: `avg_bytes=16384` or `avg_bytes="16K"`. `cutpoint list NAME` lists them.
        `size="2K:8K:64K"` is the smallest, the average and the largest chunk, of which some may be empty. A canonical string has its own and allows no others, but the secret ``key`` of ``toeplitz-aes`` and its like.
    fingerprint
        One of the names that `fingerprints` returns.
    fingerprint_key
        32 bytes, for the keyed mode of "blake3".
    backend
        The back end that finds cuts and makes digests: "auto" (the one that was measured to be fastest here), or one of
        the names that `backends` returns. All give the same chunks.
    threads
        The number of threads, 1 to 4096, or an `Engine`, whose bound of memory counts too. With None there is one for each processor.
    memory_bytes
        The most bytes of the stream that are held in memory. None means 256 MiB. A chunk without a maximum size may
        need more, which raises MemoryError.

    Raises the exceptions that `help(cutpoint)` lists, at once or from the iterator. The chunks that were found before an
    error come before it, except what a file object or an iterable that fails gave last. One thread at a time may use an
    iterator; a second one gets RuntimeError.
    """
    how = settings(cuts, fingerprint, fingerprint_key, backend, threads, memory_bytes, parameters)
    blocks = _blocks(data_or_path)
    if blocks is None:
        return _core.ChunkIterator(how, data_or_path, Chunk)
    return _chunks_of(_core.StreamChunker(how, Chunk), blocks)


def _blocks(data: Stream) -> Iterator[Bytes] | None:
    """Returns the blocks of a file object or an iterable, or None for what the compiled module reads itself."""
    if isinstance(data, str | os.PathLike):
        return None
    try:
        memoryview(cast(Any, data)).release()
    except TypeError:  # no buffer
        stream = cast(Any, data)
        if read := getattr(stream, "read", None) or getattr(stream, "recv", None):  # of a file object or a socket
            return iter(lambda: _checked(read(_BLOCK_BYTES)), b"")
        if hasattr(stream, "readinto"):
            return iter(lambda: _read_into(stream), b"")
        if isinstance(data, Iterable):
            return iter(data)
        what = "a path, an object with a buffer, a file object, a socket, or an iterable of buffers"
        raise TypeError(f"the stream must be {what}, not {type(data).__name__}") from None
    except (ValueError, BufferError):
        pass  # the module says what is wrong with the buffer
    return None


def _read_into(stream: SupportsReadinto) -> Bytes:
    block = bytearray(_BLOCK_BYTES)
    del block[_checked(stream.readinto(block)) :]
    return block


def _checked(read: Read | None) -> Read:
    if read is None:  # by which a raw file says that it would block
        raise BlockingIOError(errno.EAGAIN, "the file object is non-blocking, has no bytes at present, and has not ended")
    return read


def _chunks_of(stream: _core.StreamChunker, blocks: Iterator[Bytes]) -> Iterator[Chunk]:
    try:
        for block in blocks:
            yield from stream.write(block)
        yield from stream.finish()
    finally:
        stream.close()


def chunk_arrays(
    data_or_path: Stream,
    cuts: str = "fastcdc",
    *,
    fingerprint: str = "sha256",
    fingerprint_key: bytes | None = None,
    backend: str = "auto",
    threads: SupportsIndex | Engine | None = None,
    memory_bytes: Size | None = None,
    **parameters: Parameter,
) -> ChunkArrays:
    """Returns all chunks of a stream as NumPy arrays, faster than `chunk`. Takes the arguments of `chunk` and raises its
    exceptions; a stream that fails gives no chunks. Needs NumPy (`pip install cutpoint[numpy]`).

    Besides `memory_bytes`, each chunk takes 16 bytes and the length of its digest.
    """
    np = _numpy()
    how = settings(cuts, fingerprint, fingerprint_key, backend, threads, memory_bytes, parameters)
    blocks = _blocks(data_or_path)
    if blocks is None:
        return ChunkArrays(*map(np.asarray, _core.chunk_arrays(how, data_or_path)))
    offsets, lengths, digests = array("Q"), array("Q"), bytearray()
    for offset, length, digest in _chunks_of(_core.StreamChunker(how, Chunk), blocks):
        offsets.append(offset)
        lengths.append(length)
        digests += digest
    rows = np.asarray(digests, np.uint8).reshape(len(offsets), how.digest_bytes)
    return ChunkArrays(np.asarray(offsets), np.asarray(lengths), rows)


def chunk_buffers(
    buffers: Iterable[Bytes],
    cuts: str = "fastcdc",
    *,
    fingerprint: str = "sha256",
    fingerprint_key: bytes | None = None,
    backend: str = "auto",
    threads: SupportsIndex | Engine | None = None,
    memory_bytes: Size | None = None,
    **parameters: Parameter,
) -> list[ChunkArrays]:
    """Returns the chunks of many buffers, each of which is a stream of its own, as NumPy arrays. One call for many small
    buffers takes less time than a call of `chunk_arrays` for each, and all threads work on them. Takes the options of
    `chunk` and raises its exceptions; the arrays of all buffers share their memory.
    """
    np = _numpy()
    how = settings(cuts, fingerprint, fingerprint_key, backend, threads, memory_bytes, parameters)
    offsets, lengths, digests, ends = map(np.asarray, _core.chunk_buffers(how, list(buffers)))
    ranges = itertools.pairwise([0, *ends.tolist()])
    return [ChunkArrays(offsets[begin:end], lengths[begin:end], digests[begin:end]) for begin, end in ranges]


def _numpy() -> ModuleType:
    try:
        import numpy
    except ModuleNotFoundError as error:
        message = "arrays of chunks need NumPy, which is not installed: pip install cutpoint[numpy]"
        raise ModuleNotFoundError(message, name="numpy") from error
    return numpy
