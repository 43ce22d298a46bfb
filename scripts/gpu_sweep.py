"""The sweeps of scripts/would-a-gpu-help over many machines: a CSV with a plot over one axis, or a table over all axes.

usage: gpu_sweep.py FILE.csv FILE.svg   draws the plot anew
"""

import csv
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

FIELDS = ("sweep", "series", "x", "predicted_gb_s", "simulated_gb_s", "plan", "bottleneck", "job")
AXES = {
    "link": "bandwidth of the link to the GPU, GB/s",
    "cores": "cores",
    "gpus": "GPUs",
}
LINKS = (12, 25, 50)
PACKAGE = "python3-matplotlib"
GIGA = 1e9


# --- Machines -------------------------------------------------------------------------------------------------------------------------


def spread(least, most, number):
    """Numbers in geometric progression."""
    return [least * (most / least) ** (i / (number - 1)) for i in range(number)]


def by_link(asker, base):
    """Series of machines: name, machines to predict, machines to simulate."""
    for cores in sorted({base.cores, 8, 32, 64}):
        here = replace(asker.with_cores(base, cores), gpus=base.gpus)
        name = f"{cores} cores"
        yield name, *(((x, replace(here, link=x)) for x in xs) for xs in (spread(0.5, 400, 120), (1, 3, 6, 12, 25, 50, 100, 200, 400)))


def by_cores(asker, base):
    lines, points = sorted({int(round(c)) for c in spread(1, 128, 60)}), (1, 2, 4, 8, 16, 32, 64, 128)
    for link in (None, *LINKS):
        gpus = base.gpus if link else 0
        name = f"{gpus} GPU{'s' * (gpus > 1)}, {link} GB/s" if link else "no GPU"
        yield name, *(((n, replace(asker.with_cores(base, n), gpus=gpus, link=link or 0)) for n in ns) for ns in (lines, points))


def by_gpus(asker, base):
    for link in LINKS:
        name = f"links of {link} GB/s"
        yield name, *(((n, replace(base, gpus=n, link=link)) for n in ns) for ns in (range(0, 17), (0, 1, 2, 3, 4, 6, 8, 12, 16)))


def row_of(axis, series, x, found):
    simulated = found.get("simulated")
    return {
        "sweep": axis,
        "series": series,
        "x": f"{x:.6g}",
        "predicted_gb_s": f"{found['bytes_per_second'] / GIGA:.4g}",
        "simulated_gb_s": f"{simulated['bytes_per_second'] / GIGA:.4g}" if simulated else "",
        "plan": (simulated or found)["plan"],
        "bottleneck": found["limits"][0]["name"] if found["limits"] else "",
    }


def rows_of(asker, base, axis):
    job = f"{base.cuts}, {base.hash}, " + (f"reading {base.reading:.3g} GB/s" if base.reading else "reading free")
    if axis == "gpus":
        job += f", {base.cores} cores"
    for series, line, points in {"link": by_link, "cores": by_cores, "gpus": by_gpus}[axis](asker, base):
        print(f"would-a-gpu-help: {series}…", file=sys.stderr)
        for machines, ask in ((list(line), asker.predict), (list(points), asker.simulate)):
            for (x, _), found in zip(machines, ask([m for _, m in machines])):
                yield row_of(axis, series, x, found) | {"job": job}


# --- Output ---------------------------------------------------------------------------------------------------------------------------


