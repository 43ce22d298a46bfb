"""The names of the compiled module that the package hands on, for type checkers. The other files of the package type its calls."""

from typing import Any

__version__: str

class CutpointError(RuntimeError):
    """A back end, a device or a library failed or is missing."""

class Cancelled(CutpointError):
    """The work was cancelled by another thread."""

def __getattr__(name: str) -> Any: ...
