"""Makes whole stores from docs/formats/store.md and without Cutpoint's code: config, key, container with chunks and nodes, snapshot, log.

    make_golden_store.py FOLDER     needs the packages of make_goldens.py

Encrypted ones have the usual cuts, or those of older stores, whose key lengths of chunks give away.
They have no index, which is derived. When the format is released, they are made for the last time.
"""

import hashlib
import pathlib
import shutil
import struct
import sys

import blake3
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from make_goldens import CHECKSUMS, CHUNK, ENCRYPTION, KEY, NODE, container, header, sealed

import make_goldens

SESSION = bytes(range(16))
IDENTITY = bytes(range(100, 132))
SECRET = b"the content of a key file\n"
FOLDER, FILE, LINK, FIFO = 0, 1, 2, 3
SALT = bytes([11] * 32)
TIME = 1_700_000_000
EXTENSIONS = struct.pack("<HHI", 1, 7, 3) + b"new"  # one of a type that need not be known


def text(value: str) -> bytes:
    return struct.pack("<H", len(value.encode())) + value.encode()


def small(kind: int, seal: int, salt: bytes, body: bytes, place: str) -> bytes:
    return header(kind, seal, salt) + sealed(seal, salt, 5, 64, body, place, IDENTITY)


def digest_of(seal: int, content: bytes) -> bytes:
    if seal == CHECKSUMS:
        return hashlib.sha256(content).digest()
    key = HKDF(hashes.SHA256(), 32, IDENTITY, b"cutpoint store digest").derive(KEY)
    return blake3.blake3(content, key=key).digest()


class Tree:
    """Collects the records of a store."""

    def __init__(self, seal: int):
        self.seal = seal
        self.chunks: list[tuple] = []
        self.nodes: list[tuple] = []

    def chunk(self, content: bytes) -> bytes:
        """Stores a chunk and returns a reference to it."""
        digest = digest_of(self.seal, content)
        self.chunks.append((CHUNK, 0, len(content), content, digest))
        return digest + struct.pack("<I", len(content))

    def node(self, kind: int, elements: list[bytes], references: int) -> bytes:
        """Stores a node of level 0 and returns a reference to it. All records are in the one container."""
        length = 16 + sum(len(each) for each in elements)
        content = struct.pack("<IBBHII", 0x444E4350, kind, 0, 0, length, len(elements)) + b"".join(elements)
        hints = struct.pack("<IIQ", 1, references, int.from_bytes(SALT[:8], "little")) if references else struct.pack("<I", 0)
        digest = digest_of(self.seal, content)
        self.nodes.append((NODE, 0, len(content) + len(hints), content + hints, digest))
        return digest + struct.pack("<I", len(content))


def entry(name: str, kind: int, mode: int, size: int = 0, content: bytes = b"\0", target: str = "", inode: int = 0, names: int = 1, flags: int = 0) -> bytes:
    fields = text(name) + struct.pack("<BIII", kind, mode, 0, 0) + struct.pack("<qIqI", TIME, 123_456_789, TIME + 1, 5)
    return fields + struct.pack("<QQQQQI", size, 7, inode, names, 0, flags) + text(target) + struct.pack("<H", 0) + content


