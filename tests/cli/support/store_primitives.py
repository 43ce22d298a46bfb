"""What a reader of stores needs and Python lacks: BLAKE3, and by the libraries that the command uses, XXH3, AES-GCM and zstd."""

import ctypes
import ctypes.util
import functools
import hashlib
import hmac
from array import array

# --- BLAKE3 ---------------------------------------------------------------------------------------------------------------------
# A number holds one 32-bit word of many chunks, each in a lane of 64 bits, so that Python's long arithmetic compresses them all.

INITIAL = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
CHUNK_START, CHUNK_END, PARENT, ROOT, KEYED = 1, 2, 4, 8, 16
COLUMNS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
DIAGONALS = ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))


def pack(words) -> int:
    return int.from_bytes(array("Q", words).tobytes(), "little")


def unpack(lanes: int, count: int) -> array:
    return array("Q", lanes.to_bytes(8 * count, "little"))


def compress(chaining: list, message: list, counters: int, size: int, flags: int, count: int) -> list:
    ones = pack([1] * count)
    low = 0xFFFFFFFF * ones

    def rotate(lanes: int, bits: int) -> int:
        return ((lanes | lanes << 32) >> bits) & low

    state = [*chaining, *(word * ones for word in INITIAL[:4]), counters, 0, size * ones, flags * ones]
    for _ in range(7):
        for index, (a, b, c, d) in enumerate(COLUMNS + DIAGONALS):
            for word, right, left in ((message[2 * index], 16, 12), (message[2 * index + 1], 8, 7)):
                state[a] = (state[a] + state[b] + word) & low
                state[d] = rotate(state[d] ^ state[a], right)
                state[c] = (state[c] + state[d]) & low
                state[b] = rotate(state[b] ^ state[c], left)
        message = [message[index] for index in PERMUTATION]
    return [state[index] ^ state[index + 8] for index in range(8)]


def chain_chunks(data: bytes, first: int, key: tuple, flags: int, is_root: bool) -> list:
    """The chaining values of chunks of equal lengths: of many whole ones, or of one that is shorter."""
    count = max(1, len(data) // 1024)
    size = len(data) // count
    words = memoryview(data.ljust(-(-max(1, len(data)) // 64) * 64, b"\0")).cast("I")
    stride = len(words) // count
    chaining = [word * pack([1] * count) for word in key]
    for at in range(0, stride, 16):
        message = [pack(words[at + index :: stride]) for index in range(16)]
        last = at + 16 == stride
        state = flags | CHUNK_START * (at == 0) | CHUNK_END * last | ROOT * (last and is_root)
        chaining = compress(chaining, message, pack(range(first, first + count)), min(64, size - 4 * at), state, count)
    return [unpack(word, count) for word in chaining]


BY_SHA256: dict[tuple[bytes, bytes | None], bytes] = {}


def blake3(data: bytes, key: bytes | None = None) -> bytes:
    """The digest, remembered by that of SHA-256, which is far faster here: tests read the same objects again and again."""
    named = (hashlib.sha256(data).digest(), key)
    if named not in BY_SHA256:
        BY_SHA256[named] = blake3_anew(data, key)
    return BY_SHA256[named]


def blake3_anew(data: bytes, key: bytes | None) -> bytes:
    words = INITIAL if key is None else tuple(memoryview(key).cast("I"))
    flags = 0 if key is None else KEYED
    whole = len(data) // 1024
    chained = [array("Q") for _ in range(8)]
    groups = [(0, data[: 1024 * whole]), (whole, data[1024 * whole :])]
    for first, group in [group for group in groups if group[1]] or [(0, b"")]:
        for values, group_values in zip(chained, chain_chunks(group, first, words, flags, len(data) <= 1024)):
            values.extend(group_values)
    while len(chained[0]) > 1:
        pairs = len(chained[0]) // 2
        message = [pack(values[index : 2 * pairs : 2]) for index in (0, 1) for values in chained]
        root = ROOT if len(chained[0]) == 2 else 0
        start = [word * pack([1] * pairs) for word in words]
        parents = compress(start, message, 0, 64, flags | PARENT | root, pairs)
        chained = [unpack(word, pairs) + values[2 * pairs :] for word, values in zip(parents, chained)]
    return b"".join(values[0].to_bytes(4, "little") for values in chained)


# --- Keys -----------------------------------------------------------------------------------------------------------------------


def hkdf(secret: bytes, salt: bytes, info: bytes) -> bytes:
    """HKDF-SHA256 (RFC 5869) with 32 bytes of output."""
    extracted = hmac.digest(salt, secret, "sha256")
    return hmac.digest(extracted, info + b"\1", "sha256")


@functools.cache
def scrypt(password: bytes, salt: bytes, log_n: int, r: int, p: int) -> bytes:
    return hashlib.scrypt(password, salt=salt, n=1 << log_n, r=r, p=p, maxmem=(1 << 31) - 1, dklen=32)


# --- Libraries ------------------------------------------------------------------------------------------------------------------


def load(name: str) -> ctypes.CDLL:
    return ctypes.CDLL(ctypes.util.find_library(name))


class Words128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


XXHASH = load("xxhash")
XXHASH.XXH3_128bits_withSeed.restype = Words128
XXHASH.XXH3_128bits_withSeed.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]


def xxh3_128(data: bytes, seed: int) -> bytes:
    """XXH3-128 in its canonical form."""
    words = XXHASH.XXH3_128bits_withSeed(data, len(data), seed)
    return words.high.to_bytes(8, "big") + words.low.to_bytes(8, "big")


ZSTD = load("zstd")
for function in ("ZSTD_decompress", "ZSTD_findFrameCompressedSize"):
    getattr(ZSTD, function).restype = ctypes.c_size_t
ZSTD.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
ZSTD.ZSTD_findFrameCompressedSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def decompress(frame: bytes, size: int) -> bytes | None:
    """The content of a frame of zstd, or None unless it is one frame with just as many bytes."""
    if ZSTD.ZSTD_findFrameCompressedSize(frame, len(frame)) != len(frame):
        return None
    content = ctypes.create_string_buffer(size + 1)
    return content.raw[:size] if ZSTD.ZSTD_decompress(content, size + 1, frame, len(frame)) == size else None


CRYPTO = load("crypto")
for function in ("EVP_CIPHER_CTX_new", "EVP_aes_256_gcm"):
    getattr(CRYPTO, function).restype = ctypes.c_void_p
SET_TAG = 0x11  # EVP_CTRL_AEAD_SET_TAG


def open_gcm(key: bytes, nonce: bytes, sealed: bytes, tag: bytes) -> bytes | None:
    """Decrypts AES-256-GCM with a nonce of 12 bytes; None if the tag is wrong."""
    context = ctypes.c_void_p(CRYPTO.EVP_CIPHER_CTX_new())
    plain, size = ctypes.create_string_buffer(len(sealed) + 16), ctypes.c_int()
    try:
        right = (
            CRYPTO.EVP_DecryptInit_ex(context, ctypes.c_void_p(CRYPTO.EVP_aes_256_gcm()), None, key, nonce) == 1
            and CRYPTO.EVP_DecryptUpdate(context, plain, ctypes.byref(size), sealed, len(sealed)) == 1
            and CRYPTO.EVP_CIPHER_CTX_ctrl(context, SET_TAG, 16, tag) == 1
            and CRYPTO.EVP_DecryptFinal_ex(context, None, ctypes.byref(ctypes.c_int())) == 1
        )
        return plain.raw[: len(sealed)] if right else None
    finally:
        CRYPTO.EVP_CIPHER_CTX_free(context)
