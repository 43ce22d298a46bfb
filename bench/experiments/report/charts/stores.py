"""Stores: how they grew, how much of their containers is in use, how their snapshots lie in containers, and kinds of files."""

import altair as alt

from experiments.report.charts.dots import ROW, chart, tips, whole_ticks
from experiments.report.section import Key, Panel, Section, number
from experiments.results import GIB, Results
from experiments.sizes import rounded

MIB = 1 << 20
MOST_KINDS = 12
FILES, STORED = "files", "stored"
SERIES = {FILES: "@muted", STORED: "@stage-chunking"}
COLUMNS = [
    ("store", lambda row: row["store"]),
    ("snapshot", lambda row: row["snapshot"][:16]),
    ("files MiB", number("bytes", 1, MIB)),
    ("new MiB", number("new_raw_bytes", 2, MIB)),
    ("new, stored MiB", number("new_stored_bytes", 2, MIB)),
    ("all files so far MiB", number("files_sum", 1, MIB)),
    ("all stored so far MiB", number("stored_sum", 1, MIB)),
]


def growth_rows(store: dict) -> list[dict]:
    """The snapshots, each with the sums up to it."""
    rows, files, stored = [], 0, 0
    for place, each in enumerate(store["growth"], 1):
        files += each["bytes"]
        stored += each["new_stored_bytes"]
        rows.append(each | {"store": store["name"], "place": place, "files_sum": files, "stored_sum": stored})
    return rows


def by_series(names: list[str] | None = None) -> alt.Color:
    shown = names or list(SERIES)
    return alt.Color("series:N", title=None, scale=alt.Scale(domain=shown, range=[SERIES[name] for name in shown]))


def growth(store: dict) -> alt.LayerChart:
    """A panel: the bytes of all files and of what was stored for them, snapshot by snapshot."""
    shown = [
        {"place": row["place"], "series": series, "gib": row[name] / GIB, "snapshot": row["snapshot"][:16]}
        for row in growth_rows(store)
        for series, name in ((FILES, "files_sum"), (STORED, "stored_sum"))
    ]
    base = chart(
        shown,
        alt.X("place:Q", title="snapshot", axis=alt.Axis(values=whole_ticks(len(store["growth"])), format="d")),
        alt.Y("gib:Q", title="GiB together"),
        by_series(),
        tooltip=tips(("snapshot:N",), ("series:N",), ("gib:Q", "GiB together", ".3f")),
    )
    return alt.layer(base.mark_line(strokeWidth=2), base.mark_point(filled=True, size=30)).properties(height=230)


def live_shares(store: dict) -> alt.LayerChart:
    """A panel: a bar for each bin of live shares."""
    shown = [
        {"share": "none" if each["at_most"] == 0 else f"to {100 * each['at_most']:.0f} %", "containers": each["containers"], "mib": each["container_bytes"] / MIB}
        for each in store["live_shares"]
    ]
    y = alt.Y("share:N", sort=None, title="live", axis=alt.Axis(labelColor="@text"))
    tooltip = tips(("share:N", "live"), ("containers:Q", "containers", ",d"), ("mib:Q", "MiB", ",.1f"))
    bars = chart(shown, y, alt.X("containers:Q", title="containers", axis=alt.Axis(tickMinStep=1)), tooltip=tooltip).mark_bar(color=SERIES[STORED])
    return alt.layer(bars).properties(height=ROW * len(shown))


def fragmentation(store: dict) -> alt.LayerChart:
    """A panel: how many containers a restore reads for each MiB of the oldest and of the newest snapshot."""
    shown = [{"which": which, "containers": store[which]["containers"], "per_mib": store[which]["containers_per_mib"]} for which in ("oldest", "newest")]
    y = alt.Y("which:N", sort=None, title=None, axis=alt.Axis(labelColor="@text"))
    tooltip = tips(("which:N", "snapshot"), ("containers:Q", "containers", ",d"), ("per_mib:Q", "for each MiB", ".4f"))
    bars = chart(shown, y, alt.X("per_mib:Q", title="containers read for each MiB restored"), tooltip=tooltip).mark_bar(color=SERIES[STORED])
    return alt.layer(bars).properties(height=ROW * 3)


def kinds(store: dict) -> alt.LayerChart:
    """A panel: bytes of files and of their chunks, by kind of file."""
    most = sorted(store["kinds"], key=lambda each: -each["bytes"])[:MOST_KINDS]
    shown = [
        {"kind": each["kind"], "series": series, "mib": each[name] / MIB, "files": each["files"]}
        for each in most
        for series, name in ((FILES, "bytes"), (STORED, "stored_bytes"))
    ]
    bars = chart(
        shown,
        alt.Y("kind:N", sort=None, title=None, axis=alt.Axis(labelColor="@text")),
        alt.X("mib:Q", title="MiB"),
        by_series(),
        yOffset=alt.YOffset("series:N", sort=list(SERIES)),
        tooltip=tips(("kind:N",), ("series:N",), ("mib:Q", "MiB", ",.2f"), ("files:Q", "files", ",d")),
    ).mark_bar()
    return alt.layer(bars).properties(height=(ROW + 5) * max(len(most), 1))


def stored_bytes(store: dict) -> int:
    return store["container_bytes"] + store["shard_bytes"]


def cost(store: dict) -> float:
    """Stored bytes for each byte of the snapshots' files."""
    return stored_bytes(store) / max(store["snapshot_bytes"], 1)


def stores(results: Results) -> Section | None:
    filled = [store for store in results.stores if store["growth"]]
    if not filled:
        return None
    panels = []
    for store in filled:
        drawn = (
            ("Growth", growth(store)),
            ("Containers by live share", live_shares(store)),
            ("Fragmentation", fragmentation(store)),
            ("Kinds of files, newest snapshot", kinds(store)),
        )
        panels += [Panel(title, drawing, store["name"]) for title, drawing in drawn]
    best = min(filled, key=cost)
    count = f"{best['snapshots']:,} snapshot{'' if best['snapshots'] == 1 else 's'}"
    title = f"Stores: {best['name']} takes {rounded(stored_bytes(best))} for {rounded(best['snapshot_bytes'])} of files in {count}"
    caption = "As cutpoint stats --details saw them. Stored bytes of the growth are those that each backup added; what was forgotten since is not among them. "
    caption += "The live share of a container is the bytes of records that snapshots refer to. Chunks count for the first file that has them."
    keys = [Key(name, colour, "bar") for name, colour in SERIES.items()]
    rows = [row for store in filled for row in growth_rows(store)]
    names = [store["name"] for store in filled]
    return Section("stores", "Stores", title, caption, panels, COLUMNS, rows, keys, names, "store", panels_a_row=2, is_in_order=True)
