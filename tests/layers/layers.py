"""Checks the include rule, which says which folder may include which, in the text of the sources.

    host      -> host
    simd      -> host
    cuda      -> host
    pipeline  -> host, simd, cuda
    store     -> host, simd, cuda, pipeline
    cli       -> public headers            (bindings: the same)
    bench, tests: anything; nothing includes them

Public headers (`*/include/cutpoint/`) include the standard library and each other, no further than their folder may, and nothing
else; `cutpoint/cuda.h` may have CUDA's types.
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
    "cli": {"cli"},
    "bindings/c": {"bindings/c"},
    "bindings/python": {"bindings/python"},
}
PUBLIC_ONLY = {"cli", "bindings/c", "bindings/python"}
OF_C = {"stddef.h", "stdint.h"}  # the standard library too
ANYTHING = {"bench", "tests"}
SOURCE_SUFFIXES = {".h", ".cc", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
LAUNCH = re.compile(r"<<<")


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


def problems_of(root: pathlib.Path, path: pathlib.PurePath) -> list[str]:
    folder = layer_of(path)
    text = (root / path).read_text(encoding="utf-8")
    problems = []
    if path.suffix in {".h", ".cc"} and LAUNCH.search(text):
        problems.append(f"{path}: a kernel launch outside .cu and .cuh")
    for bracket, header in INCLUDE.findall(text):
        if header.startswith("cutpoint/"):
            home = public_home(root, header)
            allowed = MAY_INCLUDE[folder] | ({"host", "pipeline", "store"} if folder in PUBLIC_ONLY else set())
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
        elif is_public(path) and "." in header and header not in OF_C and path.name != "cuda.h":
            problems.append(f"{path}: a public header includes {header}, which is of a third party")
    return problems


def all_problems(root: pathlib.Path) -> list[str]:
    """Returns a sentence for each line below `root` that breaks the rule."""
    problems = []
    for folder in sorted(MAY_INCLUDE):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SOURCE_SUFFIXES:
                problems += problems_of(root, path.relative_to(root))
    return problems


if __name__ == "__main__":
    problems = all_problems(pathlib.Path(sys.argv[1]))
    print("\n".join(problems) or "every include keeps to the layers")
    sys.exit(1 if problems else 0)
