"""The chunks of bytes or of a file, as an iterator or as NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, SupportsIndex

from cutpoint import _core
from cutpoint._settings import Parameter, Stream, settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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
    threads: SupportsIndex | None = None,
    memory_bytes: SupportsIndex | None = None,
    **parameters: Parameter,
) -> Iterator[Chunk]:
    """Returns an iterator over the chunks of a stream, `Chunk(offset, length, digest)`, in order.

    The stream is read only as far as chunks are asked for, so a file of any length takes bounded memory. Holes of
    sparse files are not read.

    data_or_path
        A str or os.PathLike is the path of a file, pipe or device. Any other object must have a C-contiguous buffer
        (bytes, bytearray, memoryview, mmap, a NumPy array), whose bytes are the stream. They are not copied in Python.
        The buffer is held, and must not change, until the iterator has ended or is deleted.
    cuts
        An algorithm, a profile, or a canonical string; see `algorithms`, `profiles` and `canonical`.
    parameters
        The algorithm's parameters by name: `avg_bytes=16384` or `avg_bytes="16K"`. `cutpoint list NAME` lists them. A
        canonical string has its own and allows no others.
    fingerprint
        One of the names that `fingerprints` returns.
    fingerprint_key
        32 bytes, for the keyed mode of "blake3".
    backend
        The back end that finds cuts and makes digests: "auto" (the one that was measured to be fastest here), or one of
        the names that `backends` returns. All give the same chunks.
    threads
        The number of threads, 1 to 4096. With None there is one for each processor.
    memory_bytes
        The most bytes of the stream that are held in memory. None means 256 MiB. A chunk without a maximum size may
        need more, which raises MemoryError.

    Raises the exceptions that `help(cutpoint)` lists, at once or from the iterator. The chunks that were found before an
    error come before it. One thread at a time may use an iterator; a second one gets RuntimeError.
    """
    how = settings(cuts, fingerprint, fingerprint_key, backend, threads, memory_bytes, parameters)
    return _core.ChunkIterator(how, data_or_path, Chunk)


def chunk_arrays(
    data_or_path: Stream,
    cuts: str = "fastcdc",
    *,
    fingerprint: str = "sha256",
    fingerprint_key: bytes | None = None,
    backend: str = "auto",
    threads: SupportsIndex | None = None,
    memory_bytes: SupportsIndex | None = None,
    **parameters: Parameter,
) -> ChunkArrays:
    """Returns all chunks of a stream as NumPy arrays, faster than `chunk`. Takes the arguments of `chunk` and raises its
    exceptions; a stream that fails gives no chunks. Needs NumPy (`pip install cutpoint[numpy]`).

    Besides `memory_bytes`, each chunk takes 16 bytes and the length of its digest.
    """
    try:
        import numpy as np
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("chunk_arrays needs NumPy, which is not installed: pip install cutpoint[numpy]", name="numpy") from error
    how = settings(cuts, fingerprint, fingerprint_key, backend, threads, memory_bytes, parameters)
    return ChunkArrays(*map(np.asarray, _core.chunk_arrays(how, data_or_path)))
