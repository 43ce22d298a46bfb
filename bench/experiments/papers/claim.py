"""A claim of a paper, and how it is judged: by cases, each of which bears it out or does not."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from experiments.papers.evidence import Evidence

HOLDS, PART, NOT, UNKNOWN = "holds", "holds in part", "does not hold", "not measured"


@dataclass(frozen=True)
class Finding:
    ours: str
    verdict: str


@dataclass(frozen=True)
class Claim:
    paper: str
    place: str
    text: str
    theirs: str
    judge: Callable[[Evidence], Finding]


def by_cases(cases: Iterable[tuple[str, float | None, bool]], write: Callable[[float], str]) -> Finding:
    """Of (case, number, whether it bears the claim out): all, some or none. Says the range, and how many and which cases do not."""
    known = [case for case in cases if case[1] is not None]
    if not known:
        return Finding("–", UNKNOWN)
    numbers = [number for _, number, _ in known]
    against = [name for name, _, good in known if not good]
    least, most = write(min(numbers)), write(max(numbers))
    text = least if least == most else f"{least} to {most}"
    if against:
        few = f": not {', '.join(against)}" if len(against) <= 4 else ""
        text += f"; {len(known) - len(against)} of {len(known)} cases{few}"
    return Finding(text, HOLDS if not against else NOT if len(against) == len(known) else PART)


def at_most(cases: Iterable[tuple[str, float | None]], bound: float, write: Callable[[float], str]) -> Finding:
    return by_cases([(name, v, v is not None and v <= bound) for name, v in cases], write)


def at_least(cases: Iterable[tuple[str, float | None]], bound: float, write: Callable[[float], str]) -> Finding:
    return by_cases([(name, v, v is not None and v >= bound) for name, v in cases], write)
