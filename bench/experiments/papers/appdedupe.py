"""The tables of docs/papers/appdedupe.md, from what cluster_runs.py measured, and AppDedupe's claims."""

from functools import partial

from experiments.papers.claim import DIRECTION, SIZE, NotJudged, above, add_claim, at_least, at_most, below, by_cases, gain, points, within
from experiments.papers.cluster_runs import (
    BALANCE_HANDPRINTS, BALANCE_SUPER_CHUNK, BALANCED, CHOICES, EVOLVED, HANDPRINTS, LARGEST, LOCKS, NODES, PRODUCK, SCHEMES, SETS, SIZES, STREAMS, USUAL, best_schemes, program_of,
)  # fmt: skip
from experiments.papers.evidence import Evidence, ratio
from experiments.papers.tables import DASH, Rows, lines, percent, plain, table, times

K = 1024
NAMES = {
    "app-dedupe": "AppDedupe", "app-aware": "AppAware", "sigma-dedupe": "Sigma-Dedupe", "emc-stateful": "EMC stateful", "emc-stateless": "EMC stateless",
    "extreme-binning": "Extreme Binning", "produck": "Produck", "calb": "CALB", "dht": "dht",
}  # fmt: skip
MOST_NODES = NODES[-1]
FEATURES = {  # table 2: granularity, deduplication ratio, throughput, data skew, overhead
    "dht": ("NEC HydraStor", "Medium", "Low", "Low", "Low"),
    "extreme-binning": ("Extreme Binning", "Medium", "High", "Medium", "Low"),
    "calb": ("EMC CALB", "Low", "High", "High", "Low"),
    "emc-stateless": ("EMC Stateless", "Medium", "High", "Medium", "Low"),
    "emc-stateful": ("EMC Stateful", "High", "Low", "Low", "High"),
    "produck": ("Produck", "High", "Low", "Low", "High"),
    "app-dedupe": ("AppDedupe", "High", "High", "Low", "Low"),
}


def measured(evidence: Evidence, *path: str):
    """A value of the measurements by its path, or None if it was not measured."""
    value = evidence.clusters
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def routed(evidence: Evidence, name: str, policy: str, cuts: str = USUAL, nodes: int = MOST_NODES) -> dict | None:
    """A simulation of figures 10 and 11."""
    return measured(evidence, "clusters", name, f"{policy} {cuts} {nodes}")


def effective(evidence: Evidence, name: str, policy: str, cuts: str = USUAL, nodes: int = MOST_NODES) -> float | None:
    """NEDR, normalized to one exact node with equal chunks for all classes: chunks that save more than these count."""
    entry = routed(evidence, name, policy, cuts, nodes)
    return entry and entry["normalized_effective_ratio"] * measured(evidence, "clusters", name, "trace", "unique_bytes") / entry["own_unique_bytes"]


def look_ups(evidence: Evidence, policy: str, cuts: str = USUAL, nodes: int = MOST_NODES) -> float | None:
    """Look-ups over the chunks of the usual cuts."""
    return ratio(measured(evidence, "clusters", "all", f"{policy} {cuts} {nodes}", "look_ups"), measured(evidence, "clusters", "all", "trace", "chunk_count"))


def metrics(entry: dict | None) -> list[str]:
    names = ("normalized_ratio", "normalized_effective_ratio", "data_skew", "relative_saving")
    return [plain(entry and entry[name]) for name in names]


@lines("appdedupe-where")
def where(evidence: Evidence) -> list[str]:
    if not evidence.clusters:
        return ["- not measured"]
    sets = ", ".join(f"{name} {checksum[:12]}" for name, checksum in evidence.clusters["checksums"].items())
    groups: dict[str, list[str]] = {}
    for group, version in evidence.clusters["versions"].items():
        groups.setdefault(f"{program_of(group).split('/')[1]} {version}", []).append(group.replace("_", " "))
    programs = [f"- {version}: {', '.join(measured_groups)}" for version, measured_groups in groups.items()]
    rounds = [f"- figure 7: medians of {evidence.clusters.get('efficiency_rounds', DASH)} rounds; figure 6: of {(evidence.clusters.get('streams') or {}).get('rounds', DASH)}"]
    return [f"- processor: {evidence.clusters['processor']}", *programs, *rounds, f"- data: {sets}"]


