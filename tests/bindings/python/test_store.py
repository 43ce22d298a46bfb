"""A store brings back what was backed up, in ranges too, and names what is wrong."""

import io
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import cutpoint
import pytest
from cutpoint import Store

NOISE = random.Random(3).randbytes(700_000)
PATIENCE = 60


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    (tree / "sub").mkdir(parents=True)
    (tree / "large").write_bytes(NOISE)
    (tree / "sub" / "lines").write_bytes(b"first\nsecond\nthird\n")
    (tree / "link").symlink_to("large")
    os.utime(tree / "large", ns=(1, 1_600_000_000_123_456_789))
    return tree


@pytest.fixture
def store(tmp_path: Path):
    with Store.create(tmp_path / "store") as store:
        yield store


def damage(folder: Path) -> None:
    """Changes a byte of the first record of each container."""
    for path in (folder / "containers").glob("*/*"):
        path.chmod(0o600)
        with path.open("r+b") as file:
            file.seek(140)
            file.write(b"\x7f")


def test_what_is_backed_up_comes_back(store, tree, tmp_path):
    first = store.backup(tree, tags=["nightly"], time=1_700_000_000_123_456_789)
    assert first.datetime.isoformat() == "2023-11-14T22:13:20.123456+00:00"
    assert (first.files, first.folders > 1, first.bytes) == (3, True, len(NOISE) + 19)
    assert first.paths == (str(tree),) and first.tags == ("nightly",) and first.problems == ()
    assert first.time == 1_700_000_000_123_456_789 and not first.is_incomplete
    second = store.backup([str(tree)])
    assert second.parent == first.id and second.new_stored_bytes < 5000
    assert store.snapshots() == [first, second]
    assert store.find("latest") == second and store.find(first.id[:20]) == first
    restored = store.restore(second, tmp_path / "target", path=tree, verify=True)
    assert (restored.files, restored.problems) == (3, [])
    assert restored.written_bytes == len(NOISE) + 19 and restored.read_containers > 0
    assert (tmp_path / "target" / "large").read_bytes() == NOISE
    store.restore(second, tmp_path / "other", path=tree, exclude=["large"])
    assert store.restore(second.id, tmp_path / "other", path=tree).problems  # most files exist
    again = store.restore(second, tmp_path / "target", path=tree, replace_files=True)
    assert (again.problems, again.written_bytes) == ([], 0)
    store.remove(second)
    assert store.snapshots() == [first]
    assert store.statistics()["snapshots"] == 1


def test_files_are_listed(store, tree):
    snapshot = store.backup(tree)
    files = {Path(each.path).relative_to(tree).as_posix(): each for each in store.files(snapshot, tree)}
    assert list(files) == [".", "large", "link", "sub", "sub/lines"]
    assert files["large"].size == len(NOISE) and files["large"].modified == 1_600_000_000_123_456_789
    assert files["link"].kind == "symbolic link" and files["link"].target == "large"
    assert files["sub"].kind == "directory"
    old = Path("/etc/passwd")  # ctimes of young files are not stored
    here, (file,) = old.stat(), store.files(store.backup(old), old)
    assert (file.modified, file.changed, file.link_count) == (here.st_mtime_ns, here.st_ctime_ns, here.st_nlink)
    assert (file.device, file.inode, file.device_number, file.flags) == (here.st_dev, here.st_ino, 0, 0)


def test_a_file_object_reads_and_seeks(store, tree):
    snapshot = store.backup(tree)
    with store.file(snapshot, tree / "sub" / "lines") as file:
        assert list(file) == [b"first\n", b"second\n", b"third\n"]
        assert file.seek(-6, os.SEEK_END) == 13 and file.read() == b"third\n"
        file.seek(6)
        assert file.read(6) == b"second" and file.tell() == 12
    with store.file(snapshot, tree / "large") as file:
        file.seek(500_000)
        assert file.read(1000) == NOISE[500_000:501_000]
    with pytest.raises(ValueError, match="no content"):
        store.file(snapshot, tree)


def test_keys_open_an_encrypted_store(tmp_path, tree):
    key_file = tmp_path / "key"
    key_file.write_bytes(b"\x00\xff bytes")
    with Store.create(tmp_path / "store", password="pässword") as store:
        snapshot = store.backup(tree)
        added = store.add_key(key_file=key_file)
        assert {(key.kind, key.is_used) for key in store.keys()} == {("password", True), ("key file", False)}
    with Store.open(tmp_path / "store", key_file=key_file) as store:
        assert store.read(snapshot, tree / "large", 5, 10) == NOISE[5:10]
        store.remove_key(added)
    for wrong in {"key_file": key_file}, {"password": "other"}, {}, {"password": "x", "key_file": key_file}:
        with pytest.raises(ValueError):
            Store.open(tmp_path / "store", **wrong)


