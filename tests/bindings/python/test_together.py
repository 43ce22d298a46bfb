"""Threads, signals, forks: the GIL is released, Ctrl-C ends what is long, and nothing crashes or hangs."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import cutpoint
import pytest

PATIENCE = 60
NOISE = os.urandom(1 << 20) * 96


def test_the_gil_is_released():
    """Another thread goes on while a bulk call runs: it would not come by for the length of the call."""
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
        for found in pool.map(lambda _: list(cutpoint.chunk(data)), range(32)):
            assert found == expected


@pytest.mark.parametrize("call", ["write", "next"])
def test_a_second_thread_gets_an_error(call):
    """Many threads on one object: each call does its work or says why not; the chunks are whole all the same."""
    data = NOISE[: 4 << 20]
    chunker, iterator = cutpoint.Chunker(), cutpoint.chunk(data * 6)
    found, refused = [], []

    def work() -> None:
        for _ in range(6 if call == "write" else 1_000_000):
            try:
                found.extend(chunker.write(data) if call == "write" else [next(iterator)])
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
        found += chunker.finish()
    taken = sum(chunk.length for chunk in found)
    assert taken == (len(data) * (24 - len(refused)) if call == "write" else 6 * len(data))


INTERRUPTED = """
import cutpoint, os, signal, sys, threading, time

data = bytearray(os.urandom(1 << 20)) * 600

def interrupt():
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)

def long_call():
    if sys.argv[1] == "pipe":
        list(cutpoint.chunk(sys.argv[2]))
    elif sys.argv[1] == "dedup":
        cutpoint.dedup([sys.argv[2]])
    elif sys.argv[1] == "arrays":
        cutpoint.chunk_arrays(data, "rabin", backend="scalar", threads=1)
    else:
        with cutpoint.Chunker("rabin", backend="scalar", threads=1) as chunker:
            chunker.write(data)

threading.Thread(target=interrupt).start()
try:
    long_call()
except KeyboardInterrupt:
    assert list(cutpoint.chunk(b"usable")) != []
    sys.exit(42)
"""


@pytest.mark.parametrize("what", ["pipe", "dedup", "arrays", "write"])
def test_ctrl_c_ends_a_long_call(what, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    holder = os.open(pipe, os.O_RDWR)  # a writer that never writes
    try:
        done = subprocess.run([sys.executable, "-c", INTERRUPTED, what, pipe], timeout=PATIENCE, check=False)
    finally:
        os.close(holder)
    assert done.returncode == 42


def test_handlers_of_signals_run_meanwhile():
    """One that does not raise runs while the call works, which goes on."""
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
    assert list(cutpoint.chunk(data))  # there are threads, which the child has not
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    with cutpoint.Chunker() as chunker:
        chunker.write(data)
        child = context.Process(target=in_child, args=(data, chunker, answers))
        child.start()
        child.join(PATIENCE)
        assert child.exitcode == 0
        assert "before a fork" in answers.get()
        assert answers.get() == len(data)
        assert sum(chunk.length for chunk in chunker.finish()) <= len(data)
