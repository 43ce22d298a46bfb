"""The plots of a section as one PNG, in the light theme."""

import textwrap

import altair as alt
import vl_convert

from experiments.report.section import Section
from experiments.report.style import CONFIG, in_theme

WIDTHS = {1: 720, 2: 430, 3: 300}  # of a panel, by how many stand in a row
LETTER = 6.2  # pixels of one, about


def composed(section: Section) -> dict:
    """All panels of the first choice, beside and below each other, as Vega-Lite."""
    shown = [panel for panel in section.panels if not section.choices or panel.choice == section.choices[0]]
    columns = min(section.panels_a_row, len(shown))
    width = WIDTHS[columns]
    caption = section.caption
    if len(section.choices) > 1:
        caption = f"{section.choice_label.capitalize()} {section.choices[0]}. {caption}"
    lines = max(60, int(columns * (width + 90) / LETTER))
    title = alt.TitleParams(section.title, subtitle=textwrap.wrap(caption, lines), fontSize=17, subtitleFontSize=12, offset=18)
    charts = [panel.chart.properties(width=width, title=panel.title) for panel in shown]
    chart = alt.concat(*charts, columns=columns, spacing=28).properties(title=title).to_dict()
    legend = CONFIG["legend"] | {"orient": "bottom", "columns": 8, "symbolLimit": 40}
    config = CONFIG | {"background": "@paper", "padding": 18, "legend": legend, "font": "Helvetica, Arial, sans-serif"}
    return in_theme(chart | {"config": config}, "light")


def png(section: Section) -> bytes:
    version = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    return vl_convert.vegalite_to_png(composed(section), vl_version=version, scale=1.5)
