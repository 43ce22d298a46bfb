"""`stats --details` says what the containers of a store have, and how its snapshots lie in them."""

import os

from stores import StoreTest
from streams import random_bytes


class Stats(StoreTest):
    def setUp(self):
        super().setUp()
        self.write_tree()
        self.write("data/text.C", b"the same line again and again\n" * 10_000)
        self.first = self.backup()

    def details(self) -> dict:
        return self.json_of("stats", "--details")[0]

    def test_bytes_and_kinds_of_one_snapshot(self):
        statistics = self.details()
        chunks, nodes = statistics["chunks"], statistics["nodes"]
        self.assertEqual((chunks["live_count"], chunks["live_stored_bytes"]), (chunks["count"], chunks["stored_bytes"]))
        self.assertEqual(nodes["live_count"], nodes["count"])
        self.assertEqual(chunks["count"] + nodes["count"], statistics["records"])
        self.assertGreater(chunks["raw_bytes"], 500_000 + 300_000)
        self.assertLess(chunks["stored_bytes"], 600_000)  # 500,000 of them are random
        self.assertLess(statistics["newest"]["stored_bytes"], statistics["container_bytes"])
        self.assertEqual(statistics["newest"]["stored_bytes"], chunks["stored_bytes"])
        self.assertEqual(statistics["newest"], statistics["oldest"])
        self.assertEqual(statistics["newest"]["bytes"], 300_000 + 300_000 + 200_000 + self.bytes_after_the_end())
        self.assertEqual(statistics["newest"]["containers"], statistics["containers"])
        self.assertAlmostEqual(statistics["newest"]["containers_per_mib"], statistics["containers"] * 2**20 / statistics["newest"]["bytes"])
        kinds = {each.pop("kind"): each for each in statistics["kinds"]}
        self.assertEqual(set(kinds), {"(none)", ".c"})
        self.assertEqual((kinds[".c"]["files"], kinds[".c"]["bytes"]), (1, 300_000))
        self.assertLess(kinds[".c"]["stored_bytes"], 30_000)
        self.assertEqual(sum(each["stored_bytes"] for each in kinds.values()), chunks["stored_bytes"])
        self.assertEqual([each["snapshot"] for each in statistics["growth"]], [self.first])
        self.assertEqual(sum(each["containers"] for each in statistics["live_shares"]), statistics["containers"])
        self.assertEqual(statistics["live_shares"][-1], {"at_most": 1, "containers": statistics["containers"], "container_bytes": statistics["container_bytes"]})

    def bytes_after_the_end(self) -> int:
        """The zeros at the end of b: a hole, or bytes that are stored."""
        return 0 if (self.folder / "data/deep/folder/b").stat().st_blocks * 512 < 300_000 else 100_000

    def test_forgotten_snapshots_leave_containers_that_are_not_live(self):
        for path in ("a", "another-name-of-a", "text.C"):
            os.remove(self.folder / "data" / path)
        second = self.backup()
        before = self.details()
        self.assertEqual((before["oldest"]["snapshot"], before["newest"]["snapshot"]), (self.first, second))
        self.store("forget", self.first)
        after = self.details()
        self.assertEqual(after["chunks"]["count"], before["chunks"]["count"])
        self.assertLess(after["chunks"]["live_stored_bytes"], before["chunks"]["live_stored_bytes"] - 300_000)
        self.assertEqual(after["live_shares"][-1]["containers"], 1)  # that of the last backup
        shares = [each["at_most"] for each in after["live_shares"] if each["containers"] and each["at_most"] < 1]
        self.assertEqual(len(shares), 1)
        self.assertTrue(0.3 < shares[0] < 0.6, shares)
        self.store("forget", "latest")
        empty = self.details()
        self.assertEqual(empty["live_shares"][0]["containers"], empty["containers"])
        self.assertEqual((empty["chunks"]["live_count"], empty["newest"]["bytes"], empty["kinds"]), (0, 0, []))

    def test_a_snapshot_with_other_tags_is_counted_once(self):
        self.store("tag", "--add", "x")
        self.assertEqual(self.details()["snapshots"], 1)

    def test_the_text_has_the_same(self):
        self.write("data/new", random_bytes(1000, 7))
        second = self.backup()
        text = self.store("stats", "--details")
        for told in ("chunks", "100.0 % of it live", f"oldest         {self.first[:16]}", f"newest         {second[:16]}", "containers by live share", ".c ", "growth"):
            self.assertIn(told, text)
        self.assertNotIn("growth", self.store("stats"))

    def test_the_text_names_cuts_as_they_were_chosen(self):
        for number, (words, name) in enumerate((
            (("--algorithm", "seqcdc-inc"), "seqcdc-inc"), (("--algorithm", "seqcdc-dec", "--size", "8K"), "seqcdc-dec"), (("--profile", "casync"), "casync"),
            (("--profile", "casync", "--size", "32K"), ""), (("--algorithm", "gear"), ""),
        )):  # fmt: skip
            init = self.run_command("init", "--store", f"other{number}", "--encryption", "none", *words).stdout
            shown = self.run_command("stats", "--store", f"other{number}").stdout
            for text in (init, shown):
                self.assertEqual([line.split()[-1] for line in text.splitlines() if line.startswith("catalog name ")], [name] * bool(name), words)

    def test_the_text_has_counts_in_words_and_no_rate_of_nothing(self):
        self.run_command("init", "--store", "other", "--encryption", "none")
        self.write("empty", b"")
        self.run_command("backup", "--store", "other", "empty")
        text = self.run_command("stats", "--store", "other", "--details").stdout
        self.assertRegex(text, r"newest         \w+: 0 B in 0 containers, - for each MiB\n")
        self.assertRegex(text, r"\(none\) +1 file +0 B")
        self.assertRegex(self.run_command("check", "--store", "other").stdout, r"\A1 snapshot, 1 container, \d+ chunks and nodes: no damage\n\Z")

    def test_what_is_damaged_is_named_and_the_rest_is_shown(self):
        self.assertIn("data/link: is stored as a symbolic link", self.run_store("backup", "data/link").stderr)
        snapshot = self.folder / "store/snapshots" / self.first
        snapshot.unlink()
        snapshot.write_bytes(b"damage")
        run = self.run_store("stats", "--details", "--json")
        self.assert_failed(run, f"snapshots/{self.first}")
        self.assertEqual(run.stderr.count(self.first), run.stderr.count("\n"), run)
        self.assertEqual(len(run.json()["growth"]), 1)
        for container in self.objects("containers"):
            container.unlink()
        run = self.run_store("stats", "--details")
        self.assert_failed(run, "no container has it")
