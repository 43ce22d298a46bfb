"""Chunk traces and simulations are those of `cutpoint-cluster`, in numbers, places and sentences."""

import csv
import json
import os
import random
import subprocess
import threading
from collections import Counter

import numpy as np
import pytest
from conftest import ROOT, load
from cutpoint import cluster

COMMAND = os.environ.get("CUTPOINT_CLUSTER_BIN")
os.environ.setdefault("CUTPOINT_CLUSTER_BIN", "")  # which the tests of the command read when they are loaded
traces = load(ROOT / "tests" / "cluster_cli" / "traces.py")


@pytest.fixture
def files() -> list[cluster.TraceFile]:
    """Files of three classes and clients, with data that recurs."""
    all_files = [file for seed in range(20) for file in traces.random_files(random.Random(seed)) if file.application == 0]
    return [
        cluster.TraceFile(f"class {i % 3}", [each.fingerprint for each in file.chunks], [each.length for each in file.chunks], file.client)
        for i, file in enumerate(all_files)
    ]


@pytest.fixture
def trace(files, tmp_path):
    cluster.write_trace(tmp_path / "trace", files)
    return tmp_path / "trace"


def run_command(*words: object) -> subprocess.CompletedProcess:
    if not COMMAND:
        pytest.skip("CUTPOINT_CLUSTER_BIN does not name the command to compare with")
    return subprocess.run([COMMAND, "simulate", *map(str, words)], capture_output=True, text=True, check=False, timeout=120)


def lists(file: cluster.TraceFile) -> tuple:
    return file.application, list(file.fingerprints), list(file.lengths), file.client


def test_a_trace_is_read_as_it_was_written(files, trace):
    assert [lists(file) for file in cluster.read_trace(trace)] == [lists(file) for file in files]
    arrays = cluster.TraceFile("a", np.arange(9000, dtype=np.uint64), np.full(9000, (1 << 32) - 1, np.uint32), (1 << 32) - 1)
    cluster.write_trace(trace, [arrays, cluster.TraceFile("a", [(1 << 64) - 1], [1])])
    first, second = cluster.read_trace(trace)
    assert np.array_equal(np.asarray(first.fingerprints), arrays.fingerprints) and np.asarray(first.lengths).dtype == np.uint32
    assert lists(second) == ("a", [(1 << 64) - 1], [1], 0)


def test_the_bytes_are_those_of_the_format(tmp_path):
    originals = traces.random_files(random.Random(3))
    assert len(originals) > 3
    named = [cluster.TraceFile(f"{file.application:03d}", [each[0] for each in file.chunks], [each[1] for each in file.chunks], file.client) for file in originals]
    cluster.write_trace(tmp_path / "trace", iter(named))
    assert (tmp_path / "trace").read_bytes() == traces.trace_bytes(originals)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, []),
        ({"policy": "app-dedupe", "nodes": [2, 9], "handprint_size": (4, 16)}, ["--policy", "app-dedupe", "--nodes", 2, "--nodes", 9, "--handprint", 4, "--handprint", 16]),
        (
            {"policy": ["sigma-dedupe", "produck"], "super_chunk_bytes": 50_000, "fixed_super_chunks": True, "points_per_node": 1, "batch_size": 3, "overload_percent": 0},
            ["--policy", "sigma-dedupe", "--policy", "produck", "--super-chunk", 50_000, "--fixed-super-chunks", "--points", 1, "--batch", 3, "--overload", 0],
        ),
        (
            {"nodes": 5, "live": [(2, 0), (5, 50)], "deduplication": "containers", "container_bytes": 100_000, "cached_containers": 2, "threads": 3},
            ["--nodes", 5, "--live", "2@0", "--live", "5@50", "--deduplication", "containers", "--container", 100_000, "--cached-containers", 2],
        ),
    ],
)
def test_the_report_is_that_of_the_command(options, words, trace):
    ours = cluster.simulate(trace, **options)
    theirs = json.loads(run_command(trace, "--json", "-q", *words).stdout)
    for report in ours, theirs:
        for simulation in report["simulations"]:
            assert simulation.pop("seconds") > 0
    assert ours == theirs
    assert [list(each) for each in ours["simulations"]] == [list(each) for each in theirs["simulations"]]
    assert ours["trace"]["chunk_count"] > 100


