"""Commands on a store that are interrupted say what stands, and it does."""

from command import INTERRUPTED, needs_faulty_reads, with_faulty_reads
from stores import StoreTest
from streams import random_bytes


@needs_faulty_reads
class Interrupts(StoreTest):
    settings = ("--encryption", "none", "--container-size", "1M")

    def setUp(self):
        super().setUp()
        for number in range(4):
            self.write(f"data/{number}", random_bytes(1_000_000, number))
            self.backup()

    def assert_interrupted(self, told: str, *words, shown: str = ""):
        """Ctrl-C comes at the command's first read of an object of the store since it can be interrupted."""
        run = self.run_command(*words, env=with_faulty_reads(CUTPOINT_STORE="store", CUTPOINT_INTERRUPT_SUFFIX=""))
        self.assertEqual((run.code, run.stderr), (INTERRUPTED, f"cutpoint: error: interrupted: {told}\n"), run)
        self.assertRegex(run.stdout, rf"\A{shown}\Z")
        self.assert_whole()

    def test_restore(self):
        self.assert_interrupted("nothing was changed", "restore", "latest", "--target", "out", "--dry-run")
        told = "what was restored stays; the same command with --overwrite restores the rest"
        self.assert_interrupted(told, "restore", "latest", "--target", "out")
        self.store("restore", "latest", "--target", "out", "--overwrite")

    def test_check(self):
        self.assert_interrupted("nothing was changed, and the rest was not checked", "check", "--read-data")

    def test_repair(self):
        self.assert_interrupted("what was saved stays; another repair does the rest", "repair")

    def test_prune(self):
        self.assert_interrupted("all snapshots are whole; the next prune goes on", "prune")
        self.assertEqual(len(self.snapshots()), 4)

    def test_forget(self):
        told = "a part of these snapshots was removed; 'snapshots' shows the others"
        self.assert_interrupted(told, "forget", "latest", shown=r"  remove  .*\n")
        self.assertIn(len(self.snapshots()), (3, 4))

    def test_copy(self):
        self.run_command("init", "--store", "copies", "--encryption", "none")
        told = "the copies that were printed stand; the next copy goes on"
        self.assert_interrupted(told, "copy", "--from-store", "store", "--store", "copies")
        self.assert_done(self.run_command("check", "--store", "copies"))

    def test_rewrite(self):
        told = "the new ids that were printed stand; the other snapshots are as they were"
        self.assert_interrupted(told, "rewrite", "--exclude", "3")
        self.assertEqual(len(self.snapshots()), 4)
