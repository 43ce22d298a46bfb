"""Snapshots are forgotten by their names or by rules, and nothing is removed that the user was not told of."""

import datetime
import os
import time

from stores import StoreTest
from streams import random_bytes

DAY = 86_400
NEWEST = 1_600_000_000  # 2020-09-13 12:26:40 UTC, a Sunday


class Forget(StoreTest):
    zone = "UTC"

    def setUp(self):
        super().setUp()
        self.write("small", b"content")

    def run_store(self, *words, **how):
        return super().run_store(*words, **how, env={**os.environ, "TZ": self.zone})

    def take(self, days_ago: float, *words, path="small") -> str:
        return self.backup("--time", str(int(NEWEST - days_ago * DAY)), *words, path)

    def ids(self) -> list[str]:
        return [each["id"] for each in self.snapshots()]

    def forget(self, *words) -> list[dict]:
        return self.json_of("forget", *words)

    def test_rules_keep_the_newest_snapshot_of_each_period(self):
        snapshots = [self.take(days) for days in (0.0, 0.1, 1.0, 1.1, 2.0, 30.0)]
        (group,) = self.forget("--keep-daily", "2", "--keep-last", "1", "--dry-run")
        self.assertEqual([each["id"] for each in group["keep"]], [snapshots[0], snapshots[2]])
        self.assertEqual([each["reasons"] for each in group["keep"]], [["last snapshot", "daily snapshot"], ["daily snapshot"]])
        self.assertEqual([each["id"] for each in group["remove"]], [snapshots[1], *snapshots[3:]])
        self.assertEqual(group["paths"], [str(self.folder / "small")])
        self.assertEqual(self.ids(), snapshots)  # a dry run removes nothing
        text = self.store("forget", "--keep-daily", "2", "--keep-last", "1")
        self.assertIn(f"keep    {snapshots[2][:16]}", text)
        self.assertIn(f"remove  {snapshots[1][:16]}", text)
        self.assertIn("2 kept, 4 removed\n", text)
        self.assertEqual(self.ids(), [snapshots[0], snapshots[2]])
        self.assertEqual(self.forget("--keep-within", "1d")[0]["remove"][0]["id"], snapshots[2])

    def test_all_counts_and_spans_are_options(self):
        snapshots = [self.take(days) for days in (0, 0.01, 0.5, 3, 40, 400)]
        for period, kept_count in (("last", 6), ("hourly", 5), ("daily", 4), ("weekly", 3), ("monthly", 3), ("yearly", 2)):
            (group,) = self.forget("--dry-run", f"--keep-{period}", "unlimited")
            self.assertEqual(len(group["keep"]), kept_count, group)
            self.assertEqual(group, self.forget("--dry-run", f"--keep-{period}", "-1")[0])
            span = "--keep-within" if period == "last" else f"--keep-within-{period}"
            (group,) = self.forget("--dry-run", span, "9y")
            self.assertEqual(len(group["keep"]), kept_count, group)
        self.assertEqual(self.ids(), snapshots)

    def test_days_are_those_of_the_local_time_zone(self):
        for days_ago in (0, 0.5, 0.6):  # the second at 00:26:40 in UTC
            self.take(days_ago)
        for zone, kept_count, reason in (("UTC", 2, "daily"), ("Asia/Tokyo", 2, "oldest daily"), ("Pacific/Kiritimati", 3, "daily")):
            self.zone = zone
            (group,) = self.forget("--keep-daily", "9", "--dry-run")
            self.assertEqual(len(group["keep"]), kept_count, zone)
            (group,) = self.forget("--keep-daily", "2", "--dry-run")
            self.assertEqual(group["keep"][1]["reasons"], [f"{reason} snapshot"], zone)

    def test_groups_and_filters(self):
        self.write("other", b"other")
        for day in range(2):
            self.take(day, "--host", "one")
            self.take(day, "--host", "two", "--tag", "x", "--tag", "y")
            self.take(day, "--host", "two", path="other")
        dry = ("--keep-last", "1", "--dry-run")
        self.assertEqual([(group["host"], len(group["keep"]), len(group["remove"])) for group in self.forget(*dry)], [("one", 1, 1), ("two", 1, 1), ("two", 1, 1)])
        self.assertEqual([len(group["remove"]) for group in self.forget(*dry, "--group-by", "host")], [1, 3])
        self.assertEqual([len(group["remove"]) for group in self.forget(*dry, "--group-by", "tags,hosts")], [1, 1, 1])
        for none in (("--group-by", ""), ("--group-by=",)):
            self.assertEqual([len(group["remove"]) for group in self.forget(*dry, *none)], [5])
        self.assertEqual([group["host"] for group in self.forget(*dry, "--host", "one")], ["one"])
        self.assertEqual([group["host"] for group in self.forget(*dry, "--tag", "y,x")], ["two"])
        self.assertEqual(len(self.forget(*dry, "--path", str(self.folder / "other"))), 1)
        self.assertEqual(self.forget(*dry, "--host", "three"), [])
        kept_counts = [len(group["keep"]) for group in self.forget("--keep-tag", "x,y", "--keep-tag", "", "--dry-run")]
        self.assertEqual(kept_counts, [2, 2, 2])

    def test_a_group_is_not_lost(self):
        snapshots = [self.take(1, "--host", "one", "--tag", "x"), self.take(0, "--host", "two")]
        run = self.run_store("forget", "--keep-tag", "x")
        self.assert_failed(run, "the rules keep none of the snapshots of host two", "nothing is removed")
        self.assertEqual(run.stdout, "")
        self.assertEqual(self.ids(), snapshots)

    def test_a_snapshot_that_cannot_be_read_is_named_and_stays(self):
        snapshots = [self.take(days) for days in (2, 1, 0)]
        damaged = self.folder / "store/snapshots" / snapshots[0]
        damaged.unlink()
        damaged.write_bytes(b"no snapshot")
        run = self.run_store("forget", "--keep-last", "1")
        self.assert_failed(run, f"snapshots/{snapshots[0]}")
        self.assertEqual(sorted(each.name for each in damaged.parent.iterdir()), sorted([snapshots[0], snapshots[2]]))

    def test_named_snapshots_are_removed_and_others_are_told(self):
        snapshots = [self.take(days) for days in (2, 1, 0)]
        (group,) = self.forget("latest", snapshots[0][:12], snapshots[0][:10], "--dry-run")
        self.assertEqual([each["id"] for each in group["remove"]], [snapshots[2], snapshots[0]])
        run = self.run_store("forget", "nothing", snapshots[0][:12])
        self.assert_failed(run, "nothing: no snapshot")
        self.assertIn("\n1 removed\n", run.stdout)
        self.assertEqual(self.ids(), snapshots[1:])

    def test_data_of_removed_snapshots_are_pruned_if_that_is_wanted(self):
        for number in range(3):
            self.write("small", random_bytes(300_000, number))
            self.take(3 - number)

        def container_bytes() -> int:
            return sum(each.stat().st_size for each in self.objects("containers"))

        whole = container_bytes()
        (named, newest) = (self.ids()[0], self.ids()[2])
        for words, removed in ((("--keep-last", "1"), 2), (("--keep-last", "2"), 1), ((named, newest), 2)):
            group, last = self.forget(*words, "--prune", "--dry-run")
            self.assertEqual((len(group["remove"]), last["prune"]["removed_containers"]), (removed, removed))
        self.assertIn("would remove   2 containers", self.store("forget", "--keep-last", "1", "--prune", "--dry-run"))
        self.assertEqual(len(self.forget("--keep-last", "3", "--prune", "--dry-run")), 1)  # nothing is to be pruned
        self.assertEqual(container_bytes(), whole)
        self.store("forget", "--keep-last", "2")
        self.store("forget", "--keep-last", "2", "--prune")  # removes no snapshot, so that nothing is pruned
        self.assertEqual(container_bytes(), whole)
        rehearsed = self.forget("--keep-last", "1", "--prune", "--dry-run")
        group, last = self.forget("--keep-last", "1", "--prune")
        self.assertEqual([group, last], rehearsed)
        self.assertEqual(len(group["remove"]), 1)
        self.assertEqual(last["prune"]["removed_containers"], 2)
        self.assertLess(container_bytes(), whole / 2)
        self.assert_whole()

    def test_distrusted_times_take_no_place_and_are_named(self):
        now = time.time()
        past = self.take(0)
        honest = [self.backup("small"), self.backup("small")]
        future = self.backup("--time", str(int(now + 10 * DAY)), "small")
        rules = ("--keep-last", "1", "--keep-daily", "1", "--dry-run")
        self.assertEqual([each["id"] for each in self.forget(*rules)[0]["keep"]], [future])  # the attack
        (group,) = self.forget(*rules, "--distrust-times")
        self.assertEqual([each["id"] for each in group["keep"]], [future, honest[1], past])
        self.assertEqual([each["id"] for each in group["remove"]], [honest[0]])
        self.assertEqual(group["distrusted"], 2)
        self.assertEqual([each.get("distrusted", False) for each in group["keep"]], [True, False, True])
        put = datetime.datetime.fromisoformat(group["keep"][0]["reasons"][0].removeprefix("distrusted time: put ").removesuffix("Z") + "+00:00")
        self.assertLess(abs(put.timestamp() - now), 600)
        run = self.run_store("forget", "--keep-last", "1", "--distrust-times")
        self.assertEqual(run.code, 0, run)
        self.assertRegex(run.stdout, f"keep    {past[:16]}  .*  distrusted time: put ")
        self.assertIn("\n3 kept (2 for a distrusted time), 1 removed\n", run.stdout)
        self.assertIn("warning: 2 snapshots are kept whose time is not when they were put", run.stderr)
        self.assertEqual(sorted(self.ids()), sorted([past, honest[1], future]))
        run = self.run_store("forget", "--keep-last", "1", "--distrust-times", "--host", "none")
        self.assertEqual((run.stdout, run.stderr), ("0 kept, 0 removed\n", ""))

    def test_nothing_is_removed_if_nobody_can_be_told(self):
        snapshot = self.take(0)
        with open("/dev/full", "w") as full:
            self.assert_failed(self.run_store("forget", snapshot, stdout=full), "No space left")
        self.assertEqual(self.ids(), [snapshot])

    def test_wrong_usage(self):
        snapshot = self.take(0)
        for words, told in (
            ((), "nothing says what to forget"),
            (("--keep-last", "0"), "the rules keep nothing"),
            (("--dry-run", "--group-by", "host"), "nothing says what to forget"),
            ((snapshot, "--keep-last", "1"), "snapshots are named"),
            ((snapshot, "--host", "h"), "snapshots are named"),
            ((snapshot, "--distrust-times"), "snapshots are named"),
            (("--distrust-times",), "nothing says what to forget"),
            (("--keep-last", "-2"), "--keep-last: '-2' is not a number"),
            (("--keep-daily", "many"), "--keep-daily: 'many' is not a number"),
            (("--keep-within", "3w"), "--keep-within 3w: no unit follows the number 3"),
            (("--keep-last", "1", "--group-by", "user"), "--group-by user: user is not one of host, paths and tags"),
        ):
            with self.subTest(words):
                self.assert_refused(self.run_store("forget", *words), told)
        self.assertEqual(self.ids(), [snapshot])
