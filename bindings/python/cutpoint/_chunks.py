"""Streams that are there: all their chunks, one by one or as arrays."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, SupportsIndex

from cutpoint import _core
from cutpoint._settings import Parameter, Stream, settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Chunk(NamedTuple):
    """A byte range of a stream."""

    #: bytes before it
    offset: int
    #: bytes in it, at least 1
    length: int
    #: its fingerprint, raw; empty with fingerprint="none"
    digest: bytes


class ChunkArrays(NamedTuple):
    """The chunks of a stream, in order. The arrays own their memory."""

    #: uint64, of n chunks: bytes before each
    offsets: NDArray[np.uint64]
    #: uint64, of n chunks: bytes in each
    lengths: NDArray[np.uint64]
    #: uint8, n times the bytes of a digest (0 with fingerprint="none")
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
    """Goes through a stream's chunks, in order: an iterator of `Chunk(offset, length, digest)`.

    The stream is fed to the engine as far as chunks are asked for, so that a file of any length takes bounded memory;
    runs of one byte and holes of sparse files are counted, not read. A chunk follows at once on what decides it, up to
    what threads work on.

    data_or_path
        str and os.PathLike are the path of a file, pipe or device. All else must have a C-contiguous buffer (bytes,
        bytearray, memoryview, mmap, a NumPy array), whose bytes are the stream. Python copies none of them; the buffer
        is held, and must not change, until the iterator has ended or goes.
    cuts
        An algorithm, a profile, or a canonical string: see `algorithms`, `profiles`, `canonical`.
    parameters
        The algorithm's, by name, as `cutpoint list NAME` has them: `avg_bytes=16384` or `avg_bytes="16K"`. Not with a
        canonical string, which has them.
    fingerprint
        A name that `fingerprints` has.
    fingerprint_key
        With "blake3": 32 bytes, for its keyed mode.
    backend
        Where cuts and fingerprints are found, which changes neither: "auto" (what was measured to be fastest here), or
        a name that `backends` has.
    threads
        That work, 1 to 4096; None: one for each processor.
    memory_bytes
        Most bytes that are held of the stream; None: 256 MiB. A chunk without a maximum size may need more, which is a
        MemoryError.

    Raises, at once or from the iterator, what `cutpoint` says; chunks that were decided by what was read come before an
    error. An iterator is for one thread at a time: a second one gets RuntimeError.
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
    """All chunks of a stream, as NumPy arrays: the fastest way. Takes what `chunk` takes, and raises what it raises; a
    stream that fails gives no chunks. Needs NumPy (`pip install cutpoint[numpy]`).

    Each chunk takes 16 bytes and its digest, beside `memory_bytes`; one of a run counts as any other.
    """
    if importlib.util.find_spec("numpy") is None:
        raise ModuleNotFoundError("chunk_arrays needs NumPy, which is not installed: pip install cutpoint[numpy]", name="numpy")
    how = settings(cuts, fingerprint, fingerprint_key, backend, threads, memory_bytes, parameters)
    return ChunkArrays(*_core.chunk_arrays(how, data_or_path))