def write(rows, file):
    with open(file, "w", newline="") as to:
        out = csv.DictWriter(to, FIELDS, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
    print(f"would-a-gpu-help: wrote {file}", file=sys.stderr)


def table(asker, base, file):
    """Prints a table of simulated speeds by cores, GPUs and links, with predictions in brackets, and writes the rows to `file`."""
    columns = [(0, 0), *((gpus, link) for gpus in (1, 2, 4) for link in LINKS)]
    print("| cores | none |" + "".join(f" {g} x {link} |" for g, link in columns[1:]))
    print("|--:|" + "--:|" * len(columns))
    rows = []
    for cores in (1, 4, 16, 64):
        machines = [replace(asker.with_cores(base, cores), gpus=gpus, link=link) for gpus, link in columns]
        found = asker.simulate(machines)
        cells = [f"{f['simulated']['bytes_per_second'] / GIGA:.3g} ({f['bytes_per_second'] / GIGA:.3g})" for f in found]
        print(f"| {cores} | " + " | ".join(cells) + " |", flush=True)
        rows += [row_of("all", f"{g} x {link}", cores, f) | {"job": f["line"]} for (g, link), f in zip(columns, found)]
    write(rows, file)


def sweep(asker, base, given):
    name = given.output or Path("gpus-and-cores" if given.sweep == "all" else f"gpu-by-{given.sweep}")
    file = name.with_name(name.name + ".csv")
    try:
        if given.sweep == "all":
            table(asker, base, file)
            return
        write(rows_of(asker, base, given.sweep), file)
    except OSError as problem:
        sys.exit(f"would-a-gpu-help: {problem.filename}: {problem.strerror}")
    draw_by_any_python(file, name.with_name(name.name + ".svg"))


# --- The plot -------------------------------------------------------------------------------------------------------------------------


def draw_by_any_python(file, target):
    """Draws the plot by the first Python that has matplotlib, this one or Debian's."""
    for python in dict.fromkeys((sys.executable, "/usr/bin/python3")):
        has = Path(python).exists() and subprocess.run([python, "-c", "import matplotlib"], capture_output=True).returncode == 0
        if has:
            subprocess.run([python, __file__, file, target], check=True)
            return
    print(f"would-a-gpu-help: no plot: it takes the package {PACKAGE}, which scripts/setup --plots installs; {file} has the figures", file=sys.stderr)


def draw(file, target):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "cutpoint", "font.size": 11, "font.family": "DejaVu Sans"}
    from matplotlib import pyplot

    with open(file, newline="") as source:
        rows = list(csv.DictReader(source))
    axis = rows[0]["sweep"]
    names = list(dict.fromkeys(r["series"] for r in rows))
    figure, axes = pyplot.subplots(figsize=(8.4, 5))
    colours = ("#1b4f9c", "#c8511b", "#20804a", "#7b3f98")
    ends = []
    for name, colour in zip(names, colours):
        of = [(float(r["x"]), float(r["predicted_gb_s"]), r["simulated_gb_s"]) for r in rows if r["series"] == name]
        line = sorted((x, y) for x, y, simulated in of if not simulated)
        points = [(x, float(simulated)) for x, _, simulated in of if simulated]
        axes.plot(*zip(*line), color=colour, linewidth=1.8)
        axes.plot(*zip(*points), "o", color=colour, markersize=5.5, markeredgecolor="white", markeredgewidth=0.8)
        ends.append((line[-1], sum(y for _, y in line), name, colour))
    axes.set_xlabel(AXES[axis])
    axes.set_ylabel("cut and fingerprinted, GB/s")
    if axis != "gpus":
        axes.set_xscale("log", base=2 if axis == "cores" else 10)
        ticks = (1, 2, 4, 8, 16, 32, 64, 128) if axis == "cores" else (0.5, 1, 2, 5, 12, 25, 50, 100, 200, 400)
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes.set_ylim(bottom=0)
    axes.margins(x=0.02)
    axes.grid(color="#dddddd", linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)
    label(axes, ends)
    figure.suptitle(rows[0]["job"], x=0.01, ha="left", fontsize=11)
    axes.set_title("lines: predicted; points: the engine's schedule on a virtual clock; no GPU was measured", loc="left", fontsize=9, color="#555555")
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})
    print(f"would-a-gpu-help: wrote {target}", file=sys.stderr)


def label(axes, ends):
    """Puts names at the right ends of the lines, without overlap."""
    least = 0.055 * axes.get_ylim()[1]
    below = axes.get_ylim()[1]
    for (x, y), _, name, colour in sorted(ends, key=lambda end: (end[0][1], end[1]), reverse=True):
        below = min(y, below - least)
        axes.annotate(name, (x, below), xytext=(8, 0), textcoords="offset points", color=colour, va="center", annotation_clip=False)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: gpu_sweep.py FILE.csv FILE.svg")
    draw(Path(sys.argv[1]), Path(sys.argv[2]))
