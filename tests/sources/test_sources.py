"""Tests that the sources pass the checks of their text, and that each check finds a planted problem."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import check_sources  # noqa: E402
import gpu_estimates  # noqa: E402
import readme_chart  # noqa: E402
import source_names  # noqa: E402


def problems_of(name: str, text: str, glossary: str = "") -> list[str]:
    return [problem.text for problem in check_sources.problems_of(pathlib.PurePath(name), text, check_sources.Glossary(glossary))]


class Tree(unittest.TestCase):
    def test_the_sources_pass(self):
        problems = check_sources.all_problems(ROOT, check_sources.tracked_files(ROOT))
        self.assertEqual([str(problem) for problem in problems], [])

    def test_the_check_sees_the_sources(self):
        names = {str(path) for path in check_sources.tracked_files(ROOT)}
        self.assertLessEqual({"CMakeLists.txt", "scripts/test", "scripts/check_sources.py"}, names)
        self.assertGreater(sum(name.endswith((".h", ".cc")) for name in names), 300)

    def test_the_glossary_has_every_block(self):
        text = (ROOT / "docs/glossary.md").read_text()
        for name in ("banned", "barred-words", "barred-names", "allowed-names"):
            self.assertNotEqual(check_sources.block(text, name), {}, name)

    def test_the_glossary_defines_each_term_once(self):
        self.assertEqual(check_sources.term_problems((ROOT / "docs/glossary.md").read_text()), [])
        twice = "| term | definition |\n|---|---|\n| live | One. |\n| lane | One. |\n| live | Two. |\n"
        self.assertEqual([problem.line for problem in check_sources.term_problems(twice)], [3, 5])


class Parameters(unittest.TestCase):
    def names(self, text: str) -> list[str]:
        return [name for _, name in check_sources.cpp_parameters(text)]

    def test_every_kind_of_parameter_is_seen(self):
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
        for text in ("def f(of): pass", "def f(*, by=1): pass", "def f(*at): pass", "def f(**to): pass", "lambda on: 1", "async def f(of): pass"):
            self.assertEqual(len(list(check_sources.python_parameters(text))), 1, text)

    def test_other_uses_are_not(self):
        for text in (
            "x.at(3); std::vector<int> v = other.at(at_last); options{.by = 3, .on = 4};",
            "// f(int of)\n/* g(int of) */",
            'say("f(int of)"); say(R"(f(int of))");',
            "struct a { int of; }; for (int at = 0; f(at); ++at) {}",
            "f(at, of); return f(offset, onto);",
            "constexpr std::uint64_t one = 1'000'000; void f(int a);",
        ):
            self.assertEqual(self.names(text), [], text)
        self.assertEqual(list(check_sources.python_parameters("f(of=1)\nat = 3\nfor by in range(3): pass")), [])

    def test_the_line_is_named(self):
        self.assertEqual(list(check_sources.cpp_parameters('// one\nauto a = R"(\n)";\nvoid f(int of);\n')), [(4, "of")])


class BannedWords(unittest.TestCase):
    banned = "# Glossary\n\n```banned\nslicer: cut launcher\nlet go: release\n```\n\nslicer\n"

    def test_the_block_of_the_glossary_is_read(self):
        self.assertEqual(check_sources.block(self.banned, "banned"), {"slicer": "cut launcher", "let go": "release"})

    def test_a_word_is_found_alone_and_in_names(self):
        for text in ("// A slicer.", "int slicer_count;", "int old_slicers;", "// Let go of it.", "void let_go();"):
            self.assertEqual(len(problems_of("host/a.h", "// About a file.\n" + text, self.banned)), 1, text)
        self.assertEqual(len(problems_of("docs/a.md", "The slicer\n", self.banned)), 1)

    def test_longer_words_and_the_glossary_are_not(self):
        self.assertEqual(problems_of("host/a.h", "// About slicerish things.\n", self.banned), [])
        self.assertEqual(problems_of("docs/glossary.md", "slicer\n", self.banned), [])


class Names(unittest.TestCase):
    """The barred words and names of the glossary."""

    glossary = "```barred-words\npart: field\nstretch: byte range\n```\n```barred-names\nfound: entry\n```\n```allowed-names\npart_number: S3's word\n```\n"

    def count(self, name: str, text: str) -> int:
        return len(problems_of(name, text, self.glossary))

    def test_a_barred_word_is_seen_in_any_name(self):
        for text in (
            "int part;",
            "int parts_ = 1;",
            "void end_part();",
            "struct stream_part {};",
            "template <typename PartType> void f();",
            "constexpr int LEAST_PART = 1;",
            "void f(int stretches);",
            "enum class a { part };",
            "#define CUTPOINT_PART 1",
        ):
            self.assertEqual(self.count("host/a.h", "// About a file.\n" + text), 1, text)

    def test_a_barred_name_is_seen_as_a_whole_name(self):
        for text in ("auto found = f();", "int found_;", "void f(int found);", "bool found() const;", "auto [a, found] = f();", "[found = 1] {};"):
            self.assertEqual(self.count("host/a.h", "// About a file.\n" + text), 1, text)

    def test_other_uses_in_cpp_are_not(self):
        for text in (
            "int partition, apart, department;",
            "bool is_found; int found_count;",
            "enum class state { sought, found };",
            "int part_number;",
            "x.found(); x->part(); y::part z; f({.found = 1});",
            "// a part is found",
            'f("part found");',
            "#include <a/part.h>",
            "TEST(found_chunks, are_a_part_of_the_stream) {}",
            "TEST_P(chunks,\n       are_a_part) {}",
        ):
            self.assertEqual(self.count("host/a.h", "// About a file.\n" + text), 0, text)

    def test_python_and_shell_declare_names_too(self):
        start = '"""About a file."""\n'
        for text in ("part = 1", "def f(found): pass", "def end_part(): pass", "class Part: pass", "self.found = 1", "for part in x: pass", "with f() as found: pass"):
            self.assertEqual(self.count("a/b.py", start + text), 1, text)
        for text in ("x.found", "f(found=1)", "def test_a_part_is_whole(): pass", "print('part')", "x = {'found': 1}", "path.parts"):
            self.assertEqual(self.count("a/b.py", start + text), 0, text)
        for text in ("end_part() { :; }", "local part=1", "found=1", "for part in 1 2; do"):
            self.assertEqual(self.count("scripts/a", "#!/usr/bin/env bash\n# About a file.\n" + text), 1, text)
        self.assertEqual(self.count("scripts/a", "#!/usr/bin/env bash\n# About a part.\necho found >part"), 0)

    def test_a_name_is_reported_once_in_a_file_at_its_first_line(self):
        problems = check_sources.problems_of(pathlib.PurePath("host/a.h"), "// A file.\nint part = 1;\nf(part);\n", check_sources.Glossary(self.glossary))
        self.assertEqual([problem.line for problem in problems], [2])

    def test_names_are_listed_by_folder_and_file(self):
        files = [(pathlib.PurePath("host/core/a.h"), "// A file.\nint part = 1;\nf(part);\n"), (pathlib.PurePath("host/io/b.h"), "// None.\n")]
        listing = source_names.listing(source_names.Rules(self.glossary), files)
        self.assertEqual(listing, "host/core: 1 names, 2 uses\n  host/core/a.h: part (2, line 2)")

    def test_data_of_others_is_not_checked(self):
        self.assertEqual(self.count("tests/data/a.py", '"""About a file."""\npart = 1'), 0)


class Links(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def problems(self, **pages: str) -> list[str]:
        paths = [pathlib.PurePath(name.replace("__", "/") + ".md") for name in pages]
        for path, text in zip(paths, pages.values(), strict=True):
            (self.root / path).parent.mkdir(exist_ok=True)
            (self.root / path).write_text(text)
        return [str(each) for each in check_sources.link_problems(self.root, paths)]

    def test_the_pages_have_no_dangling_link(self):
        self.assertEqual(check_sources.link_problems(ROOT, check_sources.tracked_files(ROOT)), [])

    def test_a_link_to_a_file_or_heading_that_is_not_there_is_seen(self):
        for link in ("[x](b.md)", "[x](docs/none.md)", "[x](docs/a.md#no)", "[x](#no)", '<img src="x.svg">', '<source srcset="x.svg">'):
            problems = self.problems(README=f"# Read\n\n{link}\n", docs__a="# One `two`, three\n")
            self.assertEqual(len(problems), 1, link)
            self.assertIn("README.md:3: links to", problems[0])

    def test_other_links_are_not(self):
        text = "# Read\n[x](docs/a.md) [x](docs/) [x](docs/a.md#one-two-three) [x](#read) [x](https://example.org/no.md)\n"
        self.assertEqual(self.problems(README=text, docs__a="# One `two`, three\n[up](../README.md#read)"), [])


class Pages(unittest.TestCase):
    def test_each_page_is_in_the_index(self):
        pages = [path for path in check_sources.tracked_files(ROOT) if path.suffix == ".md" and path.parts[0] == "docs"]
        for folder in ("docs", "docs/results"):
            index = (ROOT / folder / "README.md").read_text()
            missing = [path.name for path in pages if str(path.parent) == folder and path.name != "README.md" and f"]({path.name})" not in index]
            self.assertEqual(missing, [], folder)

    def test_the_estimates_are_those_of_the_limits(self):
        page = gpu_estimates.PAGE.read_text()
        self.assertEqual(page, gpu_estimates.with_table(page))

    def test_the_chart_of_the_readme_is_that_of_the_results(self):
        self.assertEqual(readme_chart.CHART.read_text(), readme_chart.chart(readme_chart.PAGE.read_text()))
        self.assertIn(str(readme_chart.CHART.relative_to(ROOT)), (ROOT / "README.md").read_text())


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
