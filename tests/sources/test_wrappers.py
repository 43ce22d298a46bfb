"""Scripts whose work is done by Python: the user's variables for Python change nothing, nor does a symbolic link or the folder they run in,
and a closed pipe ends them without a word."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = [ROOT / "scripts/datasets", "list"]
VARIABLES = {
    "PYTHONHOME": "/nonexistent",
    "PYTHONPATH": "{folder}/modules",
    "PYTHONSTARTUP": "{folder}/modules/json.py",
    "PYTHONWARNINGS": "error",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONOPTIMIZE": "2",
    "PYTHONUTF8": "0",
    "PYTHONIOENCODING": "ascii",
    "PYTHONSAFEPATH": "1",
    "PYTHONUNBUFFERED": "1",
    "PYTHONDEVMODE": "1",
    "PYTHONVERBOSE": "1",
    "PYTHONINSPECT": "1",
}


class Wrappers(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        (self.folder / "modules").mkdir()
        for name in ("json", "signal", "experiments"):
            (self.folder / f"modules/{name}.py").write_text("raise RuntimeError('a module of the user')\n")

    def run_script(self, *words: object, **options) -> tuple[int, str, str]:
        options = {"env": self.environment, "stdout": subprocess.PIPE, **options}
        run = subprocess.run(words, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=60, check=False, **options)
        return run.returncode, run.stdout, run.stderr

    def test_variables_for_python_change_nothing(self):
        expected = self.run_script(*LIST)
        self.assertEqual((expected[0], expected[2]), (0, ""))
        self.assertIn("stands for", expected[1])
        variables = {name: value.format(folder=self.folder) for name, value in VARIABLES.items()}
        self.assertEqual(self.run_script(*LIST, env={**self.environment, **variables}), expected)

    def test_the_folder_and_links_change_nothing(self):
        expected = self.run_script(*LIST)
        self.assertEqual(self.run_script(*LIST, cwd=self.folder / "modules"), expected)
        (self.folder / "folder").symlink_to(ROOT / "scripts")
        (self.folder / "link").symlink_to("folder/datasets")
        self.assertEqual(self.run_script(self.folder / "link", "list"), expected)
        self.assertEqual(self.run_script("../folder/datasets", "list", cwd=self.folder / "modules"), expected)
        for path in sorted((ROOT / "scripts").iterdir()):
            text = path.read_text(errors="replace") if path.is_file() else ""
            if "-h | --help)" in text:
                with self.subTest(path.name):
                    (self.folder / path.name).symlink_to(path)
                    self.assertEqual(self.run_script(self.folder / path.name, "--help")[0], 0)

    def test_a_closed_pipe_ends_them_without_a_word(self):
        for words in LIST, [ROOT / "scripts/papers", "--help"], [sys.executable, "-B", ROOT / "scripts/gpu_estimates.py"]:
            with self.subTest(words[-1]):
                reader, writer = os.pipe()
                os.close(reader)
                with open(writer, "wb") as output:
                    code, _, errors = self.run_script(*words, stdout=output)
                self.assertEqual(errors, "")
                self.assertIn(code, (-signal.SIGPIPE, 128 + signal.SIGPIPE))


if __name__ == "__main__":
    unittest.main()
