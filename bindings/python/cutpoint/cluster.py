"""Chunk traces, and simulations of a cluster whose nodes deduplicate: what routing policies save, and how evenly they fill the nodes.

`write_trace` and `read_trace` handle files with the chunks of files without their bytes, and `simulate` stores such a trace in
simulated clusters. `policies` and `deduplications` return the names that it takes.
"""

from __future__ import annotations

import operator
import os
import secrets
import stat
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple, SupportsIndex

from cutpoint import _core
from cutpoint._settings import MOST_BYTES, MOST_THREADS, Path, _checked, _number

__all__ = ["TraceFile", "deduplications", "policies", "read_trace", "simulate", "write_trace"]

_MOST_CLIENT = (1 << 32) - 1
_MOST_LENGTH = (1 << 32) - 1


class TraceFile(NamedTuple):
    """A file of a chunk trace. The fingerprints and the lengths belong together by their numbers."""

    #: the name of its application class, from 1 to 255 bytes in UTF-8
    application: str
    #: of each chunk the first 8 bytes of its digest, as a big-endian number
    fingerprints: Iterable[SupportsIndex]
    #: the bytes of each chunk, from 1 to 2^32 - 1
    lengths: Iterable[SupportsIndex]
    #: says whose file it is, from 0 to 2^32 - 1
    client: int = 0


def write_trace(path: Path, files: Iterable[TraceFile]) -> None:
    """Writes a chunk trace, file by file, in memory that does not grow with the number of files.

    path
        The file to write. The trace is written beside it, and takes its place when it is whole: if this function raises, the file
        has what it had before, and a new one is empty. A pipe or a device gets the trace at once.
    files
        The files in the order in which their chunks are stored. Versions of a file follow each other. Files that `read_trace` reads
        from `path` are refused.

    Raises ValueError for a number, a name or lists that do not fit, and if the trace at `path` is among those that are read; and
    OSError.
    """
    writer = _core.TraceWriter()
    with _replaced(path) as output:
        for file in files:
            _checked("application", file.application, str)
            output.write(writer.begin_file(file.application, _number("client", file.client, 0, _MOST_CLIENT)))
            fingerprints = _column("Q", "fingerprint", file.fingerprints, 0, MOST_BYTES)
            lengths = _column("I", "length", file.lengths, 1, _MOST_LENGTH)
            output.write(writer.add(fingerprints.tobytes(), lengths.tobytes()))
        output.write(writer.finish())


#: thread, device and inode for each file whose place a trace is going to take, which `read_trace` must not read meanwhile
_written: set[tuple[int, int, int]] = set()


