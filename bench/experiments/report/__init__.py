"""The report of a sweep's results: one page that needs no network, and its plots as PNG. `write` is all that others need."""

from experiments.report.page import write
from experiments.sweep.results import Unreadable

__all__ = ["Unreadable", "write"]
