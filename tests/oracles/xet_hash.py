"""Computes the Xet hash of a file from its chunk lengths, by the protocol's published rules.

Leaves are keyed BLAKE3 hashes of the chunks. A node hashes one text line per child, "hash : length". It takes children
until one after the second has a hash divisible by 4, and at most 9. The root is hashed once more with a zero key.
"""

from collections.abc import Sequence

from blake3 import blake3

DATA_KEY = bytes.fromhex("6697f5775b9550de3135cbaca597181c9de421109beb2b58b4d0b04b93adf229")
NODE_KEY = bytes.fromhex("017ec5c7a5472996fd946666b48a02e65ddd536f37c76dd2f86352e64a53713f")
MEAN_CHILDREN = 4
Node = tuple[bytes, int]


def hexadecimal(digest: bytes) -> str:
    """Xet prints a digest as four little-endian 64-bit words."""
    return b"".join(digest[i : i + 8][::-1] for i in range(0, 32, 8)).hex()


def ends_node(digest: bytes) -> bool:
    return int.from_bytes(digest[24:], "little") % MEAN_CHILDREN == 0


def children_of_first_node(nodes: Sequence[Node]) -> int:
    most = min(len(nodes), 2 * MEAN_CHILDREN + 1)
    return next((i + 1 for i in range(2, most) if ends_node(nodes[i][0])), most)


def parent(children: Sequence[Node]) -> Node:
    lines = "".join(f"{hexadecimal(digest)} : {size}\n" for digest, size in children)
    return blake3(lines.encode(), key=NODE_KEY).digest(), sum(size for _, size in children)


def file_hash(data: bytes, lengths: Sequence[int]) -> str:
    if not lengths:
        return "0" * 64
    nodes: list[Node] = []
    at = 0
    for length in lengths:
        nodes.append((blake3(data[at : at + length], key=DATA_KEY).digest(), length))
        at += length
    while len(nodes) > 1:
        parents = []
        while nodes:
            count = children_of_first_node(nodes)
            parents.append(parent(nodes[:count]))
            nodes = nodes[count:]
        nodes = parents
    return hexadecimal(blake3(nodes[0][0], key=bytes(32)).digest())
