"""Synthetic checkpoints of a model: tensors of random bytes from a seed, as files of the format safetensors.

A weight that has changed is new random bytes: for deduplication it only matters which bytes are equal. So what these files save
says what cuts can find, and not how much real models have in common.
"""

import json
import pathlib
import random
import struct

KIB = 1 << 10
MIB = 1 << 20

LAYERS = 12
ROW = 2 * KIB  # of the embedding: 1024 weights of two bytes
VOCABULARY = 4096  # rows

Tensors = dict[str, bytes]


def random_tensor(name: str, size: int, seed: str) -> bytes:
    """Returns the same bytes for the same arguments, everywhere."""
    return random.Random(f"{seed} {name}").randbytes(size)


def model(seed: str = "base") -> Tensors:
    """Returns 64 MiB of weights in 16 bits: an embedding, twelve layers of four MiB, and a head."""
    sizes = {"embedding": VOCABULARY * ROW}
    for layer in range(LAYERS):
        for kind, size in (("norm", ROW), ("qkv", 3 * MIB // 2), ("out", MIB // 2), ("up", MIB), ("down", MIB)):
            sizes[f"layer.{layer:02}.{kind}"] = size
    sizes["head"] = VOCABULARY * ROW
    return {name: random_tensor(name, size, seed) for name, size in sizes.items()}


def is_frozen(name: str) -> bool:
    """Whether fine-tuning leaves the tensor alone: the embedding and the first eight layers."""
    return name == "embedding" or name.startswith("layer.") and int(name[6:8]) < 8


def trained(tensors: Tensors, seed: str, frozen=lambda name: False) -> Tensors:
    """Returns the tensors after a training that changed every weight of those that are not frozen."""
    return {name: data if frozen(name) else random_tensor(name, len(data), seed) for name, data in tensors.items()}


def with_more_rows(tensors: Tensors, rows: int) -> Tensors:
    """Returns a model with more words, whose rows come last in the embedding and in the head."""
    return {name: data + random_tensor(name, rows * ROW, "words") if name in ("embedding", "head") else data
            for name, data in tensors.items()}


def with_changed_rows(tensors: Tensors, share: float) -> Tensors:
    """Returns a model in which a share of the embedding's rows has changed, here and there, and nothing else."""
    drawn = random.Random("rows")
    rows = (tensors["embedding"][at : at + ROW] for at in range(0, VOCABULARY * ROW, ROW))
    changed = b"".join(drawn.randbytes(ROW) if drawn.random() < share else row for row in rows)
    return {**tensors, "embedding": changed}


def with_optimizer(tensors: Tensors, seed: str, frozen=lambda name: False) -> Tensors:
    """Returns the weights with Adam's state of those that are trained: a copy in 32 bits, and two moments in 32 bits."""
    state = {f"{kind}.{name}": random_tensor(f"{kind}.{name}", 2 * len(data), seed)
             for kind in ("master", "moment1", "moment2") for name, data in tensors.items() if not frozen(name)}
    return {**tensors, **state}


def write(path: pathlib.Path, tensors: Tensors, metadata: dict[str, str] | None = None) -> pathlib.Path:
    """Writes a file of the format safetensors, whose header is padded to a multiple of eight bytes."""
    header: dict[str, object] = {"__metadata__": metadata or {"format": "pt"}}
    end = 0
    for name, data in tensors.items():
        header[name] = {"dtype": "BF16", "shape": [len(data) // 2], "data_offsets": [end, end + len(data)]}
        end += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for data in tensors.values():
            file.write(data)
    return path
