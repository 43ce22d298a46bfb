"""The bottleneck along the back ends, and whether it shifts from chunking, with and without writing."""

from statistics import median, quantiles

import altair as alt

from experiments.report.charts.dots import chart, tips
from experiments.report.charts.stages import token
from experiments.report.section import Key, Panel, Section, columns_of
from experiments.report.select import aim_text, by_group, datasets_of, once, place, threads_text, usual, usual_aim
from experiments.report.style import STAGES
from experiments.results import Results

CHUNKING, EVEN = "chunking", "even"
LEAST_ROUNDS = 3  # of which a spread can be told
GIGA = 1e9
JOB = ("kind", "dataset", "algorithm", "aim", "hash")


def leaders(alone: dict[str, list[float]]) -> list[str]:
    """The stages that may be the bottleneck, the slowest first. `alone` has the seconds of each in every round.

    They are the one with the largest median, and those that are below it by no more than the larger of both interquartile ranges. A leader
    alone is the bottleneck.
    """
    middle = {name: median(seconds) for name, seconds in alone.items()}
    quarters = {name: quantiles(seconds, method="inclusive") for name, seconds in alone.items()}
    spread = {name: last - first for name, (first, _, last) in quarters.items()}
    order = sorted(middle, key=lambda name: -middle[name])
    return [name for name in order if name == order[0] or middle[order[0]] - middle[name] <= max(spread[order[0]], spread[name])]


def shift_of(by_back_end: dict[str, list[str]]) -> str:
    """Whether the bottleneck shifts: chunking was it by a back end, and cannot be it by a later one. Takes the leaders of each, in order."""
    was_chunking = False
    for back_end, names in by_back_end.items():
        if was_chunking and CHUNKING not in names:
            return f"yes, by {back_end}"
        was_chunking = was_chunking or names == [CHUNKING]
    if was_chunking:
        return "no, it is chunking" if names == [CHUNKING] else "unclear"
    first = next(iter(by_back_end.values()))
    return "unclear" if CHUNKING in first else f"no, it was {' or '.join(first)}"


def word(row: dict) -> str:
    return row["leaders"][0] if len(row["leaders"]) == 1 else EVEN


def cell_text(row: dict | None) -> str:
    """The bottleneck, or what may be it, and the speed of the whole."""
    if row is None:
        return "–"
    names = word(row) if word(row) != EVEN else f"{EVEN}: {', '.join(row['leaders'])}"
    return f"{names}; {row['bytes_per_second'] / GIGA:.2f}"


def colour_of(name: str) -> str:
    return "@muted" if name == EVEN else token(name)


def panel(jobs: list[dict], back_ends: list[str], words: list[str]) -> alt.LayerChart:
    """The bottleneck and the speed of each algorithm by each back end."""
    shown = [
        {"algorithm": job["algorithm"], "by": name, "bound": word(row), "speed": f"{row['bytes_per_second'] / GIGA:.2f}", "stages": ", ".join(row["leaders"])}
        for job in jobs
        for name, row in job["cells"].items()
    ]
    base = chart(
        shown,
        alt.Y("algorithm:N", sort=[job["algorithm"] for job in jobs], title=None, axis=alt.Axis(labelColor="@text", grid=False)),
        alt.X("by:N", sort=back_ends, title=None, axis=alt.Axis(orient="top", labelAngle=0, domain=False, ticks=False, grid=False)),
        tooltip=tips(("algorithm:N",), ("by:N", "back end"), ("stages:N", "bottleneck"), ("speed:N", "GB/s")),
    )
    fill = alt.Color("bound:N", title=None, scale=alt.Scale(domain=words, range=[colour_of(name) for name in words]))
    cells = base.mark_rect(cornerRadius=2, stroke="@paper", strokeWidth=2).encode(fill)
    return alt.layer(cells, base.mark_text(fontSize=10, color="@paper").encode(alt.Text("speed:N"))).properties(height=22 * len(jobs))


def jobs_of(rows: list[dict], results: Results) -> list[dict]:
    """A row for each job that several back ends did, with their rows as `cells`, and the verdict on it."""
    jobs: dict[tuple, dict] = {}
    for row in rows:
        jobs.setdefault(tuple(row[name] for name in JOB), row | {"cells": {}})["cells"][row["backend"]] = row
    several = [job for job in jobs.values() if len(job["cells"]) > 1]
    for job in several:
        job["cells"] = {name: job["cells"][name] for name in results.catalog.in_order(job["cells"])}
        job["shift"] = shift_of({name: row["leaders"] for name, row in job["cells"].items()})
    datasets = datasets_of(several, results)
    return sorted(several, key=lambda job: (datasets.index(job["dataset"]), job["kind"] == "backup", job["hash"], place(job["algorithm"])))


def shift(results: Results) -> Section | None:
    """The bottlenecks of jobs that several back ends did."""
    runs = [row for row in results.runs if row["join_name"] == "exact"] + results.backups
    rows = [row for row in by_group(runs) if row["backend"] != "auto" and row["parameters"] == "{}" and row["bytes_per_second"]]
    rows = [row for row in rows if row["alone_seconds"] and row["rounds"] >= LEAST_ROUNDS]
    if not rows:
        return None
    rows = usual(rows, ("threads", "segment"))
    aim = usual_aim(rows)
    rows = once([row | {"leaders": leaders(row["alone_seconds"])} for row in rows if row["aim"] == aim], (*JOB, "backend"))
    jobs = jobs_of(rows, results)
    if not jobs:
        return None
    back_ends = results.catalog.in_order({name for job in jobs for name in job["cells"]})
    seen = {word(row) for job in jobs for row in job["cells"].values()}
    words = [name for name in STAGES if name in seen] + sorted(seen - set(STAGES) - {EVEN}) + [EVEN] * (EVEN in seen)
    panels = []
    for name, kind, hash_name in dict.fromkeys((job["dataset"], job["kind"], job["hash"]) for job in jobs):
        here = [job for job in jobs if (job["dataset"], job["kind"], job["hash"]) == (name, kind, hash_name)]
        panels.append(Panel(f"{name}, {hash_name}, {'written' if kind == 'backup' else 'not written'}", panel(here, back_ends, words)))
    count = sum(job["shift"].startswith("yes") for job in jobs)
    was = sum(any(row["leaders"] == [CHUNKING] for row in job["cells"].values()) for job in jobs)
    title = f"The bottleneck shifts from chunking in {count} of the {was} jobs of which chunking was it" if was else "Chunking is the bottleneck of no job"
    caption = f"Colour: the stage that takes longest alone, mean aimed at {aim_text(aim)}, {threads_text(rows[0]['threads'])}; number: GB/s of the whole. "
    caption += "Even: the next stage is below it by no more than the larger interquartile range of both over the rounds."
    columns = columns_of(
        ("hash", lambda job: job["hash"]),
        ("written", lambda job: "yes" if job["kind"] == "backup" else "no"),
        *[(f"{name}; GB/s", lambda job, name=name: cell_text(job["cells"].get(name))) for name in back_ends],
        ("shifted from chunking", lambda job: job["shift"]),
    )
    keys = [Key(name, colour_of(name), "bar") for name in words]
    return Section("shift", "Bottleneck", title, caption, panels, columns, jobs, keys, panels_a_row=3, is_in_order=True)
