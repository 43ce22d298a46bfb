"""The report of `dedup` is that of the command on the same files."""

import json
import os
import random

import cutpoint
import pytest
from conftest import tree_files


def fields_of(value, path="") -> set[str]:
    if isinstance(value, dict):
        return {field for key, item in value.items() for field in fields_of(item, f"{path}.{key}" if path else key)}
    if isinstance(value, list):
        return {field for item in value for field in fields_of(item, f"{path}[]")} if value else {path}
    return {path}


@pytest.fixture
def tree(tmp_path, file_of):
    noise = random.Random(4).randbytes(3_000_000)
    for name, content in tree_files(noise).items():
        file_of(content, f"tree/{name}")
    (tmp_path / "tree" / "link").symlink_to("a.TXT")
    return tmp_path / "tree"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, []),
        (
            {"cuts": "casync", "fingerprint": "blake3", "memory_bytes": 64 << 20},
            ["--profile", "casync", "--hash", "blake3", "--memory", "64M"],
        ),
        ({"cuts": "gear", "avg_bytes": "1K", "threads": 1}, ["--algorithm", "gear", "--size", "1K", "--threads", "1"]),
        ({"follow_links": True}, ["--follow"]),
        ({"exclude": "*.bin", "include": ["/sub", "*.TXT"]}, ["--exclude", "*.bin", "--include", "/sub", "--include", "*.TXT"]),
        ({"exclude_caches": True, "one_file_system": True}, ["--exclude-caches", "--one-file-system"]),
    ],
)
def test_the_report_is_that_of_the_command(options, words, tree, command):
    ours = cutpoint.dedup(tree, **options)
    theirs = json.loads(command("dedup", "--json", *words, tree))
    assert ours.pop("failures") == []
    for timed in ("wall_seconds", "bytes_per_second", "backends", "work", "stages"):
        assert fields_of(ours.pop(timed), timed) <= fields_of(theirs.pop(timed), timed)
    assert ours.keys() <= theirs.keys()
    assert ours == {name: theirs[name] for name in ours}
    assert ours["result"]["savings_share"] > 0.3


def test_inputs_that_fail_are_listed_and_the_others_read(tree):
    odd = os.fsdecode(os.fsencode(tree) + b"/\xff")
    report = cutpoint.dedup([tree / "missing", tree / "a.TXT", odd])
    assert (report["input_count"], report["failed_input_count"]) == (1, 2)
    assert report["result"]["bytes"] == 3_000_000
    first, second = report["failures"]
    assert (first["path"], first["error"], first["errno"]) == (str(tree / "missing"), "io_error", 2)
    assert "No such file" in first["message"] and second["path"] == odd


def test_no_bytes():
    report = cutpoint.dedup([])
    assert report["result"]["savings_share"] is None and report["result"]["chunks"]["mean_bytes"] is None
    assert report["kinds"] == []


def test_wrong_use(tree):
    with pytest.raises(ValueError, match="fingerprint = 'none'"):
        cutpoint.dedup(tree, fingerprint="none")
    with pytest.raises(TypeError):
        cutpoint.dedup([5])
    with pytest.raises(ValueError, match="!: a pattern needs a name"):
        cutpoint.dedup(tree, exclude=["!"])
    with pytest.raises(ValueError, match="fastcd"):
        cutpoint.dedup(tree, "fastcd")


def test_each_file_is_counted_once(tree):
    os.link(tree / "a.TXT", tree / "second name")
    report = cutpoint.dedup([tree / "a.TXT", tree / "second name", f"{tree}/./a.TXT"])
    assert report["result"]["bytes"] == 3_000_000
    assert (report["input_count"], report["repeated_input_count"]) == (1, 2)
