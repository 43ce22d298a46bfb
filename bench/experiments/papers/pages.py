"""Rewrites the generated parts of a page: those between `<!-- table: NAME -->` and `<!-- end -->`."""

import re
from collections.abc import Callable

OPEN, CLOSE = re.compile(r"<!-- table: ([\w-]+) -->"), "<!-- end -->"


class Malformed(ValueError):
    """A page has markers that do not pair. The message names it and the line."""


def rewrite(name: str, text: str, write: Callable[[str], list[str] | None]) -> str:
    """The page with each part rewritten. `write` returns the lines of the part with this name, or None if it is to stay."""
    done: list[str] = []
    inside = ""
    stays = False
    for number, line in enumerate(text.splitlines(), 1):
        match = OPEN.fullmatch(line.strip())
        if inside and match:
            raise Malformed(f"{name}:{number}: table {match[1]} begins inside table {inside}")
        if line.strip() == CLOSE:
            if not inside:
                raise Malformed(f"{name}:{number}: an end without a table")
            inside = ""
        if not inside or stays and not match:
            done.append(line)
        if match:
            inside = match[1]
            written = write(inside)
            stays = written is None
            done += written or []
    if inside:
        raise Malformed(f"{name}: table {inside} has no end")
    return "\n".join(done) + "\n"
