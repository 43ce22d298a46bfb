"""What `cutpoint dedup` should say, counted from the listings of `cutpoint chunk`; and its JSON, flattened."""

import re
from pathlib import Path

from listings import read_jsonl

DOCUMENT = Path(__file__).resolve().parents[3] / "docs/dedup.md"


def counts_of(rows, known=None) -> dict:
    """Streams, bytes, chunks, unique ones and so on of listed chunks; `known` digests are duplicates, and grow."""
    known = set() if known is None else known
    unique = []
    for row in rows:
        if row.digest not in known:
            known.add(row.digest)
            unique.append(row)
    total, once = sum(row.length for row in rows), sum(row.length for row in unique)
    return {
        "bytes": total,
        "chunk_count": len(rows),
        "unique_bytes": once,
        "unique_chunk_count": len(unique),
        "duplicate_bytes": total - once,
        "savings_share": (total - once) / total if total else None,
        "elimination_ratio": total / once if once else None,
    }


def rows_of(test, *arguments, **how) -> list:
    run = test.run_command("chunk", "--format", "jsonl", *arguments, **how)
    test.assert_done(run)
    return read_jsonl(run.stdout).rows


def documented_fields() -> set:
    """The first column of the tables in docs/dedup.md: `a.b[].c`, or `a.b[].c`, `d` for two names in one object."""
    cells = re.findall(r"^\| `([a-z0-9_.\[\]`, ]+)` \|", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    rows = [cell.split("`, `") for cell in cells]
    return {first[: first.rfind(".") + 1] + name for first, *others in rows for name in (first.rpartition(".")[2], *others)}


def fields_of(value, path="") -> set:
    """Every path of a JSON value that leads to no further object."""
    if isinstance(value, dict) and value:
        return set().union(*(fields_of(inner, f"{path}.{name}" if path else name) for name, inner in value.items()))
    if isinstance(value, list):
        return set().union({path + "[]"}, *(fields_of(inner, path + "[]") for inner in value)) - {path + "[]"} or {path}
    return {path}