def store(folder: pathlib.Path, seal: int, cuts: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    tree = Tree(seal)
    words = tree.chunk(b"hello, store\n")
    block = tree.chunk(bytes(range(256)) * 16)
    # data with an extension, a hole and a run of the block that follows itself three times
    mixed = b"\x81" + words + EXTENSIONS + b"\2" + struct.pack("<Q", 100_000) + b"\3" + block + struct.pack("<Q", 3)
    extents = tree.node(2, [b"\1" + block] * 20, 20)
    inner = tree.node(1, [entry("long", FILE, 0o600, 20 * 4096, b"\2" + extents, inode=5)], 1)
    data = tree.node(
        1,
        [
            entry("empty", FILE, 0o644, inode=1, flags=0x40),
            entry("hello", FILE, 0o640, 13, b"\1" + struct.pack("<H", 1) + b"\1" + words, inode=2),
            entry("inner", FOLDER, 0o700, content=b"\2" + inner, inode=3),
            entry("link", LINK, 0o777, target="inner/long", inode=4),
            entry("mixed", FILE, 0o444, 13 + 100_000 + 3 * 4096, b"\1" + struct.pack("<H", 3) + mixed, inode=6),
            entry("pipe", FIFO, 0o600, inode=8),
        ],
        4,
    )
    root = tree.node(1, [entry("data", FOLDER, 0o755, content=b"\2" + data, inode=9)], 1)

    config_body = IDENTITY + struct.pack("<BBBBI", seal, 6 if seal else 2, 1, 1, 1 << 25) + text(cuts) + EXTENSIONS
    config = small(0, CHECKSUMS, bytes([12] * 32), config_body, "config")
    container_bytes = container(seal, SALT, [*tree.chunks, *tree.nodes], IDENTITY)
    facts = root + SALT[:8] + struct.pack("<QQqqI", 3, 1, TIME * 10**9, 5, 0) + bytes(32) + SESSION
    facts += struct.pack("<QQQQQ", 6, 3, 216_205, 1, 2) + text("golden") + struct.pack("<H", 1) + text("/data")
    snapshot = small(4, seal, bytes([13] * 32), facts + struct.pack("<H", 2) + text("first") + text("second") + EXTENSIONS, "snapshots")

    def write(kind: str, name: str, content: bytes) -> None:
        (folder / kind).mkdir(parents=True, exist_ok=True)
        (folder / kind / name).write_bytes(content)

    def ids(names: list[str]) -> bytes:
        return struct.pack("<I", len(names)) + b"".join(text(each) for each in names)

    snapshot_id = blake3.blake3(snapshot).hexdigest()
    first = small(6, seal, bytes([15] * 32), b"\1" + ids([snapshot_id]), f"log/{1:016x}")  # commits the snapshot
    # a decision that removes a container, and condemns another
    decided = struct.pack("<QB", 2, 3) + struct.pack("<I", 1) + bytes([1] * 48) + struct.pack("<I", 1) + bytes([2] * 48)
    removal = small(8, seal, bytes([16] * 32), decided + ids([snapshot_id]) + ids([]) + ids(["a-key"]), "removals")
    removal_hash = blake3.blake3(removal).digest()
    second = small(6, seal, bytes([17] * 32), b"\2" + removal_hash, f"log/{2:016x}")
    third = small(6, seal, bytes([18] * 32), b"\2" + bytes(32), f"log/{3:016x}")  # its removal is not there: it has no effect
    far = small(6, seal, bytes([19] * 32), b"\1" + ids(["0" * 64]), f"log/{1 << 40:016x}")  # too far beyond the others: it does not count

    write("", "config", config)
    write("", "config.copy", config)
    write(f"containers/{SESSION.hex()}", blake3.blake3(container_bytes).hexdigest(), container_bytes)
    write("snapshots", snapshot_id, snapshot)
    for number, log_entry in ((1, first), (2, second), (3, third), (1 << 40, far)):
        write("log", f"{number:016x}", log_entry)
    write("removals", f"{2:016x}.{removal_hash.hex()}", removal)
    if seal:
        salt = bytes([14] * 32)
        key_of_file = HKDF(hashes.SHA256(), 32, salt, b"cutpoint store key file").derive(SECRET)
        body = KEY + blake3.blake3(config).digest() + struct.pack("<q", TIME * 10**9) + text("golden")
        make_goldens.KEY = key_of_file  # seals the body in the place of the store's key
        key = header(1, ENCRYPTION, salt) + bytes([2, 0, 0, 0, 0, 0, 0, 0]) + sealed(ENCRYPTION, salt, 5, 72, body, "keys/" + "0" * 31 + "1")
        make_goldens.KEY = KEY
        proof_key = HKDF(hashes.SHA256(), 32, blake3.blake3(config).digest(), b"cutpoint store key proof").derive(KEY)
        write("keys", "0" * 31 + "1", key + blake3.blake3(key, key=proof_key).digest())


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    exponents = "min_exp=14,max_exp=18,mask_bits=16,normalization=2"
    store(folder / "golden-store-checksums", CHECKSUMS, "fastcdc(avg_bytes=65536)")
    store(folder / "golden-store-encrypted", ENCRYPTION, f"toeplitz128-aes({exponents},normal_size=0)")
    store(folder / "golden-store-insecure-cuts", ENCRYPTION, f"borg2-fastcdc({exponents})")


if __name__ == "__main__":
    main()
