"""Lists of paths: --files-from and --files-from0 mean the same in all commands that read files."""

from listings import ListingTest

ODD = ("*", "a b", " leading", "trailing ", "#comment", "[x]", "back\\slash", "-", "--json", "tab\tname")


class FilesFrom(ListingTest):
    def test_are_paths_as_they_stand(self):
        for name in ODD:
            self.write(name, b"content")
        expected = [name if name != "-" else "./-" for name in ODD]
        self.write("list", "".join(name + "\n" for name in ODD).encode())
        self.assertEqual(self.paths("--files-from", "list"), expected)
        self.assertEqual(self.paths("--files-from", "-", content="\n".join(ODD).encode()), expected)

    def test_with_zeros_may_have_line_feeds_in_names(self):
        self.write("line\nfeed")
        self.write("\n")
        self.write("list", b"line\nfeed\0\n\0")
        self.assertEqual(self.paths("--files-from0", "list"), ["line\nfeed", "\n"])

    def test_follow_the_paths_that_are_arguments(self):
        for name in ("a", "b", "c", "folder/d"):
            self.write(name)
        self.write("one", b"b\nfolder\n")
        self.write("two", b"c\0")
        paths = self.paths("--files-from0", "two", "a", "--files-from", "one")
        self.assertEqual(paths, ["a", "b", "folder/d", "c"])

    def test_are_read_by_all_commands(self):
        self.write("a", b"1" * 100_000)
        self.write("list", b"a\n")
        self.write("empty", b"")
        self.assertEqual(self.paths("--files-from", "empty"), [])
        run = self.run_command("dedup", "--json", "--files-from", "list")
        self.assertEqual(run.json()["result"]["bytes"], 100_000, run)
        run = self.run_command("tune", "--json", "--algorithm", "gear", "--size", "4K", "--files-from", "list")
        self.assertEqual(run.json()["input_bytes"], 100_000, run)
        self.assert_done(self.run_command("init", "--store", "store", "--encryption", "none"))
        self.assert_done(self.run_command("backup", "--store", "store", "--files-from", "list"))
        self.assertIn("/a", self.run_command("ls", "--store", "store", "latest").stdout)

    def test_that_are_wrong_are_told(self):
        self.write("holes", b"a\n\na\n")
        self.assert_refused(self.run_command("chunk"), "a PATH is needed, or --files-from")
        self.assert_refused(self.run_command("chunk", "--files-from", "holes"), "holes: path 2 of the list is empty")
        self.assert_refused(self.run_command("chunk", "--files-from", "-", "-"), "'-' is given twice")
        for option in ("--files-from", "--files-from0"):
            self.assert_refused(self.run_command("chunk", option, "missing"), f"{option} missing: cannot be opened")
