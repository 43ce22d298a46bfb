"""Content-defined chunks, fingerprints and deduplicated backups, with exactly the cuts of the sequential algorithm.

`chunk` iterates over the chunks of a stream, `chunk_arrays` returns all of them as NumPy arrays, `chunk_buffers` those of
many buffers, `Chunker` takes a stream in blocks, an `Engine` bounds the memory of many, `DeviceChunker` takes buffers in a GPU's memory, and
`DeviceDedup` finds which of their chunks are new, `dedup` reports what deduplication would save, and a `Store` keeps backups of files and of streams. All of them release the GIL while they work, and Ctrl-C interrupts them.

Errors are exceptions with one sentence: ValueError (a name, a parameter or a bound), TypeError, BufferError (a buffer
that is not C-contiguous), OSError (a file; with `errno` and `filename` if a system call failed), MemoryError (also if
the work does not fit into `memory_bytes`), CutpointError (a back end or a library failed or is missing), or Cancelled
(another thread ended the work).
"""

from cutpoint._chunker import Chunker
from cutpoint._chunks import Chunk, ChunkArrays, chunk, chunk_arrays, chunk_buffers
from cutpoint._core import Cancelled, CutpointError, __version__
from cutpoint._dedup import dedup
from cutpoint._device import DeviceBounds, DeviceChunker, DeviceDedup, DeviceSizes
from cutpoint._lanes import Lanes
from cutpoint._names import algorithms, backends, canonical, fingerprints, profiles
from cutpoint._push import PushSession, PushStream
from cutpoint._settings import Engine
from cutpoint._store import Store
from cutpoint._store_records import (
    BackupProgress, Change, Checked, Copied, Decision, Description, Difference, Edited, Key, Problem, Progress,
    Pruned, Repaired, Restored, Session, Snapshot, StoredFile,
)

__all__ = [
    "BackupProgress", "Cancelled", "Change", "Checked", "Chunk", "ChunkArrays", "Chunker", "Copied", "CutpointError",
    "Decision", "Description", "DeviceBounds", "DeviceChunker", "DeviceDedup", "DeviceSizes", "Difference", "Edited", "Engine",
    "Key", "Lanes", "Problem", "Progress", "Pruned", "PushSession", "PushStream", "Repaired", "Restored", "Session",
    "Snapshot", "Store", "StoredFile", "__version__", "algorithms", "backends", "canonical", "chunk", "chunk_arrays",
    "chunk_buffers", "dedup", "fingerprints", "profiles",
]
