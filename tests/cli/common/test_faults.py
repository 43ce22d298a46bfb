"""A disk that fails while a file is read: the file is named, what was decided before is listed, the rest is done."""


from catalog import entries
from command import CommandTest, faulty_reads, needs_faulty_reads, unseekable_reads
from listings import failed_paths, read_jsonl
from streams import random_bytes

CHUNK = ("chunk", "--input", "pread", "--format", "jsonl")  # whose reads the library fails
AHEAD = ("chunk", "--format", "jsonl")  # what is in the page cache is read by pread too


@needs_faulty_reads
class ReadsThatFail(CommandTest):
    size = 1_000_003

    def setUp(self):
        super().setUp()
        for seed, name in enumerate("abc"):
            self.write(name, random_bytes(self.size, seed))
        whole = self.run_command(*CHUNK, "a", "b", "c")
        self.assert_done(whole)
        self.whole = {name: rows_of(whole, name) for name in "abc"}

    def test_leave_what_was_decided_and_the_others(self):
        """Of the file that fails all chunks are listed that do not depend on a byte from the offset on, and none besides."""
        ahead = next(entry for entry in entries() if entry["name"] == "fastcdc")["lookahead_bytes"]
        for command, offset in ((CHUNK, 600_001), (AHEAD, 600_001), (CHUNK, 0), (CHUNK, 1), (CHUNK, 262_144), (CHUNK, self.size - 1)):
            run = self.run_command(*command, "a", "b", "c", env=faulty_reads("/b", offset))
            self.assert_failed(run, "b: cannot be read: Input/output error")
            self.assertEqual(len(run.stderr.splitlines()), 1, run)
            self.assertEqual(failed_paths(run.stdout), ["b"], run)
            for name in "ac":
                self.assertEqual(rows_of(run, name), self.whole[name])
            listed = rows_of(run, "b")
            self.assertEqual(listed, self.whole["b"][: len(listed)])
            self.assertTrue(all(row.offset + row.length <= offset for row in listed), run)
            decided = [row for row in self.whole["b"] if row.offset + row.length + ahead < offset]
            self.assertGreaterEqual(len(listed), len(decided), run)

    def test_of_standard_input_are_told(self):
        with open(self.folder / "b", "rb") as file:
            run = self.run_command(*CHUNK, "a", "-", "c", stdin=file, env=faulty_reads("/b", 600_001))
        self.assert_failed(run, "standard input: cannot be read: Input/output error")
        self.assertEqual(failed_paths(run.stdout), ["-"], run)
        self.assertEqual(rows_of(run, "c"), self.whole["c"])

    def test_that_do_not_fail_read_all(self):
        for reads in (faulty_reads("/b", self.size), unseekable_reads("/b")):  # after the end; from front to back alone
            run = self.run_command(*CHUNK, "a", "b", "c", env=reads)
            self.assert_done(run)
            self.assertEqual(rows_of(run, "b"), self.whole["b"])


def rows_of(run, path) -> list:
    return [row for row in read_jsonl(run.stdout).rows if row.path == path]
