"""The types of the compiled module, for type checkers."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutpoint._chunks import Chunk
from cutpoint._settings import Bytes, Path, Stream

__version__: str

class CutpointError(RuntimeError):
    """A back end, a device or a library failed or is missing."""

class Settings:
    @staticmethod
    def make(
        cuts: str,
        parameters: Sequence[tuple[str, str]],
        fingerprint: str,
        fingerprint_key: bytes | None,
        backend: str,
        threads: int,
        memory_bytes: int | None,
    ) -> Settings: ...
    @property
    def canonical(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...

class ChunkIterator:
    def __init__(self, settings: Settings, data: Stream, chunk_type: type[Chunk]) -> None: ...
    def __iter__(self) -> Iterator[Chunk]: ...
    def __next__(self) -> Chunk: ...

class StreamChunker:
    def __init__(self, settings: Settings, chunk_type: type[Chunk]) -> None: ...
    def write(self, data: Bytes) -> list[Chunk]: ...
    def finish(self) -> list[Chunk]: ...
    def close(self) -> None: ...

def chunk_arrays(
    settings: Settings, data: Stream
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint8]]: ...
def dedup(
    settings: Settings,
    paths: Sequence[Path],
    follow_links: bool,
    exclude: Sequence[Path],
    include: Sequence[Path],
    one_file_system: bool,
    exclude_caches: bool,
) -> dict[str, Any]: ...
def algorithms() -> list[str]: ...
def profiles() -> list[str]: ...
def fingerprints() -> list[str]: ...
def backends() -> list[str]: ...
def forget_engines() -> None: ...
