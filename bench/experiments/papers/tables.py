"""The tables of the pages by name, and how their numbers are written. A missing number is a dash."""

from collections.abc import Callable, Iterable, Sequence

from experiments.papers.evidence import Evidence

Rows = Iterable[Sequence[str]]
DASH = "–"

TABLES: dict[str, Callable[[Evidence], list[str]]] = {}  # what stands on the pages under each name, as lines


def plain(value: float | None, digits: int = 2) -> str:
    return DASH if value is None else f"{value:,.{digits}f}"


def percent(share: float | None, digits: int = 2) -> str:
    """A share between 0 and 1 as percent, without the sign, which is in the header."""
    return DASH if share is None else plain(100 * share, digits)


def speed(bytes_per_second: float | None) -> str:
    """A speed in GB/s (10^9), as in the papers."""
    return DASH if bytes_per_second is None else f"{bytes_per_second / 1e9:.3g}"


def times(ratio: float | None) -> str:
    return DASH if ratio is None else f"{ratio:.3g}×"


def kib(number: float | None) -> str:
    return DASH if number is None else plain(number / 1024, 1)


def tiny(share: float | None) -> str:
    """A probability, which may be very small."""
    if share is None:
        return DASH
    return f"{share:.4f}" if share >= 0.001 else f"{share:.2e}" if share else "0"


def lines_of(header: Sequence[str], rows: Rows, words: int = 1) -> list[str]:
    """A table in Markdown. The first `words` columns are aligned left, the others right."""
    lines = [f"| {' | '.join(header)} |", f"|{'---|' * words}{'--:|' * (len(header) - words)}"]
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"a row of {len(row)} cells under {len(header)} headers: {row}")
        lines.append(f"| {' | '.join(row)} |")
    return lines


def table(name: str, *header: str, words: int = 1) -> Callable:
    """Decorates the function that returns the rows of a table of this name."""

    def decorate(rows: Callable[[Evidence], Rows]) -> Callable:
        TABLES[name] = lambda evidence: lines_of(header, rows(evidence), words)
        return rows

    return decorate


def lines(name: str) -> Callable:
    """Decorates the function that returns the lines under this name, which are no table."""
    return lambda function: TABLES.setdefault(name, function)
