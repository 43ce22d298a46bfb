"""Draws the panels of a section as one picture, PNG or SVG, in the light theme."""

import re
import textwrap
import warnings

import altair as alt
import vl_convert

from experiments.report.section import Section
from experiments.report.style import CONFIG, in_theme

VEGA_LITE = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])  # the version of the charts
WIDTHS = {1: 720, 2: 430, 3: 300, 4: 215}  # of a panel, by the number in a row
LETTER = 6.2  # approximate pixels of a letter


def file_name(section: Section, choice: str, ending: str) -> str:
    """The name of the plot of a choice. The first choice has the section's name."""
    if not choice or choice == section.choices[0]:
        return f"{section.name}.{ending}"
    return f"{section.name}-{re.sub('[^0-9a-z]+', '-', choice.lower())}.{ending}"


def sentence(section: Section) -> str:
    """A sentence that explains the sizes of dots, since plots have no key for them."""
    dots = [key.label for key in section.keys if key.colour == "@muted" and key.shape in ("circle", "diamond")]
    return f" Dots from small to large: {', '.join(dots)}." if len(dots) > 1 else ""


def composed(section: Section, choice: str) -> dict:
    """All panels of a choice in rows, as Vega-Lite."""
    shown = [panel for panel in section.panels if panel.choice == choice]
    columns = min(section.panels_a_row, len(shown))
    width = WIDTHS[columns]
    caption = section.caption + sentence(section)
    if len(section.choices) > 1:
        caption = f"{section.choice_label.capitalize()}: {choice}. {caption}"
    lines = max(60, int(columns * (width + 90) / LETTER))
    title = alt.TitleParams(section.title, subtitle=textwrap.wrap(caption, lines), fontSize=17, subtitleFontSize=12, offset=18)
    charts = [panel.chart.properties(width=width, title=panel.title) for panel in shown]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Automatically deduplicated")  # panels share selections, which a plot does not use
        chart = alt.concat(*charts, columns=columns, spacing=28).properties(title=title).to_dict()
    legend = CONFIG["legend"] | {"orient": "bottom", "columns": 8, "symbolLimit": 40}
    config = CONFIG | {"background": "@paper", "padding": 18, "legend": legend, "font": "Helvetica, Arial, sans-serif"}
    return in_theme(chart | {"config": config}, "light")


def png(section: Section, choice: str) -> bytes:
    return vl_convert.vegalite_to_png(composed(section, choice), vl_version=VEGA_LITE, scale=1.5)


def svg(section: Section, choice: str) -> bytes:
    return vl_convert.vegalite_to_svg(composed(section, choice), vl_version=VEGA_LITE).encode()
