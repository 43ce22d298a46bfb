"""The interface for C by ctypes: as much as gives the chunks of bytes in memory."""

import ctypes


class Options(ctypes.Structure):
    _fields_ = [
        ("struct_bytes", ctypes.c_uint64),
        ("cuts", ctypes.c_char_p),
        ("fingerprint", ctypes.c_char_p),
        ("key", ctypes.c_char_p),
        ("back_end", ctypes.c_char_p),
        ("memory_bytes", ctypes.c_uint64),
        ("segment_bytes", ctypes.c_uint64),
        ("devices", ctypes.c_void_p),
        ("device_count", ctypes.c_uint64),
        ("device_memory_bytes", ctypes.c_uint64),
        ("waiting_chunks", ctypes.c_uint64),
    ]


class Chunk(ctypes.Structure):
    _fields_ = [
        ("stream", ctypes.c_uint64),
        ("offset", ctypes.c_uint64),
        ("length", ctypes.c_uint64),
        ("count", ctypes.c_uint64),
        ("digest_bytes", ctypes.c_uint64),
        ("digest", ctypes.c_uint8 * 32),
    ]


class Library:
    def __init__(self, path: str):
        self.calls = ctypes.CDLL(path)
        self.engine = ctypes.c_void_p()
        assert self.calls.cutpoint_engine_create(None, ctypes.byref(self.engine), None) == 0

    def chunks(self, data: bytes, cuts: str) -> list[tuple[int, int, bytes]]:
        options = Options(struct_bytes=ctypes.sizeof(Options), cuts=cuts.encode())
        count = ctypes.c_size_t()
        room = (Chunk * len(data))() if len(data) < 1000 else (Chunk * (len(data) // 64))()
        status = self.calls.cutpoint_chunk_buffer(
            self.engine,
            ctypes.byref(options),
            data,
            ctypes.c_size_t(len(data)),
            room,
            ctypes.c_size_t(len(room)),
            ctypes.byref(count),
            None,
        )
        assert status == 0
        return [(c.offset, c.length, bytes(c.digest[: c.digest_bytes])) for c in room[: count.value]]
