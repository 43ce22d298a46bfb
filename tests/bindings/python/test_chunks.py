"""All functions give the chunks of the command, for every kind of input."""

import array
import errno
import hashlib
import io
import json
import os
import signal
import socket
import threading

import cutpoint
import numpy as np
import pytest
from blake3 import blake3
from cutpoint import Chunk
from hypothesis import given
from hypothesis import strategies as st

NAMES = [*cutpoint.algorithms(), *cutpoint.profiles()]
SMALL = {"min_bytes": 64, "avg_bytes": 256, "max_bytes": 1024}


def rows_of(arrays: cutpoint.ChunkArrays) -> list[Chunk]:
    return [
        Chunk(*row)
        for row in zip(arrays.offsets.tolist(), arrays.lengths.tolist(), map(bytes, arrays.digests), strict=True)
    ]


def streamed(blocks, *how, **options) -> list[Chunk]:
    with cutpoint.Chunker(*how, **options) as chunker:
        return [chunk for block in blocks for chunk in chunker.write(block)] + chunker.finish()


@pytest.mark.parametrize("name", NAMES)
def test_all_forms_give_the_chunks_of_the_command(name, data, file_of, command):
    path = file_of(data)
    listed = [
        json.loads(line)
        for line in command("chunk", "--cuts", cutpoint.canonical(name), "--format", "jsonl", path).splitlines()
    ]
    assert listed[0]["cuts"] == cutpoint.canonical(name)
    expected = [
        Chunk(row["offset"], row["length"], bytes.fromhex(row["digest"])) for row in listed[1:] if "length" in row
    ]
    assert sum(chunk.length for chunk in expected) == len(data)
    assert list(cutpoint.chunk(data, name)) == expected
    assert list(cutpoint.chunk(path, name)) == expected
    assert rows_of(cutpoint.chunk_arrays(data, name)) == expected
    assert rows_of(cutpoint.chunk_arrays(os.fspath(path), name)) == expected
    assert streamed((data[at : at + 77_777] for at in range(0, len(data), 77_777)), name) == expected


@given(
    content=st.binary(max_size=20_000) | st.integers(0, 40_000).map(bytes),
    name=st.sampled_from(["fastcdc", "gear", "ae-max", "seqcdc-inc", "ram"]),
    sizes=st.lists(st.integers(0, 9000), max_size=12),
    fingerprint=st.sampled_from(cutpoint.fingerprints()),
    threads=st.integers(1, 3),
)
def test_pieces_threads_and_forms_change_nothing(content, name, sizes, fingerprint, threads):
    how = {"fingerprint": fingerprint, "threads": threads}
    expected = list(cutpoint.chunk(content, name, fingerprint=fingerprint, threads=1, backend="scalar"))
    assert [chunk.offset for chunk in expected] == [sum(c.length for c in expected[:i]) for i in range(len(expected))]
    assert sum(chunk.length for chunk in expected) == len(content)
    blocks, at = [], 0
    for size in sizes:
        blocks.append(content[at : at + size])
        at += size
    assert streamed([*blocks, content[at:]], name, **how) == expected
    assert rows_of(cutpoint.chunk_arrays(content, name, **how)) == expected
    assert list(cutpoint.chunk(content, name, **how)) == expected


def test_digests_are_those_of_the_bytes(data):
    chunks = list(cutpoint.chunk(data))
    assert all(hashlib.sha256(data[c.offset : c.offset + c.length]).digest() == c.digest for c in chunks)
    assert {c.digest for c in cutpoint.chunk(data, fingerprint="none")} == {b""}
    key = bytes(range(32))
    for c in cutpoint.chunk(data, fingerprint="blake3", fingerprint_key=key):
        assert blake3(data[c.offset : c.offset + c.length], key=key).digest() == c.digest


def test_arrays_have_their_types_and_own_their_memory(data):
    arrays = cutpoint.chunk_arrays(bytearray(data), fingerprint="sha1")
    count = len(arrays.offsets)
    assert (arrays.offsets.dtype, arrays.lengths.dtype, arrays.digests.dtype) == (np.uint64, np.uint64, np.uint8)
    assert (arrays.offsets.shape, arrays.lengths.shape, arrays.digests.shape) == ((count,), (count,), (count, 20))
    offsets = arrays.offsets
    copy = offsets.copy()
    del arrays
    assert (offsets == copy).all()
    offsets[0] = 7  # the caller may write to them
    assert cutpoint.chunk_arrays(data, fingerprint="none").digests.shape == (count, 0)


