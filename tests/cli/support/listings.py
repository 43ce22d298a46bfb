"""The listings of `cutpoint chunk`, read back in each format: rows of chunks and what else a listing says."""

import csv
import io
import json
import os
import re
from typing import NamedTuple

from command import DONE, CommandTest, Outcome


class Row(NamedTuple):
    path: str
    offset: int
    length: int
    digest: str


class Listing(NamedTuple):
    cuts: str
    fingerprint: str
    rows: list


def unescaped(path: str) -> str:
    """A path of the text format: \\xHH is a byte, \\\\ a backslash."""
    byte_of = lambda match: bytes([int(match[1], 16)]) if match[1] else b"\\"
    return os.fsdecode(re.sub(rb"\\(?:x([0-9a-f]{2})|\\)", byte_of, os.fsencode(path)))


def read_text(text: str) -> Listing:
    cuts, columns, *lines = text.split("\n")[:-1]
    assert cuts.startswith("# cuts "), cuts
    matched = re.fullmatch(r"# offset length (\S+) path", columns)
    assert matched, columns
    rows = []
    for line in lines:
        if line.startswith("# failed: "):
            continue
        offset, length, digest, path = line.split(" ", 3)
        rows.append(Row(unescaped(path), int(offset), int(length), "" if digest == "-" else digest))
    return Listing(cuts[len("# cuts ") :], matched[1], rows)


def read_csv(text: str) -> Listing:
    """RFC 4180, strictly; the cuts and the fingerprint stand in every row and must be the same in all."""
    header, *records = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert header == ["path", "offset", "length", "digest", "fingerprint", "cuts"], header
    named = {(record[5], record[4]) for record in records}
    assert len(named) <= 1, named
    cuts, fingerprint = named.pop() if named else ("", "")
    return Listing(cuts, fingerprint, [Row(r[0], int(r[1]), int(r[2]), r[3]) for r in records])


def path_of(record: dict) -> str:
    """The path's bytes: those of path_hex where the name is no UTF-8."""
    if "path_hex" in record:
        return bytes.fromhex(record["path_hex"]).decode("utf-8", "surrogateescape")
    return record["path"]


def read_jsonl(text: str) -> Listing:
    header, *records = [json.loads(line) for line in text.split("\n")[:-1]]
    assert list(header) == ["cuts", "fingerprint"], header
    chunks = [record for record in records if "error" not in record]
    rows = [Row(path_of(r), r["offset"], r["length"], r.get("digest", "")) for r in chunks]
    return Listing(header["cuts"], header["fingerprint"], rows)


def failed_paths(text: str) -> list:
    """The paths that a jsonl listing tells an error of."""
    records = [json.loads(line) for line in text.split("\n")[1:-1]]
    return [path_of(record) for record in records if "error" in record]


def read_lengths(text: str) -> list:
    assert re.fullmatch(r"(?:[1-9][0-9]*\n)*", text), text[:200]
    return [int(line) for line in text.split("\n")[:-1]]


READERS = {"text": read_text, "csv": read_csv, "jsonl": read_jsonl}


class ListingTest(CommandTest):
    def listed(self, *arguments, code=DONE, **how) -> tuple[list[str], Outcome]:
        """The path of each chunk that is listed of these inputs, and the run."""
        run = self.run_command("chunk", "--hash", "none", "--format", "jsonl", *arguments, **how)
        self.assertEqual(run.code, code, run)
        return [row.path for row in read_jsonl(run.stdout).rows], run

    def paths(self, *arguments, **how) -> list[str]:
        paths, run = self.listed(*arguments, **how)
        self.assert_done(run)
        return paths
