"""What calls on snapshots and on the whole store take and tell passes through the package. Of what the library does, tests/store/ has the tests."""

import os
import random
from pathlib import Path

import pytest
from cutpoint import Change, CutpointError, Lanes, Store, backends

NOISE = random.Random(3).randbytes(300_000)
DAY = 86_400_000_000_000


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    (tree / "sub").mkdir(parents=True)
    (tree / "large").write_bytes(NOISE)
    (tree / "sub" / "small").write_bytes(b"small")
    (tree / "link").symlink_to("large")
    return tree


@pytest.fixture
def store(tmp_path: Path):
    with Store.create(tmp_path / "store") as store:
        yield store


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
    assert [each.snapshot for each in store.forget(keep_last=1, paths=tree, tags=["daily"])] == snapshots[:1:-1]
    store.forget(keep_last=1, group_by=["tags"])
    assert store.snapshots() == [snapshots[0], snapshots[3]]
    for wrong in {}, {"keep_last": -1}, {"keep_within": "1x"}, {"keep_tags": ["c"]}, {"keep_last": 1, "group_by": ["day"]}:
        with pytest.raises(ValueError):
            store.forget(**wrong)
    assert store.snapshots() == [snapshots[0], snapshots[3]]


def test_a_name_that_stands_alone_is_no_list_of_letters(store, tree):
    first = store.backup(tree, tags="nightly", host="x")
    assert first.tags == ("nightly",)
    last = store.backup(tree, host="x")
    assert all(each.reasons for each in store.forget(keep_last=1, keep_tags="nightly", hosts="x", group_by="host"))
    assert store.snapshots() == [first, last]
    assert [each.snapshot for each in store.forget(keep_last=1, tags="nightly")] == [first]


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
    with pytest.raises(ValueError, match="a device is named twice"):
        store.backup(tree, lanes=Lanes(devices=[0, 0]))
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
    with pytest.raises(TypeError, match="rehearse cannot be of the type str"):
        store.prune(rehearse="yes")


def test_a_prune_names_a_damaged_container_that_was_to_stay(store, tree, tmp_path):
    with store.push() as session:
        store.backup(tree)  # stores what the session, which has begun, stores once more
        for path in (tmp_path / "store" / "containers").glob("*/*"):
            path.chmod(0o600)
            with path.open("r+b") as file:
                file.seek(140)
                file.write(b"\x7f")
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
    store.rewrite(store.snapshots(), "link")
    assert [each.tags for each in store.snapshots()] == [(), ("rewrite",)]
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
    assert store.snapshots() == [session.snapshot], "it lives after all"


def test_a_store_is_described(store, tmp_path):
    usual = store.describe()
    assert (usual.fingerprint, usual.compression_level, usual.container_bytes) == ("blake3", 1, 32 << 20)
    assert not usual.is_encrypted and usual.context == "" and len(usual.identity) == 64
    with Store.create(tmp_path / "other", password="secret", context="prune") as other:
        described = other.describe()
    assert described.is_encrypted and described.cuts.startswith("toeplitz128-aes(") and "mp4" in described.context
    assert described.identity != usual.identity
    with pytest.raises(ValueError, match="closed"):
        other.describe()


def test_a_backup_without_a_snapshot_has_no_id(store, tree):
    planned = store.backup(tree, dry_run=True, exclude="nothing")
    assert planned.id == "" and planned.new_raw_bytes > len(NOISE)
    assert [each.path for each in planned.warnings] == ["nothing"]
    assert store.snapshots() == []
    first = store.backup(tree, skip_unchanged=True)
    assert first.id and first.original == "" and first.healed_chunks == 0
    assert store.backup(tree, skip_unchanged=True).id == ""
    assert store.snapshots() == [first]


def test_a_restore_tells_what_it_does(store, tree, tmp_path):
    snapshot, target, seen = store.backup(tree), tmp_path / "target", []
    target.mkdir()
    (target / "other").touch()
    restored = store.restore(
        snapshot, target, path=tree, exclude=["link", "nothing"], remove_others=True, visit=lambda *told: seen.append(told)
    )
    assert [each.path for each in restored.warnings] == ["nothing"]
    assert sorted(seen) == [
        (f"{target}/large", "restored"),
        (f"{target}/other", "removed"),
        (f"{target}/sub/", "restored"),
        (f"{target}/sub/small", "restored"),
    ]
    with pytest.raises(ZeroDivisionError):
        store.restore(snapshot, tmp_path / "again", path=tree, visit=lambda *told: 1 / 0)


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
    (tree / "sub" / "small").write_bytes(b"other")
    (tree / "new").write_bytes(b"12345")
    (tree / "link").unlink()
    (tree / "sub").chmod(0o700)
    after = store.backup(tree)
    difference = store.diff(before, after.id, before_path=tree, after_path=tree)
    assert difference.changes == [
        Change("/link", "removed", "symbolic link"),
        Change("/new", "added", "regular file"),
        Change("/sub/small", "modified", "regular file"),
    ]
    assert (difference.modified, difference.problems) == (1, [])
    assert difference.added == {"files": 1, "folders": 0, "others": 0, "bytes": 10}
    assert difference.removed == {"files": 0, "folders": 0, "others": 1, "bytes": 5}
    changes = store.diff(before, after, before_path=tree, after_path=tree, compare_metadata=True).changes
    assert Change("/sub/", "metadata", "directory") in changes
    with pytest.raises(OSError):
        store.diff(before, after, before_path="/nothing")


def test_a_copy_passes_ids_and_counts_on(store, tree, tmp_path):
    first, second = store.backup(tree, tags=["first"]), store.backup(tree)
    with Store.create(tmp_path / "target") as target:
        done = target.copy_snapshots(store, [first])
        assert list(done.copied) == [first.id] and done.skipped == {} and done.problems == []
        assert done.new_stored_bytes > len(NOISE)
        assert [each.id for each in target.snapshots()] == list(done.copied.values())
        again = target.copy_snapshots(store)
        assert list(again.copied) == [second.id] and again.skipped == done.copied
        with pytest.raises(ValueError, match="no snapshot has the id"):
            target.copy_snapshots(store, ["0" * 64])
        with pytest.raises(ValueError, match="copied into"):
            target.copy_snapshots(target)
        store.close()
        with pytest.raises(ValueError, match="closed"):
            target.copy_snapshots(store)
