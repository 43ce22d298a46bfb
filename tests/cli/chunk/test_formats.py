"""Each format tells every chunk of every input, the cuts and the fingerprint, whatever the paths are named."""

import json

from command import CommandTest
from listings import READERS, Row, read_lengths
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
        self.write("a", random_bytes(5000))
        self.write("b", random_bytes(5000)[:1500])

    def listed(self, name, *arguments):
        run = self.run_command("chunk", "--format", name, *arguments)
        self.assert_done(run)
        return READERS[name](run.stdout)

    def test_says_the_same_and_gives_its_cuts_back(self):
        expected = self.listed("jsonl", *SMALL, "a", "b")
        self.assertEqual((expected.cuts, expected.fingerprint), (CUTS, "sha256"))
        self.assertGreater(len(expected.rows), 10)
        self.assertEqual([sum(row.length for row in expected.rows if row.path == path) for path in "ab"], [5000, 1500])
        self.assertEqual(self.run_command("chunk", *SMALL, "a").stdout, self.run_command("chunk", *SMALL, "a", "--format", "text").stdout)
        for name in READERS:
            self.assertEqual(self.listed(name, *SMALL, "a", "b"), expected, name)
            self.assertEqual(self.listed(name, "--cuts", expected.cuts, "a", "b"), expected, name)
        lengths = read_lengths(self.run_command("chunk", *SMALL, "--format", "lengths", "a", "b").stdout)
        self.assertEqual(lengths, [row.length for row in expected.rows])

    def test_leaves_the_digest_out_where_there_is_no_fingerprint(self):
        for name in READERS:
            listed = self.listed(name, *SMALL, "a", "--hash", "none")
            self.assertEqual((listed.fingerprint, {row.digest for row in listed.rows}), ("none", {""}), name)
        run = self.run_command("chunk", *SMALL, "--format", "jsonl", "--hash", "none", "a")
        self.assertNotIn("digest", run.stdout)

    def test_keeps_awkward_paths_whole(self):
        for path in AWKWARD_NAMES:
            self.write(path, b"1234")
        for name in READERS:
            self.assertEqual([row.path for row in self.listed(name, "--", *AWKWARD_NAMES).rows], AWKWARD_NAMES, name)

    def test_of_nothing_is_its_header(self):
        for name in (*READERS, "lengths"):
            run = self.run_command("chunk", "--format", name, "-", content=b"")
            self.assert_done(run)
            self.assertEqual(READERS[name](run.stdout).rows if name in READERS else read_lengths(run.stdout), [])


class EachFormat(CommandTest):
    def test_of_lengths_is_decimal_lines_and_nothing_else(self):
        self.write("a", random_bytes(5000))
        run = self.run_command("chunk", "--algorithm", "fixed", "--size", "2000", "--format", "lengths", "a")
        self.assert_done(run)
        self.assertEqual(run.stdout, "2000\n2000\n1000\n")

    def test_of_text_has_one_line_a_chunk_and_no_control_characters(self):
        self.write("a\nb\x1b[31m\\", b"123")
        run = self.run_command("chunk", "--hash", "none", ".")
        self.assertEqual(run.lines[2:], ["0 3 - ./a\\x0ab\\x1b[31m\\\\"], run)
        self.assertEqual(READERS["text"](run.stdout).rows, [Row("./a\nb\x1b[31m\\", 0, 3, "")])

    def test_of_csv_quotes_only_where_it_must(self):
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

    def test_of_jsonl_is_utf8_and_has_the_bytes_of_paths_that_are_not(self):
        records = {b"caf\xe9": {"path": "caf\ufffd", "path_hex": "636166e9"}}
        records |= {path.encode(): {"path": path} for path in ("straße", "replacement\ufffd", "line\nfeed", "quote\"backslash\\")}
        for path, record in records.items():
            self.write(path, b"1")
            run = self.run_command("chunk", "--format", "jsonl", "--hash", "none", path)
            run.bytes.decode("utf-8")  # raises where the output is none
            self.assertEqual(json.loads(run.lines[1]), {**record, "offset": 0, "length": 1})
