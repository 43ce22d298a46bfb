"""The shared library exports exactly the names of its version script, each with its version, and the headers declare them."""

import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
HEADERS = [ROOT / "bindings" / "c" / "include" / "cutpoint" / name for name in ("cutpoint.h", "cutpoint_cuda.h", "cutpoint_store.h")]


def listed() -> set[str]:
    """NAME@@VERSION of the checked-in list."""
    names, version = set(), ""
    for line in (ROOT / "bindings" / "c" / "cutpoint_c.map").read_text().splitlines():
        if match := re.match(r"(CUTPOINT_[0-9.]+) {", line):
            version = match[1]
        elif match := re.match(r" +(cutpoint_\w+);", line):
            names.add(f"{match[1]}@@{version}")
    return names


class Symbols(unittest.TestCase):
    def test_the_library_shows_what_is_listed(self):
        lines = subprocess.run(["nm", "-D", "--defined-only", os.environ["CUTPOINT_C_LIBRARY"]], check=True, capture_output=True,
                               text=True).stdout.splitlines()
        shown = {line.split()[2] for line in lines if line.split()[1] != "A"}  # A: the versions themselves
        self.assertEqual(shown, listed())

    def test_the_headers_declare_what_is_listed(self):
        text = "".join(header.read_text() for header in HEADERS)
        declared = re.findall(r"^CUTPOINT_API [\w* ]+?\b(cutpoint_\w+)\(", text, re.MULTILINE)
        self.assertEqual(sorted(declared), sorted(name.split("@@")[0] for name in listed()))

    def test_the_archive_hides_what_is_not_for_callers(self):
        lines = subprocess.run(["readelf", "--syms", "--wide", os.environ["CUTPOINT_C_ARCHIVE"]], check=True, capture_output=True,
                               text=True).stdout.splitlines()
        fields = [line.split() for line in lines if re.match(r" +\d+: ", line)]
        shown = {f[7] for f in fields if len(f) > 7 and f[3] == "FUNC" and f[4] == "GLOBAL" and f[5] == "DEFAULT" and f[6] != "UND"}
        self.assertEqual(shown, {name.split("@@")[0] for name in listed()})


if __name__ == "__main__":
    unittest.main()
