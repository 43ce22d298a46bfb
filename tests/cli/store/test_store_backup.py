"""What users expect of a backup: what is left out, standard input, and what is said of it."""

import json
import os
import select
import shutil
import signal
import stat
import subprocess
import time
import unittest

from command import (
    INTERRUPTED, PATIENCE, WRONG_USAGE, Outcome, handles, needs_faulty_reads, open_deep, wait_until, with_faulty_reads,
)  # fmt: skip
from stores import StoreTest, content_of
from streams import random_bytes

NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}


class BackupTest(StoreTest):
    def back_up(self, *words, **how) -> Outcome:
        return self.run_store("backup", *words, **how)

    def stored(self) -> list[str]:
        """The paths below the test's folder."""
        paths = [line["path"] for line in self.json_of("ls", "latest")]
        return [path.removeprefix(f"{self.folder}/") for path in paths if path.startswith(f"{self.folder}/")]

    def let_others_in(self):
        for path in (self.folder, *self.folder.glob("store/**/*"), self.folder / "store"):
            path.chmod(0o777 if path.is_dir() else 0o666)


class Failures(BackupTest):
    @needs_faulty_reads
    def test_an_object_that_a_server_does_not_take_when_it_is_closed_is_none(self):
        self.write("data", b"x")
        run = self.back_up("data", env=with_faulty_reads(CUTPOINT_CLOSE_SUFFIX="-1"))
        self.assert_failed(run, "cannot be closed: No space left on device")
        self.assertEqual(self.snapshots(), [])
        self.assert_whole()


class Owner(BackupTest):
    @unittest.skipIf(os.geteuid() != 0, "this is not root")
    def test_root_is_warned_before_it_writes_to_the_store_of_a_user(self):
        self.write("data", b"x")
        os.chown(self.folder / "store", 54321, 54321)
        run = self.back_up("data")
        self.assertEqual((run.code, len(run.lines)), (0, 1))
        self.assertIn("warning: store: the store belongs to user 54321", run.stderr)
        self.store("snapshots")  # readers write nothing
        os.chown(self.folder / "store", 0, 54321)
        self.assert_done(self.back_up("data"))


class Nothing(BackupTest):
    def test_patterns_that_leave_all_out_are_warned_of(self):
        self.write("data/file", b"x")
        (self.folder / "empty").mkdir()
        told = "warning: no file is backed up: the patterns leave out all that there is\n"
        for words in ("--exclude", "*"), ("--exclude", "*", "--dry-run"), ("--include", "*.odt"):
            run = self.back_up("data", *words)
            self.assertEqual(run.code, 0, run)
            self.assertIn(told, run.stderr, words)
        for words in ("data", "--exclude", "*.odt"), ("empty",), ("data", "-q", "--exclude", "*"):
            self.assert_done(self.back_up(*words))


