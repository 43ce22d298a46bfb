"""The pages for man have what the command's own help has, and are well formed."""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from command import BINARY, DONE, CommandTest, subcommands

PAGES = Path(BINARY).parent / "pages"
PAGES_OF_C = Path(BINARY).parents[1] / "bindings" / "c"
HEADERS = [Path(__file__).resolve().parents[3] / "bindings/c/include/cutpoint" / name for name in ("cutpoint.h", "cutpoint_cuda.h", "cutpoint_store.h")]
COMMANDS = subcommands()


def plain(text: str) -> str:
    """Without the fonts and escapes of troff."""
    return re.sub(r"\\f[BIR]", "", text).replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")


def headings(page: str) -> list[str]:
    """Returns the heading above each paragraph of the options section."""
    options = re.search(r"^\.S[HS] \"?OPTIONS\"?\n(.*?)^\.S[HS]", page, re.DOTALL | re.MULTILINE | re.IGNORECASE)
    return [plain(line) for line in re.findall(r"^\.TP\n(.*)", options[1], re.MULTILINE)]


def words_in(heading: str) -> list[str]:
    return re.findall(r"(?<![\w-])--?\w[\w-]*", heading)


class Pages(CommandTest):
    def page(self, command: str = "") -> str:
        return (PAGES / f"cutpoint{command and '-' + command}.1").read_text()

    def test_options_are_those_of_the_command(self):
        for command in ("", *COMMANDS):
            with self.subTest(command=command):
                run = self.run_command(*filter(None, [command]), "--help")
                self.assertEqual(run.code, DONE, run)
                shown = [line.strip() for line in run.lines if re.match(r"  -", line)]
                expected = [words_in(re.split(r"\s{2,}", line)[0]) for line in shown]
                told = [words_in(heading) for heading in headings(self.page(command)) if heading.startswith("-")]
                self.assertEqual([sorted(words) for words in told], [sorted(words) for words in expected])

    def test_defaults_are_those_of_the_command(self):
        for command in COMMANDS:
            shown = re.findall(r"^  \S.*?(--[\w-]+)\s\S+ \[(\w+)\]", self.run_command(command, "--help").stdout, re.MULTILINE)
            page = plain(self.page(command))
            for option, value in shown:
                with self.subTest(command=command, option=option):
                    self.assertRegex(page, rf"(?m)^\.TP\n.*{option} \S+\n.*\nThe default is {re.escape(value)}\.$")
            self.assertIn(f"cutpoint-{command}(1)", plain(self.page()))
        self.assertIn("The default is auto.", plain(self.page("chunk")))

    def test_every_page_has_exit_codes_and_refers_to_documents(self):
        for command in ("", *COMMANDS):
            with self.subTest(command=command):
                description, codes = self.page(command).partition(".SH DESCRIPTION\n")[2].split(".SH EXIT STATUS\n")
                self.assertRegex(description, r"\A\w")
                told = [int(code) for code in re.findall(r"^\.TP\n\.B (\d+)\n[A-Z]", codes, re.MULTILINE)]
                self.assertIn(told, ([0, 1, 2], [0, 1, 2, 130]))
                self.assertRegex(plain(codes), r"\.SH SEE ALSO\n[^.]*\w+\.md")

    def test_every_function_of_the_headers_is_told(self):
        functions = [re.findall(r"^CUTPOINT_API [^;]*?(cutpoint_\w+)\(", header.read_text(), re.MULTILINE) for header in HEADERS]
        self.assertGreater(min(map(len, functions)), 5)
        page = (PAGES_OF_C / "libcutpoint.3").read_text()
        self.assertEqual(re.findall(r"^\.HP\n[^;]*?(cutpoint_\w+)\([^;]*;$", page, re.MULTILINE), sum(functions, []))


class Checked(unittest.TestCase):
    def check(self, *words):
        """What a program makes of each page, which it must find nothing wrong with."""
        pages = sorted(PAGES.glob("*.1")) + [PAGES_OF_C / "libcutpoint.3"]
        self.assertEqual(len(pages), len(COMMANDS) + 2)
        for page in pages:
            with self.subTest(page=page.name):
                done = subprocess.run([*words, page], capture_output=True, text=True, env={**os.environ, "MANWIDTH": "100"})
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                yield done.stdout


@unittest.skipUnless(shutil.which("man") and shutil.which("troff"), "needs man and groff")
class Man(Checked):
    def test_shows_them_without_warnings(self):
        for shown in self.check("man", "--warnings", "-l"):
            self.assertIn("SYNOPSIS", shown)


@unittest.skipUnless(shutil.which("mandoc"), "needs mandoc")
class Mandoc(Checked):
    def test_finds_nothing_wrong(self):
        for told in self.check("mandoc", "-Tlint", "-Wwarning"):
            self.assertEqual(told, "")
