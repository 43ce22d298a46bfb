"""Tests that the sources pass the checks of their text, and that each check finds a planted problem."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import check_sources  # noqa: E402


# Folders whose parameters have yet to be renamed.
UNFINISHED = ("cli/", "tests/cli/")


def problems_of(name: str, text: str, banned: dict[str, str] | None = None) -> list[str]:
    words = check_sources.Words(banned or {})
    return [problem.text for problem in check_sources.problems_of(pathlib.PurePath(name), text, words)]


class Tree(unittest.TestCase):
    def test_the_sources_pass(self):
        found = check_sources.all_problems(ROOT, check_sources.tracked_files(ROOT))
        self.assertEqual([str(problem) for problem in found if not problem.path.startswith(UNFINISHED)], [])

    def test_the_check_sees_the_sources(self):
        names = {str(path) for path in check_sources.tracked_files(ROOT)}
        self.assertLessEqual({"CMakeLists.txt", "scripts/test", "scripts/check_sources.py"}, names)
        self.assertGreater(sum(name.endswith((".h", ".cc")) for name in names), 300)

    def test_the_glossary_bans_words(self):
        self.assertNotEqual(check_sources.banned_words((ROOT / "docs/glossary.md").read_text()), {})


class CppParameters(unittest.TestCase):
    def names(self, text: str) -> list[str]:
        return [name for _, name in check_sources.cpp_parameters(text)]

    def test_every_kind_of_declaration_is_seen(self):
        for text in (
            "void f(int of);",
            "void f(const std::string& with, int a);",
            "void f(std::vector<int> from);",
            "void f(T&& to) {}",
            "void f(char* at) {}",
            "void f(int by = 1);",
            "void f(int on[4]);",
            "void f(T&&... into);",
            "auto f = [](int of) { return 1; };",
            "f([&](auto at) {});",
            "class a { explicit a(int of) : a_(of) {} };",
            "void f(std::function<void(int)> with);",
            "void f(int a,\n       // a note (in parentheses)\n       int of);",
        ):
            self.assertEqual(len(self.names(text)), 1, text)

    def test_other_uses_are_not(self):
        for text in (
            "x.at(3);",
            "std::vector<int> v = other.at(at_last);",
            "options{.by = 3, .on = 4};",
            "// f(int of)\n/* g(int of) */",
            'say("f(int of)");',
            'say(R"(f(int of))");',
            "struct a { int of; };",
            "for (int at = 0; f(at); ++at) {}",
            "f(at, of);",
            "return f(offset, onto);",
            "constexpr std::uint64_t one = 1'000'000; void f(int a);",
        ):
            self.assertEqual(self.names(text), [], text)

    def test_the_line_is_named(self):
        self.assertEqual(list(check_sources.cpp_parameters('// one\nauto a = R"(\n)";\nvoid f(int of);\n')), [(4, "of")])


class PythonParameters(unittest.TestCase):
    def test_every_kind_of_parameter_is_seen(self):
        for text in ("def f(of): pass", "def f(*, by=1): pass", "def f(*at): pass", "def f(**to): pass", "lambda on: 1", "async def f(of): pass"):
            self.assertEqual(len(list(check_sources.python_parameters(text))), 1, text)

    def test_other_uses_are_not(self):
        self.assertEqual(list(check_sources.python_parameters("f(of=1)\nat = 3\nfor by in range(3): pass")), [])


class BannedWords(unittest.TestCase):
    banned = {"slicer": "cut launcher", "let go": "release"}

    def test_the_block_of_the_glossary_is_read(self):
        text = "# Glossary\n\n```banned\nslicer: cut launcher\nlet go: release\n```\n\nslicer\n"
        self.assertEqual(check_sources.banned_words(text), self.banned)

    def test_a_word_is_found_alone_and_in_names(self):
        for text in ("// A slicer.", "int slicer_count;", "int old_slicers;", "// Let go of it.", "void let_go();"):
            self.assertEqual(len(problems_of("host/a.h", "// About a file.\n" + text, self.banned)), 1, text)
        self.assertEqual(len(problems_of("docs/a.md", "The slicer\n", self.banned)), 1)

    def test_longer_words_and_the_glossary_are_not(self):
        self.assertEqual(problems_of("host/a.h", "// About slicerish things.\n", self.banned), [])
        self.assertEqual(problems_of("docs/glossary.md", "slicer\n", self.banned), [])


class FirstLines(unittest.TestCase):
    def test_a_file_without_one_is_found(self):
        for name, text in (
            ("host/a.h", "#pragma once\n"),
            ("host/a.cc", '#include "host/b.h"\n'),
            ("a.py", "import os\n"),
            ("scripts/a", "#!/usr/bin/env bash\nset -e\n"),
            ("scripts/lib.sh", "# shellcheck shell=bash\nroot=.\n"),
            ("tests/CMakeLists.txt", "find_package(GTest)\n"),
            ("cmake/a.cmake", "#\nfunction(a)\n"),
        ):
            self.assertEqual(len(problems_of(name, text)), 1, name)

    def test_a_file_with_one_is_not(self):
        for name, text in (
            ("host/a.h", "// Walks folders.\n#pragma once\n"),
            ("host/a.cc", '#include "host/a.h"\n'),
            ("a.py", '"""Walks folders."""\n'),
            ("scripts/a", "#!/usr/bin/env bash\n# Walks folders.\n"),
            ("examples/a.c", "/* Walks folders. */\n"),
            ("examples/b.c", "/*\n * Walks folders.\n */\n"),
            ("tests/__init__.py", ""),
        ):
            self.assertEqual(problems_of(name, text), [], name)


class Folders(unittest.TestCase):
    page = "# Architecture\n\n| `host/core/`, `host/io/` | both |\n"

    def problems(self, *paths: str) -> list[str]:
        return [str(each) for each in check_sources.folder_problems(self.page, [pathlib.PurePath(path) for path in paths])]

    def test_named_folders_have_no_problem(self):
        self.assertEqual(self.problems("host/core/a.cc", "host/io/b.cc", "host/CMakeLists.txt", "host/include/cutpoint/a.h", "docs/papers/a.md"), [])

    def test_a_folder_that_is_not_named_is_found(self):
        self.assertEqual(self.problems("host/core/a.cc", "host/io/b.cc", "host/new/c.cc"), ["docs/architecture.md:1: the folder host/new/ is not named"])

    def test_a_folder_that_does_not_exist_is_found(self):
        self.assertEqual(self.problems("host/core/a.cc"), ["docs/architecture.md:3: the folder host/io/ does not exist"])


if __name__ == "__main__":
    unittest.main()
