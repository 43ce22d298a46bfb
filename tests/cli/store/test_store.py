"""A store as users have it: backups, restores, damage and repair, with and without encryption."""

import hashlib
import json
import os
import shutil
import stat
import subprocess
import time
import unittest
from pathlib import Path

from command import PATIENCE, CommandTest
from streams import random_bytes


def facts_of(folder: Path) -> dict:
    """Kind, permissions, times and content of everything below a folder."""
    facts_of_files = {}
    for path in sorted(folder.rglob("*")):
        facts = path.lstat()
        content = os.readlink(path) if path.is_symlink() else None
        if path.is_file() and not path.is_symlink():
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        facts_of_files[str(path.relative_to(folder))] = (stat.filemode(facts.st_mode), facts.st_mtime_ns, content)
    return facts_of_files


class StoreTest(CommandTest):
    secret: tuple = ()
    encryption = "none"

    def setUp(self):
        super().setUp()
        self.store("init", "--encryption", self.encryption)
        self.write("data/a", random_bytes(300_000, 1))
        self.write("data/deep/folder/b", random_bytes(200_000, 2) + bytes(100_000))
        self.write("data/deep/empty", b"")
        (self.folder / "data/link").symlink_to("deep/folder/b")
        os.link(self.folder / "data/a", self.folder / "data/another-name-of-a")
        (self.folder / "data/deep/folder").chmod(0o2750)
        os.utime(self.folder / "data/deep", ns=(5, 1_234_567_890_123_456_789))

    def run_store(self, *words, **how):
        return self.run_command(*words, "--store", "store", *self.secret, **how)

    def store(self, *words, **how) -> str:
        run = self.run_store(*words, **how)
        self.assert_done(run)
        return run.stdout

    def backup(self, *words) -> str:
        return self.store("backup", *(words or ("data",))).strip()

    def summary(self, *words) -> dict:
        return json.loads(self.backup("--json", *words).splitlines()[-1])  # after lines of progress, if it is slow

    def restored(self, snapshot: str, *words) -> dict:
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        self.store("restore", snapshot, "--target", "out", *words)
        return facts_of(self.folder / "out")


