"""Stores with a context: each file is cut and compressed by the rule of its name, and a store keeps what it promises without one."""

import json
import os
import time

from store_reader import CHUNK, Reference, Store
from stores import StoresTest
from streams import random_bytes

CONTEXT = """
[class.video]
extensions = ["mp4", "tar.gz"]
algorithm = "fixed"
size = "5000"
compression_level = 0

[class.logs]
extensions = ["log"]
algorithm = "gear"
size = "256:1K:4K"
compression_level = 9

[others]
algorithm = "fastcdc"
size = "4K:16K:64K"
"""
CLASSES = {"a.mp4": "video", "sub/B.MP4": "video", "c.tar.gz": "video", "a.log": "logs", "b.gz": "others", "rest": "others"}
CUTS = {
    "video": ("--algorithm", "fixed", "--size", "5000"),
    "logs": ("--algorithm", "gear", "--size", "256:1K:4K"),
    "others": ("--algorithm", "fastcdc", "--size", "4K:16K:64K"),
}


class ContextTest(StoresTest):
    def setUp(self):
        super().setUp()
        line = b"a line of a file that can be compressed, number %d\n"
        for seed, name in enumerate(CLASSES):
            self.write(f"files/{name}", b"".join(line % (1000 * seed + i) for i in range(3000)) + random_bytes(50_000, seed))
        self.write("context.toml", CONTEXT.encode())

    def make_with_context(self, store: str, *words):
        self.make(store, "--context", "context.toml", *words)

    def backup(self, store: str, *words) -> dict:
        run = self.run_on(store, "backup", "files", "--json", *words)
        self.assert_done(run)
        return json.loads(run.lines[-1])

    def stored_extents(self, reader: Store) -> dict[str, list]:
        """The chunks of each file of the last snapshot, as a reader of the format sees them."""
        snapshot = list(reader.snapshots().values())[-1]
        top = os.fsencode(self.folder / "files")[1:] + b"/"
        return {
            os.fsdecode(path.removeprefix(top)): [each for each in reader.extents(entry) for _ in range(each.count)]
            for path, entry in reader.walk(Reference(*snapshot.root))
            if path.startswith(top) and entry.kind == 1
        }

    def stored_lengths(self, store: str) -> dict[str, list[int]]:
        return {name: [each.length for each in extents] for name, extents in self.stored_extents(self.reader(store)).items()}

    def stored_codecs(self, store: str) -> dict[str, set]:
        reader = self.reader(store)
        return {
            name: {reader.places[CHUNK, each.reference.digest][0][1].codec for each in extents}
            for name, extents in self.stored_extents(reader).items()
        }

    def lengths(self, name: str, cuts: tuple) -> list[int]:
        run = self.run_command("chunk", f"files/{name}", "--format", "lengths", *cuts)
        self.assert_done(run)
        return [int(line) for line in run.lines]

    def check_cuts(self, store: str):
        self.reader(store).verify()
        self.assertEqual(self.stored_lengths(store), {name: self.lengths(name, CUTS[each]) for name, each in CLASSES.items()})
        self.assertEqual(self.stored_codecs(store), {name: {0} if each == "video" else {0, 1} for name, each in CLASSES.items()})


