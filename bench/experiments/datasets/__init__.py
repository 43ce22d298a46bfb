"""Data sets like those of the papers, made on this machine: named, sized, drawn by a seed, resumable, checksummed.

`make` makes one below a folder, or returns it at once where it is complete; `open_set` opens a made one; `verify` reads it all again.
"""

from experiments.datasets.base import Failed
from experiments.datasets.catalog import Unknown, names
from experiments.datasets.store import DataSet, make, open_set, verify

__all__ = ["DataSet", "Failed", "Unknown", "make", "names", "open_set", "verify"]
