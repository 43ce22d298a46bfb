"""A store in the folder of each test, and what tests on stores share: runs of the command on it, trees of files, damage."""

import hashlib
import json
import os
import shutil
import stat
import subprocess
from pathlib import Path

from command import CommandTest, Outcome, wait_until
from store_reader import Store
from streams import random_bytes


def paths_below(folder: Path) -> list[Path]:
    return sorted(Path(base, name) for base, folders, files in os.walk(folder) for name in folders + files)


def content_of(path: Path, mode: int) -> str | None:
    """The target of a link, or the digest of a file."""
    if stat.S_ISLNK(mode):
        return os.readlink(path)
    return hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(mode) else None


def facts_of(folder: Path) -> dict:
    """Kind, permissions, times and content of everything below a folder."""
    facts_of_files = {}
    for path in paths_below(folder):
        facts = path.lstat()
        facts_of_files[str(path.relative_to(folder))] = (
            stat.filemode(facts.st_mode), facts.st_mtime_ns, content_of(path, facts.st_mode),
        )  # fmt: skip
    return facts_of_files


def all_facts_of(folder: Path) -> dict:
    """All that is known of a folder and of each file below it, by their relative paths."""
    facts_of_files = {}
    numbers: dict[int, int] = {}  # of files, since inodes differ
    for path in [folder, *paths_below(folder)]:
        facts = path.lstat()
        number = None if stat.S_ISDIR(facts.st_mode) else numbers.setdefault(facts.st_ino, len(numbers))
        facts_of_files[os.fsencode(path.relative_to(folder))] = (
            stat.filemode(facts.st_mode), facts.st_uid, facts.st_gid, facts.st_mtime_ns, facts.st_rdev, facts.st_nlink,
            number, None if number is None else facts.st_size, content_of(path, facts.st_mode),
            {key: os.getxattr(path, key, follow_symlinks=False) for key in os.listxattr(path, follow_symlinks=False)},
        )  # fmt: skip
    return facts_of_files


def damage(path: Path, *positions: int):
    """Changes a bit at each position of an object, whose file is made read-only."""
    content = bytearray(path.read_bytes())
    for position in positions:
        content[position] ^= 1
    path.chmod(0o644)
    path.write_bytes(content)


class StoreTest(CommandTest):
    """Each test has a new store with these settings, and its commands open it with this secret."""

    location = "store"
    settings: tuple = ("--encryption", "none")
    secret: tuple = ()

    def setUp(self):
        super().setUp()
        self.store("init", *self.settings)

    def run_store(self, command: str, *words, **how) -> Outcome:
        return self.run_command(command, "--store", self.location, *self.secret, *words, **how)

    def store(self, *words, **how) -> str:
        run = self.run_store(*words, **how)
        self.assert_done(run)
        return run.stdout

    def json_of(self, *words) -> list:
        """The values that a command prints as JSON: one, or one a line."""
        text, values, end = self.store(*words, "--json"), [], 0
        while end < len(text):
            value, end = json.JSONDecoder().raw_decode(text, end)
            values.append(value)
            end += 1  # a line feed
        return values

    def backup(self, *words) -> str:
        return self.store("backup", *(words or ("data",))).strip()

    def summary(self, *words) -> dict:
        return self.json_of("backup", *(words or ("data",)))[-1]  # after lines of progress, if it is slow

    def snapshots(self) -> list[dict]:
        return self.json_of("snapshots")

    def restored(self, snapshot: str, *words) -> dict:
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        self.store("restore", snapshot, "--target", "out", *words)
        return facts_of(self.folder / "out")

    def assert_whole(self):
        self.assertIn("no damage", self.store("check", "--read-data"))

    def objects(self, kind: str) -> list[Path]:
        return sorted(path for path in (self.folder / self.location / kind).rglob("*") if path.is_file())

    def start_session(self) -> subprocess.Popen:
        """A backup of standard input that waits for it, as soon as its lease is there."""
        process = self.start("backup", "-", "--store", self.location, *self.secret, stdin=subprocess.PIPE)
        wait_until(lambda: self.objects("leases"), "a lease")
        return process

    def write_tree(self):
        """Files, an empty one, a link, a file with two names, and metadata of folders."""
        self.write("data/a", random_bytes(300_000, 1))
        self.write("data/deep/folder/b", random_bytes(200_000, 2) + bytes(100_000))
        self.write("data/deep/empty", b"")
        (self.folder / "data/link").symlink_to("deep/folder/b")
        os.link(self.folder / "data/a", self.folder / "data/another-name-of-a")
        (self.folder / "data/deep/folder").chmod(0o2750)
        os.utime(self.folder / "data/deep", ns=(5, 1_234_567_890_123_456_789))


class StoresTest(CommandTest):
    """Several stores. Those whose names have a dash are encrypted, by the key file that has the whole name behind `key-`."""

    def secret_of(self, store: str, prefix: str = "--") -> tuple:
        return (f"{prefix}key-file", f"key-{store}") if "-" in store else ()

    def run_on(self, store: str, *words, **how) -> Outcome:
        return self.run_command(*words, "--store", store, *self.secret_of(store), **how)

    def on(self, store: str, *words) -> str:
        run = self.run_on(store, *words)
        self.assert_done(run)
        return run.stdout

    def init(self, store: str, *words) -> Outcome:
        return self.run_on(store, "init", "--encryption", "key-file" if "-" in store else "none", *words)

    def make(self, store: str, *words):
        self.assert_done(self.init(store, *words))

    def run_copy(self, source: str, target: str, *words) -> Outcome:
        return self.run_on(target, "copy", "--from-store", source, *self.secret_of(source, "--from-"), *words)

    def copy(self, source: str, target: str, *words) -> list:
        run = self.run_copy(source, target, *words)
        self.assert_done(run)
        return run.lines

    def reader(self, store: str) -> Store:
        key = (self.folder / f"key-{store}").read_bytes() if "-" in store else None
        return Store(self.folder / store, key_file=key)
