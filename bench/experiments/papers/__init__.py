"""Writes the tables of docs/papers, which compare the papers' measurements with those of `scripts/sweep`."""
