"""Snapshots of a store are compared, forgotten by rules and copied, and what they leave is pruned."""

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


def test_rules_say_which_snapshots_are_removed(store, tree):
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


def test_a_name_that_stands_alone_is_no_list_of_letters(store, tree):
    first = store.backup(tree, tags="nightly", host="x")
    assert first.tags == ("nightly",)
    last = store.backup(tree, host="x")
    assert all(each.reasons for each in store.forget(keep_last=1, keep_tags="nightly", hosts="x", group_by="host"))
    assert store.snapshots() == [first, last]
    assert [each.snapshot for each in store.forget(keep_last=1, tags="nightly")] == [first]


def test_rules_apply_to_groups_of_the_snapshots_that_are_looked_at(store, tree):
    a = [store.backup(tree, tags=["a"], host="x") for _ in range(2)]
    b = [store.backup(tree, tags=["b"], host="y") for _ in range(2)]
    assert store.forget(keep_last=1, hosts=["z"]) == []
    assert [each.snapshot for each in store.forget(keep_last=1, hosts=["x"], paths=tree, tags=["a"])] == a[::-1]
    assert store.snapshots() == [a[1], *b]
    store.forget(keep_last=2, group_by=[])
    assert store.snapshots() == b
    for wrong in {}, {"keep_last": -1}, {"keep_within": "1x"}, {"keep_tags": ["c"]}, {"keep_last": 1, "group_by": ["day"]}:
        with pytest.raises(ValueError):
            store.forget(**wrong)
    assert store.snapshots() == b


def test_lanes_change_nothing_that_is_stored(store, tree, tmp_path):
    store.backup(tree)
    for lanes in Lanes(backend="scalar", segment_bytes=30_000), Lanes(devices=[1], device_memory_bytes=1 << 26), Lanes(measure=True), None:
        again = store.backup(tree, read_everything=True, lanes=lanes)
        assert again.new_raw_bytes < 5_000, f"{lanes}: more than folders above the tree"
    with Store.create(tmp_path / "other", cuts="gear") as other:
        assert len(other.copy_snapshots(store, lanes=Lanes(backend="scalar")).copied) == 5
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


def test_a_prune_removes_what_no_snapshot_refers_to(store, tree):
    old = store.backup(tree)
    (tree / "large").write_bytes(NOISE[::-1])
    left = store.backup(tree)
    store.remove(old)
    rehearsed = store.prune(most_unused=0, rehearse=True)
    pruned = store.prune(most_unused=0, most_rewritten_bytes=1 << 30)
    assert pruned.unused_bytes > len(NOISE) and pruned.left_unused_bytes == 0 and pruned.awaited == ()
    assert pruned.removed_containers == rehearsed.removed_containers > 0
    assert store.statistics()["containers"] < pruned.containers + pruned.rewritten_containers
    assert store.read(left, tree / "large") == NOISE[::-1]
    with pytest.raises(ValueError, match="most_unused = 2"):
        store.prune(most_unused=2)


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


def test_snapshots_are_copied_once(store, tree, tmp_path):
    first, second = store.backup(tree, tags=["first"]), store.backup(tree)
    with Store.create(tmp_path / "target", password="secret") as target:
        done = target.copy_snapshots(store, [first])
        assert list(done.copied) == [first.id] and done.skipped == {} and done.problems == []
        assert done.new_stored_bytes > len(NOISE)
        (copy,) = target.snapshots()
        assert copy.id == done.copied[first.id] and (copy.time, copy.tags) == (first.time, first.tags)
        assert target.read(copy, tree / "large") == NOISE
        again = target.copy_snapshots(store)
        assert list(again.copied) == [second.id] and again.skipped == done.copied
        with pytest.raises(ValueError, match="no snapshot has the id"):
            target.copy_snapshots(store, ["0" * 64])
        with pytest.raises(ValueError, match="copied into"):
            target.copy_snapshots(target)
        store.close()
        with pytest.raises(ValueError, match="closed"):
            target.copy_snapshots(store)


def test_a_cap_stores_again_what_lies_in_many_containers(store, tree):
    contents = [random.Random(seed).randbytes(1_000_000) for seed in range(4)]
    for content in contents:  # each backup has a container of its own
        (tree / "large").write_bytes(content)
        store.backup(tree)
    (tree / "large").write_bytes(b"".join(contents))
    stored = store.backup(tree).new_raw_bytes
    assert store.backup(tree, read_everything=True, most_old_containers=1).new_raw_bytes > stored
