"""A synthetic capture of network packets: drawn conversations of drawn hosts in the format of pcap, for AE's remark about network traffic.

No packet was ever sent. Clients fetch web objects, of which few are asked for often, by HTTP, or by TLS, whose bytes are random; each connection
begins with a look-up of the server's name. Segments have up to 64 KiB, as in captures of hosts whose network cards split and join them.
"""

import struct
import sys
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path
from random import Random

from experiments.datasets.base import Generator, Planned, numbered

BLOCK = 1 << 20
OBJECT_BITS = 10, 20  # sizes of objects are drawn on a logarithmic scale from 1 KiB to 1 MiB
BYTES_PER_OBJECT = 3 << 17  # of all captures: objects are asked for about three times on average, a few of them often
OPEN_AT_ONCE = 8  # connections
SEALED = 0.4  # of the connections: TLS
SEGMENT = 65_483  # bytes of data in an IP packet of 64 KiB at most, with headers of 20 and 32 bytes
FIRST_TIME = 1_767_225_600  # 2026-01-01
CLIENTS, SERVERS = 64, 128
TCP, UDP = 6, 17
SYN, ACK, PUSH, FIN = 2, 16, 8, 1
CACHED = 256


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    value = int.from_bytes(data + b"\0" * (len(data) % 2)) % 0xFFFF
    return 0xFFFF - value


class Host:
    """An address, and the number that its next IP packet gets."""

    def __init__(self, address: bytes, draws: Random):
        self.address, self.hardware, self.number = address, b"\x02" + draws.randbytes(5), draws.randrange(1 << 16)


def datagram(source: Host, target: Host, protocol: int, header: bytes, checksum_at: int, data: bytes) -> bytes:
    """An Ethernet frame with both checksums. `header` has a zero in place of its own."""
    pseudo = source.address + target.address + struct.pack("!HH", protocol, len(header) + len(data))
    header = header[:checksum_at] + struct.pack("!H", checksum(pseudo + header + data)) + header[checksum_at + 2 :]
    source.number = (source.number + 1) & 0xFFFF
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(header) + len(data), source.number, 0x4000, 64, protocol, 0, source.address, target.address)
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    return target.hardware + source.hardware + b"\x08\x00" + ip + header + data


class Connection:
    """The frames of a TCP connection in which a client sends a request and a server answers."""

    def __init__(self, client: Host, server: Host, port: int, draws: Random):
        self.hosts, self.ports = (client, server), (draws.randrange(32_768, 61_000), port)
        self.next = [draws.randrange(1 << 32), draws.randrange(1 << 32)]
        self.clock = draws.randrange(1 << 32)

    def frame(self, sender: int, flags: int, data: bytes = b"") -> bytes:
        self.clock = (self.clock + 1) & 0xFFFFFFFF
        seen = self.next[1 - sender] if flags & ACK else 0
        header = struct.pack("!HHIIBBHHH", self.ports[sender], self.ports[1 - sender], self.next[sender], seen, 8 << 4, flags, 502, 0, 0)
        header += struct.pack("!BBBBII", 1, 1, 8, 10, self.clock, self.clock ^ 0x5555)  # no-operations and the time stamps
        self.next[sender] = (self.next[sender] + len(data) + bool(flags & (SYN | FIN))) & 0xFFFFFFFF
        return datagram(self.hosts[sender], self.hosts[1 - sender], TCP, header, 16, data)

    def frames(self, request: bytes, answer: bytes) -> Iterator[bytes]:
        yield self.frame(0, SYN)
        yield self.frame(1, SYN | ACK)
        yield self.frame(0, ACK)
        yield self.frame(0, ACK | PUSH, request)
        for at in range(0, len(answer), SEGMENT):
            yield self.frame(1, ACK | PUSH, answer[at : at + SEGMENT])
            yield self.frame(0, ACK)
        yield self.frame(0, ACK | FIN)
        yield self.frame(1, ACK | FIN)
        yield self.frame(0, ACK)


