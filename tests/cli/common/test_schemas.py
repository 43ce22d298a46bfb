"""What the command prints as JSON is what docs/schemas says: nothing of another type, nothing missing, nothing that it does not name.

test_info.py has the costs of a machine, and test_tune.py a search, both of which take long."""

import copy
import json
import re
import unittest

from command import INPUT_FAILED, IS_SANITIZED, CommandTest, faulty_reads, needs_faulty_reads
from schemas import SCHEMAS, needs_jsonschema, problems_in


@needs_jsonschema
class Schemas(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("tree/a.txt", b"one and the same content " * 10_000)
        self.write("tree/b", b"one and the same content " * 9_000)
        self.write("tree/empty", b"")

    def assert_valid(self, name: str, *values):
        self.assertEqual(problems_in(name, *values), [], name)

    def json_of(self, *arguments):
        run = self.run_command(*arguments)
        self.assert_done(run)
        return run.json()

    def test_of_dedup(self):
        for arguments in (("tree/empty",), ("--context", "prune", "tree"), ("--join", "pdedupe", "--segment", "256K", "tree")):
            report = self.json_of("dedup", "--json", *arguments)
            self.assertEqual(report["comparison"] is not None, "--join" in arguments)
            self.assert_valid("dedup", report)

    def test_of_chunks(self):
        for options in ([], ["--hash", "none"], ["--hash", "blake3", "--hash-key", "00" * 32], ["--join", "none"]):
            run = self.run_command("chunk", "--format", "jsonl", *options, "tree")
            self.assert_done(run)
            self.assertGreater(len(run.lines), 3)
            self.assert_valid("chunk", *map(json.loads, run.lines))

    @needs_faulty_reads
    def test_of_chunks_where_inputs_fail_and_paths_are_not_utf8(self):
        self.write(b"tree/\xff\xfe", b"content")
        run = self.run_command("chunk", "--format", "jsonl", "--input", "pread", "tree", env=faulty_reads("tree/b"))
        self.assertEqual(run.code, INPUT_FAILED, run)
        lines = [json.loads(line) for line in run.lines]
        for key in ("error", "path_hex"):
            self.assertTrue(any(key in line for line in lines), run)
        self.assert_valid("chunk", *lines)

    def test_of_list_and_info(self):
        whole = self.json_of("list", "--json")
        self.assert_valid("list", whole, *whole["entries"], self.json_of("list", "restic", "--json"))
        self.assert_valid("info", self.json_of("info", "--json"))

    def test_they_repeat_no_names_of_the_catalog(self):
        """Names come with each version, and other machines have others."""
        catalog = self.json_of("list", "--json")
        listed = {each["name"] for names in ("entries", "fingerprints", "back_ends") for each in catalog[names]} - {"none"}
        for path in SCHEMAS.glob("*.json"):
            values = re.findall(r'"enum": \[([^]]*)\]', path.read_text(encoding="utf-8"))
            self.assertEqual(set(re.findall(r'"([^"]*)"', "".join(values))) & listed, set(), path.name)

    def test_of_bench(self):
        for options in (("--bytes", "64K", "--algorithm", "gear", "--hash", "sha1"), ("--kernels", "--data", "tree/a.txt", "--algorithm", "fixed")):
            self.assert_valid("bench", self.json_of("bench", "--json", "-q", "--rounds", "1", *options))
            self.assert_valid("bench", self.json_of("bench", "--json", "--quick", "-q", "--rounds", "1", *options))

    @unittest.skipIf(IS_SANITIZED, "cuts gigabytes")
    def test_of_tune(self):
        options = ("--sample", "100%", "--size", "4K", "--runs", "1", "--combinations", "10")
        for more in ((), ("--verify", "--hash", "none", "--algorithm", "gear", "--algorithm", "seqcdc-dec")):
            self.assert_valid("tune", self.json_of("tune", "--json", *options, *more, "tree"))

    def test_of_a_backup(self):
        self.assert_done(self.run_command("init", "--store", "store", "--encryption", "none"))
        self.write(b"tree/\xff\xfe", b"content")
        (self.folder / "tree/odd \udcff").mkdir()
        for options in ((), (), ("--dry-run", "--force"), ("--force", "--backend", "scalar", "tree/odd \udcff/missing")):
            run = self.run_command("backup", "--store", "store", "--json", "tree", *options)
            lines = [json.loads(line) for line in run.lines]
            self.assertEqual(lines[-1]["message_type"], "summary", run)
            self.assert_valid("backup", *lines)
        lines = [line for line in lines if line["message_type"] != "status"]  # which a slow backup writes
        self.assertEqual(len(lines), 2)
        self.assertIn("item_hex", lines[0])

    def test_of_a_trace(self):
        self.json_of("dedup", "--json", "--trace", "trace", "tree")
        events = json.loads((self.folder / "trace").read_text())
        self.assertEqual({event["ph"] for event in events}, {"M", "X", "C"})
        self.assert_valid("trace", events)

    def test_they_find_what_is_wrong(self):
        report = self.json_of("dedup", "--json", "tree")
        for change in (
            lambda r: r.pop("cuts"),
            lambda r: r.update(cuts=None),
            lambda r: r.update(new=1),
            lambda r: r["result"].update(bytes=-1),
            lambda r: r["result"]["chunks"].pop("percentile_50_bytes"),
            lambda r: r["lanes"][0].update(new=1),
            lambda r: r.update(plan="auto"),
        ):
            changed = copy.deepcopy(report)
            change(changed)
            self.assertNotEqual(problems_in("dedup", changed), [])
