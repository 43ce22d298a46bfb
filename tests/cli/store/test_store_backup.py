"""What users expect of a backup: what is left out, standard input, passwords, and what is said of it."""

import json
import os
import select
import shutil
import subprocess
import time
import unittest

from command import PATIENCE, CommandTest, Outcome, needs_faulty_reads, with_faulty_reads
from streams import random_bytes


class BackupTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.assert_done(self.run_command("init", "--store", "store", "--encryption", "none"))

    def backup(self, *words, **how) -> Outcome:
        return self.run_command("backup", "--store", "store", *words, **how)

    def stored(self, snapshot: str = "latest") -> list[str]:
        """The paths below the test's folder."""
        run = self.run_command("ls", snapshot, "--json", "--store", "store")
        self.assert_done(run)
        paths = [json.loads(line)["path"] for line in run.lines]
        return [path.removeprefix(f"{self.folder}/") for path in paths if path.startswith(f"{self.folder}/")]

    def snapshot_count(self) -> int:
        return len(self.run_command("snapshots", "--store", "store").lines)


class Owner(BackupTest):
    def test_root_is_warned_before_it_writes_to_the_store_of_a_user(self):
        if os.geteuid() != 0:
            self.skipTest("this is not root")
        self.write("data", b"x")
        os.chown(self.folder / "store", 54321, 54321)
        run = self.backup("data")
        self.assertEqual((run.code, len(run.lines)), (0, 1))
        self.assertIn("warning: store: the store belongs to user 54321", run.stderr)
        self.assert_done(self.run_command("snapshots", "--store", "store"))  # readers write nothing
        os.chown(self.folder / "store", 0, 54321)
        self.assert_done(self.backup("data"))


