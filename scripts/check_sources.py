"""Checks of the sources' text: parameters named after prepositions, words and names that the glossary does not allow, files without a first
line that says what they contain, folders that docs/architecture.md does not name.

    check_sources.py [FOLDER]            the files that git tracks below the repository's root, or below FOLDER
    check_sources.py --names [FOLDER]    lists the names that the glossary does not allow, also in folders that are not finished

Prints one line for each problem, as FILE:LINE: PROBLEM, and exits with 1 if there is any.
"""

import ast
import collections
import os
import pathlib
import re
import signal
import subprocess
import sys
import typing

import source_names
from source_names import CPP, block, cpp_code

PREPOSITIONS = {"of", "by", "on", "to", "at", "with", "from", "into"}
FIRST_LINES = CPP | {".py", ".cmake", ".sh", ".go", ".rs"}
PROSE = {".md"}
# These words are checked neither in what was measured and is quoted, nor in what others wrote.
UNCHECKED_WORDS = (
    "docs/glossary.md",
    "docs/results/",
    "docs/papers/",
    "CHANGELOG.md",
    "tests/data/",
    "tests/sources/",
)

CPP_TOKEN = re.compile(r"[A-Za-z_]\w*|&&|::|->|\.\.\.|[^\s\w]|\d[\w'.]*")
CONTROL = {"for", "if", "while", "switch", "catch", "return", "sizeof", "co_await", "co_yield"}
NOT_TYPES = {"return", "throw", "case", "else", "not", "and", "or", "co_return", "delete", "new", "operator", "goto"}


class Problem(typing.NamedTuple):
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


def cpp_parameters(text: str) -> typing.Iterator[tuple[int, str]]:
    """The line and the name of each C++ parameter that is a preposition.

    A parameter is a name in parentheses that follows a type and is followed by a comma, a closing parenthesis, a default or an array's
    bounds. Parentheses of `for`, `if` and the like have no parameters.
    """
    code = cpp_code(text)
    tokens = [(match[0], match.start()) for match in CPP_TOKEN.finditer(code)]
    brackets: list[str] = []  # what stands before each open bracket
    for i, (token, position) in enumerate(tokens):
        before = tokens[i - 1][0] if i else ""
        if token in "([{":
            brackets.append(before if token == "(" else token)
        elif token in ")]}" and brackets:
            brackets.pop()
        elif token in PREPOSITIONS and brackets and brackets[-1] not in CONTROL | {"[", "{"} and i + 1 < len(tokens):
            is_typed = before in {">", "&", "&&", "*", "..."} or (re.fullmatch(r"[A-Za-z_]\w*", before) and before not in NOT_TYPES)
            if is_typed and tokens[i + 1][0] in {",", ")", "=", "["}:
                yield code.count("\n", 0, position) + 1, token


def python_parameters(text: str) -> typing.Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            every = node.args
            for each in [*every.posonlyargs, *every.args, *every.kwonlyargs, every.vararg, every.kwarg]:
                if each is not None and each.arg in PREPOSITIONS:
                    yield each.lineno, each.arg


class Words:
    """Finds banned words, as words of their own or as parts of names_like_this."""

    def __init__(self, banned: dict[str, str]):
        self.banned = banned
        any_word = "|".join(word.replace(" ", "[ _]") for word in sorted(banned, key=len, reverse=True))
        self.pattern = re.compile(rf"(?<![a-z])({any_word})s?(?![a-z])") if banned else None

    def find(self, text: str) -> typing.Iterator[tuple[int, str]]:
        for match in self.pattern.finditer(text.lower()) if self.pattern else ():
            instead = self.banned.get(match[1]) or self.banned[match[1].replace("_", " ")]
            yield text.count("\n", 0, match.start()) + 1, f"'{match[1]}' is banned by docs/glossary.md; write '{instead}'"


def says_what_it_contains(path: pathlib.PurePath, text: str) -> bool:
    """Whether the first line, after what is meant for programs, is a comment of two words at least.

    A source that begins with its own header is described there.
    """
    lines = [line for line in text.splitlines() if not re.match(r"#!|# shellcheck |// (clang-format|NOLINT)|//go:build", line)]
    while lines and not lines[0].strip():
        lines.pop(0)
    if not lines:
        return True  # an empty file, such as __init__.py
    if re.match(rf'#include ["<](\S*/)?{re.escape(path.stem)}\.c?u?h[">]', lines[0]):
        return True
    marks = {".py": r'#|r?"""', ".cmake": "#", ".sh": "#", "": r'#|r?"""', ".txt": "#"}.get(path.suffix, r"//|/\*")
    first = re.match(rf"\s*(?:{marks})[/*!<#]*\s*(.*)", lines[0])
    if first is None:
        return False
    is_opened = lines[0].strip() in {"/*", "/**", '"""'} and len(lines) > 1  # the words stand in the next line
    return len(re.findall(r"\w+", lines[1] if is_opened else first[1])) >= 2


def is_script(path: pathlib.PurePath, text: str) -> bool:
    return path.suffix == "" and text.startswith("#!")


class Glossary:
    """What a text's words and names are checked by."""

    def __init__(self, text: str):
        self.words = Words(block(text, "banned"))
        self.names = source_names.Rules(text)


