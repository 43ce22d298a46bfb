"""What is wrong raises the exception that a program would look for, with one sentence, and leaves everything usable."""

import os
import random
import re
import sys

import cutpoint
import numpy as np
import pytest

DATA = random.Random(2).randbytes(300_000)

WRONG = [
    ((b"", "fastcd"), {}, ValueError, "no algorithm or profile 'fastcd', did you mean 'fastcdc'?"),
    ((b"", "fastcdc"), {"avg_bytes": 3}, ValueError, "fastcdc: avg_bytes = 3 must be at least 256"),
    ((b"", "fastcdc"), {"average": 3}, ValueError, "'average'"),
    ((b"", "fastcdc(avg_bytes=8K)"), {"avg_bytes": 9}, ValueError, "names its parameters"),
    ((b"", "fastcdc(avg_bytes"), {}, ValueError, "fastcdc"),
    ((b"",), {"fingerprint": "sha257"}, ValueError, "did you mean 'sha256'"),
    ((b"",), {"backend": "avx9"}, ValueError, "avx9"),
    ((b"",), {"threads": 0}, ValueError, "threads = 0 must be from 1 to 4096"),
    ((b"",), {"threads": -1}, ValueError, "threads = -1 must be from 1 to 4096"),
    ((b"",), {"threads": 1 << 70}, ValueError, "must be from 1 to 4096"),
    ((b"",), {"memory_bytes": -5}, ValueError, "memory_bytes = -5"),
    ((b"",), {"memory_bytes": 1000}, MemoryError, "depends on 65536 bytes, more than the memory allowed, 1000"),
    ((b"",), {"fingerprint_key": bytes(32)}, ValueError, "only blake3"),
    ((b"",), {"fingerprint": "blake3", "fingerprint_key": b"short"}, ValueError, "5 bytes, and must have 32"),
    ((b"",), {"fingerprint_key": "text"}, TypeError, "fingerprint_key must be bytes, not str"),
    ((b"",), {"avg_bytes": 8192.0}, TypeError, "avg_bytes must be a number, str or bytes, not float"),
    ((b"",), {"avg_bytes": True}, TypeError, "not bool"),
    ((b"", None), {}, TypeError, "cuts must be str, not NoneType"),
    ((5,), {}, TypeError, "not int"),
    ((None,), {}, TypeError, "the stream must be a path, an object with a buffer, a file object, a socket, or an iterable of buffers, not NoneType"),
    ((np.array([b"1", None]),), {}, TypeError, "an array of objects has no bytes of its own"),
    ((np.zeros(3, [("Offset", "u8"), ("owner", "O")]),), {}, TypeError, "an array of objects has no bytes of its own"),
    ((memoryview(b"12345678")[::2],), {}, BufferError, "not C-contiguous"),
    ((np.zeros((8, 8))[:, ::2],), {}, BufferError, "not C-contiguous"),
    (("a\0b",), {}, ValueError, "null"),
]


@pytest.mark.parametrize(("arguments", "options", "kind", "sentence"), WRONG)
@pytest.mark.parametrize("call", [cutpoint.chunk, cutpoint.chunk_arrays])
def test_wrong_use(call, arguments, options, kind, sentence):
    with pytest.raises(kind, match=re.escape(sentence)) as caught:
        call(*arguments, **options)
    assert "\n" not in str(caught.value)


def test_what_has_no_effect_warns():
    with pytest.warns(UserWarning, match="min_bytes: 5 is ignored") as caught:
        cutpoint.chunk(b"", "ae-max", min_bytes=5)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("call", [cutpoint.chunk, cutpoint.chunk_arrays])
def test_files_that_cannot_be_read(call, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        call(tmp_path / "missing")
    assert caught.value.filename == str(tmp_path / "missing")
    assert str(caught.value).count("missing") == 1
    with pytest.raises(IsADirectoryError):
        call(tmp_path)
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\n")
    with pytest.raises(FileNotFoundError) as caught:
        call(odd)
    assert caught.value.filename == odd


def test_a_file_that_changes_gives_its_chunks_and_then_raises(file_of):
    path = file_of(DATA * 200)  # more than is read ahead
    chunks = cutpoint.chunk(path, memory_bytes=32 << 20, fingerprint="none")
    first = next(chunks)
    assert first.offset == 0
    path.write_bytes(DATA)
    with pytest.raises(OSError, match="while it was read") as caught:
        for last in chunks:
            first = last
    assert first.offset > 0 and str(caught.value).startswith(f"{path}: ")
    with pytest.raises(StopIteration):
        next(chunks)


def test_a_chunk_that_outgrows_the_memory():
    """Those before it come first, but from the arrays, which are whole or not there."""
    how = {"min_bytes": "2K", "avg_bytes": "8K", "max_bytes": 0, "memory_bytes": 1 << 20}
    content = DATA + bytes(2 << 20)
    outgrown = "the chunk at offset [0-9]+ outgrows the memory allowed, 1M"
    with pytest.raises(MemoryError, match=outgrown):
        cutpoint.chunk_arrays(content, "rabin", **how)
    expected = [chunk for chunk in cutpoint.chunk(content, "rabin", **how | {"memory_bytes": 1 << 28})][:-1]
    chunks, read = cutpoint.chunk(content, "rabin", **how), []
    with pytest.raises(MemoryError, match=outgrown):
        for chunk in chunks:
            read.append(chunk)
    assert len(read) > 3 and read == expected
    chunker = cutpoint.Chunker("rabin", **how)
    with pytest.raises(MemoryError, match=outgrown):
        chunker.write(content)
    with pytest.raises(ValueError, match="has ended"):
        chunker.finish()


def test_a_chunker_says_when_it_has_ended():
    chunker = cutpoint.Chunker()
    assert sum(c.length for c in chunker.write(DATA) + chunker.finish()) == len(DATA)
    for call in (lambda: chunker.write(b"more"), chunker.finish):
        with pytest.raises(ValueError, match="has ended"):
            call()
    chunker.close()
    with cutpoint.Chunker() as closed:
        closed.write(DATA)
    with pytest.raises(ValueError, match="has ended"):
        closed.write(DATA)
    refused = cutpoint.Chunker()
    with pytest.raises(TypeError, match="not str"):
        refused.write("text")
    with pytest.raises(BufferError):
        refused.write(memoryview(DATA)[::3])
    assert sum(c.length for c in refused.write(DATA) + refused.finish()) == len(DATA)


def test_errors_of_the_library_have_a_base():
    assert issubclass(cutpoint.CutpointError, RuntimeError)
    assert cutpoint.CutpointError.__module__ == "cutpoint"


def test_fields_whose_names_have_capitals_are_bytes():
    array = np.zeros(1000, [("Offset", "u8"), ("Owner", "u4")])
    assert sum(c.length for c in cutpoint.chunk(array)) == array.nbytes


def test_arrays_need_numpy(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(ModuleNotFoundError, match="need NumPy"):
        cutpoint.chunk_arrays(b"")
