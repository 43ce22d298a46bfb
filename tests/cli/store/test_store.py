"""A store as users have it: backups, restores, damage and repair, with and without encryption."""

import errno
import json
import os
import shutil
import signal
import subprocess
import unittest

from command import PATIENCE, needs_faulty_reads, with_faulty_reads
from stores import StoreTest, damage, facts_of
from streams import random_bytes


class Store(StoreTest):
    def setUp(self):
        super().setUp()
        self.write_tree()

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
        (left,) = self.snapshots()
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
        words = ("prune", "--max-unused", "0")
        rehearsed = self.json_of(*words, "--dry-run")
        (pruned,) = self.json_of(*words)
        self.assertEqual([pruned], rehearsed)
        self.assertGreater(pruned["removed_bytes"], 300_000)
        self.assertEqual((pruned["left_unused_bytes"], pruned["awaited"]), (0, []))
        self.assertEqual(self.restored(snapshot), before)
        self.assert_whole()
        for words, complaint in (
            (("--max-unused", "101%"), "--max-unused 101: must be between 0 and 100"),
            (("--max-rewrite", "much"), "--max-rewrite: 'much' is not a size"),
        ):
            self.assert_refused(self.run_store("prune", *words), complaint)

    def test_a_backup_comes_back(self):
        before = facts_of(self.folder / "data")
        snapshot = self.backup()
        self.assertRegex(snapshot, r"^[0-9a-f]{64}$")
        self.assertEqual(self.restored(f"{snapshot}:{self.folder}/data"), before)
        self.assertEqual((self.folder / "out/a").stat().st_nlink, 2)
        (self.folder / "data/a").write_bytes(b"other bytes")
        (self.folder / "data/deep/empty").unlink()
        changed = facts_of(self.folder / "data")
        again = self.summary("--force", "--tag", "t", "--host", "h", "--time", "77", "data")
        self.assertLess(again["new_raw_bytes"], 10_000)  # nodes of folders
        self.assertEqual((again["files"], again["tags"], again["host"], again["time"]), (4, ["t"], "h", 77_000_000_000))
        self.assertEqual([each["sequence"] for each in self.snapshots()], [1, 2])
        self.assertEqual(self.restored(f"latest:{self.folder}/data"), changed)
        self.assertEqual(self.restored(f"{snapshot[:12]}:{self.folder}/data"), before)
        self.assert_whole()

    @unittest.skipUnless(shutil.which("losetup"), "losetup is not installed")
    def test_the_content_of_a_block_device_is_stored_when_it_is_named(self):
        image = self.write("image", bytes(5_000_192) + random_bytes(700_416, 3) + bytes(1_000_448))
        run = subprocess.run(["losetup", "--find", "--show", image], capture_output=True, text=True)
        if run.returncode != 0:
            self.skipTest(f"no loop device can be set up: {run.stderr.strip()}")
        device = run.stdout.strip()
        self.addCleanup(subprocess.run, ["losetup", "--detach", device], check=True)
        self.restored(self.backup(device))
        self.assertEqual((self.folder / f"out{device}").read_bytes(), image.read_bytes())

    def test_a_file_that_fails_is_named_and_the_rest_is_stored(self):
        run = self.run_store("backup", "data", "missing")
        self.assert_failed(run, f"error: {self.folder}/missing: cannot be found")
        self.assertEqual(len(run.stdout.strip()), 64)
        self.assertIn("incomplete", self.store("snapshots"))
        for paths in (("missing",), ("missing", "other")):
            nothing = self.run_store("backup", *paths)
            self.assert_failed(nothing, "missing: cannot be found")
            self.assertEqual((nothing.stdout, len(nothing.stderr.splitlines())), ("", len(paths)))

    def test_restores_in_place_write_only_what_differs(self):
        self.backup()
        self.restored(f"latest:{self.folder}/data")
        b = self.folder / "out/deep/folder/b"
        with b.open("r+b") as file:
            file.seek(150_000)
            file.write(b"changed")
        words = ("restore", f"latest:{self.folder}/data", "--target", "out", "--overwrite", "--include", "b")
        (restored,) = self.json_of(*words, "--verify")
        self.assertEqual(restored["bytes"], 300_000)
        self.assertTrue(0 < restored["written_bytes"] < 250_000 and restored["written_bytes"] != 200_000, restored)
        self.assertEqual(b.read_bytes(), (self.folder / "data/deep/folder/b").read_bytes())
        self.assertIn("0 B were written", self.store(*words))

    def test_damage_is_named_and_repaired(self):
        before = facts_of(self.folder / "data")
        self.backup()
        (container,) = self.objects("containers")
        damage(container, 150_000)
        self.assert_failed(self.run_store("check", "--read-data"), "data/a", container.name)
        self.assertEqual(self.run_store("repair").code, 0)
        self.assert_whole()
        left = self.restored(f"latest:{self.folder}/data")
        for name in ("deep/folder/b", "deep/empty", "link"):
            self.assertEqual(left[name], before[name])
        self.assertNotIn("a", left)
        self.assertIn("incomplete", self.store("snapshots"))
        healed = self.run_store("backup", "data", "--force")
        self.assertEqual((healed.code, healed.stderr), (0, "cutpoint: stored again: 1 chunk whose stored copies are damaged\n"))
        self.assertEqual(self.summary("data", "--force")["healed_chunks"], 0)

    def test_an_older_copy_in_the_place_of_a_store_is_seen(self):
        self.backup()
        shutil.copytree(self.folder / "store", self.folder / "older")
        self.write("data/new", b"new")
        self.backup()
        shutil.rmtree(self.folder / "store")
        (self.folder / "older").rename(self.folder / "store")
        run = self.run_store("snapshots")
        self.assertEqual((run.code, run.lines[-1]), (0, "1 snapshot"))
        self.assertIn("the store has gone back", run.stderr)