class LeftOut(BackupTest):
    def setUp(self):
        super().setUp()
        for name in ("a.c", "b.o", "sub/c.o", "sub/D.O", "cache/x"):
            self.write(f"data/{name}", b"12345")

    def test_the_store_itself(self):
        run = self.back_up(".", "--exclude", "data")
        self.assertEqual((run.code, run.stderr.count("\n")), (0, 2), run)  # no file is left
        self.assertIn(f"cutpoint: warning: {self.folder}/store: is the store itself, and is left out", run.stderr)
        self.assertEqual(self.stored(), [])
        self.assert_refused(self.back_up("store"), "store: is the store itself")

    def test_patterns_that_match_nothing_are_named_to_those_who_look(self):
        patterns = ("data", "--exclude", "*.o", "--exclude", "/dta/sub")
        warning = "cutpoint: warning: /dta/sub: this pattern matched nothing\n"
        for command in (("chunk", "-o", "listing"), ("dedup", "-o", "report")):
            self.assert_done(self.run_command(*command, *patterns))
            self.assertIn(warning, self.run_command(*command, *patterns, "--verbose").stderr)
        self.assertEqual(self.back_up(*patterns, "--dry-run").stderr, warning)
        self.assertIn(warning, self.back_up(*patterns, "--verbose").stderr)
        self.assert_done(self.back_up(*patterns))  # which may run each day

    def test_by_files_of_patterns_and_in_any_case(self):
        self.write("patterns", b"# what is derived\r\n\r\n*.o\r\n!b.o\n")
        self.assert_done(self.back_up("data", "--exclude-file", "patterns", "--iexclude", "d.o", "--exclude", f"{self.folder}/data/cache"))
        self.assertEqual(self.stored(), ["data", "data/a.c", "data/b.o", "data/sub"])
        self.write("patterns", b"*.o\na//b\n")
        self.assert_refused(self.back_up("data", "--exclude-file", "patterns"), "--exclude-file patterns: a//b: ")
        self.assert_refused(self.back_up("data", "--exclude-file", "none"), "--exclude-file none: cannot be opened: No such file")
        self.assert_refused(self.back_up("data", "--exclude-file", "data"), "--exclude-file data: cannot be read: Is a directory")

    def test_by_tags_and_size(self):
        self.write("data/cache/.nobackup", b"temporary")
        self.write("data/sub/.nobackup", b"not this one")
        self.write("data/large", bytes(2000))
        self.assert_done(self.back_up("data", "--exclude-if-present", ".nobackup:temp", "--exclude-larger-than", "1K"))
        left = ["data", "data/a.c", "data/b.o", "data/cache", "data/cache/.nobackup"]
        self.assertEqual(self.stored(), [*left, "data/sub", "data/sub/.nobackup", "data/sub/D.O", "data/sub/c.o"])
        self.assert_refused(self.back_up("data", "--exclude-if-present", "a/b"), "--exclude-if-present a/b: ")
        self.assert_refused(self.back_up("data", "--exclude-larger-than", "big"), "--exclude-larger-than: 'big' is not a size")

    @unittest.skipIf(os.geteuid() != 0, "needs another user")
    def test_a_folder_whose_metadata_cannot_be_read(self):
        """As a mount point of a server that has gone: the folder's names can be read, and nothing more."""
        (self.folder / "data/sub").chmod(0o444)
        (self.folder / "data/sub/mp").mkdir()
        self.let_others_in()
        self.assert_done(self.back_up("data", "--exclude", "sub/mp/", "--exclude", "[cD].[oO]", **NOBODY))

    def test_what_is_named_is_stored_all_the_same(self):
        self.assert_done(self.back_up("data", "data/sub/c.o", "--exclude", "/sub"))
        self.assertEqual(self.stored(), ["data", "data/a.c", "data/b.o", "data/cache", "data/cache/x", "data/sub", "data/sub/c.o"])
        (self.folder / "alias").symlink_to("data")
        self.assert_refused(self.back_up("alias", "alias/sub"), "alias/sub: lies below", "name", "alias/")
        self.assert_done(self.back_up("alias/", "-q", "--exclude", "?*"))
        self.assertEqual(self.stored(), ["alias"])


class Names(BackupTest):
    def test_more_than_a_snapshot_can_have_are_refused_before_anything_is_read(self):
        self.write("file", random_bytes(100_000, 1))
        (self.folder / "list").write_text("".join(f"{i}\n" for i in range(65_536)))
        for words in (("--files-from", "list"), ("file", "--host", "h" * 65_536)):
            self.assert_refused(self.back_up(*words), "the paths, tags or host of a snapshot are too long")
        self.assertEqual(self.objects("containers"), [])

    @needs_faulty_reads
    def test_of_damaged_file_systems_have_times_that_are_stored(self):
        self.write("data/damaged")
        self.assert_done(self.back_up("data", env=with_faulty_reads(CUTPOINT_TIME_SUFFIX="damaged")))
        self.assertEqual(self.restored(f"latest:{self.folder}/data")["damaged"][1], 5_000_000_000 + 2**30 - 1)

    @needs_faulty_reads
    def test_sizes_that_a_server_does_not_know_are_those_of_the_content(self):
        self.write("data/unknown", random_bytes(100_000, 1))
        self.assert_done(self.back_up("data", env=with_faulty_reads(CUTPOINT_EMPTY_SUFFIX="unknown")))
        restored = self.restored(f"latest:{self.folder}/data")
        self.assertEqual(restored["unknown"][2], content_of(self.folder / "data/unknown", stat.S_IFREG))

    @needs_faulty_reads
    def test_a_file_that_ends_before_its_size_is_named_and_stored(self):
        self.write("data/whole", random_bytes(300_000, 1))
        self.write("data/short", random_bytes(300_000, 2))
        run = self.back_up("data", env=with_faulty_reads(CUTPOINT_END_SUFFIX="data/short", CUTPOINT_FAULT_OFFSET="150000"))
        self.assert_failed(run, f"{self.folder}/data/short: ends after 150000 bytes, but its size is 300000")
        self.assertEqual(run.stderr.count("\n"), 1, run)
        restored = self.restored(f"latest:{self.folder}/data")
        self.assertEqual((self.folder / "out/short").read_bytes(), random_bytes(300_000, 2)[:150_000])
        self.assertEqual(restored["whole"][2], content_of(self.folder / "data/whole", stat.S_IFREG))

    def test_longer_than_1_mib_are_left_out_and_named(self):
        self.write("data/file")
        self.addCleanup(subprocess.run, ["rm", "-rf", self.folder / "data"], check=True)
        deepest = open_deep(self.folder / "data", "n" * 255, 4200, makes=True)
        os.close(os.open("file", os.O_CREAT, dir_fd=deepest))
        os.close(deepest)
        run = self.back_up("data")
        self.assert_failed(run, "is left out, as its path has ")
        self.assertEqual(len(run.stderr.splitlines()), 1, "what is below is not named")
        self.assertIn("no damage", self.store("check"))


