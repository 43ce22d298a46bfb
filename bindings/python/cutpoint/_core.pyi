"""The types of the compiled module, for type checkers."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from cutpoint._chunks import Chunk
from cutpoint._device import BoundFields
from cutpoint._lanes import LaneFields
from cutpoint._settings import Bytes, Path, Stream

__version__: str

class CutpointError(RuntimeError):
    """A back end, a device or a library failed or is missing."""

class Cancelled(CutpointError):
    """The work was cancelled by another thread."""

class Settings:
    @staticmethod
    def make(
        cuts: str,
        parameters: Sequence[tuple[str, str]],
        fingerprint: str,
        fingerprint_key: bytes | None,
        backend: str,
        threads: int,
        memory_bytes: int | None,
    ) -> Settings: ...
    @property
    def canonical(self) -> str: ...
    @property
    def digest_bytes(self) -> int: ...
    @property
    def warnings(self) -> list[str]: ...

class DeviceBatches:
    @staticmethod
    def make(settings: Settings, device: int) -> DeviceBatches: ...
    def sizes(self, bounds: BoundFields) -> tuple[int, int, int]: ...
    def enqueue(
        self,
        bounds: BoundFields,
        batch: tuple[int, int, int, int],
        chunks: tuple[int, int, int, int, int],
        workspace: tuple[int, int],
        stream: int,
    ) -> None: ...

class DeviceDigests:
    @staticmethod
    def make(digest_bytes: int, stream: int, device: int) -> DeviceDigests: ...
    def insert(self, digests: int, count: int, new_chunks: int) -> int: ...
    def size(self) -> int: ...

def check_problem(problem: int, bounds: BoundFields) -> None: ...

class ChunkIterator:
    def __init__(self, settings: Settings, data: Stream, chunk_type: type[Chunk]) -> None: ...
    def __iter__(self) -> Iterator[Chunk]: ...
    def __next__(self) -> Chunk: ...

class StreamChunker:
    def __init__(self, settings: Settings, chunk_type: type[Chunk]) -> None: ...
    def write(self, data: Bytes) -> list[Chunk]: ...
    def finish(self) -> list[Chunk]: ...
    def close(self) -> None: ...

def chunk_arrays(settings: Settings, data: Stream) -> tuple[memoryview, memoryview, memoryview]: ...
def chunk_buffers(
    settings: Settings, data: Sequence[Bytes]
) -> tuple[memoryview, memoryview, memoryview, memoryview]: ...
def dedup(
    settings: Settings,
    paths: Sequence[Path],
    follow_links: bool,
    exclude: Sequence[Path],
    include: Sequence[Path],
    one_file_system: bool,
    exclude_caches: bool,
) -> dict[str, Any]: ...

class TraceReader:
    def __init__(self, path: Path) -> None: ...
    def next_file(self) -> tuple[str, int] | None: ...
    def next_chunks(self) -> tuple[bytes, bytes] | None: ...

class TraceWriter:
    def begin_file(self, application: str, client: int) -> bytes: ...
    def add(self, fingerprints: bytes, lengths: bytes) -> bytes: ...
    def finish(self) -> bytes: ...

class SimulationOptions:
    @staticmethod
    def make(
        policy: str,
        node_count: int,
        handprint_size: int,
        super_chunk_bytes: int,
        has_fixed_super_chunks: bool,
        points_per_node: int,
        batch_size: int,
        overload_percent: int,
        deduplication: str,
        container_bytes: int,
        cached_containers: int,
        live: Sequence[tuple[int, int]],
    ) -> SimulationOptions: ...
    @property
    def policy(self) -> str: ...
    @property
    def node_count(self) -> int: ...

def simulate(
    path: Path,
    options: Sequence[SimulationOptions],
    threads: int,
    place: Sequence[Callable[[int, int, list[tuple[int, int]]], object]],
) -> dict[str, Any]: ...
def create_store(
    folder: Path,
    secret: tuple[str, bytes] | None,
    cuts: str,
    fingerprint: str,
    compression_level: int,
    container_bytes: int,
    context: str,
    insecure_cuts: bool,
) -> None: ...

class PushedStream:
    def write(self, data: Bytes) -> int: ...
    def write_hole(self, count: int) -> None: ...
    def end(self) -> None: ...
    def fail(self, reason: str) -> None: ...

class PushedSession:
    def begin_stream(
        self,
        path: Path,
        permissions: int | None,
        user_id: int | None,
        group_id: int | None,
        modified: int | None,
    ) -> PushedStream: ...
    def add(
        self,
        path: Path,
        is_folder: bool,
        target: Path,
        permissions: int | None,
        user_id: int | None,
        group_id: int | None,
        modified: int | None,
    ) -> None: ...
    def cancel(self) -> None: ...
    def close(self) -> None: ...

class OpenStore:
    def __init__(self, folder: Path, secret: tuple[str, bytes] | None) -> None: ...
    def close(self) -> None: ...
    def insecure_cuts(self) -> list[str]: ...
    def cancel(self) -> None: ...
    def back_up(
        self,
        paths: Sequence[Path],
        host: str,
        tags: Sequence[str],
        time: int,
        parent: str,
        read_everything: bool,
        exclude: Sequence[Path],
        include: Sequence[Path],
        one_file_system: bool,
        exclude_caches: bool,
        standard_input_name: str,
        most_old_containers: int,
        threads: int,
        lanes: LaneFields,
        memory_bytes: int | None,
        most_bytes_per_second: int,
        progress: Sequence[Callable[[tuple[Any, ...]], object]],
    ) -> tuple[dict[str, Any], list[Any], str]: ...
    def begin_push(
        self,
        host: str,
        paths: Sequence[Path],
        tags: Sequence[str],
        time: int,
        most_streams: int,
        threads: int,
        lanes: LaneFields,
        memory_bytes: int | None,
        most_bytes_per_second: int,
    ) -> PushedSession: ...
    def commit_push(self, session: PushedSession) -> tuple[dict[str, Any], list[Any], str]: ...
    def snapshots(self) -> list[dict[str, Any]]: ...
    def find(self, id: str) -> dict[str, Any]: ...
    def remove(self, ids: list[str]) -> None: ...
    def restore(
        self,
        id: str,
        target: Path,
        path: Path,
        include: Sequence[Path],
        exclude: Sequence[Path],
        replace_files: bool,
        remove_others: bool,
        dry_run: bool,
        verify: bool,
        threads: int,
        most_bytes_per_second: int,
        progress: Sequence[Callable[[tuple[Any, ...]], object]],
    ) -> dict[str, Any]: ...
    def files(self, id: str, path: Path) -> list[Any]: ...
    def read(self, id: str, path: Path, begin: int, end: int) -> bytes: ...
    def check(
        self, read_data: bool, threads: int, progress: Sequence[Callable[[tuple[Any, ...]], object]]
    ) -> dict[str, Any]: ...
    def repair(self, threads: int) -> dict[str, Any]: ...
    def statistics(self) -> dict[str, int]: ...
    def apply_policy(
        self,
        counts: Sequence[int],
        spans: Sequence[str],
        keep_tags: Sequence[str],
        hosts: Sequence[str],
        paths: Sequence[Path],
        tags: Sequence[str],
        by_host: bool,
        by_paths: bool,
        by_tags: bool,
    ) -> list[tuple[dict[str, Any], tuple[str, ...]]]: ...
    def diff(
        self, before: str, before_path: Path, after: str, after_path: Path, compare_metadata: bool
    ) -> dict[str, Any]: ...
    def prune(
        self,
        most_unused: float,
        most_rewritten_bytes: int | None,
        rehearse: bool,
        threads: int,
        progress: Sequence[Callable[[tuple[Any, ...]], object]],
    ) -> dict[str, Any]: ...
    def copy_snapshots(
        self,
        source: OpenStore,
        ids: Sequence[str],
        threads: int,
        lanes: LaneFields,
        memory_bytes: int | None,
        progress: Sequence[Callable[[tuple[Any, ...]], object]],
    ) -> dict[str, Any]: ...
    def keys(self) -> list[tuple[str, str, bool]]: ...
    def add_key(self, secret: tuple[str, bytes] | None) -> str: ...
    def remove_key(self, id: str) -> None: ...

def algorithms() -> list[str]: ...
def profiles() -> list[str]: ...
def fingerprints() -> list[str]: ...
def backends() -> list[str]: ...
def cluster_policies() -> list[str]: ...
def cluster_deduplications() -> list[str]: ...
def forget_threads() -> None: ...