class Store(StoreTest):
    def test_quiet_commands_print_nothing_of_what_they_did_and_do_it(self):
        self.backup()
        newest = self.backup("--force", "data")
        (self.folder / "other").mkdir()
        init = self.run_command("init", "-q", "--encryption", "none", "--store", "other/store")
        self.assert_done(init)
        self.assertEqual(init.stdout, "")
        self.assertIn("encrypted      no", self.run_command("stats", "--store", "other/store").stdout)
        for words in (
            ("check",), ("repair",), ("tag", "--add", "x", newest), ("rewrite", "--exclude", "empty", "--forget"),
            ("forget", "--keep-last", "1"), ("prune",), ("restore", "latest", "--target", "out"),
        ):  # fmt: skip
            self.assertEqual(self.store(*words, "--quiet"), "", words)
        (left,) = (json.loads(line) for line in self.store("snapshots", "--json").splitlines())
        self.assertEqual(left["tags"], ["x"])
        self.assertNotIn("empty", self.store("ls", "latest"))
        self.assertNotEqual(self.store("check", "-q", "--json"), "")  # what is asked for is printed
        self.assertRegex(self.store("check", "--read-data"), r"\b(\d) containers \(\1 of them read\)")

    def test_a_prune_removes_what_only_forgotten_snapshots_have(self):
        old = self.backup()
        self.write("data/a", random_bytes(300_000, 7))
        snapshot = self.backup()
        before = self.restored(snapshot)
        self.store("forget", old)
        rehearsed = json.loads(self.store("prune", "--dry-run", "--max-unused", "0", "--json"))
        pruned = json.loads(self.store("prune", "--max-unused", "0", "--json"))
        self.assertEqual(pruned, rehearsed)
        self.assertGreater(pruned["removed_bytes"], 300_000)
        self.assertEqual((pruned["left_unused_bytes"], pruned["awaited"]), (0, []))
        self.assertEqual(self.restored(snapshot), before)
        self.assertIn("no damage", self.store("check", "--read-data"))
        for words, complaint in (
            (("--max-unused", "101%"), "--max-unused 101: must be between 0 and 100"),
            (("--max-rewrite", "much"), "--max-rewrite: 'much' is not a size"),
        ):
            refused = self.run_store("prune", *words)
            self.assertEqual(refused.code, 2)
            self.assertIn(complaint, refused.stderr)

    def test_a_backup_comes_back(self):
        before = facts_of(self.folder / "data")
        snapshot = self.backup()
        self.assertRegex(snapshot, r"^[0-9a-f]{64}$")
        self.assertEqual(self.restored(f"{snapshot}:{self.folder}/data"), before)
        self.assertEqual((self.folder / "out/a").stat().st_nlink, 2)
        (self.folder / "data/a").write_bytes(b"other bytes")
        (self.folder / "data/deep/empty").unlink()
        changed = facts_of(self.folder / "data")
        self.backup()
        self.assertEqual(self.restored(f"latest:{self.folder}/data"), changed)
        self.assertEqual(self.restored(f"{snapshot[:12]}:{self.folder}/data"), before)
        self.assertIn("no damage", self.store("check", "--read-data"))

    def test_what_is_stored_already_is_not_stored_again(self):
        self.backup()
        again = self.summary("data")
        self.assertLess(again["new_raw_bytes"], 10_000)  # nodes of folders: times that were too young may be trusted now
        self.assertEqual(again["files"], 5)
        forced = self.summary("--force", "--tag", "t", "--host", "h", "--time", "77", "data")
        self.assertEqual((forced["tags"], forced["host"], forced["time"]), (["t"], "h", 77_000_000_000))
        self.assertLess(forced["new_raw_bytes"], 10_000)
        self.assertEqual([json.loads(line)["sequence"] for line in self.store("snapshots", "--json").splitlines()], [1, 2, 3])

    def test_a_lost_index_is_made_again(self):
        self.backup()
        shutil.rmtree(self.folder / "store/shards")
        (self.folder / "store/shards").mkdir()
        self.assertEqual(self.restored(f"latest:{self.folder}/data"), facts_of(self.folder / "data"))
        self.assertLess(self.summary("--force", "data")["new_raw_bytes"], 10_000)  # nodes of folders

    def test_standard_input_and_single_files(self):
        content = random_bytes(400_000, 3)
        self.store("backup", "-", "--stdin-name", "dump.sql", content=content)
        self.assertEqual(self.run_store("dump", "latest:/dump.sql").bytes, content)
        listed = [json.loads(line) for line in self.store("ls", "latest", "--json").splitlines()]
        self.assertEqual([(each["path"], each["kind"], each["size"]) for each in listed[1:]], [("/dump.sql", "regular file", 400_000)])

    @unittest.skipUnless(os.path.exists("/proc/version"), "there is no /proc")
    def test_a_file_with_more_content_than_its_size_says_is_read_when_it_is_named(self):
        snapshot = self.backup("/proc/version")
        self.assertEqual(self.store("dump", f"{snapshot}:/proc/version"), Path("/proc/version").read_text())

    @unittest.skipUnless(shutil.which("losetup"), "losetup is not installed")
    def test_the_content_of_a_block_device_is_stored_when_it_is_named(self):
        image = self.write("image", bytes(5_000_192) + random_bytes(700_416, 3) + bytes(1_000_448))
        run = subprocess.run(["losetup", "--find", "--show", image], capture_output=True, text=True)
        if run.returncode != 0:
            self.skipTest(f"no loop device can be set up: {run.stderr.strip()}")
        device = run.stdout.strip()
        self.addCleanup(subprocess.run, ["losetup", "--detach", device], check=True)
        snapshot = self.backup(device)
        self.restored(snapshot)
        self.assertEqual((self.folder / f"out{device}").read_bytes(), image.read_bytes())

    def test_a_file_that_fails_is_named_and_the_rest_is_stored(self):
        run = self.run_store("backup", "data", "missing")
        self.assert_failed(run, f"error: {self.folder}/missing: cannot be found")
        self.assertEqual(len(run.stdout.strip()), 64)
        self.assertIn("incomplete", self.store("snapshots"))
        nothing = self.run_store("backup", "missing")
        self.assert_failed(nothing, "missing")
        self.assertEqual(nothing.stdout, "")

    def test_restores_into_folders_with_files(self):
        self.backup()
        self.restored(f"latest:{self.folder}/data")
        (self.folder / "out/a").write_bytes(b"mine")
        (self.folder / "out/other").write_bytes(b"mine too")
        run = self.run_store("restore", f"latest:{self.folder}/data", "--target", "out")
        self.assert_failed(run, "a")
        self.assertEqual((self.folder / "out/a").read_bytes(), b"mine")
        self.store("restore", f"latest:{self.folder}/data", "--target", "out", "--overwrite")
        self.assertEqual((self.folder / "out/a").read_bytes(), (self.folder / "data/a").read_bytes())
        self.assertEqual((self.folder / "out/other").read_bytes(), b"mine too")

    def test_restores_in_place_write_only_what_differs(self):
        self.backup()
        source = f"latest:{self.folder}/data"
        self.restored(source)
        # The file with two names is made anew each time.
        os.unlink(self.folder / "out/another-name-of-a")
        (self.folder / "data/another-name-of-a").unlink()
        b = self.folder / "out/deep/folder/b"
        with b.open("r+b") as file:
            file.seek(150_000)
            file.write(b"changed")
        run = json.loads(self.store("restore", source, "--target", "out", "--overwrite", "--verify", "--include", "b", "--json"))
        self.assertEqual(run["bytes"], 300_000)
        self.assertTrue(0 < run["written_bytes"] < 250_000 and run["written_bytes"] != 200_000, run)
        self.assertEqual(b.read_bytes(), (self.folder / "data/deep/folder/b").read_bytes())
        text = self.store("restore", source, "--target", "out", "--overwrite", "--include", "b")
        self.assertIn("0 B were written", text)

    def test_a_capped_backup_is_read_from_few_containers(self):
        def small(*words) -> str:
            run = self.run_command(*words, "--store", "small")
            self.assert_done(run)
            return run.stdout

        def read_containers() -> int:
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            done = json.loads(small("restore", f"latest:{self.folder}/data", "--target", "out", "--json"))
            self.assertEqual(facts_of(self.folder / "out"), facts_of(self.folder / "data"))
            return done["read_containers"]

        small("init", "--encryption", "none", "--container-size", "256K")
        for version in range(8):  # each has a container of its own
            self.write(f"data/new{version}", random_bytes(20_000, 50 + version))
            small("backup", "data")
        scattered = read_containers()
        self.assertGreater(json.loads(small("backup", "data", "--cap", "1", "--force", "--json").splitlines()[-1])["new_raw_bytes"], 100_000)
        self.assertLess(read_containers(), scattered)
        self.assertEqual(json.loads(small("check", "--json"))["moved_chunks"], 0)
        self.assert_refused(self.run_store("backup", "data", "--cap", "0"), "--cap 0: must be between 1 and 1000000")
        self.assert_refused(self.run_store("init", "--encryption", "none", "--container-size", "1"), "--container-size 1: must be")

    def test_patterns_choose_files(self):
        self.store("backup", "data", "--exclude", "folder")
        self.assertEqual(sorted(self.restored(f"latest:{self.folder}/data")), ["a", "another-name-of-a", "deep", "deep/empty", "link"])
        self.assertIn("a", self.restored(f"latest:{self.folder}/data", "--include", "a"))
        self.assertNotIn("link", self.restored(f"latest:{self.folder}/data", "--include", "a"))

    def test_damage_is_named_and_repaired(self):
        before = facts_of(self.folder / "data")
        self.backup()
        (container,) = (self.folder / "store/containers").glob("*/*")
        content = bytearray(container.read_bytes())
        content[150_000] ^= 1
        container.chmod(0o644)  # the files of a store are made read-only
        container.write_bytes(content)
        self.assert_failed(self.run_store("check", "--read-data"), "data/a", container.name)
        self.assertEqual(self.run_store("repair").code, 0)
        self.assertIn("no damage", self.store("check", "--read-data"))
        left = self.restored(f"latest:{self.folder}/data")
        for name in ("deep/folder/b", "deep/empty", "link"):
            self.assertEqual(left[name], before[name])
        self.assertNotIn("a", left)
        self.assertIn("incomplete", self.store("snapshots"))

    def test_a_repair_runs_beside_a_backup(self):
        backup = self.start("backup", "-", "--store", "store", stdin=subprocess.PIPE)
        end = time.monotonic() + PATIENCE
        while not list((self.folder / "store/leases").iterdir()):
            self.assertLess(time.monotonic(), end)
        self.assertIn("0 damaged objects", self.store("repair"))
        snapshot, _ = backup.communicate(b"content", timeout=PATIENCE)
        self.assertEqual(backup.returncode, 0)
        self.assertEqual(self.store("dump", f"{snapshot.decode().strip()}:/stdin"), "content")

    def test_an_older_copy_in_the_place_of_a_store_is_seen(self):
        self.backup()
        shutil.copytree(self.folder / "store", self.folder / "older")
        self.write("data/new", b"new")
        self.backup()
        shutil.rmtree(self.folder / "store")
        (self.folder / "older").rename(self.folder / "store")
        run = self.run_store("snapshots")
        self.assertEqual((run.code, len(run.stdout.splitlines())), (0, 1))
        self.assertIn("the store has gone back", run.stderr)

    def test_sessions_are_shown_and_ended(self):
        self.assertEqual(self.store("sessions"), "")
        backup = self.start("backup", "-", "--store", "store", stdin=subprocess.PIPE)
        end = time.monotonic() + PATIENCE
        while not list((self.folder / "store/leases").iterdir()):
            self.assertLess(time.monotonic(), end)
        self.assertRegex(self.store("sessions"), rf"^[0-9a-f]{{16}}  lease for .*, process {backup.pid}, user \d+\n$")
        self.assert_failed(self.run_store("sessions", "--end", "x"), "x: no session begins with it")
        session = json.loads(self.store("sessions", "--json"))
        self.store("sessions", "--end", session["id"][:8])
        self.assertEqual(self.store("sessions"), "")
        snapshot, _ = backup.communicate(b"content", timeout=PATIENCE)  # it lives after all, and nothing was removed
        self.assertEqual(self.store("dump", f"{snapshot.decode().strip()}:/stdin"), "content")

    def test_a_process_of_this_machine_that_was_killed_blocks_nothing(self):
        backup = self.start("backup", "-", "--store", "store", stdin=subprocess.PIPE)
        end = time.monotonic() + PATIENCE
        while not list((self.folder / "store/leases").iterdir()):
            self.assertLess(time.monotonic(), end)
        backup.kill()
        backup.communicate(timeout=PATIENCE)
        self.assertIn("has ended", self.store("sessions"))
        self.assertNotIn("waiting", self.store("prune"))
        self.assertEqual(self.store("sessions"), "")

    def test_snapshots_are_forgotten(self):
        first = self.backup()
        self.backup()
        self.store("forget", first[:10])
        self.assertEqual(len(self.store("snapshots").splitlines()), 1)
        self.assertEqual(json.loads(self.store("stats", "--json"))["snapshots"], 1)

    def test_the_index_stays_small(self):
        for number in range(9):
            self.write("data/new", random_bytes(1000, number))
            self.backup()
        self.assertLess(len(list((self.folder / "store/shards").iterdir())), 5)
        self.assertIn("no damage", self.store("check", "--read-data"))

    def test_nothing_is_left_of_a_session(self):
        self.run_store("backup", "missing")
        self.backup()
        left = [*(self.folder / "store/leases").iterdir(), *(self.folder / "store/temporary").iterdir()]
        self.assertEqual([path for path in left if not path.name.startswith("reserve-")], [])