def test_units_are_placed_where_the_command_places_them(trace, tmp_path):
    placed = []
    options = {"nodes": 3, "super_chunk_bytes": 50_000}
    report = cluster.simulate(trace, ["app-dedupe", "extreme-binning"], place=lambda *unit: placed.append(unit), threads=4, **options)
    loads = Counter()
    for policy, nodes, node, chunks in placed:
        assert nodes == 3 and chunks
        loads[policy, node] += sum(length for _, length in chunks)
    for simulation in report["simulations"]:
        assert sum(loads[simulation["policy"], node] for node in range(3)) == report["trace"]["byte_count"]
    words = ["--policy", "app-dedupe", "--policy", "extreme-binning", "--nodes", 3, "--super-chunk", 50_000, "-q"]
    assert run_command(trace, "--placements", tmp_path / "placements", *words).returncode == 0
    rows = [(row["policy"], int(row["node"]), int(row["fingerprint"]), int(row["length"])) for row in csv.DictReader((tmp_path / "placements").open())]
    assert rows == [(policy, node, *chunk) for policy, _, node, chunks in placed for chunk in chunks]


def test_what_place_raises_ends_the_call(trace):
    calls = []

    def fail(*unit):
        calls.append(unit)
        raise KeyError("full")

    with pytest.raises(KeyError, match="full"):
        cluster.simulate(trace, "dht", place=fail)
    assert len(calls) == 1


def test_simulations_run_in_several_threads_at_once(trace):
    expected = cluster.simulate(trace, nodes=3)
    reports = []
    threads = [threading.Thread(target=lambda: reports.append(cluster.simulate(trace, nodes=3, threads=2))) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for report in (expected, *reports):
        for simulation in report["simulations"]:
            del simulation["seconds"]
    assert reports == [expected] * 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"nodes": 0}, ["--nodes", 0]),
        ({"policy": "dhd"}, ["--policy", "dhd"]),
        ({"deduplication": "exakt"}, ["--deduplication", "exakt"]),
        ({"live": [(2, 50), (1, 40)]}, ["--live", "2@50", "--live", "1@40"]),
    ],
)
def test_wrong_options_are_refused_with_the_sentence_of_the_command(options, words, trace):
    done = run_command(trace, *words)
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        cluster.simulate(trace, **options)
    assert done.stderr == f"cutpoint-cluster: error: {raised.value}\n"


def test_wrong_traces_are_refused_with_the_sentence_of_the_command(trace):
    good = trace.read_bytes()
    for content in (b"", b"no trace at all", good[:-12], good[:40] + b"\xff" * 12 + good[52:], good + b"more"):
        trace.write_bytes(content)
        done = run_command(trace)
        for read in (cluster.simulate, lambda path: list(cluster.read_trace(path))):
            with pytest.raises(ValueError) as raised:  # noqa: PT011
                read(trace)
            assert done.stderr == f"cutpoint-cluster: error: {raised.value}\n"
    for read in (cluster.simulate, cluster.read_trace):
        with pytest.raises(FileNotFoundError) as missing:
            read(trace.with_name("missing"))
        assert missing.value.filename == str(trace.with_name("missing"))