class LeftOut(BackupTest):
    def setUp(self):
        super().setUp()
        for name in ("a.c", "b.o", "sub/c.o", "sub/D.O", "cache/x"):
            self.write(f"data/{name}", b"12345")

    def test_what_only_damaged_containers_had_is_stored_again_and_counted(self):
        self.write("data/file", random_bytes(3_000_000, 8))
        words = ("backup", "data", "--force", "--store", "store")
        self.assert_done(self.run_command(*words))
        for container in (self.folder / "store/containers").glob("*/*"):
            content = bytearray(container.read_bytes())
            content[len(content) // 2] ^= 1
            container.write_bytes(content)
        self.run_command("repair", "--store", "store")
        healed = self.run_command(*words)
        self.assertEqual((healed.code, healed.stderr), (0, "cutpoint: 1 chunks whose stored copies are damaged were stored again\n"))
        again = self.run_command(*words, "--json")
        self.assert_done(again)
        self.assertEqual(json.loads(again.stdout.splitlines()[-1])["healed_chunks"], 0)

    def test_the_store_itself(self):
        run = self.backup(".", "--exclude", "data")
        self.assertEqual((run.code, run.stderr.count("\n")), (0, 1), run)
        self.assertIn(f"cutpoint: warning: {self.folder}/store: is the store itself, and is left out", run.stderr)
        self.assertEqual(self.stored(), [])
        self.assert_refused(self.backup("store"), "store: is the store itself")

    def test_absolute_patterns(self):
        self.assert_done(self.backup("data", "--exclude", f"{self.folder}/data/sub", "--exclude", f"{self.folder}/data/*.o"))
        self.assertEqual(self.stored(), ["data", "data/a.c", "data/cache", "data/cache/x"])

    def test_patterns_that_match_nothing_are_named(self):
        for command in ("backup", "chunk"):
            words = ("--store", "store") if command == "backup" else ("-o", "listing")
            run = self.run_command(command, "data", "--exclude", "*.o", "--exclude", "/dta/sub", *words)
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.stderr, "cutpoint: warning: /dta/sub: this pattern matched nothing\n")
        self.assert_done(self.backup("data", "--exclude", "/dta/sub", "--quiet"))

    def test_by_files_of_patterns_and_in_any_case(self):
        self.write("patterns", b"# what is derived\r\n\r\n*.o\r\n!b.o\n")
        self.assert_done(self.backup("data", "--exclude-file", "patterns", "--iexclude", "d.o"))
        self.assertEqual(self.stored(), ["data", "data/a.c", "data/b.o", "data/cache", "data/cache/x", "data/sub"])
        self.write("patterns", b"*.o\na//b\n")
        self.assert_refused(self.backup("data", "--exclude-file", "patterns"), "--exclude-file patterns: a//b: ")
        self.assert_failed(self.backup("data", "--exclude-file", "none"), "--exclude-file none: cannot be opened: No such file")
        self.assert_failed(self.backup("data", "--exclude-file", "data"), "--exclude-file data: cannot be read: Is a directory")

    def test_by_tags_and_size(self):
        self.write("data/cache/.nobackup", b"temporary")
        self.write("data/sub/.nobackup", b"not this one")
        self.write("data/large", bytes(2000))
        self.assert_done(self.backup("data", "--exclude-if-present", ".nobackup:temp", "--exclude-larger-than", "1K"))
        left = ["data", "data/a.c", "data/b.o", "data/cache", "data/cache/.nobackup"]
        self.assertEqual(self.stored(), [*left, "data/sub", "data/sub/.nobackup", "data/sub/D.O", "data/sub/c.o"])
        self.assert_refused(self.backup("data", "--exclude-if-present", "a/b"), "--exclude-if-present a/b: ")
        self.assert_refused(self.backup("data", "--exclude-larger-than", "big"), "--exclude-larger-than: 'big' is not a size")

    @unittest.skipUnless(shutil.which("setpriv") and os.geteuid() == 0, "needs root and setpriv")
    def test_a_folder_whose_metadata_cannot_be_read(self):
        """As a mount point of a server that has gone: the folder's names can be read, and nothing more."""
        (self.folder / "data/sub").chmod(0o444)
        (self.folder / "data/sub/mp").mkdir()
        for path in (self.folder, *self.folder.glob("store/**/*"), self.folder / "store"):
            path.chmod(0o777 if path.is_dir() else 0o666)
        words = ("--exclude", "sub/mp/", "--exclude", "[cD].[oO]")
        command = self.start("backup", "--store", "store", "data", *words, user=65534, group=65534, extra_groups=[])
        self.assert_done(self.wait(command))

    def test_what_is_named_is_stored_all_the_same(self):
        self.assert_done(self.backup("data", "data/sub/c.o", "--exclude", "/sub"))
        self.assertEqual(self.stored(), ["data", "data/a.c", "data/b.o", "data/cache", "data/cache/x", "data/sub", "data/sub/c.o"])
        (self.folder / "alias").symlink_to("data")
        self.assert_refused(self.backup("alias", "alias/sub"), "alias/sub: lies below", "name", "alias/")
        self.assert_done(self.backup("alias/", "--exclude", "?*"))
        self.assertEqual(self.stored(), ["alias"])


class Names(BackupTest):
    def test_more_than_a_snapshot_can_have_are_refused_before_anything_is_read(self):
        self.write("file", random_bytes(100_000, 1))
        (self.folder / "list").write_text("".join(f"{i}\n" for i in range(65_536)))
        for words in (("--files-from", "list"), ("file", "--host", "h" * 65_536)):
            self.assert_refused(self.backup(*words), "the paths, tags or host of a snapshot are too long")
        self.assertEqual(list((self.folder / "store/containers").glob("*/*")), [])


