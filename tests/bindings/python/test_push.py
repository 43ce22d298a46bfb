"""Streams are pushed into a store, backups tell their progress, and both are cancelled."""

import errno
import io
import os
import shutil
import subprocess
import sys
import threading

import pytest

import cutpoint


@pytest.fixture
def store(tmp_path):
    with cutpoint.Store.create(tmp_path / "store") as created_store:
        yield created_store


def contents(store, snapshot):
    return {each.path: store.read(snapshot, each.path) for each in store.files(snapshot) if each.kind == "regular file"}


def test_a_pushed_stream_is_a_file_of_the_snapshot(store, tmp_path):
    data = os.urandom(3_000_000)
    with store.push(host="appliance", tags=["nightly"], paths="/vm", time=123) as session:
        with session.stream("/vm/disk", permissions=0o640, user_id=1, group_id=2, modified=-1) as stream:
            assert stream.writable()
            assert stream.write(memoryview(data)[:100]) == 100
            shutil.copyfileobj(io.BytesIO(data[100:]), stream)
            stream.write_hole(1000)
        session.add_folder("/vm", permissions=0o750)
        session.add_link("/vm/link", "disk")
    snapshot = session.snapshot
    assert snapshot == store.find("latest")
    assert (snapshot.host, snapshot.tags, snapshot.paths, snapshot.time) == ("appliance", ("nightly",), ("/vm",), 123)
    assert not snapshot.is_incomplete
    assert contents(store, snapshot) == {"/vm/disk": data + bytes(1000)}
    disk = next(store.files(snapshot, "/vm/disk"))
    assert (disk.permissions, disk.user_id, disk.group_id, disk.modified) == (0o640, 1, 2, -1)
    assert next(store.files(snapshot, "/vm/link")).target == "disk"
    assert next(store.files(snapshot, "/vm")).permissions == 0o750


def test_extended_attributes_are_restored(store, tmp_path):
    with store.push() as session:
        session.stream("/file", attributes={"user.comment": b"\0text", "user.empty": bytearray()}).end()
        session.add_folder("/folder", attributes={"user.comment": b"of a folder"})
    store.restore(session.snapshot, tmp_path / "target")
    try:
        assert os.getxattr(tmp_path / "target/file", "user.comment") == b"\0text"
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            pytest.skip("the folder has no extended attributes")
        raise
    assert os.getxattr(tmp_path / "target/file", "user.empty") == b""
    assert os.getxattr(tmp_path / "target/folder", "user.comment") == b"of a folder"
    with store.push() as session:
        for wrong in {"attributes": {"user.a": "text"}}, {"permissions": "0600"}, {"permissions": -1}:
            with pytest.raises(TypeError):
                session.stream("/file", **wrong)
        session.abandon()


def test_threads_push_streams_at_once(store):
    data = {f"/{i}": os.urandom(400_000) * 2 for i in range(6)}
    with store.push(most_streams=6) as session:

        def push(path):
            with session.stream(path) as stream:
                for begin in range(0, len(data[path]), 7777):
                    stream.write(data[path][begin : begin + 7777])

        threads = [threading.Thread(target=push, args=(path,)) for path in data]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert contents(store, session.snapshot) == data


def test_a_failed_stream_never_looks_whole(store):
    with store.push() as session:
        with session.stream("/whole") as stream:
            stream.write(b"whole")
        with pytest.raises(ZeroDivisionError), session.stream("/raised") as stream:
            stream.write(b"half")
            raise ZeroDivisionError
        failed = session.stream("/failed")
        failed.fail("the producer died")
        failed.fail("no effect")
        lost = session.stream("/lost")
        lost.write(b"half")
        del lost
    assert session.snapshot.is_incomplete
    assert contents(store, session.snapshot) == {"/whole": b"whole"}
    problems = {each.path: each.message for each in session.snapshot.problems}
    assert problems == {
        "/raised": "ZeroDivisionError",
        "/failed": "the producer died",
        "/lost": "/lost: the stream was not ended",
    }


def test_an_exception_abandons_the_session(store):
    with pytest.raises(ZeroDivisionError), store.push() as session:
        with session.stream("/whole") as stream:
            stream.write(os.urandom(500_000))
        raise ZeroDivisionError
    with pytest.raises(ValueError, match="has committed nothing"):
        _ = session.snapshot
    assert store.snapshots() == []
    with pytest.raises(ValueError, match="the push session has ended"):
        session.stream("/late")


def test_wrong_use_is_refused(store):
    with store.push(most_streams=1) as session:
        with pytest.raises(ValueError, match="begins with a slash"):
            session.stream("x")
        stream = session.stream("/x")
        with pytest.raises(ValueError, match="1 streams are open"):
            session.stream("/y")
        with pytest.raises(ValueError, match="have not ended"):
            session.commit()
        with pytest.raises(TypeError):
            stream.write("text")
        stream.end()
        with pytest.raises(ValueError, match="the stream has ended"):
            stream.write(b"late")
    with pytest.raises(ValueError):
        store.push(most_streams=0)


def test_a_stream_fails_with_any_text(store):
    with store.push() as session:
        with pytest.raises(OSError, match="x"), session.stream("/x"):
            raise OSError("x\udc80")
        session.stream("/y").end()
        session.commit()
        assert [each.path for each in session.snapshot.problems] == ["/x"]


def test_a_store_that_closes_abandons_its_sessions(tmp_path):
    with cutpoint.Store.create(tmp_path / "store") as store:
        session = store.push()
        stream = session.stream("/x")
        stream.write(b"half")
    with pytest.raises(ValueError, match="has ended"):
        stream.write(b"late")
    with pytest.raises(ValueError):
        session.commit()