@pytest.mark.parametrize(
    "buffer",
    [
        bytearray,
        memoryview,
        lambda data: memoryview(data).toreadonly(),
        lambda data: array.array("B", data),
        lambda data: np.frombuffer(data, np.uint8),
        lambda data: np.frombuffer(data, np.float64).reshape(-1, 2),
    ],
)
def test_anything_with_a_buffer(buffer, data):
    data = data[: len(data) // 16 * 16]
    assert list(cutpoint.chunk(buffer(data))) == list(cutpoint.chunk(data))


class Receiving:
    """What is read as a socket is."""

    def __init__(self, data):
        self.data = io.BytesIO(data)

    def recv(self, size):
        return self.data.read(min(size, 60_000))


class ReadingInto:
    def __init__(self, data):
        self.data = io.BytesIO(data)

    def readinto(self, buffer):
        return self.data.readinto(memoryview(buffer)[:60_000])


@pytest.mark.parametrize(
    "stream",
    [
        lambda data, _: io.BytesIO(data),
        lambda _, path: open(path, "rb"),
        lambda _, path: open(path, "rb", buffering=0),
        lambda data, _: [data[:7], bytearray(data[7:70_000]), b"", memoryview(data)[70_000:]],
        lambda data, _: (data[begin : begin + 50_000] for begin in range(0, len(data), 50_000)),
        lambda data, _: iter([np.frombuffer(data, np.uint8)]),
        lambda data, _: Receiving(data),
        lambda data, _: ReadingInto(data),
    ],
)
def test_streams_in_blocks(stream, data, file_of):
    path = file_of(data)
    assert list(cutpoint.chunk(stream(data, path))) == list(cutpoint.chunk(data))
    assert rows_of(cutpoint.chunk_arrays(stream(data, path))) == list(cutpoint.chunk(data))


def test_streams_in_blocks_are_read_from_their_position_as_far_as_chunks_are_asked_for():
    class Zeros(io.RawIOBase):
        reads = 0

        def readinto(self, buffer):
            self.reads += 1
            buffer[:] = bytes(len(buffer))
            return len(buffer)

        def readable(self):
            return True

    endless = Zeros()
    assert next(cutpoint.chunk(endless)).offset == 0
    assert endless.reads < 1000
    file = io.BytesIO(b"header" + bytes(1000))
    file.seek(6)
    assert sum(chunk.length for chunk in cutpoint.chunk(file)) == 1000
    for empty in (io.BytesIO(), [], [b""]):
        assert list(cutpoint.chunk(empty)) == []
        assert cutpoint.chunk_arrays(empty).digests.shape == (0, 32)


@pytest.mark.parametrize("buffering", [0, -1])
@pytest.mark.parametrize("call", [lambda file: list(cutpoint.chunk(file)), cutpoint.chunk_arrays])
def test_a_file_object_that_would_block_has_not_ended(call, buffering):
    """An empty pipe, a pipe with some bytes, and a socket say that they have no more for now, and are no whole streams."""
    for content in b"", b"some":
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        os.write(writer, content)
        with open(reader, "rb", buffering) as file, pytest.raises(BlockingIOError, match="has not ended") as caught:
            call(file)
        assert caught.value.errno == errno.EAGAIN
        os.close(writer)
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours, theirs, ours.makefile("rb", None if buffering else 0) as file:
        theirs.sendall(b"some")
        with pytest.raises(BlockingIOError, match="has not ended"):
            call(file)
        theirs.sendall(b"the rest")
        theirs.shutdown(socket.SHUT_WR)
        assert sum(each.length for each in cutpoint.chunk(file)) == len(b"the rest")


def test_a_socket_is_a_stream():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"some bytes")
        theirs.shutdown(socket.SHUT_WR)
        assert [chunk.length for chunk in cutpoint.chunk(ours)] == [10]
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours, theirs, pytest.raises(BlockingIOError):
        list(cutpoint.chunk(ours))


def test_sizes_are_given_as_the_command_takes_them():
    assert cutpoint.canonical("fastcdc", size="2K:8K:64K") == cutpoint.canonical("fastcdc")
    assert cutpoint.canonical("fastcdc", size="16K") == cutpoint.canonical("fastcdc", avg_bytes="16K")
    assert cutpoint.canonical("fastcdc", size=16384) == cutpoint.canonical("fastcdc", avg_bytes="16K")
    sizes = cutpoint.canonical("gear", size="::128K", avg_bytes="16K")
    assert sizes == cutpoint.canonical("gear", avg_bytes="16K", max_bytes="128K")
    with pytest.raises(ValueError, match="size: "):
        cutpoint.chunk(b"", size="1:2:3:4")