@needs_faulty_reads
class WithoutFolderSyncs(StoreTest):
    """A store on a file system that cannot sync folders works, and says what that costs."""

    def run_on(self, error: int, *words):
        return self.run_command(*words, "--store", "other", env=with_faulty_reads(CUTPOINT_FOLDER_SYNC_ERROR=str(error)))

    def test_works_and_says_so_once_for_each_command(self):
        self.write_tree()
        warning = "cutpoint: warning: other: its file system cannot sync folders"
        for error in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            shutil.rmtree(self.folder / "other", ignore_errors=True)
            run = self.run_on(error, "init", "--encryption", "none")
            self.assertEqual((run.code, run.stderr.count("\n")), (0, 1), run)
            self.assertTrue(run.stderr.startswith(warning), run)
            for options, survives in (((), False), (("--force",), False), (("--dry-run",), None)):
                run = self.run_on(error, "backup", "--json", "data", *options)
                self.assertEqual((run.code, run.stderr.count("\n")), (0, 0 if survives is None else 1), run)
                self.assertTrue(run.stderr.startswith("" if survives is None else warning), run)
                self.assertIs(json.loads(run.lines[-1]).get("survives_power_cuts"), survives, run)
            for words in (("forget", "--keep-last", "1", "--prune"), ("check", "--read-data"), ("restore", "latest", "--target", f"out{error}")):
                self.assert_done(self.run_on(error, *words))
        self.assertIs(self.summary("data")["survives_power_cuts"], True)

    def test_is_refused_if_a_sync_fails(self):
        self.assert_failed(self.run_on(errno.EIO, "init", "--encryption", "none"), "Input/output error")
        self.assert_done(self.run_command("init", "--store", "other", "--encryption", "none"))
        self.write_tree()
        self.assert_failed(self.run_on(errno.EIO, "backup", "data"), "other: cannot be made durable: Input/output error")


