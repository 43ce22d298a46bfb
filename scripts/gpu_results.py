"""A page in docs/results/ with its chart, and the table in docs/gpu.md, made from what the four parts of gpu-check brought back.

    gpu_results.py FOLDER [--page FILE]   FOLDER: has gpu-part-1.md, gpu-part-1.json, gpu-part-1-logs/ and so on, as far as they came
                                          FILE: default docs/results/gpu-NAME.md, by the name of the GPU; the chart is beside it, a PNG

Parts that are missing are named on the page. The exit status is 1 if no part is there. scripts/gpu-results runs this by a Python that
has the packages of the report, by which the chart is drawn.
"""

import argparse
import csv
import json
import re
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GPU_PAGE = ROOT / "docs" / "gpu.md"
BEGIN, END = "<!-- scripts/gpu_results.py: begin -->\n", "<!-- scripts/gpu_results.py: end -->\n"
NUMBERS = (1, 2, 3, 4)
RESIDENT = ("chunking", "fingerprints")  # measured by Google Benchmark, of data in device memory
TABLES = ("end_to_end", "known_chunks")  # measured by cutpoint_device
# What an H200 should reach, in bytes a second: by algorithm, as a share of a plain read of device memory, and of chunks of 8 KiB.
CUT_GOALS = {"gear": 1.9e12, "fastcdc": 1.5e12, "mincdc": 2.5e12} | dict.fromkeys(("rabin", "buzhash", "crc32", "adler"), 1.0e12)
SHARE_GOALS = dict.fromkeys(("ram", "ae", "maxp", "seqcdc"), 0.6)
FINGERPRINT_GOALS = {"sha1": 1.4e12, "blake3": 1.3e12, "sha256": 0.65e12}
PROFILED = (  # columns of Nsight Compute's raw page, the first name that a version has
    ("µs", ("gpu__time_duration.sum",)),
    ("registers", ("launch__registers_per_thread",)),
    ("warps active, %", ("sm__warps_active.avg.pct_of_peak_sustained_active",)),
    ("issue slots, %", ("smsp__issue_active.avg.pct_of_peak_sustained_active", "sm__inst_issued.avg.pct_of_peak_sustained_active")),
    ("processors, %", ("sm__throughput.avg.pct_of_peak_sustained_elapsed",)),
    ("L1 and shared, %", ("l1tex__throughput.avg.pct_of_peak_sustained_active",)),
    ("device memory, %", ("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "dram__throughput.avg.pct_of_peak_sustained_elapsed")),
)
MICROSECONDS = {"ns": 1e-3, "nsecond": 1e-3, "us": 1, "usecond": 1, "ms": 1e3, "msecond": 1e3, "s": 1e6, "second": 1e6}


def giga(rate):
    return f"{rate / 1e9:.1f}" if rate else "-"


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "--:|" * (len(heads) - 1)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


# --- What came back -------------------------------------------------------------------------------------------------------------------


def runs_of(file):
    """The runs in a file of Google Benchmark. One that was killed has left no end of the file."""
    text = file.read_text()
    try:
        return json.loads(text)["benchmarks"]
    except json.JSONDecodeError:
        end = text.rfind("\n    }")
        return json.loads(text[:end] + "\n    }\n  ]\n}")["benchmarks"] if end >= 0 else []


def resident(folder, limits):
    """The rows of data in device memory, as those of cutpoint_device are: cuts alone, and with a fingerprint."""
    tables = {name: {} for name in RESIDENT}
    for file in sorted(folder.glob("gpu-part-*-logs/resident.json")):
        for run in runs_of(file):
            kind, name, _, size, *_ = run["run_name"].split("/")
            problem = run.get("error_message", "") if run.get("error_occurred") or run.get("skipped") else ""
            if not problem and run.get("aggregate_name") != "median":
                continue
            if kind == "fingerprint":
                kind, name, fingerprint = "fingerprints", "fixed", name
            else:
                kind, fingerprint = ("fingerprints", kind.split("+")[1]) if "+" in kind else ("chunking", "none")
            row = tables[kind].setdefault((name, fingerprint), {"name": name, "fingerprint": fingerprint, "rates": [], "problem": ""})
            if problem:
                row["problem"] = problem
                continue
            row["rates"].append({"batch_bytes": int(size), "bytes_per_second": run["bytes_per_second"]})
            algorithm = run["label"].split("(")[0]
            if fingerprint == "none":
                row["target_bytes_per_second"] = CUT_GOALS.get(algorithm) or SHARE_GOALS.get(algorithm, 0) * limits["read"] or None
            elif name == "fixed":
                row["target_bytes_per_second"] = FINGERPRINT_GOALS[fingerprint]
    return tables


def benchmark(folder):
    """The figures of all parts in one: of a row that several parts have, the one with most rates."""
    merged = {}
    for number in NUMBERS:
        file = folder / f"gpu-part-{number}.json"
        if not file.exists():
            continue
        figures = json.loads(file.read_text())
        merged.setdefault("device", figures["device"])
        merged.setdefault("about", figures["about"])
        merged.setdefault("limits", figures["limits"])
        for name in TABLES:
            rows = merged.setdefault(name, {})
            for row in figures[name]:
                key = row["name"], row.get("fingerprint")
                if key not in rows or len(row["rates"]) >= len(rows[key]["rates"]):
                    rows[key] = row
    return merged and merged | resident(folder, merged["limits"])


def profiles(folder):
    """Name of the kernel and figures of each profiled launch."""
    for file in sorted(folder.glob("gpu-part-*-logs/profile-*.csv")):
        lines = list(csv.DictReader(line for line in file.read_text().splitlines() if line.startswith('"')))
        if len(lines) < 2:
            continue
        units, launch = lines[0], lines[1]
        name = re.sub(r"cutpoint::cuda::|^void |\(.*$", "", launch.get("Kernel Name", ""))
        name = re.sub(r"^run_kernel<(.*)>$", r"\1", name)
        cells = []
        for head, columns in PROFILED:
            column = next((each for each in columns if launch.get(each)), None)
            value = float(launch[column].replace(",", "")) if column else None
            if value is not None and head == "µs":
                value *= MICROSECONDS.get(units[column], 1)
            cells.append("-" if value is None else f"{value:.0f}" if value >= 10 else f"{value:.1f}")
        yield [f"`{name[:60]}`", *cells]


def deduplications(folder):
    """Algorithm, where it ran, and the report of each run of the step dedup."""
    for file in sorted(folder.glob("gpu-part-*-logs/dedup-*.json")):
        _, algorithm, where = file.stem.split("-", 2)
        yield algorithm, where, json.loads(file.read_text())


def backups(folder):
    """Where it ran, and the summary of each first backup of the step backup."""
    for file in sorted(folder.glob("gpu-part-*-logs/backup-*.json")):
        yield file.stem.split("-", 1)[1], json.loads(file.read_text())


def engines(folder):
    for file in folder.glob("gpu-part-*-logs/engine.json"):
        yield from json.loads(file.read_text())["engine_rows"]


def cores(folder):
    """Of each setting of the step cores (algorithm, sizes, segment) the median rate by each number of threads."""
    rates = {}
    for file in folder.glob("gpu-part-*-logs/cores.tsv"):
        for row in csv.DictReader(file.read_text().splitlines(), delimiter="\t"):
            setting = row["algorithm"], row["sizes"], row["segment"]
            rates.setdefault(setting, {}).setdefault(int(row["threads"]), []).append(float(row["bytes_per_second"]))
    return {setting: {threads: statistics.median(each) for threads, each in by_threads.items()} for setting, by_threads in rates.items()}


def variants(folder):
    """Scan or wait, variant, rate, rate over that of the usual scan, and microseconds of each variant."""
    usual = None
    for file in folder.glob("gpu-part-*-logs/variants.json"):
        for row in json.loads(file.read_text())["variants"]:
            rate, seconds = row["bytes_per_second"], row["seconds"]
            usual = rate if row["variant"] == "usual" else usual
            yield row["name"], row["variant"], giga(rate), f"{rate / usual:.2f}" if rate and usual else "-", f"{seconds * 1e6:.1f}" if seconds else row["problem"] or "-"


# --- The page -------------------------------------------------------------------------------------------------------------------------


def best(row):
    return max((rate["bytes_per_second"] for rate in row["rates"]), default=0)


def summary(figures):
    """The table of docs/gpu.md: the best rate of each name in device memory and from host memory, beside what limits them."""
    limits = figures["limits"]
    rows = []
    for (name, _), row in figures["chunking"].items():
        target = row.get("target_bytes_per_second")
        ends = [best(each) for (other, _), each in figures["end_to_end"].items() if other == name]
        reached = max(ends, default=0)
        rows.append([
            name,
            giga(best(row)),
            giga(target) + (f" ({best(row) / target:.2f})" if target and best(row) else ""),
            f"{best(row) / limits['read']:.2f}",
            giga(reached),
            f"{reached / limits['link_in_pinned']:.2f}" if reached else "-",
        ])
    heads = ["cuts", "in device memory, GB/s", "goal (reached)", "of a plain read", "from pinned memory with SHA-1, GB/s", "of the link"]
    return table(heads, rows)


BY = {"cuda": "GPU", "hybrid": "both"}  # what a reader calls them; other names stay


def measured_by(rows):
    """The names of the back ends that any of the engine's rows was measured by."""
    return list(dict.fromkeys(name for row in rows for name, each in row["back_ends"].items() if each.get("bytes_per_second")))


def compared(folder):
    """The rows of the chart: job, algorithm, who did it, bytes a second, bottleneck."""
    for row in engines(folder):
        for name in measured_by([row]):
            yield {
                "job": "engine, data in memory", "algorithm": row["name"], "by": BY.get(name, name),
                "bytes_per_second": row["back_ends"][name]["bytes_per_second"], "bottleneck": "",
            }  # fmt: skip
    for algorithm, where, report in deduplications(folder):
        fields = {name: report[name] for name in ("bytes_per_second", "bottleneck")}
        yield {"job": "dedup, real data", "algorithm": algorithm, "by": BY.get(where, where)} | fields


def draw(rows, device, file):
    """Draws the chart and returns whether there is one."""
    sys.path.insert(0, str(ROOT / "bench"))
    try:
        from experiments.report import plots
        from experiments.report.charts.devices import processor_against_gpu
    except ModuleNotFoundError as missing:
        print(f"gpu_results.py: no chart: {missing}; scripts/gpu-results has what it takes", file=sys.stderr)
        return False
    section = processor_against_gpu(rows, device)
    if section:
        file.write_bytes(plots.png(section, ""))
    return section is not None


def verdict(cases):
    supporting = [case for case in cases if case[1]]
    outcome = "not measured" if not cases else "holds" if len(supporting) == len(cases) else "holds in part" if supporting else "does not hold"
    return outcome, "; ".join(case[0] for case in cases) or "-"


def claims(folder, figures):
    """The papers' claims about leaving work to an accelerator, each judged by a stated rule."""
    runs = {(algorithm, where): report for algorithm, where, report in deduplications(folder)}
    moved, gained, linked = [], [], []
    for (algorithm, where), report in runs.items():
        alone = runs.get((algorithm, "processor"))
        if where == "processor" or not alone:
            continue
        ratio = report["bytes_per_second"] / alone["bytes_per_second"]
        moved.append((f"{algorithm}, {where}: {alone['bottleneck']} → {report['bottleneck']}", report["bottleneck"] != "chunking"))
        gained.append((f"{algorithm}, {where}: {ratio:.2f}", ratio > 1))
    stored = {where: report["read_bytes"] / report["wall_seconds"] for where, report in backups(folder)}
    faster = [(f"{where}: {rate / stored['processor']:.2f}", rate > stored["processor"]) for where, rate in stored.items() if where != "processor" and "processor" in stored]
    for row in engines(folder):
        by = {name: each["bytes_per_second"] for name, each in row["back_ends"].items() if each["outcome"] == "measured"}
        if {"processor", "cuda", "hybrid"} <= set(by):
            share = by["hybrid"] / (by["processor"] + by["cuda"])
            linked.append((f"{row['name']}: {share:.2f}", share >= 0.9))
    rows = [
        ("the bottleneck moves away from chunking (AE, section 5; P-Dedupe, section 3)", "not chunking, on real data", moved),
        ("the whole is faster than by the processor alone (P-Dedupe's references Shredder, StoreGPU)", "above 1, on real data", gained),
        ("a first backup is faster than by the processor alone (ours)", "above 1, on real data", faster),
        ("processor and GPU together reach the sum of both (ours)", "0.9 of the sum, engine from memory", linked),
        *cores_claims(cores(folder)),
    ]
    return table(["claim", "rule", "found", "verdict"], [(claim, rule, verdict(cases)[1], f"**{verdict(cases)[0]}**") for claim, rule, cases in rows])


def cores_claims(rates):
    """P-Dedupe's claims about cores: what, by which rule, and the cases."""
    by_four = {setting: each[4] / each[1] for setting, each in rates.items() if {1, 4} <= set(each)}
    usual = [(f"{name}: {gain:.2f}", gain >= 3) for (name, sizes, segment), gain in by_four.items() if (sizes, segment) == ("2K:8K:64K", "auto")]
    sizes = [(f"{sizes}: {gain:.2f}", gain >= 3) for (name, sizes, segment), gain in by_four.items() if (name, segment) == ("rabin", "auto")]
    segments = {segment: each[max(each)] for (_, _, segment), each in rates.items() if segment != "auto"}
    larger = [(f"{a} to {b}: {segments[b] / segments[a]:.2f}", segments[b] >= 1.05 * segments[a]) for a, b in (("256K", "1M"), ("1M", "4M")) if {a, b} <= set(segments)]
    return (
        ("about 4 times as fast with four cores (P-Dedupe, figure 14, tables 5 and 6)", "3 with four threads", usual),
        ("3 to 4 times with four cores at every chunk size (P-Dedupe, figure 13)", "3 with four threads", sizes),
        ("in proportion to the segment (P-Dedupe, figure 10)", "5 % at each step, with most threads", larger),
    )


def steps(folder):
    for number in NUMBERS:
        file = folder / f"gpu-part-{number}.md"
        rows = re.findall(r"^\| (\S+) \| (.*) \| (\d+) \|$", file.read_text(), re.MULTILINE) if file.exists() else []
        yield from ((f"{number}, {name}", outcome, seconds) for name, outcome, seconds in rows)
        if not rows:
            yield f"{number}", "did not come back", "-"


def page(folder, figures, chart):
    yield f"# Cutpoint on {figures['device']}\n\n"
    yield from (f"- {name}: {value}\n" for name, value in figures["about"].items())
    yield "\n## Steps\n\n" + table(["part and step", "outcome", "seconds"], steps(folder))
    yield "\n## Limits\n\n" + table(["limit", "GB/s"], [(name.replace("_", " "), giga(rate)) for name, rate in figures["limits"].items() if name not in ("launch_seconds", "integer_operations")])
    yield f"\nAn empty launch with its wait takes {figures['limits']['launch_seconds'] * 1e6:.1f} µs.\n"
    yield "\n## Cuts\n\n" + summary(figures)
    for title, name in (("Fingerprints in device memory", "fingerprints"), ("Known chunks in pinned memory", "known_chunks")):
        rows = [(row["name"], row["fingerprint"], giga(best(row)), giga(row.get("target_bytes_per_second"))) for row in figures[name].values()]
        yield f"\n## {title}\n\n" + table(["name", "fingerprint", "GB/s", "goal"], rows)
    names = measured_by(engines(folder))
    rows = [(row["name"], *(giga(row["back_ends"].get(name, {}).get("bytes_per_second")) for name in names)) for row in engines(folder)]
    yield "\n## Processor against GPU: the engine with SHA-1, GB/s\n\n" + table(["name", *(BY.get(name, name) for name in names)], rows)
    if chart:
        yield f"\n![Processor against GPU]({chart.name})\n"
    rows = [(algorithm, where, giga(report["bytes_per_second"]), report["bottleneck"], f"{report['device_cut_share']:.2f}") for algorithm, where, report in deduplications(folder)]
    yield "\n## `dedup` of real data\n\n" + table(["algorithm", "by", "GB/s", "bottleneck", "share cut by the GPU"], rows)
    rows = [(where, giga(report["read_bytes"] / report["wall_seconds"]), report["bottleneck"], f"{report['device_cut_share'] or 0:.2f}") for where, report in backups(folder)]
    yield "\n## First `backup` of real data into a new store\n\n" + table(["by", "GB/s", "bottleneck", "share cut by the GPU"], rows)
    counts = sorted({threads for each in cores(folder).values() for threads in each})
    rows = [(*setting, *(giga(each.get(n)) for n in counts), *(f"{each[n] / each[1]:.2f}" if {1, n} <= set(each) else "-" for n in counts[1:])) for setting, each in cores(folder).items()]
    heads = ["algorithm", "sizes", "segment", *(f"{n} threads, GB/s" for n in counts), *(f"{n} / 1" for n in counts[1:])]
    yield "\n## P-Dedupe by threads of the processor: figures 10, 13, 14, tables 5, 6\n\n" + table(heads, rows)
    yield "\n## Kernels under Nsight Compute\n\n" + table(["kernel", *(head for head, _ in PROFILED)], profiles(folder))
    yield "\n## Variants of the scans, and ways to wait\n\n" + table(["scan or wait", "variant", "GB/s", "of the usual", "µs"], variants(folder))
    yield "\n## Claims\n\n" + claims(folder, figures)
    problems = [f"- {name}, {row['name']}: {row['problem']}\n" for name in (*RESIDENT, *TABLES) for row in figures[name].values() if row["problem"]]
    if problems:
        yield "\n## What is missing\n\n" + "".join(problems)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    figures = benchmark(options.folder)
    if not figures:
        sys.exit(f"gpu_results.py: {options.folder} has no gpu-part-N.json")
    name = re.sub(r"[^a-z0-9]+", "-", figures["device"].lower()).strip("-")
    file = options.page or ROOT / "docs" / "results" / f"gpu-{name}.md"
    chart = file.with_suffix(".png")
    if not draw(list(compared(options.folder)), figures["device"], chart):
        chart = None
    file.write_text("".join(page(options.folder, figures, chart)))
    if options.page is None:
        before, rest = GPU_PAGE.read_text().split(BEGIN)
        link = f"From [results/{file.name}](results/{file.name}):\n\n"
        GPU_PAGE.write_text(before + BEGIN + link + summary(figures) + END + rest.split(END)[1])
    print(file)


if __name__ == "__main__":
    main()
