"""What stands for a path is that path, letter by letter, and is told on one line."""


from command import DONE, CommandTest
from listings import read_jsonl


class OddPaths(CommandTest):
    def paths(self, *arguments):
        run = self.run_command("chunk", "--hash", "none", "--format", "jsonl", *arguments)
        self.assertEqual(run.code, DONE, run)
        return [row.path for row in read_jsonl(run.stdout).rows]

    def test_in_brackets_are_one_path(self):
        for name in ("[a,b]", "[a]", "[", "[a", "a]", "[]", "a", "b"):
            self.write(name)
            with self.subTest(path=name):
                self.assertEqual(self.paths(name), [name])

    def test_that_a_parser_might_take_for_its_own_are_paths(self):
        for name in ("++", "+", "./++", "list", "--", "-h"):
            self.write(name)
            with self.subTest(path=name):
                self.assertEqual(self.paths(*(("--", name) if name.startswith("-") else (name,))), [name])

    def test_of_braces_quotes_and_patterns_are_themselves(self):
        for name in ("{}", "{a,b}", "%%", "*", "?", "$HOME", "~", '"a"', "'a'", "`a`", "a=b", "a:b", "@a", "\\", "\\n"):
            self.write(name)
            self.assertEqual(self.paths(name), [name])

    def test_that_begin_with_a_dash_come_after_two_dashes(self):
        for name in ("-dash", "--format", "-q"):
            self.write(name)
        self.assertEqual(self.paths("--", "-dash", "--format", "-q"), ["-dash", "--format", "-q"])
        self.assertEqual(self.paths("./-dash"), ["./-dash"])

    def test_may_stand_on_both_sides_of_two_dashes(self):
        self.write("a")
        self.write("-dash")
        self.assertEqual(self.paths("a", "--", "-dash"), ["a", "-dash"])

    def test_that_are_empty_are_missing(self):
        self.assert_failed(self.run_command("chunk", ""), "No such file or directory")

    def test_in_messages_stay_on_one_line(self):
        for name in ("line\nfeed", "escape\x1b[31m", "carriage\rreturn"):
            with self.subTest(path=name):
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
        for name, shown in self.SHOWN.items():
            self.write(f"tree/{name}")
            self.assertIn(f" tree/{shown}\n", self.run_command("chunk", "tree").stdout)
            self.assertIn(f"tree/{shown}.missing: ", self.run_command("chunk", f"tree/{name}.missing").stderr)
