"""Tests the packages that CPack makes: Debian packages, and an archive that runs wherever it is unpacked."""

import os
import pathlib
import re
import shutil
import tempfile
import unittest

from test_package import CC, CMAKE, EXAMPLE, run

BUILD = os.environ["CUTPOINT_BUILD"]
COMMAND, LIBRARY, DEVELOPMENT = "cutpoint", "libcutpoint-c1", "libcutpoint-dev"
OF_THE_C_LIBRARY = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"}


class Packages(unittest.TestCase):
    @classmethod
    def pack(cls, generator: str) -> list[pathlib.Path]:
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        run(pathlib.Path(CMAKE).parent / "cpack", "-G", generator, "-B", cls.folder / "packed", cwd=BUILD)
        return sorted(path for path in (cls.folder / "packed").iterdir() if path.is_file())

    def build_example(self, prefix: pathlib.Path, **environment: str) -> str:
        """Builds the example with the package under `prefix` and returns its output for a file."""
        build = self.folder / self.id()
        run(CMAKE, "-S", EXAMPLE, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={CC}")
        run(CMAKE, "--build", build)
        return run(build / "chunk_file", EXAMPLE / "chunk_file.c", env={**os.environ, **environment})

    def check_command(self, command: pathlib.Path):
        self.assertEqual(run(command, "--version", env={}), run(pathlib.Path(BUILD) / "cli/cutpoint", "--version"))
        self.assertRegex(run(command, "dedup", "-q", EXAMPLE, env={}), r"(?m)^savings +\d")


@unittest.skipUnless(shutil.which("dpkg-shlibdeps") and shutil.which("file"), "needs Debian's tools")
class Debian(Packages):
    @classmethod
    def setUpClass(cls):
        cls.files = {path.name.split("_")[0]: path for path in cls.pack("DEB")}

    def control(self, package: str, field: str) -> str:
        return run("dpkg-deb", "--field", self.files[package], field).strip()

    def contents(self, package: str) -> set[str]:
        listed = run("dpkg-deb", "--contents", self.files[package]).splitlines()
        return {re.split(r"\s+", line, maxsplit=5)[5].split(" -> ")[0].lstrip(".") for line in listed if not line.endswith("/")}

    def test_there_are_three(self):
        self.assertEqual(set(self.files), {COMMAND, LIBRARY, DEVELOPMENT})

    def test_each_has_its_own(self):
        command, library, development = (self.contents(package) for package in (COMMAND, LIBRARY, DEVELOPMENT))
        self.assertFalse(command & library | command & development | library & development)
        for page in ("", "-chunk", "-dedup", "-tune", "-bench", "-list", "-info"):
            self.assertIn(f"/usr/share/man/man1/cutpoint{page}.1.gz", command)
        for page in ("", "-trace", "-evolve", "-simulate"):
            self.assertIn(f"/usr/share/man/man1/cutpoint-cluster{page}.1.gz", command)
        for file in ("bin/cutpoint", "bin/cutpoint-cluster", "share/bash-completion/completions/cutpoint", "share/zsh/vendor-completions/_cutpoint",
                     "share/fish/vendor_completions.d/cutpoint.fish", "share/cutpoint/schemas/dedup.schema.json",
                     "share/bash-completion/completions/cutpoint-cluster", "share/zsh/vendor-completions/_cutpoint-cluster"):  # fmt: skip
            self.assertIn(f"/usr/{file}", command)
        names = {path.rsplit("/", 1)[1] for path in library if "/doc/" not in path}
        self.assertEqual(names, {"libcutpoint_c.so.1", "libcutpoint_c.so.1.5"})
        names = {path.rsplit("/", 1)[1] for path in development}
        for file in ("cutpoint.h", "cutpoint_cuda.h", "cutpoint_store.h", "engine.h", "store.h", "libcutpoint.a", "libcutpoint_c.a",
                     "libcutpoint_c.so", "cutpoint.pc", "cutpoint-c.pc", "cutpoint-config.cmake", "libcutpoint.3.gz"):  # fmt: skip
            self.assertIn(file, names)
        for package in self.files:
            for file in ("copyright", "changelog.gz"):
                self.assertIn(f"/usr/share/doc/{package}/{file}", self.contents(package))

    def test_they_name_what_they_need(self):
        for package in (COMMAND, LIBRARY):
            for needed in ("libc6", "libssl3", "libhwloc15", "libxxhash0"):
                self.assertRegex(self.control(package, "Depends"), rf"\b{needed}")
        self.assertNotIn("cutpoint", self.control(COMMAND, "Depends"))
        version = self.control(LIBRARY, "Version")
        self.assertIn(f"{LIBRARY} (= {version})", self.control(DEVELOPMENT, "Depends"))
        for needed in "libssl-dev", "libzstd-dev":
            self.assertIn(needed, self.control(DEVELOPMENT, "Depends"))

    def test_programs_that_link_the_library_will_need_its_package(self):
        shlibs = run("dpkg-deb", "--info", self.files[LIBRARY], "shlibs")
        self.assertEqual(shlibs, f"libcutpoint_c 1 {LIBRARY} (>= {self.control(LIBRARY, 'Version')})\n")

    def test_they_describe_themselves_within_bounds(self):
        seen = set()
        for package in self.files:
            summary, *rest = self.control(package, "Description").split("\n")
            self.assertLess(len(summary), 80)
            self.assertLessEqual(max(map(len, rest)), 80)
            seen.add(summary)
        self.assertEqual(len(seen), 3)

    def test_what_is_unpacked_works(self):
        root = self.folder / "root"
        for file in self.files.values():
            run("dpkg-deb", "--extract", file, root)
        self.check_command(root / "usr/bin/cutpoint")
        library = next(root.rglob("libcutpoint_c.so.1"))
        self.assertNotRegex(run("readelf", "-d", library, root / "usr/bin/cutpoint"), "R(UN)?PATH")
        shown = self.build_example(root / "usr", LD_LIBRARY_PATH=str(library.parent))
        self.assertRegex(shown, r"^0 \d+ [0-9a-f]{64}\n")


@unittest.skipUnless(shutil.which("patchelf") and shutil.which("dpkg-query"), "needs patchelf and Debian's tools")
class Archive(Packages):
    @classmethod
    def setUpClass(cls):
        (file,) = cls.pack("TGZ")
        run("tar", "-C", cls.folder, "-xf", file)
        cls.prefix = cls.folder / "an other place"
        (cls.folder / file.name.removesuffix(".tar.gz")).rename(cls.prefix)
        cls.library = next(cls.prefix.rglob("libcutpoint_c.so.1"))

    def test_the_command_runs_where_it_is_unpacked(self):
        self.check_command(self.prefix / "bin/cutpoint")

    def test_it_needs_the_c_library_alone(self):
        for program in (self.prefix / "bin/cutpoint", self.prefix / "bin/cutpoint-cluster", self.library):
            links = re.findall(r"^\s(\S+) => (.*) \(0x", run("ldd", program), re.MULTILINE)
            self.assertGreater(len(links), 8)
            outside = {name for name, path in links if not pathlib.Path(path).resolve().is_relative_to(self.prefix.resolve())}
            self.assertLessEqual(outside, OF_THE_C_LIBRARY)

    def test_the_licences_of_what_it_carries_are_there(self):
        licences = {path.name for path in (self.prefix / "share/doc/cutpoint/libraries").iterdir()}
        for package in ("libssl3", "libhwloc15", "libxxhash0", "libstdc++6"):  # or another name that begins so
            self.assertTrue(any(name.startswith(package) for name in licences), licences)

    def test_a_program_is_built_with_it(self):
        self.assertRegex(self.build_example(self.prefix), r"^0 \d+ [0-9a-f]{64}\n")

    def test_its_package_says_that_it_has_no_archives(self):
        source = self.folder / "archives"
        source.mkdir()
        source.joinpath("CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(a LANGUAGES C)\n"
            "find_package(cutpoint)\nmessage(STATUS found=${cutpoint_FOUND})\n"
            "find_package(cutpoint REQUIRED COMPONENTS c_static)\n")
        with self.assertRaisesRegex(AssertionError, r"(?s)found=1.*no component c_static, but c\b"):
            run(CMAKE, "-S", source, "-B", self.folder / "archives-built", f"-DCMAKE_PREFIX_PATH={self.prefix}")

    def test_nothing_in_it_is_debians_or_knows_where_it_was_made(self):
        files = [path for path in self.prefix.rglob("*") if path.is_file()]
        self.assertIn("LICENSE", {path.name for path in files})
        self.assertNotIn("changelog", {path.name for path in files})
        for path in files:
            if path.suffix in (".cmake", ".pc"):
                self.assertNotIn(str(pathlib.Path(BUILD).resolve()), path.read_text())


del Packages  # has no tests of its own