class EncryptedStore(StoreTest):
    encryption = "password"
    secret = ("--password-file", "password")

    def setUp(self):
        self.secret_text = b"correct horse\n"
        super().setUp()

    def run_store(self, *words, **how):
        self.write("password", self.secret_text)
        return super().run_store(*words, **how)

    def test_a_backup_comes_back_and_cannot_be_read_without_the_password(self):
        before = facts_of(self.folder / "data")
        self.write("data/secret", b"attack at dawn" * 3000)
        self.backup()
        self.assertIn("no damage", self.store("check", "--read-data"))
        restored = self.restored(f"latest:{self.folder}/data")
        self.assertEqual({name: restored[name] for name in before}, before)
        for path in (self.folder / "store").rglob("*"):
            if path.is_file():
                self.assertNotIn(b"dawn", path.read_bytes())
        self.secret_text = b"wrong horse\n"
        self.assert_failed(self.run_store("snapshots"), "no key of the store is opened", code=2)
        self.assert_failed(self.run_command("snapshots", "--store", "store"), "a password or a key file is needed", code=2)


    def test_keys_are_added_replaced_and_removed(self):
        self.backup()
        self.write("new", b"new word")
        self.write("keyfile", random_bytes(32, 9))
        (first,) = self.store("key", "list").splitlines()
        self.assertIn("password  used now", first)
        added = self.store("key", "add", "--new-key-file", "keyfile").strip()
        self.assert_done(self.run_command("snapshots", "--store", "store", "--key-file", "keyfile"))
        self.store("key", "passwd", "--new-password-file", "new")
        self.assert_failed(self.run_store("snapshots"), "no key of the store is opened", code=2)
        self.secret_text = b"new word"
        listed = self.store("key", "list")
        self.assertNotIn(first.split()[0], listed)
        self.assertEqual(len(listed.splitlines()), 2)
        self.store("key", "remove", added[:8])
        self.assert_failed(self.run_command("snapshots", "--store", "store", "--key-file", "keyfile"), "no key", code=2)
        self.assert_failed(self.run_store("key", "remove", self.store("key", "list")[:8]), "this is the last key")
        self.assertIn("no damage", self.store("check", "--read-data"))


class StoreWithKeyFile(StoreTest):
    encryption = "key-file"
    secret = ("--key-file", "key")

    def test_the_key_file_is_created_for_its_owner_alone(self):
        self.assertEqual((self.folder / "key").stat().st_mode & 0o777, 0o600)
        self.backup()
        self.assertEqual(self.restored(f"latest:{self.folder}/data"), facts_of(self.folder / "data"))
