"""Builds the wheel, installs it in a virtual environment, and runs the tests of this folder there.

    run.py FOLDER          links the engine that the build in CUTPOINT_BUILD installs, and compiles only the module
    run.py FOLDER --clean  runs `pip install .` in an empty environment, which compiles the engine too
    run.py FOLDER --ray    installs Ray too, and runs only the tests on a cluster

If CUTPOINT_PTX_OBJECTS names the objects of the interpreted device, the module is linked once more with them, and batches are run on
it. The environment and the wheel stay in FOLDER. Exits with 77, "skipped", if packages are missing and PyPI cannot be reached.
"""

import os
import re
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TESTS = ROOT / "tests" / "bindings" / "python"
SKIPPED = 77
PIP = ["-m", "pip", "--disable-pip-version-check", "--no-input", "--retries=2"]
UNREACHABLE = re.compile(
    r"NewConnectionError|ConnectTimeoutError|NameResolutionError|ProxyError|Temporary failure in name resolution"
)
PROGRAM = (
    "import cutpoint; assert sum(c.length for c in cutpoint.chunk(bytes(99999))) == 99999; print(cutpoint.__version__)"
)


def step(name: str, *words: object, **options) -> None:
    """Runs a program and prints how long it took. Exits if it failed."""
    begun = time.monotonic()
    done = subprocess.run(
        [*map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options
    )
    print(f"{name}: {'done' if done.returncode == 0 else 'FAILED'} in {time.monotonic() - begun:.0f} s", flush=True)
    if done.returncode == 0:
        return
    print(done.stdout)
    if words[1:3] == ("-m", "pip") and UNREACHABLE.search(done.stdout):
        print("skipped: PyPI cannot be reached")
        sys.exit(SKIPPED)
    sys.exit(1)


def environment(folder: Path, requirements: Path | None) -> Path:
    """Makes a virtual environment, unless it has these packages already, and returns its interpreter."""
    wanted = requirements.read_text() if requirements else ""
    python, stamp = folder / "bin" / "python", folder / "installed.txt"
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    if requirements:
        step("packages", python, *PIP, "install", "-r", requirements)
    stamp.write_text(wanted)
    return python


def test_wheel(folder: Path, is_on_ray: bool = False) -> None:
    build, prefix, wheels = Path(os.environ["CUTPOINT_BUILD"]), folder / "prefix", folder / "wheels"
    python = environment(folder / "environment", TESTS / ("requirements-ray.txt" if is_on_ray else "requirements.txt"))
    for output in (prefix, wheels):
        shutil.rmtree(output, ignore_errors=True)
    step("engine", os.environ["CUTPOINT_CMAKE"], "--install", build, "--prefix", prefix)
    settings = {
        "cmake.source-dir": "bindings/python",
        "cmake.define.cutpoint_ROOT": prefix,
        "cmake.define.CMAKE_MODULE_LINKER_FLAGS": "",
        "cmake.build-type": "Tested",  # little optimised: compiling the module takes longer than its tests; --clean optimises it
        "cmake.define.CMAKE_CXX_FLAGS_TESTED": "-O1 -DNDEBUG",
        "build-dir": folder / "build",
    }
    said = [word for name, value in settings.items() for word in ("--config-settings", f"{name}={value}")]
    tools = os.pathsep.join([str(Path(os.environ["CUTPOINT_CMAKE"]).parent), os.environ["PATH"]])
    made_from = ["--no-build-isolation", "--no-deps", "-w", wheels, *said, ROOT]
    step("wheel", python, *PIP, "wheel", *made_from, env={**os.environ, "PATH": tools})
    (wheel,) = wheels.glob("cutpoint-*.whl")
    step("installation", python, *PIP, "install", "--no-deps", "--force-reinstall", wheel)
    tests = TESTS / "test_ray_cluster.py" if is_on_ray else TESTS
    tested = [python, "-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider", "--durations=5", tests]
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    outcome = subprocess.run(tested, cwd=folder, check=False, env=environ).returncode
    if not is_on_ray and (objects := os.environ.get("CUTPOINT_PTX_OBJECTS")):
        outcome |= test_on_interpreted_device(folder, python, objects.split(os.pathsep))
    sys.exit(outcome)


def test_on_interpreted_device(folder: Path, python: Path, objects: list[str]) -> int:
    """Links the module that was compiled for the wheel with functions that stand for those of the CUDA runtime."""
    cmake, build, packages = os.environ["CUTPOINT_CMAKE"], folder / "build", folder / "interpreted"
    step("configuration", cmake, f"-DCMAKE_MODULE_LINKER_FLAGS={' '.join(objects)} -lzstd", build)
    step("module", cmake, "--build", build, "--target", "cutpoint_python")
    shutil.rmtree(packages, ignore_errors=True)
    shutil.copytree(ROOT / "bindings/python/cutpoint", packages / "cutpoint")
    (module,) = build.glob("_core*.so")
    shutil.copy(module, packages / "cutpoint")
    tested = [python, "-B", "-m", "unittest", "-v", "test_python_batches"]
    return subprocess.run(tested, cwd=ROOT / "tests/cuda/ptx", check=False, env={**os.environ, "PYTHONPATH": str(packages)}).returncode


def test_clean_installation(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    python = environment(folder / "environment", None)
    step("pip install .", python, *PIP, "install", ROOT)
    step("program", python, "-c", PROGRAM, cwd=folder)


if __name__ == "__main__":
    where = Path(sys.argv[1]).resolve()
    test_clean_installation(where) if "--clean" in sys.argv else test_wheel(where, "--ray" in sys.argv)
