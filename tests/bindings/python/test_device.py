"""Arrays and streams of a GPU, by objects that stand for those of other libraries. Where there is no GPU, a batch cannot be made."""

import ctypes
from types import SimpleNamespace

import cutpoint
import pytest
from cutpoint._device_arrays import _DLTensor, address_of, stream_handle

ADDRESS = 1 << 40


def array(typestr: str = "<u8", shape: tuple[int, ...] = (4,), **changes: object) -> SimpleNamespace:
    """What CuPy and Numba have."""
    facts = {"shape": shape, "typestr": typestr, "data": (ADDRESS, False), "strides": None, "version": 3, **changes}
    return SimpleNamespace(__cuda_array_interface__=facts)


class Tensor:
    """What JAX has: DLPack alone. The capsule is made as in dlpack.h."""

    def __init__(self, device_type: int = 2, bits: int = 64, shape: tuple[int, ...] = (4,), strides: tuple[int, ...] | None = None):
        self.device_type = device_type
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = (ctypes.c_int64 * len(strides))(*strides) if strides else None
        self.content = _DLTensor(ADDRESS, device_type, 0, len(shape), 1, bits, 1, self.shape, self.strides, 16)
        self.streams: list[int] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device_type, 0

    def __dlpack__(self, *, stream: int) -> object:
        self.streams.append(stream)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(self.content), b"dltensor", None)


def test_an_array_of_either_kind_has_its_address() -> None:
    assert address_of("buffers", array(), 8, 4, 0) == ADDRESS
    assert address_of("buffers", array(strides=(8,)), 8, 3, 0) == ADDRESS
    assert address_of("digests", array("|u1", (2, 32), strides=(32, 1)), 1, 64, 0) == ADDRESS
    assert address_of("buffers", array(shape=(0,), data=(0, False)), 8, 0, 0) == 0
    assert address_of("buffers", Tensor(), 8, 4, 0) == ADDRESS + 16
    assert address_of("buffers", Tensor(shape=(2, 2), strides=(2, 1)), 8, 4, 0) == ADDRESS + 16


def test_dlpack_is_told_the_stream() -> None:
    tensor = Tensor()
    address_of("buffers", tensor, 8, 4, 0)
    address_of("buffers", tensor, 8, 4, 77)
    assert tensor.streams == [1, 77]


WRONG = [
    (array("<u4"), ValueError, "buffers must have integers of 8 bytes, not u4"),
    (array("<f8"), ValueError, "buffers must have integers of 8 bytes, not f8"),
    (array(shape=(3,)), ValueError, "buffers has 3 elements, and must have 4"),
    (array(strides=(16,)), BufferError, "buffers is not C-contiguous"),
    (array(shape=(2, 2), strides=(8, 16)), BufferError, "buffers is not C-contiguous"),
    (array(data=(ADDRESS, True)), ValueError, "buffers is read-only"),
    (Tensor(bits=32), ValueError, "buffers must have integers of 8 bytes, not u4"),
    (Tensor(device_type=1), ValueError, "buffers is not in a GPU's memory: its device is of DLPack's kind 1"),
    (Tensor(shape=(4,), strides=(2,)), BufferError, "buffers is not C-contiguous"),
    (bytes(64), TypeError, "not bytes"),
]


@pytest.mark.parametrize(("wrong", "kind", "sentence"), WRONG)
def test_another_array_is_refused_by_its_name(wrong: object, kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind, match=sentence):
        address_of("buffers", wrong, 8, 4, 0, is_written=True)


def test_a_stream_may_be_of_any_library() -> None:
    assert stream_handle(None) == 0
    assert stream_handle(5) == 5
    assert stream_handle(SimpleNamespace(ptr=6)) == 6
    assert stream_handle(SimpleNamespace(cuda_stream=7)) == 7
    assert stream_handle(SimpleNamespace(handle=SimpleNamespace(value=8))) == 8
    assert stream_handle(SimpleNamespace(__cuda_stream__=lambda: (0, 9))) == 9
    with pytest.raises(TypeError):
        stream_handle("a stream")


def test_arguments_are_checked_before_a_device_is_asked() -> None:
    with pytest.raises(ValueError, match="device = -1 must be from 0 to 4095"):
        cutpoint.DeviceChunker(device=-1)
    with pytest.raises(ValueError, match="did you mean 'fastcdc'"):
        cutpoint.DeviceChunker("fastcd")
    for digest_bytes in 0, 33:
        with pytest.raises(ValueError, match=f"digest_bytes = {digest_bytes} must be from 1 to 32"):
            cutpoint.DeviceDedup(digest_bytes)


def test_without_a_device_the_reason_is_said() -> None:
    try:
        chunker = cutpoint.DeviceChunker("fastcdc(avg_bytes=8K)")
    except cutpoint.CutpointError as why:
        assert len(str(why)) > 10
        return
    bounds = cutpoint.DeviceBounds(max_buffers=2, max_total_bytes=1000)
    assert chunker.sizes(bounds).digest_bytes == 32
    chunker.check(0, bounds)
    with pytest.raises(MemoryError, match="chunks"):
        chunker.check(4, bounds)
