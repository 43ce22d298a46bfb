"""A reader that was written from docs/formats/store.md alone reads what the command stores, and refuses what is changed."""

import json
import os
import random
import shutil
import socket
import stat
import struct
from pathlib import Path

from command import INPUT_FAILED, CommandTest, wait_until
from store_objects import Damage
from store_primitives import blake3, xxh3_128
from store_reader import CHUNK, Reference, Store
from streams import random_bytes

PASSWORD = b"correct horse"
KINDS = (stat.S_IFDIR, stat.S_IFREG, stat.S_IFLNK, stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFCHR, stat.S_IFBLK)


def make_tree(folder: Path):
    """Files of all kinds that a store tells apart, and folders and files whose nodes have several levels."""
    (folder / "many").mkdir(parents=True)
    for index in range(800):
        (folder / f"many/{index:05}").write_bytes(b"%d" % (index // 2))
    (folder / "empty").touch()
    (folder / "random").write_bytes(random_bytes(600_000, 1))
    (folder / "text").write_bytes(b"".join(b"line %d of a text\n" % line for line in range(8_000)))
    (folder / "zeros").write_bytes(bytes(3_000_000))
    with open(folder / "holes", "wb") as file:
        for block in range(150):
            file.seek(block * 65536)
            file.write(random_bytes(4096, 2 + block))
        file.truncate(40_000_000)
    os.link(folder / "random", folder / "many/another name of random")
    (folder / "link").symlink_to(b"\xff/nowhere")
    os.mkfifo(folder / "pipe", 0o604)
    for name in (b"\xff\xfe", b"new\nline", b"-", b"x" * 255, "\u00fc".encode()):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_bytes(name)
    (folder / "deep/er/est").mkdir(parents=True)
    (folder / "deep/er/est/file").write_bytes(b"deep")
    (folder / "deep/er").chmod(0o2711)
    (folder / "deep/read-only").write_bytes(b"x" * 100)
    (folder / "deep/read-only").chmod(0o4400)
    os.utime(folder / "deep/read-only", ns=(1, -1_234_567_890))
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(os.path.relpath(folder / "socket"))
    try:
        os.setxattr(folder / "text", "user.empty", b"")
        os.setxattr(folder / "text", "user.bytes", bytes(range(256)) * 4)
    except OSError:
        pass  # this file system has none
    try:
        os.mknod(folder / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        os.chown(folder / "text", 12345, 54321)
    except PermissionError:
        pass


def attributes_of(path: bytes) -> dict:
    names = os.listxattr(path, follow_symlinks=False)
    return {os.fsencode(name): os.getxattr(path, name, follow_symlinks=False) for name in names}


class ReaderTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("password", PASSWORD + b"\n")
        self.write("key", random_bytes(50, 3))
        self.secret, self.secrets = (), {}

    def store(self, *words, code=0) -> str:
        run = self.run_command(*words, "--store", "store", *self.secret)
        self.assertEqual(run.code, code, run)
        return run.stdout.strip()

    def init(self, encryption: str, *words):
        self.secret = {"none": (), "password": ("--password-file", "password"), "key-file": ("--key-file", "key")}[encryption]
        shutil.rmtree(self.folder / "store", ignore_errors=True)
        (self.folder / "key").unlink(missing_ok=True)
        self.store("init", "--encryption", encryption, *words)
        key_file = (self.folder / "key").read_bytes() if encryption == "key-file" else None
        self.secrets = {"password": PASSWORD if encryption == "password" else None, "key_file": key_file}

    def read(self) -> Store:
        return Store(self.folder / "store", **self.secrets)


class Reader(ReaderTest):
    def check_file(self, store: Store, path: bytes, entry):
        facts = os.lstat(path)
        self.assertEqual(
            (KINDS[entry.kind] | entry.mode, entry.owner, 10**9 * entry.mtime[0] + entry.mtime[1], entry.size),
            (facts.st_mode, (facts.st_uid, facts.st_gid), facts.st_mtime_ns, facts.st_size if entry.kind else entry.size),
        )
        self.assertEqual((entry.device, entry.inode, entry.links), (0, facts.st_ino, facts.st_nlink))
        self.assertIn(10**9 * entry.ctime[0] + entry.ctime[1], (0, facts.st_ctime_ns))
        self.assertEqual(entry.attributes, attributes_of(path))
        self.assertEqual(entry.target, os.readlink(path) if entry.kind == 2 else b"")
        self.assertEqual(entry.device_number, facts.st_rdev)
        if entry.kind == 1:
            self.assertEqual(store.content(entry), Path(os.fsdecode(path)).read_bytes())

    def check_snapshot(self, store: Store, id: str, folder: Path, lost: int = 0) -> dict:
        """Compares each file below a folder with that of a snapshot. Returns the entries by their paths below the folder."""
        snapshot = store.snapshots()[id]
        top = os.fsencode(folder)
        entries = {b"/" + path: entry for path, entry in store.walk(Reference(*snapshot.root))}
        entries = {path: entry for path, entry in entries.items() if path == top or path.startswith(top + b"/")}
        there = {top} | {os.path.join(base, name) for base, folders, files in os.walk(top) for name in folders + files}
        self.assertLessEqual(set(entries), there)
        self.assertEqual(len(there - set(entries)), lost)
        for path, entry in entries.items():
            with self.subTest(path=path):
                self.check_file(store, path, entry)
        return {os.path.relpath(path, top): entry for path, entry in entries.items()}

    def test_stores_are_read(self):
        """All kinds of stores, through all that commands do to them."""
        source = self.folder / "data"
        make_tree(source)
        self.write("old/only", random_bytes(200_000, 4))
        for encryption, *words in (
            ("none",),
            ("none", "--compression", "none", "--hash", "sha256", "--container-size", "64K"),
            ("none", "--hash", "xxh3", "--for-experiments", "--cuts", "gear(min_bytes=256,avg_bytes=1024,max_bytes=8192)"),
            ("key-file", "--container-size", "300K"),
            ("key-file", "--compression", "none"),
        ):
            with self.subTest(encryption=encryption, words=words):
                self.init(encryption, *words)
                old = self.store("backup", "old", "data/text")
                id = self.store("backup", "data", "--tag", "one,two", "--host", "h", "--time", "77")
                store = self.read()
                store.verify()
                self.assertEqual(list(store.snapshots()), [old, id])
                snapshot = store.snapshots()[id]
                printed = json.loads(self.store("snapshots", "--json").splitlines()[1])
                counts = tuple(printed[key] for key in ("files", "folders", "bytes", "new_raw_bytes", "new_stored_bytes"))
                self.assertEqual((snapshot.time, snapshot.host, snapshot.counts), (77 * 10**9, b"h", counts))
                self.assertEqual((snapshot.paths, snapshot.tags), ([os.fsencode(source)], [b"one", b"two"]))
                entries = self.check_snapshot(store, id, source)
                self.check_forms(store, entries)
                self.store("forget", old)
                self.store("prune", "--max-unused", "0")
                self.store("prune", "--max-unused", "0")
                self.store("tag", "--add", "three", id)
                store = self.read()
                store.verify()
                ((version, snapshot),) = store.snapshots().items()
                self.assertEqual((snapshot.original, snapshot.tags), (id, [b"one", b"two", b"three"]))
                self.check_snapshot(store, version, source)

    def check_forms(self, store: Store, entries: dict):
        """The tree has each form of content that the format knows."""
        random_file, second_name = entries[b"random"], entries[b"many/another name of random"]
        self.assertEqual((random_file.device, random_file.inode, random_file.links), (second_name.device, second_name.inode, 2))
        holes = [extent for extent in store.extents(entries[b"holes"]) if extent.reference is None]
        self.assertGreater(len(holes), 100)
        self.assertTrue(any(extent.count > 1 for extent in store.extents(entries[b"zeros"])))
        self.assertEqual({entries[name].content for name in (b"empty", b"deep/read-only", b"holes")}, {0, 1, 2})

    def test_golden_stores_are_read(self):
        data = Path(__file__).resolve().parents[2] / "store/data"
        for name in ("golden-store-checksums", "golden-store-encrypted", "golden-store-insecure-cuts"):
            store = Store(data / name, key_file=b"the content of a key file\n")
            store.verify()
            ((_, snapshot),) = store.snapshots().items()
            entries = dict(store.walk(Reference(*snapshot.root)))
            self.assertEqual(store.content(entries[b"data/mixed"])[:20], b"hello, store\n" + bytes(7))

    def test_what_is_whole_after_a_repair_is_read(self):
        source = self.folder / "data"
        make_tree(source)
        self.init("key-file", "--container-size", "300K")
        id = self.store("backup", "data")
        store = self.read()
        entry = next(entry for path, entry in store.walk(Reference(*store.snapshots()[id].root)) if path.endswith(b"/random"))
        container, record = store.places[CHUNK, store.extents(entry)[0].reference.digest][0]
        damaged = self.folder / "store" / container.name
        data = bytearray(damaged.read_bytes())
        data[record.position + 100] ^= 1
        damaged.chmod(0o644)
        damaged.write_bytes(data)
        with self.assertRaisesRegex(Damage, container.name):
            self.read()
        self.store("check", "--read-data", code=INPUT_FAILED)
        self.store("repair")
        store = self.read()
        store.verify()
        (new,) = store.snapshots()
        self.assertNotEqual(new, id)
        entries = self.check_snapshot(store, new, source, lost=2)  # the file has two names
        self.assertNotIn(b"random", entries)
        healed = self.store("backup", "data")
        self.check_snapshot(self.read(), healed, source)

    def test_keys_and_leases_are_read(self):
        self.init("password")
        self.store("backup", "password")
        writer = self.start("backup", "-", "--store", "store", *self.secret, stdin=-1)
        leases = self.folder / "store/leases"
        wait_until(lambda: any(leases.iterdir()), "a lease")
        store = self.read()
        store.verify()
        (lease,) = store.leases().values()
        self.assertEqual((lease.process, lease.epoch), (writer.pid, 1))
        self.assertIn(str(writer.pid).encode(), lease.text)
        self.assertEqual(store.key_label, b"the first key")
        writer.communicate(b"the end")
        self.write("new", b"another")
        self.store("key", "add", "--new-password-file", "new")
        first = self.read()
        self.secrets["password"] = b"another"
        self.assertEqual(self.read().key, first.key)
        self.store("key", "remove", first.key_id[:8])
        self.read()
        self.secrets["password"] = PASSWORD
        with self.assertRaises(Damage):
            self.read()


class Refusals(ReaderTest):
    """What is changed is refused, by the reader and by the command."""

    def objects(self) -> list[str]:
        """All but the reserve, which no reader looks at."""
        folder = self.folder / "store"
        names = (str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
        return sorted(name for name in names if not name.startswith("temporary/"))

    def verify(self):
        self.read().verify()

    def small_store(self, encryption: str):
        self.init(encryption)
        self.write("a", b"a" * 1000 + random_bytes(1000, 1))
        self.store("backup", "a")
        self.write("a", random_bytes(1500, 2))
        self.store("backup", "a")
        self.verify()

    def test_changed_bytes(self):
        draw = random.Random(1)
        for encryption in ("none", "key-file"):
            self.small_store(encryption)
            for name in self.objects():
                path = self.folder / "store" / name
                whole = path.read_bytes()
                path.chmod(0o644)
                positions = {0, 12, 20, 63, 64, len(whole) - 1} | {draw.randrange(len(whole)) for _ in range(30)}
                for position in positions:
                    changed = bytearray(whole)
                    changed[position] ^= 1 << draw.randrange(8)
                    path.write_bytes(changed)
                    with self.subTest(name=name, position=position), self.assertRaises(Damage):
                        self.verify()
                for size in (0, 63, 64, 100, len(whole) - 1):
                    path.write_bytes(whole[:size])
                    with self.subTest(name=name, size=size), self.assertRaises(Damage):
                        self.verify()
                path.write_bytes(whole)
            self.verify()

    def test_an_object_under_another_name(self):
        self.small_store("key-file")
        objects = self.objects()
        log, snapshots, keys = ([name for name in objects if name.startswith(kind)] for kind in ("log", "snap", "keys"))
        places = [(log[0], log[1]), (log[1], log[0]), (log[0], "log/" + 15 * "0" + "3"), (keys[0], "keys/" + 32 * "0")]
        places += [(snapshots[0], snapshots[1]), (log[1], snapshots[0]), (snapshots[0], log[0])]
        for origin, name in places:
            folder = self.folder / "store"
            shutil.copytree(folder, self.folder / "copy")
            (folder / name).unlink(missing_ok=True)
            shutil.copyfile(folder / origin, folder / name)
            if origin in keys:
                (folder / origin).unlink()
            with self.subTest(origin=origin, name=name), self.assertRaises(Damage):
                self.verify()
            shutil.rmtree(folder)
            os.rename(self.folder / "copy", folder)

    def seal(self, name: str, header: bytes, body: bytes) -> Path:
        path = self.folder / "store" / name
        path.unlink(missing_ok=True)
        path.write_bytes(header + body + xxh3_128(body, 64 * 256 + 5))
        return path

    def test_an_extension_of_the_config(self):
        self.init("none")
        config = (self.folder / "store/config").read_bytes()
        for kind, is_accepted in ((7, True), (32769, False)):
            for name in "config", "config.copy":
                self.seal(name, config[:64], config[64:-18] + struct.pack("<HHI", 1, kind, 3) + b"abc")
            if is_accepted:
                self.verify()
                self.store("snapshots")
            else:
                with self.assertRaisesRegex(Damage, "config: extension 32769 is unknown"):
                    self.verify()
                self.assertIn("32769", self.run_command("snapshots", "--store", "store").stderr)

    def test_a_context_of_the_config(self):
        self.init("none")
        config = (self.folder / "store/config").read_bytes()
        for rules, problem in ((b"a;mp4;fixed(avg_bytes=4096);none\n", None), (b"a;mp4;fixed(avg_bytes=4096);none", "must end with a line's end"),
                               (b"a;mp4;none\n", "is not a rule"), (b"a;mp4;fixed(avg_bytes=1073741824);none\n", "class a: fixed")):
            for name in "config", "config.copy":
                self.seal(name, config[:64], config[64:-18] + struct.pack("<HHI", 1, 32768, len(rules)) + rules)
            run = self.run_command("snapshots", "--store", "store")
            if problem is None:
                self.verify()
                self.assert_done(run)
            else:
                self.assertNotEqual(run.code, 0)
                self.assertIn(problem, run.stderr)

    def test_an_extension_of_a_snapshot(self):
        self.init("none")
        id = self.store("backup", "password")
        snapshot = (self.folder / "store/snapshots" / id).read_bytes()
        entry = (self.folder / "store/log/0000000000000001").read_bytes()
        for kind, is_accepted in ((7, True), (40000, False)):
            path = self.seal("changed", snapshot[:64], snapshot[64:-18] + struct.pack("<HHI", 1, kind, 3) + b"abc")
            new = blake3(path.read_bytes()).hex()
            os.rename(path, self.folder / "store/snapshots" / new)
            committed = struct.pack("<BIH", 1, 1, 64) + new.encode()
            self.seal("log/0000000000000001", entry[:64], committed)
            if is_accepted:
                self.verify()
                self.assertIn(new[:8], self.store("snapshots"))
            else:
                with self.assertRaisesRegex(Damage, f"snapshots/{new}: extension 40000 is unknown"):
                    self.verify()
                self.assertIn("40000", self.run_command("ls", new, "--store", "store").stderr)
