"""Content-defined chunks and fingerprints, with exactly the cuts of the sequential algorithm.

`chunk` goes through a stream chunk by chunk, `chunk_arrays` gives all of them as NumPy arrays, `Chunker` takes a stream
in pieces, and `dedup` says what deduplication would save. All of them release the GIL while they work, and Ctrl-C ends
them.

What is wrong raises, with one sentence: ValueError (a name, parameter or bound), TypeError, BufferError (bytes that do
not follow each other), OSError (a file; with `errno` and `filename` where a system call failed), MemoryError (also
where the work does not fit into `memory_bytes`), or CutpointError (a back end or library that failed or is not here).
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
