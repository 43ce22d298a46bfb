"""Content-defined chunks and fingerprints, with exactly the cuts of the sequential algorithm.

`chunk` iterates over the chunks of a stream, `chunk_arrays` returns all of them as NumPy arrays, `Chunker` takes a
stream in blocks, and `dedup` reports what deduplication would save. All of them release the GIL while they work, and
Ctrl-C interrupts them.

Errors are exceptions with one sentence: ValueError (a name, a parameter or a bound), TypeError, BufferError (a buffer
that is not C-contiguous), OSError (a file; with `errno` and `filename` if a system call failed), MemoryError (also if
the work does not fit into `memory_bytes`), or CutpointError (a back end or a library failed or is missing).
"""

from cutpoint._chunker import Chunker
from cutpoint._chunks import Chunk, ChunkArrays, chunk, chunk_arrays
from cutpoint._core import CutpointError, __version__
from cutpoint._dedup import dedup
from cutpoint._names import algorithms, backends, canonical, fingerprints, profiles

__all__ = [
    "Chunk",
    "ChunkArrays",
    "Chunker",
    "CutpointError",
    "__version__",
    "algorithms",
    "backends",
    "canonical",
    "chunk",
    "chunk_arrays",
    "dedup",
    "fingerprints",
    "profiles",
]