@table("appdedupe-table-2", "scheme", "the paper: ratio, throughput, skew, overhead", "NDR", "NEDR", "DS", "saved", "look-ups a chunk", "messages a MiB", words=2)
def table_2(evidence: Evidence) -> Rows:
    for policy, (name, *words) in FEATURES.items():
        entry = routed(evidence, "all", policy)
        messages = entry and entry["message_count"] / measured(evidence, "clusters", "all", "trace", "byte_count") * K * K
        yield [f"{name} ({policy})", ", ".join(words), *metrics(entry), plain(look_ups(evidence, policy)), plain(messages, 1)]


@table("appdedupe-tables-3-4", "data", "GB", "saved within, %", "saved between, %", "ratio, by content", "ratio, fixed 4 KB", "by content / fixed")
def tables_3_4(evidence: Evidence) -> Rows:
    printed = evidence.papers["appdedupe"].tables["tables-3-4"]
    for name in printed.rows:
        size, within, other, size_again, fixed, content = (printed.at(name, column) for column in printed.columns)
        sizes = " and ".join(plain(each, 0) for each in dict.fromkeys((size, size_again)))  # the tables differ about Audio
        yield [f"{name}, paper", sizes, plain(within, 1), plain(other), plain(content), plain(fixed), times(ratio(content, fixed))]
    for name in SETS:
        row = measured(evidence, "redundancy", name)
        content, fixed = (row and row["bytes"] / row[key] for key in ("unique_bytes", "fixed_unique_bytes"))
        saved = [percent(row and 1 - row["fixed_unique_bytes"] / row["bytes"], 1), percent(between(evidence, name))]
        yield [f"{name}, ours", plain(row and row["bytes"] / 1e9), *saved, plain(content), plain(fixed), times(ratio(content, fixed))]


def between(evidence: Evidence, name: str) -> float | None:
    return ratio(measured(evidence, "redundancy", name, "shared_bytes"), measured(evidence, "redundancy", name, "bytes"))


MEMORY = ("emc-stateless", "produck", "sigma-dedupe", "app-dedupe")


@table("appdedupe-table-5", "data", "EMC, MB", "Produck", "Sigma-Dedupe", "AppDedupe", "Produck / EMC", "AppDedupe / Sigma-Dedupe", "saved: Sigma-Dedupe, %", "AppDedupe, %")
def table_5(evidence: Evidence) -> Rows:
    printed = evidence.papers["appdedupe"].tables["table-5"]
    sums = [sum(row[i] for name, row in printed.rows.items() if name != "Total") for i in range(len(MEMORY))]
    for name, row in (*printed.rows.items(), ("Total, added", sums)):
        yield [f"{name}, paper", *(plain(value, 1) for value in row), times(row[1] / row[0]), times(row[3] / row[2]), DASH, DASH]
    for name in SETS:
        cells = [ratio(measured(evidence, "memory", name, f"{policy} index_bytes"), 1e6) for policy in MEMORY]
        saved = [percent(measured(evidence, "memory", name, f"{policy} relative_saving"), 1) for policy in MEMORY[2:]]
        yield [f"{name}, ours", *(plain(cell, 2) for cell in cells), times(ratio(cells[1], cells[0])), times(ratio(cells[3], cells[2])), *saved]


@table("appdedupe-table-6", "scheme", "classes of the nodes", "stored GB", "DS", "EDR (NEDR)", "NDR", "saved / dht's")
def table_6(evidence: Evidence) -> Rows:
    printed = evidence.papers["appdedupe"].tables["table-6"]
    distributions = {"AppAware": "2:2:3", "Sigma-Dedupe": "7:7:7", "AppDedupe": "3:4:4"}
    for name, classes in distributions.items():
        yield [f"{name}, paper", classes, plain(printed.at(name, "capacity"), 0), plain(printed.at(name, "DS")), plain(printed.at(name, "EDR")), DASH, DASH]
    for policy in ("app-aware", "sigma-dedupe", "app-dedupe"):
        row = measured(evidence, "three_nodes", policy)
        classes = ":".join(map(str, sorted(row["classes"]))) if row else DASH
        numbers = [plain(row and row[name]) for name in ("data_skew", "normalized_effective_ratio", "normalized_ratio", "relative_saving")]
        yield [f"{NAMES[policy]}, ours", classes, plain(row and row["stored_bytes"] / 1e9), *numbers]