class Times(BackupTest):
    @needs_faulty_reads
    def test_of_damaged_file_systems_are_stored(self):
        self.write("data/damaged")
        self.write("data/whole")
        self.assert_done(self.backup("data", env=with_faulty_reads(CUTPOINT_TIME_SUFFIX="damaged")))
        self.assertEqual(self.stored(), ["data", "data/damaged", "data/whole"])
        self.assert_done(self.run_command("restore", f"latest:{self.folder}/data", "--target", "out", "--store", "store"))
        self.assertEqual((self.folder / "out/damaged").stat().st_mtime_ns, 5_000_000_000 + 2**30 - 1)


class DeepFolders(BackupTest):
    """Their paths are longer than 1 MiB, which restores do not follow."""

    def setUp(self):
        super().setUp()
        self.write("data/file")
        self.addCleanup(subprocess.run, ["rm", "-rf", self.folder / "data"], check=True)
        name = "n" * 255
        here = os.open(self.folder / "data", os.O_RDONLY)
        for _ in range(4200):
            os.mkdir(name, dir_fd=here)
            here, above = os.open(name, os.O_RDONLY, dir_fd=here), here
            os.close(above)
        os.close(os.open("file", os.O_CREAT, dir_fd=here))
        os.close(here)

    def test_are_left_out_and_named(self):
        run = self.backup("data")
        self.assert_failed(run, "is left out, as its path has ")
        self.assertEqual(len(run.stderr.splitlines()), 1, "what is below is not named")
        self.assertIn("no damage", self.run_command("check", "--store", "store").stdout)


class StandardInput(BackupTest):
    def test_empty_input_is_a_warning(self):
        run = self.backup("-", content=b"")
        self.assertEqual(run.code, 0)
        self.assertEqual(run.stderr, "cutpoint: warning: /stdin: standard input is empty\n")

    def test_closed_input_commits_nothing(self):
        run = self.run_shell('"$CUTPOINT" backup --store store - <&-')
        self.assert_failed(run, "standard input: cannot be read")
        self.assertEqual((run.stdout, self.snapshot_count()), ("", 0))

    def test_a_name_that_is_none_is_refused(self):
        for name in ("", "a/b", ".."):
            self.assert_refused(self.backup("-", f"--stdin-name={name}", content=b"x"), f"the name of standard input is not that of a file: '{name}'")

    def test_the_output_of_a_command(self):
        words = ("--stdin-from-command", "--stdin-name", "dump", "--")
        self.assert_done(self.backup(*words, "printf", "%s-", "a", "--b"))
        self.assertEqual(self.run_command("dump", "latest:/dump", "--store", "store").stdout, "a---b-")
        run = self.backup(*words, "true")
        self.assertEqual((run.code, run.stderr), (0, "cutpoint: warning: /dump: standard input is empty\n"))

    def test_a_command_that_fails_commits_nothing(self):
        for command, told in (
            (("sh", "-c", "echo begin; exit 3"), "sh: the command failed with exit code 3"),
            (("sh", "-c", "echo begin; kill -9 $$"), "sh: the command was ended by signal 9"),
            (("/nowhere/command",), "/nowhere/command: cannot be started: No such file"),
        ):
            run = self.backup("--stdin-from-command", "--", *command)
            self.assert_failed(run, told)
            self.assertEqual((run.stdout, self.snapshot_count()), ("", 0), run)
        self.assert_refused(self.backup("--stdin-from-command"), "give the command after '--'")
        for words in (("a", "--", "echo", "b"), ("a", "--")):
            self.assert_refused(self.backup("--stdin-from-command", *words), "a stands before '--'")
        for option in ("--files-from", "--files-from0"):
            self.assert_refused(self.backup("--stdin-from-command", option, "list", "--", "echo"), option)


