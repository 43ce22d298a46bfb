"""A reader of stores that was written from docs/formats/store.md alone. It trusts nothing, and names the object that is damaged.

This file opens a store with a password or a key file and reads its small objects. store_reader.py reads the rest."""

from __future__ import annotations

import hashlib
import os
import re
import struct
from dataclasses import dataclass, field
from pathlib import Path

from store_primitives import blake3, hkdf, open_gcm, scrypt, xxh3_128

MIB = 1 << 20
KINDS = {"config": 0, "config.copy": 0, "keys": 1, "containers": 2, "shards": 3, "snapshots": 4, "leases": 5, "log": 6, "removals": 8}
BODY = 5
COMMIT, REMOVAL = 1, 2
CHANGE, PROPOSAL, DECISION = 1, 2, 3
LARGEST_GAP = 1 << 20
FINGERPRINTS = {
    1: lambda data: hashlib.sha1(data).digest(),
    2: lambda data: hashlib.sha256(data).digest(),
    3: lambda data: hashlib.new("sha512_256", data).digest(),
    4: lambda data: hashlib.md5(data).digest(),
    5: lambda data: xxh3_128(data, 0),
    6: blake3,
}


class Damage(Exception):
    def __init__(self, name: str, reason: str):
        super().__init__(f"{name}: {reason}")


class Fields:
    """Reads the fields of a part of an object, in their order."""

    def __init__(self, name: str, data: bytes, position: int = 0):
        self.name, self.data, self.position = name, data, position

    def require(self, condition: bool, reason: str):
        if not condition:
            raise Damage(self.name, reason)

    def take(self, size: int) -> bytes:
        self.require(size <= len(self.data) - self.position, "it ends too early")
        self.position += size
        return self.data[self.position - size : self.position]

    def numbers(self, layout: str) -> tuple:
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))

    def number(self, layout: str) -> int:
        return self.numbers(layout)[0]

    def string(self) -> bytes:
        return self.take(self.number("H"))

    def end(self):
        self.require(self.position == len(self.data), "bytes follow its end")

    def extensions(self, *known: int) -> dict[int, bytes]:
        extensions = {}
        for _ in range(self.number("H")):
            kind, size = self.numbers("HI")
            extensions[kind] = self.take(size)
            self.require(kind < 32768 or kind in known, f"extension {kind} is unknown")
        return extensions


@dataclass
class Snapshot:
    root: tuple[bytes, int, int]  # digest, length of the content, hint
    sequence: int
    entry: int  # of the log, that was to commit it
    time: int
    duration: int
    is_incomplete: bool
    parent: str
    session: str
    counts: tuple  # files, folders, bytes, new raw bytes, new stored bytes
    host: bytes
    paths: list[bytes]
    tags: list[bytes]
    original: str  # of a version that has other tags, for example; else empty
    version_time: int


@dataclass
class Lease:
    time: int
    duration: int
    epoch: int
    boot: str
    namespace: int
    process: int
    start: int
    text: bytes


@dataclass
class Log:
    committed: set[str] = field(default_factory=set)
    condemned: set[bytes] = field(default_factory=set)
    removed_keys: set[str] = field(default_factory=set)
    newest: int = 0


