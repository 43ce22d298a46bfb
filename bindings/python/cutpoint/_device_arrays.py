"""Addresses of arrays in a GPU's memory, and of streams, whichever library made them."""

from __future__ import annotations

import ctypes
import functools
import math
import operator
from contextlib import ExitStack
from types import TracebackType
from typing import Any, NamedTuple

from cutpoint import _core

_CUDA_DEVICES = {2: "CUDA", 13: "CUDA managed"}  # kDLCUDA and kDLCUDAManaged of DLPack
_NUMBERS = {0: "i", 1: "u", 6: "b"}  # type codes of DLPack
_VERSION = (1, 0)  # of DLPack, the newest that is understood; later minor versions are read in the same way
_READ_ONLY, _IS_COPY = 1, 2  # flags of DLPack 1.0
_DEFAULT_STREAM = 1  # as DLPack and the CUDA array interface number it; 0 is not allowed
_NO_STREAM = -1  # by which a producer of DLPack orders nothing


class _DLTensor(ctypes.Structure):
    """DLTensor of dlpack.h."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


#: Called with the address of a managed tensor, by the thread that has the GIL
_Deleter = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)


class _DLManagedTensor(ctypes.Structure):
    """DLManagedTensor, which capsules with the name "dltensor" have."""

    _fields_ = (("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", _Deleter))
    major, flags = 0, 0


class _DLManagedTensorVersioned(ctypes.Structure):
    """DLManagedTensorVersioned of DLPack 1.0, which capsules with the name "dltensor_versioned" have."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", _Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", _DLTensor),
    )


#: the names of a capsule before and after it is consumed, which a capsule refers to, and what it has
_CAPSULES = (
    (b"dltensor_versioned", b"used_dltensor_versioned", _DLManagedTensorVersioned),
    (b"dltensor", b"used_dltensor", _DLManagedTensor),
)

_is_capsule = ctypes.pythonapi.PyCapsule_IsValid
_is_capsule.argtypes = (ctypes.py_object, ctypes.c_char_p)
_address_in = ctypes.pythonapi.PyCapsule_GetPointer
_address_in.restype, _address_in.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
_rename = ctypes.pythonapi.PyCapsule_SetName
_rename.argtypes = (ctypes.py_object, ctypes.c_char_p)


class _View(NamedTuple):
    address: int
    kind: str  # "i", "u", "b", or another
    item_bytes: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None  # in bytes
    is_read_only: bool


def _is_contiguous(view: _View) -> bool:
    wanted = view.item_bytes
    for count, stride in zip(reversed(view.shape), reversed(view.strides or ()), strict=bool(view.strides)):
        if count != 1 and stride != wanted:
            return False
        wanted *= count
    return True