class Said(BackupTest):
    def test_options_have_headings(self):
        text = self.run_command("backup", "--help").stdout
        inputs, store = text.index("\nInputs:\n"), text.index("\nStore:\n")
        for option in ("--iexclude", "--exclude-file", "--exclude-if-present", "--exclude-larger-than", "--stdin-from-command"):
            self.assertTrue(inputs < text.index(f"\n  {option}") < store, option)
        self.assertGreater(text.index("\n  --password-command"), store)

    def test_commas_separate_tags(self):
        self.write("file")
        snapshot = json.loads(self.backup("file", "--tag", "a,b", "--tag", "c", "--json").stdout.splitlines()[-1])
        self.assertEqual(snapshot["tags"], ["a", "b", "c"])
        for tags in ("a,,b", "", "a,"):
            self.assert_refused(self.backup("file", f"--tag={tags}"), f"--tag {tags}: a tag is empty")

    @unittest.skipIf(os.geteuid() != 0, "needs another user")
    def test_many_problems_with_one_reason_are_summed_up(self):
        for i in range(30):
            self.write(f"data/{i:02}").chmod(0)
        for path in (self.folder, *self.folder.glob("store/**/*"), self.folder / "store"):
            path.chmod(0o777 if path.is_dir() else 0o666)
        nobody = {"user": 65534, "group": 65534, "extra_groups": []}
        run = self.wait(self.start("backup", "--store", "store", "data", **nobody))
        self.assertEqual(run.code, 1, run)
        lines = run.stderr.splitlines()
        self.assertEqual(len(lines), 11, run)
        self.assertEqual(lines[-1], "cutpoint: error: 20 more: cannot be opened: Permission denied (--verbose names all)")
        run = self.wait(self.start("backup", "--store", "store", "data", "--verbose", **nobody))
        self.assertEqual(run.stderr.count("cannot be opened: Permission denied\n"), 30, run)

    def test_a_store_that_cannot_be_opened_is_wrong_usage(self):
        self.write("file")
        for command in (("backup", "file"), ("snapshots",), ("check",), ("restore", "latest", "--target", "out")):
            self.assert_refused(self.run_command(*command, "--store", "missing"), "missing")


class Lanes(BackupTest):
    """Back ends, threads and segments: of no effect on what is stored."""

    def setUp(self):
        super().setUp()
        self.write("data/random", random_bytes(3_000_000, 3))
        self.write("data/text", b"the same again and again\n" * 40_000)
        listed = json.loads(self.run_command("list", "--json").stdout)["back_ends"]
        self.back_ends = [each["name"] for each in listed if each["runs_here"]]

    def summary(self, *words) -> dict:
        run = self.backup("data", "--force", "--json", *words)
        self.assert_done(run)
        return json.loads(run.lines[-1])

    def chunk_count(self) -> int:
        stats = self.run_command("stats", "--store", "store", "--details", "--json")
        self.assert_done(stats)
        return json.loads(stats.stdout)["chunks"]["count"]

    def test_all_store_the_same(self):
        first = self.summary("--backend", "scalar", "--threads", "1")
        self.assertGreater(first["data_added"], 3_000_000)
        count = self.chunk_count()
        jobs = [("--backend", name) for name in self.back_ends]
        for job in (*jobs, ("--threads", "5"), ("--segment", "100K"), ("--backend", "auto", "--device", "0", "--device-memory", "64M")):
            again = self.summary(*job)
            self.assertLess(again["data_added"], 10_000, f"{job}: more than folders is new")
            self.assertEqual(self.chunk_count(), count, job)

    def test_the_report_says_who_did_what_and_what_bounded_it(self):
        summary = self.summary("--backend", "scalar", "--threads", "3")
        self.assertEqual(summary["backends"], {"chunking": "scalar", "fingerprinting": "scalar"})
        self.assertEqual((summary["thread_count"], summary["plan"], summary["device_cut_share"]), (3, "processor", 0))
        stages = {row["stage"]: row for row in summary["stages"]}
        self.assertEqual(list(stages), ["reading", "intake", "chunking", "joining", "fingerprinting", "indexing", "compression", "writing"])
        for name in ("reading", "chunking", "fingerprinting", "indexing", "compression", "writing"):
            self.assertGreater(stages[name]["busy_seconds"], 0, name)
        longest = max(stages.values(), key=lambda row: row["alone_seconds"])
        self.assertEqual(summary["bottleneck"], longest["stage"])
        self.assertIn("bottleneck: ", self.backup("data", "--force", "--verbose").stderr)
        (self.folder / "nothing").mkdir()
        idle = json.loads(self.backup("nothing", "--json").lines[-1])
        self.assertEqual((idle["bottleneck"], idle["backends"]), (None, None), "nothing was cut")

    def test_a_gpu_that_cannot_be_used_is_refused_before_anything_is_done(self):
        if "cuda" in self.back_ends:
            self.skipTest("this machine has a GPU")
        info = json.loads(self.run_command("info", "--json").stdout)
        reason = info.get("why_no_gpus") or info["gpus"][0]["problem"]
        before = self.snapshot_count()
        for name in ("cuda", "hybrid"):
            for words in (("backup", "data"), ("copy", "--from-store", "store", "--from-password-file", "missing")):
                run = self.run_command(*words, "--store", "store", "--backend", name)
                self.assert_refused(run, f"back end '{name}' cannot be used", reason)
        self.assertEqual(self.snapshot_count(), before)

    def test_options_are_checked_before_the_store_is_opened(self):
        for words, why in (
            (("--backend", "fast"), "no back end 'fast'"),
            (("--backend", "scalar", "--device", "0"), "--device 0: --backend scalar uses no device"),
            (("--device", "4096"), "--device 4096: must be between 0 and 4095"),
            (("--segment", "1K"), "--segment 1K: must be at least 4K"),
            (("--threads", "0"), "--threads 0: must be between 1 and 4096"),
        ):
            for command in ("backup", "data"), ("copy", "--from-store", "absent"):
                self.assert_refused(self.run_command(*command, "--store", "absent", *words), why)
        self.assert_refused(self.backup("data", "--cap", "3", "--segment", "1M"), "--cap", "--segment")


