"""Claims of the papers, the rules that judge them, and the numbers that machines came to, which claims.json keeps.

A claim has a direction, what is more, or less, or first, and a size, the number that the paper prints. Each has a rule of its own; what a claim
has not has no verdict. Numbers are kept by machine, and the rules judge them anew whenever the table is written: those of a machine that is
absent stay.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from experiments.papers.evidence import Evidence
from experiments.papers.tables import DASH, lines, lines_of, plain

FILE = "claims.json"  # beside the pages
HOLDS, PARTLY, NOT, UNKNOWN = "holds", "holds in part", "does not hold", "not measured"
DIRECTION, SIZE = "direction", "size"
SWEEP = "sweep"  # the source of numbers that a results file has
LEAST_GAIN, MOST_GAIN = 0.5, 2  # of the paper's gain, for its size to hold

Write = Callable[[float], str]
Supports = Callable[[float], bool]


class Verdict(NamedTuple):
    word: str
    note: str = ""

    def __str__(self) -> str:
        return self.word if self.word == DASH else f"**{self.word}**{f' ({self.note})' if self.note else ''}"


@dataclass(frozen=True)
class Finding:
    ours: str
    direction: Verdict
    size: Verdict


@dataclass(frozen=True)
class Rule:
    """How numbers are written, and by DIRECTION and SIZE which of them bear it out. A claim that has one of them alone has no verdict on the other.

    Cases are (name, number or None). Where there is no function, a case says itself, as a third and a fourth entry.
    """

    write: Write
    supports: dict[str, Supports | None]
    size_of_mean: bool = False  # the size is that of the mean of all cases


class NotJudged(NamedTuple):
    """A case that says why the number of others is none of the claim's, or why its size is not."""

    why: str
    size_only: bool = False


# --- Rules ----------------------------------------------------------------------------------------------------------------------------------


def gain(write: Write, *paper: float, zero: float = 1, ends: bool = True) -> Rule:
    """The paper's numbers, from the least gain on, all on one side of `zero`, which means none. The direction holds on the same side, the size from
    LEAST_GAIN of the least of the paper's gains to MOST_GAIN of the greatest. Without `ends` the paper names the least alone."""
    gains = sorted(abs(number - zero) for number in paper)
    sign = 1 if paper[0] > zero else -1
    most = MOST_GAIN * gains[-1] if ends else inf
    return Rule(write, {DIRECTION: lambda v: sign * (v - zero) > 0, SIZE: lambda v: LEAST_GAIN * gains[0] <= sign * (v - zero) <= most})


def above(bound: float, write: Write) -> Rule:
    """A direction for which the paper has no number."""
    return Rule(write, {DIRECTION: lambda v: v >= bound})


def below(bound: float, write: Write) -> Rule:
    return Rule(write, {DIRECTION: lambda v: v <= bound})


def at_most(bound: float, write: Write) -> Rule:
    """A size that is a bound, which has no direction."""
    return Rule(write, {SIZE: lambda v: v <= bound})


def at_least(bound: float, write: Write) -> Rule:
    return Rule(write, {SIZE: lambda v: v >= bound})


def within(least: float, most: float, write: Write) -> Rule:
    return Rule(write, {SIZE: lambda v: least <= v <= most})


def by_cases(write: Write, *aspects: str) -> Rule:
    """The cases say themselves whether they bear out these aspects."""
    return Rule(write, dict.fromkeys(aspects))


def _word(supports: list[bool]) -> str:
    return HOLDS if all(supports) else PARTLY if any(supports) else NOT


def _verdict(supports: list[tuple[str, bool]], is_of_cases: bool) -> Verdict:
    """All cases, some or none; up to four that do not support it are named."""
    word, against = _word([good for _, good in supports]), [name for name, good in supports if not good]
    if word == HOLDS or not is_of_cases or len(supports) == 1:
        return Verdict(word)
    few = f", not {', '.join(against)}" if word == PARTLY and len(against) <= 4 else ""
    return Verdict(word, f"{len(supports) - len(against)} of {len(supports)}{few}")


def judge(rule: Rule, record: dict | None) -> Finding:
    """A record has the `cases`, or of a machine of which no more is known the `range`, whose ends are judged, and the `note` which of its
    cases do not support the claim; and why it is not judged, or its size not."""
    record = record or {}
    cases = record.get("cases") or [[name, number] for name, number in zip(("least", "most"), record.get("range", ()))]
    if not cases or "why" in record:
        nothing = Verdict(UNKNOWN, record.get("why", ""))
        return Finding(DASH, *(nothing if aspect in rule.supports else Verdict(DASH) for aspect in (DIRECTION, SIZE)))
    numbers = [case[1] for case in cases]
    least, most, mean = (rule.write(number) for number in (min(numbers), max(numbers), sum(numbers) / len(numbers)))
    ours = (least if least == most else f"{least} to {most}") + (f"; {mean} on average" if rule.size_of_mean else "")

    def verdict(aspect: str) -> Verdict:
        if aspect not in rule.supports:
            return Verdict(DASH)
        if aspect == SIZE and "size" in record:
            return Verdict(UNKNOWN, record["size"])
        supports, place = rule.supports[aspect], 2 + list(rule.supports).index(aspect)
        if aspect == SIZE and rule.size_of_mean:
            return Verdict(_word([supports(sum(numbers) / len(numbers))]))
        of_cases = _verdict([(case[0], supports(case[1]) if supports else case[place]) for case in cases], "cases" in record)
        return of_cases._replace(note=record["note"]) if "note" in record and of_cases.word != HOLDS else of_cases

    return Finding(ours, verdict(DIRECTION), verdict(SIZE))


