"""Tests that projects outside the tree can find, link and run an installed package, even after its prefix was moved.

Sources are compiled by the project's launcher, if any, in a folder of the build, so that a second run finds their objects again.
"""

import os
import pathlib
import random
import re
import shutil
import subprocess
import unittest

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLE = HERE.parents[1] / "examples" / "c"
CMAKE, CC, CXX = (os.environ[f"CUTPOINT_{name}"] for name in ("CMAKE", "CC", "CXX"))
LAUNCHER = list(filter(None, [os.environ.get("CMAKE_CXX_COMPILER_LAUNCHER")]))  # CMake reads it, too


def run(*words, **options) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{words} gave {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(os.environ["CUTPOINT_PACKAGE_FOLDER"])
        shutil.rmtree(cls.folder, ignore_errors=True)
        cls.folder.mkdir(parents=True)
        run(CMAKE, "--install", os.environ["CUTPOINT_BUILD"], "--prefix", cls.folder / "first")
        cls.prefix = cls.folder / "a place"  # what is installed knows no path
        shutil.move(cls.folder / "first", cls.prefix)
        cls.libraries = next(path.parent for path in cls.prefix.rglob("libcutpoint_c.so"))
        cls.data = cls.folder / "data"
        cls.data.write_bytes(random.Random(1).randbytes(1_000_000) + bytes(300_000) + b"end")
        listed = run(cls.prefix / "bin" / "cutpoint", "chunk", "--format", "text", cls.data).splitlines()
        cls.expected = [line.split()[:3] for line in listed if not line.startswith("#")]

    def expect_chunks(self, program: pathlib.Path):
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.libraries)}
        self.assertEqual([line.split() for line in run(program, self.data, env=environment).splitlines()], self.expected)

    def configure(self, source: pathlib.Path, *options: str) -> pathlib.Path:
        build = self.folder / self.id()
        run(CMAKE, "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_C_COMPILER={CC}", *options)
        return build

    def modules(self, name: str) -> list[str]:
        search = {**os.environ, "PKG_CONFIG_PATH": str(self.libraries / "pkgconfig")}
        flags = run("pkg-config", "--cflags", "--libs", name, env=search)
        return [word.replace("\0", " ") for word in flags.replace("\\ ", "\0").split()]

    def compile(self, compiler: str, source: pathlib.Path, module: str, *options: str) -> pathlib.Path:
        """An object of this source, compiled as the module's users do."""
        compiled = self.folder / f"{self.id()}-{source.name}.o"
        flags = [word for word in self.modules(module) if word.startswith(("-I", "-D", "-pthread"))]
        run(*LAUNCHER, compiler, *options, *flags, "-c", source, "-o", compiled, cwd=self.folder)
        return compiled

    def link(self, compiler: str, compiled: pathlib.Path, module: str, *options: str) -> pathlib.Path:
        program = self.folder / self.id()
        run(compiler, *options, compiled, *self.modules(module), "-o", program)
        return program

    def build(self, compiler: str, source: pathlib.Path, module: str, *options: str) -> pathlib.Path:
        return self.link(compiler, self.compile(compiler, source, module, *options), module)

    def needed(self, file: pathlib.Path) -> str:
        return run("readelf", "-d", file)

    def test_the_example_is_built_by_cmake(self):
        build = self.configure(EXAMPLE)
        run(CMAKE, "--build", build)
        self.expect_chunks(build / "chunk_file")
        self.assertIn("libcutpoint_c.so.1]", self.needed(build / "chunk_file"))
        # The shared library is found without what it was made with.
        self.configure(EXAMPLE, *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("OpenSSL", "absl", "PkgConfig")))

    def test_archives_are_linked_by_cmake(self):
        words = (HERE / "consumer", f"-DEXAMPLE={EXAMPLE}/chunk_file.c", f"-DCMAKE_CXX_COMPILER={CXX}")
        build = self.configure(*words)
        run(CMAKE, "--build", build)
        for program in ("chunk_file", "chunk_file_cc"):
            self.expect_chunks(build / program)
            self.assertNotIn("libcutpoint", self.needed(build / program))
        with self.assertRaisesRegex(AssertionError, "absl"):
            self.configure(*words, "-DCMAKE_DISABLE_FIND_PACKAGE_absl=ON")

    def test_a_component_that_is_none_is_not_found(self):
        source = self.folder / "wrong"
        source.mkdir()
        source.joinpath("CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(wrong LANGUAGES C)\nfind_package(cutpoint REQUIRED COMPONENTS c rust)\n")
        with self.assertRaisesRegex(AssertionError, "rust"):
            self.configure(source)

    def test_the_shared_library_is_linked_by_pkg_config(self):
        self.expect_chunks(self.build(CC, EXAMPLE / "chunk_file.c", "cutpoint-c", "-std=c99"))

    def test_archives_are_linked_by_pkg_config(self):
        program = self.build(CC, EXAMPLE / "chunk_file.c", "cutpoint-c-static", "-std=c99")
        self.expect_chunks(program)
        self.assertNotIn("libcutpoint", self.needed(program))

    def test_the_store_is_in_the_archives(self):
        program = self.build(CC, EXAMPLE / "back_up.c", "cutpoint-c-static", "-std=c99")
        self.assertIn(str(self.data), run(program, self.folder / "store", self.folder / "target", self.data))
        restored = self.folder / "target" / self.data.relative_to("/")
        self.assertEqual(restored.read_bytes(), self.data.read_bytes())

    def test_the_program_of_the_readme_prints_chunks_and_its_engine_goes_into_shared_libraries_of_others(self):
        source = self.folder / "readme.cc"
        source.write_text(re.search(r"```cpp\n(.*?)```", (HERE.parents[1] / "README.md").read_text(), re.DOTALL)[1])
        compiled = self.compile(CXX, source, "cutpoint", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fPIC")
        program = self.link(CXX, compiled, "cutpoint")
        with self.data.open("rb") as data:
            lines = [line.split() for line in run(program, stdin=data).splitlines()]
        chunks = [[str(int(offset) + i * int(length)), length, digest] for offset, count, _, length, digest in lines for i in range(int(count))]
        self.assertEqual(chunks, self.expected)
        plugin = self.link(CXX, compiled, "cutpoint", "-shared")
        shown = run("nm", "-D", "--defined-only", "-C", plugin)
        self.assertNotRegex(shown, r" [TWV] cutpoint::(engine|feed|chunker)::")

    def test_the_programs_of_its_page_run(self):
        programs = re.findall(r"```cpp\n(.*?)```", (HERE.parents[1] / "docs" / "cpp.md").read_text(), re.DOTALL)
        said = []
        for text in programs:
            source = self.folder / "program.cc"
            source.write_text(text)
            program = self.build(CXX, source, "cutpoint", "-std=c++20", "-Wall", "-Wextra", "-Werror")
            said.append(run(program, cwd=self.folder))
        self.assertEqual(said[1:3], ["every byte lies in a chunk\n", "stored, 2100000 bytes of 3 streams\n"])
        self.assertRegex(said[3], r"\A4\d\d new chunks\n\Z")
        self.assertRegex(said[4], r"\A[12] of 4\d\d chunks cut anew, as sequentially\n\Z")
        self.assertEqual(said[5], "2000000 bytes in 1 file, incomplete\n")
        self.assertRegex(said[6], r"\A8 stages, \d devices, one bounds the speed\n\Z")
        self.assertEqual(said[7], "32000000 bytes of 64 files\n")
        self.assertRegex(said[8], r"\A[1-9]\d* records\n\Z")
        runs = re.findall(r"^(\d+) chunks of (\d+) bytes, [0-9a-f]{8}$", said[0], re.MULTILINE)
        self.assertEqual(sum(int(count) * int(length) for count, length in runs), 1_000_000)
        self.assertIn("fastcdc(", said[0])

    def test_each_program_and_library_that_is_installed_is_built_first(self):
        build = pathlib.Path(os.environ["CUTPOINT_BUILD"])
        installed = (build / "bindings/c/cmake_install.cmake").read_text()
        files = re.findall(r'TYPE (?:EXECUTABLE|STATIC_LIBRARY|SHARED_LIBRARY) FILES\s+"([^"]+)"', installed)
        self.assertGreater(len(files), 4)
        looked_for = (build / "cmake_install.cmake").read_text()
        for component in ("command", "library", "archives"):
            begin = looked_for.index(f'if(CMAKE_INSTALL_COMPONENT STREQUAL "{component}"')
            checked = looked_for[begin : looked_for.index("endforeach()", begin)]
            for path in files:
                with self.subTest(component=component, path=path):
                    self.assertIn(os.path.realpath(path), map(os.path.realpath, re.findall(r'"([^"]+)"', checked)))

    def test_what_is_installed_knows_no_path_of_the_build(self):
        tree = str(HERE.parents[1])
        files = [*self.prefix.rglob("*.cmake"), *self.prefix.rglob("*.pc")]
        self.assertGreater(len(files), 7)
        for file in files:
            self.assertNotIn(tree, file.read_text(), file)

    def test_the_documents_that_manual_pages_refer_to_are_installed(self):
        manuals = [page.read_text().replace("\\-", "-") for page in (self.prefix / "share/man/man1").glob("*.1")]
        documents = {name for text in manuals for name in re.findall(r"\\fI([\w-]+\.md)\\fR", text)}
        self.assertGreater(len(documents), 8)
        self.assertEqual({path.name for path in (self.prefix / "share/doc/cutpoint").glob("*.md")}, documents)

    def test_links_of_installed_documents_lead_somewhere(self):
        links = 0
        for page in (self.prefix / "share/doc/cutpoint").glob("*.md"):
            for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
                links += 1
                self.assertTrue(target.startswith("https:") or (page.parent / target).exists(), f"{page.name}: {target}")
        self.assertGreater(links, 30)

    def included_by(self, header: str) -> set[str]:
        direct = set(re.findall(r"#include <(cutpoint/[^>]+)>", (self.prefix / "include" / header).read_text()))
        return direct.union(*map(self.included_by, direct))

    def test_every_header_stands_alone(self):
        """A header may follow those that it includes itself in one source, since they give it nothing that it lacks."""
        include, thrust = self.prefix / "include", os.environ["CUTPOINT_THRUST"]
        included = {str(path.relative_to(include)): self.included_by(str(path.relative_to(include))) for path in include.rglob("*.h")}
        self.assertGreater(len(included), 30)
        if not thrust:
            del included["cutpoint/cuda_dedup.h"]  # which is over Thrust
        sources: list[list[str]] = []
        for header in sorted(included, key=lambda each: len(included[each])):
            source = next((each for each in reversed(sources) if each[-1] in included[header]), None)
            if source is None:
                sources.append(source := [])
            source.append(header)
        everything = self.folder / "everything.cc"
        for source in sources:
            everything.write_text("".join(f"#include <{header}>\n" * 2 for header in source))
            of_thrust = ["-isystem", thrust, "-DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP"] if "cutpoint/cuda_dedup.h" in source else []
            words = ["-std=c++20", "-I", include, *of_thrust, "-c", everything, "-o", self.folder / "everything.o"]
            run(*LAUNCHER, CXX, *words, cwd=self.folder)

    def test_the_headers_for_c_are_c99_and_old_cpp(self):
        source = self.folder / "header.c"
        source.write_text("#include <cutpoint/cutpoint_store.h>\nint unused;\n")
        warnings = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-I", self.prefix / "include"]
        run(CC, "-std=c99", *warnings, source)
        run(CXX, "-x", "c++", "-std=c++11", *warnings, source)
