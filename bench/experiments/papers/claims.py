"""The table of all claims and their verdicts."""

from collections import Counter

from experiments.papers import claims_extremes, claims_joins, claims_sequences
from experiments.papers.claim import HOLDS, NOT, PART, UNKNOWN, Claim
from experiments.papers.evidence import Evidence
from experiments.papers.markdown import table

CLAIMS: list[Claim] = [*claims_joins.P_DEDUPE, *claims_sequences.SEQCDC, *claims_extremes.AE, *claims_extremes.PRUNE]


def claims(evidence: Evidence) -> list[str]:
    rows, verdicts = [], Counter()
    for claim in CLAIMS:
        found = claim.judge(evidence)
        verdicts[found.verdict] += 1
        rows.append([f"[{claim.paper}]({claim.paper.lower()}.md), {claim.place}", claim.text, claim.theirs, found.ours, f"**{found.verdict}**"])
    counts = "; ".join(f"{verdict}: {verdicts[verdict]}" for verdict in (HOLDS, PART, NOT, UNKNOWN) if verdicts[verdict])
    return [f"Of {len(CLAIMS)}, {counts}.", "", *table(["where", "claim", "the paper", "ours", "verdict"], rows, words=5)]


TABLES = {"claims": claims}