class StandardInput(BackupTest):
    def test_is_stored_under_a_name(self):
        content = random_bytes(400_000, 3)
        self.assert_done(self.back_up("-", "--stdin-name", "dump.sql", content=content))
        self.assertEqual(self.run_store("dump", "latest:/dump.sql").bytes, content)
        self.assertEqual([(each["path"], each["kind"], each["size"]) for each in self.json_of("ls", "latest")[1:]],
                         [("/dump.sql", "regular file", 400_000)])  # fmt: skip
        for name in ("", "a/b", "..", "n" * 256):
            told = f"the name of standard input is not that of a file, which has 1 to 255 bytes: '{name}'"
            self.assert_refused(self.back_up("-", f"--stdin-name={name}", content=b"x"), told)

    def test_that_is_empty_is_a_warning_and_that_is_closed_commits_nothing(self):
        run = self.back_up("-", content=b"")
        self.assertEqual((run.code, run.stderr), (0, "cutpoint: warning: /stdin: standard input is empty\n"))
        run = self.run_shell('"$CUTPOINT" backup --store store - <&-')
        self.assert_failed(run, "standard input: cannot be read")
        self.assertEqual((run.stdout, len(self.snapshots())), ("", 1))

    def test_may_be_the_output_of_a_command(self):
        words = ("--stdin-from-command", "--stdin-name", "dump", "--")
        self.assert_done(self.back_up(*words, "printf", "%s-", "a", "--b"))
        self.assertEqual(self.store("dump", "latest:/dump"), "a---b-")
        run = self.back_up(*words, "true")
        self.assertEqual((run.code, run.stderr), (0, "cutpoint: warning: /dump: standard input is empty\n"))

    def test_of_a_command_that_fails_commits_nothing(self):
        for command, told in (
            (("sh", "-c", "echo begin; exit 3"), "sh: the command failed with exit code 3"),
            (("sh", "-c", "echo begin; kill -9 $$"), "sh: the command was ended by signal 9"),
            (("/nowhere/command",), "/nowhere/command: cannot be started: No such file"),
        ):
            for dry in ((), ("--dry-run",)):
                run = self.back_up("--stdin-from-command", *dry, "--", *command)
                self.assert_failed(run, told)
                self.assertEqual(run.stdout, "", run)
        self.assertEqual(self.snapshots(), [])
        for words, told in (
            ((), "give the command after '--'"),
            (("a", "--", "echo", "b"), "a stands before '--'"),
            (("a", "--"), "a stands before '--'"),
            (("--files-from", "list", "--", "echo"), "--files-from"),
            (("--files-from0", "list", "--", "echo"), "--files-from0"),
        ):
            self.assert_refused(self.back_up("--stdin-from-command", *words), told)