class Packets(Generator):
    """A pcap file for each version, of other connections to the same objects."""

    notes = "Synthetic: hosts, objects and connections are drawn, and no packet was sent. Checksums are right."
    programs = {"python": (sys.executable, "--version")}

    def plan(self) -> Iterator[Planned]:
        for index in range(self.job.version_count):
            yield numbered(index, "packets", ".pcap", "drawn connections, synthetic", f"packets-{index + 1}", index=index)

    def make(self, planned: Planned, target: Path, former: Path | None) -> None:
        index = planned.facts["index"]
        draws, left = self.job.draws("capture", index), self.job.share
        microseconds = (FIRST_TIME + 86_400 * index) * 1_000_000
        with target.open("wb", buffering=BLOCK) as file:
            left -= file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 17, 1))
            for frame in self._interleaved(draws):
                if left <= 0:
                    break
                microseconds += 1 + int(draws.expovariate(1 / 40))
                left -= file.write(struct.pack("<IIII", *divmod(microseconds, 1_000_000), len(frame), len(frame)) + frame)

    def _interleaved(self, draws: Random) -> Iterator[bytes]:
        """Frames of several connections at once, without an end."""
        clients = [Host(bytes((10, 0, 0, i + 1)), draws) for i in range(CLIENTS)]
        servers = [Host(bytes((198, 51, 100, i + 1)), draws) for i in range(SERVERS)]
        running = [self._visit(clients, servers, draws) for _ in range(OPEN_AT_ONCE)]
        while True:
            which = draws.randrange(len(running))
            frame = next(running[which], None)
            if frame is None:
                running[which] = self._visit(clients, servers, draws)
            else:
                yield frame

    def _visit(self, clients: list[Host], servers: list[Host], draws: Random) -> Iterator[bytes]:
        """The look-up of a name and a connection that fetches an object."""
        count, sums = self._popularity
        thing = draws.choices(range(count), cum_weights=sums)[0]
        client, server = draws.choice(clients), servers[thing % SERVERS]
        name = f"host{thing % SERVERS}.example"
        yield from _look_up(client, servers[0], name, server.address, draws)
        if draws.random() < SEALED:
            body = self._object(thing)
            yield from Connection(client, server, 443, draws).frames(b"\x16\x03\x01" + draws.randbytes(517), b"\x17\x03\x03" + draws.randbytes(len(body)))
            return
        request = f"GET /objects/{thing} HTTP/1.1\r\nHost: {name}\r\nUser-Agent: synthetic\r\nAccept: */*\r\n\r\n"
        body = self._object(thing)
        head = f"HTTP/1.1 200 OK\r\nServer: {name}\r\nContent-Length: {len(body)}\r\nETag: \"{thing:08x}\"\r\nX-Request: {draws.randrange(1 << 32):08x}\r\n\r\n"
        yield from Connection(client, server, 80, draws).frames(request.encode(), head.encode() + body)

    @cached_property
    def _popularity(self) -> tuple[int, list[float]]:
        """The number of objects, and the sums of their weights: an object's is one over its rank."""
        count = max(16, self.job.size // BYTES_PER_OBJECT)
        return count, list(accumulate(1 / rank for rank in range(1, count + 1)))

    @cached_property
    def _object(self):
        """The body of an object by its number: markup, or random bytes, as compressed pictures are nearly."""

        @lru_cache(CACHED)
        def body(thing: int) -> bytes:
            draws = self.job.draws("object", thing)
            size = int(2 ** draws.uniform(*OBJECT_BITS))
            return _markup(draws, size) if draws.random() < 0.5 else draws.randbytes(size)

        return body


def _look_up(client: Host, server: Host, name: str, address: bytes, draws: Random) -> Iterator[bytes]:
    """A question for the address of a name, and its answer."""
    port, number = draws.randrange(32_768, 61_000), draws.randrange(1 << 16)
    question = b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0\0\1\0\1"
    answer = b"\xc0\x0c\0\1\0\1\0\0\x0e\x10\0\4" + address
    for sender, receiver, ports, flags, count, rest in ((client, server, (port, 53), 0x0100, 0, b""), (server, client, (53, port), 0x8180, 1, answer)):
        data = struct.pack("!HHHHHH", number, flags, 1, count, 0, 0) + question + rest
        yield datagram(sender, receiver, UDP, struct.pack("!HHHH", *ports, 8 + len(data), 0), 6, data)


def _markup(draws: Random, size: int) -> bytes:
    """HTML of drawn words."""
    words = ["".join(draws.choices("abcdefghijklmnopqrstuvwxyz", k=draws.randint(2, 9))) for _ in range(400)]
    text = "<!doctype html>\n"
    while len(text) < size:
        text += "".join(f'<p class="{draws.choice(words)}">{" ".join(draws.choices(words, k=20))}</p>\n' for _ in range(64))
    return text.encode()[:size]
