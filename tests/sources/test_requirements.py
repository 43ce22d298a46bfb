"""Tests that what is too old to build with is named: CUDA compilers of the machine by scripts/lib.sh, and nvCOMP by an example."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Requirements(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write(self, path: str, text: str) -> pathlib.Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
        return file


class Compilers(Requirements):
    def setUp(self):
        super().setUp()
        text = (ROOT / "scripts/lib.sh").read_text().replace("/usr/local/cuda", str(self.folder / "machine"))
        self.write("scripts/lib.sh", text)
        self.write("tools/cmake", "#!/bin/sh\necho cmake version 3.31.0\n")

    def nvcc(self, path: str, release: str) -> pathlib.Path:
        return self.write(path, f"#!/bin/sh\necho 'Cuda compilation tools, release {release}, V{release}.131'\n")

    def fetched(self) -> pathlib.Path:
        self.write(".deps/cuda/stamp", "")
        return self.nvcc(".deps/cuda/toolkit/bin/nvcc", "13.0")

    def arguments(self, preset: str = "release") -> tuple[list[str], str]:
        """CMake's arguments for CUDA, and what is said."""
        variables = {"PATH": f"{self.folder}/tools:/usr/bin:/bin", "CUDA_HOME": str(self.folder / "home")}
        shell = f"source '{self.folder}/scripts/lib.sh'; cuda_arguments {preset}"
        run = subprocess.run(["bash", "-euo", "pipefail", "-c", shell], env=variables, capture_output=True, text=True, check=True)
        return run.stdout.splitlines(), run.stderr

    def test_one_that_is_new_enough_is_taken_in_silence(self):
        self.nvcc("home/bin/nvcc", "12.9")
        new = self.nvcc("machine/bin/nvcc", "13.1")
        self.fetched()
        self.assertEqual(self.arguments(), ([f"-DCMAKE_CUDA_COMPILER={new}"], ""))

    def test_an_older_one_is_named_and_the_fetched_one_compiles(self):
        old, new = self.nvcc("machine/bin/nvcc", "12.4"), self.fetched()
        arguments, said = self.arguments()
        self.assertEqual(arguments, [f"-DCMAKE_CUDA_COMPILER={new}"])
        self.assertEqual(said, f"bash: {old} is not used: CUDA 13.0 or newer is needed, and this is 12.4; {new} compiles\n")

    def test_each_older_one_is_named_where_no_other_compiles(self):
        self.nvcc("home/bin/nvcc", "11.8")
        self.write("machine/bin/nvcc", "#!/bin/sh\nexit 1\n")
        arguments, said = self.arguments()
        self.assertEqual(arguments, ["-DCUTPOINT_CUDA=OFF"])
        self.assertIn("home/bin/nvcc is not used: CUDA 13.0 or newer is needed, and this is 11.8; the build is for the CPU only", said)
        self.assertIn("machine/bin/nvcc is not used: CUDA 13.0 or newer is needed, and this is of an unknown version; ", said)

    def test_an_old_cmake_is_named(self):
        new = self.nvcc("machine/bin/nvcc", "13.0")
        self.write("tools/cmake", "#!/bin/sh\necho cmake version 3.25.1\n")
        arguments, said = self.arguments()
        self.assertEqual(arguments, ["-DCUTPOINT_CUDA=OFF"])
        self.assertIn(f"{new} is not used: it takes CMake 3.30 or newer; the build is for the CPU only", said)

    def test_nothing_is_said_where_cuda_is_refused_or_plays_no_part(self):
        self.nvcc("machine/bin/nvcc", "12.4")
        self.assertEqual(self.arguments("dev"), ([], ""))
        self.write(".deps/no-cuda", "")
        self.assertEqual(self.arguments(), (["-DCUTPOINT_CUDA=OFF"], ""))


@unittest.skipUnless(shutil.which("cc"), "no C compiler")
class Nvcomp(Requirements):
    def said(self, version: int) -> str:
        self.write("nvcomp/lz4.h", "")
        self.write("nvcomp/version.h", f"#define NVCOMP_VER_MAJOR {version}\n")
        return subprocess.run(["cc", "-E", f"-I{self.folder}", ROOT / "examples/device/compress_new.c"], capture_output=True, text=True).stderr

    def test_an_older_one_is_refused_with_a_sentence(self):
        self.assertIn("compress_new needs nvCOMP 6: ", self.said(5))
        self.assertNotIn("needs nvCOMP", self.said(6))


if __name__ == "__main__":
    unittest.main()
