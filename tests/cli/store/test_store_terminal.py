"""On a terminal commands show what they are doing and end with a summary; elsewhere their output stays as it is."""

import json
import os
import pty
import re

from command import PATIENCE, CommandTest
from streams import random_bytes


class Terminal(CommandTest):
    def setUp(self):
        super().setUp()
        for store in ("store", "other"):
            self.assert_done(self.run_command("init", "--store", store, "--encryption", "none"))
        for i in range(30):
            self.write(f"data/file{i}", random_bytes(200_000, i))
        self.snapshot = self.run_command("backup", "data", "--store", "store").stdout.strip()

    def on_terminal(self, *words) -> tuple[str, str]:
        """Runs a command whose standard error is a terminal. Returns what it wrote to standard output and to the terminal."""
        ours, theirs = pty.openpty()
        process = self.start(*words, stderr=theirs, env={**os.environ, "TERM": "xterm"})
        os.close(theirs)
        shown = b""
        try:
            while block := os.read(ours, 65536):
                shown += block
        except OSError:  # the terminal's other end is closed
            pass
        os.close(ours)
        stdout, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, shown)
        return stdout.decode(), shown.decode()

    def test_each_command_ends_with_a_summary(self):
        for words, summary in (
            (("restore", "latest", "--target", "out", "--store", "store"), "done in "),
            (("check", "--read-data", "--store", "store"), "done in "),
            (("copy", "--from-store", "store", "--store", "other"), "1 snapshots copied, 0 were there before, .* new, .* stored in "),
            (("prune", "--store", "store"), "done in "),
        ):
            stdout, shown = self.on_terminal(*words)
            self.assertRegex(shown.splitlines()[-1], f"cutpoint: {summary}", words)
            self.assertNotIn("\x1b", stdout)
            again = self.run_command(*words, *(("--overwrite",) if words[0] == "restore" else ()))
            self.assertEqual((again.code, again.stderr), (0, ""), words)

    def test_long_commands_show_a_line(self):
        with open(self.write("data/huge", b""), "r+b") as file:
            for i in range(200):
                file.seek(i << 20)
                file.write(random_bytes(1 << 20, 1000 + i))
        self.assert_done(self.run_command("backup", "data", "--store", "store"))
        _, shown = self.on_terminal("restore", "latest", "--target", "out", "--store", "store")
        lines = re.findall(r"\r\x1b\[Krestoring files: (\d+) %, \S+ left, \S+ \S+B/s, (\d+) of 31, ", shown)
        if not lines:
            self.skipTest("this machine is too fast")
        shares = [int(share) for share, _ in lines]
        self.assertEqual(shares, sorted(shares))

    def test_names_that_are_not_utf8_have_their_bytes_in_json(self):
        name = os.fsencode(self.folder) + b"/data/latin-\xe9"
        run = self.run_command("backup", "--json", name + b"/absent", name, "--store", "store")
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        error = next(line for line in lines if line["message_type"] == "error")
        self.assertEqual(bytes.fromhex(error["item_hex"]), name)
        os.mkdir(name)
        run = self.run_command("backup", "--json", name, "--store", "store")
        self.assert_done(run)
        self.assertEqual([bytes.fromhex(path) for path in json.loads(run.stdout.splitlines()[-1])["paths_hex"]], [name])
        listed = json.loads(self.run_command("snapshots", "--json", "--latest", "1", "--store", "store").stdout.splitlines()[-1])
        self.assertEqual([bytes.fromhex(path) for path in listed["paths_hex"]], [name])
