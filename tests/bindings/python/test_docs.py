"""The page's programs run, and the examples; and all of them pass the type checker."""

import re
import subprocess
import sys

import cutpoint
import pytest
from conftest import ROOT
from cutpoint import cluster

PAGE = (ROOT / "docs" / "python.md").read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
EXAMPLES = ROOT / "examples" / "python"
EXAMPLE = EXAMPLES / "compare_profiles.py"
PRINTED = [
    r"0 [1-9]\d* [0-9a-f]{8}\n",
    r"[1-9]\d* chunks, [1-9]\d* bytes on average\n",
    r"100 500000\n",
    r"buzhash\(.*\) 3000000\n",
    r"32768064 bytes of 64 files\n",
    r"fastcdc\(.*avg_bytes=4096.*\) \d+\.\d%\nno such file io_error 2\n",
    r"1 files?, 1000 bytes\n/.*/notes 1000\nb'0101'\n1 file, .*daily snapshot, .*monthly snapshot\n",
    r"2000000 bytes; incomplete: the data base was stopped\n",
    r"(app-dedupe|dht) 4 \d\.\d\d\n(app-dedupe|dht) 4 \d\.\d\d\n(app-dedupe|dht) 16 \d\.\d\d\n(app-dedupe|dht) 16 \d\.\d\d\n",
]


def python(*words: object, **options) -> subprocess.CompletedProcess:
    options.setdefault("cwd", ROOT)
    return subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, check=False, **options)


def test_every_program_is_expected():
    assert len(PROGRAMS) == len(PRINTED)


@pytest.mark.parametrize(("program", "printed"), list(zip(PROGRAMS, PRINTED, strict=False)))
def test_a_program_runs(program, printed):
    done = python("-c", program)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(printed, done.stdout), done.stdout


def test_the_page_names_what_is_there():
    for name in {*cutpoint.__all__} - {"Chunk", "ChunkArrays", "__version__"}:
        assert re.search(rf"\b{name}\b", PAGE), name
    for name in cluster.__all__:
        assert re.search(rf"\b{name}\b", PAGE.partition("## Clusters")[2]), name


def test_the_example_compares_all_profiles(tmp_path):
    (tmp_path / "a").write_bytes(bytes(range(256)) * 2000)
    done = python(EXAMPLE, tmp_path)
    assert done.returncode == 0, done.stderr
    header, *rows = done.stdout.splitlines()
    assert header.split() == ["profile", "savings", "mean", "bytes", "chunks", "MiB/s"]
    assert header in PAGE
    assert {row.split()[0] for row in rows} == set(cutpoint.profiles())
    failed = python(EXAMPLE, tmp_path / "missing")
    assert failed.returncode == 1 and "No such file" in failed.stderr


def test_the_example_backs_up(tmp_path):
    (tmp_path / "a").write_bytes(bytes(range(256)) * 2000)
    for count in 1, 2:
        done = python(EXAMPLES / "back_up.py", tmp_path / "store", tmp_path / "a")
        assert done.returncode == 0, done.stderr
        header, *rows = done.stdout.splitlines()
        assert header.split() == ["snapshot", "time", "files", "MiB", "added"]
        assert [row.split()[3:5] for row in rows] == [["1", "0.5"]] * count
    done = python(EXAMPLES / "back_up.py", tmp_path / "store", tmp_path / "a", "--keep-daily", 1)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 2, done.stderr
    failed = python(EXAMPLES / "back_up.py", tmp_path / "store", tmp_path / "a", tmp_path / "missing")
    assert failed.returncode == 1 and "missing" in failed.stderr


def test_types(tmp_path):
    pytest.importorskip("mypy")
    files = [*EXAMPLES.glob("*.py")]
    for number, program in enumerate(PROGRAMS):
        files.append(tmp_path / f"program_{number}.py")
        files[-1].write_text(program)
    cache = f"--cache-dir={tmp_path}/cache"
    for checked in (files, ["-p", "cutpoint"]):
        # What the compiled module returns is of any type.
        done = python("-m", "mypy", "--strict", "--no-warn-return-any", cache, *checked)
        assert done.returncode == 0, done.stdout + done.stderr