class Sessions(StoreTest):
    def test_are_shown_and_ended(self):
        self.assertEqual(self.store("sessions"), "")
        backup = self.start_session()
        self.assertRegex(self.store("sessions"), rf"^[0-9a-f]{{16}}  lease for .*, process {backup.pid}, user \d+\n$")
        self.assert_failed(self.run_store("sessions", "--end", "x"), "x: no session begins with it")
        (session,) = self.json_of("sessions")
        self.store("sessions", "--end", session["id"][:8])
        self.assertEqual(self.store("sessions"), "")
        snapshot, _ = backup.communicate(b"content", timeout=PATIENCE)  # it lives after all, and nothing was removed
        self.assertEqual(self.store("dump", f"{snapshot.decode().strip()}:/stdin"), "content")

    def test_of_a_process_of_this_machine_that_was_killed_block_nothing(self):
        backup = self.start_session()
        backup.kill()
        backup.communicate(timeout=PATIENCE)
        self.assertIn("has ended", self.store("sessions"))
        self.assertNotIn("waiting", self.store("prune"))
        self.assertEqual(self.store("sessions"), "")


class SmallContainers(StoreTest):
    settings = ("--encryption", "none", "--container-size", "64K")

    def test_a_capped_backup_is_read_from_few_containers(self):
        def read_containers() -> int:
            (restored,) = self.json_of("restore", f"latest:{self.folder}/data", "--target", "out", "--overwrite")
            return restored["read_containers"]

        for version in range(5):  # each has a container of its own
            self.write(f"data/new{version}", random_bytes(20_000, 50 + version))
            self.backup()
        scattered = read_containers()
        shutil.rmtree(self.folder / "out")
        self.assertGreater(self.summary("data", "--cap", "1", "--force")["new_raw_bytes"], 50_000)
        self.assertLess(read_containers(), scattered)
        self.assertEqual(self.json_of("check")[0]["moved_chunks"], 0)
        self.assert_refused(self.run_store("backup", "data", "--cap", "0"), "--cap 0: must be between 1 and 1000000")
        self.assert_refused(self.run_store("init", "--encryption", "none", "--container-size", "1"), "--container-size 1: must be")

    def test_parts_of_the_data_are_checked(self):
        self.write("data", os.urandom(3 << 20))
        self.backup()
        damage(max(self.objects("containers"), key=os.path.getsize), 200)

        def check(subset: str):
            return self.run_store("check", "--read-data-subset", subset, "--json")

        runs = [check(f"{n}/4").json() for n in range(1, 5)]
        containers = runs[0]["containers"]
        self.assertEqual(sum(run["read_containers"] for run in runs), containers)
        self.assertEqual(sorted(run["object_problems"] for run in runs), [0, 0, 0, 1])
        self.assertEqual(check("100%").json()["object_problems"], 1)
        self.assertEqual(check("50%").json()["read_containers"], (containers + 1) // 2)
        self.assertLess(check("300K").json()["read_containers"], 10)
        for wrong in "0/4", "5/4", "0%", "101%", "x", "", "5":
            self.assert_refused(check(wrong), "--read-data-subset")
        self.assert_refused(check("5"), "is it 5% or 5G?")


class EncryptedStore(StoreTest):
    """A key file takes no time, and opening a store by a password takes a quarter of a second."""

    settings = ("--encryption", "key-file")
    secret = ("--key-file", "key")

    def test_a_backup_comes_back_and_cannot_be_read_without_the_secret(self):
        self.write_tree()
        self.write("data/secret", b"attack at dawn" * 3000)
        self.assertEqual((self.folder / "key").stat().st_mode & 0o777, 0o600, "init has made it for its owner alone")
        self.backup()
        self.assert_whole()
        self.assertEqual(self.restored(f"latest:{self.folder}/data"), facts_of(self.folder / "data"))
        for path in self.objects(""):
            self.assertNotIn(b"dawn", path.read_bytes())
        self.write("wrong", b"wrong horse")
        for words, told in (
            (("--key-file", "wrong"), "no key of the store is opened"),
            (("--password-file", "wrong"), "no key of the store is opened"),
            ((), "a password or a key file is needed"),
        ):
            # Of a session of its own, which has no terminal to ask on.
            self.assert_refused(self.run_command("snapshots", "--store", "store", *words, start_new_session=True), told)

    def test_a_password_in_a_variable_is_not_taken_and_that_is_said(self):
        told = "; CUTPOINT_PASSWORD is not read"
        how = {"start_new_session": True, "env": {**os.environ, "CUTPOINT_PASSWORD": "word"}}
        for words in ("snapshots", "--store", "store"), ("init", "--store", "new", "--encryption", "password"):
            self.assert_refused(self.run_command(*words, **how), told)
            self.assertNotIn(told, self.run_command(*words, start_new_session=True).stderr)
        self.assert_done(self.run_store("snapshots", env=how["env"]))

    def test_keys_are_added_replaced_and_removed(self):
        self.write("word", b"a new word\n")
        self.write("other", random_bytes(32, 9))
        (first,) = self.store("key", "list").splitlines()
        self.assertRegex(first, r"^[0-9a-f]+  key file  used now$")
        added = self.store("key", "add", "--new-password-file", "word").strip()
        with_password = ("snapshots", "--store", "store", "--password-file", "word")
        self.assert_done(self.run_command(*with_password))
        self.store("key", "passwd", "--new-key-file", "other")
        self.assert_refused(self.run_store("snapshots"), "no key of the store is opened")
        self.secret = ("--key-file", "other")
        listed = self.store("key", "list")
        self.assertNotIn(first.split()[0], listed)
        self.assertEqual(sorted(line.split("  ")[1] for line in listed.splitlines()), ["key file", "password"])
        (key_object,) = (self.folder / "store").rglob(f"{added}*")
        left_over = key_object.read_bytes()
        self.store("key", "remove", added[:8])
        self.assert_refused(self.run_command(*with_password), "no key")
        # A removed key whose object is there again, which is found first, does not hide another with the same password.
        key_object.write_bytes(left_over)
        self.assert_refused(self.run_command(*with_password), "was removed")
        again = []
        while not again or max(again) <= added:
            again.append(self.store("key", "add", "--new-password-file", "word").strip())
        self.assert_done(self.run_command(*with_password))
        for each in again:
            self.store("key", "remove", each)
        self.assert_failed(self.run_store("key", "remove", self.store("key", "list")[:8]), "this is the last key")
        self.assert_whole()


class StoreWithPassword(StoreTest):
    """The end of a line does not count in a file, and does not in what a command prints."""

    settings = ("--encryption", "password")
    secret = ("--password-file", "windows")

    def setUp(self):
        self.secret_files = {"none": b"a password", "unix": b"a password\n", "windows": b"a password\r\n"}
        super().setUp()

    def run_store(self, *words, **how):
        for name, content in self.secret_files.items():
            self.write(name, content)
        return super().run_store(*words, **how)

    def test_is_opened_by_files_commands_and_the_environment(self):
        self.secret = ()
        command = ("--password-command", "printf '%s\\n' \"a $WORD\"")
        for words in (("--password-file", "none"), ("--password-file", "unix"), command):
            self.assert_done(self.run_store("snapshots", *words, env={**os.environ, "WORD": "password"}))
        self.store("key", "add", "--password-file", "none", "--new-password-command", "echo another")
        self.assert_done(self.run_store("snapshots", env={**os.environ, "CUTPOINT_PASSWORD_COMMAND": "echo another"}))
        # What is to be stored is not for the command, and the command of --stdin-from-command gets it all.
        reads = ("--store", "store", "--password-command", "head -c 5 >/dev/null; echo another")
        for words in (("-",), ("--stdin-from-command", "--", "cat")):
            self.assert_done(self.run_command("backup", *reads, *words, content=b"0123456789"))
            self.assertEqual(self.run_command("dump", *reads, "latest:/stdin").stdout, "0123456789")
        self.assert_done(self.run_command("backup", *reads, "--files-from", "-", content=b"none\nunix\n"))
        listed = self.run_command("ls", *reads, "latest").stdout.splitlines()
        self.assertEqual(len([line for line in listed if line.endswith(("/none", "/unix"))]), 2)
        # A parent that ignores the end of its children passes that on.
        ignoring = {"preexec_fn": lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)}
        self.assert_done(self.run_store("snapshots", *command, env={**os.environ, "WORD": "password"}, **ignoring))
        for words, told in (
            (("--password-command", "exit 7"), "exit 7: the command for the password ended with 7"),
            (("--password-command", "true"), "true: the password is empty"),
            ((*command, "--password-file", "none"), "are set: give one of them"),
        ):
            self.assert_refused(self.run_store("snapshots", *words), told)
