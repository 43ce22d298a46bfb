"""Sizes in bytes as text, with the suffixes of the command: K, M, G and T, powers of 1024."""

import re

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
MOST = 1 << 60


def bytes_of(text: str | int) -> int:
    """Parses a size. Raises ValueError with a sentence for the user."""
    match = re.fullmatch(r"(\d{1,19})\s*([KMGT]?)(?:i?B)?", str(text).strip())
    if not match:
        raise ValueError(f"'{text}' is no size: a whole number, with an optional K, M, G or T (powers of 1024)")
    value = int(match[1]) * UNITS[match[2]]
    if not 0 < value <= MOST:
        raise ValueError(f"size '{text}' is outside 1 to {text_of(MOST)} bytes")
    return value


def text_of(number: int) -> str:
    """The shortest exact text of a size: 1G, 1536K, 1000."""
    for suffix in ("T", "G", "M", "K"):
        if number >= UNITS[suffix] and number % UNITS[suffix] == 0:
            return f"{number // UNITS[suffix]}{suffix}"
    return str(number)


def rounded(number: float) -> str:
    """A rounded size for people, such as '1.2 GiB'."""
    for suffix in ("T", "G", "M", "K"):
        if number >= UNITS[suffix]:
            value = number / UNITS[suffix]
            return f"{value:.0f} {suffix}iB" if value >= 100 else f"{value:.3g} {suffix}iB"
    return f"{number:.0f} B"
