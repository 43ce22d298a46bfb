"""A backup that is suspended for longer than its lease commits only if what it refers to is still there."""

import os
import signal
import subprocess

from command import PATIENCE, wait_until
from stores import StoreTest
from streams import random_bytes

CONTENT = random_bytes(3_000_000, 1)  # more than a container


class Suspended(StoreTest):
    settings = ("--encryption", "none", "--container-size", "1M")

    def back_up_while(self, others_act):
        """A backup that is stopped when it has written a container. Others take it for dead, and act."""
        process = self.start("backup", "-", "--store", "store", stdin=subprocess.PIPE)
        process.stdin.write(CONTENT)
        process.stdin.flush()
        wait_until(lambda: self.objects("containers"), "a container")
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        self.store("sessions", "--end", self.objects("leases")[0].name.split(".")[0])
        others_act()
        process.send_signal(signal.SIGCONT)
        stdout, stderr = process.communicate(b"more", timeout=PATIENCE)
        return process.returncode, stdout.decode().strip(), stderr.decode()

    def test_a_backup_goes_on_if_nothing_was_removed(self):
        code, snapshot, stderr = self.back_up_while(lambda: None)
        self.assertEqual((code, len(snapshot), stderr), (0, 64, ""))
        self.assertEqual(self.run_store("dump", f"{snapshot}:/stdin").bytes, CONTENT + b"more")
        left = [*self.objects("leases"), *self.objects("temporary")]
        self.assertEqual([path for path in left if not path.name.startswith("reserve-")], [])
        self.assert_whole()

    def test_a_backup_names_what_was_removed(self):
        code, snapshot, stderr = self.back_up_while(lambda: self.store("prune"))
        self.assertEqual((code, snapshot), (1, ""), stderr)
        self.assertIn("nothing was committed", stderr)
        self.assertIn("/stdin: the record ", stderr)
        self.assertEqual((self.objects("snapshots"), self.objects("leases")), ([], []))
        self.store("backup", "-", content=CONTENT)
        self.assertEqual(self.run_store("dump", "latest:/stdin").bytes, CONTENT)
