"""Sweeps: every combination of data sets, algorithms, sizes and back ends that a file asks for, measured once and kept."""
