"""Each public call and field of the C++ store has its counterparts for C and Python in store_interface.toml, or a reason why not."""

import ast
import pathlib
import re
import tomllib
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TABLE = HERE / "store_interface.toml"
HEADERS = ROOT / "store/include/cutpoint"
TREE_ENTRY = ROOT / "host/include/cutpoint/tree_entry.h"  # the metadata of files, which the store's classes inherit
C_HEADERS = ROOT / "bindings/c/include/cutpoint"
PACKAGE = ROOT / "bindings/python/cutpoint"
SHORTEST_REASON = 30  # characters


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def declarations(body: str) -> list[tuple[str, str]]:
    """The declarations of a scope, each with what its braces have."""
    listed, begin, braces, parentheses, brace = [], 0, 0, 0, None
    for at, letter in enumerate(body):
        parentheses += (letter == "(") - (letter == ")")
        if parentheses:  # the braces are a default argument
            continue
        if letter == "{" and braces == 0:
            brace = at
        braces += (letter == "{") - (letter == "}")
        is_block = letter == "}" and not re.match(r"\s*;", body[at + 1 :])
        if braces == 0 and (letter == ";" or is_block):
            inner = body[brace + 1 : body.rindex("}", brace, at + 1)] if brace is not None else ""
            listed.append((body[begin : at if brace is None else brace].strip(), inner))
            begin, brace = at + 1, None
    return listed


def name_of(declaration: str) -> tuple[str, bool] | None:
    """The name that a declaration declares, and whether it is a function; None for types, friends and special members."""
    if re.match(r"(enum|using|friend|template|struct|class|namespace|explicit|inline constexpr)\b", declaration):
        return None
    text = re.sub(r"\[\[\w+\]\]", "", declaration)
    while re.search(r"<[^<>]*>", text):
        text = re.sub(r"<[^<>]*>", "", text)
    if re.search(r"\boperator|~|^\s*\w+\(", text):
        return None
    function = re.match(r"[^=(]*?(\w+)\s*\(", text)
    field = re.match(r"[^=(]*?(\w+)\s*(=.*)?$", text, re.DOTALL)
    return (function[1], True) if function else (field[1], False) if field else None


def members_of(kind: str, body: str) -> list[str]:
    """The public fields and calls of a class, overloads with their numbers."""
    names: list[str] = []
    is_public = kind == "struct"
    for declaration, _ in declarations(body):
        for label in re.findall(r"\b(public|private|protected):", declaration):
            is_public = label == "public"
        declared = name_of(re.sub(r"\b(public|private|protected):", "", declaration).strip())
        if declared and is_public:
            names.append(declared[0])
    return [name if names[:i].count(name) == 0 else f"{name} {names[:i].count(name) + 1}" for i, name in enumerate(names)]


def interface_of(text: str) -> tuple[dict[str, list[str]], dict[str, str]]:
    """The members of each class of a header, of "" the functions of no class; and the bases of classes."""
    classes: dict[str, list[str]] = {"": []}
    bases: dict[str, str] = {}
    for declaration, inner in declarations(without_comments(re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE))):
        if declaration.startswith("namespace"):
            nested, nested_bases = interface_of(inner)
            bases |= nested_bases
            for name, members in nested.items():
                classes.setdefault(name, []).extend(members)
        elif match := re.match(r"(struct|class) (\w+)(?: : (\w+))?$", declaration):
            if inner:
                classes[match[2]] = members_of(match[1], inner)
                bases |= {match[2]: match[3]} if match[3] else {}
        elif (declared := name_of(declaration)) and declared[1]:
            classes[""].append(declared[0])
    return classes, bases


def cpp_interface() -> dict[str, list[str]]:
    """The classes of the store's headers, with what they inherit."""
    entries, _ = interface_of(TREE_ENTRY.read_text())
    classes: dict[str, list[str]] = {"": [], "extended_attribute": entries["extended_attribute"]}
    for header in HEADERS.glob("*.h"):
        own, bases = interface_of(header.read_text())
        for name, members in own.items():
            classes.setdefault(name, []).extend([*members, *entries.get(bases.get(name), [])])
    return classes


def c_interface() -> set[str]:
    """Functions, numbers, structures and STRUCTURE.FIELD."""
    names: set[str] = set()
    for header in C_HEADERS.glob("*.h"):
        text = without_comments(header.read_text())
        names |= set(re.findall(r"^CUTPOINT_API [\w* ]+?\b(cutpoint_\w+)\(", text, re.MULTILINE))
        names |= set(re.findall(r"\b(CUTPOINT_\w+)\s*=", text))
        for name, body in re.findall(r"typedef struct (\w+)\s*{(.*?)}\s*\1;", text, re.DOTALL):
            names.add(name)
            for field in filter(str.strip, body.split(";")):
                pointer, plain = re.search(r"\(\*(\w+)\)\(|(\w+)(?:\[\w+\])?\s*$", field).groups()
                names.add(f"{name}.{pointer or plain}")
    return names