class Summary(BackupTest):
    def setUp(self):
        super().setUp()
        for name in ("a", "sub/b", "sub/c", "sub/deep/d"):
            self.write(f"data/{name}", name.encode() * 1000)
        (self.folder / "data/link").symlink_to("a")

    def summary(self, *words, code=0) -> dict:
        run = self.backup("data", "--json", *words)
        self.assertEqual(run.code, code, run)
        return json.loads(run.lines[-1])

    def counts(self, *words) -> tuple:
        summary = self.summary(*words)
        kinds = [[summary[f"{what}_{how}"] for how in ("new", "changed", "unmodified")] for what in ("files", "dirs")]
        return tuple(kinds)

    def test_new_changed_and_unchanged_files_are_counted(self):
        self.assertEqual(self.counts(), ([5, 0, 0], [3, 0, 0]))
        self.assertEqual(self.counts(), ([0, 0, 5], [0, 0, 3]))
        self.assertEqual(self.counts("--force"), ([5, 0, 0], [3, 0, 0]), "no parent")
        self.write("data/a", b"another")
        (self.folder / "data/sub/b").chmod(0o600)
        (self.folder / "data/sub/deep").chmod(0o700)
        self.write("data/sub/e")
        self.assertEqual(self.counts(), ([1, 2, 3], [0, 2, 1]))
        (self.folder / "data/sub/c").unlink()
        self.assertEqual(self.counts(), ([0, 0, 5], [0, 1, 2]))
        summary = self.summary()
        self.assertEqual((summary["message_type"], summary["dry_run"], summary["total_files_processed"]), ("summary", False, 5))
        self.assertEqual((summary["snapshot_id"], summary["data_added"]), (summary["id"], summary["new_raw_bytes"]))
        self.assertEqual(summary["total_bytes_processed"], summary["bytes"])

    def test_verbose_ones_are_for_people(self):
        self.assert_done(self.backup("data"))
        run = self.backup("data", "--verbose")
        self.assertEqual(run.code, 0)
        self.assertIn("cutpoint: files: 0 new, 0 changed, 5 unchanged\n", run.stderr)
        self.assertIn(f"cutpoint: snapshot {run.stdout[:12]} was made in ", run.stderr)

    def test_a_path_through_a_link_is_what_the_system_follows(self):
        self.write("x", b"beside the link")
        self.write("real/x", b"beside the folder")
        self.write("real/folder/y", b"y")
        (self.folder / "link").symlink_to("real/folder")
        self.assert_done(self.backup("link/../x", "link/./y"))
        listed = self.run_command("ls", "latest", "--store", "store").stdout
        self.assertIn(f"{self.folder}/real/x", listed)
        self.assertIn(f"{self.folder}/link/y", listed)
        dumped = self.run_command("dump", f"latest:{self.folder}/real/x", "--store", "store")
        self.assertEqual(dumped.stdout, "beside the folder")

    def test_errors_are_lines_of_json(self):
        lines = [json.loads(line) for line in self.backup("data", "missing", "--json").lines]
        lines = [line for line in lines if line["message_type"] != "status"]  # which a slow backup writes
        self.assertEqual([line["message_type"] for line in lines], ["error", "summary"])
        self.assertEqual(lines[0]["item"], f"{self.folder}/missing")
        self.assertIn("cannot be found", lines[0]["error"]["message"])
        self.assertTrue(lines[1]["is_incomplete"])

    def test_the_state_is_a_line_each_second(self):
        process = self.start("backup", "--store", "store", "--json", "data", "-", stdin=subprocess.PIPE)
        states = []
        deadline = time.monotonic() + PATIENCE
        while not states and time.monotonic() < deadline:
            process.stdin.write(bytes(1_000_000))
            process.stdin.flush()
            ready, _, _ = select.select([process.stdout], [], [], 0.05)
            if ready:
                states.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        process.stdin = None
        self.assert_done(self.wait(process))
        self.assertEqual(states[0]["message_type"], "status")
        for key in ("percent_done", "total_files", "files_done", "total_bytes", "bytes_done", "current_files"):
            self.assertIn(key, states[0])

    def test_a_dry_run_says_what_would_be_added_and_writes_nothing(self):
        def files() -> list:
            return sorted(str(path) for path in (self.folder / "store").rglob("*") if path.is_file())

        def added(*words: str) -> tuple:
            summary = self.summary(*words)
            return summary["data_added"], summary["files_new"], summary["files_changed"], summary["data_added_packed"]

        def assert_added(planned: tuple):
            *counts, packed = added()
            self.assertEqual((*counts,), planned[:-1], "a backup adds what the dry run has said")
            # Nodes have bytes of their containers' random salts, which are compressed to more or fewer bytes.
            self.assertAlmostEqual(packed, planned[-1], delta=100)

        time.sleep(2.1)  # a ctime that is younger than two seconds is not stored, and nodes are longer when it is
        before = files()
        run = self.backup("data", "--dry-run")
        self.assert_done(run)
        self.assertEqual(run.lines[:2], ["files: 5 new, 0 changed, 0 unchanged", "folders: 3 new, 0 changed, 0 unchanged"])
        self.assertRegex(run.lines[2], r"^bytes: 20\.5 KiB of 20\.5 KiB read, [\d.]+ KiB new, [\d.]+ (KiB|bytes) would be stored$")
        self.assertEqual(len(run.lines), 3)
        planned = added("--dry-run")
        self.assertEqual(files(), before)
        assert_added(planned)
        self.write("data/a", os.urandom(300_000))
        time.sleep(2.1)
        before = files()
        summary = self.summary("--dry-run")
        self.assertEqual((summary["dry_run"], summary["id"]), (True, ""))
        self.assertNotIn("snapshot_id", summary)
        planned = added("--dry-run")
        self.assertGreaterEqual(planned[0], 300_000)
        self.assertEqual(files(), before)
        assert_added(planned)

    def test_a_dry_run_tells_that_a_producer_has_failed(self):
        run = self.backup("--dry-run", "--stdin-from-command", "--", "sh", "-c", "echo x; exit 3")
        self.assertEqual(run.code, 1)
        self.assertIn("3", run.stderr)

    def test_a_dry_run_needs_no_permission_to_write(self):
        planned = self.summary("--dry-run", "--force")["data_added"]
        for folder, _, _ in os.walk(self.folder / "store"):
            os.chmod(folder, 0o555)
        self.addCleanup(lambda: [os.chmod(folder, 0o755) for folder, _, _ in os.walk(self.folder / "store")])
        self.assertEqual(self.summary("--dry-run", "--force")["data_added"], planned)

    def test_no_snapshot_is_made_if_nothing_has_changed(self):
        words = ("data", "--skip-if-unchanged")
        self.assertEqual(self.backup(*words).code, 0)
        run = self.backup(*words)
        self.assertEqual((run.code, run.stdout, run.stderr), (0, "", "cutpoint: nothing has changed: no snapshot was made\n"))
        self.assertEqual(self.summary("--skip-if-unchanged")["id"], "")
        self.assertEqual(self.snapshot_count(), 1)
        for change in (
            lambda: self.write("data/a", b"another"),
            lambda: self.write("data/sub/new"),
            lambda: (self.folder / "data/sub/c").unlink(),
            lambda: (self.folder / "data/sub").chmod(0o700),
            lambda: self.write("data/sub/deep/d", b"d" * 12000),
            lambda: shutil.rmtree(self.folder / "data/sub/deep"),
        ):
            change()
            count = self.snapshot_count()
            self.assertEqual(self.backup(*words).code, 0)
            self.assertEqual(self.snapshot_count(), count + 1)
            self.assertEqual(self.backup(*words).stdout, "")
        # A removal that leaves the time of the folder as it was.
        facts = (self.folder / "data/sub").stat()
        (self.folder / "data/sub/new").unlink()
        os.utime(self.folder / "data/sub", ns=(facts.st_atime_ns, facts.st_mtime_ns))
        self.assertNotEqual(self.backup(*words).stdout, "")


