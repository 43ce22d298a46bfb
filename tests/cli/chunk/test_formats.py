"""Each format tells every chunk of every input, the cuts and the fingerprint, whatever the paths are named."""

import json

from command import CommandTest
from listings import READERS, Row, read_csv, read_jsonl, read_lengths, read_text
from streams import random_bytes

CUTS = "gear(min_bytes=64,avg_bytes=256,max_bytes=1024,table=fastcdc2020)"
SMALL = ("--algorithm", "gear", "--size", "64:256:1K")

AWKWARD_NAMES = [
    "plain",
    "with space",
    " leading and trailing ",
    "comma,semicolon;",
    'quote"and""quotes',
    "line\nfeed",
    "carriage\rreturn",
    "both\r\n",
    "tab\tbell\x07escape\x1b[31m",
    "delete\x7f",
    "back\\slash\\x41",
    "# cuts",
    "=1+1",
    "'",
    "straße-語-🎉",
    "replacement\ufffd",
    "latin\udce91",
    "overlong\udcc0\udcaf",
    "surrogate\udced\udca0\udc80",
    "half\udcf0\udc9f",
]


class EveryFormat(CommandTest):
    def setUp(self):
        super().setUp()
        self.content = random_bytes(5000)
        self.write("a", self.content)
        self.write("b", self.content[:1500])

    def listed(self, name, *arguments):
        run = self.run_command("chunk", *SMALL, "--format", name, *arguments)
        self.assert_done(run)
        return READERS[name](run.stdout)

    def test_names_the_cuts_and_the_fingerprint(self):
        for name in READERS:
            with self.subTest(format=name):
                listed = self.listed(name, "a")
                self.assertEqual((listed.cuts, listed.fingerprint), (CUTS, "sha256"))
                self.assertEqual(self.listed(name, "a", "--hash", "md5").fingerprint, "md5")

    def test_says_the_same(self):
        expected = self.listed("jsonl", "a", "b").rows
        self.assertGreater(len(expected), 10)
        for name in READERS:
            self.assertEqual(self.listed(name, "a", "b").rows, expected, name)
        lengths = read_lengths(self.run_command("chunk", *SMALL, "--format", "lengths", "a", "b").stdout)
        self.assertEqual(lengths, [row.length for row in expected])

    def test_is_text_unless_asked(self):
        run = self.run_command("chunk", *SMALL, "a")
        self.assertEqual(run.stdout, self.run_command("chunk", *SMALL, "a", "--format", "text").stdout)

    def test_covers_each_input_in_order(self):
        for name in READERS:
            rows = self.listed(name, "a", "b").rows
            for path, size in (("a", 5000), ("b", 1500)):
                reached = 0
                for row in (row for row in rows if row.path == path):
                    self.assertEqual(row.offset, reached)
                    reached += row.length
                self.assertEqual(reached, size, name)

    def test_leaves_the_digest_out_where_there_is_no_fingerprint(self):
        for name in READERS:
            listed = self.listed(name, "a", "--hash", "none")
            self.assertEqual({row.digest for row in listed.rows}, {""}, name)
            self.assertEqual(listed.fingerprint, "none", name)
        run = self.run_command("chunk", *SMALL, "--format", "jsonl", "--hash", "none", "a")
        self.assertNotIn("digest", run.stdout)

    def test_gives_its_cuts_back(self):
        for name in READERS:
            listed = self.listed(name, "a", "b")
            run = self.run_command("chunk", "--cuts", listed.cuts, "--format", name, "a", "b")
            self.assert_done(run)
            self.assertEqual(READERS[name](run.stdout), listed)

    def test_keeps_awkward_paths_whole(self):
        for path in AWKWARD_NAMES:
            self.write(path, b"1234")
        paths = [f"./{path}" if path.startswith("-") else path for path in AWKWARD_NAMES]
        for name, reader in READERS.items():
            run = self.run_command("chunk", *SMALL, "--format", name, "--", *paths)
            self.assert_done(run)
            self.assertEqual([row.path for row in reader(run.stdout).rows], paths, name)


class Lengths(CommandTest):
    def test_are_decimal_lines_and_nothing_else(self):
        self.write("a", random_bytes(5000))
        run = self.run_command("chunk", "--algorithm", "fixed", "--size", "2000", "--format", "lengths", "a")
        self.assert_done(run)
        self.assertEqual(run.stdout, "2000\n2000\n1000\n")

    def test_of_nothing_are_nothing(self):
        run = self.run_command("chunk", "--format", "lengths", "-", content=b"")
        self.assert_done(run)
        self.assertEqual(run.stdout, "")


class Text(CommandTest):
    def test_has_one_line_a_chunk_and_no_control_characters(self):
        self.write("a\nb\x1b[31m\\", b"123")
        run = self.run_command("chunk", "--hash", "none", ".")
        self.assertEqual(run.lines[2:], ["0 3 - ./a\\x0ab\\x1b[31m\\\\"], run)
        self.assertEqual(read_text(run.stdout).rows, [Row("./a\nb\x1b[31m\\", 0, 3, "")])


class Csv(CommandTest):
    def test_quotes_only_where_it_must(self):
        self.write("a b", b"123")
        self.write('c,"d"\n', b"45")
        run = self.run_command("chunk", "--algorithm", "fixed", "--hash", "none", "--format", "csv", "a b", 'c,"d"\n')
        self.assertEqual(
            run.stdout,
            "path,offset,length,digest,fingerprint,cuts\n"
            "a b,0,3,,none,fixed(avg_bytes=8192)\n"
            '"c,""d""\n",0,2,,none,fixed(avg_bytes=8192)\n',
            run,
        )

    def test_of_nothing_is_the_header(self):
        run = self.run_command("chunk", "--format", "csv", "-", content=b"")
        self.assert_done(run)
        self.assertEqual(read_csv(run.stdout).rows, [])


class Jsonl(CommandTest):
    def records(self, *arguments):
        run = self.run_command("chunk", "--format", "jsonl", *arguments)
        run.bytes.decode("utf-8")  # raises where the output is none
        return [json.loads(line) for line in run.lines]

    def test_is_utf8_and_has_the_bytes_of_paths_that_are_not(self):
        self.write(b"caf\xe9", b"1")
        record = self.records("--hash", "none", b"caf\xe9")[1]
        self.assertEqual(record, {"path": "caf\ufffd", "path_hex": "636166e9", "offset": 0, "length": 1})

    def test_has_no_hexadecimal_for_paths_that_are_utf8(self):
        for path in ("straße", "replacement\ufffd", "line\nfeed", "quote\"backslash\\"):
            self.write(path, b"1")
            record = self.records("--hash", "none", path)[1]
            self.assertEqual(record, {"path": path, "offset": 0, "length": 1})

    def test_of_nothing_is_the_header(self):
        run = self.run_command("chunk", "--format", "jsonl", "-", content=b"")
        self.assert_done(run)
        self.assertEqual(read_jsonl(run.stdout).rows, [])
