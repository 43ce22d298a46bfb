"""Checks of the sources' text: parameters named after prepositions, words that the glossary bans, files without a first line that says
what they contain, folders that docs/architecture.md does not name.

    check_sources.py [FOLDER]     the files that git tracks below the repository's root, or below FOLDER

Prints one line for each problem, as FILE:LINE: PROBLEM, and exits with 1 if there is any.
"""

import ast
import pathlib
import re
import subprocess
import sys
import typing

PREPOSITIONS = {"of", "by", "on", "to", "at", "with", "from", "into"}
CPP = {".h", ".cc", ".cu", ".cuh", ".c"}
FIRST_LINES = CPP | {".py", ".cmake", ".sh", ".go", ".rs"}
PROSE = {".md"}
# These words are checked neither in what was measured and is quoted, nor in what others wrote.
UNCHECKED_WORDS = (
    "docs/glossary.md",
    "docs/results/",
    "docs/papers/",
    "CHANGELOG.md",
    "tests/data/",
    "tests/fuzz/corpus/",
    "tests/sources/",
)

CPP_LEXEME = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<text>R"(?P<mark>[^(\s]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+')""",
    re.DOTALL | re.VERBOSE,
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


def cpp_code(text: str) -> str:
    """The text with comments and strings replaced by spaces; the line numbers stay."""
    return CPP_LEXEME.sub(lambda found: ('""' if found["text"] else "") + "\n" * found[0].count("\n"), text)


def cpp_parameters(text: str) -> typing.Iterator[tuple[int, str]]:
    """The line and the name of each C++ parameter that is a preposition.

    A parameter is a name in parentheses that follows a type and is followed by a comma, a closing parenthesis, a default or an array's
    bounds. Parentheses of `for`, `if` and the like have no parameters.
    """
    code = cpp_code(text)
    tokens = [(found[0], found.start()) for found in CPP_TOKEN.finditer(code)]
    opened: list[str] = []  # what stands before each open bracket
    for i, (token, position) in enumerate(tokens):
        before = tokens[i - 1][0] if i else ""
        if token in "([{":
            opened.append(before if token == "(" else token)
        elif token in ")]}" and opened:
            opened.pop()
        elif token in PREPOSITIONS and opened and opened[-1] not in CONTROL | {"[", "{"} and i + 1 < len(tokens):
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


def banned_words(glossary: str) -> dict[str, str]:
    """What the glossary's block ```banned says: a word or words in each line, a colon, and what to write instead."""
    block = re.search(r"^```banned\n(.*?)^```$", glossary, re.DOTALL | re.MULTILINE)
    lines = block[1].splitlines() if block else []
    return {word.strip(): instead.strip() for word, _, instead in (line.partition(":") for line in lines) if word.strip()}


class Words:
    """Finds banned words, as words of their own or as parts of names_like_this."""

    def __init__(self, banned: dict[str, str]):
        self.banned = banned
        any_word = "|".join(word.replace(" ", "[ _]") for word in sorted(banned, key=len, reverse=True))
        self.pattern = re.compile(rf"(?<![a-z])({any_word})s?(?![a-z])") if banned else None

    def find(self, text: str) -> typing.Iterator[tuple[int, str]]:
        for found in self.pattern.finditer(text.lower()) if self.pattern else ():
            instead = self.banned.get(found[1]) or self.banned[found[1].replace("_", " ")]
            yield text.count("\n", 0, found.start()) + 1, f"'{found[1]}' is banned by docs/glossary.md; write '{instead}'"


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


def problems_of(path: pathlib.PurePath, text: str, words: Words) -> list[Problem]:
    found: list[tuple[int, str]] = []
    of_names = "names a parameter with a preposition: "
    if path.suffix in CPP:
        found += [(line, of_names + name) for line, name in cpp_parameters(text)]
    if path.suffix == ".py" or (is_script(path, text) and "python" in text.partition("\n")[0]):
        found += [(line, of_names + name) for line, name in python_parameters(text)]
    if path.suffix in FIRST_LINES or path.name == "CMakeLists.txt" or is_script(path, text):
        if not says_what_it_contains(path, text):
            found.append((1, "does not begin with a comment that says what the file contains"))
        if not str(path).startswith(UNCHECKED_WORDS):
            found += words.find(text)
    elif path.suffix in PROSE and not str(path).startswith(UNCHECKED_WORDS):
        found += words.find(text)
    return [Problem(str(path), line, problem) for line, problem in found]


def tracked_files(root: pathlib.Path) -> list[pathlib.PurePath]:
    listing = subprocess.run(["git", "-C", root, "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    return [pathlib.PurePath(name) for name in listing.split("\0") if name and (root / name).is_file()]


def folder_problems(page: str, paths: typing.Iterable[pathlib.PurePath]) -> list[Problem]:
    """The layers' subfolders that docs/architecture.md does not name, and the folders that it names although they do not exist."""
    folders = {f"{path.parts[0]}/{path.parts[1]}/" for path in paths if len(path.parts) > 2}
    named = {found[1]: page.count("\n", 0, found.start()) + 1 for found in re.finditer(r"`(\w+/[\w-]+/)`", page)}
    layers = {name.split("/")[0] for name in named} - {"tests"}
    unnamed = [name for name in sorted(folders - named.keys()) if name.split("/")[0] in layers and name.split("/")[1] != "include"]
    page_name = "docs/architecture.md"
    return [Problem(page_name, line, f"the folder {name} does not exist") for name, line in named.items() if name not in folders] + [
        Problem(page_name, 1, f"the folder {name} is not named") for name in unnamed
    ]


def all_problems(root: pathlib.Path, paths: typing.Iterable[pathlib.PurePath]) -> list[Problem]:
    glossary = root / "docs/glossary.md"
    words = Words(banned_words(glossary.read_text()) if glossary.exists() else {})
    found = []
    for path in paths:
        try:
            text = (root / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # no text: a data file
        found += problems_of(path, text, words)
    return found


def main() -> int:
    root = pathlib.Path(__file__).resolve().parents[1]
    below = sys.argv[1].rstrip("/") if len(sys.argv) > 1 else "."
    paths = list(tracked_files(root))
    found = all_problems(root, [path for path in paths if path.is_relative_to(below)])
    found += folder_problems((root / "docs/architecture.md").read_text(), paths)
    print("\n".join(map(str, found)) or "no problems in the sources' text")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
