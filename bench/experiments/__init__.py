"""Experiments with the command: data sets, sweeps over them, the report, and the papers' tables."""
