"""The driver of a deduplication: it has files listed, mapped and counted by tasks, and adds up what these return.

It holds numbers, and handles of tables that lie on the machines of the tasks. Eight groups of tables are merged to one, so its memory
does not grow with the number of files.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from cutpoint import _core
from cutpoint.ray import _tables
from cutpoint.ray._tables import DedupError, Job

MOST_ATTEMPTS = 4  #: of a task that is lost: once, and three times more
FAN_IN = 8  #: groups that are merged to one


class TaskLost(Exception):
    """A task, or a table that it needs, went away with its machine."""


class Tasks(Protocol):
    """Runs functions somewhere. Handles that are arguments become their values."""

    slots: int  #: maps that run at a time
    threads: int  #: all of them together
    nodes: list[Any]

    def submit(
        self, name: str, function: Callable[..., Any], *arguments: Any, outputs: int = 1, cpus: float = 0, node: Any = None
    ) -> list[Any]: ...

    def stream(self, name: str, function: Callable[..., Any], *arguments: Any, node: Any = None) -> Iterator[Any]: ...
    def wait(self, handles: list[Any]) -> Any: ...
    def get(self, handle: Any) -> Any: ...
    def cancel(self, handles: list[Any]) -> None: ...


@dataclass(eq=False)
class Running:
    submit: Callable[[], list[Any]]
    done: Callable[[Any, list[Any]], None]
    lost: Callable[[], None] | None  #: called instead of another attempt
    attempt: int
    handles: list[Any]


@dataclass(eq=False)
class Leaf:
    """A page of files, or a segment of a large one."""

    listing: int
    number: int  #: of the page in its listing
    first_file: int
    bounds: tuple[int, int, int] | None = None
    run: int = 0  #: how often its tables were lost


@dataclass(eq=False)
class Group:
    """A table for each range, and the leaves whose chunks they have, as they were in these runs."""

    leaves: list[tuple[Leaf, int]]
    tables: list[Any]
    attempts: int = 1  #: to merge or count them


@dataclass(eq=False)
class LargeFile:
    leaf: Leaf
    page: Any
    kind: int
    size: int
    segments: list[tuple[int, int, int]] = field(default_factory=list)
    results: dict[int, tuple[dict[str, Any], list[Any]]] = field(default_factory=dict)
    waiting: int = 0


def within(estimates: Any, bounds: Any) -> Any:
    """The estimates of kinds, each at most its bound. What one has beyond it goes to the others by their room, so that the sum stays."""
    capped = np.minimum(estimates, bounds)
    room, excess = bounds - capped, int(estimates.sum()) - int(capped.sum())
    share = min(1.0, excess / max(1, int(room.sum())))
    return capped + (room * share).astype(np.uint64)


class Driver:
    """One deduplication. `options` are paths, the walk, task_bytes, segment_bytes and is_per_machine."""

    def __init__(self, job: Job, tasks: Tasks, options: dict[str, Any], progress: Callable[[dict[str, Any]], None]) -> None:
        self.job, self.tasks, self.options, self.progress = job, tasks, options, progress
        self.running: dict[Any, Running] = {}
        self.maps = 0  # that run
        self.levels: list[list[Group]] = []
        self.kind_names: dict[tuple[int, int], tuple[int, str]] = {}
        self.kinds: dict[tuple[int, int], Any] = collections.defaultdict(lambda: np.zeros(3, np.uint64))
        self.lengths: collections.Counter[int] = collections.Counter()
        self.failures: list[dict[str, Any]] = []
        self.counts: collections.Counter[str] = collections.Counter()
        self.sums, self.backends = np.zeros(22), ("scalar", "scalar")
        self.digests: list[list[str]] = []
        self.begun = time.monotonic()

    # --- Tasks ---

    def start(
        self,
        submit: Callable[[], list[Any]],
        done: Callable[[Any, list[Any]], None],
        lost: Callable[[], None] | None = None,
        attempt: int = 1,
    ) -> None:
        """Starts a task. `done` gets its first value and the handles of all. The first result of a task counts."""
        handles = submit()
        self.running[handles[0]] = Running(submit, done, lost, attempt, handles)

    def step(self) -> None:
        """Waits until a task has ended, and goes on with what it returned."""
        handle = self.tasks.wait(list(self.running))
        task = self.running.pop(handle)
        try:
            value = self.tasks.get(handle)
        except TaskLost as error:
            self.counts["lost_tasks"] += 1
            if task.lost is not None:
                task.lost()
            elif task.attempt == MOST_ATTEMPTS:
                raise DedupError(f"a task was lost {task.attempt} times: {error}") from None
            else:
                self.start(task.submit, task.done, attempt=task.attempt + 1)
            return
        task.done(value, task.handles)
        self.report_progress()

    def report_progress(self) -> None:
        counts = self.counts
        self.progress(
            {
                "files": counts["done"] + counts["failed"], "listed_files": counts["listed_files"],
                "bytes": counts["read_bytes"], "tasks": counts["maps"], "running_tasks": len(self.running),
                "lost_tasks": counts["lost_tasks"], "seconds": time.monotonic() - self.begun,
            }
        )

    def finish_tasks(self) -> None:
        while self.running:
            self.step()

    # --- Pages ---

    def node_of(self, listing: int) -> Any:
        return self.tasks.nodes[listing] if self.options["is_per_machine"] else None

    def pages(self, listing: int) -> Iterator[tuple[dict[str, Any], Any]]:
        """Yields what pages have, and their handles. A listing that is lost begins again, and must find what it found."""
        digests, attempt = self.digests[listing], 1
        arguments = self.options["paths"], self.options["walk"], self.options["task_bytes"]
        page_count = 0
        while True:
            handles = self.tasks.stream("list files", _tables.pages, self.job, *arguments, node=self.node_of(listing))
            number = 0
            try:
                for handle in handles:
                    facts, page = self.tasks.get(handle), next(handles)
                    if number == len(digests):
                        digests.append(facts["digest"])
                    elif digests[number] != facts["digest"]:
                        raise DedupError("files were changed, and their list was lost with a machine: begin again")
                    number += 1
                    if number > page_count:
                        page_count = number
                        yield facts, page
                return
            except TaskLost as error:
                attempt += 1
                if attempt > MOST_ATTEMPTS:
                    raise DedupError(f"the list of files was lost {MOST_ATTEMPTS} times: {error}") from None

    def page_again(self, leaf: Leaf) -> Any:
        for number, (_, page) in enumerate(self.pages(leaf.listing)):
            if number == leaf.number:
                return page
        raise DedupError("files were removed, and their list was lost with a machine: begin again")

    def take_page(self, listing: int, number: int, facts: dict[str, Any], page: Any) -> None:
        counts = self.counts
        for kind in facts["kinds"]:
            if counts["kinds"] >> _tables.KIND_BITS:
                raise DedupError("there are more kinds of files than 2^20: leave kinds out")
            self.kind_names[listing, counts["kinds"]] = kind
            counts["kinds"] += 1
        self.failures += facts["failures"]
        counts["failed"] += len(facts["failures"])
        counts["repeated"] += facts["repeated"]
        counts["others"] += facts["others"]
        if not facts["files"]:
            return
        leaf = Leaf(listing, number, counts["first_file"])
        counts["first_file"] += facts["files"]
        counts["listed_files"] += facts["files"]
        if facts["large"] is None:
            self.map_page(leaf, page)
            return
        (name,), (row,) = facts["large"]
        large = LargeFile(leaf, page, int(row[_tables.KIND]), int(row[_tables.SIZE]))
        segment_bytes = self.options["segment_bytes"] or max(
            self.options["task_bytes"], _tables.least_segment_bytes(self.job, name), large.size // 256
        )
        arguments = "plan segments", _tables.plan_segments, self.job, page, segment_bytes
        submit = functools.partial(self.tasks.submit, *arguments, node=self.node_of(listing))
        self.start(submit, lambda planned, _: self.map_segments(large, planned))

    # --- Maps ---

    def map_leaf(self, leaf: Leaf, page: Any, done: Callable[[Any, list[Any]], None], attempt: int = 1) -> None:
        self.maps += 1
        function, name = (_tables.map_page, "map files") if leaf.bounds is None else (_tables.map_segment, "map segment")
        arguments = (self.job, page, leaf.listing, leaf.first_file, *([] if leaf.bounds is None else [leaf.bounds]))
        outputs = 1 + self.job.partitions
        submit = functools.partial(
            self.tasks.submit, f"{name} {leaf.listing}.{leaf.number}", function, *arguments,
            outputs=outputs, cpus=self.job.threads, node=self.node_of(leaf.listing),
        )  # fmt: skip

        def mapped(counted: Any, handles: list[Any]) -> None:
            self.maps -= 1
            done(counted, handles[1:])

        def lost() -> None:
            self.maps -= 1
            if attempt == MOST_ATTEMPTS:
                raise DedupError(f"a task was lost {attempt} times: {name} {leaf.listing}.{leaf.number}")
            self.map_leaf(leaf, page if self.is_there(page) else self.page_again(leaf), done, attempt + 1)

        self.start(submit, mapped, lost)

    def map_page(self, leaf: Leaf, page: Any) -> None:
        def done(counted: dict[str, Any], tables: list[Any]) -> None:
            self.counts["done"] += counted["done"]
            self.counts["failed"] += counted["failed"]
            self.check_seen(counted["failures"])
            self.failures += counted["failures"]
            for kind, counts in counted["kinds"]:
                self.kinds[kind] += np.array(counts, np.uint64)
            self.add_work(counted)
            self.add_group(Group([(leaf, leaf.run)], tables))

        self.map_leaf(leaf, page, done)

    def add_work(self, counted: dict[str, Any]) -> None:
        self.counts["maps"] += 1
        self.counts["read_bytes"] += counted["read_bytes"]
        for length, count in counted["lengths"].tolist():
            self.lengths[length] += count
        sums, *backends = counted["work"]
        largest = np.maximum(self.sums[-2:], sums[-2:])
        self.sums += sums
        self.sums[-2:] = largest
        self.backends = tuple(backends)

    def check_seen(self, failures: list[dict[str, Any]]) -> None:
        """Looks whether a file that was listed is there for some machines alone."""
        missing = next((each["path"] for each in failures if each["errno"] == 2), None)
        if missing is None or self.options["is_per_machine"]:
            return
        blind: list[str] = []
        seeing: list[str] = []
        for node in self.tasks.nodes:
            with contextlib.suppress(TaskLost):  # a machine that is dead now
                facts = self.tasks.get(*self.tasks.submit("look", _tables.describe_node, [missing], node=node))
                (blind if facts["missing"] else seeing).append(str(node))
        if blind and seeing:
            raise DedupError(f"{missing}: is not seen by {', '.join(blind)}: all machines must share the file system")

    # --- Large files ---

    def map_segments(self, large: LargeFile, segments: list[tuple[int, int, int]]) -> None:
        large.segments = segments
        if len(segments) == 1:
            self.map_page(large.leaf, large.page)
            return
        for number in range(len(segments)):
            self.map_segment(large, number)

    def map_segment(self, large: LargeFile, number: int) -> None:
        leaf = Leaf(large.leaf.listing, large.leaf.number, large.leaf.first_file, large.segments[number])
        large.waiting += 1

        def done(counted: dict[str, Any], tables: list[Any]) -> None:
            large.waiting -= 1
            large.results[number] = counted, [Group([(leaf, leaf.run)], tables)]
            if large.waiting == 0:
                self.join(large)

        self.map_leaf(leaf, large.page, done)

    def join(self, large: LargeFile) -> None:
        """Looks in order whether the chunks of each segment end where those of the next begin. If not, the next one is cut again
        from the last cuts of this one on, and if that does not help, together with it. If a segment could not be read, or the
        file is another one now, the file is read once more, by one task."""
        results = [large.results[number][0] for number in range(len(large.segments))]
        if any("problem" in each for each in results):
            self.map_page(large.leaf, large.page)
            return
        for number, (left, right) in enumerate(zip(results, results[1:], strict=False)):
            if left["end"] == right["first"]:
                continue
            self.counts["segments_again"] += 1
            self.counts["twice_read_bytes"] += large.segments[number + 1][2] - large.segments[number + 1][1]
            (warm_up, begin, _), (next_warm_up, next_begin, end) = large.segments[number : number + 2]
            if left["resume"] is not None and left["resume"] != next_warm_up:
                large.segments[number + 1] = left["resume"], next_begin, end
                self.map_segment(large, number + 1)
                return
            large.segments[number : number + 2] = [(warm_up, begin, end)]
            large.results = {i if i < number else i - 1: each for i, each in large.results.items() if i != number + 1}
            self.map_segment(large, number)
            return
        self.counts["done"] += 1
        chunk_count = sum(each["chunk_count"] for each in results)
        self.kinds[large.leaf.listing, large.kind] += np.array([1, large.size, chunk_count], np.uint64)
        for number, counted in enumerate(results):
            self.counts["twice_read_bytes"] += counted["outside_bytes"]
            self.add_work(counted)
            self.add_group(*large.results[number][1])

    # --- Reduction ---

    def add_group(self, group: Group, level: int = 0) -> None:
        while len(self.levels) <= level:
            self.levels.append([])
        self.levels[level].append(group)
        if len(self.levels[level]) == FAN_IN:
            self.merge(self.levels[level], level)
            self.levels[level] = []

    def reduce(
        self,
        name: str,
        function: Callable[..., Any],
        groups: list[Group],
        outputs: int,
        done: Callable[[list[Any], list[Any]], None],
    ) -> None:
        """Calls a function for each range, with the tables of all groups. If one is lost, what has it is mapped again."""
        values: list[Any] = [None] * self.job.partitions
        handles: list[Any] = [None] * self.job.partitions
        waiting, is_lost = self.job.partitions, False

        def ended(index: int | None, value: Any = None, outputs: list[Any] | None = None) -> None:
            nonlocal waiting, is_lost
            waiting -= 1
            if index is None:
                is_lost = True
            else:
                values[index], handles[index] = value, outputs
            if waiting == 0:
                self.recover(groups) if is_lost else done(values, handles)

        for index in range(self.job.partitions):
            tables = [group.tables[index] for group in groups]
            submit = functools.partial(self.tasks.submit, f"{name} {index}", function, *tables, outputs=outputs, cpus=1)
            self.start(submit, functools.partial(ended, index), lambda: ended(None))

    def merge(self, groups: list[Group], level: int) -> None:
        leaves = [leaf for group in groups for leaf in group.leaves]
        self.reduce(
            "merge", _tables.merge, groups, 2,
            lambda _, handles: self.add_group(Group(leaves, [each[1] for each in handles]), level + 1),
        )  # fmt: skip

    def is_there(self, handle: Any) -> bool:
        try:
            self.tasks.get(*self.tasks.submit("probe", _tables.probe, handle))
        except TaskLost:
            return False
        return True

    def recover(self, groups: list[Group]) -> None:
        """Keeps the groups whose tables can still be had, and maps the leaves of the others again, each once."""
        for group in groups:
            if all(map(self.is_there, group.tables)):
                group.attempts += 1
                if group.attempts > MOST_ATTEMPTS:
                    raise DedupError(f"a task was lost {MOST_ATTEMPTS} times: the one that counts a range of fingerprints")
                self.add_group(group)
                continue
            for leaf, run in group.leaves:
                if leaf.run != run:
                    continue  # a later run has its tables
                leaf.run += 1
                if leaf.run == MOST_ATTEMPTS:
                    raise DedupError(f"tables of chunks were lost {leaf.run} times")
                self.map_leaf(leaf, self.page_again(leaf), functools.partial(self.take_tables, leaf))

    def take_tables(self, leaf: Leaf, counted: dict[str, Any], tables: list[Any]) -> None:
        if "problem" in counted:
            raise DedupError(f"a table was lost, and its file cannot be read again: {counted['problem']}")
        self.add_group(Group([(leaf, leaf.run)], tables))

    def count(self) -> list[dict[str, Any]]:
        """Counts all ranges."""
        while True:
            self.finish_tasks()
            groups = [group for level in self.levels for group in level]
            if not groups:
                return []
            counted: list[dict[str, Any]] = []
            self.levels = []
            self.reduce("count", _tables.count_range, groups, 1, lambda values, _: counted.extend(values))
            self.finish_tasks()
            if counted:
                return counted

    # --- The whole ---

    def run(self) -> tuple[dict[str, Any], str]:
        """Returns the report and its text."""
        try:
            for listing in range(len(self.tasks.nodes) if self.options["is_per_machine"] else 1):
                self.digests.append([])
                self.counts["first_file"] = self.counts["kinds"] = 0
                for number, (facts, page) in enumerate(self.pages(listing)):
                    self.take_page(listing, number, facts, page)
                    while self.maps >= 2 * self.tasks.slots:
                        self.step()
            return self.report(self.count())
        except BaseException:
            self.tasks.cancel(list(self.running))
            raise

    def report(self, ranges: list[dict[str, Any]]) -> tuple[dict[str, Any], str]:
        sample, counts = self.job.sample, self.counts
        unique: dict[Any, Any] = collections.defaultdict(lambda: np.zeros(2, np.uint64))
        for each in ranges:
            for kind, sums in each["kinds"].items():
                unique[kind] += np.array(sums, np.uint64) * np.uint64(sample)
        named: dict[Any, Any] = collections.defaultdict(lambda: np.zeros(5, np.uint64))
        for kind in {**self.kinds, **unique}:
            name = self.kind_names[kind] if self.job.has_kinds else (0, "(all)")
            named[name][:3] += self.kinds[kind]
            named[name][3:] += unique[kind]
        inputs = [
            counts["done"], counts["failed"], counts["repeated"], self.tasks.threads,
            sum(each["entries"] for each in ranges), max((each["held_bytes"] for each in ranges), default=0),
            counts["others"],
        ]  # fmt: skip
        if sample > 1:
            if named and not inputs[4]:
                raise DedupError(f"sample = {sample} keeps no fingerprint of {sum(self.lengths.values())} chunks: take a smaller one")
            table = np.array(list(named.values())).reshape(-1, 5)
            for column in 3, 4:
                table[:, column] = within(table[:, column], table[:, column - 2])
            named = dict(zip(named, table, strict=True))
        kinds = [(name, row.tolist()) for name, row in named.items()]
        wall_seconds = time.monotonic() - self.begun
        report, text = _core.dedup_of_counts(
            self.job.core, kinds, list(self.lengths.items()), inputs, wall_seconds, self.sums.tolist(), *self.backends
        )
        if not self.job.has_kinds:
            report["kinds"] = report["classes"] = []
        if sample > 1:
            # Each distinct chunk is kept with the probability 1 / N, so the variance of N * sum(kept) is (N - 1) * sum(all squares).
            byte_count = report["result"]["bytes"]
            error = math.sqrt(sample * (sample - 1) * sum(each["squares"] for each in ranges))
            share = error / byte_count if byte_count else None
            report["result"] |= {"sample": sample, "unique_bytes_error": error, "error_share": share}
            text += f"\nsampled        one of {sample} fingerprints; standard error of the savings {100 * (share or 0):.2f} %\n"
        report |= self.unpredicted(report)
        report["failures"] = self.failures
        report["cluster"] = {
            "machines": len(self.tasks.nodes), "tasks": counts["maps"], "lost_tasks": counts["lost_tasks"],
            "segments_again": counts["segments_again"], "twice_read_bytes": counts["twice_read_bytes"],
            "range_bytes": inputs[5],
        }  # fmt: skip
        return report, text

    def unpredicted(self, report: dict[str, Any]) -> dict[str, Any]:
        """The fields of `dedup --json` for plans and lanes, of which tasks have none."""
        threads = self.tasks.threads
        nothing = {"plan": "processor", "predicted_bytes_per_second": None, "limit": None, "limit_bytes_per_second": None}
        for stage in report["stages"]:
            is_parallel = stage["stage"] in ("chunking", "fingerprinting")
            alone_seconds = stage["busy_seconds"] / (threads if is_parallel else 1)
            stage |= {"is_parallel": is_parallel, "predicted_bytes_per_second": None, "alone_seconds": alone_seconds}
        return {
            "interrupted": False, "join": "exact", "bottleneck": None, "comparison": None, "plan": "processor", "predictions": [],
            "before_offload": nothing, "after_offload": nothing, "device_cut_share": None, "devices": [], "lanes": [], "queues": [],
            "model": dict.fromkeys(("chunking_seconds_per_byte", "fingerprinting_seconds_per_byte", "index_seconds_per_byte"), 0.0)
            | {f"{name}_bytes_per_second": None for name in ("serial", "pipelined", "parallel")},
        }  # fmt: skip
