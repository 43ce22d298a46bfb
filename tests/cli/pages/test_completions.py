"""What bash, zsh and fish complete after `cutpoint`, in the shells themselves: keys typed on a terminal, and the line after them."""

import os
import pty
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from catalog import entries, option_of
from command import BINARY, PATIENCE, CommandTest, subcommands, wait_until

PAGES = Path(BINARY).parent / "pages"
COMMANDS = sorted(subcommands())


class Completion(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("some file")
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in ("BASH_ENV", "ENV", "ZDOTDIR")},
            "HOME": str(self.folder), "TERM": "dumb", "PATH": f"{Path(BINARY).parent}:{os.environ['PATH']}",
        }  # fmt: skip

    def run_program(self, *words) -> str:
        done = subprocess.run(
            words, capture_output=True, text=True, cwd=self.folder, env=self.environment, timeout=PATIENCE
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def start_shell(self, words, setup: str):
        """A shell on a terminal of its own, when it has done `setup`."""
        child, self.terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execvpe(words[0], words, self.environment)
        self.addCleanup(os.waitpid, child, 0)
        self.addCleanup(os.close, self.terminal)
        os.write(self.terminal, f"{setup}\n: > ready\n".encode())
        wait_until((self.folder / "ready").exists, f"{words[0]} has begun")

    def typed(self, line: str) -> str:
        """What the line is after the keys of `line`, a Tab, and one that writes the line to a file."""
        shown = self.folder / "line"
        shown.unlink(missing_ok=True)
        # first all that is on the line goes
        os.write(self.terminal, b"\x15" + line.encode() + b"\t\x18s")
        wait_until(lambda: shown.exists() and shown.read_text().endswith("\n"), f"the line after {line!r}")
        return shown.read_text()[:-1]

    def assert_typed(self):
        """As bash and zsh do."""
        for line, expected in (
            ("cutpoint ded", "cutpoint dedup "),
            ("cutpoint chunk --backend sc", "cutpoint chunk --backend scalar "),
            ("cutpoint chunk --algorithm seqcdc-i", "cutpoint chunk --algorithm seqcdc-inc "),
            ("cutpoint bench --hash bl", "cutpoint bench --hash blake3 "),
            ("cutpoint list fastcdc2", "cutpoint list fastcdc2020 "),
            ("cutpoint chunk --input ur", "cutpoint chunk --input uring "),
            ("cutpoint chunk -q so", "cutpoint chunk -q some\\ file "),
            ("cutpoint dedup --trace so", "cutpoint dedup --trace some\\ file "),
            ("cutpoint chunk --size so", "cutpoint chunk --size so"),
            ("cutpoint chunk --param half", "cutpoint chunk --param half_window="),
        ):
            with self.subTest(line=line):
                self.assertEqual(self.typed(line), expected)


class Bash(Completion):
    def completed(self, *words) -> list[str]:
        script = (
            f"source {PAGES}/cutpoint.bash; [[ $(complete -p cutpoint) == *_cutpoint* ]] || exit 9\n"
            'COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _cutpoint; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = self.run_program("bash", "--norc", "-c", script, "bash", *words)
        return sorted(done.split("\n")[:-1]) if done != "\n" else []

    def options_of(self, command: str) -> list[str]:
        shown = self.run_command(command, "--help").lines
        heads = [re.split(r"\s{2,}", line.strip())[0] for line in shown if line.startswith("  -")]
        return sorted(word for head in heads for word in re.findall(r"(?<![\w-])--?\w[\w-]*", head))

    def test_commands(self):
        self.assertEqual(self.completed("cutpoint", ""), sorted([*COMMANDS, "-h", "--help", "--version"]))

    def test_all_options_of_each_command(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                self.assertEqual(self.completed("cutpoint", command, "-"), self.options_of(command))

    def test_names_are_those_that_the_command_takes(self):
        for option in ("--algorithm", "--profile", "--hash", "--backend", "--join", "--input", "--format"):
            names = self.completed("cutpoint", "chunk", option, "")
            with self.subTest(option=option):
                self.assertGreater(len(names), 2)
                if option in ("--algorithm", "--profile"):  # refused with those of both
                    choice = {entry["name"] for entry in entries() if option_of(entry["name"]) == option}
                else:
                    told = self.run_command("chunk", option, "zzzzzzzzzzzz", "a").stderr
                    choice = set(re.split(r", | and ", re.search(r"no [\w ]+ 'z+'; there are (.*)", told)[1]))
                self.assertEqual(set(names), choice)

    def test_after_an_equals_sign(self):
        self.assertEqual(self.completed("cutpoint", "tune", "--goal", "="), ["balanced", "savings", "speed", "store"])
        self.assertEqual(self.completed("cutpoint", "chunk", "--join", "="), ["exact", "none", "pdedupe"])
        self.assertEqual(self.completed("cutpoint", "chunk", "--join", "=", "p"), ["pdedupe"])
        self.assertEqual(self.completed("cutpoint", "chunk", "--param", "min_bytes", "=", "4"), [])
        self.assertEqual(self.completed("cutpoint", "chunk", "--", "-"), [])  # after a double dash are paths
        self.assertEqual(self.completed("cutpoint", "chunk", "--format", "--", "so"), ["some file"])

    def test_on_a_terminal(self):
        show = '"\\C-xs": printf "%s\\n" "$READLINE_LINE" > line'
        self.start_shell(["bash", "--norc", "--noprofile", "-i"], f"source {PAGES}/cutpoint.bash; bind -x '{show}'")
        self.assert_typed()
        self.assertEqual(self.typed("cutpoint chunk --backend=sc"), "cutpoint chunk --backend=scalar ")


@unittest.skipUnless(shutil.which("zsh"), "needs zsh")
class Zsh(Completion):
    def setUp(self):
        super().setUp()
        functions = self.folder / "functions"
        functions.mkdir()
        shutil.copy(PAGES / "cutpoint.zsh", functions / "_cutpoint")
        show = 'show() { print -r -- "$BUFFER" > line }; zle -N show; bindkey -e; bindkey "^Xs" show'
        self.start_shell(
            ["zsh", "-f", "-i"], f"fpath=({functions} $fpath); autoload -U compinit; compinit -u -D; {show}"
        )

    def test_on_a_terminal(self):
        self.assert_typed()

    def test_options_come_with_an_equals_sign_unless_they_are_excluded(self):
        for line, expected in (
            ("cutpoint chunk --backe", "cutpoint chunk --backend="),
            ("cutpoint chunk --backend=sc", "cutpoint chunk --backend=scalar "),
            ("cutpoint chunk --algorithm ram --prof", "cutpoint chunk --algorithm ram --prof"),
            ("cutpoint chunk --prof", "cutpoint chunk --profile="),
            ("cutpoint chunk --param seed=1 --para", "cutpoint chunk --param seed=1 --param="),
        ):
            self.assertEqual(self.typed(line), expected)


@unittest.skipUnless(shutil.which("fish"), "needs fish")
class Fish(Completion):
    def completed(self, line: str) -> list[str]:
        shown = self.run_program("fish", "--no-config", "-c", f'source {PAGES}/cutpoint.fish; complete -C "{line}"')
        return sorted(each.split("\t")[0] for each in shown.splitlines())

    def test_commands_options_names_and_files(self):
        for line, expected in (
            ("cutpoint ", COMMANDS),
            ("cutpoint dedup --ba", ["--backend", "--batch"]),
            ("cutpoint bench --ba", ["--backend"]),
            ("cutpoint bench --format ", ["csv", "json", "markdown", "text"]),
            ("cutpoint chunk --join ", ["exact", "none", "pdedupe"]),
            ("cutpoint chunk --join=p", ["--join=pdedupe"]),
            ("cutpoint list fastcdc2", ["fastcdc2020"]),
            ("cutpoint chunk --param half", ["half_window="]),
            ("cutpoint chunk so", ["some file"]),
            ("cutpoint chunk -o so", ["some file"]),
            ("cutpoint chunk --size so", []),
        ):
            self.assertEqual(self.completed(line), expected, line)
