"""Arrays and streams of a GPU, by objects that stand for those of other libraries. Where there is no GPU, a batch cannot be made."""

import ctypes
import gc
import weakref
from collections.abc import Callable
from types import SimpleNamespace

import cutpoint
import numpy as np
import pytest
from cutpoint import _core, _device_arrays
from cutpoint._device_arrays import DeviceArrays, stream_handle

ADDRESS = 1 << 40
CAPTURED = 99  # a stream


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, int]]:
    """Takes the place of the device's functions for streams, and lists which stream was made to wait for which, on which device."""
    calls: list[tuple[int, int, int]] = []
    monkeypatch.setattr(_core, "is_captured", lambda stream, device: stream == CAPTURED)
    monkeypatch.setattr(_core, "wait_for_stream", lambda *call: calls.append(call))
    return calls


def address_of(name: str, array: object, item_bytes: int, count: int, stream: int = 0, *, is_written: bool = False) -> int:
    with DeviceArrays(stream, 0) as arrays:
        return arrays.address_of(name, array, item_bytes, count, is_written=is_written)


def array(typestr: str = "<u8", shape: tuple[int, ...] = (4,), **changes: object) -> SimpleNamespace:
    """What Numba has."""
    facts = {"shape": shape, "typestr": typestr, "data": (ADDRESS, False), "strides": None, "version": 3, **changes}
    return SimpleNamespace(__cuda_array_interface__=facts)


class Producer:
    """Has DLPack. It notes what it is asked, what became of its capsules, and how many of its tensors were given back."""

    new_capsule = ctypes.pythonapi.PyCapsule_New
    new_capsule.restype, new_capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, (ctypes.py_object,)

    def __init__(
        self,
        device_type: int = 2,
        bits: int = 64,
        shape: tuple[int, ...] = (4,),
        strides: tuple[int, ...] | None = None,
        version: tuple[int, int] | None = None,
        flags: int = 0,
    ):
        self.device_type, self.version = device_type, version
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = (ctypes.c_int64 * len(strides))(*strides) if strides else None
        tensor = _device_arrays._DLTensor(ADDRESS, device_type, 0, len(shape), 1, bits, 1, self.shape, self.strides, 16)
        self.deleter = _device_arrays._Deleter(self.take_back)
        if version is None:
            self.managed = _device_arrays._DLManagedTensor(tensor, None, self.deleter)
        else:
            self.managed = _device_arrays._DLManagedTensorVersioned(*version, None, self.deleter, flags, tensor)
        self.asked: list[dict[str, object]] = []
        self.capsules: list[object] = []
        self.taken_back = 0

    def take_back(self, address: int) -> None:
        assert address == ctypes.addressof(self.managed)
        self.taken_back += 1

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device_type, 0

    def __dlpack__(self, **asked: object) -> object:
        self.asked.append(asked)
        if self.version is None and "max_version" in asked:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        name = b"dltensor" if self.version is None else b"dltensor_versioned"
        self.capsules.append(type(self).new_capsule(ctypes.addressof(self.managed), name, None))
        return self.capsules[-1]

    def capsule_names(self) -> list[bytes]:
        return [type(self).name_of(each) for each in self.capsules]


MAKERS = [Producer, lambda **changes: Producer(version=(1, 0), **changes), lambda **changes: Producer(version=(1, 7), **changes)]


def test_an_array_of_either_kind_has_its_address() -> None:
    assert address_of("buffers", array(), 8, 4) == ADDRESS
    assert address_of("buffers", array(strides=(8,)), 8, 3) == ADDRESS
    assert address_of("digests", array("|u1", (2, 32), strides=(32, 1)), 1, 64) == ADDRESS
    assert address_of("buffers", array(shape=(0,), data=(0, False)), 8, 0) == 0
    for make in MAKERS:
        assert address_of("buffers", make(), 8, 4) == ADDRESS + 16
        assert address_of("buffers", make(shape=(2, 2), strides=(2, 1)), 8, 4, is_written=True) == ADDRESS + 16


@pytest.mark.parametrize("make", MAKERS)
def test_a_tensor_is_taken_once_and_given_back_after_the_call(make: Callable[..., Producer]) -> None:
    tensor = make()
    with DeviceArrays(0, 0) as arrays:
        arrays.address_of("buffers", tensor, 8, 4)
        assert tensor.capsule_names() == [b"used_dltensor" if tensor.version is None else b"used_dltensor_versioned"]
        assert tensor.taken_back == 0
    assert tensor.taken_back == 1
    too_short = make(shape=(3,))
    with pytest.raises(ValueError, match="has 3 elements"):
        address_of("buffers", too_short, 8, 4)
    assert too_short.taken_back == 1
    used = SimpleNamespace(__dlpack_device__=lambda: (2, 0), __dlpack__=lambda **asked: tensor.capsules[0])
    with pytest.raises(BufferError, match="buffers gives no capsule of DLPack, or one that was consumed before"):
        address_of("buffers", used, 8, 4)
    assert tensor.taken_back == 1


def test_a_tensor_without_a_deleter_is_not_given_back() -> None:
    tensor = Producer()
    tensor.managed.deleter = _device_arrays._Deleter()
    assert address_of("buffers", tensor, 8, 4) == ADDRESS + 16
    assert tensor.taken_back == 0


