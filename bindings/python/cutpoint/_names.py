"""The names that the functions of this package take."""

from cutpoint import _core
from cutpoint._settings import Parameter, settings


def algorithms() -> list[str]:
    """Returns the names of the algorithms, which `cuts` takes."""
    return _core.algorithms()


def profiles() -> list[str]:
    """Returns the names of the profiles, which give the cuts of other programs; `cuts` takes them too."""
    return _core.profiles()


def fingerprints() -> list[str]:
    """Returns the names that `fingerprint` takes, "none" included."""
    return _core.fingerprints()


def backends() -> list[str]:
    """Returns the back ends that run on this machine; `backend` takes these names and "auto". The call asks the driver
    which GPUs there are, which can take a tenth of a second."""
    return _core.backends()


def canonical(cuts: str = "fastcdc", **parameters: Parameter) -> str:
    """Returns the canonical string, which names every parameter and gives the same cuts in every release. Store it with
    the chunks; `cuts` takes it.

    Raises ValueError for an unknown name, with the nearest known one, and for a parameter outside its bounds.
    """
    return settings(cuts, parameters=parameters).canonical
