"""Threads, signals and forks: the GIL is released, and Ctrl-C ends long calls."""

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import cutpoint
import pytest

PATIENCE = 60
#: seconds; a tenth of one is usual, and a loaded machine takes longer
LONGEST_INTERRUPTION = 5
NOISE = os.urandom(1 << 20) * 96


def test_the_gil_is_released():
    """Another thread runs during a long call, which it could not do without the GIL."""
    gaps, stop = [], threading.Event()

    def watch() -> None:
        last = time.perf_counter()
        while not stop.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    watcher = threading.Thread(target=watch)
    watcher.start()
    begun = time.perf_counter()
    cutpoint.chunk_arrays(NOISE, "rabin", backend="scalar", threads=1)
    took = time.perf_counter() - begun
    stop.set()
    watcher.join()
    assert max(gaps) < took / 2


def test_any_number_of_streams_at_once():
    data = NOISE[: 3 << 20]
    expected = list(cutpoint.chunk(data))
    with ThreadPoolExecutor(8) as pool:
        for chunks in pool.map(lambda _: list(cutpoint.chunk(data)), range(32)):
            assert chunks == expected


@pytest.mark.parametrize("threads", [1, 4])
def test_many_chunkers_of_one_thread_share_the_memory_of_an_engine(threads):
    engine = cutpoint.Engine(threads, memory_bytes="64M")
    assert engine.threads == threads
    chunkers = [cutpoint.Chunker("fastcdc", size="64K:64K:256K", threads=engine) for _ in range(64)]
    lists = [[] for _ in chunkers]
    streams = [NOISE[i << 12 : (i << 12) + 700_000] for i in range(64)]
    for begin in range(0, 700_000, 90_000):
        for chunker, chunks, stream in zip(chunkers, lists, streams, strict=True):
            chunks += chunker.write(stream[begin : begin + 90_000])
    for chunker, chunks, stream in zip(chunkers, lists, streams, strict=True):
        chunks += chunker.finish()
        assert chunks == list(cutpoint.chunk(stream, "fastcdc", size="64K:64K:256K"))


def test_an_engine_refuses_a_stream_and_says_how_much_would_do():
    engine = cutpoint.Engine(2, memory_bytes=1 << 20)
    chunkers = []
    with pytest.raises(MemoryError, match=r"memory_bytes = \d+ of the engine would do") as refused:
        while len(chunkers) < 100:
            chunkers.append(cutpoint.Chunker(threads=engine))
    enough = cutpoint.Engine(2, memory_bytes=int(re.search(r"memory_bytes = (\d+)", str(refused.value))[1]))
    more = [cutpoint.Chunker(threads=enough) for _ in range(len(chunkers) + 1)]
    with pytest.raises(MemoryError):
        list(cutpoint.chunk([b"blocks"], threads=enough))
    more.pop().close()
    assert list(cutpoint.chunk([b"blocks"], threads=enough)) == list(cutpoint.chunk(b"blocks"))
    assert cutpoint.chunk_arrays(b"blocks", threads=enough).lengths.tolist() == [6]
    assert cutpoint.dedup([__file__], threads=cutpoint.Engine())["result"]


def test_an_engine_is_of_its_process():
    engine = cutpoint.Engine(2)
    child = os.fork()
    if child == 0:
        try:
            cutpoint.Chunker(threads=engine)
        except RuntimeError:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    for wrong in {"thread_limit": 5000}, {"memory_bytes": -1}, {"memory_bytes": "0"}, {"memory_bytes": "64 words"}, {"threads": 0}:
        with pytest.raises(ValueError, match=next(iter(wrong))):
            cutpoint.Engine(**wrong)


