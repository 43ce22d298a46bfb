"""The package is imported again in its process, as coverage tools do, and in a second interpreter, as web servers do."""

import subprocess
import sys

import pytest

AGAIN = """
import importlib, sys, threading, warnings
warnings.simplefilter("error")
import cutpoint
from cutpoint import cluster

data = bytes(range(251)) * 4000
first, before = cutpoint, list(cutpoint.chunk(data, "gear"))
chunker, iterator = cutpoint.Chunker("gear"), cutpoint.chunk(data, "gear")
next(iterator)
for number in range(3):
    for name in [each for each in sys.modules if each.split(".")[0] == "cutpoint"]:
        del sys.modules[name]
    del cutpoint
    import cutpoint
    assert cutpoint is not first and cutpoint.__all__ == first.__all__
    assert list(cutpoint.chunk(data, "gear")) == list(first.chunk(data, "gear")) == before
    assert cutpoint.CutpointError is first.CutpointError and cutpoint.__version__ == first.__version__
    with cutpoint.Store.create(f"{sys.argv[1]}/store {number}") as store:
        with store.push() as session:
            session.stream("/file").end()
        store.check(progress=lambda _: None)
    try:
        cutpoint.chunk(b"", "fastcd")
    except ValueError:
        pass
importlib.reload(cutpoint)
importlib.reload(sys.modules["cutpoint._core"])
assert chunker.write(data) + chunker.finish() == [*before] == [before[0], *iterator]
print("usable")
"""

SECOND = """
import sys
try:
    import _interpreters
except ModuleNotFoundError:
    try:
        import _xxsubinterpreters as _interpreters
    except ModuleNotFoundError:
        _interpreters = None
try:
    import _testcapi
except ModuleNotFoundError:
    _testcapi = None
kind, order, path = sys.argv[1:]
if (_testcapi if kind == "legacy" else _interpreters) is None:
    sys.exit(77)

IMPORTED = '''
import sys
try:
    import cutpoint
    said = "imported"
except ImportError as error:
    said = f"{type(error).__name__}: {error}"
with open(PATH, "a") as output:
    print(said, file=output)
'''.replace("PATH", repr(path))

def import_in_second():
    if kind == "legacy":
        assert _testcapi.run_in_subinterp(IMPORTED) == 0
    else:
        second = _interpreters.create()
        assert _interpreters.run_string(second, IMPORTED) is None
        _interpreters.destroy(second)

def use_first():
    import cutpoint
    assert sum(each.length for each in cutpoint.chunk(bytes(300_000), "gear")) == 300_000
    try:
        cutpoint.chunk(b"", "fastcd")
    except ValueError as error:
        assert "did you mean" in str(error)
    with cutpoint.Chunker() as chunker:
        chunker.write(bytes(99))

if order == "first":
    import_in_second()
use_first()
import_in_second()
import_in_second()
use_first()
"""


def test_a_second_import_has_the_same_classes(tmp_path):
    done = subprocess.run([sys.executable, "-c", AGAIN, tmp_path], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "usable\n", "")


@pytest.mark.parametrize("order", ["first", "later"])
@pytest.mark.parametrize("kind", ["legacy", "isolated"])
def test_a_second_interpreter_is_refused_and_the_first_goes_on(kind, order, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SECOND, kind, order, tmp_path / "said"], capture_output=True, text=True, timeout=60
    )
    if done.returncode == 77:
        pytest.skip("this Python has no module that makes interpreters")
    assert (done.returncode, done.stderr) == (0, "")
    said = (tmp_path / "said").read_text().splitlines()
    assert len(said) == (3 if order == "first" else 2)
    for each in said:
        assert each.startswith("ImportError: ")
        if kind == "legacy":
            assert "cutpoint runs in the main interpreter of a process only, not in interpreter" in each