@pytest.mark.parametrize(
    ("file", "error", "message"),
    [
        (cluster.TraceFile("", [1], [1]), ValueError, "has 1 to 255 bytes, not 0"),
        (cluster.TraceFile("ä" * 128, [1], [1]), ValueError, "has 1 to 255 bytes, not 256"),
        (cluster.TraceFile("a", [1, 2], [1]), ValueError, "as many lengths as fingerprints"),
        (cluster.TraceFile("a", [1], [0]), ValueError, "length = 0 must be from 1 to 4294967295"),
        (cluster.TraceFile("a", [1], [1 << 32]), ValueError, "length = 4294967296 must be from 1"),
        (cluster.TraceFile("a", [-1], [1]), ValueError, "fingerprint = -1 must be from 0"),
        (cluster.TraceFile("a", [1], [1], 1 << 32), ValueError, "client = 4294967296 must be from 0"),
        (cluster.TraceFile("a", [0.5], [1]), TypeError, "float"),
        (cluster.TraceFile(b"a", [1], [1]), TypeError, "application must be str"),
    ],
)
def test_what_a_trace_cannot_have_is_refused(file, error, message, trace):
    before = trace.read_bytes()
    for path in trace, trace.with_name("new"):
        with pytest.raises(error, match=message):
            cluster.write_trace(path, [cluster.TraceFile("a", [1], [1]), file])
    assert trace.read_bytes() == before
    with pytest.raises(ValueError, match="cut off|no chunk trace"):  # and not taken for a whole trace
        list(cluster.read_trace(trace.with_name("new")))
    assert sorted(each.name for each in trace.parent.iterdir()) == ["new", "trace"]


def test_a_trace_is_not_written_over_itself(files, trace, tmp_path):
    """Neither by a reader that was open before nor by one that is opened when other files are written already; by any name."""
    before = trace.read_bytes()
    (tmp_path / "link").symlink_to("trace")
    os.link(trace, tmp_path / "other name")
    cluster.write_trace(tmp_path / "small", files[:1])

    def joined(*paths):
        for path in paths:
            yield from cluster.read_trace(path)

    for path in trace, tmp_path / "link", tmp_path / "other name":
        for read in (
            cluster.read_trace(trace),
            (file._replace(client=1) for file in cluster.read_trace(tmp_path / "link")),
            joined(tmp_path / "small", trace),
        ):
            with pytest.raises(ValueError, match="is the trace that is read, and would be written over"):
                cluster.write_trace(path, read)
            assert trace.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 4
    cluster.write_trace(tmp_path / "link", list(cluster.read_trace(trace)))
    assert trace.read_bytes() == before and (tmp_path / "link").is_symlink()
    cluster.write_trace(tmp_path / "joined", joined(tmp_path / "small", trace))
    assert len(list(cluster.read_trace(tmp_path / "joined"))) == len(files) + 1


def test_the_place_of_a_trace_stays_as_it_is(files, tmp_path):
    cluster.write_trace(tmp_path / "new", files)
    (tmp_path / "plain").touch()
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode
    (tmp_path / "new").chmod(0o640)
    cluster.write_trace(tmp_path / "new", files[:2])
    assert (tmp_path / "new").stat().st_mode & 0o7777 == 0o640
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        cluster.write_trace(pipe, files[:2])
        assert reader.communicate()[0] == (tmp_path / "new").read_bytes()
    if os.geteuid() != 0:
        (tmp_path / "new").chmod(0o440)
        with pytest.raises(PermissionError):
            cluster.write_trace(tmp_path / "new", files)


def test_another_thread_reads_a_trace_while_it_is_replaced(files, trace):
    def read_elsewhere():
        counts = []
        thread = threading.Thread(target=lambda: counts.append(len(list(cluster.read_trace(trace)))))
        thread.start()
        thread.join()
        assert counts == [len(files)]
        yield files[0]

    cluster.write_trace(trace, read_elsewhere())
    assert len(list(cluster.read_trace(trace))) == 1


def test_names_are_listed(trace):
    assert "app-dedupe" in cluster.policies() and len(cluster.policies()) == 9
    assert cluster.deduplications() == ["exact", "containers", "none"]
    assert [each["policy"] for each in cluster.simulate(trace)["simulations"]] == cluster.policies()
    with pytest.raises(TypeError):
        cluster.simulate(trace, 5)
    with pytest.raises(ValueError, match="threads = 0 must be from 1 to 4096"):
        cluster.simulate(trace, threads=0)
