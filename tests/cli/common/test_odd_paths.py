"""What stands for a path is that path, letter by letter, and is told on one line."""

import unittest

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


if __name__ == "__main__":
    unittest.main()
