"""Writes the page and the plots."""

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import altair as alt
import jinja2
import vl_convert
from markupsafe import Markup

from experiments.report import overview, plots, verdict
from experiments.report.charts import SECTIONS
from experiments.report.section import Key, Panel, Section
from experiments.report.select import in_order
from experiments.report.style import CONFIG, DASHES, tokens
from experiments.results import Results, read, read_stores

HERE = Path(__file__).parent
SYMBOLS = {
    "circle": "M{r},0A{r},{r},0,1,1,-{r},0A{r},{r},0,1,1,{r},0Z",
    "square": "M-{s},-{s}H{s}V{s}H-{s}Z",
    "triangle-up": "M0,-{r}L{r},{s}L-{r},{s}Z",
    "diamond": "M0,-{d}L{d},0L0,{d}L-{d},0Z",
}


def swatch(key: Key) -> Markup:
    """The symbol of an entry of a key, as SVG."""
    colour = f"var(--{key.colour.removeprefix('@')})"
    if key.shape == "line":
        dashes = " ".join(map(str, key.dash)) if key.dash and list(key.dash) != DASHES[0] else "none"
        inside = f'<path d="M-13,0H13" stroke="{colour}" stroke-width="2.2" stroke-dasharray="{dashes}"/>'
        return Markup(f'<svg width="28" height="14" viewBox="-14 -7 28 14" aria-hidden="true">{inside}</svg>')
    if key.shape == "bar":
        return Markup(f'<svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true"><rect x="-6" y="-6" width="12" height="12" rx="2" fill="{colour}"/></svg>')
    r = (key.area / 3.1416) ** 0.5
    path = SYMBOLS[key.shape].format(r=f"{r:.2f}", s=f"{key.area**0.5 / 2:.2f}", d=f"{(key.area / 2) ** 0.5 * 1.15:.2f}")
    width = f"{2 * r + 4:.1f}"
    box = f"-{r + 2:.2f} -{r + 2:.2f} {width} {width}"
    return Markup(f'<svg width="{width}" height="{width}" viewBox="{box}" aria-hidden="true"><path d="{path}" fill="{colour}"/></svg>')


def colours() -> Markup:
    """The tokens as CSS variables, for the theme that the system or the reader prefers."""
    light, dark = (";".join(f"--{name}:{value}" for name, value in tokens(theme).items()) for theme in ("light", "dark"))
    return Markup(
        f":root{{color-scheme:light;{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n"
        f":root[data-theme=dark]{{color-scheme:dark;{dark}}}\n"
    )


def specification(panel: Panel) -> dict:
    """The panel as Vega-Lite, as wide as its container. The configuration that all share is left out."""
    chart = panel.chart.properties(width="container", autosize=alt.AutoSizeParams(type="fit-x", contains="padding"))
    spec = chart.to_dict(validate=False)  # a plot of the same panel is validated
    spec.pop("config", None)
    spec.pop("$schema", None)
    return spec


def in_script(value) -> Markup:
    """JSON for a script element."""
    return Markup(json.dumps(value, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c"))


@cache
def library() -> Markup:
    """Vega and what it needs, for a script element. To put it together takes a second."""
    return Markup(vl_convert.javascript_bundle(vl_version=plots.VEGA_LITE).replace("</script", "<\\/script"))


def page(results: Results, sections: list[Section]) -> str:
    """The page as text."""
    loader = jinja2.FileSystemLoader(HERE / "template")
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    charts = {f"{section.name}-{i}": specification(panel) for section in sections for i, panel in enumerate(section.panels)}
    return environment.get_template("page.html").render(
        overview=overview.of(results),
        headings={"datasets": overview.DATASETS, "failures": overview.FAILURES, "absences": overview.ABSENCES, "verdict": verdict.HEADINGS},
        verdict=verdict,
        lines=verdict.verdict(results),
        sections=sections,
        swatch=swatch,
        colours=colours(),
        css=Markup((HERE / "template" / "page.css").read_text(encoding="utf-8")),
        script=Markup((HERE / "template" / "page.js").read_text(encoding="utf-8")),
        library=library() if charts else "",
        charts=in_script(charts),
        themes=in_script({"config": CONFIG, "tokens": {theme: tokens(theme) for theme in ("light", "dark")}}),
    )


def _replace(path: Path, content: bytes) -> None:
    """Writes a file atomically, since another process may write the same report."""
    file = tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False)
    try:
        with file:
            file.write(content)
        os.chmod(file.name, 0o644)
        os.replace(file.name, path)
    except OSError as failed:
        os.unlink(file.name)
        raise OSError(failed.errno, failed.strerror, str(path)) from None


def write(results: Path | None, folder: Path, log: Callable[[str], None], stores: Sequence[Path] = (), picture: str = "png") -> None:
    """Writes index.html and a picture, png or svg, for each section and choice. `stores` are outputs of `cutpoint stats --details --json`. Raises Unreadable if
    a file has no results, OSError if one cannot be read or written."""
    draw = {"png": plots.png, "svg": plots.svg}[picture]
    contents = read(results) if results else Results()
    contents.stores = read_stores(stores)
    sections = [section for make in SECTIONS if (section := make(contents))]
    for section in sections:
        section.rows = section.rows if section.is_in_order else in_order(section.rows, contents)
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for section in sections:
        for choice in section.choices or [""]:
            _replace(folder / plots.file_name(section, choice, picture), draw(section, choice))
            count += 1
    text = page(contents, sections).encode()
    _replace(folder / "index.html", text)
    for name, take, mean, saves, cost, why, options in verdict.verdict(contents):
        log(f"{name}: take {take} (mean {mean}, saves {saves}{f', {cost} s/GiB' if cost else ''}): {why}" + (f"; {options}" if options else ""))
    log(f"{folder / 'index.html'}: {len(sections)} sections, {len(text) / 1e6:.1f} MB; {count} plots")
