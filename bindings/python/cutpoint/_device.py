"""Batches of buffers that are in a GPU's memory, and which of their chunks are new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, SupportsIndex

from cutpoint import _core
from cutpoint._device_arrays import DeviceArrays, stream_handle
from cutpoint._settings import MOST_BYTES, Parameter, _checked, _number, settings

_MOST_DEVICE = 4095


@dataclass(frozen=True)
class DeviceBounds:
    """The bounds of batches. What a batch needs depends on them alone, so that a captured batch can be replayed with other
    sizes within them."""

    #: buffers of a batch
    max_buffers: SupportsIndex
    #: bytes of all buffers together
    max_total_bytes: SupportsIndex
    #: bytes of one buffer, less than 4 GiB; 0: as many as allowed
    max_buffer_bytes: SupportsIndex = 0
    #: chunks that the output arrays have room for; 0: as many as there can be, unless chunks have fewer than 64 bytes
    max_chunks: SupportsIndex = 0


@dataclass(frozen=True)
class DeviceSizes:
    """What batches within bounds need."""

    workspace_bytes: int
    #: elements of `offsets` and `lengths`
    max_chunks: int
    #: bytes of each digest; 0 without fingerprints
    digest_bytes: int


def _fields(bounds: DeviceBounds) -> tuple[int, int, int, int]:
    _checked("bounds", bounds, DeviceBounds)
    return (
        _number("max_buffers", bounds.max_buffers, 1, MOST_BYTES),
        _number("max_buffer_bytes", bounds.max_buffer_bytes, 0, MOST_BYTES),
        _number("max_total_bytes", bounds.max_total_bytes, 1, MOST_BYTES),
        _number("max_chunks", bounds.max_chunks, 0, MOST_BYTES),
    )


class DeviceChunker:
    """Cuts and fingerprints batches of buffers that are in a GPU's memory already, thousands in one call.

    All arrays are in device memory and belong to the caller. An array is whatever has DLPack (`__dlpack__`, which is asked first) or
    `__cuda_array_interface__`, such as an array of CuPy, PyTorch, Numba or JAX. One that says that it is read-only, as JAX's do, is
    read, and refused with ValueError where results are written. Any number of threads may use one object at once.
    """

    def __init__(
        self,
        cuts: str = "fastcdc",
        *,
        fingerprint: str = "sha256",
        fingerprint_key: bytes | None = None,
        device: SupportsIndex = 0,
        **parameters: Parameter,
    ) -> None:
        """`fingerprint` is "sha1", "sha256", "blake3" or "none", `device` the number that `cutpoint info` shows. Raises
        CutpointError, with the reason, if the GPU cannot be used."""
        how = settings(cuts, fingerprint, fingerprint_key, parameters=parameters)
        self._cuts = how.canonical
        self._device = _number("device", device, 0, _MOST_DEVICE)
        self._batches = _core.DeviceBatches.make(how, self._device)

    @property
    def cuts(self) -> str:
        """The canonical string."""
        return self._cuts

    def sizes(self, bounds: DeviceBounds) -> DeviceSizes:
        """Says what batches within the bounds need."""
        return DeviceSizes(*self._batches.sizes(_fields(bounds)))

    def enqueue(
        self,
        bounds: DeviceBounds,
        *,
        buffers: Any,
        byte_counts: Any,
        first_chunks: Any,
        lengths: Any,
        problem: Any,
        workspace: Any,
        buffer_count: Any = None,
        ends: Any = None,
        offsets: Any = None,
        digests: Any = None,
        stream: Any = None,
    ) -> None:
        """Puts the work on a batch into `stream` and returns. It neither allocates nor waits, so the stream may be captured.

        Read: `buffers`, the addresses of `max_buffers` buffers, and `byte_counts`, their sizes, of 8 bytes each; `buffer_count`,
        one number of 4 bytes, or None for `max_buffers`; `ends`, a byte for each buffer, 0 if its stream goes on after it, or None.
        Written: `first_chunks`, `max_buffers` + 1 indices of 4 bytes, so that the chunks of buffer i are those from
        `first_chunks[i]` to before `first_chunks[i + 1]`; for each chunk its offset in the buffer (8 bytes, or None), its length (4
        bytes) and its digest (bytes; None without fingerprints); and `problem`, one number of 4 bytes, for `check`.
        `workspace` is bytes, aligned to 256. All arrays must live until the stream has done the work. Unless it is captured, the stream
        waits for what makes an array: by DLPack, or for the stream that the array's interface names.

        `stream` is a stream of CuPy, PyTorch, Numba or cuda.core, or its handle; None is the default stream.
        """
        handle = stream_handle(stream)
        fields = _fields(bounds)
        sizes = DeviceSizes(*self._batches.sizes(fields))
        most = fields[0]

        with DeviceArrays(handle, self._device) as arrays:

            def read(name: str, array: Any, item_bytes: int, count: int) -> int:
                return 0 if array is None else arrays.address_of(name, array, item_bytes, count)

            def written(name: str, array: Any, item_bytes: int, count: int) -> int:
                return 0 if array is None else arrays.address_of(name, array, item_bytes, count, is_written=True)

            self._batches.enqueue(
                fields,
                (
                    read("buffers", buffers, 8, most),
                    read("byte_counts", byte_counts, 8, most),
                    read("buffer_count", buffer_count, 4, 1),
                    read("ends", ends, 1, most),
                ),
                (
                    written("first_chunks", first_chunks, 4, most + 1),
                    written("offsets", offsets, 8, sizes.max_chunks),
                    written("lengths", lengths, 4, sizes.max_chunks),
                    written("digests", digests, 1, sizes.max_chunks * sizes.digest_bytes),
                    written("problem", problem, 4, 1),
                ),
                (written("workspace", workspace, 1, sizes.workspace_bytes), sizes.workspace_bytes),
                handle,
            )

    def check(self, problem: SupportsIndex, bounds: DeviceBounds) -> None:
        """Raises ValueError or MemoryError, with one sentence, if this value of `problem` says that the device refused the
        batch."""
        _core.check_problem(_number("problem", problem, 0, (1 << 32) - 1), _fields(bounds))


class DeviceDedup:
    """The digests of the chunks that a GPU has seen, a sorted table in its memory, which says which chunks are new.

    Arrays are those of `DeviceChunker`. Memory, 32 bytes for each digest, and while it works 36 bytes for each digest of a batch,
    what a sort takes and a second table, comes from the device's default pool. Threads may use one object in turns.
    """

    def __init__(self, digest_bytes: SupportsIndex, *, stream: Any = None, device: SupportsIndex = 0) -> None:
        """Makes an empty table for digests of 1 to 32 bytes, such as `DeviceSizes.digest_bytes`. All work goes to `stream`. Raises
        CutpointError, with the reason, if the GPU cannot be used."""
        self._digest_bytes = _number("digest_bytes", digest_bytes, 1, 32)
        self._stream = stream  # lives as long as the table
        self._handle = stream_handle(stream)
        self._device = _number("device", device, 0, _MOST_DEVICE)
        self._known = _core.DeviceDigests.make(self._digest_bytes, self._handle, self._device)

    def insert(self, digests: Any, count: SupportsIndex, new_chunks: Any) -> int:
        """Inserts the first `count` digests, and writes the positions of the chunks that are new into `new_chunks`, integers of 4
        bytes, ascending: those whose digests were not in the table, the first one of each digest. Returns how many they are.

        `digests` is an array of bytes. The call waits for the stream. Raises MemoryError if the device has too little memory; the
        table is then as before."""
        size = _number("count", count, 0, (1 << 32) - 1)
        with DeviceArrays(self._handle, self._device) as arrays:
            digests_address = arrays.address_of("digests", digests, 1, size * self._digest_bytes)
            new_address = arrays.address_of("new_chunks", new_chunks, 4, size, is_written=True)
            return self._known.insert(digests_address, size, new_address)

    def __len__(self) -> int:
        """The number of digests in the table."""
        return self._known.size()
