"""Functions and a base class to run the built examples."""

import os
import pathlib
import subprocess
import tempfile
import unittest

BUILT = pathlib.Path(os.environ["CUTPOINT_EXAMPLES"])
SOURCES = pathlib.Path(__file__).resolve().parents[2] / "examples"

MIB = 1 << 20


def program(folder: str, name: str) -> pathlib.Path:
    """Returns the path of an example's program. Skips the test if the example was not built here."""
    path = BUILT / folder / name
    if not path.exists():
        raise unittest.SkipTest(f"examples/{folder} was not built here")
    return path


class ExampleTest(unittest.TestCase):
    """A test with a temporary folder, in which it runs programs."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def file(self, name: str, data: bytes) -> pathlib.Path:
        path = self.folder / name
        path.write_bytes(data)
        return path

    def run_program(self, *words, code: int = 0, **options) -> subprocess.CompletedProcess:
        """Runs a program and expects the exit code. Its output is bytes and its errors are text."""
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("cwd", self.folder)
        done = subprocess.run([str(word) for word in words], stderr=subprocess.PIPE, **options)
        done.stderr = done.stderr.decode()
        self.assertEqual(done.returncode, code, f"{words}: {done.stderr}")
        return done
