"""A reader of stores that was written from docs/formats/store.md alone: containers, shards and trees."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from store_objects import MIB, Damage, Fields, Objects
from store_primitives import decompress, xxh3_128

DESCRIPTION, PAYLOAD, TRAILER, FOOTER = 1, 2, 3, 4
CHUNK, NODE, PADDING = 1, 2, 3
FOLDER, EXTENTS = 1, 2
MASK64 = (1 << 64) - 1


@dataclass
class Record:
    position: int
    kind: int
    codec: int
    raw: int
    stored: int
    digest: bytes

    @property
    def end(self) -> int:
        return self.position + 64 + (self.stored + 15) // 16 * 16 + 16


@dataclass
class Container:
    name: str
    data: bytes
    records: list[Record]

    @property
    def hint(self) -> int:
        return int.from_bytes(self.data[16:24], "little")


@dataclass
class Reference:
    digest: bytes
    length: int
    hint: int = 0


@dataclass
class Extent:
    length: int
    reference: Reference | None = None  # None: a hole
    count: int = 1  # how many times the chunk follows itself


@dataclass
class Entry:
    name: bytes
    kind: int
    mode: int
    owner: tuple[int, int]
    mtime: tuple[int, int]
    ctime: tuple[int, int]
    size: int
    device: int
    inode: int
    links: int
    device_number: int
    flags: int
    target: bytes
    attributes: dict[bytes, bytes]
    content: int
    extents: list[Extent] = field(default_factory=list)
    node: Reference | None = None


class Store(Objects):
    def __init__(self, folder, password: bytes | None = None, key_file: bytes | None = None):
        super().__init__(folder, password, key_file)
        self.containers = {}
        for name in self.container_names():
            if bytes.fromhex(name.removeprefix("containers/").replace("/", "")) not in self.log.condemned:
                self.containers[name] = self.read_container(name)
        self.places: dict[tuple[int, bytes], list] = {}
        for container in self.containers.values():
            for record in container.records:
                self.places.setdefault((record.kind, record.digest.ljust(32, b"\0")), []).append((container, record))

    # --- Containers -------------------------------------------------------------------------------------------------------------

    def container_names(self) -> list[str]:
        sessions = [f"containers/{id}" for id in self.list("containers", "[0-9a-f]{32}")]
        return [f"{session}/{id}" for session in sessions for id in self.list(session, "[0-9a-f]{64}")]

    def read_container(self, name: str) -> Container:
        data = self.read(name, 256 * MIB)
        size, fields = len(data), Fields(name, data)
        fields.require(data[-64:] == data[:64], "its headers differ")
        footer = Fields(name, self.unseal(name, data, size - 128, 48, FOOTER))
        magic, count, metadata, trailer, length = footer.numbers("IIQQQ")
        footer.require(magic == 0x4C544350 and length == size and not any(footer.take(16)), "its footer is wrong")
        footer.require(count <= 262144 and trailer == size - 144 - 48 * count, "its number of records is wrong")
        table = Fields(name, self.unseal(name, data, trailer, 48 * count, TRAILER))
        records = [self.read_description(table) for _ in range(count)]
        is_data = [record.kind == CHUNK for record in records]
        begins = [record.position for record in records] + [trailer]
        table.require(
            is_data == sorted(is_data, reverse=True) and metadata == begins[sum(is_data)], "a record is in the wrong part"
        )
        table.require(begins == [64] + [record.end for record in records], "its records leave gaps")
        if self.is_encrypted:
            table.require(records[-1].kind == PADDING and size == padme(size), f"its length {size} is not Padmé's")
        return Container(name, data, records)

    @staticmethod
    def read_description(fields: Fields) -> Record:
        place, kind, codec, digest_size, zero, raw, stored, digest = fields.numbers("IBBBBII32s")
        fields.require(kind in (CHUNK, NODE, PADDING) and codec in (0, 1) and zero == 0, "a record has a wrong field")
        fields.require(digest_size <= 32 and not any(digest[digest_size:]), "a record has a wrong digest")
        fields.require(raw <= 64 * MIB and (stored <= raw if codec else stored == raw), "a record has a wrong length")
        return Record(16 * place, kind, codec, raw, stored, digest[:digest_size])

    def payload(self, container: Container, record: Record) -> bytes:
        """The content of a record, and of a node its hints."""
        name, position = container.name, record.position
        description = self.unseal(name, container.data, position, 48, DESCRIPTION)
        fields = Fields(name, description)
        fields.require(description[:4] == b"PCRD", f"no record begins at {position}")
        fields.require(self.read_description(fields).__dict__ | {"position": position} == record.__dict__, "its table is wrong")
        padded = self.unseal(name, container.data, position + 64, record.end - position - 80, PAYLOAD, origin=position)
        fields.require(not any(padded[record.stored :]), "a payload does not end with zeros")
        payload = padded[: record.stored]
        content = decompress(payload, record.raw) if record.codec else payload
        fields.require(content is not None, f"the record at {position} cannot be decompressed")
        return content

    def load(self, kind: int, reference: Reference) -> tuple[bytes, bytes]:
        """The content of a chunk or a node, and the hints of a node. If several containers have it, the hint chooses."""
        places = self.places.get((kind, reference.digest), [])
        if not places:
            raise Damage(reference.digest.hex(), "no container has this record")
        container, record = min(places, key=lambda place: place[0].hint != reference.hint)
        payload = self.payload(container, record)
        content, hints = payload[: reference.length], payload[reference.length :]
        fields = Fields(container.name, payload)
        fields.require(len(content) == reference.length and (kind == NODE or not hints), "a record has another length")
        fields.require(self.digest(content) == record.digest, f"the record at {record.position} has another digest")
        return content, hints

    # --- Shards -----------------------------------------------------------------------------------------------------------------

    def verify_shards(self) -> set[str]:
        """Returns the containers that shards name. Each shard must have all records of its containers that exist."""
        names = set()
        for id in self.list("shards", "[0-9a-f]{32}"):
            names |= self.verify_shard(f"shards/{id}")
        return names

    def verify_shard(self, name: str) -> set[str]:
        data = self.read(name, 1 << 40)
        end = len(data) - 64
        footer = Fields(name, data, end)
        magic, bits, count, container_count, zero, directory = footer.numbers("IIQIIQ")
        footer.require(magic == 0x46534350 and bits <= 24 and zero == 0, "its footer is wrong")
        footer.require(directory + 32 * (1 << bits) == end and container_count <= 1 << 24, "its lengths do not fit")
        footer.require(xxh3_128(data[:directory], 1) == footer.take(16), "its checksum is wrong")
        footer.require(xxh3_128(data[directory : end + 48], 2) == footer.take(16), "the checksum of its directory is wrong")
        fields = Fields(name, data, 64)
        containers = [self.shard_container(fields) for _ in range(container_count)]
        fields.require(containers == sorted(containers), "its containers are not sorted")
        expected = {}
        for index, (container_name, hint, length) in enumerate(containers):
            if container := self.containers.get(container_name):
                fields.require((container.hint, len(container.data)) == (hint, length), "a hint or a length is wrong")
                for place, record in enumerate(container.records):
                    expected[index, place] = int.from_bytes(record.digest[:6], "big"), record.kind
        position, entry_count = fields.position, 0
        for partition in range(1 << bits):
            entry = Fields(name, data, directory + 32 * partition)
            at, size, shift, windows, zero, seed = entry.numbers("QIIIIQ")
            entry.require(at == position and zero == 0 and shift <= 18 and windows >= 1, "a directory entry is wrong")
            filter_bytes = (windows + 2 << shift) if size else 0
            position, entry_count = position + 12 * size + filter_bytes, entry_count + size
            entries, prints = Fields(name, data, at), data[at + 12 * size : position]
            rows = [(int.from_bytes(entries.take(6), "big"), entries.take(3), entries.take(3)) for _ in range(size)]
            entries.require(rows == sorted(rows), "a partition is not sorted")
            for prefix, container, record in rows:
                entries.require(prefix >> (48 - bits) == partition, "an entry is in another partition")
                entries.require(is_in_filter(prefix, prints, shift, windows, seed), "the filter lacks an entry")
                index = int.from_bytes(container, "little")
                entries.require(index < container_count, "an entry names no container")
                place = index, int.from_bytes(record, "little")
                if containers[index][0] in self.containers:
                    entries.require(expected.pop(place, (None,))[0] == prefix, "an entry names another record")
        fields.require(position == directory and entry_count == count, "its partitions do not fill it")
        fields.require(all(kind == PADDING for _, kind in expected.values()), "a record of a container is not in it")
        return {name for name, _, _ in containers}

    @staticmethod
    def shard_container(fields: Fields) -> tuple[str, int, int]:
        return f"containers/{fields.take(16).hex()}/{fields.take(32).hex()}", *fields.numbers("QQ")

    # --- Trees ------------------------------------------------------------------------------------------------------------------

    def elements(self, kind: int, reference: Reference, level: int | None = None) -> Iterator:
        """The entries of a folder, or the extents of a list, below a node; the levels above are verified."""
        content, hints = self.load(NODE, reference)
        fields = NodeFields(f"node {reference.digest.hex()}", content, hints)
        magic, node_kind, node_level, zero, size, count = fields.numbers("IBBHII")
        fields.require(magic == 0x444E4350 and node_kind == kind and zero == 0 and size == len(content), "its header is wrong")
        fields.require(node_level <= 16 and level in (None, node_level), "its level is wrong")
        read = fields.entry if kind == FOLDER else fields.extent
        before = b""
        for _ in range(count):
            if node_level == 0:
                element = read()
                yield element
                if kind == FOLDER:
                    fields.require(before < element.name, "its names are not sorted")
                    before = element.name
            else:
                child = fields.reference()
                summary = fields.string() if kind == FOLDER else fields.number("Q")
                below = list(self.elements(kind, child, node_level - 1))
                if kind == FOLDER:
                    fields.require(below and before < below[0].name and below[-1].name == summary, "a largest name is wrong")
                    before = summary
                else:
                    total = sum(extent.length * extent.count for extent in below)
                    fields.require(total == summary > 0, "a number of bytes is wrong")
                yield from below
        fields.end()

    def walk(self, folder: Reference, path: bytes = b"") -> Iterator[tuple[bytes, Entry]]:
        """Everything below a folder, folders before what they contain."""
        for entry in self.elements(FOLDER, folder):
            yield path + entry.name, entry
            if entry.kind == 0 and entry.content == 2:
                yield from self.walk(entry.node, path + entry.name + b"/")

    def extents(self, entry: Entry) -> list[Extent]:
        return list(self.elements(EXTENTS, entry.node)) if entry.content == 2 else entry.extents

    def content(self, entry: Entry) -> bytes:
        """The whole content of a file; holes are zeros."""
        return b"".join(
            bytes(extent.length) if extent.reference is None else self.load(CHUNK, extent.reference)[0] * extent.count
            for extent in self.extents(entry)
        )

    def verify(self):
        """Verifies all objects, all records, and the trees of all snapshots."""
        if self.read("config", MIB) != self.read("config.copy", MIB):
            raise Damage("config.copy", "it differs from the config")
        for container in self.containers.values():
            for record in container.records:
                payload = self.payload(container, record)
                if record.kind == PADDING and (any(payload) or record.digest):
                    raise Damage(container.name, "its padding is wrong")
        self.verify_shards()
        for snapshot in self.snapshots().values():
            for _, entry in self.walk(Reference(*snapshot.root)):
                if entry.kind != 0:
                    self.content(entry)


class NodeFields(Fields):
    """The fields of a node. The hints belong to its references in their order."""

    def __init__(self, name: str, content: bytes, hints: bytes):
        super().__init__(name, content)
        self.hints = read_hints(hints)

    def reference(self) -> Reference:
        return Reference(self.take(32), self.number("I"), next(self.hints, 0))

    def extent(self) -> Extent:
        code = self.number("B")
        kind = code & 127
        self.require(kind in (1, 2, 3), f"it has an extent of kind {kind}")
        reference = self.reference() if kind != 2 else None
        count = self.number("Q") if kind != 1 else 1
        if code != kind:
            self.extensions()
        return Extent(reference.length, reference, count) if reference else Extent(count)

    def entry(self) -> Entry:
        name = self.string()
        self.require(name not in (b"", b".", b"..") and not set(name) & set(b"/\0"), f"it has an entry {name!r}")
        kind, mode, user, group, *times = self.numbers("BIIIqIqI")
        self.require(kind <= 6, f"{name!r} has the kind {kind}")
        size, device, inode, links, device_number, flags = self.numbers("QQQQQI")
        target = self.string()
        attributes = {self.string(): self.take(self.number("I")) for _ in range(self.number("H"))}
        entry = Entry(name, kind, mode, (user, group), tuple(times[:2]), tuple(times[2:]), size, device, inode, links,
                      device_number, flags, target, attributes, self.number("B"))  # fmt: skip
        self.require(entry.content <= 2, f"{name!r} has a content of kind {entry.content}")
        if entry.content == 1:
            entry.extents = [self.extent() for _ in range(self.number("H"))]
            self.require(len(entry.extents) <= 16, f"{name!r} has too many extents")
        elif entry.content == 2:
            entry.node = self.reference()
        return entry


def read_hints(hints: bytes) -> Iterator[int]:
    """The hint of each reference; hints that do not fill the rest of the record are none."""
    count = int.from_bytes(hints[:4], "little")
    if len(hints) == 4 + 12 * count:
        for size, hint in struct.iter_unpack("<IQ", hints[4:]):
            yield from (hint for _ in range(size))


def mix(value: int) -> int:
    """The finalizer of SplitMix64."""
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & MASK64
    value = (value ^ value >> 27) * 0x94D049BB133111EB & MASK64
    return value ^ value >> 31


def is_in_filter(prefix: int, prints: bytes, shift: int, windows: int, seed: int) -> bool:
    h, segment = mix(prefix + seed & MASK64), 1 << shift
    a = h * (windows << shift) >> 64
    b, c = a + segment ^ h >> 18 & segment - 1, a + 2 * segment ^ h & segment - 1
    return prints[a] ^ prints[b] ^ prints[c] == (h ^ h >> 32) & 0xFF


def padme(size: int) -> int:
    """The next length of Padmé."""
    exponent = size.bit_length() - 1
    step = 1 << max(0, exponent - exponent.bit_length())
    return -(-size // step) * step