TOTAL_GB = 1774


def deviations(data_skew: float) -> tuple[float, float]:
    """The least and the greatest deviation of three loads over their mean, as a population and as a sample, that a data skew allows."""
    return data_skew / 6**0.5, data_skew / 3**0.5


@table("appdedupe-table-6-arithmetic", "scheme, paper", "DE printed, MB/s", "by equation 7, GB of 1000 MB", "of 1024 MB", "exact capacity by its EDR, GB")
def table_6_arithmetic(evidence: Evidence) -> Rows:
    """EDR = exact / capacity x 1 / (1 + deviation / mean), so the exact capacity lies between those of the two deviations."""
    printed = evidence.papers["appdedupe"].tables["table-6"]
    for name in printed.rows:
        capacity, data_skew, effective_ratio, seconds, efficiency = printed.rows[name]
        rates = [plain((TOTAL_GB - capacity) * unit / seconds, 1) for unit in (1000, 1024)]
        least, most = (effective_ratio * capacity * (1 + deviation) for deviation in deviations(data_skew))
        yield [name, plain(efficiency, 1), *rates, f"{least:.0f} to {most:.0f}"]


@table("appdedupe-figure-1", "data", "real", *(f"k = {k}" for k in HANDPRINTS))
def figure_1(evidence: Evidence) -> Rows:
    for name in SETS:
        row = measured(evidence, "resemblances", name) or {}
        yield [name, *(plain(row.get(key)) for key in ("real", *map(str, HANDPRINTS)))]


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


STREAM_LABELS = [counted(count, "stream") for count in STREAMS]


def look_up_rate(evidence: Evidence, locks: int, count: int, time: str = "by_clock") -> float | None:
    """Look-ups a second of this many streams in a table with so many locks."""
    return measured(evidence, "streams", f"look-ups {locks}", time, str(count))


@table("appdedupe-figure-6", "million look-ups", "a second", *STREAM_LABELS, words=2)
def figure_6(evidence: Evidence) -> Rows:
    for time, name in (("by_clock", "of time"), ("by_processor", "of a processor")):
        for locks in LOCKS:
            rates = [look_up_rate(evidence, locks, count, time) for count in STREAMS]
            yield [counted(locks, "lock"), name, *(plain(rate and rate / 1e6, 1) for rate in rates)]


def indexes(evidence: Evidence) -> dict[str, str]:
    """The indexes by which streams deduplicate: their tables and locks, by what they are."""
    classes = measured(evidence, "streams", "classes") or DASH
    return {"one table with one lock": "1 1", "a table for each class with one lock": f"{classes} 1", "a table for each class with 64 locks": f"{classes} 64"}


def stream_rate(evidence: Evidence, cache: str, index: str, count: int) -> float | None:
    """Bytes that this many streams deduplicate a second, with a cold or a warm cache."""
    return measured(evidence, "streams", f"{cache} {index}", "by_clock", str(count))


@table("appdedupe-figure-6-deduplication", "GB deduplicated a second", "cache", *STREAM_LABELS, words=2)
def figure_6_deduplication(evidence: Evidence) -> Rows:
    for name, index in indexes(evidence).items():
        for cache in ("cold", "warm"):
            rates = [stream_rate(evidence, cache, index, count) for count in STREAMS]
            yield [name, cache, *(plain(rate and rate / 1e9, 1) for rate in rates)]


@table("appdedupe-figure-7", "MB saved a second", *(f"{'fixed' if algorithm == 'fixed' else 'by content'} {size}" for algorithm in SCHEMES for size in SIZES), "best")
def figure_7(evidence: Evidence) -> Rows:
    best = best_schemes(measured(evidence, "efficiencies") or {})
    for name in SETS:
        rates = [measured(evidence, "efficiencies", name, f"{algorithm} {size}") for algorithm in SCHEMES for size in SIZES]
        yield [name, *(plain(rate and rate / 1e6, 0) for rate in rates), best.get(name, DASH)]