@contextmanager
def _replaced(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of the one at the path when the block ends, and not if it raises."""
    with open(path, "ab") as present:  # loses nothing, and raises if the file must not be written
        facts = os.fstat(present.fileno())
        if not stat.S_ISREG(facts.st_mode):
            yield present
            return
    place = os.path.realpath(path)
    draft = os.path.join(os.path.dirname(place), f".trace.{secrets.token_hex(4)}")
    written = (threading.get_ident(), facts.st_dev, facts.st_ino)
    with open(draft, "xb") as output:
        try:
            _written.add(written)
            os.fchmod(output.fileno(), stat.S_IMODE(facts.st_mode))
            yield output
            output.close()
            os.replace(draft, place)
        except BaseException:
            os.unlink(draft)
            raise
        finally:
            _written.discard(written)


def _column(kind: str, name: str, values: Iterable[SupportsIndex], least: int, most: int) -> array[int]:
    column = array(kind)
    for value in map(operator.index, values):
        if not least <= value <= most:
            raise ValueError(f"{name} = {value} must be from {least} to {most}")
        column.append(value)
    return column


def read_trace(path: Path) -> Iterator[TraceFile]:
    """Returns an iterator over the files of a chunk trace, with `array.array` objects of fingerprints (8 bytes each) and lengths (4
    bytes each), which NumPy takes without a copy. The memory is that of one file.

    Raises ValueError, at once or from the iterator, if the file is no chunk trace, or is cut off or malformed, with the place, and if it
    is read for `write_trace` of the same file; and OSError.
    """
    reader = _core.TraceReader(path)
    return _files(reader, path, os.stat(path))


def _files(reader: _core.TraceReader, path: Path, facts: os.stat_result) -> Iterator[TraceFile]:
    while True:
        if (threading.get_ident(), facts.st_dev, facts.st_ino) in _written:
            raise ValueError(f"{os.fspath(path)}: is the trace that is read, and would be written over")
        if (begun := reader.next_file()) is None:
            return
        fingerprints, lengths = array("Q"), array("I")
        while (columns := reader.next_chunks()) is not None:
            fingerprints.frombytes(columns[0])
            lengths.frombytes(columns[1])
        yield TraceFile(begun[0], fingerprints, lengths, begun[1])


def policies() -> list[str]:
    """Returns the names of the routing policies, which `simulate` takes."""
    return _core.cluster_policies()


def deduplications() -> list[str]:
    """Returns the names of the ways in which nodes find duplicates: by an index of all their chunks ("exact"), only in the containers
    that their similarity index leads to ("containers"), or not at all ("none")."""
    return _core.cluster_deduplications()


def simulate(
    trace: Path,
    policy: str | Iterable[str] = (),
    nodes: SupportsIndex | Iterable[SupportsIndex] = 4,
    *,
    handprint_size: SupportsIndex | Iterable[SupportsIndex] = 8,
    live: Iterable[tuple[SupportsIndex, SupportsIndex]] = (),
    super_chunk_bytes: SupportsIndex = 1 << 20,
    fixed_super_chunks: bool = False,
    points_per_node: SupportsIndex = 100,
    batch_size: SupportsIndex = 16,
    overload_percent: SupportsIndex = 105,
    deduplication: str = "exact",
    container_bytes: SupportsIndex = 4 << 20,
    cached_containers: SupportsIndex = 64,
    threads: SupportsIndex = 1,
    place: Callable[[str, int, int, list[tuple[int, int]]], object] | None = None,
) -> dict[str, Any]:
    """Stores a chunk trace in simulated clusters that are empty at first, one for each policy, number of nodes and handprint size.

    trace
        A file, which is read once for each simulation, and once before.
    policy
        One or more of the names that `policies` returns; all of them if there are none.
    nodes
        The nodes of the cluster, from 1 to 65,536, or several such numbers.
    handprint_size
        The representative fingerprints of a super-chunk, from 1 to 64, or several such numbers.
    live
        Changes of which nodes are alive, as (count, percent): from this percentage of the chunks on, the first `count` nodes are.
    super_chunk_bytes, fixed_super_chunks
        The mean length of super-chunks, from 2 to 1 GiB, and whether they end by it alone, as in the paper, and not by content.
    points_per_node
        The points of a node on the hash ring, from 1 to 10,000.
    batch_size
        The routing units that are routed by the same state of the cluster, from 1 to 65,536.
    overload_percent
        The load above which a node is overloaded, in percent of the mean: from 100 to 10,000, or 0 for never.
    deduplication
        One of the names that `deduplications` returns.
    container_bytes, cached_containers
        The length of containers, from 1 to 1 GiB, and how many of them the cache of a node has, from 1 to 1,000,000; for
        "containers".
    threads
        The simulations that run at once, from 1 to 4096.
    place
        A function that is called with the policy, the number of nodes, the node and the chunks, (fingerprint, length), of each routing
        unit. The simulations then run one after the other. What it raises ends the call.

    The report is that of `cutpoint-cluster simulate --json` with the same names: `trace` (`file_count`, `chunk_count`, `byte_count`,
    `unique_bytes`, `applications`) and `simulations`, a list with a dict for each number of nodes, handprint size and policy, in this
    order: `policy`, `node_count`, `handprint_size`, `normalized_ratio`, `data_skew`, `relative_saving`, `nodes`, ...

    Raises ValueError with the sentence of the command for an option or a trace that is wrong, and OSError.
    """
    _checked("deduplication", deduplication, str)
    chosen = [policy] if isinstance(policy, str) else list(policy) or policies()
    for name in chosen:
        _checked("policy", name, str)
    changes = [(_any("live", count), _any("live", percent)) for count, percent in live]
    options = [
        _core.SimulationOptions.make(
            name,
            node_count,
            size,
            _any("super_chunk_bytes", super_chunk_bytes),
            bool(fixed_super_chunks),
            _any("points_per_node", points_per_node),
            _any("batch_size", batch_size),
            _any("overload_percent", overload_percent),
            deduplication,
            _any("container_bytes", container_bytes),
            _any("cached_containers", cached_containers),
            changes,
        )
        for node_count in _numbers("nodes", nodes)
        for size in _numbers("handprint_size", handprint_size)
        for name in chosen
    ]
    told: list[Callable[[int, int, list[tuple[int, int]]], object]] = []
    if place is not None:
        notify, labels = place, [(each.policy, each.node_count) for each in options]
        told.append(lambda number, node, chunks: notify(*labels[number], node, chunks))
    return _core.simulate(trace, options, _number("threads", threads, 1, MOST_THREADS), told)


def _any(name: str, value: SupportsIndex) -> int:
    """A number whose bounds the compiled module knows."""
    return _number(name, value, 0, MOST_BYTES)


def _numbers(name: str, values: SupportsIndex | Iterable[SupportsIndex]) -> list[int]:
    return [_any(name, each) for each in (values if isinstance(values, Iterable) else [values])]