def test_damage_is_named_and_repaired(tmp_path, tree):
    with Store.create(tmp_path / "store") as store:
        snapshot = store.backup(tree)
        assert store.check(read_data=True).object_problems == []
    damage(tmp_path / "store")
    with Store.open(tmp_path / "store") as store:
        report = store.check(read_data=True)
        assert report.object_problems and report.file_problems
        assert {problem.snapshot for problem in report.file_problems} == {snapshot.id}
        repaired = store.repair()
        assert list(repaired.replaced) == [snapshot.id] and repaired.lost and repaired.damaged
        with Store.open(tmp_path / "store") as again:
            for each in store, again:  # the object that was used for the repair goes on, too
                report = each.check(read_data=True)
                assert (report.object_problems, report.file_problems) == ([], [])
                assert [left.id for left in each.snapshots()] == list(repaired.replaced.values())
        assert store.backup(tree).healed_chunks > 0


def test_errors_are_exceptions(store, tree, tmp_path):
    with pytest.raises(FileExistsError):
        Store.create(tmp_path / "store")
    with pytest.raises(FileNotFoundError) as missing:
        Store.open(tmp_path / "none")
    assert missing.value.filename == str(tmp_path / "none")
    with pytest.raises(cutpoint.CutpointError, match="not a store"):
        Store.open(tree)
    with pytest.raises(ValueError, match="compression_level = 20 must be from 0 to 19"):
        Store.create(tmp_path / "other", compression_level=20)
    with pytest.raises(ValueError, match="no keys"):
        store.keys()
    with pytest.raises(OSError, match="gone"):
        store.backup(tree / "gone")
    with pytest.raises(ValueError, match="no paths"):
        store.backup([])
    incomplete = store.backup([tree, tree.parent / "gone"])
    assert incomplete.is_incomplete and [problem.errno for problem in incomplete.problems] == [2]
    for id in "nothing", "", "../config":
        with pytest.raises(ValueError, match="no snapshot"):
            store.remove(id)
        with pytest.raises(ValueError, match="no snapshot"):
            store.find(id)
    with pytest.raises(OSError):
        store.read(incomplete, "/nothing")
    with pytest.raises(ValueError, match="begin = -1"):
        store.read(incomplete, tree / "large", -1)
    store.close()
    with pytest.raises(ValueError, match="closed"):
        store.backup(tree)


def test_errors_name_the_file_at_fault(store, tree, tmp_path):
    snapshot = store.backup(tree)
    absent = tree / "absent: as its name"
    calls = {
        absent: [
            lambda: store.backup(absent),
            lambda: store.read(snapshot, absent),
            lambda: store.files(snapshot, absent),
            lambda: store.file(snapshot, absent),
            lambda: store.restore(snapshot, tmp_path / "target", path=absent),
            lambda: store.diff(snapshot, snapshot, before_path=absent),
        ],
        tree / "large": [lambda: store.restore(snapshot, tree / "large")],
        tree / "large" / "target": [lambda: store.restore(snapshot, tree / "large" / "target")],
        tmp_path / "store" / "snapshots": [
            lambda: shutil.rmtree(tmp_path / "store" / "snapshots") or store.find("latest"),
        ],
    }
    for path, each in calls.items():
        for call in each:
            with pytest.raises(OSError) as raised:
                call()
            assert raised.value.filename == str(path) and "store" not in raised.value.strerror


def test_a_second_thread_gets_an_error(store, tmp_path):
    """The backup waits for a pipe, on which nobody writes before the error."""
    reading, writing = os.pipe()
    before = os.dup(0)
    os.dup2(reading, 0)
    try:
        thread = threading.Thread(target=store.backup, args=("-",), kwargs={"standard_input_name": "pipe"})
        thread.start()
        while not list((tmp_path / "store" / "leases").iterdir()):
            assert thread.is_alive()
        with pytest.raises(RuntimeError, match="another thread"):
            store.snapshots()
        os.write(writing, b"bytes")
        os.close(writing)
        thread.join(PATIENCE)
    finally:
        os.dup2(before, 0)
        os.close(before)
        os.close(reading)
    assert store.find("latest").bytes == 5


