"""Checks the include rules, which say which folder may include which, in the text of the sources.

    host      -> host
    simd      -> host
    cuda      -> host
    pipeline  -> host, simd, cuda
    store     -> host, simd, cuda, pipeline
    cluster   -> host
    cli       -> public headers            (bindings: the same; cuda's only for bindings)
    cluster_cli -> cli, public headers
    bench, tests: anything; nothing includes them

Within a layer, and within `bench`, a folder includes only itself and folders of earlier rows in the table of docs/architecture.md
("Folders"), which has one row for each step of the order: folders that share a row do not include each other. A row may name the
layer itself (`cli/`), which stands for the files that lie in no folder of it.

Public headers (`*/include/cutpoint/`) include the standard library and each other, no further than their folder may, and nothing
else; `cutpoint/cuda.h` may have CUDA's types, and `cutpoint/cuda_dedup.h` is over Thrust.
"""

import pathlib
import re
import sys

MAY_INCLUDE = {
    "host": {"host"},
    "simd": {"host", "simd"},
    "cuda": {"host", "cuda"},
    "pipeline": {"host", "simd", "cuda", "pipeline"},
    "store": {"host", "simd", "cuda", "pipeline", "store"},
    "cluster": {"host", "cluster"},
    "cli": {"cli"},
    "cluster_cli": {"cli", "cluster_cli"},
    "bindings/c": {"bindings/c"},
    "bindings/python": {"bindings/python"},
}
PUBLIC_ONLY = {"cli", "cluster_cli", "bindings/c", "bindings/python"}
OF_C = {"stddef.h", "stdint.h"}  # the standard library too
NOTHING = re.compile(r"(?!)")
THIRD_PARTY = {"cuda.h": re.compile(r"cuda"), "cuda_dedup.h": re.compile(r"thrust/")}  # by public header: the others that it includes
SOURCE_SUFFIXES = {".h", ".cc", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
LAUNCH = re.compile(r"<<<")
FOLDER_ROW = re.compile(r"^\| (`[\w/-]+/`(?:, `[\w/-]+/`)*) \|", re.MULTILINE)

Order = dict[str, int]  # the row of each folder, which includes only folders of smaller rows


def is_public(path: pathlib.PurePath) -> bool:
    return "include" in path.parts


def layer_of(path: pathlib.PurePath) -> str:
    """Returns the folder that the rule applies to. `bindings/` has one for each language."""
    return "/".join(path.parts[: 2 if path.parts[0] == "bindings" else 1])


def public_home(root: pathlib.Path, header: str) -> str | None:
    """Returns the folder that has the public header `<cutpoint/...>`, or None."""
    for folder in MAY_INCLUDE:
        if (root / folder / "include" / header).is_file():
            return folder
    return None


def folder_order(page: str) -> Order:
    """Reads the order of folders from the table of docs/architecture.md."""
    table = page.partition("\n## Folders\n")[2].partition("\n## ")[0]
    return {name: row for row, match in enumerate(FOLDER_ROW.finditer(table)) for name in re.findall(r"`([^`]+)`", match[1])}


def folder_of(path: pathlib.PurePath) -> str:
    return "/".join(path.parts[: min(2, len(path.parts) - 1)]) + "/"


def order_problems(order: Order, path: pathlib.PurePath, text: str) -> list[str]:
    """Returns a sentence for each include within a layer that leads to a folder which is not below the including one."""
    layer, folder = path.parts[0], folder_of(path)
    problems = []
    for bracket, header in INCLUDE.findall(text):
        target = pathlib.PurePath(header)
        if bracket == "<" or target.parts[0] != layer or folder_of(target) == folder or is_public(path):
            continue
        if order.get(folder_of(target), len(order)) >= order.get(folder, 0):
            problems.append(f"{path}: {folder} may not include {header}; docs/architecture.md has the order of the folders")
    return problems


def layer_problems(root: pathlib.Path, path: pathlib.PurePath, text: str) -> list[str]:
    folder = layer_of(path)
    problems = []
    if path.suffix in {".h", ".cc"} and LAUNCH.search(text):
        problems.append(f"{path}: a kernel launch outside .cu and .cuh")
    for bracket, header in INCLUDE.findall(text):
        if header.startswith("cutpoint/"):
            home = public_home(root, header)
            allowed = MAY_INCLUDE[folder] | ({"host", "pipeline", "store", "cluster"} if folder in PUBLIC_ONLY else set())
            if folder.startswith("bindings/"):
                allowed = allowed | {"cuda"}
            if home is None:
                problems.append(f"{path}: no public header {header}")
            elif home not in allowed:
                problems.append(f"{path}: {folder}/ may not include {header}, a public header of {home}/")
        elif bracket == '"':
            home = layer_of(pathlib.PurePath(header))
            if not (root / header).is_file():
                problems.append(f"{path}: {header} is no path from the root")
            elif home not in MAY_INCLUDE[folder]:
                problems.append(f"{path}: {folder}/ may not include {header}")
            elif is_public(path):
                problems.append(f"{path}: a public header includes {header}, which is not public")
        elif is_public(path) and "." in header and header not in OF_C and not THIRD_PARTY.get(path.name, NOTHING).match(header):
            problems.append(f"{path}: a public header includes {header}, which is of a third party")
    return problems


def all_problems(root: pathlib.Path) -> list[str]:
    """Returns a sentence for each line below `root` that breaks the rule."""
    page = root / "docs/architecture.md"
    order = folder_order(page.read_text(encoding="utf-8") if page.is_file() else "")
    problems = []
    for folder in [*MAY_INCLUDE, "bench"]:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SOURCE_SUFFIXES:
                text = path.read_text(encoding="utf-8")
                problems += order_problems(order, path.relative_to(root), text)
                if folder in MAY_INCLUDE:
                    problems += layer_problems(root, path.relative_to(root), text)
    return problems


if __name__ == "__main__":
    problems = all_problems(pathlib.Path(sys.argv[1]))
    print("\n".join(problems) or "every include keeps to the layers and to the order of their folders")
    sys.exit(1 if problems else 0)
