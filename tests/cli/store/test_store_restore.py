"""Restores, and the commands that look into snapshots, do and say what users of backup programs expect."""

import json
import os

from command import CommandTest, needs_faulty_reads, with_faulty_reads


class StoreRestores(CommandTest):
    def setUp(self):
        super().setUp()
        self.init = self.run_command("init", "--store", "store", "--encryption", "none")
        self.assert_done(self.init)

    def run_store(self, *words):
        return self.run_command(*words, "--store", "store")

    def store(self, *words) -> str:
        run = self.run_store(*words)
        self.assert_done(run)
        return run.stdout

    def test_init_says_what_it_made(self):
        for words in "made a store in store", "fastcdc(", "blake3", "zstd", "32.0 MiB":
            self.assertIn(words, self.init.stdout)

    def test_existing_files_are_counted_in_one_message(self):
        for i in range(50):
            self.write(f"data/{i}", b"new")
            self.write(f"out/{i}", b"old")
        self.store("backup", "data")
        source = f"latest:{self.folder}/data"
        run = self.run_store("restore", source, "--target", "out")
        self.assert_failed(run, "50 files exist", "--overwrite", "out/0")
        self.assertEqual(run.stderr.count("\n"), 1, run)
        for word in "--verbose", "--json":
            run = self.run_store("restore", source, "--target", "out", word)
            self.assertGreaterEqual(run.stderr.count("out/"), 50, run)
        self.store("restore", source, "--target", "out", "--overwrite")
        self.assertEqual((self.folder / "out/7").read_bytes(), b"new")

    def test_one_reason_is_summed_up_after_ten_lines(self):
        for i in range(30):
            self.write(f"data/{i}", b"new")
            self.write(f"out/{i}/inner", b"a folder that is not empty")
        self.store("backup", "data")
        words = ("restore", f"latest:{self.folder}/data", "--target", "out", "--overwrite")
        run = self.run_store(*words)
        self.assert_failed(run, "20 more: ", "out/0: ")
        self.assertEqual(run.stderr.count("\n"), 11, run)
        self.assertEqual(self.run_store(*words, "--verbose").stderr.count("\n"), 30)
        self.assertEqual(self.run_store(*words, "--json").stderr.count("\n"), 30)

    def test_a_path_that_does_not_exist_leaves_no_target(self):
        self.write("data", b"x")
        self.store("backup", "data")
        self.assert_failed(self.run_store("restore", "latest:/no/such", "--target", "out"), "/no/such")
        self.assertFalse((self.folder / "out").exists())

    def test_patterns_that_match_nothing_are_named(self):
        self.write("data/sub/a", b"x")
        self.store("backup", "data")
        source = f"latest:{self.folder}/data"
        matched_nothing = "this pattern matched nothing\n"
        run = self.run_store("restore", source, "--target", "none", "--include", "*.txt", "--exclude", "b")
        self.assert_failed(run, f"error: *.txt: {matched_nothing}", f"warning: b: {matched_nothing}")
        self.assertIn("0 files and 0 folders, 0 B, of which 0 B were written; 1 problems", run.stdout)
        words = ("restore", source, "--include", "sub", "--include", "sub/a", "--include", "!c")
        run = self.run_store(*words, "--include", "b", "--dry-run", "--json", "--target", "out")
        self.assert_failed(run, f"error: b: {matched_nothing}")
        self.assertNotIn("sub", run.stderr, "a pattern below a folder that is restored has matched, too")
        self.assertEqual(json.loads(run.stdout)["problems"], 1)
        run = self.run_store(*words, "--exclude", "b", "--target", "out")
        warnings = "".join(f"cutpoint: warning: {pattern}: {matched_nothing}" for pattern in ("!c", "b"))
        self.assertEqual((run.code, run.stderr), (0, warnings))
        self.assertEqual((self.folder / "out/sub/a").read_bytes(), b"x")

    def test_the_folder_of_the_store_is_no_target(self):
        self.write("data/a", b"x")
        self.store("backup", "data")
        before = sorted((self.folder / "store").rglob("*"))
        (self.folder / "link").symlink_to("store/containers")
        for target in "store", "store/new", "store/containers", "link/new", "data/../store":
            run = self.run_store("restore", f"latest:{self.folder}/data", "--target", target, "--delete")
            self.assert_refused(run, f"{target}: is in the store")
        dry = self.run_store("restore", f"latest:{self.folder}/data", "--target", "store/new", "--dry-run")
        self.assert_refused(dry, "store/new: is in the store")
        self.assert_refused(self.run_store("restore", "latest", "--target", ""), "target is empty")
        self.assertEqual(sorted((self.folder / "store").rglob("*")), before)

    def test_a_restore_over_the_store_leaves_it_alone(self):
        self.write("data/a", b"x")
        self.store("backup", "data")
        run = self.run_store("restore", f"latest:{self.folder}/data", "--target", ".", "--delete")
        self.assert_failed(run, "store: cannot be removed")
        self.assertTrue((self.folder / "a").exists())
        self.assertFalse((self.folder / "data").exists())
        self.assert_done(self.run_store("restore", f"latest:{self.folder}/data", "--target", "out"))
        self.store("check", "--read-data")

    @needs_faulty_reads
    def test_a_file_that_cannot_be_closed_is_named(self):
        self.write("data/a", b"x" * 5000)
        self.write("data/b", b"y" * 5000)
        self.store("backup", "data")
        words = ("restore", f"latest:{self.folder}/data", "--target", "out", "--store", "store")
        run = self.run_command(*words, env=with_faulty_reads(CUTPOINT_CLOSE_SUFFIX="out/b"))
        self.assert_failed(run, "out/b: cannot be closed: No space left on device")
        self.assertEqual(run.stderr.count("\n"), 1, run)

    def test_nothing_is_removed_that_an_incomplete_snapshot_lacks(self):
        self.write("data/a", b"x")
        self.assert_failed(self.run_store("backup", "data", "missing"), "missing")
        self.write("out/b", b"kept")
        words = ("restore", f"latest:{self.folder}/data", "--target", "out")
        self.assert_refused(self.run_store(*words, "--delete"), "is incomplete", "not removed")
        self.store(*words)
        self.assertEqual(sorted(os.listdir(self.folder / "out")), ["a", "b"])

    def test_files_are_left_out_and_removed_as_asked(self):
        self.write("data/a.txt", b"a")
        self.write("data/b/c.bin", b"c")
        self.write("out/other", b"x")
        self.write("out/kept.cfg", b"x")
        self.store("backup", "data")
        source = f"latest:{self.folder}/data"
        choice = ("--exclude", "*.bin", "--exclude", "*.cfg", "--delete")
        tried = self.store("restore", source, "--target", "out", *choice, "--dry-run")
        self.assertEqual(
            sorted(tried.splitlines()[:-1]), ["remove   out/other", "restore  out/a.txt", "restore  out/b/"], tried
        )
        self.assertIn("1 others would be removed", tried)
        self.assertEqual(sorted(os.listdir(self.folder / "out")), ["kept.cfg", "other"])
        self.store("restore", source, "--target", "out", *choice)
        self.assertEqual(sorted(os.listdir(self.folder / "out")), ["a.txt", "b", "kept.cfg"])
        self.assert_refused(self.run_store("restore", "latest", "--target", "/", "--delete", "--dry-run"), "root of the file system")

    def test_names_that_are_no_utf8_are_in_json(self):
        name = b"n\xff"
        os.mkdir(self.folder / "data")
        path = os.path.join(os.fsencode(self.folder), b"data", name)
        os.symlink(b"t\xfe", path)
        first = self.store("backup", "data").strip()
        listed = [json.loads(line) for line in self.store("ls", "latest", "--json").splitlines()]
        self.assertEqual(bytes.fromhex(listed[-1]["path_hex"]), path)
        self.assertEqual(bytes.fromhex(listed[-1]["target_hex"]), b"t\xfe")
        self.assertNotIn("path_hex", listed[0])
        os.unlink(path)
        self.store("backup", "data")
        changes = [json.loads(line) for line in self.store("diff", first, "latest", "--json").splitlines()]
        self.assertEqual(bytes.fromhex(changes[0]["path_hex"]), path)
        matches = [json.loads(line) for line in self.store("find", "n*", "--json").splitlines()]
        self.assertEqual([(each["snapshot"], bytes.fromhex(each["path_hex"])) for each in matches], [(first, path)])

    def test_latest_is_that_of_a_host_a_path_or_a_tag(self):
        self.write("one", b"1")
        self.write("two", b"2")
        first = self.store("backup", "one", "--host", "ann", "--tag", "daily").strip()
        self.store("backup", "two", "--host", "bob")
        one = str(self.folder / "one")
        for choice in ("--host", "ann"), ("--path", one), ("--tag", "daily"):
            self.assertIn(one, self.store("ls", "latest", *choice))
            self.assertEqual(self.store("dump", f"latest:{one}", *choice), "1")
            self.store("restore", f"latest:{one}", "--target", f"out{choice[0]}", *choice)
            self.assertEqual((self.folder / f"out{choice[0]}/one").read_bytes(), b"1")
            self.assertIn("0 added", self.store("diff", "latest", "latest", *choice))
            self.assertEqual(self.store("snapshots", *choice).splitlines()[0][:16], first[:16])
            self.assertIn(one, self.store("find", "one", *choice))
        self.assert_failed(self.run_store("ls", "latest", "--host", "eve"), "latest: no snapshot of store", "matches the filter")

    def test_snapshots_show_sizes_and_the_latest_of_groups(self):
        self.write("one", bytes(3 << 20))
        self.write("two", b"2")
        ids = [self.store("backup", name).strip()[:16] for name in ("one", "one", "two", "one")]
        lines = self.store("snapshots").splitlines()
        self.assertEqual([line[:16] for line in lines], ids)
        self.assertIn("3.00 MiB", lines[0])
        self.assertEqual([line[:16] for line in self.store("snapshots", "--latest", "1").splitlines()], [ids[2], ids[3]])
        self.assertEqual([line[:16] for line in self.store("snapshots", "--latest", "1", "--group-by", "").splitlines()], ids[3:])
        grouped = self.store("snapshots", "--group-by", "paths", "--latest", "2").split("\n\n")
        self.assertEqual(len(grouped), 2)
        self.assertIn(f"snapshots with {self.folder}/one:\n{ids[1]}", grouped[0])
        self.assert_refused(self.run_store("snapshots", "--group-by", "colour"), "colour is not one of")
        self.assert_refused(self.run_store("snapshots", "--latest", "0"), "--latest")

    def test_files_are_found_in_all_snapshots(self):
        self.write("data/Notes.odt", b"1")
        first = self.store("backup", "data").strip()
        self.write("data/sub/Notes.odt", b"22")
        self.store("backup", "data")
        matches = self.store("find", "Notes.odt").splitlines()
        self.assertEqual(len(matches), 3)
        self.assertTrue(matches[0].startswith(first[:16]))
        self.assertEqual(len(self.store("find", "notes.*", "--ignore-case").splitlines()), 3)
        self.assertEqual(self.store("find", "notes.*"), "")
        self.assertEqual(len(self.store("find", f"{self.folder}/data/sub/").splitlines()), 1)
        self.assert_refused(self.run_store("find", ""), "PATTERN")

    def test_folders_deeper_than_any_path_keep_their_attributes(self):
        deep = self.folder / "data"
        os.mkdir(deep)
        descriptor = os.open(deep, os.O_RDONLY)
        for _ in range(40):
            os.mkdir("n" * 200, dir_fd=descriptor)
            below = os.open("n" * 200, os.O_RDONLY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        try:
            os.setxattr(descriptor, "user.depth", b"40")
        except OSError:
            self.skipTest("the folder has no extended attributes")
        finally:
            os.close(descriptor)
        self.store("backup", "data")
        self.store("restore", f"latest:{self.folder}/data", "--target", "out")
        descriptor = os.open(self.folder / "out", os.O_RDONLY)
        for _ in range(40):
            below = os.open("n" * 200, os.O_RDONLY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        self.assertEqual(os.getxattr(descriptor, "user.depth"), b"40")
        os.close(descriptor)

    def test_parts_of_the_data_are_checked(self):
        self.assert_done(self.run_command("init", "--store", "small", "--encryption", "none", "--container-size", "64K"))
        self.write("data", os.urandom(3 << 20))
        self.assert_done(self.run_command("backup", "data", "--store", "small"))
        
        def check(subset):
            return self.run_command("check", "--json", "--read-data-subset", subset, "--store", "small")

        largest = max((path for path in (self.folder / "small/containers").rglob("*") if path.is_file()), key=os.path.getsize)
        largest.chmod(0o600)
        with largest.open("r+b") as file:
            file.seek(200)
            byte = file.read(1)
            file.seek(200)
            file.write(bytes([byte[0] ^ 1]))
        runs = [json.loads(check(f"{n}/4").stdout) for n in range(1, 5)]
        containers = runs[0]["containers"]
        self.assertEqual(sum(run["read_containers"] for run in runs), containers)
        self.assertEqual(sorted(run["object_problems"] for run in runs), [0, 0, 0, 1])
        self.assertEqual(json.loads(check("100%").stdout)["object_problems"], 1)
        self.assertEqual(json.loads(check("50%").stdout)["read_containers"], (containers + 1) // 2)
        self.assertLess(json.loads(check("300K").stdout)["read_containers"], 10)
        for wrong in "0/4", "5/4", "0%", "101%", "x":
            self.assert_refused(check(wrong), "--read-data-subset")

    def test_a_file_with_several_names_counts_once(self):
        self.write("data/a", bytes(1000))
        for name in "b", "c":
            os.link(self.folder / "data/a", self.folder / "data" / name)
        self.store("backup", "data")
        self.assertEqual(json.loads(self.store("snapshots", "--json"))["bytes"], 1000)
        stats = json.loads(self.store("stats", "--details", "--json"))
        self.assertEqual((stats["snapshot_bytes"], stats["newest"]["bytes"]), (1000, 1000))
        self.assertEqual([(kind["files"], kind["bytes"]) for kind in stats["kinds"]], [(1, 1000)])
