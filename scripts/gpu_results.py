"""A page in docs/results/, made from the folder that gpu-check brought back: its steps, what cutpoint_device tells of the device and its link,
data in device memory beside the estimates of docs/results/gpu-kernels.md, and processor, GPU and both side by side.

    gpu_results.py FOLDER [PAGE]   PAGE: default docs/results/gpu-NAME.md, by the name of the GPU; prints its path

Parts and figures that are missing are named on the page. The exit status is 1 if nothing is there.
"""

import json
import re
import signal
import sys
from pathlib import Path

import gpu_estimates

ROOT = Path(__file__).resolve().parents[1]
NUMBERS = (1, 2, 3, 4)
WHERE = {"processor": "processor", "cuda": "GPU", "hybrid": "both"}
LOG_LINES = 40  # of a failed step


def giga(rate):
    return f"{rate / 1e9:.1f}" if rate else "-"


def ratio(rate, other):
    return f"{rate / other:.2f}" if rate and other else "-"


def table(title, heads, rows):
    """A section with a table, or nothing without rows."""
    lines = ["| " + " | ".join(str(cell) for cell in row) + " |\n" for row in rows]
    return f"\n## {title}\n\n| {' | '.join(heads)} |\n|---|{'--:|' * (len(heads) - 1)}\n{''.join(lines)}" if lines else ""


def read_json(file):
    return json.loads(file.read_text()) if file.exists() else {}


# --- Steps ----------------------------------------------------------------------------------------------------------------------------


def steps(folder):
    """Part, step, outcome and seconds of each step."""
    for number in NUMBERS:
        file = folder / f"part-{number}.tsv"
        if file.exists():
            yield from ([number, *line.split("\t")] for line in file.read_text().splitlines())
        else:
            yield number, "-", "did not come back", "-"


def logs_of_failures(folder):
    """The ends of the logs of the steps that failed."""
    for _, name, outcome, _ in steps(folder):
        log = folder / f"{name}.log"
        if outcome.startswith("FAILED") and log.exists():
            end = "\n".join(log.read_text(errors="replace").splitlines()[-LOG_LINES:])
            yield f"\n## The end of {log.name}\n\n```text\n{end}\n```\n"


# --- Data in device memory --------------------------------------------------------------------------------------------------------------


def runs_of(file):
    """The runs in a file of Google Benchmark. One that was killed has left no end of the file."""
    text = file.read_text() if file.exists() else ""
    try:
        return json.loads(text)["benchmarks"]
    except json.JSONDecodeError:
        end = text.rfind("\n    }")
        return json.loads(text[:end] + "\n    }\n  ]\n}")["benchmarks"] if end >= 0 else []


def estimates(device):
    """Bytes a second by the names of algorithms and fingerprints, without hyphens, of a device that the estimates know."""
    known = [each for each in gpu_estimates.DEVICES if re.search(rf"\b{each.name}\b", device)]
    kernels = gpu_estimates.limits_of_page(gpu_estimates.PAGE.read_text()) if known else ()
    by_kernel = {kernel: gpu_estimates.estimate(known[0], shared, rates)[0] * 1e12 for kernel, shared, rates in kernels}
    return {name.replace("-", ""): rate for kernel, rate in by_kernel.items() for name in re.findall(r"[\w-]+", kernel.lower())}


def resident(folder, device, read):
    """Of each benchmark its best rate, beside the estimate of what it measures alone, and a plain read; and the problems of the others."""
    expected = estimates(device)
    rates, algorithms, problems = {}, {}, {}
    for run in runs_of(folder / "resident.json"):
        name = run["run_name"].split("/cuda/")[0]
        if run.get("error_occurred") or run.get("skipped"):
            problems[name] = run.get("error_message") or run.get("skip_message", "skipped")
        elif run.get("aggregate_name") == "median":
            rates[name] = max(rates.get(name, 0), run["bytes_per_second"])
            algorithms[name] = run["label"].split("(")[0]
    rows = []
    for name, rate in rates.items():
        kind, word = name.split("/", 1)
        keys = (word, algorithms.get(name, "")) if kind in ("chunk", "fingerprint") else ()
        goal = next((expected[key.replace("-", "")] for key in keys if key.replace("-", "") in expected), 0)
        rows.append((f"`{name}`", giga(rate), giga(goal), ratio(rate, goal), ratio(rate, read)))
    return rows, [f"- {name}: {problem}\n" for name, problem in problems.items()]


