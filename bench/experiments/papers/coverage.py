"""The table of docs/papers/README.md with every table and figure of the papers: reproduced, in part or not."""

import re
import tomllib
from collections import Counter

from experiments.papers.evidence import Evidence
from experiments.papers.paper import NUMBERS
from experiments.papers.tables import lines, lines_of

REPRODUCED, PARTLY, NOT = "reproduced", "in part", "not"


def read() -> dict[str, dict[str, tuple[str, str]]]:
    """By the paper and the place or places: one of the three words, and where the result is, or why there is none."""
    table = tomllib.loads((NUMBERS / "coverage.toml").read_text(encoding="utf-8"))
    for name, places in table.items():
        for place, entry in places.items():
            if len(entry) != 2 or entry[0] not in (REPRODUCED, PARTLY, NOT) or not entry[1]:
                raise ValueError(f"{name}, {place}: {entry} is not one of '{REPRODUCED}', '{PARTLY}' and '{NOT}' with a text")
    return {name: {place: (entry[0], entry[1]) for place, entry in places.items()} for name, places in table.items()}


def each_place(places: str) -> list[str]:
    """Each place of several: "table 1; figures 3, 4" are "table 1", "figure 3" and "figure 4"."""
    kinds = (re.fullmatch(r"(.*?)s? (\w+(?:, \w+)*)", kind) for kind in places.split("; "))
    return [f"{kind[1]} {number}" for kind in kinds for number in kind[2].split(", ")]


@lines("coverage")
def coverage(_: Evidence) -> list[str]:
    papers = read()
    every = [(name, place, word, text) for name, places in papers.items() for place, (word, text) in places.items()]
    counts = Counter(word for _, places, word, _ in every for _ in each_place(places))
    drawings = sum(len(each_place(places)) for _, places, _, text in every if text.startswith(("a drawing", "drawings")))
    rows = [[name, place, f"**{word}**", text] for name, place, word, text in every]
    sentence = f"Of {counts.total()}: {REPRODUCED} {counts[REPRODUCED]}, {PARTLY} {counts[PARTLY]}, {NOT} {counts[NOT]}, of which {drawings} are drawings."
    return [sentence, "", *lines_of(["paper", "table or figure", "", "where, or why not"], rows, words=4)]
