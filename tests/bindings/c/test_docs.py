"""The programs of docs/c.md compile as C99 without warnings, run, and print the expected output."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]


class Page(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def output_of(self, program: str) -> str:
        library = pathlib.Path(os.environ["CUTPOINT_C_LIBRARY"])
        source, built = self.folder / "program.c", self.folder / "program"
        source.write_text(program)
        subprocess.run([os.environ["CUTPOINT_CC"], *WARNINGS, f"-I{ROOT}/bindings/c/include", source, "-o", built, library,
                        f"-Wl,-rpath,{library.parent}"], check=True)
        return subprocess.run([built], cwd=self.folder, check=True, capture_output=True, text=True).stdout

    def test_the_programs_run(self):
        programs = re.findall(r"```c\n(.*?)```", (ROOT / "docs" / "c.md").read_text(), re.DOTALL)
        self.assertEqual(len(programs), 4)
        self.assertRegex(self.output_of(programs[0]), r"\A[1-9]\d* chunks, the first of [1-9]\d* bytes\n\Z")
        self.assertEqual(self.output_of(programs[1]), "5000000 bytes in chunks; ok \n")
        self.assertEqual(self.output_of(programs[2]), "32000000 bytes of 64 files: ok\n")
        self.assertEqual(self.output_of(programs[3]), "1 file, incomplete: 1\n")

    def test_the_page_names_what_is_there(self):
        page = (ROOT / "docs" / "c.md").read_text()
        headers = "".join(path.read_text() for path in (ROOT / "bindings" / "c" / "include" / "cutpoint").glob("*.h"))
        for name in set(re.findall(r"\b(?:cutpoint_(?:feed|engine|chunk|describe|push|store)\w*|CUTPOINT_[A-Z_]{3,})\b", page)):
            if not name.startswith("CUTPOINT_BUILD_"):
                self.assertIn(name, headers)


if __name__ == "__main__":
    unittest.main()
