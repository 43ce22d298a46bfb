"""What tasks do, as pure functions of files and arrays: pages of files, tables of their chunks, and counts of ranges of fingerprints.

    pages ──► map_page, map_segment ──► merge ──► count_range

A table has a row for each distinct fingerprint, in their order: the fingerprint, the length of its chunk, and its owner, the first
file that has it. An owner is a number whose order is that of the walk, and which ends in the file's kind. Tables may have the same
chunks more than once: merging them again changes nothing, so a task can be repeated.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import json
import os
import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutpoint import _core
from cutpoint._settings import settings

Array = NDArray[Any]

KIND_BITS = 20
FILE_BITS = 32  #: and 12 bits above them for the listing
FACTS = KIND, IS_LARGE, SIZE, MODIFIED, CHANGED, INODE = range(6)

#: Columns of a table that counts kinds of files, and of one that does not.
WITH_KINDS = np.dtype([("fingerprint", "<u8"), ("length", "<u4"), ("owner", "<u8")])
WITHOUT_KINDS = np.dtype([("fingerprint", "<u8"), ("length", "<u4")])

MOST_PAGE_FILES = 20_000
RUN_BYTES = 64 << 10  #: a file is not divided where so many bytes are equal


class DedupError(Exception):
    """The work cannot go on. The text is one sentence."""


@dataclass(frozen=True)
class Job:
    """What all tasks are told."""

    cuts: str
    are_cuts_named: bool
    parameters: tuple[tuple[str, str], ...]
    fingerprint: str
    fingerprint_key: bytes | None
    backend: str
    memory_bytes: int | None
    context: str
    threads: int
    limit_read: int
    sample: int
    has_kinds: bool
    partitions: int
    checkpoint: str | None

    @functools.cached_property
    def core(self) -> Any:
        """The job of the compiled module, of which each process makes its own."""
        return made_core(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "core"}


@functools.lru_cache(maxsize=4)
def made_core(job: Job) -> Any:
    how = settings(
        job.cuts, job.fingerprint, job.fingerprint_key, job.backend, job.threads or None, job.memory_bytes, dict(job.parameters)
    )
    return _core.DedupJob(how, job.context, job.are_cuts_named)


# --- Pages ---


def pages(job: Job, paths: list[str], walk: tuple[Any, ...], most_bytes: int) -> Iterator[Any]:
    """Yields for each page what the driver needs to know, and then its files: paths, and an array of their facts."""
    ready: queue.Queue[Any] = queue.Queue(maxsize=2)

    def list_files() -> None:
        try:
            _core.list_files(job.core, paths, walk, most_bytes, MOST_PAGE_FILES, ready.put)
            ready.put(None)
        except BaseException as error:
            ready.put(error)

    threading.Thread(target=list_files, daemon=True).start()
    while (page := ready.get()) is not None:
        if isinstance(page, BaseException):
            raise page
        names, facts, byte_count, failures, repeated, others, kinds = page
        files = names, np.asarray(facts).copy()
        yield {
            "bytes": byte_count,
            "files": len(names),
            "failures": failures,
            "repeated": repeated,
            "others": others,
            "kinds": kinds,
            "large": files if len(names) == 1 and files[1][0, IS_LARGE] else None,
            "digest": digest_of(files),
        }
        yield files


def digest_of(*facts: Any) -> str:
    """Names files in the state in which they were listed, and whatever else decides the result of a task."""
    text = hashlib.sha256()
    for each in facts:
        if isinstance(each, tuple) and len(each) == 2 and isinstance(each[1], np.ndarray):
            text.update(b"\0".join(each[0]) + each[1].tobytes())
        else:
            text.update(repr(each).encode())
    return text.hexdigest()[:32]


# --- Tables ---


def distinct(rows: Array) -> Array:
    """Sorts rows and keeps, of those with equal fingerprints, the one of the first owner."""
    if not len(rows):
        return rows
    order = np.argsort(rows["fingerprint"], kind="stable")
    fingerprints = rows["fingerprint"][order]
    begins = np.flatnonzero(np.concatenate([[True], fingerprints[1:] != fingerprints[:-1]]))
    out = np.empty(len(begins), rows.dtype)
    out["fingerprint"] = fingerprints[begins]
    out["length"] = rows["length"][order[begins]]
    if rows.dtype == WITH_KINDS:
        out["owner"] = np.minimum.reduceat(rows["owner"][order], begins)
    return out


def table_of(job: Job, columns: dict[str, Array], kinds: Array, first_owner: int) -> Array:
    """Makes a table of the chunks of a page whose files have these kinds. `first_owner` is the first file without its kind."""
    fingerprints, lengths = columns["fingerprints"], columns["lengths"]
    sampled = slice(None) if job.sample == 1 else np.flatnonzero(fingerprints % np.uint64(job.sample) == 0)
    rows = np.empty(len(fingerprints[sampled]), WITH_KINDS if job.has_kinds else WITHOUT_KINDS)
    rows["fingerprint"], rows["length"] = fingerprints[sampled], lengths[sampled]
    if job.has_kinds:
        files = columns["files"][sampled].astype(np.uint64)
        rows["owner"] = np.uint64(first_owner) + (files << np.uint64(KIND_BITS)) + kinds[files.astype(np.intp)]
    return distinct(rows)


def ranges_of(table: Array, count: int) -> list[Array]:
    bounds = np.array([(i << 64) // count for i in range(1, count)], np.uint64)
    return np.split(table, np.searchsorted(table["fingerprint"], bounds))


def owner_of(listing: int, file: int) -> int:
    if file >> FILE_BITS or listing >> (64 - FILE_BITS - KIND_BITS):
        raise DedupError("there are more files than 2^32, or more machines than 4096")
    return ((listing << FILE_BITS) | file) << KIND_BITS


# --- Checkpoints: a file for each result of a map, which is written once ---


def saved(job: Job, key: str, compute: Callable[[], tuple[dict[str, Any], dict[str, Array]]]) -> tuple[dict[str, Any], dict[str, Array]]:
    """Returns a result from the checkpoint, or computes it and puts it there."""
    if job.checkpoint is None:
        return compute()
    path = os.path.join(job.checkpoint, key + ".npz")
    try:
        with np.load(path, allow_pickle=False) as file:
            columns = {name: file[name] for name in file.files}
        return json.loads(bytes(columns.pop("facts")).decode()), columns
    except FileNotFoundError:
        pass
    facts, columns = compute()
    arrays: dict[str, Any] = {"facts": np.frombuffer(json.dumps(facts).encode(), np.uint8), **columns}
    write_once(path, lambda file: np.savez(file, **arrays))
    return facts, columns


def write_once(path: str, write: Callable[[Any], object]) -> None:
    """Writes a file that has its name only when it is whole. A file that has the name already stays."""
    folder, name = os.path.split(path)
    directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    temporary = f"{path}.{os.getpid()}-{threading.get_ident()}"  # on NFS, where no file is without a name
    try:
        try:
            descriptor, source = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o644), None
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
                raise
            descriptor, source = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o644), temporary
        with os.fdopen(descriptor, "w+b") as file:
            write(file)
            file.flush()
            os.fsync(descriptor)
            with contextlib.suppress(FileExistsError):
                os.link(source or f"/proc/self/fd/{descriptor}", name, dst_dir_fd=directory)
        os.fsync(directory)
    except OSError as error:
        raise DedupError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        os.close(directory)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


# --- Map ---


def columns_of(views: tuple[Any, ...]) -> dict[str, Array]:
    names = "fingerprints", "lengths", "files", "lengths_of_all"
    return {name: np.asarray(view) for name, view in zip(names, views, strict=True)}


def map_page(job: Job, page: tuple[list[bytes], Array], listing: int, first_file: int) -> tuple[Any, ...]:
    """Reads whole files. Returns what was counted, and the table of their chunks in ranges of fingerprints."""
    names, facts = page

    def compute() -> tuple[dict[str, Any], dict[str, Array]]:
        views, counts, done, failed, failures, work = _core.map_files(job.core, names, job.limit_read)
        counted = {"done": done, "failed": failed, "failures": failures, "work": work}
        return counted, {**columns_of(views), "counts": np.asarray(counts)}

    counted, columns = saved(job, digest_of(page), compute)
    kinds = facts[:, KIND]
    present, rows = np.unique(kinds, return_inverse=True)
    sums = np.zeros((len(present), 3), np.uint64)
    np.add.at(sums, rows, columns["counts"])
    counted["kinds"] = [((listing, int(kind)), row.tolist()) for kind, row in zip(present, sums, strict=True)]
    counted["lengths"] = columns["lengths_of_all"]
    counted["read_bytes"] = int(sums[:, 1].sum())
    table = table_of(job, columns, kinds, owner_of(listing, first_file))
    return counted, *ranges_of(table, job.partitions)


def plan_segments(job: Job, page: tuple[list[bytes], Array], segment_bytes: int) -> list[tuple[int, int, int]]:
    """Divides a large file. A segment has an offset from which it is cut as if a stream began there, so that its cuts have met those
    of the whole file when it begins; its begin; and its end."""
    (name,), ((_, _, size, *_),) = page
    size = int(size)
    warm_up, unit = warm_up_of(job, name)
    begins = [0]
    with open(name, "rb", buffering=0) as file:
        while (position := begins[-1] + segment_bytes) < size:
            begin = -(-end_of_run(file.fileno(), position, size) // unit) * unit
            if size - begin < segment_bytes // 2:
                break
            begins.append(begin)
    return [(max(0, begin - warm_up), begin, end) for begin, end in zip(begins, [*begins[1:], size], strict=True)]


#: How many of the longest chunks a segment reads before its begin. Where candidates depend on the chunk's begin, or chunks have no
#: maximum, chunks meet later: on random data AE has not met after 1 MiB in 2 of 9 cases.
WARM_UP_CHUNKS = 4
LONG_WARM_UP_CHUNKS = 100
LONG_WARM_UP_BYTES = 4 << 20


def warm_up_of(job: Job, name: bytes) -> tuple[int, int]:
    """Returns how many bytes a segment of a file reads before its begin, and of what its begin is a multiple."""
    behind, reach, fixed, is_walking = _core.cut_bounds(job.core, name)
    if fixed:
        return 0, fixed
    if reach and not is_walking:
        return behind + WARM_UP_CHUNKS * reach, 1
    return behind + max(LONG_WARM_UP_BYTES, LONG_WARM_UP_CHUNKS * (reach or 0)), 1


def least_segment_bytes(job: Job, name: bytes) -> int:
    """Of segments that are so long, less than 0.1 % is read twice."""
    return 1250 * (warm_up_of(job, name)[0] + (_core.cut_bounds(job.core, name)[1] or LONG_WARM_UP_BYTES))


def end_of_run(file: int, position: int, size: int) -> int:
    """Returns an offset, from `position` on, where bytes differ from each other. Steps double, since a run may be most of a disk."""
    step = RUN_BYTES
    while position < size:
        block = os.pread(file, RUN_BYTES, position)
        if not block or block.count(block[:1]) != len(block):
            return position
        position += step
        step *= 2
    return size


def map_segment(
    job: Job, page: tuple[list[bytes], Array], listing: int, first_file: int, bounds: tuple[int, int, int]
) -> tuple[Any, ...]:
    """Reads a segment. It is not counted as a file, and if it cannot be read, or the file is another one now, it says so."""
    (name,), facts = page

    def compute() -> tuple[dict[str, Any], dict[str, Array]]:
        (first, end, chunk_count, resume), views, outside_bytes, work = _core.map_segment(
            job.core, name, facts[0].tolist(), *bounds, job.limit_read
        )
        counted = {"first": first, "end": end, "chunk_count": chunk_count, "resume": resume, "outside_bytes": outside_bytes}
        return {**counted, "work": work}, columns_of(views)

    try:
        counted, columns = saved(job, digest_of(page, bounds), compute)
    except (OSError, MemoryError) as error:
        return {"problem": str(error)}, *[None] * job.partitions
    counted["lengths"] = columns["lengths_of_all"]
    counted["read_bytes"] = bounds[2] - bounds[1]
    table = table_of(job, columns, facts[:, KIND], owner_of(listing, first_file))
    return counted, *ranges_of(table, job.partitions)


# --- Reduce ---


def merge(*tables: Array) -> tuple[int, Array]:
    """Returns the number of rows, and the table."""
    table = distinct(np.concatenate(tables))
    return len(table), table


def count_range(*tables: Array) -> dict[str, Any]:
    """Counts the distinct chunks of a range: for each kind of a listing their bytes and their number."""
    _, table = merge(*tables)
    lengths = table["length"].astype(np.float64)  # exact below 2^53 bytes
    owners = table["owner"] if table.dtype == WITH_KINDS else np.zeros(len(table), np.uint64)
    kind_mask = np.uint64((1 << KIND_BITS) - 1)
    keys = (owners >> np.uint64(FILE_BITS + KIND_BITS) << np.uint64(KIND_BITS)) | (owners & kind_mask)
    present, rows = np.unique(keys, return_inverse=True)
    sums = np.bincount(rows, lengths, len(present))
    counts = np.bincount(rows, minlength=len(present))
    return {
        "kinds": {
            divmod(int(key), 1 << KIND_BITS): (int(byte_count), int(count))
            for key, byte_count, count in zip(present, sums, counts, strict=True)
        },
        "entries": len(table),
        "held_bytes": 2 * sum(each.nbytes for each in tables),  # with the copy that is sorted
        "squares": float(np.square(lengths).sum()),
    }


def probe(table: object) -> None:
    """Shows that a table can be had."""


def describe_node(paths: list[str]) -> dict[str, Any]:
    return {"version": _core.__version__, "missing": [path for path in paths if not os.path.lexists(path)]}


def open_checkpoint(folder: str, options: str) -> None:
    """Makes a folder for results, or checks that its results were made with the same options."""
    path = os.path.join(folder, "options.json")
    try:
        os.makedirs(folder, exist_ok=True)
        write_once(path, lambda file: file.write(options.encode()))
    except OSError as error:
        raise DedupError(f"{folder}: the checkpoint cannot be written: {error.strerror}") from None
    with open(path, encoding="utf-8") as file:
        if file.read() != options:
            raise DedupError(f"{folder}: the checkpoint belongs to other paths or options, which it names in options.json")