def problems_of(path: pathlib.PurePath, text: str, glossary: Glossary) -> list[Problem]:
    problems: list[tuple[int, str]] = []
    of_names = "names a parameter with a preposition: "
    if path.suffix in CPP:
        problems += [(line, of_names + name) for line, name in cpp_parameters(text)]
    if path.suffix == ".py" or (is_script(path, text) and "python" in text.partition("\n")[0]):
        problems += [(line, of_names + name) for line, name in python_parameters(text)]
    if path.suffix in FIRST_LINES or path.name == "CMakeLists.txt" or is_script(path, text):
        if not says_what_it_contains(path, text):
            problems.append((1, "does not begin with a comment that says what the file contains"))
        if not str(path).startswith(UNCHECKED_WORDS):
            problems += glossary.words.find(text)
        problems += [(line, problem) for line, _, problem in glossary.names.find(path, text).values()]
    elif path.suffix in PROSE and not str(path).startswith(UNCHECKED_WORDS):
        problems += glossary.words.find(text)
    return [Problem(str(path), line, problem) for line, problem in problems]


def tracked_files(root: pathlib.Path) -> list[pathlib.PurePath]:
    listing = subprocess.run(["git", "-C", root, "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    return [pathlib.PurePath(name) for name in listing.split("\0") if name and (root / name).is_file()]


def texts(root: pathlib.Path, paths: typing.Iterable[pathlib.PurePath]) -> typing.Iterator[tuple[pathlib.PurePath, str]]:
    for path in paths:
        try:
            yield path, (root / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            pass  # no text: a data file


def folder_problems(page: str, paths: typing.Iterable[pathlib.PurePath]) -> list[Problem]:
    """The layers' subfolders that docs/architecture.md does not name, and the folders that it names although they do not exist."""
    folders = {f"{path.parts[0]}/{path.parts[1]}/" for path in paths if len(path.parts) > 2}
    named = {match[1]: page.count("\n", 0, match.start()) + 1 for match in re.finditer(r"`(\w+/[\w-]+/)`", page)}
    layers = {name.split("/")[0] for name in named} - {"tests"}
    unnamed = [name for name in sorted(folders - named.keys()) if name.split("/")[0] in layers and name.split("/")[1] != "include"]
    page_name = "docs/architecture.md"
    return [Problem(page_name, line, f"the folder {name} does not exist") for name, line in named.items() if name not in folders] + [
        Problem(page_name, 1, f"the folder {name} is not named") for name in unnamed
    ]


def term_problems(glossary: str) -> list[Problem]:
    """The terms that the glossary's table has twice."""
    terms = [(match[1].strip(), glossary.count("\n", 0, match.start()) + 1) for match in re.finditer(r"^\| ([^|]+)\|", glossary, re.MULTILINE)]
    counts = collections.Counter(term for term, _ in terms)
    return [Problem("docs/glossary.md", line, f"the term '{term}' is defined twice") for term, line in terms if counts[term] > 1]


def anchors(page: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    prose = re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE)
    titles = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title) for title in re.findall(r"^#+ +(.*)$", prose, re.MULTILINE)]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def link_problems(root: pathlib.Path, paths: typing.Iterable[pathlib.PurePath]) -> list[Problem]:
    """The links of pages to files that are not there, or to headings that a page does not have."""
    files = set(paths)
    folders = {parent for path in files for parent in path.parents}
    problems = []
    for path, text in texts(root, [path for path in files if path.suffix in PROSE and not str(path).startswith(source_names.NOT_OURS)]):
        for match in re.finditer(r"\]\(([^)\s]+)\)|(?:href|src|srcset)=\"([^\"\s]+)\"", text):
            target, _, anchor = (match[1] or match[2]).partition("#")
            if re.match(r"\w+:", target):
                continue
            linked = pathlib.PurePath(os.path.normpath(path.parent / target)) if target else path
            is_there = linked in files | folders
            if is_there and (not anchor or linked.suffix not in PROSE or anchor in anchors((root / linked).read_text())):
                continue
            line = text.count("\n", 0, match.start()) + 1
            problems.append(Problem(str(path), line, f"links to {match[1] or match[2]}, which is not there"))
    return sorted(problems)


def all_problems(root: pathlib.Path, paths: typing.Iterable[pathlib.PurePath]) -> list[Problem]:
    glossary = Glossary((root / "docs/glossary.md").read_text())
    return [problem for path, text in texts(root, paths) for problem in problems_of(path, text, glossary)]


def main() -> int:
    root = pathlib.Path(__file__).resolve().parents[1]
    arguments = sys.argv[1:]
    lists_names = arguments[:1] == ["--names"]
    below = pathlib.PurePath(*arguments[lists_names:])
    every = tracked_files(root)
    paths = [path for path in every if path.is_relative_to(below)]
    glossary = (root / "docs/glossary.md").read_text()
    if lists_names:
        print(source_names.listing(source_names.Rules(glossary), texts(root, paths)) or "no names that the glossary does not allow")
        return 0
    problems = all_problems(root, paths) + term_problems(glossary) + link_problems(root, every)
    problems += folder_problems((root / "docs/architecture.md").read_text(), every)
    print("\n".join(map(str, problems)) or "no problems in the sources' text")
    return 1 if problems else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as the shell's own programs end when their reader does
    sys.exit(main())
