"""Checks the grain of the sources: no layer of slivers, and no header of its own for a single user.

In each layer the sources that lie in no room of ROOMS have LEAST_MEAN lines or more in the mean. An internal header that one other source
includes at most, its own `.cc` apart, has a line `// Apart because ...` with the reason; otherwise it belongs into its user, or into the
header of a neighbour. What a test includes too has more than one user.
"""

import collections
import pathlib
import sys

from layers import INCLUDE, SOURCE_SUFFIXES, is_public

LAYERS = ("host", "simd", "cuda", "pipeline", "store", "cluster", "cli", "cluster_cli", "bindings", "bench")
USERS = (*LAYERS, "tests", "examples")
LEAST_MEAN = 130
FEWEST_SOURCES = 10  # of which a mean says something
APART = "// Apart because "

# Folders whose files are not counted, and why.
ROOMS = {
    "host/algorithms/": "a file for each algorithm",
    "host/tables/": "a file for each table, with its origin and licence",
    "simd/cuts/": "a source for each algorithm, compiled for every instruction set",
    "simd/hashes/": "a source for each hash, compiled for every instruction set",
    "simd/scans/": "a source for each scanner, compiled for every instruction set",
    "cuda/algorithms/": "a file for each algorithm",
    "cuda/hash/": "a file for each hash",
    "cli/store/": "a file for each subcommand",
    "bench/experiments/datasets/": "a module for each family of data sets",
    "bench/experiments/report/charts/": "a module for each chart",
}


def is_exempt(path: pathlib.PurePath) -> bool:
    """Whether a source lies in a room, is a public header, which users include by what they need, or marks a package of Python."""
    return str(path).startswith(tuple(ROOMS)) or is_public(path) or path.name == "__init__.py"


def sources(root: pathlib.Path, folders: tuple[str, ...], suffixes: set[str]) -> dict[pathlib.PurePath, str]:
    paths = sorted(path for folder in folders for path in (root / folder).rglob("*") if path.suffix in suffixes)
    return {path.relative_to(root): path.read_text(encoding="utf-8") for path in paths}


def mean_problems(root: pathlib.Path) -> list[str]:
    """Returns a sentence for each layer whose sources have too few lines in the mean."""
    problems = []
    for layer in LAYERS:
        counted = [text.count("\n") for path, text in sources(root, (layer,), SOURCE_SUFFIXES | {".py"}).items() if not is_exempt(path)]
        if len(counted) >= FEWEST_SOURCES and sum(counted) < LEAST_MEAN * len(counted):
            problems.append(f"{layer}/: {len(counted)} sources have {sum(counted) / len(counted):.0f} lines in the mean, fewer than {LEAST_MEAN}")
    return problems


def single_user_problems(root: pathlib.Path) -> list[str]:
    """Returns a sentence for each internal header that has one user at most and does not say why it is apart."""
    users = collections.defaultdict(set)
    texts = sources(root, USERS, SOURCE_SUFFIXES | {".in"})
    for path, text in texts.items():
        for _, header in INCLUDE.findall(text):
            users[header].add(path)
    problems = []
    for path, text in texts.items():
        if path.parts[0] not in LAYERS or path.suffix not in {".h", ".cuh"} or is_exempt(path) or f"\n{APART}" in f"\n{text}":
            continue
        others = [user for user in users[str(path)] if user.with_suffix("") != path.with_suffix("")]
        if len(others) <= 1:
            problems.append(f"{path}: {others[0] if others else 'nothing'} alone includes it, and no line says '{APART}...'")
    return problems


def all_problems(root: pathlib.Path) -> list[str]:
    return mean_problems(root) + single_user_problems(root)


if __name__ == "__main__":
    problems = all_problems(pathlib.Path(sys.argv[1]))
    print("\n".join(problems) or "no slivers")
    sys.exit(1 if problems else 0)
