"""Tests when scripts/cutpoint builds the command, and whether with CUDA, in a folder with a stand-in for the build."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = re.findall(r"^add_subdirectory\((\w+)[ )]", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
FOLDERS = [folder for folder in FOLDERS if not folder.startswith("cluster")]  # the command does without them
INPUTS = ["CMakeLists.txt", "CMakePresets.json", "cmake/file", *(f"{folder}/deep/file" for folder in FOLDERS)]
BUILD = """
build() {
  configured=$(cuda_arguments release)
  echo "$* $configured" >>"$root/builds"
  while [[ -e $root/waits ]]; do sleep 0.05; done
  mkdir -p "$root/build/release/cli"
  printf '#!/bin/sh\\necho "$@"\\n' >"$root/build/release/$2"
  chmod +x "$root/build/release/$2"
  echo "$configured" >"$root/build/release/.configured"
  touch "$root/build/release/.built${2#cli/cutpoint}"
}
"""


class Launcher(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)
        (self.root / "scripts").mkdir()
        (self.root / ".deps").mkdir()
        for path in INPUTS:
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).touch()
        shutil.copy(ROOT / "scripts/cutpoint", self.root / "scripts/cutpoint")
        library = (ROOT / "scripts/lib.sh").read_text()
        (self.root / "scripts/lib.sh").write_text(library + BUILD)
        setup = self.root / "scripts/setup"
        setup.write_text(f"#!/bin/sh\necho >>'{self.root}/setups'\n")
        setup.chmod(0o755)
        for name, version in (("nvcc", "release 13.0,"), ("cmake", "cmake version 3.31.0")):
            program = self.root / "tools/bin" / name
            program.parent.mkdir(parents=True, exist_ok=True)
            program.write_text(f"#!/bin/sh\necho '{version}'\n")
            program.chmod(0o755)

    def start(self, *words: str) -> subprocess.Popen:
        tools = self.root / "tools"
        environment = {**os.environ, "CUDA_HOME": str(tools), "PATH": f"{tools / 'bin'}:{os.environ['PATH']}"}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([self.root / "scripts/cutpoint", *words], env=environment, text=True, **pipes)

    def run_command(self, *words: str) -> str:
        """Runs the command, which repeats its words, and returns what it wrote to standard error."""
        words = words or ("one", "two words")
        return self.expect_end(self.start(*words), *words)

    def expect_end(self, process: subprocess.Popen, *words: str) -> str:
        output, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, output), (0, " ".join(words) + "\n"), errors)
        return errors

    def lines_of(self, name: str) -> list[str]:
        path = self.root / name
        return path.read_text().splitlines() if path.exists() else []

    def builds(self) -> list[str]:
        return self.lines_of("builds")

    def await_lines(self, count: int, name: str):
        for _ in range(600):
            if len(self.lines_of(name)) >= count:
                return
            time.sleep(0.05)
        self.fail(f"{name} has {self.lines_of(name)}")

    def test_a_newer_file_of_any_folder_that_the_command_consists_of_is_built(self):
        self.assertIn("store", FOLDERS)
        self.run_command()
        for path in INPUTS:
            with self.subTest(path=path):
                self.run_command()
                before = len(self.builds())
                stamp = (self.root / "build/release/.built").stat().st_mtime_ns
                os.utime(self.root / path, ns=(stamp + 1, stamp + 1))
                self.run_command()
                self.assertEqual(len(self.builds()), before + 1)
                os.utime(self.root / path, ns=(0, 0))

    def test_nothing_is_built_or_said_when_nothing_is_newer(self):
        self.assertIn("building the command", self.run_command())
        self.assertEqual(self.run_command(), "")
        self.assertEqual(len(self.builds()), 1)

    def test_commands_that_need_no_store_are_built_without_it_until_another_is_used(self):
        shutil.copy(ROOT / "cli/engine_program.cc", self.root / "cli/engine_program.cc")
        self.assertIn("commands on a store", self.run_command("dedup", "a path"))
        self.assertEqual(self.run_command("chunk"), "")
        self.assertNotIn("commands on a store", self.run_command("backup"))
        self.assertEqual(self.run_command("dedup"), "")
        built = [line.split()[1] for line in self.builds()]
        self.assertEqual(built, ["cli/cutpoint-engine", "cli/cutpoint"])

    def test_a_newer_source_is_built_where_only_commands_without_a_store_are_built(self):
        shutil.copy(ROOT / "cli/engine_program.cc", self.root / "cli/engine_program.cc")
        self.run_command("dedup")
        stamp = (self.root / "build/release/.built-engine").stat().st_mtime_ns
        os.utime(self.root / "host/deep/file", ns=(stamp + 1, stamp + 1))
        self.run_command("dedup")
        self.assertEqual(len(self.builds()), 2)

    def test_one_build_serves_all_commands_that_wait_for_it(self):
        shutil.copy(ROOT / "cli/engine_program.cc", self.root / "cli/engine_program.cc")
        (self.root / "waits").touch()
        backup = self.start("backup")
        self.await_lines(1, "builds")
        dedup = self.start("dedup")
        self.await_lines(2, "setups")  # it waits for the lock, if it did not get there after the build
        (self.root / "waits").unlink()
        self.expect_end(backup, "backup")
        self.assertEqual(self.expect_end(dedup, "dedup"), "")
        self.assertEqual(len(self.builds()), 1)

    @unittest.skipIf(os.path.exists("/proc/driver/nvidia/version") or os.path.exists("/dev/dxg"), "a GPU's driver runs here")
    def test_cuda_is_built_only_where_it_was_asked_for_or_is_there(self):
        without = "release cli/cutpoint -DCUTPOINT_CUDA=OFF"
        self.assertIn("scripts/setup --cuda", self.run_command())
        self.assertEqual(self.builds()[-1], without)
        for present, absent in ((".deps/with-cuda", None), ("build/release/.configured", ".deps/with-cuda")):
            with self.subTest(present=present):
                if absent:
                    (self.root / absent).unlink()
                if present.startswith(".deps"):
                    (self.root / present).touch()
                (self.root / "build/release/.built").unlink()
                self.assertNotIn("scripts/setup --cuda", self.run_command())
                self.assertIn("-DCMAKE_CUDA_COMPILER=", self.builds()[-1])
        (self.root / ".deps/no-cuda").touch()
        (self.root / "build/release/.built").unlink()
        self.run_command()
        self.assertEqual(self.builds()[-1], without)


class Links(unittest.TestCase):
    """Each script works through a symbolic link, and ends without a message when its reader has gone."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def check(self, script: pathlib.Path, *words: str) -> None:
        link = self.folder / "link" / script.name
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(script)
        whole = subprocess.run([link, *words], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual((whole.returncode, whole.stderr), (0, ""), script)
        self.assertTrue(whole.stdout, script)
        reading, writing = os.pipe()
        os.close(reading)
        cut = subprocess.run([link, *words], cwd=self.folder, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60)
        os.close(writing)
        self.assertEqual(cut.stderr, "", script)
        self.assertIn(cut.returncode, (0, -signal.SIGPIPE, 128 + signal.SIGPIPE), script)

    def test_scripts_of_the_shell(self):
        scripts = [path for path in sorted((ROOT / "scripts").iterdir()) if path.is_file() and "\nusage() {" in path.read_text()]
        self.assertGreater(len(scripts), 5)
        for script in scripts:
            with self.subTest(script.name):
                self.check(script, "--help")

    def test_scripts_of_python(self):
        self.check(ROOT / "scripts/datasets", "list")
        (self.folder / "python").write_text(f"#!/bin/sh\nexec '{sys.executable}' -B '{ROOT}/scripts/gpu_estimates.py'\n")
        (self.folder / "python").chmod(0o755)
        self.check(self.folder / "python")


if __name__ == "__main__":
    unittest.main()
