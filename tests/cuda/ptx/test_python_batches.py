"""Batches through Python on the interpreted device, with arrays that stand for those of CuPy and of JAX. The module that is imported has
the functions of that device, by which these tests have memory there."""

import ctypes
import hashlib
import random
import threading
import unittest

import cutpoint
from cutpoint import _core

RUNTIME = ctypes.CDLL(_core.__file__)
TO_DEVICE, TO_HOST = 1, 2  # cudaMemcpyKind
UNSIGNED = 1  # kDLUInt of DLPack
RUNTIME.cudaGetErrorString.restype = ctypes.c_char_p


def checked(outcome: int) -> None:
    if outcome != 0:
        raise RuntimeError(RUNTIME.cudaGetErrorString(outcome).decode())


class DeviceArray:
    """Memory of the device with integers, and the interface that CuPy, Numba and PyTorch have."""

    def __init__(self, item_bytes: int, count: int, content: bytes = b"") -> None:
        self.item_bytes, self.count = item_bytes, count
        self.address = ctypes.c_void_p()
        readable = (item_bytes * count + 31) // 16 * 16  # to the multiple of 16 after the last byte
        checked(RUNTIME.cudaMalloc(ctypes.byref(self.address), ctypes.c_size_t(readable)))
        checked(RUNTIME.cudaMemcpy(self.address, content, ctypes.c_size_t(len(content)), TO_DEVICE))

    @classmethod
    def of(cls, item_bytes: int, numbers: list[int]) -> "DeviceArray":
        return cls(item_bytes, len(numbers), b"".join(n.to_bytes(item_bytes, "little") for n in numbers))

    def bytes(self) -> bytes:
        copy = ctypes.create_string_buffer(self.item_bytes * self.count)
        checked(RUNTIME.cudaMemcpy(copy, self.address, ctypes.c_size_t(len(copy)), TO_HOST))
        return copy.raw

    def numbers(self) -> list[int]:
        copy = self.bytes()
        return [int.from_bytes(copy[i : i + self.item_bytes], "little") for i in range(0, len(copy), self.item_bytes)]

    def free(self) -> None:
        checked(RUNTIME.cudaFree(self.address))

    @property
    def __cuda_array_interface__(self) -> dict:
        facts = {"shape": (self.count,), "typestr": f"<u{self.item_bytes}", "data": (self.address.value, False)}
        return {**facts, "strides": None, "version": 3}


class DLPackArray:
    """The same with DLPack alone, as JAX has it."""

    def __init__(self, array: DeviceArray) -> None:
        from cutpoint._device_arrays import _DLManagedTensor, _DLTensor

        self.shape = (ctypes.c_int64 * 1)(array.count)
        tensor = _DLTensor(array.address.value, 2, 0, 1, UNSIGNED, 8 * array.item_bytes, 1, self.shape, None, 0)
        self.content = _DLManagedTensor(tensor)  # without a deleter: the memory is freed by its owner

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.content.tensor.device_type, 0

    def __dlpack__(self, *, stream: int) -> object:
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(self.content), b"dltensor", None)


class StreamedArray:
    """Names the stream that makes it, as version 3 of the interface does."""

    def __init__(self, array: DeviceArray, stream: int) -> None:
        self.array, self.stream = array, stream

    @property
    def __cuda_array_interface__(self) -> dict:
        return {**self.array.__cuda_array_interface__, "stream": self.stream}


class OrderingArray(DLPackArray):
    """Makes the consumer's stream wait for a stream, as CuPy and PyTorch do, which would spoil a capture."""

    def __init__(self, array: DeviceArray, stream: int) -> None:
        super().__init__(array)
        self.stream = stream

    def __dlpack__(self, *, stream: int) -> object:
        if stream != -1:
            event = ctypes.c_void_p()
            checked(RUNTIME.cudaEventCreate(ctypes.byref(event)))
            checked(RUNTIME.cudaEventRecord(event, ctypes.c_void_p(self.stream)))
            checked(RUNTIME.cudaStreamWaitEvent(ctypes.c_void_p(stream), event, ctypes.c_uint(0)))
            checked(RUNTIME.cudaEventDestroy(event))
        return super().__dlpack__(stream=stream)


