"""The papers' claims in their order, and the table of what became of them."""

from experiments.papers import claims_extremes, claims_joins, claims_sequences
from experiments.papers.at import At
from experiments.papers.claim import Claim
from experiments.papers.markdown import table

PAGES = {"P-Dedupe": "p-dedupe.md", "SeqCDC": "seqcdc.md", "AE": "ae.md", "PRUNE": "prune.md"}
CLAIMS: list[Claim] = [*claims_joins.CLAIMS, *claims_sequences.CLAIMS, *claims_extremes.CLAIMS]


def claims(at: At) -> list[str]:
    rows = []
    for claim in CLAIMS:
        found = claim.judge(at)
        rows.append([f"[{claim.paper}]({PAGES[claim.paper]}), {claim.place}", claim.text, claim.theirs, found.ours, f"**{found.verdict}**"])
    return table(["where", "claim", "the paper", "ours", "verdict"], rows, words=5)


TABLES = {"claims": claims}
