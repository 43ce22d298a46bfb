"""A deduplication by tasks counts what the command counts, however files are divided and whatever is lost. Here tasks run on threads;
tests/bindings/ray runs them on Ray."""

import concurrent.futures
import functools
import json
import os
import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cutpoint
import cutpoint.ray
import pytest
from conftest import COMMAND, tree_files
from cutpoint.ray._driver import TaskLost
from cutpoint.ray._tables import DedupError
from hypothesis import given, settings
from hypothesis import strategies as st


class ThreadTasks:
    """Runs tasks on threads. `is_lost` says of each value of a task whether it is lost when it is asked for the first time."""

    slots, threads, nodes = 2, 2, ("here",)

    def __init__(self, is_lost: Callable[[str, int], bool] = lambda name, output: False) -> None:
        self.pool = concurrent.futures.ThreadPoolExecutor(4)
        self.is_lost = is_lost
        self.names: list[str] = []

    def value(self, argument: Any) -> Any:
        if not isinstance(argument, concurrent.futures.Future):
            return argument
        if getattr(argument, "lost", False):
            raise TaskLost("lost")
        return argument.result()

    def submit(self, name, function, *arguments, outputs=1, cpus=0, node=None):
        handles: list[Any] = [concurrent.futures.Future() for _ in range(outputs)]
        self.names.append(name)

        def run() -> None:
            try:
                values = function(*map(self.value, arguments))
                for number, (handle, value) in enumerate(zip(handles, values if outputs > 1 else [values], strict=True)):
                    handle.lost = self.is_lost(name, number)
                    handle.set_result(value)
            except BaseException as error:
                for handle in handles:
                    handle.set_exception(error)

        self.pool.submit(run)
        return handles

    def stream(self, name, function, *arguments, node=None) -> Iterator[Any]:
        for number, value in enumerate(function(*arguments)):
            handle: Any = concurrent.futures.Future()
            handle.set_result(value)
            handle.lost = self.is_lost(name, number)
            yield handle

    def wait(self, handles):
        return next(iter(concurrent.futures.wait(handles, return_when=concurrent.futures.FIRST_COMPLETED).done))

    def get(self, handle):
        return self.value(handle)

    def cancel(self, handles) -> None:
        pass


def said_by_command(*words: object) -> dict[str, Any]:
    if COMMAND is None:
        pytest.skip("CUTPOINT_BIN does not name the command to compare with")
    done = subprocess.run([COMMAND, "dedup", "--json", *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


COUNTS = "cuts", "fingerprint", "input_count", "failed_input_count", "repeated_input_count", "classes", "kinds"


def check_equal(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    for name in COUNTS:
        assert ours[name] == theirs[name], name
    for report in ours, theirs:
        del report["result"]["index"]["memory_bytes"], report["result"]["index"]["bytes_per_entry"]
    assert ours["result"] == theirs["result"]


def check(paths: list[Path], words: list[object] = [], tasks: ThreadTasks | None = None, **options: Any) -> dict[str, Any]:
    ours = cutpoint.ray.dedup(paths, _tasks=tasks or ThreadTasks(), **options)
    check_equal(ours, said_by_command(*words, *paths))
    return ours


@pytest.fixture
def tree(tmp_path: Path, file_of: Callable[..., Path]) -> Path:
    noise = random.Random(4).randbytes(2_000_000)
    files = {
        **tree_files(noise),
        "sub/film.mp4": noise[5:300_000],
        **{f"many/{number}.c": noise[number : number + 3000] for number in range(200)},
    }
    for name, content in files.items():
        file_of(content, f"tree/{name}")
    top = tmp_path / "tree"
    (top / "link").symlink_to("a.TXT")
    os.link(top / "a.TXT", top / "sub" / "again.txt")
    with open(top / "sparse.img", "wb") as file:
        file.seek(3_000_000)
        file.write(noise[:400_000])
        file.truncate(9_000_000)
    return top


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, []),
        ({"task_bytes": 300_000}, []),
        ({"task_bytes": 300_000, "segment_bytes": 100_000}, []),
        ({"cuts": "gear", "avg_bytes": "1K", "task_bytes": "64K", "partitions": 3}, ["--algorithm", "gear", "--size", "1K"]),
        ({"context": "prune", "task_bytes": 300_000, "segment_bytes": "256K"}, ["--context", "prune"]),
        (
            {"cuts": "fixed", "size": "4K", "fingerprint": "xxh3", "task_bytes": 100_000},
            ["--algorithm", "fixed", "--size", "4K", "--hash", "xxh3"],
        ),
        ({"follow_links": True, "exclude": "*.bin", "exclude_caches": True}, ["--follow", "--exclude", "*.bin", "--exclude-caches"]),
        ({"exclude_in_any_case": "*.txt", "largest_file_bytes": 5_000_000}, ["--iexclude", "*.txt", "--exclude-larger-than", "5000000"]),
        (
            {"exclude_if_present": ["CACHEDIR.TAG"], "include": ["/sub", "/cache"]},
            ["--exclude-if-present", "CACHEDIR.TAG", "--include", "/sub", "--include", "/cache"],
        ),
    ],
)  # fmt: skip
def test_the_counts_are_those_of_the_command(options, words, tree):
    ours = check([tree], words, **options)
    assert ours["cluster"]["lost_tasks"] == 0
    assert ours["text"].startswith("savings ")