@table("appdedupe-figure-8", "nodes", "super-chunks a node", "points", *(f"DS, k = {k}" for k in BALANCE_HANDPRINTS), "memory, MB")
def figure_8(evidence: Evidence) -> Rows:
    for count in BALANCED:
        for ring_points in (100, 1):
            rows = [measured(evidence, "balance", f"{count} {k} {ring_points}") for k in BALANCE_HANDPRINTS]
            units, memory_bytes = (rows[-1] and rows[-1][name] for name in ("units", "memory_bytes"))
            skews = [plain(row and row["data_skew"], 3) for row in rows]
            yield [str(count), plain(units and units / count, 0), str(ring_points), *skews, plain(memory_bytes and memory_bytes / 1e6, 0)]


@table("appdedupe-figure-8-largest", "super-chunks", "nodes", *(f"DS, k = {k}" for k in BALANCE_HANDPRINTS), *(f"seconds, k = {k}" for k in BALANCE_HANDPRINTS), "memory, GB")
def figure_8_largest(evidence: Evidence) -> Rows:
    rows = [measured(evidence, "largest_balance", str(k)) for k in BALANCE_HANDPRINTS]
    known = [row for row in rows if row]
    skews = [plain(row and row["data_skew"], 4) for row in rows]
    seconds = [plain(row and row["seconds"], 0) for row in rows]
    most_bytes = max((row["memory_bytes"] for row in known), default=None)
    yield [plain(known[0]["units"] if known else None, 0), str(LARGEST), *skews, *seconds, plain(most_bytes and most_bytes / 1e9, 1)]


@table("appdedupe-figure-8-evolved", "data", "versions", "as measured", "nodes", "super-chunks a node", *(f"DS, k = {k}" for k in BALANCE_HANDPRINTS), words=1)
def figure_8_evolved(evidence: Evidence) -> Rows:
    for name in EVOLVED:
        facts = measured(evidence, "evolved_balance", name) or {}
        for count in (min(BALANCED), max(BALANCED)):
            rows = [facts.get(f"{count} {k}") for k in BALANCE_HANDPRINTS]
            units = rows[-1] and rows[-1]["units"] / count
            yield [f"synthetic {name}", str(facts.get("versions", DASH)), facts.get("changes", DASH), str(count), plain(units, 0), *(plain(row and row["data_skew"]) for row in rows)]


@table("appdedupe-figure-9", "nodes", *(f"NDR, k = {k}" for k in HANDPRINTS))
def figure_9(evidence: Evidence) -> Rows:
    for count in NODES[2:]:
        yield [str(count), *(plain(measured(evidence, "handprint_sizes", str(count), str(k)), 3) for k in HANDPRINTS)]


OTHERS = ("sigma-dedupe", "emc-stateful", "emc-stateless", "extreme-binning", "produck")


@table("appdedupe-figure-10", "data", "nodes", "AppDedupe, chunks by class", "AppDedupe, equal chunks", *(NAMES[name] for name in OTHERS), "Produck, 1 KB")
def figure_10(evidence: Evidence) -> Rows:
    for name, count in [("all", count) for count in NODES] + [(name, MOST_NODES) for name in SETS]:
        ours = [effective(evidence, name, "app-dedupe", cuts, count) for cuts in ("by class", USUAL)]
        others = [effective(evidence, name, policy, USUAL, count) for policy in OTHERS]
        yield [name, str(count), *map(plain, (*ours, *others, effective(evidence, name, "produck", PRODUCK, count)))]


@table("appdedupe-figure-11", "nodes", "AppDedupe", *(NAMES[name] for name in OTHERS), "Produck, 1 KB")
def figure_11(evidence: Evidence) -> Rows:
    for count in NODES:
        cells = [look_ups(evidence, name, USUAL, count) for name in ("app-dedupe", *OTHERS)]
        yield [str(count), *map(plain, (*cells, look_ups(evidence, "produck", PRODUCK, count)))]


@table("appdedupe-choices", "AppDedupe, 64 nodes", "NDR", "NEDR", "DS", "saved / dht's")
def choices(evidence: Evidence) -> Rows:
    for label in CHOICES:
        yield [label, *metrics(measured(evidence, "choices", label))]


claim = partial(add_claim, "AppDedupe", source="clusters")
claim("table 3", "what applications share is negligible (rule: 1 % of their bytes)", "0.01 to 0.29 %", at_most(0.01, lambda v: f"{100 * v:.2f} %"))(
    lambda evidence: [(name, between(evidence, name)) for name in SETS]
)