def python_interface() -> set[str]:
    """Classes, functions, CLASS.MEMBER, and CLASS.METHOD.PARAMETER or a key that the text of the method names."""
    names: set[str] = set()
    for module in PACKAGE.glob("*.py"):
        for node in ast.parse(module.read_text()).body:
            if not isinstance(node, ast.ClassDef):
                continue
            names.add(node.name)
            for member in node.body:
                if isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name):
                    names.add(f"{node.name}.{member.target.id}")
                elif isinstance(member, ast.FunctionDef):
                    method = f"{node.name}.{member.name}"
                    arguments = [*member.args.args, *member.args.kwonlyargs]
                    told = re.findall(r"`(\w+)`", ast.get_docstring(member) or "")
                    names |= {method, *(f"{method}.{name}" for name in [*(each.arg for each in arguments), *told])}
    return names


def rows_of(text: str) -> dict[str, dict[str, str]]:
    """The rows of a table by CLASS.MEMBER, by the names of functions, and by CLASS for all its members."""
    rows: dict[str, dict[str, str]] = {}
    for name, section in tomllib.loads(text).items():
        classes = {language: section.pop(language) for language in ("c", "python") if language in section}
        prefix = "" if name in {"functions", "left_out"} else f"{name}."
        for same in section.pop("same", []):
            rows[prefix + same] = {language: f"{there}.{same}" for language, there in classes.items()}
        for members, row in section.items():
            for member in members.split(", "):
                rows[prefix + member] = {"reason": row} if isinstance(row, str) else row
    return rows


def complaints(rows: dict[str, dict[str, str]], cpp: dict[str, list[str]], c: set[str], python: set[str]) -> list[str]:
    """What is wrong with the rows of a table, one sentence each."""
    problems = []
    members = {f"{name}.{member}".lstrip(".") for name, each in cpp.items() for member in each}
    for name in sorted(members):
        if name not in rows and name.rpartition(".")[0] not in rows:
            problems.append(f"{name} is in no row")
    for name, row in rows.items():
        if name not in members and name not in cpp:
            problems.append(f"{name} is nothing of the C++ store")
        for language, known in ("c", c), ("python", python):
            problems += [f"{name}: {there} is nothing of {language}" for there in row.get(language, "").split() if there not in known]
        has_both = bool(row.get("c")) and bool(row.get("python"))
        if has_both == ("reason" in row):
            problems.append(f"{name}: a reason is for what C or Python lacks, and only for that")
        elif not has_both and len(row["reason"]) < SHORTEST_REASON:
            problems.append(f"{name}: {row['reason']!r} is no reason")
        if unknown := row.keys() - {"c", "python", "reason"}:
            problems.append(f"{name}: {unknown} are no columns")
    return problems


class StoreInterface(unittest.TestCase):
    def test_each_call_and_field_has_its_counterparts_or_a_reason(self):
        problems = complaints(rows_of(TABLE.read_text()), cpp_interface(), c_interface(), python_interface())
        self.assertEqual(problems, [], "\n" + "\n".join(problems))

    def test_the_interfaces_are_read(self):
        cpp, c, python = cpp_interface(), c_interface(), python_interface()
        self.assertGreater(sum(map(len, cpp.values())), 300)
        for name, member in (
            ("backup_store", "find_snapshot 2"), ("store_snapshot", "healed_chunks"), ("store_restore_options", "visit"),
            ("storage", "put"), ("live_share_bin", "at_most"), ("store_work", "devices"), ("", "apply_policy"), ("stored_file", "inode"),
        ):
            self.assertIn(member, cpp[name])
        self.assertNotIn("internals", cpp["backup_store"])
        self.assertLess({"cutpoint_store_back_up", "cutpoint_store_backup_options.problem", "CUTPOINT_CHECK_READ_DATA"}, c)
        self.assertLess({"Store.backup.paths", "Snapshot.id", "Progress", "Store.statistics.shards"}, python)

    def test_what_is_wrong_is_named(self):
        cpp, bases = interface_of(
            "namespace a { struct s : b { int x = 0; std::function<void(int)> y; }; [[nodiscard]] int f(const s& z = {}); }"
        )
        self.assertEqual((cpp, bases), ({"": ["f"], "s": ["x", "y"]}, {"s": "b"}))
        wrong = '[s]\nc = "cutpoint_s"\npython = "S"\nsame = ["x"]\nz = "it is not needed, because nobody asks"\n[functions]\nf = "no"\n'
        self.assertEqual(
            complaints(rows_of(wrong), cpp, {"cutpoint_s.x"}, set()),
            [
                "s.y is in no row",
                "s.x: S.x is nothing of python",
                "s.z is nothing of the C++ store",
                "f: 'no' is no reason",
            ],
        )


if __name__ == "__main__":
    unittest.main()