def test_names_of_one_file_and_paths_that_fail(tree):
    (tree / "sub" / "closed").mkdir()
    (tree / "dangling").symlink_to("nowhere")
    ours = check([tree / "sub" / "b.txt", tree, tree / "a.TXT", tree / "missing", tree / "sub"], follow_links=True, words=["-L"])
    assert {each["errno"] for each in ours["failures"]} == {2}
    assert ours["repeated_input_count"] > 2


def test_kinds_can_be_left_out(tree):
    ours, theirs = cutpoint.ray.dedup(tree, kinds=False, _tasks=ThreadTasks()), said_by_command(tree)
    assert ours["result"]["unique_bytes"] == theirs["result"]["unique_bytes"]
    assert ours["result"]["chunks"] == theirs["result"]["chunks"]
    assert ours["kinds"] == []


def test_a_sample_is_near_and_says_how_near(tree):
    exact = cutpoint.ray.dedup(tree, "gear", avg_bytes="1K", _tasks=ThreadTasks())["result"]
    sampled = cutpoint.ray.dedup(tree, "gear", avg_bytes="1K", sample=16, _tasks=ThreadTasks())["result"]
    assert sampled["bytes"] == exact["bytes"] and sampled["chunks"] == exact["chunks"]
    assert sampled["unique_bytes_error"] > 0
    assert abs(sampled["unique_bytes"] - exact["unique_bytes"]) < 4 * sampled["unique_bytes_error"]
    assert sampled["error_share"] == sampled["unique_bytes_error"] / sampled["bytes"]


@pytest.mark.parametrize("sample", [3, 5, 7, 11, 13, 30])
def test_a_small_sample_has_no_more_unique_bytes_than_bytes(tmp_path, file_of, sample):
    for number in range(40):
        file_of(random.Random(number).randbytes(20_000), f"tree/{number}.{number % 7}")
    report = cutpoint.ray.dedup(tmp_path / "tree", sample=sample, _tasks=ThreadTasks())
    for row in [report["result"], *report["kinds"]]:
        assert row["unique_bytes"] <= row["bytes"] and row["unique_chunk_count"] <= row["chunk_count"]
        assert row["duplicate_bytes"] == row["bytes"] - row["unique_bytes"]


def test_a_sample_of_nothing_is_an_error(tree):
    with pytest.raises(DedupError, match="keeps no fingerprint of"):
        cutpoint.ray.dedup(tree, sample=1 << 32, _tasks=ThreadTasks())


def test_kinds_need_not_be_utf_8(tmp_path):
    (tmp_path / "tree").mkdir()
    for name in (b"a.x\xff", b"b.txt", b"c\xff.txt"):
        Path(os.fsdecode(os.fsencode(tmp_path / "tree") + b"/" + name)).write_bytes(name * 1000)
    ours = cutpoint.ray.dedup(tmp_path / "tree", _tasks=ThreadTasks())
    assert ours["kinds"] == cutpoint.dedup(tmp_path / "tree")["kinds"]  # the command writes other text for such a byte


# --- Segments ---



def small(algorithm: str) -> dict[str, Any]:
    """Parameters by which chunks have some 1000 bytes."""
    return {"min_exp": 9, "max_exp": 12, "mask_bits": 9, "key": bytes(32)} if algorithm.endswith("-aes") else {"avg_bytes": "1K"}


spans = st.lists(st.tuples(st.sampled_from(["noise", "zeros", "period", "repeat"]), st.integers(1, 60_000)), min_size=1, max_size=6)


