"""Contexts in `dedup`: each file is cut by its rule, and what a context file says wrongly is refused by its name."""

import hashlib

from command import DONE, WRONG_USAGE, CommandTest
from streams import random_bytes

FIXED = ("--algorithm", "fixed", "--size", "1000")
GEAR = ("--algorithm", "gear", "--size", "256:1K:4K")
CONTEXT = """
[class.video]
extensions = ["mp4", "tar.gz"]
algorithm = "fixed"
size = "1000"
compression_level = 0

[class.logs]
extensions = ["log"]
algorithm = "gear"
size = "256:512:4K"
"""
COUNTS = ("stream_count", "bytes", "chunk_count", "unique_bytes", "unique_chunk_count", "duplicate_bytes")


class ContextTest(CommandTest):
    def setUp(self):
        super().setUp()
        trees = {"videos": ("a.mp4", "b.MP4", "c.tar.gz"), "logs": ("a.log", "b.log"), "rest": ("a", "b.gz", ".mp4")}
        for seed, (folder, names) in enumerate(trees.items()):
            content = random_bytes(100_000, seed)
            for number, name in enumerate(names):
                self.write(f"tree/{folder}/{name}", content[number * 10_000:] + content[:number * 777])
        self.write("context.toml", CONTEXT.encode())

    def report(self, *arguments) -> dict:
        run = self.run_command("dedup", "--json", *arguments)
        self.assertEqual(run.code, DONE, run)
        return run.json()

    def refusal(self, content: str, *arguments) -> str:
        self.write("wrong.toml", content.encode())
        run = self.run_command("dedup", "--context", "wrong.toml", *arguments, "tree")
        self.assertEqual(run.code, WRONG_USAGE, run)
        return run.stderr


class Rules(ContextTest):
    def test_cut_each_class_as_its_chunker_alone_does(self):
        for threads in ("1", "4"):
            report = self.report(*GEAR, "--context", "context.toml", "--threads", threads, "tree")
            alone = {
                "others": self.report(*GEAR, "tree/rest"),
                "video": self.report(*FIXED, "tree/videos"),
                "logs": self.report("--algorithm", "gear", "--size", "256:512:4K", "tree/logs"),
            }
            classes = {row["class"]: row for row in report["classes"]}
            self.assertEqual(set(classes), set(alone))
            for name, row in classes.items():
                self.assertEqual({key: row[key] for key in COUNTS}, {key: alone[name]["result"][key] for key in COUNTS}, name)
                self.assertEqual(row["cuts"], alone[name]["cuts"])
            for key in COUNTS:
                self.assertEqual(report["result"][key], sum(row[key] for row in classes.values()), key)

    def test_name_the_class_of_each_kind(self):
        kinds = self.report("--context", "context.toml", "tree")["kinds"]
        self.assertEqual(
            {(row["kind"], row["class"]) for row in kinds},
            {(".mp4", "video"), (".gz", "video"), (".gz", "others"), (".log", "logs"), ("(none)", "others")})

    def test_are_shown_in_the_report(self):
        text = self.run_command("dedup", "--context", "context.toml", "tree").stdout
        self.assertIn("  video ", text)
        self.assertIn("fixed(avg_bytes=1000)", text)
        self.assertNotIn("  class ", self.run_command("dedup", "tree").stdout)

    def test_of_other_joins_are_compared_with_the_exact_cuts_of_the_same_rules(self):
        exact = self.report(*GEAR, "--context", "context.toml", "tree")
        other = self.report(*GEAR, "--context", "context.toml", "--join", "none", "--segment", "20000", "tree")
        self.assertEqual(other["comparison"]["exact"]["unique_bytes"], exact["result"]["unique_bytes"])
        self.assertGreater(other["comparison"]["dirty_chunk_count"], 0)

    def test_of_prune_are_built_in(self):
        classes = {row["class"]: row for row in self.report("--context", "prune", "tree")["classes"]}
        self.assertEqual(classes["immutable"]["stream_count"], 3)
        self.assertEqual(classes["immutable"]["cuts"], "fixed(avg_bytes=8192)")

    def test_may_say_how_other_files_are_cut(self):
        self.write("all.toml", b'[others]\nalgorithm = "fixed"\nsize = "1000"\n')
        self.assertEqual(self.report("--context", "all.toml", "tree")["result"], self.report(*FIXED, "tree")["result"])


class Mistakes(ContextTest):
    def test_the_key_is_for_rules_too(self):
        self.write("key", bytes(range(32)))
        self.write("secret.toml", b'[class.logs]\nextensions = ["log"]\nalgorithm = "toeplitz-aes"\nparameters = {min_exp = 8, mask_bits = 10, max_exp = 14}\n')
        without = self.run_command("dedup", "--json", *GEAR, "--context", "secret.toml", "tree")
        self.assertIn("no key", without.stderr)
        run = self.run_command("dedup", "--json", *GEAR, "--context", "secret.toml", "--key-file", "key", "tree")
        self.assert_done(run)
        self.assertEqual(run.stderr, "")
        [cuts] = [row["cuts"] for row in run.json()["classes"] if row["class"] == "logs"]
        self.assertIn(hashlib.sha256(b"cutpoint phte" + bytes(range(32))).hexdigest()[:16], cuts)
        # Rules that take none leave the refusal as it was.
        self.assert_refused(self.run_command("dedup", *GEAR, "--context", "prune", "--key-file", "key", "tree"), "takes no secret key")

    def test_are_refused_with_their_place(self):
        self.assertIn("--context wrong.toml: line 1, column ", self.refusal("[class"))
        self.assertIn("class.a: no key 'extension', did you mean 'extensions'?", self.refusal("[class.a]\nextension = 1"))
        self.assertIn("the file of --context says how the other files are cut",
                      self.refusal('[others]\nalgorithm = "gear"', "--algorithm", "gear"))
        self.assertIn("nowhere.toml", self.run_command("dedup", "--context", "nowhere.toml", "tree").stderr)
