"""SeqCDC's figures 7 and 13 and its order at equal means: tables and claims of fair_runs.py."""

from functools import partial

from experiments.papers.claim import DIRECTION, SIZE, add_claim, at_most, by_cases, in_percent, points
from experiments.papers.evidence import Evidence
from experiments.papers.fair_runs import NEAR, SETS, off
from experiments.papers.seqcdc import BOTH, DRAWN, PLAIN, kendall, theirs
from experiments.papers.seqcdc_claims import ORDER
from experiments.papers.tables import DASH, Rows, kib, percent, plain, table

Entry = dict | None


def entries(evidence: Evidence, dataset: str) -> dict[str, Entry]:
    """What the search came to, by the paper's names of algorithms."""
    return {name: evidence.fair_setting(dataset, name) for name in PLAIN}


def is_fair(entry: Entry) -> bool:
    return entry is not None and "why" not in entry


def mean_off(entry: Entry) -> float | None:
    return off(entry["mean_bytes"]) if entry else None


def fair_savings(evidence: Evidence, dataset: str) -> dict[str, float]:
    """The savings of the algorithms whose means are near the target."""
    return {name: entry["savings_share"] for name, entry in entries(evidence, dataset).items() if is_fair(entry)}


def behind(evidence: Evidence, dataset: str) -> float | None:
    saved = fair_savings(evidence, dataset)
    return max(saved.values()) - saved["SEQ"] if "SEQ" in saved and len(saved) > 1 else None


def order(evidence: Evidence, set_: str, dataset: str) -> float | None:
    """Kendall's τ of our order with the paper's, among what has near means here. Two say nothing of an order."""
    saved = fair_savings(evidence, dataset)
    paper = {name: theirs(evidence, set_, name, "16K") for name in saved}
    return None if len(saved) < 3 or None in paper.values() else kendall(list(paper.values()), list(saved.values()))


def spread(entry: Entry) -> float | None:
    return (entry["percentile_95_bytes"] - entry["percentile_5_bytes"]) / entry["mean_bytes"] if is_fair(entry) else None


@table("seqcdc-fair", "data: the paper's / ours", "", "size", "mean KiB", "off 16 KiB by %", "savings %", "(95 % - 5 %) / mean", "settings tried", words=3)
def fair(evidence: Evidence) -> Rows:
    for _, dataset, label in BOTH:
        for name, entry in entries(evidence, dataset).items():
            if entry is None:
                yield [label, name, *[DASH] * 6]
                continue
            size = f"{entry['size']} {entry['parameters']}".strip()
            tried = entry.get("why") or str(entry["tried"])
            cells = [kib(entry["mean_bytes"]), percent(mean_off(entry), 1), percent(entry["savings_share"])]
            yield [label, name, size, *cells, plain(spread(entry)), tried]


@table("seqcdc-fair-order", "data: the paper's / ours", "ours: best", "SEQ behind, points", "with near means", "order: Kendall's τ")
def fair_order(evidence: Evidence) -> Rows:
    for set_, dataset, label in BOTH:
        saved = fair_savings(evidence, dataset)
        yield [label, max(saved, key=saved.get) if saved else DASH, percent(behind(evidence, dataset)), str(len(saved)), plain(order(evidence, set_, dataset))]


claim = partial(add_claim, "SeqCDC", source="fair")


@claim("section VI-E", "all algorithms but CRC can have means within 6 % of 16 KB (search of sizes)", "at most 5.8 %", by_cases(in_percent, SIZE))
def _near(evidence):
    for dataset in SETS:
        for name, entry in entries(evidence, dataset).items():
            if name != "CRC":
                distance = mean_off(entry)
                yield f"{name} on {dataset}", distance, distance is not None and abs(distance) <= NEAR


claim("figure 7", "SeqCDC's savings are within 6 points of the best at 16 KB, among means within 6 %", "at most 2.6 points", at_most(0.06, points(1)))(
    lambda evidence: [(d, behind(evidence, d)) for d in SETS]
)
claim(
    "appendix C",
    "the order of algorithms by savings at 16 KB, among means within 6 % (rules: Kendall's τ of 0 and of 0.5)",
    "its own order",
    ORDER,
)(lambda evidence: [(d, order(evidence, set_, d)) for set_, d, _ in BOTH])


@claim("figure 13", "AE's and RAM's lengths lie closest together at 16 KB, among means within 6 %", "“tighter”", by_cases(lambda v: f"spread {v:.2f}", DIRECTION))
def _tight(evidence):
    for dataset in DRAWN:
        spreads = {name: spread(entry) for name, entry in entries(evidence, dataset).items()}
        others = [v for name, v in spreads.items() if name not in ("AE", "RAM") and v is not None]
        for name in ("AE", "RAM"):
            mine = spreads[name]
            yield f"{name} on {dataset}", mine if others else None, mine is not None and mine < min(others, default=0)
