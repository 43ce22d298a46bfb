"""Chunk traces in memory, as docs/formats/chunk-trace.md describes them, and the command under test."""

import os
import random
import struct
import subprocess
from typing import NamedTuple

BINARY = os.environ["CUTPOINT_CLUSTER_BIN"]
IS_SANITIZED = bool(os.environ.get("CUTPOINT_SANITIZE"))


class Chunk(NamedTuple):
    fingerprint: int
    length: int


class File(NamedTuple):
    application: int
    client: int
    chunks: list[Chunk]


def trace_bytes(files: list[File]) -> bytes:
    """The classes are named by their numbers, which are from 0 on in the order of their first files."""
    records = []
    class_count = 0
    for file in files:
        if file.application == class_count:
            class_count += 1
            records += [struct.pack("<QI", 1 | 3 << 8, 0), b"%03d" % file.application + bytes(9)]
        records.append(struct.pack("<QI", 2 | file.application << 8 | file.client << 32, 0))
        records += [struct.pack("<QI", *chunk) for chunk in file.chunks]
    records.append(struct.pack("<QI", 3 | len(records) << 8, 0))
    return b"CUTTRACE" + struct.pack("<I", 1) + b"".join(records)


def random_files(generator: random.Random) -> list[File]:
    """Up to 12 files of up to 40 chunks with data that recurs. Classes are numbered in the order of their first files."""
    numbers: dict[int, int] = {}
    data_count = generator.choice([10, 100, 1000])
    files = []
    for _ in range(generator.randint(0, 12)):
        application = numbers.setdefault(generator.randrange(3), len(numbers))
        first = generator.randrange(data_count)
        fingerprints = [random.Random(data).getrandbits(64) for data in range(first, first + generator.randint(0, 40))]
        files.append(File(application, generator.randrange(3), [Chunk(each, 1000 + each % 9000) for each in fingerprints]))
    return files


def run_command(*words: str, **how) -> subprocess.CompletedProcess:
    return subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=120, check=False, **how)
