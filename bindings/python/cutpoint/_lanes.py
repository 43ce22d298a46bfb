"""The lanes that cut and fingerprint for a store."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import SupportsIndex

from cutpoint._settings import MOST_BYTES, Size, _checked, _number, _size

_MOST_DEVICE = 4095


@dataclass(frozen=True)
class Lanes:
    """Which lanes cut and fingerprint what a store takes. None of it changes what is stored.

    If a GPU fails while it works, the processor does its work, and a RuntimeWarning says why.
    """

    #: "auto", or one of the names that `backends` returns
    backend: str = "auto"
    #: the numbers of the GPUs that may be used
    devices: Iterable[SupportsIndex] = (0,)
    #: the most memory to use on each GPU; None: 1 GiB
    device_memory_bytes: Size | None = None
    #: the size of the segments that threads take; 0: chosen by the engine
    segment_bytes: SupportsIndex = 0
    #: Whether the rates of this machine are measured first, once for each `Store`, number of threads and list of GPUs. It takes
    #: about a second, and no time if no GPU can be used. Without rates "auto" uses no GPU, and "hybrid" learns them while it works.
    measure: bool = False


def _fields(lanes: Lanes | None) -> tuple[str, list[int], int | None, int, bool]:
    chosen = Lanes() if lanes is None else lanes
    _checked("lanes", chosen, Lanes)
    _checked("backend", chosen.backend, str)
    memory = chosen.device_memory_bytes
    return (
        chosen.backend,
        [_number("devices", number, 0, _MOST_DEVICE) for number in chosen.devices],
        None if memory is None else _size("device_memory_bytes", memory),
        _number("segment_bytes", chosen.segment_bytes, 0, MOST_BYTES),
        bool(chosen.measure),
    )


def _warn(device_warning: str) -> None:
    if device_warning:
        warnings.warn(device_warning, RuntimeWarning, stacklevel=3)