class Messages(BackupTest):
    def test_options_have_headings(self):
        text = self.run_command("backup", "--help").stdout
        inputs, store = text.index("\nInputs:\n"), text.index("\nStore:\n")
        for option in ("--iexclude", "--exclude-file", "--exclude-if-present", "--exclude-larger-than", "--stdin-from-command"):
            self.assertTrue(inputs < text.index(f"\n  {option}") < store, option)
        self.assertGreater(text.index("\n  --password-command"), store)

    def test_commas_separate_tags(self):
        self.write("file")
        self.assertEqual(self.summary("file", "--tag", "a,b", "--tag", "c")["tags"], ["a", "b", "c"])
        for tags in ("a,,b", "", "a,"):
            self.assert_refused(self.back_up("file", f"--tag={tags}"), f"--tag {tags}: a tag is empty")

    @unittest.skipIf(os.geteuid() != 0, "needs another user")
    def test_many_problems_with_one_reason_are_summed_up(self):
        for i in range(30):
            self.write(f"data/{i:02}").chmod(0)
        self.let_others_in()
        run = self.back_up("data", **NOBODY)
        self.assertEqual(run.code, 1, run)
        lines = run.stderr.splitlines()
        self.assertEqual(len(lines), 11, run)
        self.assertEqual(lines[-1], "cutpoint: error: 20 more: cannot be opened: Permission denied (--verbose names all)")
        run = self.back_up("data", "--verbose", **NOBODY)
        self.assertEqual(run.stderr.count("cannot be opened: Permission denied\n"), 30, run)

    def test_a_store_that_cannot_be_opened_is_wrong_usage(self):
        for command in (("backup", "store"), ("snapshots",), ("check",), ("restore", "latest", "--target", "out")):
            self.assert_refused(self.run_command(*command, "--store", "missing"), "missing")


class Lanes(BackupTest):
    """Back ends, threads and segments: of no effect on what is stored."""

    def setUp(self):
        super().setUp()
        self.write("data/random", random_bytes(1_000_000, 3))
        self.write("data/text", b"the same again and again\n" * 40_000)
        listed = self.run_command("list", "--json").json()["back_ends"]
        self.back_ends = [each["name"] for each in listed if each["runs_here"]]

    def test_all_store_the_same(self):
        first = self.summary("data", "--backend", "scalar", "--threads", "1")
        self.assertGreater(first["data_added"], 1_000_000)
        jobs = [("--backend", name) for name in self.back_ends]
        if "cuda" in self.back_ends:
            jobs.append(("--backend", "auto", "--device", "0", "--device-memory", "64M"))
        for job in (*jobs, ("--threads", "5"), ("--segment", "100K")):
            again = self.summary("data", "--force", *job)
            self.assertLess(again["data_added"], 10_000, f"{job}: more than folders is new")

    def test_the_report_says_who_did_what_and_what_bounded_it(self):
        summary = self.summary("data", "--backend", "scalar", "--threads", "3")
        self.assertEqual(summary["backends"], {"chunking": "scalar", "fingerprinting": "scalar"})
        self.assertEqual((summary["thread_count"], summary["plan"], summary["device_cut_share"]), (3, "processor", 0))
        stages = {row["stage"]: row for row in summary["stages"]}
        self.assertEqual(list(stages), ["reading", "intake", "chunking", "joining", "fingerprinting", "indexing", "compression", "writing"])
        for name in ("reading", "chunking", "fingerprinting", "indexing", "compression", "writing"):
            self.assertGreater(stages[name]["busy_seconds"], 0, name)
        longest = max(stages.values(), key=lambda row: row["alone_seconds"])
        self.assertEqual(summary["bottleneck"], longest["stage"])
        self.assertIn("bottleneck: ", self.back_up("data", "--force", "--verbose").stderr)
        (self.folder / "nothing").mkdir()
        idle = self.summary("nothing")
        self.assertEqual((idle["bottleneck"], idle["backends"]), (None, None), "nothing was cut")

    def test_a_gpu_that_cannot_be_used_is_refused_before_anything_is_done(self):
        if "cuda" in self.back_ends:
            self.skipTest("this machine has a GPU")
        info = self.run_command("info", "--json").json()
        reason = info.get("why_no_gpus") or info["gpus"][0]["problem"]
        for name in ("cuda", "hybrid"):
            for words in (("backup", "data"), ("copy", "--from-store", "store", "--from-password-file", "missing")):
                self.assert_refused(self.run_store(*words, "--backend", name), f"back end '{name}' cannot be used", reason)
        self.assertEqual(self.snapshots(), [])

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
        self.assert_refused(self.back_up("data", "--cap", "3", "--segment", "1M"), "--cap", "--segment")