@pytest.mark.parametrize("call", ["write", "next"])
def test_a_second_thread_gets_an_error(call):
    """With many threads on one object each call does its work or raises, and no chunk is lost."""
    data = NOISE[: 4 << 20]
    chunker, iterator = cutpoint.Chunker(), cutpoint.chunk(data * 6)
    chunks, refused = [], []

    def work() -> None:
        for _ in range(6 if call == "write" else 1_000_000):
            try:
                chunks.extend(chunker.write(data) if call == "write" else [next(iterator)])
            except RuntimeError as error:
                refused.append(str(error))
            except StopIteration:
                return

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert set(refused) <= {"another thread is in a call on this object"}
    if call == "write":
        assert refused
        chunks += chunker.finish()
    byte_count = sum(chunk.length for chunk in chunks)
    assert byte_count == (len(data) * (24 - len(refused)) if call == "write" else 6 * len(data))


INTERRUPTED = """
import cutpoint, os, signal, sys, threading, time

call, path, slow_file = sys.argv[1:]
FAST = {"cuts": "rabin", "backend": "scalar", "threads": 1}
# A chunk has some bytes, and its window has 178,904: a mebibyte takes minutes.
SLOW = {**FAST, "cuts": "borg1(min_exp=2,max_exp=20,mask_bits=2,window=178904)"}
SENT = []
data = bytearray(os.urandom(1 << 20)) * (4 if call.startswith("slow") else 600)

def interrupt():
    time.sleep(0.3)
    SENT.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

def write(block_bytes, how):
    with cutpoint.Chunker(**how) as chunker:
        for begin in range(0, len(data), block_bytes):
            chunker.write(data[begin : begin + block_bytes])
        chunker.finish()

CALLS = {
    "pipe": lambda: list(cutpoint.chunk(path)),
    "dedup": lambda: cutpoint.dedup([path]),
    "arrays": lambda: cutpoint.chunk_arrays(data, **FAST),
    "write": lambda: write(len(data), FAST),
    "slow iterator": lambda: list(cutpoint.chunk(data, **SLOW)),
    "slow iterator over few bytes": lambda: list(cutpoint.chunk(data[:700_000], **SLOW)),
    "slow arrays": lambda: cutpoint.chunk_arrays(data, **SLOW),
    "slow writes": lambda: write(1000, SLOW),
    "slow dedup": lambda: cutpoint.dedup([slow_file], **SLOW),
}
threading.Thread(target=interrupt).start()
try:
    CALLS[call]()
except KeyboardInterrupt:
    print(time.monotonic() - SENT[0])
    assert list(cutpoint.chunk(b"usable")) != []
    sys.exit(42)
"""