class Contexts(ContextTest):
    def test_each_file_is_cut_and_compressed_by_the_rule_of_its_name(self):
        self.make_with_context("store")
        time.sleep(2.1)  # a ctime that is younger than two seconds does not show that a file is unchanged
        summary = self.backup("store")
        self.check_cuts("store")
        self.assertEqual([row["class"] for row in summary["classes"]], ["others", "logs", "video"])
        self.assertEqual(sum(row["bytes"] for row in summary["classes"]), sum(os.path.getsize(self.folder / "files" / name) for name in CLASSES))
        video, logs = summary["classes"][2], summary["classes"][1]
        self.assertEqual(video["new_raw_bytes"], video["new_stored_bytes"])
        self.assertLess(logs["new_stored_bytes"], logs["new_raw_bytes"] / 2)
        again = self.backup("store")
        self.assertEqual((again["files_unmodified"], again["read_bytes"]), (len(CLASSES), 0))
        self.assertEqual([row["bytes"] for row in again["classes"]], [0, 0, 0])
        forced = self.backup("store", "--force")
        self.assertEqual([row["new_raw_bytes"] for row in forced["classes"]], [0, 0, 0])
        self.on("store", "check", "--read-data")
        self.on("store", "restore", f"latest:{self.folder}/files", "--target", "out")
        for name in CLASSES:
            self.assertEqual((self.folder / "out" / name).read_bytes(), (self.folder / "files" / name).read_bytes())
        statistics = json.loads(self.on("store", "stats", "--details", "--json"))
        self.assertEqual([(row["class"], row["extensions"], row["compression_level"]) for row in statistics["context"]],
                         [("logs", ["log"], 9), ("video", ["mp4", "tar.gz"], 0)])  # fmt: skip
        self.assertEqual({(row["kind"], row["class"]) for row in statistics["kinds"]},
                         {(".mp4", "video"), (".gz", "video"), (".log", "logs"), (".gz", "others"), ("(none)", "others")})  # fmt: skip
        self.assertRegex(self.on("store", "stats"), r"class video +fixed\(avg_bytes=5000\); compression none; mp4, tar\.gz\n")
        os.rename(self.folder / "files/rest", self.folder / "files/rest.mp4")
        self.backup("store")
        self.assertEqual(self.stored_lengths("store")["rest.mp4"], self.lengths("rest.mp4", CUTS["video"]))

    def test_standard_input_is_of_the_class_of_its_name(self):
        self.make_with_context("store")
        words = ("--stdin-from-command", "--stdin-name", "x.mp4", "--json", "--", "cat", "files/a.mp4")
        run = self.run_command("backup", "--store", "store", *words)
        self.assert_done(run)
        classes = {row["class"]: row["bytes"] for row in json.loads(run.lines[-1])["classes"]}
        self.assertEqual(classes, {"others": 0, "logs": 0, "video": os.path.getsize(self.folder / "files/a.mp4")})


class Copies(ContextTest):
    def test_between_equal_contexts_move_chunks_as_they_are(self):
        self.make_with_context("store")
        self.backup("store")
        self.make_with_context("twin", "--compression", "none")
        self.copy("store", "twin")
        self.assertEqual(self.stored_lengths("twin"), self.stored_lengths("store"))
        codecs = self.stored_codecs("twin")
        self.assertEqual((codecs["a.log"], codecs["rest"]), ({0, 1}, {0}), "the one by its rule")
        self.make_with_context("back")
        self.copy("twin", "back")
        self.check_cuts("back")

    def test_to_another_context_cut_by_the_rules_of_the_target(self):
        self.make("plain")
        self.backup("plain")
        self.assertEqual(json.loads(self.on("plain", "stats", "--json"))["context"], [])
        self.make_with_context("store")
        (copied,) = self.copy("plain", "store")
        self.check_cuts("store")
        self.assertLess(self.backup("store")["data_added"], 20_000)  # nodes
        self.make("other", "--context", "prune")
        self.copy("store", "other", copied)
        self.assertEqual(self.stored_lengths("other")["a.mp4"], self.lengths("a.mp4", ("--algorithm", "fixed", "--size", "8K")))
        self.on("other", "check", "--read-data")


class Refused(ContextTest):
    def test_what_is_wrong_is_named(self):
        self.write("large.toml", b"#" * (1 << 20) + b"\n")
        self.write("long.toml", b'[class.a]\nextensions = ["a"]\nalgorithm = "fixed"\nsize = "1G"\n')
        for words, told in (
            (("context.toml", "--algorithm", "gear"), "says how the other files are cut"),
            (("nothing.toml",), "nothing.toml"),
            (("large.toml",), "large.toml: is longer than 1048576 bytes"),
            (("long.toml",), r"class a: fixed\(.*\): a store needs a maximum of at most \d+ MiB"),
        ):
            run = self.init("store", "--context", *words)
            self.assert_refused(run)
            self.assertRegex(run.stderr, told)
            self.assertFalse((self.folder / "store/config").exists())
