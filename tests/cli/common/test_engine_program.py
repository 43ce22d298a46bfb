"""`cutpoint-engine` is `cutpoint` without the commands on a store: the same help, listings and reports."""

import os
import subprocess
from pathlib import Path

from command import BINARY, DONE, PATIENCE, WRONG_USAGE, CommandTest, subcommands

ENGINE = os.environ.get("CUTPOINT_ENGINE") or str(Path(BINARY).with_name("cutpoint-engine"))


class EngineProgram(CommandTest):
    def run_engine(self, *arguments):
        return subprocess.run([ENGINE, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE, check=False)

    def test_it_has_the_first_commands_with_the_same_help(self):
        commands = subcommands(ENGINE)
        self.assertIn("dedup", commands)
        self.assertEqual(commands, subcommands()[: len(commands)])
        for command in commands:
            with self.subTest(command=command):
                self.assertEqual(self.run_engine(command, "--help").stdout, self.run_command(command, "--help").stdout)

    def test_it_lists_and_counts_the_same(self):
        self.write("some", os.urandom(100_000) * 3)
        self.assertEqual(self.run_engine("chunk", "some").stdout, self.run_command("chunk", "some").stdout)
        run = self.run_engine("dedup", "some")
        self.assertEqual(run.returncode, DONE, run.stderr)
        self.assertEqual(run.stdout.split("\n")[:4], self.run_command("dedup", "some").lines[:4])

    def test_it_refuses_a_command_on_a_store(self):
        run = self.run_engine("backup")
        self.assertEqual((run.returncode, run.stdout), (WRONG_USAGE, ""))
        self.assertIn("'backup'", run.stderr)
