"""bench/peers/stores.py with Cutpoint alone and with a store that loses a file."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
COMMAND = os.environ.get("CUTPOINT_BIN") or str(ROOT / "build/release/cli/cutpoint")
LOSES_A_FILE = """#!/bin/bash
"$CUTPOINT" "$@" || exit
if [[ $1 == restore ]]; then rm "${@: -1}"/*/*/data/a; fi
"""


class BenchStores(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "data").mkdir()
        (self.folder / "bin").mkdir()  # without the peers that the machine may have
        for program in ("diff", "rm"):
            (self.folder / "bin" / program).symlink_to(shutil.which(program))
        (self.folder / "data/a").write_bytes(os.urandom(100_000))
        (self.folder / "data/b").write_bytes(bytes(100_000))

    def run_bench(self, command: str):
        words = [sys.executable, "-B", ROOT / "bench/peers/stores.py", "--command", command, "--rounds", "1", self.folder / "data"]
        environment = {**os.environ, "PATH": str(self.folder / "bin"), "CUTPOINT": COMMAND, "TMPDIR": str(self.folder)}
        return subprocess.run(words, env=environment, capture_output=True, text=True)

    def test_every_step_has_figures(self):
        done = self.run_bench(COMMAND)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("bench-stores: rustic is skipped: it is not on PATH", done.stderr)
        for step in ("first backup", "unchanged", "again, all read", "restore", "check, all data", "stored, MiB"):
            self.assertIn(f"| {step} | ", done.stdout)

    def test_what_is_restored_is_compared(self):
        broken = self.folder / "broken"
        broken.write_text(LOSES_A_FILE)
        broken.chmod(0o755)
        done = self.run_bench(str(broken))
        self.assertEqual(done.returncode, 1)
        self.assertIn("what cutpoint restored differs", done.stderr)


if __name__ == "__main__":
    unittest.main()