# --- Claims ---------------------------------------------------------------------------------------------------------------------------------

Cases = Callable[[Evidence], Iterable[tuple]]


@dataclass(frozen=True)
class Claim:
    paper: str
    page: str  # where its table is
    place: str
    text: str
    theirs: str
    rule: Rule
    cases: Cases
    source: str  # SWEEP, or the field of Evidence that has its numbers

    @property
    def key(self) -> str:
        return f"{self.paper}, {self.place}: {self.text}"

    def record(self, evidence: Evidence) -> dict | None:
        """The numbers, if there are any, as claims.json keeps them."""
        cases = list(self.cases(evidence))
        reasons = [case for case in cases if isinstance(case, NotJudged)]
        known = [[name, float(f"{number:.6g}"), *flags] for name, number, *flags in (c for c in cases if not isinstance(c, NotJudged)) if number is not None]
        record: dict = {"cases": known} if known else {}
        for reason in reasons:
            record["size" if reason.size_only else "why"] = reason.why
        return record if known or "why" in record else None

    def judge(self, evidence: Evidence) -> Finding:
        return judge(self.rule, self.record(evidence))


PAPERS = ("P-Dedupe", "SeqCDC", "AE", "PRUNE", "AppDedupe")
CLAIMS: list[Claim] = []


def add_claim(paper: str, place: str, text: str, theirs: str, rule: Rule, page: str = "", source: str = SWEEP) -> Callable[[Cases], Cases]:
    """Decorates the function that returns the cases of a claim. The paper's own page has its table if no other is named."""

    def decorate(cases: Cases) -> Cases:
        CLAIMS.append(Claim(paper, page or f"{paper.lower()}.md", place, text, theirs, rule, cases, source))
        return cases

    return decorate


def in_percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def off(share: float) -> str:
    return f"{100 * share:.2g} % off"


def points(digits: int) -> Write:
    return lambda share: f"{plain(100 * share, digits)} points"


def updated_records(evidence: Evidence) -> dict[str, dict[str, dict]]:
    """What was known of all machines with what the evidence has: by machine and claim. What it lacks stays, and so do other machines."""
    known = {machine: dict(records) for machine, records in evidence.claims.items()}
    for claim in CLAIMS:
        source = evidence.sources.get(claim.source)
        if source and (record := claim.record(evidence)):
            known.setdefault(source["machine"], {})[claim.key] = record | {"by": source["by"]}
    keys = [claim.key for claim in CLAIMS]
    return {machine: {key: records[key] for key in keys if key in records} for machine, records in known.items()}


def machines(evidence: Evidence) -> list[str]:
    """The machine with the most claims first."""
    return sorted(evidence.claims, key=lambda machine: -len(evidence.claims[machine]))


@lines("claims-where")
def where(evidence: Evidence) -> list[str]:
    """Machines, and the binaries of their numbers."""
    of_machines = ((machine, Counter(record["by"] for record in evidence.claims[machine].values())) for machine in machines(evidence))
    return [f"- {machine}: {'; '.join(f'{by} ({count})' for by, count in binaries.items())}" for machine, binaries in of_machines]


def _counted(verdicts: list[str]) -> str:
    counts = Counter(verdicts)
    return "; ".join(f"{word}: {counts[word]}" for word in (HOLDS, PARTLY, NOT, UNKNOWN) if counts[word])


@lines("claims")
def claims(evidence: Evidence) -> list[str]:
    """The table of all claims and their verdicts: the first machine has three columns, each other one."""
    first, *others = machines(evidence) or ["no machine"]
    rows, findings = [], []
    for claim in sorted(CLAIMS, key=lambda each: PAPERS.index(each.paper)):
        records = (evidence.claims.get(machine, {}).get(claim.key) for machine in (first, *others))
        finding, *further = (judge(claim.rule, record) if record else None for record in records)
        findings += [finding] if finding else []
        cells = [finding.ours, str(finding.direction), str(finding.size)] if finding else [""] * 3
        cells += [f"{each.ours}; direction: {each.direction}; size: {each.size}" if each else "" for each in further]
        rows.append([f"[{claim.paper}]({claim.page}), {claim.place}", claim.text, claim.theirs, *cells])
    directions, sizes = (_counted([getattr(finding, aspect).word for finding in findings]) for aspect in (DIRECTION, SIZE))
    header = ["where", "claim", "the paper", first, DIRECTION, SIZE, *others]
    sentence = f"Of {len(CLAIMS)} claims {first} has {len(findings)}. Their directions: {directions}. Their sizes: {sizes}."
    return [sentence, "", *lines_of(header, rows, words=len(header))]
