"""Names, and what they stand for."""

from cutpoint import _core
from cutpoint._settings import Parameter, settings


def algorithms() -> list[str]:
    """The algorithms of the literature, by the names that `cuts` takes."""
    return _core.algorithms()


def profiles() -> list[str]:
    """The exact cuts of real systems, by the names that `cuts` takes."""
    return _core.profiles()


def fingerprints() -> list[str]:
    """What `fingerprint` takes, "none" among it."""
    return _core.fingerprints()


def backends() -> list[str]:
    """What `backend` takes beside "auto": those that run on this machine. Asks the driver for GPUs, which can take a
    tenth of a second."""
    return _core.backends()


def canonical(cuts: str = "fastcdc", **parameters: Parameter) -> str:
    """The canonical string of these cuts, which names every parameter and means the same cuts in every release: what to
    keep beside what is stored. `cuts` takes it again.

    Raises ValueError for a name that is not known, with the nearest, and for a parameter outside its bounds.
    """
    return settings(cuts, parameters=parameters).canonical