def test_cancellation_has_an_exception_of_its_own(store, tmp_path):
    (tmp_path / "file").write_bytes(os.urandom(1_000_000))
    session = store.push(most_bytes_per_second=1)
    stream = session.stream("/slow")
    threading.Timer(0.1, session.cancel).start()
    for call in (lambda: stream.write(bytes(100_000)), stream.end, session.commit):
        with pytest.raises(cutpoint.Cancelled):
            call()
    store.cancel()  # no call is running
    threading.Timer(0.1, store.cancel).start()
    with pytest.raises(cutpoint.Cancelled):
        store.backup(tmp_path / "file", most_bytes_per_second=1)
    assert issubclass(cutpoint.Cancelled, cutpoint.CutpointError)
    assert store.snapshots() == []
    snapshot = store.backup(tmp_path / "file")
    assert snapshot.files == 1
    threading.Timer(0.1, store.cancel).start()
    with pytest.raises(cutpoint.Cancelled):
        store.restore(snapshot, tmp_path / "target", most_bytes_per_second=1)


def test_a_backup_tells_its_progress(store, tmp_path):
    (tmp_path / "tree").mkdir()
    for i in range(3):
        (tmp_path / "tree" / str(i)).write_bytes(os.urandom(100_000))
    states = []
    store.backup(tmp_path / "tree", progress=states.append)
    assert states[-1] == cutpoint.BackupProgress(3, 0, 0, 1, 0, 0, 300_000, 300_000, 0, 0, 0, "")
    store.backup(tmp_path / "tree", progress=states.append)
    assert states[-1].parent_files == 3

    def fail(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.backup(tmp_path / "tree", progress=fail)
    assert len(store.snapshots()) == 2


def test_other_work_tells_its_progress_too(store, tmp_path):
    (tmp_path / "file").write_bytes(os.urandom(300_000))
    snapshot = store.backup(tmp_path / "file")

    def fail(_):
        raise ZeroDivisionError

    with cutpoint.Store.create(tmp_path / "other") as other:
        for work in (
            lambda progress: store.restore(snapshot, tmp_path / "target", replace_files=True, progress=progress),
            lambda progress: store.check(progress=progress),
            lambda progress: store.prune(progress=progress),
            lambda progress: other.copy_snapshots(store, progress=progress),
        ):
            with pytest.raises(ZeroDivisionError):
                work(fail)
            states = []
            work(states.append)
            assert states and all(each.activity for each in states)


INTERRUPTED = """
import os, signal, sys, threading, time, cutpoint
with cutpoint.Store.create(sys.argv[1]) as store:
    try:
        with store.push(most_bytes_per_second=1) as session:
            stream = session.stream("/slow")
            threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            stream.write(bytes(100_000))
    except KeyboardInterrupt:
        print("interrupted", len(store.snapshots()))
"""


def test_ctrl_c_ends_a_write(tmp_path):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, tmp_path / "store"], capture_output=True, text=True, timeout=60)
    assert done.stdout == "interrupted 0\n", done.stderr


def test_an_interrupted_commit_is_not_said_to_have_committed_nothing(store, monkeypatch):
    session = store.push()
    with session.stream("/whole") as stream:
        stream.write(b"whole")

    class InterruptedStore:
        def commit_push(self, pushed):
            raise KeyboardInterrupt

    monkeypatch.setattr(session, "_store", InterruptedStore())
    with pytest.raises(KeyboardInterrupt):
        session.commit()
    with pytest.raises(ValueError, match="may have its snapshot or not"):
        _ = session.snapshot


LEFT_OPEN = """
import os, sys, cutpoint
store = cutpoint.Store.create(sys.argv[1])
session = store.push()
stream = session.stream("/open")
stream.write(os.urandom(1_000_000))
if os.fork() == 0:
    del stream, session, store
    os._exit(0)
os.wait()
print("end")
"""


def test_a_program_may_end_or_fork_with_open_streams(tmp_path):
    done = subprocess.run([sys.executable, "-c", LEFT_OPEN, tmp_path / "store"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")
    with cutpoint.Store.open(tmp_path / "store") as store:
        assert store.snapshots() == []


def test_many_streams_of_one_thread_share_the_memory_of_an_engine(store):
    data = os.urandom(1 << 20)
    with store.push(most_streams=64, threads=cutpoint.Engine(2, memory_bytes=64 << 20)) as session:
        streams = [session.stream(f"/{i}") for i in range(64)]
        for begin in range(0, 1 << 20, 1 << 17):
            for i, stream in enumerate(streams):
                stream.write(data[begin + i : begin + (1 << 17)])
        for stream in streams:
            stream.end()
    read = contents(store, session.snapshot)
    assert read["/0"] == data and len(read) == 64
    with pytest.raises(MemoryError, match="most_streams = 64: .* of the engine would do"):
        store.push(most_streams=64, threads=cutpoint.Engine(2, memory_bytes=16 << 20))
    with pytest.raises(MemoryError, match="memory_bytes = .* would do"):
        store.push(most_streams=64, memory_bytes=1 << 20)


def test_an_engine_backs_up_and_does_nothing_else(store, tmp_path):
    (tmp_path / "file").write_bytes(b"bytes")
    engine = cutpoint.Engine(2, memory_bytes=16 << 20)
    assert store.backup(tmp_path / "file", threads=engine).files == 1
    with pytest.raises(TypeError, match="threads cannot be of the type"):
        store.prune(threads=engine)