def _memory_over(policy: str, evidence: Evidence) -> list[tuple[str, float | None]]:
    return [(name, ratio(*(measured(evidence, "memory", name, f"{each} index_bytes") for each in ("app-dedupe", policy)))) for name in SETS]


claim("table 5", "the similarity index needs less memory than a Bloom filter (over it)", "0.65×", gain(times, 0.65))(
    partial(_memory_over, "emc-stateless")
)
claim("table 5", "AppDedupe needs no more memory than Sigma-Dedupe (over it)", "0.91×", gain(times, 0.91))(
    partial(_memory_over, "sigma-dedupe")
)


@claim("table 6", "of three nodes, AppDedupe has the best EDR (AppDedupe over the others)", "2.11× AppAware, 1.09× Sigma-Dedupe", by_cases(times, DIRECTION, SIZE))
def _three_nodes(evidence):
    edr = {policy: measured(evidence, "three_nodes", policy, "normalized_effective_ratio") for policy in ("app-aware", "sigma-dedupe", "app-dedupe")}
    for policy, paper in (("app-aware", 2.11), ("sigma-dedupe", 1.09)):
        v = ratio(edr["app-dedupe"], edr[policy])
        yield NAMES[policy], v, *(v is not None and supports(v) for supports in gain(times, paper).supports.values())


claim("table 6", "of three nodes, AppAware stores least, then AppDedupe (next over this)", "1.01× and 1.06×", gain(times, 1.01, 1.06))(
    lambda evidence: [
        (f"{NAMES[b]} over {NAMES[a]}", ratio(measured(evidence, "three_nodes", b, "stored_bytes"), measured(evidence, "three_nodes", a, "stored_bytes")))
        for a, b in (("app-aware", "app-dedupe"), ("app-dedupe", "sigma-dedupe"))
    ]
)


@claim("figure 1", "handprints of 16 estimate the resemblance (rule: within 0.15)", "approaches it", within(-0.15, 0.15, lambda v: f"{v:+.2f}"))
def _estimates(evidence):
    for name in SETS:
        row = measured(evidence, "resemblances", name)
        yield name, row and row["16"] - row["real"]


@claim("figure 6", "a table and a lock for each class deduplicate faster than one of each, from 2 streams on", "“much better”", above(1, times))
def _locks_by_class(evidence):
    one, by_class, _ = indexes(evidence).values()
    for count in STREAMS[1:]:
        for cache in ("cold", "warm"):
            yield f"{count} streams, {cache}", ratio(stream_rate(evidence, cache, by_class, count), stream_rate(evidence, cache, one, count))


@claim("figure 6", "a warm cache is faster than a cold one", "higher", above(1, times))
def _warm_cache(evidence):
    for name, index in indexes(evidence).items():
        for count in STREAMS:
            yield f"{name}, {count} streams", ratio(stream_rate(evidence, "warm", index, count), stream_rate(evidence, "cold", index, count))


@claim("section 4.3", "as many streams as processors are fastest: no other number is faster by more than 5 %, warm, by class", "16 streams", at_most(1.05, times))
def _best_streams(evidence):
    _, by_class, _ = indexes(evidence).values()
    processors = measured(evidence, "streams", "processors")
    for count in STREAMS:
        if count != processors:
            yield f"{count} streams", ratio(stream_rate(evidence, "warm", by_class, count), processors and stream_rate(evidence, "warm", by_class, processors))


@claim("section 4.3", "more locks than streams make look-ups slower: 1,024 locks over as many as streams", "drops", below(1, times))
def _many_locks(evidence):
    for count in sorted(set(STREAMS) & set(LOCKS) - {1}):
        most, equal = (look_up_rate(evidence, locks, count) for locks in (LOCKS[-1], count))
        yield f"{count} streams", ratio(most, equal)


@claim("figure 7", "the best scheme and size differ by data (number of best ones; rule: 2)", "3 of 3 data sets", at_least(2, lambda v: f"{v:.0f}"))
def _best(evidence):
    best = best_schemes(measured(evidence, "efficiencies") or {})
    return [("all", float(len(set(best.values()))) if best else None)]


