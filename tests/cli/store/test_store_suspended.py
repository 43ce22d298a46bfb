"""A backup that is suspended for longer than its lease commits only if what it refers to is still there."""

import os
import signal
import subprocess
import time
from pathlib import Path

from command import PATIENCE, CommandTest
from streams import random_bytes

CONTENT = random_bytes(48 << 20, 1)  # more than a container


class Suspended(CommandTest):
    def setUp(self):
        super().setUp()
        self.assert_done(self.run_command("init", "--store", "store", "--encryption", "none"))

    def until(self, holds):
        end = time.monotonic() + PATIENCE
        while not holds():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def below(self, kind: str) -> list[Path]:
        return [path for path in (self.folder / "store" / kind).rglob("*") if path.is_file()]

    def back_up_while(self, others_act):
        """A backup that is stopped when it has written a container. Others take it for dead, and act."""
        process = self.start("backup", "-", "--store", "store", stdin=subprocess.PIPE)
        process.stdin.write(CONTENT)
        process.stdin.flush()
        self.until(lambda: self.below("containers"))
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        session = self.below("leases")[0].name.split(".")[0]
        self.assert_done(self.run_command("sessions", "--end", session, "--store", "store"))
        others_act()
        process.send_signal(signal.SIGCONT)
        stdout, stderr = process.communicate(b"more", timeout=PATIENCE)
        return process.returncode, stdout.decode().strip(), stderr.decode()

    def test_a_backup_goes_on_if_nothing_was_removed(self):
        code, snapshot, stderr = self.back_up_while(lambda: None)
        self.assertEqual((code, len(snapshot), stderr), (0, 64, ""))
        self.assertEqual(self.run_command("dump", f"{snapshot}:/stdin", "--store", "store").bytes, CONTENT + b"more")
        left = [path for path in (*self.below("leases"), *self.below("temporary")) if not path.name.startswith("reserve-")]
        self.assertEqual(left, [])
        self.assertIn("no damage", self.run_command("check", "--read-data", "--store", "store").stdout)

    def test_a_backup_names_what_was_removed(self):
        code, snapshot, stderr = self.back_up_while(lambda: self.assert_done(self.run_command("prune", "--store", "store")))
        self.assertEqual((code, snapshot), (1, ""), stderr)
        self.assertIn("nothing was committed", stderr)
        self.assertIn("/stdin: the record ", stderr)
        self.assertEqual((self.below("snapshots"), self.below("leases")), ([], []))
        self.assert_done(self.run_command("backup", "-", "--store", "store", content=CONTENT))
        self.assertEqual(self.run_command("dump", "latest:/stdin", "--store", "store").bytes, CONTENT)
