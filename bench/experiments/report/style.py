"""The style of the report: colours of algorithms, instruction sets and stages for the light and the dark theme, and Vega's configuration.

Charts name colours by tokens ("@gear"), which the page and the PNG writer replace by the colours of a theme. Families have the hues of Okabe
and Ito, which colour-blind readers can distinguish; members of a family differ in lightness, and in shape or dashes.
"""

import json

# family: its title, and its algorithms with their colours (light, dark)
FAMILIES = {
    "gear": ("gear hashes", {"gear": ("#005a8f", "#3f9fe0"), "fastcdc": ("#3d9bdc", "#9bd3ff")}),
    "rabin": ("Rabin", {"rabin": ("#a63a06", "#ff8347"), "rabin-inck": ("#d5601f", "#ffab82"), "tttd": ("#ea9b70", "#d9602c")}),
    "sums": (
        "other rolling hashes",
        {"adler": ("#7d5f00", "#ffdc73"), "crc32": ("#ad8300", "#e3b53a"), "buzhash": ("#d6a821", "#b98f1f")},
    ),
    "extrema": (
        "local extrema",
        {
            "maxp": ("#00543f", "#159b76"),
            "ae-max": ("#00805f", "#35c79c"),
            "ae-min": ("#2eaa85", "#78e0c0"),
            "ram": ("#6fbf9f", "#b5f0dc"),
        },
    ),
    "sequences": ("monotone sequences", {"seqcdc-inc": ("#99266f", "#f092cf"), "seqcdc-dec": ("#cf74b0", "#c8569f")}),
    "minima": ("smallest values", {"mincdchash4": ("#4a3a2a", "#c9b29a"), "mincdc4": ("#8a7257", "#8f7a66")}),
    "secret": (
        "decided by AES",
        {"toeplitz-aes": ("#b5124a", "#ff7aa2"), "rabin-aes": ("#e0577f", "#d94f7d"), "toeplitz128-aes": ("#7a0c33", "#ffb3c8")},
    ),
    "fixed": ("no content", {"fixed": ("#6b7280", "#9aa4b0")}),
}
ALGORITHMS = {name: family for family, (_, members) in FAMILIES.items() for name in members}

SHAPES = ["circle", "square", "triangle-up", "diamond"]
DASHES = [[1, 0], [5, 2], [2, 2], [7, 2, 2, 2]]

# The colours of back ends in their order, the first that of the reference; no two are of one hue. The list repeats after its end; shapes
# then differ.
BACK_ENDS = [
    ("#8a929c", "#8a929c"), ("#7a4fa8", "#b995e6"), ("#1f78b4", "#5aaee8"), ("#d9820f", "#f2ad55"), ("#1e8a63", "#4cc79a"), ("#b02a5b", "#ef86ae"),
]  # fmt: skip
STAGES = {
    "reading": ("#7b8ea6", "#7b8ea6"),
    "intake": ("#c3ccd6", "#4d5a68"),
    "chunking": ("#2f74b5", "#5aa5ea"),
    "joining": ("#d6a821", "#e3b53a"),
    "fingerprinting": ("#b5500f", "#f0854a"),
    "delivery": ("#2a8a68", "#46c297"),
    "indexing": ("#9c7a3c", "#c9a668"),
    "compression": ("#b8447f", "#e58bb8"),
    "writing": ("#157a88", "#4cc0cf"),
}
INK = {
    "text": ("#1c2127", "#e8ebef"),
    "muted": ("#5b6570", "#a3adb8"),
    "grid": ("#e6e9ed", "#2c333b"),
    "rule": ("#b4bcc5", "#4d5761"),
    "paper": ("#ffffff", "#171b20"),
    "heat": ("#8cc4f0", "#1f5f96"),
    "device": ("#7a3fb0", "#b98be8"),
}


def tokens(theme: str) -> dict[str, str]:
    """The colour of each token; `theme` is light or dark."""
    which = ("light", "dark").index(theme)
    members = {name: pair for _, family in FAMILIES.values() for name, pair in family.items()}
    every = members | INK | {f"back-end-{i}": p for i, p in enumerate(BACK_ENDS)} | {f"stage-{n}": p for n, p in STAGES.items()}
    return {name: pair[which] for name, pair in every.items()}


def in_theme(spec: dict, theme: str) -> dict:
    """The specification with the colours of a theme in place of tokens."""
    text = json.dumps(spec)
    for name, colour in tokens(theme).items():
        text = text.replace(f'"@{name}"', f'"{colour}"')
    return json.loads(text)


def colour(mechanism: str) -> str:
    """The token of an algorithm. A profile has that of the algorithm that it configures."""
    return f"@{mechanism}" if mechanism in ALGORITHMS else "@muted"


def member(mechanism: str) -> int:
    """The index in the family, which selects shapes and dashes."""
    family = ALGORITHMS.get(mechanism)
    return list(FAMILIES[family][1]).index(mechanism) % len(SHAPES) if family else 0


def back_end_looks(back_ends: list[str], reference: str) -> dict[str, tuple[str, str]]:
    """The token and the shape of each back end: gray circles for the reference; neighbours in the list differ in both."""
    others = [name for name in back_ends if name != reference]
    looks = {name: (f"@back-end-{1 + i % (len(BACK_ENDS) - 1)}", SHAPES[i % len(SHAPES)]) for i, name in enumerate(others)}
    return {reference: ("@back-end-0", "circle")} | looks


FONT = "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

# Vega's configuration, in tokens.
CONFIG = {
    "font": FONT,
    "background": None,
    "padding": 4,
    "view": {"stroke": None},
    "axis": {
        "labelColor": "@muted", "titleColor": "@muted", "gridColor": "@grid", "domainColor": "@rule", "tickColor": "@rule",
        "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal", "titlePadding": 8, "labelPadding": 5, "tickSize": 4,
        "labelLimit": 110,
    },
    "axisX": {"labelFlush": False},
    "axisY": {"domain": False, "ticks": False},
    "legend": {"labelColor": "@text", "titleColor": "@muted", "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal"},
    "title": {
        "color": "@text", "subtitleColor": "@muted", "anchor": "start", "fontSize": 13, "fontWeight": 600, "subtitleFontSize": 11,
        "subtitlePadding": 6, "offset": 10,
    },
    "text": {"color": "@text", "fontSize": 11},
    "rule": {"color": "@rule"},
    "range": {},
}  # fmt: skip