OF_BALANCE = f"by {NAMES['sigma-dedupe']}'s policy with super-chunks of {BALANCE_SUPER_CHUNK}B"
claim("figure 8", f"with k of at least 4 the data skew is less than 1, {OF_BALANCE}, with 100 points a node", "< 1", at_most(1, plain))(
    lambda evidence: [(f"{count} nodes, k = {k}", measured(evidence, "balance", f"{count} {k} 100", "data_skew")) for count in BALANCED for k in (4, 8)]
)
claim("figure 8", "the same with one point a node", "< 1", at_most(1, plain))(
    lambda evidence: [(f"{count} nodes, k = {k}", measured(evidence, "balance", f"{count} {k} 1", "data_skew")) for count in BALANCED for k in (4, 8)]
)
claim("figure 8", f"the same at full size, 83,886,080 super-chunks on {LARGEST:,} nodes, with 100 points a node", "< 1", at_most(1, plain))(
    lambda evidence: [(f"k = {k}", measured(evidence, "largest_balance", str(k), "data_skew")) for k in (4, 8)]
)


@claim("figure 8", "by AppDedupe's own policy, k = 8 and super-chunks of 1 MiB, the data skew is less than 1 (figure 10's data, 2 to 64 nodes)", "< 1", at_most(1, plain))
def _own_balance(evidence):
    for count in NODES[1:-1]:
        row = routed(evidence, "all", "app-dedupe", nodes=count)
        yield f"{count} nodes", row and row["data_skew"]


@claim("figure 9", "NDR grows with the handprint: from 8 to 16 (rule: at least 0.01)", "“significant”", above(0.01, points(1)))
def _handprints(evidence):
    for count in NODES[2:]:
        row = measured(evidence, "handprint_sizes", str(count))
        yield f"{count} nodes", row and row["16"] - row["8"]


SUPER_CHUNK = K * K  # bytes, on average
CARRIED = NODES[-3:-1]  # nodes of figure 10 that get some 100 super-chunks and more, of the 14,000 that the paper has
OVER = {"emc-stateful": 1.031, "extreme-binning": 1.727, "emc-stateless": 1.505, "produck": 1.282, "sigma-dedupe": 1.118}  # the paper's, at 128 nodes


def _over_other(policy: str, cuts: str, evidence: Evidence):
    return [(f"{count} nodes", ratio(*(effective(evidence, "all", *of, count) for of in (("app-dedupe", cuts), (policy, USUAL))))) for count in CARRIED]


for _policy, _paper in OVER.items():
    for _cuts, _words in (("by class", "with chunks by class"), (USUAL, "with equal chunks")):
        _text = f"AppDedupe {_words} has a higher EDR than {NAMES[_policy]} on all data (at 32 and 64 nodes)"
        claim("figure 10", _text, f"{times(_paper)} at 128 nodes", gain(times, _paper))(partial(_over_other, _policy, _cuts))


@claim("figure 10", "the same at 128 nodes", "1.03 to 1.73×", gain(times, *OVER.values()))
def _of_most_nodes(evidence):
    if byte_count := measured(evidence, "clusters", "all", "trace", "byte_count"):
        yield NotJudged(f"{byte_count / SUPER_CHUNK / MOST_NODES:.0f} super-chunks a node")


claim("figure 11", "AppDedupe needs about 1.25 times the look-ups of EMC stateless, at all sizes", "1.25×", gain(times, 1.25))(
    lambda evidence: [(f"{count} nodes", ratio(look_ups(evidence, "app-dedupe", USUAL, count), look_ups(evidence, "emc-stateless", USUAL, count))) for count in NODES]
)
claim("figure 11", "Produck with chunks of 1 KB needs four times the look-ups", "4×", gain(times, 4))(
    lambda evidence: [(f"{count} nodes", ratio(look_ups(evidence, "produck", PRODUCK, count), look_ups(evidence, "emc-stateless", USUAL, count))) for count in NODES]
)
claim("figure 11", "those of EMC stateful grow with the nodes (128 over 16 nodes)", "linear: 8×", gain(times, 8))(
    lambda evidence: [("all", ratio(look_ups(evidence, "emc-stateful", USUAL, 128), look_ups(evidence, "emc-stateful", USUAL, 16)))]
)