def test_dlpack_is_asked_for_the_newest_version_with_the_stream() -> None:
    new, old = Producer(version=(1, 0)), Producer()
    for stream in 0, 1, 2, 77, CAPTURED:
        address_of("buffers", new, 8, 4, stream)
        address_of("buffers", old, 8, 4, stream)
    expected = [1, 1, 2, 77, -1]  # a stream that is captured must not be made to wait for others
    assert new.asked == [{"stream": stream, "max_version": (1, 0)} for stream in expected]
    assert old.asked[0::2] == new.asked
    assert old.asked[1::2] == [{"stream": stream} for stream in expected]


def test_what_a_producer_raises_is_not_hidden() -> None:
    def refuse(**asked: object) -> object:
        raise BufferError("per-thread default stream is not supported")

    with pytest.raises(BufferError, match="per-thread"):
        address_of("buffers", SimpleNamespace(__dlpack_device__=lambda: (2, 0), __dlpack__=refuse), 8, 4)


def test_the_array_interface_is_for_arrays_without_dlpack(waits: list) -> None:
    both = Producer(version=(1, 0))
    both.__cuda_array_interface__ = array(data=(ADDRESS * 2, False), stream=5).__cuda_array_interface__
    assert address_of("buffers", both, 8, 4) == ADDRESS + 16
    assert waits == []


def test_the_stream_of_an_array_interface_is_waited_for(waits: list) -> None:
    for stream in None, 1:  # nothing to wait for
        address_of("buffers", array(stream=stream), 8, 4)
    address_of("buffers", array(stream=77), 8, 4, 77)
    address_of("buffers", array(stream=5), 8, 4, CAPTURED)
    assert waits == []
    with DeviceArrays(77, 3) as arrays:
        for stream in 1, 2, 5:
            arrays.address_of("buffers", array(stream=stream), 8, 4)
    address_of("buffers", array(stream=5), 8, 4)
    assert waits == [(77, 1, 3), (77, 2, 3), (77, 5, 3), (1, 5, 0)]
    with pytest.raises(ValueError, match="buffers: the stream of its __cuda_array_interface__ is 0"):
        address_of("buffers", array(stream=0), 8, 4)


@pytest.mark.parametrize("read_only", [array(data=(ADDRESS, True)), Producer(version=(1, 0), flags=1)])
def test_a_read_only_array_is_an_input_and_no_result(read_only: object) -> None:
    assert address_of("buffers", read_only, 8, 4) >= ADDRESS
    with pytest.raises(ValueError, match="^first_chunks is read-only"):
        address_of("first_chunks", read_only, 8, 4, is_written=True)


def test_a_tensor_that_cannot_be_used_is_given_back() -> None:
    for tensor, sentence in (
        (Producer(version=(2, 0)), "buffers has the version 2 of DLPack, and at most 1 is understood"),
        (Producer(version=(1, 0), flags=2), "buffers gives a copy of its elements"),
    ):
        with pytest.raises(BufferError, match=sentence):
            address_of("buffers", tensor, 8, 4)
        assert tensor.taken_back == 1


class NumPyProducer:
    """Lends memory of NumPy's, with NumPy's own capsules and deleters, as if it were a device's."""

    def __init__(self, content: np.ndarray, knows_versions: bool) -> None:
        self.content, self.knows_versions = content, knows_versions

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, *, stream: int, **versions: object) -> object:
        if versions and not self.knows_versions:
            raise TypeError("an unexpected keyword argument")
        return self.content.__dlpack__(**versions)


@pytest.mark.parametrize("knows_versions", [False, True])
def test_capsules_of_numpy_are_taken_and_given_back(knows_versions: bool) -> None:
    content = np.arange(4, dtype=np.uint64)
    is_alive = weakref.ref(content)
    tensor = NumPyProducer(content, knows_versions)
    with DeviceArrays(0, 0) as arrays:
        assert arrays.address_of("offsets", tensor, 8, 4, is_written=True) == content.ctypes.data
        del content, tensor
        gc.collect()
        assert is_alive() is not None
    gc.collect()
    assert is_alive() is None
    if knows_versions:
        fixed = np.arange(4, dtype=np.uint64)
        fixed.flags.writeable = False
        assert address_of("buffers", NumPyProducer(fixed, True), 8, 4) == fixed.ctypes.data
        with pytest.raises(ValueError, match="offsets is read-only"):
            address_of("offsets", NumPyProducer(fixed, True), 8, 4, is_written=True)
    with pytest.raises(ValueError, match="buffers is not in a GPU's memory: its device is of DLPack's kind 1"):
        address_of("buffers", np.zeros(4, np.uint64), 8, 4)


WRONG = [
    (array("<u4"), ValueError, "buffers must have integers of 8 bytes, not u4"),
    (array("<f8"), ValueError, "buffers must have integers of 8 bytes, not f8"),
    (array(shape=(3,)), ValueError, "buffers has 3 elements, and must have 4"),
    (array(strides=(16,)), BufferError, "buffers is not C-contiguous"),
    (array(shape=(2, 2), strides=(8, 16)), BufferError, "buffers is not C-contiguous"),
    (array(data=(ADDRESS, True)), ValueError, "buffers is read-only"),
    (Producer(bits=32), ValueError, "buffers must have integers of 8 bytes, not u4"),
    (Producer(device_type=1), ValueError, "buffers is not in a GPU's memory: its device is of DLPack's kind 1"),
    (Producer(shape=(4,), strides=(2,)), BufferError, "buffers is not C-contiguous"),
    (bytes(64), TypeError, "not bytes"),
]


@pytest.mark.parametrize(("wrong", "kind", "sentence"), WRONG)
def test_another_array_is_refused_by_its_name(wrong: object, kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind, match=sentence):
        address_of("buffers", wrong, 8, 4, is_written=True)


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
