"""What calls on stores take and tell passes through the package, and what is wrong is named. Of what the library does, tests/store/ has the tests."""

import io
import os
import random
import shutil
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import cutpoint
import pytest
from cutpoint import Change, CutpointError, Lanes, Store, backends

NOISE = random.Random(3).randbytes(700_000)
DAY = 86_400_000_000_000
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


def test_what_is_backed_up_comes_back(store, tree, tmp_path, command):
    first = store.backup(tree, tags=["nightly"], time=1_700_000_000_123_456_789)
    assert first.datetime.isoformat() == "2023-11-14T22:13:20.123456+00:00"
    assert (first.files, first.folders > 1, first.bytes) == (3, True, len(NOISE) + 19)
    assert (first.paths, first.tags, first.problems) == ((str(tree),), ("nightly",), ())
    assert (first.original, first.healed_chunks) == ("", 0)
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
    assert command("dump", f"latest:{tree}/sub/lines", "--store", tmp_path / "store") == "first\nsecond\nthird\n"
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
    assert (file.device, file.inode, file.device_number, file.flags) == (0, here.st_ino, 0, 0)


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
        assert report.object_problems
        assert {problem.snapshot for problem in report.file_problems} == {snapshot.id}
        repaired = store.repair()
        assert list(repaired.replaced) == [snapshot.id] and repaired.lost and repaired.damaged
        assert [left.id for left in store.snapshots()] == list(repaired.replaced.values())
        assert store.backup(tree).healed_chunks > 0


def test_errors_are_exceptions(store, tree, tmp_path):
    with pytest.raises(FileExistsError):
        Store.create(tmp_path / "store")
    with pytest.raises(FileNotFoundError) as missing:
        Store.open(tmp_path / "none")
    assert missing.value.filename == str(tmp_path / "none")
    with pytest.raises(CutpointError, match="not a store"):
        Store.open(tree)
    with pytest.raises(ValueError, match="compression_level = 20 must be from 0 to 19"):
        Store.create(tmp_path / "other", compression_level=20)
    with pytest.raises(ValueError, match="no keys"):
        store.keys()
    with pytest.raises(ValueError, match="no paths"):
        store.backup([])
    incomplete = store.backup([tree, tree.parent / "gone"])
    assert incomplete.is_incomplete and [problem.errno for problem in incomplete.problems] == [2]
    for call in store.remove, store.find:
        with pytest.raises(ValueError, match="no snapshot"):
            call("nothing")
    with pytest.raises(ValueError, match="begin = -1"):
        store.read(incomplete, tree / "large", -1)
    for wrong in io.BytesIO(b"/etc\n/root\n"), io.StringIO("/etc"):
        with pytest.raises(TypeError, match="paths are needed"):
            store.backup(wrong)
    with pytest.raises(TypeError, match="rehearse cannot be of the type str"):
        store.prune(rehearse="yes")
    patterns = [f"/a pattern that needs memory of its own, {number}" for number in range(10)]
    with pytest.raises(ValueError, match="no back end 'gp'"):
        store.backup(tree, exclude=patterns, include=patterns, lanes=Lanes(backend="gp"))
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


def test_a_restore_that_restores_nothing_raises(store, tree, tmp_path):
    snapshot = store.backup(tree)
    store.restore(snapshot, tmp_path / "target", path=tree / "large")
    with pytest.raises(FileExistsError) as raised:
        store.restore(snapshot, tmp_path / "target", path=tree / "large")
    assert raised.value.filename == str(tmp_path / "target/large") and "target" not in raised.value.strerror
    with pytest.raises(FileNotFoundError):
        store.restore(snapshot, tmp_path / "target", path=tree, include=["no such"])