def content_of(span_list: list[tuple[str, int]], seed: int) -> bytes:
    noise, out = random.Random(seed), b""
    for kind, length in span_list:
        match kind:
            case "noise":
                out += noise.randbytes(length)
            case "zeros":
                out += bytes([length % 3]) * length
            case "period":
                out += (bytes(range(1, 1 + length % 250)) * (length // max(1, length % 250) + 1))[:length]
            case "repeat":
                out += out[-length:]
    return out


@pytest.mark.parametrize("warm_up", [0, 4])
@pytest.mark.parametrize("algorithm", cutpoint.algorithms())
def test_segments_have_the_cuts_of_the_whole_file(algorithm, warm_up, tmp_path, monkeypatch):
    monkeypatch.setattr(cutpoint.ray._tables, "WARM_UP_CHUNKS", warm_up)
    monkeypatch.setattr(cutpoint.ray._tables, "LONG_WARM_UP_CHUNKS", warm_up)
    monkeypatch.setattr(cutpoint.ray._tables, "LONG_WARM_UP_BYTES", warm_up * 2000)
    monkeypatch.setattr(cutpoint.ray._tables, "RUN_BYTES", 2048)
    again = 0

    @settings(max_examples=3)
    @given(st.lists(spans, min_size=1, max_size=3), st.integers(5_000, 60_000))
    def run(contents: list[list[tuple[str, int]]], segment_bytes: int) -> None:
        nonlocal again
        for number, span_list in enumerate(contents):
            (tmp_path / f"{number}.img").write_bytes(content_of(span_list, number))
        paths = [tmp_path / f"{number}.img" for number in range(len(contents))]
        sizes = {"task_bytes": segment_bytes, "segment_bytes": segment_bytes, "partitions": 2}
        ours = cutpoint.ray.dedup(paths, algorithm, **small(algorithm), **sizes, _tasks=ThreadTasks())
        theirs = cutpoint.dedup(paths, algorithm, **small(algorithm), threads=2)
        check_equal(ours, theirs)
        again += ours["cluster"]["segments_again"]

    run()


def test_little_is_read_twice(tmp_path):
    (tmp_path / "a.img").write_bytes(random.Random(1).randbytes(30_000_000))
    for algorithm in cutpoint.algorithms():
        sizes = {"task_bytes": "10M", "segment_bytes": "10M"}
        ours = cutpoint.ray.dedup(tmp_path / "a.img", algorithm, **small(algorithm), **sizes, _tasks=ThreadTasks())
        check_equal(ours, cutpoint.dedup(tmp_path / "a.img", algorithm, **small(algorithm)))
        assert ours["cluster"]["segments_again"] == 0, algorithm


# --- Losses and changes ---


@pytest.mark.parametrize(
    ("lost", "outputs"),
    [
        ("map files", (0,)), ("map files", (1,)), ("map segment", (0, 3)), ("merge", (0,)), ("merge", (1,)), ("count", (0,)),
        ("list files", (5, 6)),
    ],
)
def test_what_is_lost_is_done_again(lost, outputs, tree):
    seen = set()

    def is_lost(name: str, output: int) -> bool:
        if not name.startswith(lost) or output not in outputs or output in seen:
            return False
        seen.add(output)
        return True

    ours = check([tree], tasks=ThreadTasks(is_lost), task_bytes=100_000, segment_bytes=1_000_000)
    assert seen and ours["cluster"]["lost_tasks"] > 0


def test_a_task_that_is_lost_four_times_ends_the_run(tree):
    with pytest.raises(DedupError, match="lost 4 times"):
        cutpoint.ray.dedup(tree, _tasks=ThreadTasks(lambda name, output: name.startswith("map files")))


def test_a_file_that_changes_between_its_segments_is_read_once_more(tmp_path):
    path = tmp_path / "a.img"
    path.write_bytes(random.Random(1).randbytes(3_000_000))

    class Changing(ThreadTasks):
        def submit(self, name, function, *arguments, **options):
            if name.startswith("map segment") and not any(each.startswith("map segment") for each in self.names):
                path.write_bytes(random.Random(2).randbytes(2_000_000))
            return super().submit(name, function, *arguments, **options)

    ours = cutpoint.ray.dedup(path, _tasks=Changing(), task_bytes="1M", segment_bytes="500K")
    assert (ours["input_count"], ours["failed_input_count"], ours["result"]["bytes"]) == (1, 0, 2_000_000)
    check_equal(ours, said_by_command(path))


def test_a_file_that_some_machines_do_not_see_is_an_error(tree):
    class Blind(ThreadTasks):
        nodes = "first", "second"

        def submit(self, name, function, *arguments, node=None, **options):
            if name.startswith("map files"):
                (tree / "a.TXT").unlink(missing_ok=True)  # as if the task ran where it is not seen
            if name == "look":
                function = (lambda paths: {"missing": paths}) if node == "second" else (lambda paths: {"missing": []})
            return super().submit(name, function, *arguments, **options)

    with pytest.raises(DedupError, match="a.TXT: is not seen by second"):
        cutpoint.ray.dedup(tree, _tasks=Blind())


def test_a_checkpoint_goes_on(tree, tmp_path):
    options = {"task_bytes": 300_000, "segment_bytes": 100_000, "checkpoint": tmp_path / "kept"}
    tasks = ThreadTasks(lambda name, output: name == "count 0")
    with pytest.raises(DedupError):
        cutpoint.ray.dedup(tree, _tasks=tasks, **options)
    results = {each.name: each.stat().st_mtime_ns for each in (tmp_path / "kept").iterdir()}
    assert len(results) > 4
    (tree / ".hidden").write_bytes(b"changed")
    check([tree], tasks=ThreadTasks(), **options)
    after = {each.name: each.stat().st_mtime_ns for each in (tmp_path / "kept").iterdir()}
    assert after.items() >= results.items() and len(after) > len(results)
    with pytest.raises(DedupError, match="other paths or options"):
        cutpoint.ray.dedup(tree, "gear", _tasks=ThreadTasks(), **options)


def test_bad_input_is_refused_before_anything_is_read(tree):
    for options in {"fingerprint": "none"}, {"cuts": "fastcd"}, {"sample": 0}, {"task_bytes": "4Q"}, {"per_machine": tree}:
        with pytest.raises(ValueError):
            cutpoint.ray.dedup(tree, _tasks=None, **options)


# --- The command ---


@pytest.fixture
def ray_command(monkeypatch, capsys):
    from cutpoint.ray import _command

    monkeypatch.setattr(_command, "dedup", functools.partial(cutpoint.ray.dedup, _tasks=ThreadTasks()))

    def run(*words: object) -> tuple[int, str, str]:
        return _command.main(["dedup", *map(str, words)]), *capsys.readouterr()

    return run


def test_the_command_prints_the_report_of_dedup(ray_command, tree, tmp_path):
    (tmp_path / "list").write_text(f"{tree / 'sub'}\n{tree / 'a.TXT'}\n")
    (tmp_path / "patterns").write_text("# films\n*.mp4\n")
    chosen = "--files-from", tmp_path / "list", "--exclude-file", tmp_path / "patterns", "--threads", 2
    status, text, errors = ray_command(*chosen)
    assert (status, errors) == (0, "")
    assert COMMAND is not None
    theirs = subprocess.run([COMMAND, "dedup", *map(str, chosen)], capture_output=True, text=True, check=True).stdout
    timed = "join ", "time "
    assert [each for each in text.splitlines() if not each.startswith(timed)] == [
        each for each in theirs.splitlines() if not each.startswith(timed)
    ]


def test_the_command_prints_json_with_the_fields_of_its_schema(ray_command, tree):
    status, text, errors = ray_command("--json", tree, "--sample", 4, "--task-bytes", "1M")
    schema = json.loads((Path(__file__).parents[3] / "docs/schemas/dedup.schema.json").read_text())
    report = json.loads(text)
    assert set(schema["required"]) <= report.keys() and "text" not in report
    assert set(schema["properties"]["stages"]["items"]["required"]) <= report["stages"][0].keys()
    assert [*map(json.loads, errors.splitlines())][-1]["files"] == report["input_count"]


def test_the_command_says_what_is_wrong(ray_command, tree, tmp_path):
    status, text, errors = ray_command(tree / "missing")
    assert status == 1 and errors.startswith("cutpoint-ray: error: ") and str(tree / "missing") in errors
    (tmp_path / "list").write_text(f"{tree}\n\n{tree}\n")
    missing = tmp_path / "missing"
    for words in (
        ["--param", "mask"], ["--hash", "none"], ["--task-bytes", "4Q"], [], ["--context", missing], ["--files-from", missing],
        ["--exclude-file", missing], ["--files-from", tmp_path / "list"], ["--threads", 0],
    ):  # fmt: skip
        status, text, errors = ray_command(*words, *([tree] if words else []))
        assert (status, text, errors.count("\n")) == (2, "", 1), words