class Objects:
    """The objects of a store but containers and shards, after their headers, names and seals were verified."""

    def __init__(self, folder, password: bytes | None = None, key_file: bytes | None = None):
        self.folder = Path(folder)
        self.key = self.identity = None
        self.read_config()
        self.key_id = self.open_key(password, key_file) if self.is_encrypted else None
        self.log = self.read_log()
        if self.key_id in self.log.removed_keys:
            raise Damage(f"keys/{self.key_id}", "the key was removed")
        if self.is_encrypted:
            self.digest_key = hkdf(self.key, self.identity, b"cutpoint store digest")

    def chunker_key(self, algorithm: bytes) -> bytes:
        return hkdf(self.key, self.identity, b"cutpoint store chunker" + (b"" if algorithm == b"borg2-fastcdc" else b" " + algorithm))

    # --- Objects ----------------------------------------------------------------------------------------------------------------

    def list(self, folder: str, pattern: str) -> list[str]:
        names = os.listdir(self.folder / folder) if (self.folder / folder).exists() else []
        return sorted(name for name in names if re.fullmatch(pattern, name))

    def read(self, name: str, most: int) -> bytes:
        """The whole object, after its header was verified, and its name if that is the hash of its bytes."""
        size = (self.folder / name).stat().st_size
        if not 64 <= size <= most:
            raise Damage(name, f"its length is {size}")
        data = (self.folder / name).read_bytes()
        self.check_header(name, data[:64])
        if name.startswith(("containers/", "snapshots/", "removals/")) and blake3(data).hex() != re.split(r"[/.]", name)[-1]:
            raise Damage(name, "its name is not the hash of its bytes")
        return data

    def check_header(self, name: str, header: bytes):
        folder = name.partition("/")[0]
        magic, kind, version, seal = struct.unpack("<8sIHH", header[:16])
        sealed = self.identity is not None and self.is_encrypted and KINDS[folder] != 0
        fields = Fields(name, header)
        fields.require(magic == b"CUTPOINT" and xxh3_128(header[:48], 0) == header[48:], "its header is damaged")
        fields.require(version == 3, f"its version is {version}")
        fields.require(kind == KINDS[folder], f"its kind is {kind}")
        fields.require(seal == sealed, f"its seal is {seal}")

    def place(self, name: str) -> bytes:
        folder = name.partition("/")[0]
        return (folder if folder in ("containers", "snapshots", "removals") else name).encode()

    def unseal(self, name: str, data: bytes, position: int, size: int, number: int, key=None, origin=None) -> bytes:
        """The part of `size` bytes at `position`; its tag follows. A payload is sealed for the position of its record, the `origin`."""
        sealed, tag = data[position : position + size], data[position + size : position + size + 16]
        position = position if origin is None else origin
        if len(sealed) != size or len(tag) != 16:
            raise Damage(name, "it ends too early")
        key = key or self.key
        if key is None or name.startswith("config"):
            plain = sealed if xxh3_128(sealed, position * 256 + number) == tag else None
        else:
            identity = bytes(32) if name.startswith("keys/") else self.identity
            derived = hkdf(key, data[16:48], b"cutpoint store object" + identity + self.place(name))
            plain = open_gcm(derived, struct.pack("<IQ", number, position), sealed, tag)
        if plain is None:
            raise Damage(name, f"part {number} at {position} has a wrong tag")
        return plain

    def read_small(self, name: str, most: int = MIB) -> Fields:
        data = self.read(name, most)
        return Fields(name, self.unseal(name, data, 64, len(data) - 80, BODY))

    def read_config(self):
        self.is_encrypted = False
        config = "config"
        try:
            fields = self.read_small(config)
        except (Damage, FileNotFoundError):
            config = "config.copy"
            fields = self.read_small(config)
        identity = fields.take(32)
        self.is_encrypted, self.fingerprint, codec, level, self.container_bytes = fields.numbers("BBBBI")
        self.chunker = fields.string()
        fields.require(self.is_encrypted in (0, 1) and codec in (0, 1) and self.fingerprint in FINGERPRINTS, "a field is wrong")
        fields.require(1 <= level <= 19 if codec else level == 0, "its level is wrong")
        fields.require(1 << 16 <= self.container_bytes <= 128 * MIB, "its length of containers is wrong")
        fields.require(not self.is_encrypted or self.fingerprint == 6, "an encrypted store needs BLAKE3")
        context = fields.extensions(32768).get(32768, b"").decode()
        self.rules = [tuple(line.split(";")) for line in context.splitlines()]
        fields.end()
        self.identity = identity
        self.config_hash = blake3((self.folder / config).read_bytes())

    def open_key(self, password: bytes | None, key_file: bytes | None) -> str:
        for id in self.list("keys", "[0-9a-f]{32}"):
            name = f"keys/{id}"
            data = self.read(name, MIB)
            kind, log_n, r, p, zero = Fields(name, data, 64).numbers("BBBBI")
            Fields(name, data).require(kind in (1, 2) and log_n <= 20 and r <= 8 and p <= 16 and zero == 0, "a field is wrong")
            if kind == 1 and password is not None:
                secret = scrypt(password, data[16:48], log_n, r, p)
            elif kind == 2 and key_file is not None:
                secret = hkdf(key_file, data[16:48], b"cutpoint store key file")
            else:
                continue
            try:
                fields = Fields(name, self.unseal(name, data, 72, len(data) - 72 - 16 - 32, BODY, secret))
            except Damage:
                continue  # the secret is another one
            key, config_hash, self.key_time = fields.take(32), fields.take(32), fields.number("q")
            self.key_label = fields.string()
            fields.end()
            proof = blake3(data[:-32], hkdf(key, config_hash, b"cutpoint store key proof"))
            if config_hash == self.config_hash and proof == data[-32:]:
                self.key = key
                return id
        raise Damage("keys", "no key opens this store and its config")

    def digest(self, content: bytes) -> bytes:
        return blake3(content, self.digest_key) if self.is_encrypted else FINGERPRINTS[self.fingerprint](content)

    # --- The log ----------------------------------------------------------------------------------------------------------------

    def read_log(self) -> Log:
        numbers = {int(id, 16) for id in self.list("log", "[0-9a-f]{16}")} - {0}
        entries, missing = [], None
        while numbers:
            near = self.near(numbers)
            entries, missing = self.read_entries(near)
            numbers -= near
            if entries[-1][0] == DECISION:
                break  # otherwise these entries do not count, if there are others before them
        if missing is not None:
            raise missing
        log = Log()
        for _, removed, condemned, committed, ended, removed_keys in reversed(entries):
            log.committed = (log.committed | committed) - ended
            log.condemned |= condemned
            log.removed_keys |= removed_keys
        log.newest = max(near) if entries else 0
        return log

    @staticmethod
    def near(numbers: set[int]) -> set[int]:
        """The largest numbers, down to one that is far beyond the one before it."""
        ordered = sorted(numbers, reverse=True)
        end = next((i for i, (late, early) in enumerate(zip(ordered, ordered[1:])) if late - early > LARGEST_GAP), len(ordered) - 1)
        return set(ordered[: end + 1])

    def read_entries(self, numbers: set[int]) -> tuple[list[tuple], Damage | None]:
        """The entries from the newest to a decision or to the first, and what is missing before or between them."""
        entries, number, missing = [], max(numbers), None
        while number > 0 and not (entries and entries[-1][0] == DECISION):
            if number in numbers:
                entries.append(self.read_entry(number))
            elif number < min(numbers):
                missing = Damage(f"log/{number:016x}", "the entry is missing")
                break
            else:
                missing = missing or Damage(f"log/{number:016x}", "the entry is missing")
            number -= 1
        return entries, missing

    def read_entry(self, number: int) -> tuple:
        """What an entry says. One whose removal is not there, or is that of another entry, says nothing."""
        fields = self.read_small(f"log/{number:016x}", MIB)
        kind = fields.number("B")
        fields.require(kind in (COMMIT, REMOVAL), f"its kind is {kind}")
        nothing = CHANGE, set(), set(), set(), set(), set()
        if kind == COMMIT:
            committed = [fields.string().decode() for _ in range(fields.number("I"))]
            fields.require(committed == sorted(set(committed)), "a list is not sorted")
            fields.end()
            return CHANGE, set(), set(), set(committed), set(), set()
        name = f"removals/{number:016x}.{fields.take(32).hex()}"
        fields.end()
        if not (self.folder / name).exists():
            return nothing
        fields = self.read_small(name, 256 * MIB)
        entry, kind = fields.numbers("QB")
        fields.require(kind in (CHANGE, PROPOSAL, DECISION), f"its kind is {kind}")
        containers = [[fields.take(48) for _ in range(fields.number("I"))] for _ in range(2)]
        strings = [[fields.string().decode() for _ in range(fields.number("I"))] for _ in range(3)]
        fields.end()
        fields.require(all(names == sorted(set(names)) for names in containers + strings), "a list is not sorted")
        fields.require(kind != CHANGE or not containers[0], "a change removes containers")
        return (kind, *map(set, containers + strings)) if entry == number else nothing

    # --- Snapshots and leases ---------------------------------------------------------------------------------------------------

    def snapshots(self) -> dict[str, Snapshot]:
        """The snapshots that the log commits and that exist, the last one at the end."""
        there = self.log.committed & set(self.list("snapshots", "[0-9a-f]{64}"))
        read = [(id, self.read_snapshot(id)) for id in there]
        for _, snapshot in read:
            snapshot.sequence *= snapshot.sequence <= self.log.newest
        return dict(sorted(read, key=lambda pair: (pair[1].sequence, bool(pair[1].original), pair[1].version_time)))

    def read_snapshot(self, id: str) -> Snapshot:
        fields = self.read_small(f"snapshots/{id}", 16 * MIB)
        root = fields.take(32), fields.number("I"), fields.number("Q")
        sequence, entry, time, duration, flags = fields.numbers("QQqqI")
        parent, session, counts = fields.take(32), fields.take(16), fields.numbers("5Q")
        host = fields.string()
        paths, tags = ([fields.string() for _ in range(fields.number("H"))] for _ in range(2))
        version = Fields(fields.name, fields.extensions().get(1, bytes(40)))
        original, version_time = version.take(32), version.number("q")
        version.end()
        fields.end()
        fields.require(flags in (0, 1), f"its flags are {flags}")
        return Snapshot(root, sequence, entry, time, duration, bool(flags), parent.hex(), session.hex(), counts, host, paths, tags,
                        original.hex() if any(original) else "", version_time)  # fmt: skip

    def leases(self) -> dict[str, Lease]:
        return {name: self.read_lease(name) for name in self.list("leases", r"[0-9a-f]{32}\.[0-9a-f]{8}")}

    def read_lease(self, id: str) -> Lease:
        fields = self.read_small(f"leases/{id}")
        time, duration, epoch = fields.numbers("qqQ")
        boot, (namespace, process, start) = fields.take(16), fields.numbers("QQQ")
        lease = Lease(time, duration, epoch, boot.hex(), namespace, process, start, fields.string())
        fields.end()
        fields.require(0 <= duration <= 24 * 3600 * 10**9, "its duration is wrong")
        return lease
