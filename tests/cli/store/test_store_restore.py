"""Restores, and the commands that look into snapshots, do and say what users of backup programs expect."""

import json
import os
import pwd

from command import needs_faulty_reads, open_deep, with_faulty_reads
from stores import StoreTest
from streams import random_bytes

MATCHED_NOTHING = "this pattern matched nothing\n"


class Restores(StoreTest):
    def back_up(self, **contents: bytes) -> tuple:
        """Backs up files with these contents in data/. Returns the words that restore data/ into out/."""
        for name, content in contents.items():
            self.write(f"data/{name}", content)
        self.backup()
        return "restore", f"latest:{self.folder}/data", "--target", "out"

    def test_existing_files_are_counted_in_one_message(self):
        for i in range(50):
            self.write(f"out/{i}", b"old")
        words = self.back_up(**{str(i): b"new" for i in range(50)})
        run = self.run_store(*words)
        self.assert_failed(run, "left as they are: 50 files that exist, out/0 first: --overwrite")
        self.assertEqual(run.stderr.count("\n"), 1, run)
        for word in "--verbose", "--json":
            run = self.run_store(*words, word)
            self.assertGreaterEqual(run.stderr.count("out/"), 50, run)
        self.store(*words, "--overwrite")
        self.assertEqual((self.folder / "out/7").read_bytes(), b"new")

    def test_one_reason_is_summed_up_after_ten_lines(self):
        for i in range(30):
            self.write(f"out/{i}/inner", b"a folder that is not empty")
        words = (*self.back_up(**{str(i): b"new" for i in range(30)}), "--overwrite")
        run = self.run_store(*words)
        self.assert_failed(run, "20 more: ", "out/0: ")
        self.assertEqual(run.stderr.count("\n"), 11, run)
        for word in "--verbose", "--json":
            self.assertEqual(self.run_store(*words, word).stderr.count("\n"), 30)

    def test_patterns_that_match_nothing_are_named(self):
        self.write("data/sub/a", b"x")
        words = self.back_up()
        run = self.run_store(*words, "--include", "*.txt", "--exclude", "b")
        self.assert_failed(run, f"error: *.txt: {MATCHED_NOTHING}")
        self.assertNotIn("warning", run.stderr)
        self.assertIn("0 files and 0 folders with those above, 0 B, of which 0 B were written; 1 problem\n", run.stdout)
        words = (*words, "--include", "sub", "--include", "sub/a", "--include", "!c")
        run = self.run_store(*words, "--include", "b", "--dry-run", "--json")
        self.assert_failed(run, f"error: b: {MATCHED_NOTHING}")
        self.assertNotIn("sub", run.stderr, "a pattern below a folder that is restored has matched, too")
        self.assertEqual(run.json()["problems"], 1)
        run = self.run_store(*words, "--exclude", "b", "--verbose")
        warnings = "".join(f"cutpoint: warning: {pattern}: {MATCHED_NOTHING}" for pattern in ("!c", "b"))
        self.assertEqual((run.code, run.stderr), (0, warnings))
        self.assertEqual((self.folder / "out/sub/a").read_bytes(), b"x")

    def test_targets_that_cannot_be_are_refused(self):
        self.back_up(a=b"x")
        before = self.objects("")
        (self.folder / "link").symlink_to("store/containers")
        words = ("restore", f"latest:{self.folder}/data")
        for target in "store", "store/new", "store/containers", "link/new", "data/../store":
            for how in "--delete", "--dry-run":
                self.assert_refused(self.run_store(*words, "--target", target, how), f"{target}: is in the store")
        self.assert_refused(self.run_store(*words, "--target", ""), "target is empty")
        self.assert_refused(self.run_store("restore", "latest", "--target", "/", "--delete", "--dry-run"), "root of the file system")
        self.assert_failed(self.run_store("restore", "latest:/no/such", "--target", "out"), "/no/such")
        self.assertFalse((self.folder / "out").exists())
        self.assertEqual(self.objects(""), before)

    def test_a_restore_over_the_store_leaves_it_alone(self):
        words = self.back_up(a=b"x")
        self.assert_failed(self.run_store(*words[:2], "--target", ".", "--delete"), "store: cannot be removed")
        self.assertTrue((self.folder / "a").exists())
        self.assertFalse((self.folder / "data").exists())
        self.store(*words)
        self.assert_whole()

    @needs_faulty_reads
    def test_a_file_that_cannot_be_closed_is_named(self):
        words = self.back_up(a=b"x" * 5000, b=b"y" * 5000)
        run = self.run_store(*words, env=with_faulty_reads(CUTPOINT_CLOSE_SUFFIX="out/b"))
        self.assert_failed(run, "out/b: cannot be closed: No space left on device")
        self.assertEqual(run.stderr.count("\n"), 1, run)

    @needs_faulty_reads
    def test_permissions_that_a_target_takes_and_does_not_keep_are_named(self):
        for name in "ab":
            self.write(f"data/{name}").chmod(0o640)
        self.backup()
        words = ("restore", f"latest:{self.folder}/data", "--target", "out")
        run = self.run_store(*words, env=with_faulty_reads(CUTPOINT_QUIET_SUFFIX="out/b"))
        self.assert_failed(run, "out/b: its permissions cannot be set (other files may lack theirs too): Operation not supported")
        self.assertEqual(run.stderr.count("\n"), 1, run)

    @needs_faulty_reads
    def test_names_that_the_target_does_not_tell_apart_are_named(self):
        """On a target that ignores case the first of two files stays as it was restored, and so does what is in the first of two folders."""
        self.write("data/files/Name", random_bytes(30_000, 1))
        self.write("data/files/name", random_bytes(20_000, 2))
        self.write("data/folders/Name/a", b"a")
        self.write("data/folders/name/b", b"b")
        for name in ("data/links/Name", "data/links/name"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).symlink_to(name)
        self.backup()
        words = ("restore", f"latest:{self.folder}/data", "--target", "out")
        for options, files in (((), 1), (("--overwrite",), 3), (("--overwrite",), 3)):
            run = self.run_store(*words, *options, env=with_faulty_reads(CUTPOINT_FOLDED_NAME="Name"))
            self.assert_failed(run, "out/folders/name: is left out, since the target does not tell its name from 'Name'")
            self.assertEqual(run.stderr.count("is left out"), files, run)
            self.assertEqual((self.folder / "out/files/name").read_bytes(), random_bytes(30_000, 1))
            self.assertEqual(os.readlink(self.folder / "out/links/name"), "data/links/Name")
            self.assertEqual([path.name for path in (self.folder / "out/folders/name").iterdir()], ["a"])

    def test_nothing_is_removed_that_an_incomplete_snapshot_lacks(self):
        words = self.back_up(a=b"x")
        self.assert_failed(self.run_store("backup", "data", "missing"), "missing")
        self.write("out/b", b"kept")
        self.assert_refused(self.run_store(*words, "--delete"), "is incomplete", "not removed")
        self.store(*words)
        self.assertEqual(sorted(os.listdir(self.folder / "out")), ["a", "b"])

    def test_files_are_left_out_and_removed_as_asked(self):
        self.write("data/a.txt", b"a")
        self.write("data/b/c.bin", b"c")
        self.write("out/other", b"x")
        self.write("out/kept.cfg", b"x")
        words = (*self.back_up(), "--exclude", "*.bin", "--exclude", "*.cfg", "--delete")
        tried = self.store(*words, "--dry-run")
        self.assertEqual(sorted(tried.splitlines()[:-1]), ["remove   out/other", "restore  out/a.txt", "restore  out/b/"], tried)
        self.assertIn("; 1 other would be removed", tried)
        self.assertEqual(sorted(os.listdir(self.folder / "out")), ["kept.cfg", "other"])
        self.store(*words)
        self.assertEqual(sorted(os.listdir(self.folder / "out")), ["a.txt", "b", "kept.cfg"])

    def test_folders_deeper_than_any_path_keep_their_attributes(self):
        os.mkdir(self.folder / "data")
        deepest = open_deep(self.folder / "data", "n" * 200, 40, makes=True)
        self.addCleanup(os.close, deepest)
        try:
            os.setxattr(deepest, "user.depth", b"40")
        except OSError:
            self.skipTest("the folder has no extended attributes")
        self.store(*self.back_up())
        deepest = open_deep(self.folder / "out", "n" * 200, 40)
        self.addCleanup(os.close, deepest)
        self.assertEqual(os.getxattr(deepest, "user.depth"), b"40")


