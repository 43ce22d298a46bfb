"""Addresses of arrays in a GPU's memory, and of streams, whichever library made them."""

from __future__ import annotations

import ctypes
import math
import operator
from typing import Any, NamedTuple

_CUDA_DEVICES = {2: "CUDA", 13: "CUDA managed"}  # kDLCUDA and kDLCUDAManaged of DLPack
_NUMBERS = {0: "i", 1: "u", 6: "b"}  # type codes of DLPack


class _DLTensor(ctypes.Structure):
    """DLTensor of dlpack.h, which is the first member of both managed tensors' contents."""

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


class _View(NamedTuple):
    address: int
    kind: str  # "i", "u", "b", or another
    item_bytes: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None  # in bytes
    is_read_only: bool


def _by_cuda_array_interface(array: Any) -> _View:
    facts = array.__cuda_array_interface__
    address, is_read_only = facts["data"]
    typestr = facts["typestr"]
    return _View(address or 0, typestr[1], int(typestr[2:]), tuple(facts["shape"]), facts.get("strides"), is_read_only)


def _by_dlpack(name: str, array: Any, stream: int) -> _View:
    device_type, _ = array.__dlpack_device__()
    if device_type not in _CUDA_DEVICES:
        raise ValueError(f"{name} is not in a GPU's memory: its device is of DLPack's kind {int(device_type)}")
    # DLPack numbers the default stream 1, and 0 is not allowed. The capsule drops its reference when it goes out of scope; the caller
    # keeps the array.
    capsule = array.__dlpack__(stream=stream or 1)
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    tensor = _DLTensor.from_address(pointer_of(capsule, b"dltensor"))
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    item_bytes = tensor.bits * tensor.lanes // 8
    strides = tuple(tensor.strides[i] * item_bytes for i in range(tensor.ndim)) if tensor.strides else None
    address = (tensor.data or 0) + tensor.byte_offset
    return _View(address, _NUMBERS.get(tensor.code, "?"), item_bytes, shape, strides, False)


def _is_contiguous(view: _View) -> bool:
    wanted = view.item_bytes
    for count, stride in zip(reversed(view.shape), reversed(view.strides or ()), strict=bool(view.strides)):
        if count != 1 and stride != wanted:
            return False
        wanted *= count
    return True


def address_of(name: str, array: Any, item_bytes: int, count: int, stream: int, *, is_written: bool = False) -> int:
    """The address of an array of at least `count` integers of `item_bytes` bytes, whose elements follow each other."""
    if hasattr(array, "__cuda_array_interface__"):
        view = _by_cuda_array_interface(array)
    elif hasattr(array, "__dlpack__"):
        view = _by_dlpack(name, array, stream)
    else:
        raise TypeError(
            f"{name} must have __cuda_array_interface__ or DLPack, as arrays of CuPy, PyTorch, Numba and JAX have, "
            f"not {type(array).__name__}"
        )
    if view.kind not in "iub" or view.item_bytes != item_bytes:
        raise ValueError(f"{name} must have integers of {item_bytes} bytes, not {view.kind}{view.item_bytes}")
    if not _is_contiguous(view):
        raise BufferError(f"{name} is not C-contiguous: its elements must follow each other in memory")
    if math.prod(view.shape) < count:
        raise ValueError(f"{name} has {math.prod(view.shape)} elements, and must have {count}")
    if is_written and view.is_read_only:
        raise ValueError(f"{name} is read-only")
    return view.address


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
