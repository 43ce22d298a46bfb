"""Streams in pieces."""

from __future__ import annotations

from types import TracebackType
from typing import SupportsIndex

from cutpoint import _core
from cutpoint._chunks import Chunk
from cutpoint._settings import Bytes, Parameter, settings


class Chunker:
    """Cuts a stream that comes in pieces of any size, in bounded memory: the chunks are those of all the bytes at once.

        with cutpoint.Chunker("restic") as chunker:
            for piece in pieces:
                store(chunker.write(piece))
            store(chunker.finish())

    For one thread at a time: a second one gets RuntimeError. Leaving the `with` block, or `close`, gives the memory
    back and drops what has not come out. After a failure, and after Ctrl-C, the stream has ended, and the chunks that
    were not given are lost.
    """

    def __init__(
        self,
        cuts: str = "fastcdc",
        *,
        fingerprint: str = "sha256",
        fingerprint_key: bytes | None = None,
        backend: str = "auto",
        threads: SupportsIndex | None = None,
        memory_bytes: SupportsIndex | None = None,
        **parameters: Parameter,
    ) -> None:
        """Takes what `chunk` takes, but for the stream."""
        how = settings(cuts, fingerprint, fingerprint_key, backend, threads, memory_bytes, parameters)
        self._cuts = how.canonical
        self._stream = _core.StreamChunker(how, Chunk)

    @property
    def cuts(self) -> str:
        """The canonical string."""
        return self._cuts

    def write(self, data: Bytes) -> list[Chunk]:
        """Takes the stream's next bytes, any number of them, from an object with a C-contiguous buffer, which may
        change after the call. Gives the chunks that have come out since the last call, which may be none: they come in
        order, and somewhat later than the bytes that decide them."""
        return self._stream.write(data)

    def finish(self) -> list[Chunk]:
        """Ends the stream and gives the rest of its chunks. Nothing can be written after it."""
        return self._stream.finish()

    def close(self) -> None:
        """Ends the stream without the rest of its chunks; does nothing where it has ended."""
        self._stream.close()

    def __enter__(self) -> Chunker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
