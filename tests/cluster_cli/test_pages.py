"""The pages and completions of `cutpoint-cluster` have what its own help has."""

import os
import re
import subprocess
import unittest
from pathlib import Path

from traces import BINARY, run_command

PAGES = Path(BINARY).parent / "pages"
POLICIES = ["app-aware", "app-dedupe", "calb", "dht", "emc-stateful", "emc-stateless", "extreme-binning", "produck", "sigma-dedupe"]


def subcommands() -> list[str]:
    return re.findall(r"^  (\w+) ", run_command("--help").stdout.split("Subcommands:\n")[1], re.MULTILINE)


def options(text: str) -> list[str]:
    return sorted(set(re.findall(r"(?<![\w-])--?\w[\w-]*", text)))


def options_of_help(command: str) -> list[str]:
    lines = [line.strip() for line in run_command(command, "--help").stdout.splitlines() if line.startswith("  -")]
    return options(" ".join(re.split(r"\s{2,}", line)[0] for line in lines))


def completed(*words: str) -> list[str]:
    script = (
        f"source {PAGES}/cutpoint-cluster.bash; [[ $(complete -p cutpoint-cluster) == *_cutpoint_cluster* ]] || exit 9\n"
        'COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _cutpoint_cluster; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "--norc", "-c", script, "bash", *words], capture_output=True, text=True, check=True, env={"PATH": os.environ["PATH"]})
    return sorted(done.stdout.split())


class Pages(unittest.TestCase):
    def test_options_of_the_manual_are_those_of_help(self):
        self.assertEqual(sorted(subcommands()), ["evolve", "simulate", "trace"])
        for command in subcommands():
            page = (PAGES / f"cutpoint-cluster-{command}.1").read_text().replace("\\fB", "").replace("\\fR", "").replace("\\-", "-")
            headings = re.findall(r"^\.TP\n(-.*)", page, re.MULTILINE)
            self.assertEqual(options(" ".join(headings)), options_of_help(command), command)
            self.assertIn(f"cutpoint-cluster-{command}(1)", (PAGES / "cutpoint-cluster.1").read_text().replace("\\fR", "").replace("\\-", "-"))

    def test_bash_completes_commands_options_and_names(self):
        self.assertEqual(completed("cutpoint-cluster", ""), sorted([*subcommands(), "-h", "--help", "--version"]))
        for command in subcommands():
            self.assertEqual(completed("cutpoint-cluster", command, "-"), options_of_help(command))
        self.assertEqual(completed("cutpoint-cluster", "simulate", "--policy", ""), POLICIES)
        self.assertEqual(completed("cutpoint-cluster", "simulate", "--deduplication", ""), ["containers", "exact", "none"])
        self.assertIn("test_pages.py", completed("cutpoint-cluster", "simulate", "test_"))

    def test_the_other_shells_have_the_name_of_the_program(self):
        for shell, mark in (("zsh", "#compdef cutpoint-cluster\n"), ("fish", "complete -c cutpoint-cluster -f\n")):
            text = (PAGES / f"cutpoint-cluster.{shell}").read_text()
            self.assertIn(mark, text)
            self.assertNotIn("@program@", text)
