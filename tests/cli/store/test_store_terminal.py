"""On a terminal commands show what they are doing and end with a summary; elsewhere their output stays as it is."""

import re

from stores import StoreTest
from streams import MIB, random_bytes
from terminals import TerminalTest


class Terminal(StoreTest, TerminalTest):
    def test_each_command_ends_with_a_summary(self):
        self.assert_done(self.run_command("init", "--store", "other", "--encryption", "none"))
        for i in range(30):
            self.write(f"data/file{i}", random_bytes(2000, i))
        self.backup()
        for words, summary in (
            (("restore", "latest", "--target", "out", "--store", "store"), "done in "),
            (("check", "--read-data", "--store", "store"), "done in "),
            (("copy", "--from-store", "store", "--store", "other"), "1 snapshot copied, 0 there before, .* new, .* stored in "),
            (("prune", "--store", "store"), "done in "),
        ):
            stdout, shown = self.on_terminal(*words)
            self.assertRegex(shown.splitlines()[-1], f"cutpoint: {summary}", words)
            self.assertNotIn("\x1b", stdout)
            self.assert_done(self.run_command(*words, *(("--overwrite",) if words[0] == "restore" else ())))

    def test_long_commands_show_a_line(self):
        with self.write("data/huge", b"").open("wb") as file:
            for seed in range(64):
                file.write(random_bytes(MIB, seed))
        self.backup()
        _, shown = self.on_terminal("restore", "latest", "--target", "out", "--store", "store")
        shares = [int(share) for share in re.findall(r"\r\x1b\[Krestoring files: (\d+) %, \S+ left, \S+ \S+B/s, \d of 1, ", shown)]
        if not shares:
            self.skipTest("this machine is too fast")
        self.assertEqual(shares, sorted(shares))