@pytest.mark.parametrize("call", re.findall(r'^    "(.*)": lambda', INTERRUPTED, re.MULTILINE))
def test_ctrl_c_ends_a_long_call(call, tmp_path):
    pipe, slow_file = tmp_path / "pipe", tmp_path / "slow file"
    os.mkfifo(pipe)
    slow_file.write_bytes(NOISE[: 4 << 20])
    holder = os.open(pipe, os.O_RDWR)  # a writer that never writes
    try:
        done = subprocess.run(
            [sys.executable, "-c", INTERRUPTED, call, pipe, slow_file],
            stdout=subprocess.PIPE,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    finally:
        os.close(holder)
    assert done.returncode == 42
    assert float(done.stdout) < LONGEST_INTERRUPTION


def test_close_stops_the_threads():
    with cutpoint.Chunker(
        "borg1", min_exp=2, max_exp=20, mask_bits=2, window=178904, backend="scalar", threads=2
    ) as chunker:
        chunker.write(NOISE[: 4 << 20])
        time.sleep(0.1)
        begun = time.monotonic()
    assert time.monotonic() - begun < LONGEST_INTERRUPTION


AT_EXIT = """
import cutpoint, cutpoint.cluster, os, sys, threading, time

call, folder = sys.argv[1:]
path = os.path.join(folder, "file")
data = open(path, "rb").read() * 4
store = cutpoint.Store.open(os.path.join(folder, "store"))
snapshot = store.find("latest")

class Path:
    def __fspath__(self):
        return path

def write():
    with cutpoint.Chunker() as chunker:
        chunker.write(data)
        chunker.finish()

def restore():
    restore.count += 1
    store.restore(snapshot, os.path.join(folder, f"target {os.getpid()} {restore.count}"))

restore.count = 0
CALLS = {
    "iterator": lambda: list(cutpoint.chunk(data, avg_bytes=1024)),
    "iterator over few bytes": lambda: list(cutpoint.chunk(data[:100_000])),
    "iterator over a file": lambda: list(cutpoint.chunk(path)),
    "opening": lambda: cutpoint.chunk(Path()),
    "arrays": lambda: cutpoint.chunk_arrays(data),
    "write": write,
    "dedup": lambda: cutpoint.dedup([path]),
    "dedup without end": lambda: (started.set(), cutpoint.dedup(["/dev/zero"])),
    "back ends": cutpoint.backends,
    "backup": lambda: store.backup([path], read_everything=True),
    "snapshots": store.snapshots,
    "forget": lambda: store.forget(keep_last=1, rehearse=True),
    "restore": restore,
    "files": lambda: list(store.files(snapshot)),
    "read": lambda: store.read(snapshot, path, 0, 4096),
    "read by a file object": lambda: store.file(snapshot, path).read(),
    "check": lambda: store.check(read_data=True),
    "check with progress": lambda: store.check(read_data=True, progress=report),
    "prune": lambda: store.prune(rehearse=True),
    "simulation": lambda: cutpoint.cluster.simulate(trace, place=report),
    "diff": lambda: store.diff(snapshot, snapshot),
    "open": lambda: cutpoint.Store.open(os.path.join(folder, "store")),
}
started = threading.Event()
trace = os.path.join(folder, f"trace {os.getpid()}")
cutpoint.cluster.write_trace(trace, [cutpoint.cluster.TraceFile("a", range(5000), [4096] * 5000)])

def report(*_):
    started.set()
    for _ in range(1000):
        time.sleep(0.001)  # this thread is in Python when the interpreter ends it

def loop():
    while True:
        CALLS[call]()
        started.set()

threading.Thread(target=loop, daemon=True).start()
assert started.wait(60)
"""


def test_a_program_ends_while_a_daemon_thread_is_in_a_call(tmp_path):
    """Python ends such a thread when it takes the GIL again, and nothing that it uses may be destroyed before."""
    (tmp_path / "file").write_bytes(NOISE[: 1 << 20])
    with cutpoint.Store.create(tmp_path / "store") as store:
        store.backup(tmp_path / "file")

    def end(call: str) -> tuple[str, int, str]:
        done = subprocess.run(
            [sys.executable, "-c", AT_EXIT, call, tmp_path],
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return call, done.returncode, done.stderr

    calls = re.findall(r'^    "(.*)": ', AT_EXIT, re.MULTILINE)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = [each for each in pool.map(end, calls * 2) if each[1:] != (0, "")]
    assert failures == []


def test_a_handler_that_does_not_raise_does_not_end_the_call():
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(time.perf_counter()))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        chunks = cutpoint.chunk_arrays(NOISE, "rabin", backend="scalar", threads=1)
        ended = time.perf_counter()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert int(chunks.lengths.sum()) == len(NOISE)
    assert seen and seen[0] < ended


def in_child(data: bytes, inherited: cutpoint.Chunker, answers) -> None:
    try:
        inherited.write(data)
    except RuntimeError as error:
        answers.put(str(error))
    inherited = None
    answers.put(sum(chunk.length for chunk in cutpoint.chunk(data)))


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_the_child_of_a_fork_works():
    data = NOISE[: 3 << 20]
    assert list(cutpoint.chunk(data))  # starts threads, which the child does not have
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    with cutpoint.Chunker() as chunker:
        chunker.write(data)
        child = context.Process(target=in_child, args=(data, chunker, answers))
        child.start()
        child.join(PATIENCE)
        assert child.exitcode == 0
        assert "made before a fork" in answers.get()
        assert answers.get() == len(data)
        assert sum(chunk.length for chunk in chunker.finish()) <= len(data)
