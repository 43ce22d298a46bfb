"""Makes the golden files of the store's format, from docs/formats/store.md and without Cutpoint's code.

    make_goldens.py FOLDER     needs the packages xxhash, blake3 and cryptography

When the format is released, they are made for the last time: every later version must read them.
"""

import hashlib
import json
import pathlib
import struct
import sys

import blake3
import xxhash
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

KEY = bytes(range(32))
CHECKSUMS, ENCRYPTION = 0, 1
CONTAINER, SHARD = 2, 3
CHUNK, NODE, PADDING = 1, 2, 3
MASK = 2**64 - 1


def header(kind: int, seal: int, salt: bytes) -> bytes:
    fields = b"CUTPOINT" + struct.pack("<IHH", kind, 3, seal) + salt
    return fields + xxhash.xxh3_128_digest(fields, 0)


def sealed(seal: int, salt: bytes, content: int, position: int, data: bytes, place: str = "containers", identity: bytes = bytes(32)) -> bytes:
    """The sealed bytes and their tag."""
    if seal == CHECKSUMS:
        return data + xxhash.xxh3_128_digest(data, (position * 256 + content) & MASK)
    key = HKDF(hashes.SHA256(), 32, salt, b"cutpoint store object" + identity + place.encode()).derive(KEY)
    return AESGCM(key).encrypt(struct.pack("<IQ", content, position), data, None)


def description(word: int, kind: int, codec: int, raw: int, payload: bytes, digest: bytes) -> bytes:
    fields = struct.pack("<IBBBBII", word, kind, codec, len(digest), 0, raw, len(payload))
    return fields + digest.ljust(32, b"\0")


def padme(length: int) -> int:
    exponent = length.bit_length() - 1
    step = max(2 ** max(exponent - exponent.bit_length(), 0), 16)
    return -(-length // step) * step


def round16(length: int) -> int:
    return -(-length // 16) * 16


def container(seal: int, salt: bytes, records: list[tuple[int, int, int, bytes, bytes]], identity: bytes = bytes(32)) -> bytes:
    """`records` have kind, codec, raw length, payload and digest; chunks first."""
    if seal == ENCRYPTION:
        least = 64 + sum(80 + round16(len(payload)) for *_, payload, _ in records) + 80 + 48 * (len(records) + 1) + 16 + 64 + 64
        zeros = bytes(padme(least) - least)
        records = [*records, (PADDING, 0, len(zeros), zeros, b"")]
    out = header(CONTAINER, seal, salt)
    trailer = b""
    metadata = None
    for kind, codec, raw, payload, digest in records:
        if kind != CHUNK and metadata is None:
            metadata = len(out)
        at = len(out)
        out += sealed(seal, salt, 1, at, description(0x44524350, kind, codec, raw, payload, digest), identity=identity)
        out += sealed(seal, salt, 2, at, payload.ljust(round16(len(payload)), b"\0"), identity=identity)
        trailer += description(at // 16, kind, codec, raw, payload, digest)
    trailer_at = len(out)
    metadata = trailer_at if metadata is None else metadata
    out += sealed(seal, salt, 3, trailer_at, trailer, identity=identity)
    total = len(out) + 128
    out += sealed(seal, salt, 4, len(out), struct.pack("<IIQQQ", 0x4C544350, len(records), metadata, trailer_at, total) + bytes(16), identity=identity)
    return out + header(CONTAINER, seal, salt)


def mix(word: int) -> int:
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & MASK
    return word ^ (word >> 31)


def fuse_filter(prefixes: list[int], bits: int, segments: int) -> tuple[int, bytes]:
    """The seed and the fingerprints."""
    mask = 2**bits - 1

    def slots(h: int) -> list[int]:
        first = h * (segments << bits) >> 64
        return [first, (first + mask + 1) ^ ((h >> 18) & mask), (first + 2 * (mask + 1)) ^ (h & mask)]

    for seed in range(1, 1000):
        left = [mix((prefix + seed) & MASK) for prefix in prefixes]
        order = []
        while left:  # peel the keys of which a slot is used by no other key
            uses: dict[int, int] = {}
            for h in left:
                for slot in slots(h):
                    uses[slot] = uses.get(slot, 0) + 1
            alone = next(((h, slot) for h in left for slot in slots(h) if uses[slot] == 1), None)
            if alone is None:
                break
            order.append(alone)
            left.remove(alone[0])
        if left:
            continue
        table = bytearray((segments + 2) << bits)
        for h, free in reversed(order):
            table[free] = (h ^ h >> 32) & 255
            for slot in slots(h):
                if slot != free:
                    table[free] ^= table[slot]
        return seed, bytes(table)
    raise ValueError("no seed fits")


def shard(salt: bytes, containers: list[tuple[bytes, bytes, int]], entries: list[tuple[int, int, int]], partition_bits: int) -> bytes:
    out = header(SHARD, CHECKSUMS, salt) + b"".join(
        name + container_salt[:8] + struct.pack("<Q", length) for name, container_salt, length in containers
    )
    directory = b""
    for partition in range(2**partition_bits):
        members = sorted(entry for entry in entries if entry[0] >> (48 - partition_bits) == partition)
        bits, segments, seed, table = 4, 3, 0, b""
        if members:
            seed, table = fuse_filter(sorted({prefix for prefix, _, _ in members}), bits, segments)
        directory += struct.pack("<QIIIIQ", len(out), len(members), bits, segments, 0, seed)
        for prefix, container_index, ordinal in members:
            out += prefix.to_bytes(6, "big") + container_index.to_bytes(3, "little") + ordinal.to_bytes(3, "little")
        out += table
    footer = struct.pack("<IIQIIQ", 0x46534350, partition_bits, len(entries), len(containers), 0, len(out))
    end = directory + footer + xxhash.xxh3_128_digest(out, 1)
    return out + end + xxhash.xxh3_128_digest(end, 2)


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    contents = [b"", b"a", b"The quick brown fox jumps over the lazy dog. " * 3, bytes(range(256)), b"node of a tree" * 2]
    # A zstd frame with one block of type RLE, which any compressor may make: 1,000 times 'z'.
    frame = bytes.fromhex("28b52ffd") + bytes([0x00, 0x58]) + (1000 << 3 | 1 << 1 | 1).to_bytes(3, "little") + b"z"
    records = [(CHUNK, 0, len(each), each, hashlib.sha256(each).digest()) for each in contents[:4]]
    records.append((CHUNK, 1, 1000, frame, hashlib.sha256(b"z" * 1000).digest()))
    records.append((NODE, 0, len(contents[4]), contents[4], hashlib.sha256(contents[4]).digest()))
    expected = {"contents": [each.hex() for each in [*contents[:4], b"z" * 1000, contents[4]]]}
    containers = []
    for name, seal in (("container-checksums", CHECKSUMS), ("container-encrypted", ENCRYPTION)):
        data = container(seal, bytes([7 + seal] * 32), records)
        (folder / f"{name}.bin").write_bytes(data)
        expected[name] = blake3.blake3(data).hexdigest()
        containers.append((bytes(16) + blake3.blake3(data).digest(), bytes([7 + seal] * 32), len(data)))
    order = sorted(containers)
    entries = [
        (int.from_bytes(record[4][:6], "big"), order.index(each), ordinal) for each in containers for ordinal, record in enumerate(records)
    ]
    (folder / "shard.bin").write_bytes(shard(bytes([9] * 32), order, entries, 2))
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
