"""Names the programs to build, and the tests to run, after a change.

    changed_tests.py BUILD_FOLDER REVISION CTEST

A test is affected if a program that it runs is built from a file that differs from REVISION, if this program is not built, or if the
folder of the test has such a file. The last build recorded which files each program includes. Tests that build or pack all of Cutpoint once more are left out. Prints
two lines: the programs, and a regular expression for the names of the tests. Prints no line if the build itself changed (a CMake list, a
preset), because everything is affected then.
"""

import collections
import json
import pathlib
import re
import signal
import subprocess
import sys

ALWAYS = {"layers", "sources", "changed"}
REBUILDING = re.compile(r"^(examples-|package|python_|experiments_)")
UNBUILT = "_NOT_BUILT"  # ends the name of the test that stands for the suites of a program that was never built (cmake/test_suites.cmake)


def run(*command: str | pathlib.Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def changed_files(root: pathlib.Path, revision: str) -> set[pathlib.Path]:
    names = run("git", "-C", root, "diff", "--name-only", "-z", revision, "--")
    names += run("git", "-C", root, "ls-files", "--others", "--exclude-standard", "-z")
    return {root / name for name in names.split("\0") if name}


def objects_by_source(build: pathlib.Path, listing: str) -> dict[pathlib.Path, set[str]]:
    """Which objects include which files, from `ninja -t deps`."""
    objects = collections.defaultdict(set)
    current = ""
    for line in listing.splitlines():
        if line.startswith(" "):
            objects[(build / line.strip()).resolve()].add(current)
        elif line:
            current = line.partition(":")[0]
    return objects


def property_of(test: dict, name: str, default):
    return next((each["value"] for each in test["properties"] if each["name"] == name), default)


def mentioned_paths(test: dict) -> list[pathlib.Path]:
    """The absolute paths in a test's command line, working folder and environment."""
    words = [*test.get("command", []), property_of(test, "WORKING_DIRECTORY", "")]
    words += [value.partition("=")[2] for value in property_of(test, "ENVIRONMENT", [])]
    return [pathlib.Path(word) for word in words if word.startswith("/")]


def is_built_from(build: pathlib.Path, target: str, stale: set[str]) -> bool:
    """Whether something stale goes into a target, or it is not built, so that nobody knows; False where it is none."""
    listing = subprocess.run(["ninja", "-C", build, "-t", "inputs", target], capture_output=True, text=True)
    if listing.returncode != 0:
        return False
    return not (build / target).exists() or not stale.isdisjoint(listing.stdout.splitlines())


def affected(root: pathlib.Path, build: pathlib.Path, ctest: str, changed: set[pathlib.Path]) -> tuple[set[str], set[str]]:
    """The programs, and patterns of the names of the tests, that a change of files affects."""
    objects = objects_by_source(build, run("ninja", "-C", build, "-t", "deps"))
    stale = {name for path in changed for name in objects.get(path, ())} | {str(path) for path in changed}
    is_stale: dict[str, bool] = {}
    programs, names = set(), set(ALWAYS)
    for test in json.loads(run(ctest, "--test-dir", build, "--show-only=json-v1"))["tests"]:
        if "full" in property_of(test, "LABELS", []) or REBUILDING.match(test["name"]):
            continue
        if test["name"].endswith(UNBUILT):
            program = test["name"].removesuffix(UNBUILT)
            programs.add(program)
            names.add(re.escape(program) + r"\..*")
            continue
        paths = mentioned_paths(test)
        targets = [str(path.relative_to(build)) for path in paths if path.is_relative_to(build) and path != build and not path.is_dir()]
        for target in targets:
            if target not in is_stale:
                is_stale[target] = is_built_from(build, target, stale)
        folders = [path for path in paths if path.is_relative_to(root / "tests")]
        is_edited = any(path.is_relative_to(folder) for path in changed for folder in folders)
        if is_edited or any(is_stale[target] for target in targets):
            programs.update(targets)
            program, is_suite, _ = test["name"].partition(".")
            names.add(re.escape(program) + (r"\..*" if is_suite else ""))  # with the suites that the program will have
    return programs, names


def main() -> None:
    root = pathlib.Path(__file__).resolve().parents[1]
    build = pathlib.Path(sys.argv[1]).resolve()
    changed = changed_files(root, sys.argv[2])
    is_build = [path for path in changed if path.name in {"CMakeLists.txt", "CMakePresets.json"} or path.parent == root / "cmake"]
    if is_build:
        return
    programs, names = affected(root, build, sys.argv[3], changed)
    print(" ".join(sorted(programs)))
    print("^(" + "|".join(sorted(names)) + ")$")


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as the shell's own programs end when their reader does
    main()
