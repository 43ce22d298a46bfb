"""Deduplication reports of data that no single machine reads in time: `dedup` on a cluster of Ray.

Needs `pip install cutpoint[ray]`. No other part of the package imports Ray.
"""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Callable, Iterable
from typing import Any, SupportsIndex

from cutpoint import _core
from cutpoint._settings import MOST_THREADS, Parameter, Path, Size, _list, _memory, _size, _text
from cutpoint.ray._tables import DedupError, Job, digest_of, open_checkpoint

__all__ = ["DedupError", "dedup"]


def _count(name: str, number: SupportsIndex, most: int) -> int:
    if not 1 <= operator.index(number) <= most:
        raise ValueError(f"{name} = {number} must be from 1 to {most}")
    return operator.index(number)


def dedup(
    paths: Path | Iterable[Path] = (),
    cuts: str | None = None,
    *,
    per_machine: Path | Iterable[Path] = (),
    address: str = "auto",
    context: str = "",
    fingerprint: str = "sha256",
    fingerprint_key: bytes | None = None,
    backend: str = "auto",
    threads: SupportsIndex | None = None,
    memory_bytes: Size | None = None,
    follow_links: bool = False,
    exclude: Path | Iterable[Path] = (),
    exclude_in_any_case: Path | Iterable[Path] = (),
    include: Path | Iterable[Path] = (),
    exclude_if_present: Iterable[str] = (),
    largest_file_bytes: SupportsIndex | None = None,
    one_file_system: bool = False,
    exclude_caches: bool = False,
    limit_read: Size | None = None,
    kinds: bool = True,
    sample: SupportsIndex = 1,
    partitions: SupportsIndex = 16,
    task_bytes: Size = "4G",
    segment_bytes: Size | None = None,
    checkpoint: Path | None = None,
    task_options: dict[str, Any] | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
    _tasks: Any = None,
    **parameters: Parameter,
) -> dict[str, Any]:
    """Reports what `cutpoint.dedup` reports, of files that the machines of a Ray cluster read together.

    The arguments that are not listed here are those of `cutpoint.dedup`. The report is that of `cutpoint dedup --json`, with
    `failures` as `cutpoint.dedup` has them, `text`, which is the report for people, and `cluster`: `machines`, `tasks`,
    `lost_tasks`, `twice_read_bytes`, `segments_again` and `range_bytes`, the memory of the largest range. What is counted equals what
    one machine counts. `result` has `error_share`, the standard error of the savings, if fingerprints were sampled.

    paths, per_machine
        What is read: paths that every machine sees, or paths that each machine reads of its own disks. One of both.
    address
        "auto" for the cluster of this machine, "local" to start Ray in this process, or HOST:PORT.
    context
        "prune", or the text of a context file.
    threads
        How many processors a task takes. None: all of the smallest machine.
    limit_read
        The most bytes a second that each task reads.
    kinds
        Whether kinds of files are counted, for which each chunk takes 20 bytes instead of 12.
    sample
        Only fingerprints that this number divides are kept; it divides the memory. 1 is exact.
    partitions
        The number of ranges of fingerprints. A range is counted in the memory of one task.
    task_bytes, segment_bytes
        How much a task reads; larger files are read in segments by several tasks.
    checkpoint
        A folder that all machines see. Results of tasks are kept there, and a run that was stopped goes on.
    task_options
        Options of Ray for the tasks that read, such as {"label_selector": {"tier": "storage"}}.
    progress
        Called with a dict after each task: `files`, `bytes`, `tasks`, `running_tasks`, `lost_tasks`, `seconds`.

    Raises DedupError with one sentence if there is no Ray, no cluster, or a machine that cannot take part.
    """
    from cutpoint.ray._driver import Driver

    machine_paths = [os.path.abspath(os.fspath(each)) for each in _list(per_machine)]
    named = machine_paths or [os.path.abspath(os.fspath(each)) for each in _list(paths)]
    if bool(machine_paths) == bool(_list(paths)):
        raise ValueError("paths and per_machine are both given" if machine_paths else "there are no paths")
    tags = [tuple((*each.split(":", 1), "")[:2]) for each in exclude_if_present]
    walk = (
        follow_links, _list(exclude), _list(exclude_in_any_case), _list(include), tags,
        None if largest_file_bytes is None else operator.index(largest_file_bytes), one_file_system, exclude_caches,
    )  # fmt: skip
    job = Job(
        cuts=cuts or "fastcdc",
        are_cuts_named=cuts is not None,
        parameters=tuple((name, _text(name, value)) for name, value in parameters.items()),
        fingerprint=fingerprint,
        fingerprint_key=fingerprint_key,
        backend=backend,
        memory_bytes=_memory(memory_bytes),
        context=context,
        threads=0 if threads is None else _count("threads", threads, MOST_THREADS),
        limit_read=0 if limit_read is None else _size("limit_read", limit_read),
        sample=_count("sample", sample, 1 << 32),
        has_kinds=kinds,
        partitions=_count("partitions", partitions, 1 << 12),
        checkpoint=None if checkpoint is None else os.path.abspath(os.fspath(checkpoint)),
    )
    options = {
        "paths": named,
        "walk": walk,
        "task_bytes": _size("task_bytes", task_bytes),
        "segment_bytes": None if segment_bytes is None else _size("segment_bytes", segment_bytes),
        "is_per_machine": bool(machine_paths),
    }
    _ = job.core  # names, parameters and bounds are checked before a cluster is asked
    if (tasks := _tasks) is None:
        from cutpoint.ray._cluster import RayTasks, connect

        connect(address)
        tasks = RayTasks(job.threads or None, task_options or {})
        tasks.check(named, bool(machine_paths))
        job = Job(**{**job.__getstate__(), "threads": tasks.threads_each})
    if job.checkpoint is not None:
        identity = {
            "version": _core.__version__, "cuts": job.core.cuts, "context": job.core.context, "fingerprint": fingerprint,
            "key": fingerprint_key and digest_of(fingerprint_key), **{name: repr(value) for name, value in options.items()},
        }  # fmt: skip
        tasks.get(*tasks.submit("open checkpoint", open_checkpoint, job.checkpoint, json.dumps(identity, indent=1) + "\n"))
    report, text = Driver(job, tasks, options, progress or (lambda event: None)).run()
    report["text"] = text
    return report
