"""Sweeps: measures every combination of data sets, algorithms, sizes and back ends in a file once, and keeps the results."""