class Batches(unittest.TestCase):
    def device(self, *words: object) -> DeviceArray:
        array = DeviceArray(*words)
        self.addCleanup(array.free)
        return array

    def device_of(self, item_bytes: int, numbers: list[int]) -> DeviceArray:
        array = DeviceArray.of(item_bytes, numbers)
        self.addCleanup(array.free)
        return array

    def stream(self) -> int:
        handle = ctypes.c_void_p()
        checked(RUNTIME.cudaStreamCreateWithFlags(ctypes.byref(handle), ctypes.c_uint(1)))
        self.addCleanup(lambda: checked(RUNTIME.cudaStreamDestroy(handle)))
        return handle.value

    def run_batch(self, cuts: str, fingerprint: str, buffers: list[bytes], by_dlpack: bool = False) -> tuple:
        """The chunks of each buffer as pairs of offset and length, and the digests of all."""
        chunker = cutpoint.DeviceChunker(cuts, fingerprint=fingerprint)
        bounds = cutpoint.DeviceBounds(max_buffers=len(buffers), max_total_bytes=max(1, sum(map(len, buffers))))
        sizes = chunker.sizes(bounds)
        places = [self.device(1, len(each), each) for each in buffers]
        as_argument = DLPackArray if by_dlpack else lambda array: array
        first_chunks, problem = self.device(4, len(buffers) + 1), self.device(4, 1)
        offsets, lengths = self.device(8, sizes.max_chunks), self.device(4, sizes.max_chunks)
        digests = self.device(1, sizes.max_chunks * sizes.digest_bytes) if sizes.digest_bytes else None
        stream = self.stream()
        chunker.enqueue(
            bounds,
            buffers=as_argument(self.device_of(8, [place.address.value for place in places])),
            byte_counts=as_argument(self.device_of(8, [len(each) for each in buffers])),
            first_chunks=as_argument(first_chunks),
            offsets=as_argument(offsets),
            lengths=as_argument(lengths),
            digests=digests,
            problem=problem,
            workspace=self.device(1, sizes.workspace_bytes),
            stream=stream,
        )
        checked(RUNTIME.cudaStreamSynchronize(ctypes.c_void_p(stream)))
        chunker.check(problem.numbers()[0], bounds)
        firsts, begins, counts = first_chunks.numbers(), offsets.numbers(), lengths.numbers()
        chunks = [list(zip(begins[a:b], counts[a:b], strict=True)) for a, b in zip(firsts, firsts[1:], strict=False)]
        return chunks, digests, firsts[-1]

    def test_chunks_and_digests_are_those_of_the_processor(self) -> None:
        rng = random.Random(1)
        buffers = [rng.randbytes(size) for size in (30_000, 17, 0, 5_000, 1)]
        cases = [("fastcdc(avg_bytes=1K)", "sha256"), ("seqcdc(avg_bytes=4K)", "sha1"), ("rabin(avg_bytes=1K)", "blake3"), ("gear(avg_bytes=1K)", "none")]
        for number, (cuts, fingerprint) in enumerate(cases):
            with self.subTest(cuts, fingerprint=fingerprint):
                chunks, digests, count = self.run_batch(cuts, fingerprint, buffers, by_dlpack=number % 2 == 1)
                expected = [list(cutpoint.chunk(each, cuts, fingerprint=fingerprint)) for each in buffers]
                self.assertEqual(chunks, [[(c.offset, c.length) for c in each] for each in expected])
                wanted = [c.digest for each in expected for c in each]
                self.assertEqual(count, len(wanted))
                if fingerprint != "none":
                    self.assertEqual(digests.bytes()[: count * len(wanted[0])], b"".join(wanted))

    def test_arrays_of_another_stream_are_waited_for_unless_a_graph_is_captured(self) -> None:
        content = random.Random(3).randbytes(9_000)
        chunker = cutpoint.DeviceChunker("fastcdc(avg_bytes=1K)", fingerprint="none")
        bounds = cutpoint.DeviceBounds(max_buffers=1, max_total_bytes=len(content))
        sizes = chunker.sizes(bounds)
        expected = [(each.offset, each.length) for each in cutpoint.chunk(content, "fastcdc(avg_bytes=1K)", fingerprint="none")]
        for kind in StreamedArray, OrderingArray:
            for captures in False, True:
                with self.subTest(kind.__name__, captures=captures):
                    stream, other = self.stream(), self.stream()
                    place = self.device(1, len(content), content)
                    offsets, lengths = self.device(8, sizes.max_chunks), self.device(4, sizes.max_chunks)
                    first_chunks, problem = self.device(4, 2), self.device(4, 1)
                    words = {
                        "buffers": kind(self.device_of(8, [place.address.value]), other),
                        "byte_counts": kind(self.device_of(8, [len(content)]), other),
                        "workspace": self.device(1, sizes.workspace_bytes),
                    }
                    results = {"first_chunks": first_chunks, "offsets": offsets, "lengths": lengths, "problem": problem}
                    graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
                    if captures:
                        checked(RUNTIME.cudaStreamBeginCapture(ctypes.c_void_p(stream), ctypes.c_int(0)))
                    chunker.enqueue(bounds, **words, **results, stream=stream)
                    if captures:
                        checked(RUNTIME.cudaStreamEndCapture(ctypes.c_void_p(stream), ctypes.byref(graph)))
                        checked(RUNTIME.cudaGraphInstantiate(ctypes.byref(executable), graph, ctypes.c_ulonglong(0)))
                        checked(RUNTIME.cudaGraphLaunch(executable, ctypes.c_void_p(stream)))
                    checked(RUNTIME.cudaStreamSynchronize(ctypes.c_void_p(stream)))
                    chunker.check(problem.numbers()[0], bounds)
                    count = first_chunks.numbers()[1]
                    self.assertEqual(list(zip(offsets.numbers()[:count], lengths.numbers()[:count], strict=True)), expected)

    def test_a_batch_beyond_its_bounds_is_refused(self) -> None:
        chunker = cutpoint.DeviceChunker("fastcdc(avg_bytes=1K)", fingerprint="none")
        bounds = cutpoint.DeviceBounds(max_buffers=1, max_total_bytes=1_000)
        sizes = chunker.sizes(bounds)
        problem, workspace = self.device(4, 1), self.device(1, sizes.workspace_bytes)
        words = {
            "buffers": self.device_of(8, [self.device(1, 2_000).address.value]),
            "byte_counts": self.device_of(8, [2_000]),
            "first_chunks": self.device(4, 2),
            "lengths": self.device(4, sizes.max_chunks),
            "problem": problem,
        }
        chunker.enqueue(bounds, **words, workspace=workspace)
        with self.assertRaisesRegex(ValueError, "1000"):
            chunker.check(problem.numbers()[0], bounds)
        with self.assertRaisesRegex(ValueError, "workspace has"):
            chunker.enqueue(bounds, **words, workspace=self.device(1, sizes.workspace_bytes - 1))

    def test_threads_share_a_chunker(self) -> None:
        content = random.Random(2).randbytes(20_000)
        results: list = []
        threads = [threading.Thread(target=lambda: results.append(self.run_batch("fastcdc(avg_bytes=1K)", "none", [content])[0])) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        expected = [[(c.offset, c.length) for c in cutpoint.chunk(content, "fastcdc(avg_bytes=1K)", fingerprint="none")]]
        self.assertEqual(results, [expected] * 4)

    def test_new_chunks_are_told_apart(self) -> None:
        names = [b"a", b"b", b"a", b"c"], [b"c", b"d", b"d", b"a"]
        for by_dlpack in False, True:
            stream = self.stream()
            known = cutpoint.DeviceDedup(32, stream=stream)
            for batch, expected in zip(names, ([0, 1, 3], [1]), strict=True):
                content = b"".join(hashlib.sha256(name).digest() for name in batch)
                digests, new_chunks = self.device(1, len(content), content), self.device(4, len(batch))
                arguments = (DLPackArray(digests), len(batch), DLPackArray(new_chunks)) if by_dlpack else (digests, len(batch), new_chunks)
                self.assertEqual(known.insert(*arguments), len(expected))
                self.assertEqual(new_chunks.numbers()[: len(expected)], expected)
            self.assertEqual(len(known), 4)
            self.assertEqual(known.insert(digests, 0, new_chunks), 0)
            with self.assertRaisesRegex(ValueError, "digests has 128 elements, and must have 160"):
                known.insert(digests, 5, new_chunks)
            with self.assertRaisesRegex(ValueError, "new_chunks has 4 elements, and must have 5"):
                known.insert(self.device(1, 160), 5, new_chunks)
            del known  # its memory goes in the order of the stream
            checked(RUNTIME.cudaStreamSynchronize(ctypes.c_void_p(stream)))


if __name__ == "__main__":
    unittest.main()
