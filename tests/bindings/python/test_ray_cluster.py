"""A deduplication on three real raylets of this machine: what it counts is what the command counts, whatever is killed. Only where Ray
is installed, which scripts/test --full does."""

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import cutpoint.ray
import pytest
from cutpoint.ray import DedupError
from test_ray import check_equal, said_by_command, tree  # noqa: F401

os.environ["RAY_worker_niceness"] = "0"  # of 15 by default, at which a busy machine lets them starve
ray = pytest.importorskip("ray")


def make_cluster():
    from ray.cluster_utils import Cluster

    spills = {"object_spilling_threshold": 0.02, "min_spilling_size": 100_000}
    head = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False, "_system_config": spills}
    for attempt in range(4):
        cluster = Cluster()
        try:
            cluster.add_node(**head)
            for _ in range(2):
                cluster.add_node(num_cpus=1, object_store_memory=80 << 20)
            return cluster
        except Exception:  # Ray waits for a raylet for 30 seconds, which is too short on a busy machine
            cluster.shutdown()
            if attempt == 3:
                raise


@pytest.fixture(scope="module")
def cluster():
    new_cluster = make_cluster()
    yield new_cluster
    ray.shutdown()
    new_cluster.shutdown()


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """300 MB in 30 files, of which one is large."""
    folder = tmp_path_factory.mktemp("data")
    for number in range(29):
        (folder / f"{number}.bin").write_bytes(random.Random(number // 2).randbytes(7_000_000))
    (folder / "disk.img").write_bytes(random.Random(99).randbytes(60_000_000) + bytes(40_000_000))
    return folder


def run(cluster, paths, words=(), **options):
    ours = cutpoint.ray.dedup(paths, address=cluster.address, **options)
    check_equal(ours, said_by_command(*words, paths))
    return ours


def test_the_counts_are_those_of_the_command(cluster, tree, data):  # noqa: F811
    assert run(cluster, tree, task_bytes=300_000, segment_bytes=100_000)["cluster"]["machines"] == 3
    run(cluster, data, task_bytes="20M", segment_bytes="20M")
    run(cluster, tree, ["--context", "prune", "--follow"], context="prune", follow_links=True)


def test_each_machine_reads_its_own(cluster, tree):  # noqa: F811
    ours = cutpoint.ray.dedup(per_machine=tree, address=cluster.address)
    theirs = said_by_command(tree)
    for name, times in ("bytes", 3), ("chunk_count", 3), ("unique_bytes", 1), ("unique_chunk_count", 1):
        assert ours["result"][name] == times * theirs["result"][name]


def test_an_object_store_that_spills(cluster, data):
    spilled, is_done = set(), threading.Event()

    def look():
        while not is_done.wait(0.01):
            spilled.update(Path("/tmp/ray").glob("session_latest/ray_spilled_objects*/*"))

    looking = threading.Thread(target=look)
    looking.start()
    words = ["--algorithm", "gear", "--size", "64:128:256"]
    run(cluster, data, words, cuts="gear", size="64:128:256", task_bytes="20M", segment_bytes="50M", partitions=4)
    is_done.set()
    looking.join()
    assert spilled


def test_workers_that_are_killed(cluster, data):
    killed = 0

    def progress(event):
        nonlocal killed
        names = subprocess.run(["pgrep", "-f", "^ray::cutpoint: map"], capture_output=True, text=True, check=False).stdout.split()
        if names and killed < 3:
            os.kill(int(names[0]), signal.SIGKILL)
            killed += 1

    ours = run(cluster, data, task_bytes="20M", segment_bytes="20M", progress=progress)
    assert killed and ours["cluster"]["lost_tasks"]


def test_a_file_that_vanishes_and_one_that_changes(cluster, data, tmp_path):
    for number in range(8):
        (tmp_path / f"{number}.bin").write_bytes(random.Random(number).randbytes(20_000_000))

    def progress(event):
        if event["tasks"] == 1:
            (tmp_path / "7.bin").unlink(missing_ok=True)
            (tmp_path / "6.bin").write_bytes(b"changed")

    ours = cutpoint.ray.dedup(tmp_path, address=cluster.address, task_bytes="20M", progress=progress)
    assert (ours["input_count"], ours["failed_input_count"]) == (7, 1)
    assert ours["failures"][0]["errno"] == 2


def test_an_address_where_nobody_is_and_paths_that_are_missing(cluster, tmp_path):
    words = [sys.executable, "-m", "cutpoint.ray._command", "dedup", "/tmp", "--address", "127.0.0.1:1"]
    begun = time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "127.0.0.1:1" in done.stderr
    assert time.monotonic() - begun < 30  # most of it is the import of Ray on a loaded machine
    ours = cutpoint.ray.dedup(tmp_path / "missing", address=cluster.address)
    assert ours["failed_input_count"] == 1


@pytest.mark.parametrize("mode", ["token", "disabled"])
def test_a_token_is_sent_to_clusters_that_ask_for_one(tree, tmp_path, mode):  # noqa: F811
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    folder = tmp_path / ".ray"
    folder.mkdir()
    (folder / "auth_token").write_text("1f" * 32)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")} | {"HOME": str(tmp_path)}
    start = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", f"--port={port}", "--num-cpus=1", "--block"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    head = subprocess.Popen([*start, "--include-dashboard=false"], env=environment | {"RAY_AUTH_MODE": mode}, **quiet)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
            time.sleep(0.1)
        words = [sys.executable, "-m", "cutpoint.ray._command", "dedup", tree, "--address", f"127.0.0.1:{port}", "--json"]
        for _ in range(3):  # it answers before its raylet has joined
            done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=120)
            if done.returncode == 0:
                break
            time.sleep(2)
    finally:
        head.terminate()
        head.wait(60)
    assert done.returncode == 0 and all(line.startswith("{") for line in done.stderr.splitlines()), done.stderr  # progress alone
    check_equal(json.loads(done.stdout), said_by_command(tree))


def test_what_answers_and_is_not_ray(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        words = [sys.executable, "-m", "cutpoint.ray._command", "dedup", tmp_path, "--address", address]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and address in done.stderr


def test_a_machine_with_another_version_is_named(cluster, tree, monkeypatch):  # noqa: F811
    monkeypatch.setattr(cutpoint._core, "__version__", "99.0")
    with pytest.raises(DedupError, match="has cutpoint .*, and this program has 99.0"):
        cutpoint.ray.dedup(tree, address=cluster.address)


def test_what_was_cancelled_leaves_no_task(cluster, data):
    def stop(event):
        raise DedupError("stopped")

    with pytest.raises(DedupError, match="stopped"):
        cutpoint.ray.dedup(data, address=cluster.address, task_bytes="1M", progress=stop)
    for _ in range(300):
        running = subprocess.run(["pgrep", "-f", "^ray::(cutpoint|list)"], capture_output=True, text=True, check=False).stdout
        if not running:
            break
        time.sleep(0.1)
    assert not running


def test_a_checkpoint_goes_on_in_another_cluster_after_a_raylet_was_killed(cluster, data, tmp_path):
    options = {"task_bytes": "20M", "segment_bytes": "20M", "checkpoint": tmp_path / "kept"}
    killed = threading.Event()

    def kill_raylet(event):
        if event["tasks"] == 4 and not killed.is_set():
            killed.set()
            cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)

    ours = run(cluster, data, task_bytes="20M", segment_bytes="20M", progress=kill_raylet)
    assert killed.is_set() and ours["cluster"]["machines"] == 3

    def stop(event):
        if event["tasks"] == 6:
            raise DedupError("stopped")

    with pytest.raises(DedupError, match="stopped"):
        cutpoint.ray.dedup(data, address=cluster.address, progress=stop, **options)
    ray.shutdown()
    cluster.shutdown()
    results = set((tmp_path / "kept").iterdir())
    assert len(results) > 4
    ours = cutpoint.ray.dedup(data, address="local", **options)
    check_equal(ours, said_by_command(data))
    assert set((tmp_path / "kept").iterdir()) > results
    ray.shutdown()
