"""A mounted store shows its snapshots as they were stored, to many readers at once."""

import contextlib
import ctypes
import json
import os
import random
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from command import BINARY, IS_SANITIZED, PATIENCE, status_of, wait_until
from stores import StoreTest, all_facts_of, damage
from streams import random_bytes


def why_not_mountable() -> str:
    """Why no store can be mounted here, or nothing."""
    if not os.path.exists("/dev/fuse"):
        return "there is no /dev/fuse"
    if os.getuid() != 0 and not shutil.which("fusermount3"):
        return "this user is not root, and fusermount3 is not installed"
    with tempfile.TemporaryDirectory(prefix="cutpoint-") as folder:
        run = lambda *words, **how: subprocess.run([BINARY, *words], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, **how)
        run("init", "--store", "store", "--encryption", "none")
        os.mkdir(f"{folder}/shown")
        process = subprocess.Popen([BINARY, "mount", "--store", "store", "shown"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        said = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        complaint = process.communicate(timeout=PATIENCE)[1].decode()
        return "" if said else complaint


WHY_NOT = why_not_mountable()


class Entry(ctypes.Structure):
    """`struct dirent` of Linux with 64 bits."""

    _fields_ = (
        ("inode", ctypes.c_uint64), ("next", ctypes.c_int64), ("bytes", ctypes.c_uint16), ("kind", ctypes.c_uint8), ("name", ctypes.c_char * 256),
    )  # fmt: skip


class OpenFolder:
    """An open folder, of which the library tells and takes places."""

    library = ctypes.CDLL(None, use_errno=True)
    library.opendir.restype = ctypes.c_void_p
    library.readdir.restype = ctypes.POINTER(Entry)
    library.telldir.restype = ctypes.c_long

    def __init__(self, path: Path):
        self.pointer = ctypes.c_void_p(self.library.opendir(os.fsencode(path)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.library.closedir(self.pointer)

    def next(self) -> tuple | None:
        """The place of an entry, its name and its inode."""
        place = self.library.telldir(self.pointer)
        entry = self.library.readdir(self.pointer)
        return (place, os.fsdecode(entry.contents.name), entry.contents.inode) if entry else None

    def go_to(self, place: int):
        self.library.seekdir(self.pointer, ctypes.c_long(place))


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Mount(StoreTest):
    def setUp(self):
        super().setUp()
        self.write("data/a", random_bytes(300_000, 1))
        self.write("data/deep/folder/b", random_bytes(200_000, 2) + bytes(1_000_000) + b"end")
        self.write("data/deep/empty", b"")
        with open(self.folder / "data/hole", "wb") as file:
            file.truncate(3_000_000)
            file.seek(2_000_000)
            file.write(b"between holes")
        (self.folder / "data/link").symlink_to("deep/folder/b")
        os.link(self.folder / "data/a", self.folder / "data/another-name-of-a")
        os.mkfifo(self.folder / "data/fifo", 0o640)
        (self.folder / "data/deep/folder").chmod(0o2750)
        (self.folder / "data/deep/folder/b").chmod(0o4711)
        os.setxattr(self.folder / "data/a", "user.comment", b"of a\0file")
        os.utime(self.folder / "data/deep", ns=(5, 1_234_567_890_123_456_789))
        if os.getuid() == 0:
            os.chown(self.folder / "data/deep/empty", 12345, 54321)
            os.mknod(self.folder / "data/device", stat.S_IFCHR | 0o600, os.makedev(259, 70_000))
        self.shown = self.folder / "shown"
        self.shown.mkdir()

    def mount(self, *words):
        """Begins to serve the store. What is mounted when the test fails is unmounted."""
        process = self.start("mount", "--store", "store", *words, "shown")
        self.addCleanup(lambda: os.path.ismount(self.shown) and subprocess.run(["umount", "-l", self.shown], check=False))
        self.assertIn(b"mounted", process.stdout.readline())
        self.assertTrue(os.path.ismount(self.shown))
        return process

    def complaint_of(self, process) -> str:
        """Unmounts the store. Returns what was said of it meanwhile."""
        unmounted = ["umount", self.shown] if os.getuid() == 0 else ["fusermount3", "-u", self.shown]
        subprocess.run(unmounted, check=True, timeout=PATIENCE)
        run = self.wait(process)
        self.assertEqual(run.code, 0, run)
        return run.stderr

    def unmount(self, process):
        self.assertEqual(self.complaint_of(process), "")

    def files_of(self, snapshot: str) -> Path:
        return Path(f"{self.shown}/ids/{snapshot}{self.folder}/data")

    def test_hard_links_in_it_are_known_by_their_content(self):
        """It has no file handles that last, and its files have equal times."""
        snapshot = self.backup()
        process = self.mount()
        shown = str(self.files_of(snapshot))
        results = [json.loads(self.run_command("dedup", "--json", path).stdout)["result"] for path in ("data", shown)]
        self.assertEqual(results[0], results[1])
        self.assert_done(self.run_command("init", "--store", "other", "--encryption", "none"))
        self.assert_done(self.run_command("backup", shown, "--store", "other"))
        self.unmount(process)
        self.assert_done(self.run_command("restore", f"latest:{shown}", "--target", "out", "--store", "other"))
        self.assertEqual((self.folder / "out/a").stat().st_nlink, 2)
        self.assertEqual((self.folder / "out/a").read_bytes(), (self.folder / "data/a").read_bytes())

    def test_files_are_what_was_stored(self):
        snapshot = self.backup()
        process = self.mount()
        shown = self.files_of(snapshot)
        self.assertEqual(all_facts_of(shown), all_facts_of(self.folder / "data"))
        with self.assertRaises(OSError):
            (shown / "new").write_bytes(b"")
        self.unmount(process)

    def test_snapshots_appear_by_id_time_host_and_tag(self):
        process = self.mount()
        self.assertEqual(sorted(os.listdir(self.shown)), ["hosts", "ids", "snapshots", "tags"])
        snapshots = [self.backup("data", "--host", "h/1", "--tag", "t", "--tag", "..", "--time", time) for time in ("77", "77", "1763985600")]
        wait_until(lambda: len(os.listdir(self.shown / "ids")) == 4, "three snapshots and a link appear")
        names = ["1970-01-01T00:01:17Z", "1970-01-01T00:01:17Z-2", "2025-11-24T12:00:00Z"]
        self.assertEqual(sorted(os.listdir(self.shown / "ids")), sorted([*snapshots, "latest"]))
        for folder in ("snapshots", "hosts/h_1", "tags/t", "tags/_.."):
            self.assertEqual(sorted(os.listdir(self.shown / folder)), [*names, "latest"])
            self.assertEqual(os.readlink(self.shown / folder / "latest"), names[-1])
            self.assertEqual(all_facts_of(Path(f"{self.shown}/{folder}/latest{self.folder}/data")), all_facts_of(self.folder / "data"))
        self.assertEqual((self.shown / "snapshots" / names[0]).stat().st_mtime, 77)
        self.assertFalse((self.shown / "ids" / "0123").exists())
        self.store("forget", snapshots[0])
        wait_until(lambda: len(os.listdir(self.shown / "ids")) == 3, "the snapshot that was forgotten disappears")
        self.assertEqual(sorted(os.listdir(self.shown / "snapshots")), [*names[1:], "latest"])
        self.unmount(process)

    def test_a_folder_of_thousands_is_listed_once_each(self):
        names = [f"file number {number}" for number in range(5000)]
        for name in names:
            self.write(f"data/many/{name}", name.encode())
        snapshot = self.backup()
        process = self.mount()
        shown = self.files_of(snapshot) / "many"
        self.assertEqual(sorted(os.listdir(shown)), sorted(names))
        for name in random.Random(1).sample(names, 100):
            self.assertEqual((shown / name).read_bytes(), name.encode())
        with os.scandir(shown) as some:
            first = [next(some).name for _ in range(3)]
        self.assertEqual(len(set(first)), 3)
        self.unmount(process)

    def test_a_folder_is_read_on_from_every_place_that_was_told(self):
        names = [f"entry {number}" for number in range(3000)]
        for name in names:
            self.write(f"data/many/{name}", b"")
        snapshot = self.backup()
        process = self.mount()
        shown = self.files_of(snapshot) / "many"
        with OpenFolder(shown) as first, OpenFolder(shown) as second:
            told, others = [], []
            while entry := first.next():  # two programs that take turns, and one is slower
                told.append(entry)
                if len(told) % 3 == 0:
                    others.append(second.next())
            self.assertEqual(sorted(name for _, name, _ in told), sorted([*names, ".", ".."]))
            self.assertEqual(others, told[: len(others)])
            self.assertEqual({name: inode for _, name, inode in told}, {name: (shown / name).stat().st_ino for name in (*names, ".", "..")})
            self.assertEqual(len({inode for _, _, inode in told}), len(told))
            for entry in random.Random(2).sample(told, 200):
                for folder in (first, second):
                    folder.go_to(entry[0])
                    self.assertEqual(folder.next(), entry)
            for folder in (second, first):
                folder.go_to(told[-1][0])
                self.assertEqual([folder.next(), folder.next()], [told[-1], None])
                folder.go_to(told[0][0])
                self.assertEqual([folder.next() for _ in told], told)
        self.unmount(process)

    @unittest.skipIf(IS_SANITIZED, "a sanitizer's memory is not the command's")
    def test_no_memory_is_taken_for_each_file_that_the_kernel_knows(self):
        """A file with a name took more than 200 bytes in libfuse, for as long as the kernel did not forget it."""
        count = 60_000  # so that this outweighs the buffers of threads that libfuse starts meanwhile, some 3 MB
        for folder, files in (("few", 2000), ("many", count)):
            (self.folder / "data" / folder).mkdir()
            for number in range(files):
                os.close(os.open(self.folder / f"data/{folder}/file number {number}", os.O_CREAT))
        snapshot = self.backup()
        process = self.mount("--memory", "8M")
        peaks = []
        for folder, files in (("few", 2000), ("many", count)):
            with os.scandir(self.files_of(snapshot) / folder) as entries:
                self.assertEqual(sum(each.stat().st_nlink for each in entries), files)
            peaks.append(int(status_of(process)["VmHWM"].split()[0]) * 1024)
        self.assertLess(peaks[1] - peaks[0], 100 * count, peaks)
        self.unmount(process)

    def test_many_read_at_once_while_others_are_killed(self):
        content = random_bytes(6_000_000, 5)
        self.write("data/large", content)
        snapshot = self.backup()
        process = self.mount("--memory", "8M")
        path = self.files_of(snapshot) / "large"
        wrong = []

        def read(seed: int):
            draw = random.Random(seed)
            with open(path, "rb", buffering=0) as file:
                for _ in range(40):
                    begin, length = draw.randrange(len(content)), draw.randrange(1, 300_000)
                    if os.pread(file.fileno(), length, begin) != content[begin : begin + length]:
                        wrong.append((begin, length))

        readers = [threading.Thread(target=read, args=(seed,)) for seed in range(32)]
        for each in readers:
            each.start()
        for _ in range(10):
            killed = subprocess.Popen(["cat", path, path, path], stdout=subprocess.PIPE)
            killed.stdout.read(100_000)
            killed.kill()
            killed.stdout.close()
            killed.wait(timeout=PATIENCE)
        for each in readers:
            each.join(timeout=PATIENCE)
        self.assertEqual(wrong, [])
        self.unmount(process)

    @unittest.skipUnless(shutil.which("fio"), "fio is not installed")
    def test_fio_verifies_its_blocks(self):
        words = ["fio", "--name=blocks", "--filename=blocks", "--size=4M", "--bs=4k", "--verify=crc32c", "--output-format=terse", "--thread"]
        subprocess.run([*words, "--rw=write", "--do_verify=0"], cwd=self.folder / "data", check=True, capture_output=True, timeout=PATIENCE)
        snapshot = self.backup()
        process = self.mount()
        verified = [*words, "--rw=randread", "--verify_fatal=1", "--readonly", "--direct=1"]
        subprocess.run(verified, cwd=self.files_of(snapshot), check=True, capture_output=True, timeout=PATIENCE)
        self.unmount(process)

    def test_a_store_pruned_meanwhile_shows_what_is_left_and_never_wrong_bytes(self):
        contents = {f"file{number}": random_bytes(600_000, 20 + number) for number in range(8)}
        for name, content in contents.items():
            self.write(f"data/{name}", content)
        forgotten = self.backup()
        for number in range(0, 8, 2):
            (self.folder / f"data/file{number}").unlink()
        snapshot = self.backup()
        process = self.mount("--memory", "8M")
        descriptors = {name: os.open(self.files_of(forgotten) / name, os.O_RDONLY) for name in contents}
        for descriptor in descriptors.values():
            self.assertEqual(len(os.pread(descriptor, 1000, 0)), 1000)
        self.store("forget", forgotten)
        self.store("prune", "--max-unused", "0")
        lost = 0
        for name, descriptor in descriptors.items():
            content = b""
            try:
                while block := os.pread(descriptor, 600_000, len(content)):  # it is short before what is lost
                    content += block
                self.assertEqual(len(content), 600_000)
            except OSError as error:
                self.assertEqual(error.errno, 5)
                self.assertEqual(int(name[-1]) % 2, 0, "a file that another snapshot has is not lost")
                lost += 1
            self.assertTrue(contents[name].startswith(content))
            os.close(descriptor)
        self.assertGreater(lost, 0)
        for number in range(1, 8, 2):  # records of these were moved
            self.assertEqual((self.files_of(snapshot) / f"file{number}").read_bytes(), contents[f"file{number}"])
        complaint = self.complaint_of(process)
        self.assertIn(f"/ids/{forgotten}", complaint)
        self.assertNotIn(f"/ids/{snapshot}", complaint)

    def test_what_is_damaged_is_an_error_and_never_wrong_bytes(self):
        self.write("data/lost", random_bytes(900_000, 7))
        whole = self.backup()
        contents = {path.name: path.read_bytes() for path in (self.folder / "data").iterdir() if path.is_file() and not path.is_fifo()}
        for path in self.objects("containers"):  # the first megabyte or so has the files' chunks
            damage(path, *range(1000, path.stat().st_size // 2, 150_000))
        process = self.mount()
        failed = 0
        for name, content in contents.items():
            try:
                self.assertEqual((self.files_of(whole) / name).read_bytes(), content)
            except OSError as error:
                self.assertEqual(error.errno, 5)
                failed += 1
        self.assertGreater(failed, 0)
        for path in self.objects("containers"):
            path.unlink()
        with self.assertRaises(OSError) as failure:
            (self.files_of(whole) / "deep/folder/b").read_bytes()
        self.assertEqual(failure.exception.errno, 5)
        complaint = self.complaint_of(process)
        self.assertIn("damaged", complaint)
        self.assertIn(f"/ids/{whole}", complaint)

    def test_ctrl_c_unmounts_also_while_the_folder_is_in_use(self):
        snapshot = self.backup()
        process = self.mount()
        descriptor = os.open(self.files_of(snapshot) / "a", os.O_RDONLY)
        self.assertEqual(len(os.read(descriptor, 10)), 10)
        process.send_signal(signal.SIGINT)
        run = self.wait(process)
        self.assertEqual((run.code, run.stderr), (0, ""), run)
        with contextlib.suppress(OSError):  # nobody answers any more
            os.close(descriptor)
        self.assertFalse(os.path.ismount(self.shown))
        self.assertEqual(os.listdir(self.shown), [])

    def test_what_a_killed_one_leaves_is_to_be_unmounted_first(self):
        self.backup()
        process = self.mount()
        process.kill()
        self.wait(process)
        self.assert_failed(self.run_store("mount", "shown"), "Transport endpoint is not connected", "'umount shown' ends a mount whose process is dead")
        subprocess.run(["umount", self.shown] if os.getuid() == 0 else ["fusermount3", "-u", self.shown], check=True, timeout=PATIENCE)
        self.unmount(self.mount())
        self.assertFalse(os.path.ismount(self.shown))

    def test_others_see_what_modes_allow_only_if_they_are_let_in(self):
        if os.getuid() != 0:
            self.skipTest("only root can become another user")
        self.folder.chmod(0o755)
        (self.folder / "data/secret").write_bytes(b"secret")
        (self.folder / "data/secret").chmod(0o600)
        (self.folder / "data/public").write_bytes(b"public")
        snapshot = self.backup()
        read = lambda name: subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", "cat", self.files_of(snapshot) / name], capture_output=True, check=False)
        process = self.mount()
        self.assertNotEqual(read("public").returncode, 0)
        self.unmount(process)
        process = self.mount("--allow-other")
        self.assertEqual(read("public").stdout, b"public")
        self.assertNotEqual(read("secret").returncode, 0)
        self.unmount(process)

    def test_a_folder_that_cannot_be_mounted_on_is_named(self):
        self.assert_failed(self.run_store("mount", "nowhere"), "nowhere: cannot be mounted on: No such file")
        self.assert_failed(self.run_store("mount", "data/a"), "data/a: cannot be mounted on: Not a directory")
        self.assert_refused(self.run_store("mount", "--memory", "1", "shown"), "--memory")
        self.assert_refused(self.run_command("mount", "--store", "data", "shown"), "this is not a store")