def test_many_buffers_in_one_call(data):
    buffers = [data[:1000], b"", data[1000:], bytearray(data), *(data[i : i + 100] for i in range(100))]
    for options in ({}, {"fingerprint": "none"}, {"fingerprint": "sha1", "threads": 1}):
        arrays = cutpoint.chunk_buffers(buffers, "gear", **SMALL, **options)
        assert len(arrays) == len(buffers)
        for each, buffer in zip(arrays, buffers, strict=True):
            alone = cutpoint.chunk_arrays(buffer, "gear", **SMALL, **options)
            assert rows_of(each) == rows_of(alone) and each.digests.shape == alone.digests.shape
    assert cutpoint.chunk_buffers([]) == []
    with pytest.raises(TypeError):
        cutpoint.chunk_buffers([data, "path"])


CONTENT = bytes(range(251)) * 100_000


def test_a_file_whose_mode_is_set_while_it_is_read_is_read_once_more(file_of):
    path = file_of(CONTENT)
    expected = list(cutpoint.chunk(CONTENT))
    chunks = cutpoint.chunk(path, memory_bytes=8 << 20)
    first = next(chunks)
    path.chmod(0o640)
    assert [first, *chunks] == expected
    chunks = cutpoint.chunk(path, memory_bytes=8 << 20, fingerprint="none")
    next(chunks)
    path.chmod(0o600)
    with pytest.raises(OSError, match="its ctime has changed"):  # there is nothing to compare by
        list(chunks)


def test_arrays_of_a_file_whose_mode_is_set_while_it_is_read(file_of):
    """The call takes several times as long as it takes until the signal's handler runs."""
    content = CONTENT[: 1 << 20] * 64
    path = file_of(content)
    before = signal.signal(signal.SIGALRM, lambda *_: path.chmod(0o640))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        arrays = cutpoint.chunk_arrays(path, "rabin", backend="scalar", threads=1, memory_bytes=8 << 20)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert rows_of(arrays) == list(cutpoint.chunk(content, "rabin"))


def test_a_buffer_is_held_while_it_is_cut_and_given_back_then(data):
    content = bytearray(data)
    chunks = cutpoint.chunk(content)
    with pytest.raises(BufferError):
        content.append(0)
    assert list(chunks) == list(cutpoint.chunk(data))
    content.append(0)
    unfinished = cutpoint.chunk(content)
    next(unfinished)
    del unfinished
    content.append(0)
    with cutpoint.Chunker() as chunker:
        chunker.write(content)
        content.append(0)


def test_a_hole_is_not_read_nor_listed_at_once(tmp_path):
    path = tmp_path / "hole"
    with open(path, "wb") as file:
        file.write(b"begin")
        file.truncate(1 << 36)
    chunks = cutpoint.chunk(path, "fastcdc", max_bytes="64K")
    first = [next(chunks) for _ in range(10)]
    assert first[-1].length == 1 << 16 and first[-1].offset == sum(c.length for c in first[:-1])
    assert first[-1].digest == hashlib.sha256(bytes(1 << 16)).digest()
    arrays = cutpoint.chunk_arrays(path, "fixed", avg_bytes="1M", fingerprint="md5")
    assert int(arrays.lengths.sum()) == 1 << 36


def test_a_pipe(data, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(data,))
    writer.start()
    chunks = list(cutpoint.chunk(path))
    writer.join()
    assert chunks == list(cutpoint.chunk(data))


def test_a_secret_key_decides_and_is_not_shown(data):
    key = bytes(range(32))
    how = {"min_exp": 8, "mask_bits": 10, "max_exp": 14, "key": key}
    text = cutpoint.canonical("toeplitz128-aes", **how)
    assert key.hex() not in text
    assert list(cutpoint.chunk(data, text, key=key)) == list(cutpoint.chunk(data, "toeplitz128-aes", **how))
    for wrong in ({}, {"key": key[::-1]}, {"key": key[1:]}):
        with pytest.raises(ValueError, match="key"):
            cutpoint.chunk(data, text, **wrong)


def test_names():
    assert "fastcdc" in cutpoint.algorithms() and "restic" in cutpoint.profiles()
    assert cutpoint.fingerprints()[0] == "none" and "scalar" in cutpoint.backends()
    text = cutpoint.canonical("gear", avg_bytes=np.int64(4096))
    assert text == cutpoint.canonical("gear(avg_bytes=4K)") == cutpoint.canonical(text)
    key = bytes(range(32))
    if "borg2-fastcdc" in cutpoint.profiles():
        assert key.hex() in cutpoint.canonical("borg2-fastcdc", key=key)
