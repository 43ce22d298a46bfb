"""scripts/bench-peers: which cargo it takes, what it skips, and what it gives to the program, with programs that only say how they were called."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LAYERS = ("bindings", "cli", "cuda", "host", "pipeline", "simd")
WANTED = "99.0"  # newer than any cargo that the machine may have
BUILDS = 'mkdir -p "$CARGO_TARGET_DIR/release"; touch "$CARGO_TARGET_DIR/release/libcutpoint_peers.so"; echo "$RUSTC" >"$CARGO_TARGET_DIR/rustc"; echo "$@" >"$CARGO_TARGET_DIR/words"'


def cargo(version: str, build: str = BUILDS) -> str:
    return f'if [[ $1 == --version ]]; then echo "cargo {version} (some commit)"; else {build}; fi'


class BenchPeers(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "bench/peers/rust").mkdir(parents=True)
        manifest = (ROOT / "bench/peers/rust/Cargo.toml").read_text()
        manifest, count = re.subn(r'^rust-version = "[0-9.]+"', f'rust-version = "{WANTED}"', manifest, flags=re.MULTILINE)
        self.assertEqual(count, 1)
        (self.folder / "bench/peers/rust/Cargo.toml").write_text(manifest)
        for layer in LAYERS:
            (self.folder / layer).mkdir()
            (self.folder / layer / "b.h").write_text(f"{layer} b\n")
            (self.folder / layer / "a.h").write_text(f"{layer} a\n")
        self.make_program("scripts/bench-peers", (ROOT / "scripts/bench-peers").read_text())
        self.make_program("scripts/lib.sh", (ROOT / "scripts/lib.sh").read_text())
        self.make_program("scripts/setup", 'echo "$@" >>setup.log')
        self.make_program("tools/cmake", "echo cmake version 3.30.0")
        self.make_program("tools/apt-cache", "exit 1")
        self.make_program("tools/cargo", cargo(WANTED))
        self.make_program("build/release/bench/cutpoint_peers", 'printf "%s\\n" "$@"')

    def make_program(self, name: str, body: str):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body if body.startswith("#") else f"#!/usr/bin/env bash\n{body}\n")
        path.chmod(0o755)

    def run_script(self, *words: str) -> subprocess.CompletedProcess:
        path = f"{self.folder}/tools:{self.folder}/installed:/usr/bin:/bin"
        return subprocess.run(
            [self.folder / "scripts/bench-peers", *words],
            cwd=self.folder,
            env={**os.environ, "PATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def words(self, *words: str) -> list[str]:
        """The words that the program gets."""
        run = self.run_script(*words)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout.splitlines()

    def test_builds_the_crates_and_gives_them_to_the_program(self):
        words = self.words("--bytes", "1M", "--json")
        self.assertEqual(words[:3], ["--bytes", "1M", "--json"])
        self.assertEqual(words[-2:], ["--peers", f"{self.folder}/build/peers/release/libcutpoint_peers.so"])
        self.assertEqual((self.folder / "build/peers/rustc").read_text(), f"{self.folder}/tools/rustc\n")

    def test_the_crates_have_avx512_only_if_the_back_end_may(self):
        for back_end, has_avx512 in (("avx2", False), ("scalar", False), ("avx512-dl", True), ("auto", True)):
            self.assertEqual(self.words("--backend", back_end)[:2], ["--backend", back_end])
            self.assertEqual("--features no_avx512" not in (self.folder / "build/peers/words").read_text(), has_avx512, back_end)

    def test_gives_another_library_by_its_path_and_refuses_one_that_is_not_there_before_it_builds(self):
        (self.folder / "before.so").touch()
        self.assertEqual(self.words("--with", "before.so")[:2], ["--peers", str((self.folder / "before.so").resolve())])
        (self.folder / "setup.log").unlink()
        run = self.run_script("--with", "elsewhere.so")
        self.assertEqual((run.returncode, run.stderr), (2, "bench-peers: --with: no such file: elsewhere.so\n"))
        self.assertFalse((self.folder / "setup.log").exists())

    def test_skips_the_crates_if_cargo_is_too_old_and_says_which_version_they_need(self):
        self.make_program("tools/cargo", cargo("98.1.0"))
        self.make_program("tools/dpkg-query", "echo 0.66.0")
        self.make_program("tools/apt-cache", "echo Package: cargo-web")
        run = self.run_script()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("--peers", run.stdout)
        self.assertIn(f"bench-peers: skipping the Rust crates: they need cargo {WANTED} or newer\n", run.stderr)
        self.assertNotIn("cargo-web", (self.folder / "setup.log").read_text())  # it would replace the package cargo

    def test_installs_a_newer_cargo_beside_an_old_one(self):
        self.make_program("tools/cargo", cargo("98.1.0"))
        self.make_program("tools/dpkg-query", "exit 1")
        self.make_program("tools/apt-cache", "echo Package: cargo-web")
        self.make_program("scripts/setup", 'echo "$@" >>setup.log; [[ ${2:-} != cargo-web ]] || { mkdir installed; cp new-cargo installed/cargo; }')
        self.make_program("new-cargo", cargo("99.1.0"))
        self.assertIn("--peers", self.words())
        self.assertIn("--packages cargo-web\n", (self.folder / "setup.log").read_text())
        self.assertEqual((self.folder / "build/peers/rustc").read_text(), f"{self.folder}/installed/rustc\n")

    def test_skips_the_crates_if_they_do_not_build(self):
        self.make_program("tools/cargo", cargo(WANTED, "echo no network; exit 101"))
        run = self.run_script()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("--peers", run.stdout)
        self.assertIn("skipping the Rust crates: they do not build (build/peers.log says why)", run.stderr)
        self.assertIn("no network", (self.folder / "build/peers.log").read_text())

    def test_measures_with_the_sources_or_with_what_is_named(self):
        words = self.words()
        sources = Path(words[words.index("--file") + 1]).read_text()
        self.assertEqual(sources, "".join(f"{layer} {name}\n" for layer in LAYERS for name in "ab"))
        words = self.words("--source", "host/b.h")
        self.assertEqual(words[words.index("--file") + 1], "host/b.h")
        (self.folder / ".data/.git").mkdir(parents=True)
        (self.folder / ".data/.git/objects").write_text("hidden")
        (self.folder / ".data/file").write_text("seen")
        words = self.words("--source", f"{self.folder}/.data")
        self.assertEqual(Path(words[words.index("--file") + 1]).read_text(), "seen")

    def test_returns_the_exit_code_of_the_program(self):
        self.make_program("build/release/bench/cutpoint_peers", "exit 1")
        self.assertEqual(self.run_script().returncode, 1)

    def test_ends_if_cutpoint_does_not_build(self):
        self.make_program("tools/cmake", '[[ $1 != --build ]] || { echo "a wrong line"; exit 1; }')
        run = self.run_script()
        self.assertEqual(run.returncode, 1)
        self.assertIn("a wrong line", run.stderr)
        self.assertEqual(run.stdout, "")

    def test_refuses_wrong_usage_before_it_builds(self):
        for words in (["--no-such"], ["--bytes"], ["--source", "nowhere"]):
            run = self.run_script(*words)
            self.assertEqual((run.returncode, run.stdout), (2, ""), words)
        self.assertFalse((self.folder / "setup.log").exists())


if __name__ == "__main__":
    unittest.main()