class Passwords(CommandTest):
    def run_store(self, *words, **how) -> Outcome:
        return self.run_command(*words, "--store", "store", **how)

    def test_the_end_of_a_line_does_not_count(self):
        for name, end in (("none", b""), ("unix", b"\n"), ("windows", b"\r\n")):
            self.write(name, b"a password" + end)
        self.assert_done(self.run_store("init", "--encryption", "password", "--password-file", "windows"))
        for name in ("none", "unix", "windows"):
            self.assert_done(self.run_store("snapshots", "--password-file", name))

    def test_commands_print_them(self):
        self.write("file")
        command = ("--password-command", "printf '%s\\n' \"a $WORD\"")
        environment = {**os.environ, "WORD": "password"}
        self.assert_done(self.run_store("init", "--encryption", "password", *command, env=environment))
        self.write("password", b"a password")
        self.assertEqual(self.run_store("backup", "file", "--password-file", "password").code, 0)
        self.assertEqual(self.run_store("snapshots", *command, env=environment).code, 0)
        added = self.run_store("key", "add", "--password-file", "password", "--new-password-command", "echo another")
        self.assertEqual(added.code, 0, added)
        self.assertEqual(self.run_store("snapshots", env={**os.environ, "CUTPOINT_PASSWORD_COMMAND": "echo another"}).code, 0)
        self.assert_refused(self.run_store("snapshots", "--password-command", "exit 7"), "exit 7: the command for the password ended with 7")
        self.assert_refused(self.run_store("snapshots", "--password-command", "true"), "true: the password is empty")
        self.assert_refused(self.run_store("snapshots", *command, "--password-file", "password"), "give one of")