class Snapshots(StoreTest):
    def test_init_says_what_it_made(self):
        text = self.run_command("init", "--store", "another", "--encryption", "none").stdout
        for words in "made a store in another", "fastcdc(", "blake3", "zstd", "32.0 MiB":
            self.assertIn(words, text)

    def test_names_that_are_no_utf8_are_in_json(self):
        os.mkdir(self.folder / "data")
        path = os.fsencode(self.folder) + b"/data/n\xff"
        run = self.run_store("backup", "--json", path, "data")
        error = next(line for line in map(json.loads, run.lines) if line["message_type"] == "error")
        self.assertEqual(bytes.fromhex(error["item_hex"]), path)
        os.symlink(b"t\xfe", path)
        first = self.backup()
        listed = self.json_of("ls", "latest")
        self.assertEqual((bytes.fromhex(listed[-1]["path_hex"]), bytes.fromhex(listed[-1]["target_hex"])), (path, b"t\xfe"))
        self.assertNotIn("path_hex", listed[0])
        os.unlink(path)
        self.backup()
        self.assertEqual(bytes.fromhex(self.json_of("diff", first, "latest")[0]["path_hex"]), path)
        self.assertEqual([(each["snapshot"], bytes.fromhex(each["path_hex"])) for each in self.json_of("find", "n*")], [(first, path)])
        os.mkdir(path)
        for snapshot in self.summary(path), self.json_of("snapshots", "--latest", "1")[-1]:
            self.assertEqual([bytes.fromhex(each) for each in snapshot["paths_hex"]], [path])

    def test_latest_is_that_of_a_host_a_path_or_a_tag(self):
        one = str(self.write("one", b"1"))
        self.write("two", b"2")
        first = self.backup("one", "--host", "ann", "--tag", "daily")
        self.backup("two", "--host", "bob")
        for choice in ("--host", "ann"), ("--path", one), ("--tag", "daily"):
            self.assertIn(one, self.store("ls", "latest", *choice))
            self.assertEqual(self.store("dump", f"latest:{one}", *choice), "1")
            self.assertEqual(list(self.restored(f"latest:{one}", *choice)), ["one"])
            self.assertIn("0 added", self.store("diff", "latest", "latest", *choice))
            self.assertEqual(self.store("snapshots", *choice).splitlines()[1][:16], first[:16])
            self.assertIn(one, self.store("find", "one", *choice))
        self.assert_failed(self.run_store("ls", "latest", "--host", "eve"), "latest: no snapshot of store", "matches the filter")

    def test_snapshots_show_sizes_and_the_latest_of_groups(self):
        self.write("one", bytes(3 << 20))
        self.write("two", b"2")
        ids = [self.backup(name)[:16] for name in ("one", "one", "two", "one")]

        def shown(*words) -> list[str]:
            return [line[:16] for line in self.store("snapshots", *words).splitlines()[1:-1]]

        self.assertEqual(shown(), ids)
        head, first, *_, count = self.store("snapshots", env={**os.environ, "TZ": "UTC-1"}).splitlines()
        self.assertEqual(head.split(), ["ID", "Time", "Size", "Host", "Paths", "[Tags]"])
        self.assertRegex(first, r"\d{2}:\d{2}:\d{2} \+0100    3\.00 MiB  ")
        self.assertEqual(count, "4 snapshots")
        self.backup("two", "--host", "an-älter-host", "--tag", "a,b")
        head, *lines, _ = self.store("snapshots").splitlines()
        for line in lines:
            self.assertEqual(line[head.index("Time") - 1 :][:3], " 20")
            self.assertEqual(line[head.index("Paths") - 2 :].partition("/")[0], "  ")
            self.assertEqual(line.rstrip(), line)
        self.assertEqual(lines[-1][head.index("Host") :].split("  ")[0], "an-älter-host")
        self.assertEqual(lines[-1][head.index("[Tags]") :], "[a, b]")
        self.store("forget", lines[-1][:16])
        self.assertEqual(shown("--latest", "1"), [ids[2], ids[3]])
        self.assertEqual(shown("--latest", "1", "--group-by", ""), ids[3:])
        grouped = self.store("snapshots", "--group-by", "paths", "--latest", "2").split("\n\n")
        self.assertEqual(len(grouped), 2)
        self.assertRegex(grouped[0], f"^snapshots with {self.folder}/one:\nID .*\n{ids[1]}.*\n{ids[3]}.*\n2 snapshots$")
        self.assert_refused(self.run_store("snapshots", "--group-by", "colour"), "colour is not one of")
        self.assert_refused(self.run_store("snapshots", "--latest", "0"), "--latest")

    def test_programs_for_restic_read_snapshots(self):
        self.assertEqual(self.store("snapshots", "--restic-json"), "[]\n")
        self.assertEqual(self.store("snapshots"), "0 snapshots\n")
        path = str(self.write("one", b"12345"))
        ids = [self.backup("one", "--host", "ann", "--tag", "a,b", "--time", "77"), self.backup("one", "--host", "ann")]
        first, second = json.loads(self.store("snapshots", "--restic-json"))
        ours = self.snapshots()[0]
        summary = first.pop("summary")
        self.assertEqual(first, {"time": "1970-01-01T00:01:17.000000000Z", "paths": [path], "hostname": "ann", "tags": ["a", "b"],
                                 "id": ids[0], "short_id": ids[0][:16]})  # fmt: skip
        self.assertEqual((summary["total_files_processed"], summary["total_bytes_processed"]), (1, 5))
        self.assertEqual((summary["data_added"], summary["data_added_packed"]), (ours["new_raw_bytes"], ours["new_stored_bytes"]))
        self.assertEqual((second["parent"], "tags" in second), (ids[0], False))
        (group,) = json.loads(self.store("snapshots", "--restic-json", "--group-by", "host"))
        self.assertEqual((group["group_key"]["hostname"], [each["id"] for each in group["snapshots"]]), ("ann", ids))

    def test_files_are_listed_as_people_know_it(self):
        self.write("data/file", bytes(3 << 20)).chmod(0o4751)
        (self.folder / "data/link").symlink_to("file")
        os.mkfifo(self.folder / "data/pipe", 0o600)
        (self.folder / "data/open").mkdir()
        (self.folder / "data/open").chmod(0o1777)
        self.backup()
        names = ["data", "data/file", "data/link", "data/open", "data/pipe"]
        paths = [line for line in self.store("ls", "latest").splitlines() if line.startswith(str(self.folder) + "/")]
        self.assertEqual(paths, [f"{self.folder}/{name}" for name in names])
        lines = self.store("ls", "-l", f"latest:{self.folder}/data").splitlines()
        modes = ["-rwsr-x--x", "lrwxrwxrwx", "drwxrwxrwt", "prw-------"]
        self.assertEqual([line.split()[0] for line in lines[1:]], modes)
        owner = pwd.getpwuid(os.getuid()).pw_name
        self.assertRegex(lines[1], rf"^-rwsr-x--x {owner} +\w+ +3145728 \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d {self.folder}/data/file$")
        self.assertTrue(lines[2].endswith("/link -> file"))
        self.assertEqual({line.index(str(self.folder)) for line in lines}, {lines[0].index(str(self.folder))})
        self.assertIn(" 3.00 MiB ", self.store("ls", "--long", "--human-readable", "latest"))

    def test_files_are_found_in_all_snapshots(self):
        self.write("data/Notes.odt", b"1")
        first = self.backup()
        self.write("data/sub/Notes.odt", b"22")
        self.backup()
        matches = self.store("find", "Notes.odt").splitlines()
        self.assertEqual(len(matches), 3)
        self.assertTrue(matches[0].startswith(first[:16]))
        self.assertEqual(len(self.store("find", "notes.*", "--ignore-case").splitlines()), 3)
        self.assertEqual(self.store("find", "notes.*"), "")
        self.assertEqual(len(self.store("find", f"{self.folder}/data/sub/").splitlines()), 1)
        self.assert_refused(self.run_store("find", ""), "PATTERN")

    def test_a_file_with_several_names_counts_once(self):
        self.write("data/a", bytes(1000))
        for name in "b", "c":
            os.link(self.folder / "data/a", self.folder / "data" / name)
        self.backup()
        self.assertEqual(self.snapshots()[0]["bytes"], 1000)
        (stats,) = self.json_of("stats", "--details")
        self.assertEqual((stats["snapshot_bytes"], stats["newest"]["bytes"]), (1000, 1000))
        self.assertEqual([(kind["files"], kind["bytes"]) for kind in stats["kinds"]], [(1, 1000)])
