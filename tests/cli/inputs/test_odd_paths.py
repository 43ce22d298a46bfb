"""What stands for a path is that path, letter by letter, and is told on one line."""

from command import CommandTest
from listings import ListingTest


class OddPaths(ListingTest):
    def test_are_themselves(self):
        """Also those that a parser might take for lists, options or commands."""
        names = [
            "[a,b]", "[a]", "[", "[a", "a]", "[]", "a", "++", "+", "./++", "list",
            "{}", "{a,b}", "%%", "*", "?", "$HOME", "~", '"a"', "'a'", "`a`", "a=b", "a:b", "@a", "\\", "\\n",
        ]  # fmt: skip
        for name in names:
            self.write(name)
            self.assertEqual(self.paths(name), [name])
        self.assertEqual(self.paths(*names), names)

    def test_that_begin_with_a_dash_come_after_two_dashes(self):
        for name in ("-dash", "--format", "-q", "--", "a"):
            self.write(name)
        self.assertEqual(self.paths("a", "--", "-dash", "--format", "-q", "--"), ["a", "-dash", "--format", "-q", "--"])
        self.assertEqual(self.paths("./-dash"), ["./-dash"])

    def test_in_messages_stay_on_one_line(self):
        for name in ("", "line\nfeed", "escape\x1b[31m", "carriage\rreturn"):
            run = self.run_command("chunk", name)
            self.assert_failed(run, "No such file or directory")
            self.assertNotRegex(run.stderr.removesuffix("\n"), r"[\x00-\x1f]")


class ControlCharacters(CommandTest):
    """A name cannot act on the terminal that shows it."""

    SHOWN = {
        "csi \x9b": "csi \\xc2\\x9b",
        "latin-1 csi \udc9b": "latin-1 csi \\x9b",
        "override \u202e": "override \\xe2\\x80\\xae",
        "isolate \u2066": "isolate \\xe2\\x81\\xa6",
        "mark \u200f": "mark \\xe2\\x80\\x8f",
        "arabic mark \u061c": "arabic mark \\xd8\\x9c",
        "straße … €": "straße … €",
        "latin-1 \udce9t\udce9": "latin-1 \udce9t\udce9",
    }

    def test_of_terminals_are_escaped_in_text_and_messages(self):
        for name in self.SHOWN:
            self.write(f"tree/{name}")
        run = self.run_command("chunk", "tree", *(f"tree/{name}.missing" for name in self.SHOWN))
        for shown in self.SHOWN.values():
            self.assertIn(f" tree/{shown}\n", run.stdout)
            self.assertIn(f"tree/{shown}.missing: ", run.stderr)