# --- Processor, GPU and both --------------------------------------------------------------------------------------------------------------


def engines(folder):
    for row in read_json(folder / "engine.json").get("engine_rows", ()):
        rates = {name: row["back_ends"].get(name, {}).get("bytes_per_second") or 0 for name in WHERE}
        total = rates["processor"] + rates["cuda"]
        yield row["name"], *map(giga, rates.values()), ratio(rates["cuda"], rates["processor"]), ratio(rates["hybrid"], total)


def kernels(folder):
    for row in read_json(folder / "kernels.json").get("rows", ()):
        cell = row["back_ends"]["cuda"]
        yield f"`{row['name']}`", giga(cell["bytes_per_second"]), giga(cell.get("copied_bytes_per_second")), f"{row['mean_bytes']:.0f}"


def backup_report(log):
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith('{"') and '"message_type":"summary"' in line] if log.exists() else []
    return lines[0] | {"bytes_per_second": lines[0]["read_bytes"] / lines[0]["wall_seconds"]} if lines else {}


def shift(alone, report):
    """Whether the bottleneck is shifted: chunking was it on the processor, and no longer is."""
    if not alone or not alone["bottleneck"] or not report["bottleneck"]:
        return "not measured"
    if alone["bottleneck"] != "chunking":
        return f"no, it was {alone['bottleneck']}"
    return "no, still chunking" if report["bottleneck"] == "chunking" else "yes"


def jobs(folder):
    """A row for each job on files and each place where it was done."""
    reports = {f"`dedup`, {name}": {where: read_json(folder / f"dedup-{name}-{where}.json") for where in WHERE} for name in ("rabin", "fastcdc")}
    reports["first `backup`"] = {where: backup_report(folder / f"backup-{where}.log") for where in WHERE}
    for job, by_where in reports.items():
        alone = by_where["processor"]
        for where, report in by_where.items():
            if report:
                rate, shifted = report["bytes_per_second"], "-" if where == "processor" else shift(alone, report)
                yield job, WHERE[where], giga(rate), ratio(rate, alone.get("bytes_per_second")), report["bottleneck"], shifted, f"{report['device_cut_share'] or 0:.2f}"


# --- The page -------------------------------------------------------------------------------------------------------------------------


def about_device(folder, device):
    """What cutpoint_device tells, and beside a failed one what the machine says."""
    file = folder / "device.md"
    yield file.read_text() if file.exists() else f"# Cutpoint on {device}\n"
    yield f"\n## Machine\n\n```text\n{(folder / 'machine.txt').read_text().strip()}\n```\n"


def page(folder, device, limits):
    rows, problems = resident(folder, device, limits.get("read"))
    yield from about_device(folder, device)
    yield table("Steps", ["part", "step", "outcome", "seconds"], steps(folder))
    yield table("Data in device memory", ["benchmark", "GB/s", "estimate", "of the estimate", "of a plain read"], rows)
    yield table("The engine with SHA-1, from memory, GB/s", ["name", *WHERE.values(), "GPU / processor", "both / sum"], engines(folder))
    yield table("The GPU's kernels on files, GB/s", ["name", "cut", "copied", "mean chunk, bytes"], kernels(folder))
    yield table("Files", ["job", "by", "GB/s", "of the processor", "bottleneck", "shifted from chunking", "share cut by the GPU"], jobs(folder))
    variants = folder / "variants.md"
    yield "\n## Variants" + variants.read_text().partition("\n## Variants")[2] if variants.exists() else ""
    yield "\n## Not measured\n\n" + "".join(problems) if problems else ""
    yield from logs_of_failures(folder)


def main(words):
    if len(words) not in (1, 2):
        sys.exit(__doc__)
    folder = Path(words[0])
    machine = folder / "machine.txt"
    if not machine.exists():
        sys.exit(f"gpu_results.py: {folder} has no results of gpu-check")
    facts = read_json(folder / "device.json")
    device = facts.get("device") or re.search(r"^GPU +\d+: ([^,\n]+)", machine.read_text(), re.MULTILINE)[1]
    name = re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-")
    file = Path(words[1]) if words[1:] else ROOT / "docs" / "results" / f"gpu-{name}.md"
    file.write_text("".join(page(folder, device, facts.get("limits", {}))))
    print(file)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as the shell's own programs end when their reader does
    main(sys.argv[1:])