INTERRUPTED = """
import cutpoint, os, signal, sys, threading, time

folder = sys.argv[1]
store = cutpoint.Store.create(folder)

def interrupt():
    while not os.listdir(folder + "/leases"):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    store.backup("-")  # a pipe on which nobody writes
except KeyboardInterrupt:
    assert store.snapshots() == [] and os.listdir(folder + "/leases") == []
    sys.exit(42)
"""


def test_ctrl_c_ends_a_backup(tmp_path):
    reading, writing = os.pipe()
    try:
        words = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "store")]
        assert subprocess.run(words, stdin=reading, timeout=PATIENCE, check=False).returncode == 42
    finally:
        os.close(reading)
        os.close(writing)


def test_the_command_uses_the_same_store(store, tree, tmp_path, command):
    snapshot = store.backup(tree)
    assert command("dump", f"latest:{tree}/sub/lines", "--store", tmp_path / "store") == "first\nsecond\nthird\n"
    listed = command("snapshots", "--store", tmp_path / "store", "--json")
    assert re.search(snapshot.id, listed)


def test_a_restore_that_restores_nothing_raises(store, tree, tmp_path):
    snapshot = store.backup(tree)
    store.restore(snapshot, tmp_path / "target", path=tree / "large")
    with pytest.raises(FileExistsError) as raised:
        store.restore(snapshot, tmp_path / "target", path=tree / "large")
    assert raised.value.filename == str(tmp_path / "target/large") and "target" not in raised.value.strerror
    with pytest.raises(FileNotFoundError):
        store.restore(snapshot, tmp_path / "target", path=tree, include=["no such"])


def test_a_restore_in_a_dry_run_changes_nothing(store, tree, tmp_path):
    snapshot, target = store.backup(tree), tmp_path / "target"
    target.mkdir()
    (target / "other").write_bytes(b"x")
    tried = store.restore(snapshot, target, path=tree, exclude=["large"], remove_others=True, dry_run=True)
    assert (tried.files, tried.removed, os.listdir(target)) == (2, 1, ["other"])


def test_backups_take_no_file_objects_for_paths(store, tree):
    for wrong in io.BytesIO(b"/etc\n/root\n"), io.StringIO("/etc"):
        with pytest.raises(TypeError, match="paths are needed"):
            store.backup(wrong)
    with (tree / "large").open("rb") as file, pytest.raises(TypeError):
        store.backup(file)


def test_insecure_cuts_need_a_word_and_are_warned_of(tree, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, cuts in (("usual", None), ("long", "toeplitz128-aes")):  # the store sets the key of both
            with Store.create(tmp_path / name, password="secret", cuts=cuts) as store:
                store.backup(tree)
    with pytest.raises(ValueError, match="lengths of chunks give the key of these cuts away"):
        Store.create(tmp_path / "insecure", password="secret", cuts="borg2-fastcdc")
    with pytest.raises(ValueError, match="a store without encryption has no secret"):
        Store.create(tmp_path / "open", cuts="toeplitz128-aes")
    with pytest.warns(UserWarning, match="can compute the key of these cuts"):
        Store.create(tmp_path / "insecure", password="secret", cuts="borg2-fastcdc", insecure_cuts=True).close()
    with pytest.warns(UserWarning, match="can compute the key of these cuts") as told:
        Store.open(tmp_path / "insecure", password="secret").close()
    assert told[0].filename == __file__


def test_a_context_decides_by_names(tree, tmp_path):
    (tree / "film.mp4").write_bytes(b"a frame of the film, " * 50_000)
    context = '[class.video]\nextensions = ["mp4"]\nalgorithm = "fixed"\nsize = "1M"\ncompression_level = 0\n'
    stored = {}
    for name, rules in (("plain", ""), ("ruled", context), ("prune", "prune")):
        with Store.create(tmp_path / name, context=rules) as store:
            stored[name] = store.backup(tree / "film.mp4").new_stored_bytes
            store.check(read_data=True)
    assert stored["plain"] < 100_000
    assert stored["ruled"] > 1_000_000
    assert 100_000 < stored["prune"]
    with pytest.raises(ValueError, match="class.video: extensions must be a list"):
        Store.create(tmp_path / "wrong", context="[class.video]\n")
    with pytest.raises(ValueError, match="says how the other files are cut"):
        Store.create(tmp_path / "wrong", context='[others]\nalgorithm = "gear"\n', cuts="gear")
    assert not (tmp_path / "wrong").exists()