class Summary(BackupTest):
    def setUp(self):
        super().setUp()
        for name in ("a", "sub/b", "sub/c", "sub/deep/d"):
            self.write(f"data/{name}", name.encode() * 1000)
        (self.folder / "data/link").symlink_to("a")

    def assert_counts(self, files: list, folders: list, *words):
        """How many are new, changed and unmodified."""
        summary = self.summary("data", *words)
        for kind, counts in (("files", files), ("dirs", folders)):
            self.assertEqual([summary[f"{kind}_{how}"] for how in ("new", "changed", "unmodified")], counts)

    def test_new_changed_and_unchanged_files_are_counted(self):
        self.assert_counts([5, 0, 0], [3, 0, 0])
        self.assert_counts([0, 0, 5], [0, 0, 3])
        self.assert_counts([5, 0, 0], [3, 0, 0], "--force")  # no parent
        self.write("data/a", b"another")
        (self.folder / "data/sub/b").chmod(0o600)
        (self.folder / "data/sub/deep").chmod(0o700)
        self.write("data/sub/e")
        self.assert_counts([1, 2, 3], [0, 2, 1])
        (self.folder / "data/sub/c").unlink()
        self.assert_counts([0, 0, 5], [0, 1, 2])
        summary = self.summary()
        self.assertEqual((summary["message_type"], summary["dry_run"], summary["total_files_processed"]), ("summary", False, 5))
        self.assertEqual((summary["snapshot_id"], summary["data_added"]), (summary["id"], summary["new_raw_bytes"]))
        self.assertEqual(summary["total_bytes_processed"], summary["bytes"])
        run = self.back_up("data", "--verbose")
        self.assertIn("cutpoint: files: 0 new, 0 changed, 5 unchanged\n", run.stderr)
        self.assertIn(f"cutpoint: snapshot {run.stdout[:16]} was made in ", run.stderr)

    def test_a_path_through_a_link_is_what_the_system_follows(self):
        self.write("x", b"beside the link")
        self.write("real/x", b"beside the folder")
        self.write("real/folder/y", b"y")
        (self.folder / "link").symlink_to("real/folder")
        self.assert_done(self.back_up("link/../x", "link/./y"))
        self.assertLessEqual({"real/x", "link/y"}, set(self.stored()))
        self.assertEqual(self.store("dump", f"latest:{self.folder}/real/x"), "beside the folder")

    def test_errors_are_lines_of_json(self):
        lines = [json.loads(line) for line in self.back_up("data", "missing", "--json").lines]
        lines = [line for line in lines if line["message_type"] != "status"]  # which a slow backup writes
        self.assertEqual([line["message_type"] for line in lines], ["error", "summary"])
        self.assertEqual(lines[0]["item"], f"{self.folder}/missing")
        self.assertIn("cannot be found", lines[0]["error"]["message"])
        self.assertTrue(lines[1]["is_incomplete"])

    def test_the_state_is_a_line_each_second(self):
        first = self.first_state()
        for key in ("files_done", "bytes_done", "current_files"):
            self.assertIn(key, first)
        for key in ("percent_done", "total_files", "total_bytes", "seconds_remaining"):
            self.assertNotIn(key, first)  # nobody knows them yet
        again = self.first_state()  # with a parent
        for key in ("percent_done", "total_files", "files_done", "total_bytes", "bytes_done", "current_files"):
            self.assertIn(key, again)

    def first_state(self) -> dict:
        process = self.start("backup", "--store", "store", "--json", "data", "-", stdin=subprocess.PIPE)
        states = []
        deadline = time.monotonic() + PATIENCE
        while not states and time.monotonic() < deadline:
            process.stdin.write(bytes(10_000))
            process.stdin.flush()
            ready, _, _ = select.select([process.stdout], [], [], 0.05)
            if ready:
                states.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        process.stdin = None
        self.assert_done(self.wait(process))
        self.assertEqual(states[0]["message_type"], "status")
        return states[0]

    def test_an_interrupted_one_says_what_stands(self):
        self.write("data/large", bytes(300_000))
        for words, told in ((), "no snapshot was made; what was stored stays, and the next backup uses it"), (("--dry-run",), "nothing was stored"):
            process = self.start("backup", "--store", "store", "data", "--limit-read", "1", *words)  # which takes days
            wait_until(lambda: handles(process, signal.SIGINT), "it runs")
            process.send_signal(signal.SIGINT)
            run = self.wait(process)
            self.assertEqual((run.code, run.stdout, run.stderr), (INTERRUPTED, "", f"cutpoint: error: interrupted: {told}\n"))

    def test_times_are_dates_or_seconds(self):
        def time_of(text: str) -> int:
            self.store("backup", "data", "--time", text, env={**os.environ, "TZ": "America/New_York"})
            return self.snapshots()[-1]["time"] // 10**9

        for text, seconds in (
            ("77", 77), ("2020-02-29", 1582952400), ("2020-02-29 11:12", 1582992720), ("2020-07-01T11:12:13", 1593616333),
            ("2020-02-29T11:12:13Z", 1582974733), ("2020-02-29 11:12:13+01:00", 1582971133), ("2020-02-29 11:12:13 -0130", 1582980133),
        ):  # fmt: skip
            self.assertEqual(time_of(text), seconds, text)
        for text in ("2021-02-29", "1969-12-31", "2020-13-01", "2020-02-29 24:00", "2020-02-29T11:12:13Zulu", "today", "-1", "2020-02-29 1"):
            self.assertEqual(self.run_store("backup", "data", "--time", text).code, WRONG_USAGE, text)

    def test_a_dry_run_says_what_would_be_added_and_writes_nothing(self):
        def assert_adds_what_it_says(least: int):
            before = self.objects("")
            planned = self.summary("data", "--dry-run")
            self.assertEqual((planned["dry_run"], planned["id"]), (True, ""))
            self.assertNotIn("snapshot_id", planned)
            self.assertGreaterEqual(planned["data_added"], least)
            self.assertEqual(self.objects(""), before)
            added = self.summary("data")
            for key in ("data_added", "files_new", "files_changed"):
                self.assertEqual(added[key], planned[key], key)
            # Nodes have bytes of their containers' random salts, which are compressed to more or fewer bytes.
            self.assertAlmostEqual(added["data_added_packed"], planned["data_added_packed"], delta=100)

        time.sleep(2.1)  # a ctime that is younger than two seconds is not stored, and nodes are longer when it is
        lines = self.store("backup", "data", "--dry-run").splitlines()
        self.assertEqual(lines[:2], ["files: 5 new, 0 changed, 0 unchanged", "folders: 3 new, 0 changed, 0 unchanged"])
        self.assertRegex(lines[2], r"^bytes: 20\.5 KiB of 20\.5 KiB read, [\d.]+ KiB new, [\d.]+ (KiB|bytes) would be stored$")
        self.assertEqual(len(lines), 3)
        assert_adds_what_it_says(0)
        self.write("data/a", os.urandom(300_000))
        time.sleep(2.1)
        assert_adds_what_it_says(300_000)

    def test_a_dry_run_needs_no_permission_to_write(self):
        planned = self.summary("data", "--dry-run", "--force")["data_added"]
        for folder, _, _ in os.walk(self.folder / "store"):
            os.chmod(folder, 0o555)
        self.addCleanup(lambda: [os.chmod(folder, 0o755) for folder, _, _ in os.walk(self.folder / "store")])
        self.assertEqual(self.summary("data", "--dry-run", "--force")["data_added"], planned)

    def test_no_snapshot_is_made_if_nothing_has_changed(self):
        words = ("data", "--skip-if-unchanged")
        self.assertEqual(self.back_up(*words).code, 0)
        run = self.back_up(*words)
        self.assertEqual((run.code, run.stdout, run.stderr), (0, "", "cutpoint: nothing has changed: no snapshot was made\n"))
        self.assertEqual(json.loads(self.back_up(*words, "--json").lines[-1])["id"], "")
        self.assertEqual(len(self.snapshots()), 1)

        def remove_and_keep_the_time_of_the_folder():
            facts = (self.folder / "data/sub").stat()
            (self.folder / "data/sub/new").unlink()
            os.utime(self.folder / "data/sub", ns=(facts.st_atime_ns, facts.st_mtime_ns))

        for change in (
            lambda: self.write("data/a", b"another"),
            lambda: self.write("data/sub/new"),
            lambda: (self.folder / "data/sub/c").unlink(),
            lambda: (self.folder / "data/sub").chmod(0o700),
            lambda: self.write("data/sub/deep/d", b"d" * 12000),
            lambda: shutil.rmtree(self.folder / "data/sub/deep"),
            remove_and_keep_the_time_of_the_folder,
        ):
            change()
            self.assertEqual(len(self.back_up(*words).stdout.strip()), 64)
            self.assertEqual(self.back_up(*words).stdout, "")
