"""Random histories of a store: whatever happens, each snapshot brings back what a dictionary says, or names what is lost.

CUTPOINT_HISTORIES says how many histories are played, CUTPOINT_HISTORY_STEPS how many steps each has."""

import json
import os
import random
import re
import shutil
import time
import unittest

from command import BINARY, IS_SANITIZED
from stores import StoreTest, facts_of

try:
    from hypothesis import HealthCheck, settings
    from hypothesis import strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
except ImportError:
    raise unittest.SkipTest("needs the Python package hypothesis") from None

HISTORIES = int(os.environ.get("CUTPOINT_HISTORIES") or (8 if IS_SANITIZED else 20))
STEPS = int(os.environ.get("CUTPOINT_HISTORY_STEPS") or 30)
NAMES = ("a", "b", "c", "deep/a", "deep/d", "deep/er/e", "deep/er/f")
SIZES = (0, 1, 5_000, 70_000, 400_000)
EDITS = ("write", "write", "remove", "append", "link", "mode")
ANY = st.integers(0, 1 << 16)


class History(RuleBasedStateMachine):
    """Draws depend on no outcome, so that a backup that is killed may have committed or not."""

    played: dict = {}  # how often each kind of step came to something, over all histories

    def __init__(self):
        super().__init__()
        self.test = StoreTest()
        self.test.setUp()
        self.tree = self.test.folder / "data"
        self.store = self.test.folder / "store"
        self.expected: dict = {}  # what each committed snapshot must bring back
        self.seen: set = set()  # all snapshots so far
        self.is_damaged = False
        self.test.write("data/a", b"first")

    def teardown(self):
        try:
            self.repair()
        finally:
            self.test.doCleanups()

    def expect(self, snapshot: str, facts: dict):
        self.expected[snapshot] = facts
        self.seen.add(snapshot)

    def count(self, what: str):
        self.played[what] = self.played.get(what, 0) + 1

    # --- steps -------------------------------------------------------------------------------------------------------

    @rule(edit=st.sampled_from(EDITS), name=st.sampled_from(NAMES), size=st.sampled_from(SIZES), seed=st.integers(0, 3))
    def edit(self, edit, name, size, seed):
        path = self.tree / name
        content = random.Random(seed).randbytes(size)
        if edit == "remove":
            path.unlink(missing_ok=True)
        elif edit == "append" and path.exists():
            path.write_bytes(path.read_bytes() + content)
        elif edit == "link" and path.exists():
            link = path.with_name(path.name + "-link")
            link.unlink(missing_ok=True)
            os.link(path, link)
        elif edit == "mode" and path.exists():
            path.chmod(0o600 + seed)
        else:
            self.test.write(f"data/{name}", content)

    @rule()
    def back_up(self):
        run = self.test.run_store("backup", "data")
        self.test.assertEqual(run.code, 0, run)
        self.test.assertRegex(run.stderr, r"^(cutpoint: stored again: \d+ chunks? whose stored copies are damaged\n)?$")
        self.expect(run.stdout.strip(), facts_of(self.tree))
        self.count("backup")

    @rule(delay=st.integers(0, 15))
    def kill_a_backup(self, delay):
        process = self.test.start("backup", "data", "--store", "store")
        time.sleep(delay / 1000)
        process.kill()
        run = self.test.wait(process)
        self.test.assertIn(run.code, (0, -9), run)
        printed = run.stdout.strip()
        listed = [json.loads(line)["id"] for line in self.test.run_store("snapshots", "--json").lines]
        self.test.assertTrue(len(printed) < 64 or printed in listed, run)
        for new in set(listed) - self.seen:
            self.expect(new, facts_of(self.tree))
        self.count("kill" if run.code else "backup")

    @rule(which=ANY)
    def forget(self, which):
        if not self.expected:
            return
        snapshot = sorted(self.expected)[which % len(self.expected)]
        self.test.assert_done(self.test.run_store("forget", snapshot))
        del self.expected[snapshot]
        self.count("forget")

    @rule(kind=st.sampled_from(("containers", "containers", "shards", "snapshots")), which=ANY, place=ANY,
          how=st.sampled_from(("flip", "flip", "flip", "truncate", "remove")))
    def damage(self, kind, which, place, how):
        objects = sorted(path for path in (self.store / kind).rglob("*") if path.is_file())
        if not objects:
            return
        self.is_damaged = True
        path = objects[which % len(objects)]
        content = bytearray(path.read_bytes())
        path.unlink()
        if not content:
            return  # it was truncated before
        if how == "flip":
            content[place * 7919 % len(content)] ^= 1 << place % 8
        else:
            del content[place % len(content):]
        if how != "remove":
            path.write_bytes(content)
        if kind == "snapshots":
            self.expected.pop(path.name, None)  # nothing else tells what it had
        self.count(f"{how} {kind}")

    @rule()
    def check(self):
        """Finds nothing in a store that was not damaged, and names every file that is lost in another."""
        lost = self.lost_files()
        for snapshot, facts in self.expected.items():
            named = self.restore_and_compare(snapshot, facts)
            self.test.assertEqual({path for path in named if not self.is_below(path, lost.get(snapshot[:16], ()))}, set())
        self.count("check with damage" if self.is_damaged else "check")

    @rule(which=ANY)
    def restore(self, which):
        if self.expected:
            snapshot = sorted(self.expected)[which % len(self.expected)]
            self.restore_and_compare(snapshot, self.expected[snapshot])
            self.count("restore")

    @rule()
    def repair(self):
        """Leaves a clean store in which every file that was whole is in its snapshot, or in the one that replaces it."""
        lost = self.lost_files()
        for lease in (self.store / "leases").iterdir():
            lease.unlink()  # as a repair asks for, of backups that were killed
        run = self.test.run_store("repair")
        self.test.assertEqual(run.code, 0, run)
        replaced = dict(re.findall(r"snapshot ([0-9a-f]{16}) is replaced by ([0-9a-f]{16})", run.stderr))
        self.is_damaged = False
        self.lost_files()
        ids = {path.name[:16]: path.name for path in (self.store / "snapshots").iterdir()}
        before, self.expected = self.expected, {}
        for snapshot, facts in before.items():
            new = ids[replaced.get(snapshot[:16], snapshot[:16])]
            left = {name: each for name, each in facts.items() if not self.is_below(name, lost.get(snapshot[:16], ()))}
            # An empty tree can lose no more than the folders above it.
            has_losses = len(left) < len(facts) or (not facts and snapshot[:16] in lost)
            self.test.assertTrue(new == snapshot or has_losses, ("a whole snapshot was replaced", lost, facts, run))
            self.expect(new, self.restored(new)[1])
            self.test.assertEqual({name: self.expected[new].get(name) for name in left}, left, run)
            self.count("repair with losses" if new != snapshot else "repair")

    # --- what is found --------------------------------------------------------------------------------------------------

    def lost_files(self) -> dict:
        """What a check names as lost: relative paths by the begin of a snapshot's id."""
        run = self.test.run_store("check", "--read-data")
        if not self.is_damaged:
            self.test.assert_done(run)
        self.test.assertEqual("no damage" in run.stdout, run.code == 0, run)
        lost: dict = {}
        for snapshot, path in re.findall(r"^cutpoint: (?:error: )?([0-9a-f]{16}):(/[^:]*): ", run.stderr, re.MULTILINE):
            lost.setdefault(snapshot, set()).add(self.relative(path))
        return lost

    def relative(self, path: str) -> str:
        """A path below the tree, or an empty one for a folder above it, whose loss is the loss of all."""
        tree = f"{self.tree}/"
        return path[len(tree):] if path.startswith(tree) else ""

    def is_below(self, name: str, lost) -> bool:
        return any(name == each or each == "" or (each.endswith("/") and name.startswith(each)) for each in lost)

    def restored(self, snapshot: str):
        shutil.rmtree(self.test.folder / "out", ignore_errors=True)
        run = self.test.run_store("restore", f"{snapshot}:{self.tree}", "--target", "out")
        return run, facts_of(self.test.folder / "out") if (self.test.folder / "out").exists() else {}

    def restore_and_compare(self, snapshot: str, facts: dict) -> set:
        """Returns the names that did not come back, all of which the restore has named."""
        run, restored = self.restored(snapshot)
        wrong = {name for name, each in facts.items() if restored.get(name) != each}
        if not wrong:
            return set()
        self.test.assertTrue(self.is_damaged and run.code == 1, (run, {name: (facts[name], restored.get(name)) for name in wrong}))
        named = {self.relative(path) for path in re.findall(r"(/[^:]*): ", run.stderr)}
        if not restored:
            named.add("")  # no folder above the tree can be read, and the message says so
        self.test.assertEqual({name for name in wrong if not self.is_below(name, named)}, set(), run)
        return wrong


class Histories(unittest.TestCase):
    def test_no_history_loses_what_was_committed(self):
        self.assertTrue(os.path.exists(BINARY))
        checks = (HealthCheck.too_slow, HealthCheck.data_too_large)
        History.played = {}
        run_state_machine_as_test(
            History,
            settings=settings(
                max_examples=HISTORIES, stateful_step_count=STEPS, deadline=None, database=None, print_blob=True,
                suppress_health_check=checks, derandomize="CUTPOINT_HISTORIES" not in os.environ,
            ),
        )
        print(", ".join(f"{count} {what}" for what, count in sorted(History.played.items())))
        self.assertGreater(History.played.get("backup", 0), 0)
