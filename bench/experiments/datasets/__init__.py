"""Makes data sets like those of the papers on this machine. They have a name, a size, a seed and a checksum, and making them can be resumed.

`make` makes a set below a folder, or returns at once if it is complete. `folder_of` says where, and `open_set` opens a complete set. `verify` reads all of it again.
"""

from experiments.datasets.base import Failed
from experiments.datasets.catalog import Unknown, names
from experiments.datasets.store import DataSet, check, folder_of, make, open_set, verify

__all__ = ["DataSet", "Failed", "Unknown", "check", "folder_of", "make", "names", "open_set", "verify"]
