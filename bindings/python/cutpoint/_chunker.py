"""The class Chunker, which cuts a stream that is written in blocks."""

from __future__ import annotations

from types import TracebackType
from typing import SupportsIndex

from cutpoint import _core
from cutpoint._chunks import Chunk
from cutpoint._settings import Bytes, Engine, Parameter, Size, settings


class Chunker:
    """Cuts a stream that is written in blocks of any size, in bounded memory. The sizes of the blocks do not change the
    chunks.

        with cutpoint.Chunker("restic") as chunker:
            for block in blocks:
                store(chunker.write(block))
            store(chunker.finish())

    One thread at a time may use a Chunker; a second one gets RuntimeError. `close`, which the `with` statement calls,
    frees the memory and drops the chunks that were not returned. A failure or Ctrl-C ends the stream; the chunks that
    were not returned are lost.
    """

    def __init__(
        self,
        cuts: str = "fastcdc",
        *,
        fingerprint: str = "sha256",
        fingerprint_key: bytes | None = None,
        backend: str = "auto",
        threads: SupportsIndex | Engine | None = None,
        memory_bytes: Size | None = None,
        **parameters: Parameter,
    ) -> None:
        """Takes the arguments of `chunk`, except the stream."""
        how = settings(cuts, fingerprint, fingerprint_key, backend, threads, memory_bytes, parameters)
        self._cuts = how.canonical
        self._stream = _core.StreamChunker(how, Chunk)

    @property
    def cuts(self) -> str:
        """The canonical string."""
        return self._cuts

    def write(self, data: Bytes) -> list[Chunk]:
        """Writes the next bytes of the stream, any number of them, from an object with a C-contiguous buffer, which may
        change after the call. Returns the chunks that were found since the last call, in order. The list may be empty,
        because a chunk is found somewhat later than its bytes are written."""
        return self._stream.write(data)

    def finish(self) -> list[Chunk]:
        """Ends the stream and returns the rest of its chunks. After this call `write` raises ValueError."""
        return self._stream.finish()

    def close(self) -> None:
        """Ends the stream and drops the rest of its chunks. Has no effect if the stream has ended."""
        self._stream.close()

    def __enter__(self) -> Chunker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
