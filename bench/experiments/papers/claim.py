"""Claims of the papers, and the rules that judge them by cases."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from experiments.papers.evidence import Evidence
from experiments.papers.tables import lines, lines_of, plain

HOLDS, PARTLY, NOT, UNKNOWN = "holds", "holds in part", "does not hold", "not measured"

Write = Callable[[float], str]


@dataclass(frozen=True)
class Finding:
    ours: str
    verdict: str


Rule = Callable[[list[tuple]], Finding]  # takes cases: (name, number or None), for `by_cases` also whether the case supports the claim

Cases = Callable[[Evidence], Iterable[tuple]]


@dataclass(frozen=True)
class Claim:
    paper: str
    page: str  # where its table is
    place: str
    text: str
    theirs: str
    judge: Callable[[Evidence], Finding]


PAPERS = ("P-Dedupe", "SeqCDC", "AE", "PRUNE", "AppDedupe")
CLAIMS: list[Claim] = []


def add_claim(paper: str, place: str, text: str, theirs: str, rule: Rule, page: str = "") -> Callable[[Cases], Cases]:
    """Decorates the function that returns the cases of a claim. The paper's own page has its table if no other is named."""

    def decorate(cases: Cases) -> Cases:
        CLAIMS.append(Claim(paper, page or f"{paper.lower()}.md", place, text, theirs, lambda evidence: rule(list(cases(evidence)))))
        return cases

    return decorate


def by_cases(write: Write) -> Rule:
    """The claim holds if all cases (name, number, supports) support it. The finding has the range and names up to four cases that do not."""

    def judge(cases: list[tuple]) -> Finding:
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
        return Finding(text, HOLDS if not against else NOT if len(against) == len(known) else PARTLY)

    return judge


def each(supports: Callable[[float], bool], write: Write) -> Rule:
    return lambda cases: by_cases(write)([(name, v, v is not None and supports(v)) for name, v in cases])


def at_most(bound: float, write: Write) -> Rule:
    return each(lambda v: v <= bound, write)


def at_least(bound: float, write: Write) -> Rule:
    return each(lambda v: v >= bound, write)


def in_percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def off(share: float) -> str:
    return f"{100 * share:.2g} % off"


def points(digits: int) -> Write:
    return lambda share: f"{plain(100 * share, digits)} points"


@lines("claims")
def claims(evidence: Evidence) -> list[str]:
    """The table of all claims and their verdicts."""
    rows, verdicts = [], Counter()
    for each_claim in sorted(CLAIMS, key=lambda each: PAPERS.index(each.paper)):
        finding = each_claim.judge(evidence)
        verdicts[finding.verdict] += 1
        where = f"[{each_claim.paper}]({each_claim.page}), {each_claim.place}"
        rows.append([where, each_claim.text, each_claim.theirs, finding.ours, f"**{finding.verdict}**"])
    counts = "; ".join(f"{verdict}: {verdicts[verdict]}" for verdict in (HOLDS, PARTLY, NOT, UNKNOWN) if verdicts[verdict])
    return [f"Of {len(CLAIMS)}, {counts}.", "", *lines_of(["where", "claim", "the paper", "ours", "verdict"], rows, words=5)]
