"""Names that docs/glossary.md does not allow in sources: barred words in any name, and bare participles as whole names."""

import ast
import bisect
import collections
import pathlib
import re
import typing

CPP = {".h", ".cc", ".cu", ".cuh", ".c"}
NOT_OURS = ("tests/data/",)
CPP_LEXEME = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/|\#[ ]*include[^\n]*)
      | (?P<text>R"(?P<mark>[^(\s]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+')""",
    re.DOTALL | re.VERBOSE,
)
CPP_NAME = re.compile(r"(?P<owner>\.|->|::)?\s*\b(?P<name>[A-Za-z_]\w*)")
CPP_TEST = re.compile(r"\b(?:TYPED_)?TEST(?:_[PF])?\([^)]*\)")
CPP_ENUMERATORS = re.compile(r"\benum\b[^;{]*\{[^}]*\}")
SHELL_NAME = re.compile(r"^\s*(?:(\w+)\(\)|(?:(?:local|readonly|export|declare)\s+(?:-\w+\s+)*)?(\w+)=|for (\w+) in )", re.MULTILINE)

Name = tuple[int, str]  # its line and its text


def cpp_code(text: str) -> str:
    """The text with comments and strings replaced by spaces; the line numbers stay."""
    return CPP_LEXEME.sub(lambda lexeme: ('""' if lexeme["text"] else "") + "\n" * lexeme[0].count("\n"), text)


def blank(pattern: re.Pattern, code: str) -> str:
    return pattern.sub(lambda match: re.sub(r"\w", " ", match[0]), code)


def cpp_names(text: str) -> typing.Iterator[Name]:
    """The names that a C++ source declares, or uses without an owner. Names of tests are claims, and left out."""
    code = blank(CPP_TEST, cpp_code(text))
    line_ends = [match.start() for match in re.finditer("\n", code)]
    for match in CPP_NAME.finditer(code):
        if not match["owner"]:
            yield bisect.bisect(line_ends, match.start("name")) + 1, match["name"]


def python_names(text: str) -> typing.Iterator[Name]:
    """The names that a Python source declares: variables, parameters, attributes, functions other than tests, classes."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if not name.startswith("test_"):
                yield node.lineno, name


def shell_names(text: str) -> typing.Iterator[Name]:
    for match in SHELL_NAME.finditer(text):
        yield text.count("\n", 0, match.start(match.lastindex)) + 1, match[match.lastindex]


def enumerators(text: str) -> set[str]:
    code = cpp_code(text)
    return {name for body in CPP_ENUMERATORS.findall(code) for name in re.findall(r"\w+", body.partition("{")[2])}


def is_script(path: pathlib.PurePath, text: str, program: str) -> bool:
    return path.suffix == "" and text.startswith("#!") and program in text.partition("\n")[0]


def names_of(path: pathlib.PurePath, text: str) -> list[Name]:
    if str(path).startswith(NOT_OURS):
        return []
    if path.suffix in CPP:
        return list(cpp_names(text))
    if path.suffix == ".py" or is_script(path, text, "python"):
        return list(python_names(text))
    if path.suffix == ".sh" or is_script(path, text, "sh"):
        return list(shell_names(text))
    return []


def block(glossary: str, name: str) -> dict[str, str]:
    """What a block ```name of the glossary says: a word or words in each line, a colon, and a text."""
    lines = re.search(rf"^```{name}\n(.*?)^```$", glossary, re.DOTALL | re.MULTILINE)
    pairs = (line.partition(":") for line in lines[1].splitlines()) if lines else []
    return {key.strip(): text.strip() for key, _, text in pairs if key.strip()}


class Rules:
    """The rules for names, as the glossary's blocks say them."""

    def __init__(self, glossary: str):
        self.words = block(glossary, "barred-words")
        self.whole = block(glossary, "barred-names")
        self.allowed = block(glossary, "allowed-names").keys()

    def problem(self, name: str, enumerators: typing.Container[str] = ()) -> str | None:
        """Why a name is not allowed, or None. A state of an enumeration may be a participle."""
        whole = name.strip("_")
        if whole in self.allowed:
            return None
        if whole in self.whole and name not in enumerators:
            return f"the name '{name}' says nothing (docs/glossary.md); write {self.whole[whole]}"
        for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name):
            word = word.lower()
            word = next((each for each in (word, word.removesuffix("s"), word.removesuffix("es")) if each in self.words), None)
            if word:
                return f"the name '{name}' has the word '{word}' (docs/glossary.md); write {self.words[word]}"
        return None

    def find(self, path: pathlib.PurePath, text: str) -> dict[str, tuple[int, int, str]]:
        """The names of a file that are not allowed: for each its first line, how often it stands there, and the problem."""
        names = names_of(path, text)
        lines = dict(reversed([(name, line) for line, name in names]))
        counts = collections.Counter(name for _, name in names)
        states = enumerators(text) if path.suffix in CPP else set()
        problems = {name: self.problem(name, states) for name in counts}
        return {name: (lines[name], counts[name], problem) for name, problem in problems.items() if problem}


def folder_of(path: pathlib.PurePath) -> str:
    """The folder under which a file is listed: its layer and its subfolder."""
    return "/".join(path.parts[: min(2, len(path.parts) - 1)]) or str(path)


def listing(rules: Rules, files: typing.Iterable[tuple[pathlib.PurePath, str]]) -> str:
    """The names that are not allowed, by folder and file, each with its first line and how often it stands there."""
    folders: dict[str, dict[pathlib.PurePath, dict]] = collections.defaultdict(dict)
    for path, text in files:
        if names := rules.find(path, text):
            folders[folder_of(path)][path] = names
    lines = []
    for folder, paths in sorted(folders.items()):
        every = [each for names in paths.values() for each in names.values()]
        lines.append(f"{folder}: {len(every)} names, {sum(count for _, count, _ in every)} uses")
        for path, names in paths.items():
            lines.append(f"  {path}: " + ", ".join(f"{name} ({count}, line {line})" for name, (line, count, _) in names.items()))
    return "\n".join(lines)
