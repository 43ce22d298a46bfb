"""The chart of README.md, made from a table of docs/results/store.md.

    readme_chart.py     writes docs/results/store-speed.svg; tests/sources tests that it is that of the table
"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/results/store.md"
CHART = ROOT / "docs/results/store-speed.svg"
TASKS = {"first backup": "first backup", "again, all read": "again, all read", "restore": "restore", "check, all data": "check of all data"}

WIDTH, LEFT, BAR, GAP, TOP = 760, 150, 15, 16, 34
STYLE = """
    text { font: 13px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #1f2328 }
    .title { font-weight: 600 } .small { font-size: 12px; fill: #59636e }
    .b0 { fill: #0969da } .b1 { fill: #8c959f } .b2 { fill: #c4cad1 }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc } .small { fill: #9198a1 }
      .b0 { fill: #4493f8 } .b1 { fill: #7d8590 } .b2 { fill: #474e57 }
    }"""


def table(page: str) -> tuple[list[str], dict[str, list[float]]]:
    """The programs of the last table beside other programs, and the seconds of each task."""
    section = page.split("## Beside other programs", 1)[1].split("\n## ", 1)[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.split("\n\n")[-1].strip().splitlines()]
    programs = rows[0][1:-1]
    return programs, {row[0]: [float(re.match(r"[\d.]+", cell)[0]) for cell in row[1 : len(programs) + 1]] for row in rows[2:]}


def chart(page: str) -> str:
    programs, seconds = table(page)
    longest = max(max(seconds[task]) for task in TASKS)
    scale = (WIDTH - LEFT - 125) / longest
    lines, y = [], TOP
    for task, label in TASKS.items():
        middle = y + BAR * len(programs) / 2 + 4
        lines.append(f'<text x="{LEFT - 12}" y="{middle:.0f}" text-anchor="end">{label}</text>')
        for i, value in enumerate(seconds[task]):
            width = max(value * scale, 1)
            lines.append(f'<rect class="b{i}" x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR - 2}" rx="2"/>')
            name = f"{programs[i]}, " if task == next(iter(TASKS)) else ""
            lines.append(f'<text class="small" x="{LEFT + width + 6:.1f}" y="{y + 11}">{name}{value:.1f} s</text>')
            y += BAR
        y += GAP
    title = "2.95 GiB in 122,432 files, two cores of an AMD EPYC: seconds, shorter is better"
    body = "\n  ".join([f'<text class="title" x="0" y="16">{title}</text>', *lines])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" height="{y}" role="img" aria-label="{title}">\n'
        f"  <style>{STYLE}\n  </style>\n  {body}\n</svg>\n"
    )


if __name__ == "__main__":
    CHART.write_text(chart(PAGE.read_text()))
