"""docs/papers: what the papers measured beside what `scripts/sweep` measured here, written into the pages between markers."""