def test_a_restore_tells_what_it_does(store, tree, tmp_path):
    snapshot, target, seen = store.backup(tree), tmp_path / "target", []
    target.mkdir()
    (target / "other").touch()
    how = {"path": tree, "exclude": ["link", "nothing"], "remove_others": True}
    tried = store.restore(snapshot, target, **how, dry_run=True)
    assert (tried.files, tried.removed, os.listdir(target)) == (2, 1, ["other"])
    restored = store.restore(snapshot, target, **how, visit=lambda *told: seen.append(told))
    assert [each.path for each in restored.warnings] == ["nothing"]
    assert sorted(seen) == [
        (f"{target}/large", "restored"),
        (f"{target}/other", "removed"),
        (f"{target}/sub/", "restored"),
        (f"{target}/sub/lines", "restored"),
    ]
    with pytest.raises(ZeroDivisionError):
        store.restore(snapshot, tmp_path / "again", path=tree, visit=lambda *told: 1 / 0)


def test_a_store_is_described_with_the_settings_that_it_was_made_with(store, tmp_path):
    usual = store.describe()
    assert (usual.fingerprint, usual.compression_level, usual.container_bytes) == ("blake3", 1, 32 << 20)
    assert not usual.is_encrypted and usual.context == "" and len(usual.identity) == 64
    how = {"cuts": "gear", "fingerprint": "sha256", "compression_level": 0, "container_bytes": 65_536, "context": "prune"}
    with Store.create(tmp_path / "other", **how) as other:
        described = other.describe()
    assert described.cuts.startswith("gear(") and "mp4" in described.context
    assert (described.fingerprint, described.compression_level, described.container_bytes) == ("sha256", 0, 65_536)
    with pytest.raises(ValueError, match="closed"):
        other.describe()
    with pytest.raises(ValueError, match="class.video: extensions must be a list"):
        Store.create(tmp_path / "wrong", context="[class.video]\n")
    assert not (tmp_path / "wrong").exists()


