"""The report of a sweep's results: a page that needs no network, and its plots as PNG. `write` is its interface."""

from experiments.report.page import write
from experiments.results import Unreadable

__all__ = ["Unreadable", "write"]