class DeviceArrays:
    """Reads the arrays of one call, which puts work into a stream of a device, and holds what their producers lend until it closes.

    An array is read by DLPack, whose producer makes the stream wait for the array, or, without DLPack, by its
    `__cuda_array_interface__`, whose stream is waited for. The host does not wait. While the stream is captured nothing is ordered,
    since a graph cannot wait for work outside of it."""

    def __init__(self, stream: int, device: int) -> None:
        self._stream, self._device = stream or _DEFAULT_STREAM, device
        self._lent = ExitStack()

    def __enter__(self) -> DeviceArrays:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._lent.close()

    @functools.cached_property
    def _is_captured(self) -> bool:
        return self._stream != _DEFAULT_STREAM and _core.is_captured(self._stream, self._device)

    def address_of(self, name: str, array: Any, item_bytes: int, count: int, *, is_written: bool = False) -> int:
        """The address of an array of at least `count` integers of `item_bytes` bytes, whose elements follow each other."""
        if hasattr(array, "__dlpack__"):
            view = self._view_by_dlpack(name, array)
        elif hasattr(array, "__cuda_array_interface__"):
            view = self._view_by_interface(name, array.__cuda_array_interface__)
        else:
            raise TypeError(
                f"{name} must have DLPack or __cuda_array_interface__, as arrays of CuPy, PyTorch, Numba and JAX have, "
                f"not {type(array).__name__}"
            )
        if view.kind not in "iub" or view.item_bytes != item_bytes:
            raise ValueError(f"{name} must have integers of {item_bytes} bytes, not {view.kind}{view.item_bytes}")
        if not _is_contiguous(view):
            raise BufferError(f"{name} is not C-contiguous: its elements must follow each other in memory")
        if math.prod(view.shape) < count:
            raise ValueError(f"{name} has {math.prod(view.shape)} elements, and must have {count}")
        if is_written and view.is_read_only:
            raise ValueError(f"{name} is read-only, and the results are written to it")
        return view.address

    def _view_by_dlpack(self, name: str, array: Any) -> _View:
        device_type, _ = array.__dlpack_device__()
        if device_type not in _CUDA_DEVICES:
            raise ValueError(f"{name} is not in a GPU's memory: its device is of DLPack's kind {int(device_type)}")
        stream = _NO_STREAM if self._is_captured else self._stream
        try:
            capsule = array.__dlpack__(stream=stream, max_version=_VERSION)
        except TypeError:  # a producer from before DLPack 1.0
            capsule = array.__dlpack__(stream=stream)
        managed = self._consume(name, capsule)
        if managed.major > _VERSION[0]:
            raise BufferError(f"{name} has the version {managed.major} of DLPack, and at most {_VERSION[0]} is understood")
        if managed.flags & _IS_COPY:
            raise BufferError(f"{name} gives a copy of its elements by DLPack, which nobody keeps until the stream has done the work")
        tensor = managed.tensor
        shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
        item_bytes = tensor.bits * tensor.lanes // 8
        strides = tuple(tensor.strides[i] * item_bytes for i in range(tensor.ndim)) if tensor.strides else None
        address = (tensor.data or 0) + tensor.byte_offset
        return _View(address, _NUMBERS.get(tensor.code, "?"), item_bytes, shape, strides, bool(managed.flags & _READ_ONLY))

    def _consume(self, name: str, capsule: Any) -> _DLManagedTensor | _DLManagedTensorVersioned:
        """Takes the tensor of a capsule, which belongs to the taker then."""
        for unused, used, kind in _CAPSULES:
            if _is_capsule(capsule, unused):
                managed = kind.from_address(_address_in(capsule, unused))
                _rename(capsule, used)
                if managed.deleter:
                    self._lent.callback(managed.deleter, ctypes.addressof(managed))
                return managed
        raise BufferError(f"{name} gives no capsule of DLPack, or one that was consumed before")

    def _view_by_interface(self, name: str, facts: dict[str, Any]) -> _View:
        made_in = facts.get("stream")
        if made_in == 0:
            raise ValueError(f"{name}: the stream of its __cuda_array_interface__ is 0, which is not allowed")
        if made_in is not None and made_in != self._stream and not self._is_captured:
            _core.wait_for_stream(self._stream, made_in, self._device)
        address, is_read_only = facts["data"]
        typestr = facts["typestr"]
        return _View(address or 0, typestr[1], int(typestr[2:]), tuple(facts["shape"]), facts.get("strides"), is_read_only)


def stream_handle(stream: Any) -> int:
    """The handle of a stream: a number, or a stream of CuPy, PyTorch, Numba or cuda.core. None is the default stream."""
    if stream is None:
        return 0
    if hasattr(stream, "__cuda_stream__"):
        return operator.index(stream.__cuda_stream__()[1])
    for attribute in "ptr", "cuda_stream":
        if hasattr(stream, attribute):
            return operator.index(getattr(stream, attribute))
    if hasattr(stream, "handle"):
        return int(getattr(stream.handle, "value", stream.handle) or 0)
    return operator.index(stream)