def test_insecure_cuts_need_a_word_and_are_warned_of(tree, tmp_path):
    how = {"password": "secret", "cuts": "borg2-fastcdc"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Store.create(tmp_path / "usual", password="secret", cuts="toeplitz128-aes") as store:  # the store sets its key
            assert store.describe().is_encrypted
    with pytest.raises(ValueError, match="lengths of chunks give the key of these cuts away"):
        Store.create(tmp_path / "insecure", **how)
    with pytest.warns(UserWarning, match="can compute the key of these cuts"):
        Store.create(tmp_path / "insecure", **how, insecure_cuts=True).close()
    with pytest.warns(UserWarning, match="can compute the key of these cuts") as told:
        Store.open(tmp_path / "insecure", password="secret").close()
    assert told[0].filename == __file__


def test_forget_passes_rules_and_decisions_on(store, tree):
    tags = ["release", "daily", "daily", "daily"]
    snapshots = [store.backup(tree, tags=[tag], time=(20_000 + day) * DAY) for day, tag in enumerate(tags)]
    rules = {"keep_daily": 1, "keep_within": "1d12h", "keep_tags": ["release"]}
    decisions = store.forget(**rules, rehearse=True)
    assert [each.snapshot for each in decisions] == snapshots[::-1]
    assert [each.reasons for each in decisions] == [
        ("within 1d12h", "daily snapshot"),
        ("within 1d12h",),
        (),
        ("has tags [release]",),
    ]
    assert store.snapshots() == snapshots
    assert store.forget(**rules) == decisions
    assert store.snapshots() == [snapshots[0], *snapshots[2:]]
    assert store.forget(keep_last=1, hosts=["z"]) == []
    assert [each.snapshot for each in store.forget(keep_last=1, paths=tree, tags="daily")] == snapshots[:1:-1]
    distrusted = store.forget(keep_last=1, distrust_times=True)
    assert [each.reasons[0].partition(": put ")[0] for each in distrusted] == ["distrusted time"] * 2
    store.forget(keep_last=1, group_by="tags")
    for wrong in {}, {"keep_last": -1}, {"keep_within": "1x"}, {"keep_last": 1, "group_by": ["day"]}:
        with pytest.raises(ValueError):
            store.forget(**wrong)
    assert store.snapshots() == [snapshots[0], snapshots[3]]


def test_lanes_are_for_all_that_stores(store, tree, tmp_path):
    for lanes in Lanes(backend="scalar", segment_bytes=30_000), Lanes(devices=[1], device_memory_bytes=1 << 26), Lanes(measure=True):
        store.backup(tree, read_everything=True, lanes=lanes)
    with pytest.raises(ValueError, match="segment"):
        store.backup(tree, lanes=Lanes(segment_bytes=30_000), most_old_containers=1)
    with Store.create(tmp_path / "other", cuts="gear") as other:
        assert len(other.copy_snapshots(store, lanes=Lanes(backend="scalar")).copied) == 3
        with other.push(lanes=Lanes(backend="scalar")) as session, session.stream("/stream") as stream:
            stream.write(NOISE)
        assert other.read(session.snapshot, "/stream") == NOISE


def test_lanes_that_cannot_be_are_refused(store, tree, tmp_path):
    other = Store.create(tmp_path / "other")

    def refused(kind: type[Exception], message: str, lanes: object) -> None:
        for call in (lambda: store.backup(tree, lanes=lanes), lambda: store.push(lanes=lanes), lambda: store.copy_snapshots(other, lanes=lanes)):
            with pytest.raises(kind, match=message):
                call()

    refused(ValueError, "no back end 'fast'", Lanes(backend="fast"))
    refused(ValueError, "devices = 4096 must be from 0 to 4095", Lanes(devices=[4096]))
    refused(ValueError, "segment_bytes = -1 must be", Lanes(segment_bytes=-1))
    refused(TypeError, "lanes must be Lanes, not str", "scalar")
    refused(TypeError, "backend must be str, not int", Lanes(backend=3))
    if "cuda" not in backends():
        for name in "cuda", "hybrid":
            refused(CutpointError, f"back end '{name}' cannot be used", Lanes(backend=name))
    assert store.snapshots() == []


def test_a_prune_passes_its_options_and_counts_on(store, tree):
    old = store.backup(tree)
    (tree / "large").write_bytes(NOISE[::-1])
    store.backup(tree)
    assert store.prune(most_unused=0, rehearse=True).removed_bytes == 0
    rehearsed = store.prune(most_unused=0, rehearse=True, forgotten=[old])
    store.remove([old])
    pruned = store.prune(most_unused=0, most_rewritten_bytes=1 << 30)
    assert pruned.unused_bytes > len(NOISE) and pruned.left_unused_bytes == 0 and pruned.awaited == ()
    assert pruned.removed_containers == rehearsed.removed_containers > 0
    with pytest.raises(ValueError, match="most_unused = 2"):
        store.prune(most_unused=2)


def test_a_prune_names_a_damaged_container_that_was_to_stay(store, tree, tmp_path):
    with store.push() as session:
        store.backup(tree)  # stores what the session, which has begun, stores once more
        damage(tmp_path / "store")
        with session.stream("/copy") as stream:
            stream.write(NOISE)
    store.remove(session.snapshot)
    pruned = store.prune(most_unused=0)
    assert pruned.damaged_copies > 0 and [each.path.split("/")[0] for each in pruned.damaged] == ["containers"]


def test_tags_change_and_files_are_left_out(store, tree):
    old = store.backup(tree, tags="a")
    edited = store.change_tags(old, tags=["b", "a"], add="c", remove="b")
    assert (edited.unchanged, edited.left_out, edited.problems, edited.warnings) == (0, [], [], [])
    (tagged,) = store.snapshots()
    assert edited.edited == {old.id: tagged.id} and tagged.tags == ("a", "c") and tagged.original == old.id
    assert store.change_tags([tagged]).unchanged == 1
    assert store.change_tags(tagged, tags=()).edited and store.find("latest").tags == ()
    (tagged,) = store.snapshots()
    planned = store.rewrite(tagged, ["large", "sub"], dry_run=True)
    assert planned.edited == {tagged.id: ""} and store.snapshots() == [tagged]
    assert planned.left_out == [(tagged.id, f"{tree}/large"), (tagged.id, f"{tree}/sub/")]
    done = store.rewrite([tagged.id], ["large", "sub", "nothing"], replace=True)
    assert done.left_out == planned.left_out and [each.path for each in done.warnings] == ["nothing"]
    assert [each.id for each in store.snapshots()] == list(done.edited.values())
    assert [each.path for each in store.rewrite(old, "large").problems] == [old.id]
    with pytest.raises(ValueError, match="comma"):
        store.change_tags(store.snapshots(), add="a,b")


def test_sessions_are_listed_and_ended(store):
    assert store.sessions() == []
    with store.push() as session, session.stream("/file") as stream:
        stream.write(b"content")
        (running,) = store.sessions()
        assert str(os.getpid()) in running.owner and running.time_left > 0
        store.end_session(running.id)
        assert store.sessions() == []
        with pytest.raises(ValueError, match="session"):
            store.end_session(running.id)


def test_power_cuts_lose_nothing_where_folders_can_be_synced(store):
    assert store.survives_power_cuts() is True


def test_a_backup_without_a_snapshot_has_no_id(store, tree):
    planned = store.backup(tree, dry_run=True, exclude="nothing")
    assert planned.id == "" and planned.new_raw_bytes > len(NOISE)
    assert [each.path for each in planned.warnings] == ["nothing"]
    assert store.snapshots() == []
    assert store.backup(tree, skip_unchanged=True).id
    assert store.backup(tree, skip_unchanged=True).id == ""


def test_a_check_reads_the_subset_that_it_is_told(store, tree):
    for seed in range(4):  # each backup has a container of its own
        (tree / "large").write_bytes(random.Random(seed).randbytes(300_000))
        store.backup(tree)
    checked = store.check(read_data=True)
    assert checked.read_containers >= 4 and checked.moved_chunks == 0
    halves = [store.check(read_data=True, subset=(number, 2)).read_containers for number in (1, 2)]
    assert sum(halves) == checked.read_containers
    assert store.check(read_data=True, share=0.5).read_containers == (checked.read_containers + 1) // 2
    assert store.check(read_data=True, most_bytes=1).read_containers == 1
    with pytest.raises(ValueError, match="subset 3 of 2"):
        store.check(read_data=True, subset=(3, 2))


def test_differences_are_named(store, tree):
    before = store.backup(tree)
    (tree / "sub" / "lines").write_bytes(b"other")
    (tree / "new").write_bytes(b"12345")
    (tree / "link").unlink()
    (tree / "sub").chmod(0o700)
    after = store.backup(tree)
    difference = store.diff(before, after.id, before_path=tree, after_path=tree)
    assert difference.changes == [
        Change("/link", "removed", "symbolic link"),
        Change("/new", "added", "regular file"),
        Change("/sub/lines", "modified", "regular file"),
    ]
    assert (difference.modified, difference.problems) == (1, [])
    assert difference.added == {"files": 1, "folders": 0, "others": 0, "bytes": 10}
    assert difference.removed == {"files": 0, "folders": 0, "others": 1, "bytes": 19}
    changes = store.diff(before, after, before_path=tree, after_path=tree, compare_metadata=True).changes
    assert Change("/sub/", "metadata", "directory") in changes


def test_a_copy_passes_ids_and_counts_on(store, tree, tmp_path):
    first, second = store.backup(tree, tags=["first"]), store.backup(tree)
    with Store.create(tmp_path / "target") as target:
        done = target.copy_snapshots(store, [first])
        assert list(done.copied) == [first.id] and done.skipped == {} and done.problems == []
        assert done.new_stored_bytes > len(NOISE)
        assert [each.id for each in target.snapshots()] == list(done.copied.values())
        again = target.copy_snapshots(store)
        assert list(again.copied) == [second.id] and again.skipped == done.copied
        with pytest.raises(ValueError, match="copied into"):
            target.copy_snapshots(target)
        store.close()
        with pytest.raises(ValueError, match="closed"):
            target.copy_snapshots(store)
