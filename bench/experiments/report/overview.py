"""The head of the page: machines, binaries, time, data sets, and the outcomes of cells."""

from experiments.results import Results
from experiments.sizes import rounded


def time_text(first: str, last: str) -> str:
    """The time of the measurements. If it is within a day, the day is shown once."""
    begin, end = first.replace("T", " ")[:16], last.replace("T", " ")[:16]
    if begin[:10] == end[:10]:
        return f"measured on {begin[:10]}, {begin[11:]} to {end[11:]} UTC"
    return f"measured from {begin} to {end} UTC"


def machine_text(info: dict) -> str:
    """A machine as one line."""
    machine = info.get("machine", {})
    memory = sum(node.get("memory_bytes", 0) for node in machine.get("numa_nodes", []))
    facts = [
        machine.get("processor_model", "unknown processor"),
        f"{machine['cores']} cores" if machine.get("cores") else "",
        ", ".join(info.get("back_ends", [])),
        f"{rounded(memory)} of memory" if memory else "",
        ", ".join(gpu.get("name", "") for gpu in info.get("gpus", [])) or "no GPU",
        f"Linux {'.'.join(info['kernel'].split('.')[:2])}" if info.get("kernel") else "",
    ]
    return " · ".join(fact for fact in facts if fact)


def binary_text(info: dict) -> str:
    words = [f"cutpoint {info.get('version', '')}".strip(), info.get("commit", ""), info.get("compiler", ""), f"SHA-256 {info['key'][:12]}…"]
    return " · ".join(word for word in words if word)


DATASETS = ("data set", "stands for", "bytes", "versions", "checksum", "content")
FAILURES = ("outcome", "problem", "dataset", "kind", "algorithm", "size", "hash", "backend")
ABSENCES = ("cells", "missing here")


def dataset_row(info: dict) -> list[str]:
    versions = info.get("versions", [])
    fixed = info.get("deterministic")
    return [
        info["label"],
        ", ".join(info.get("stands_for", [])) or "–",
        rounded(info["bytes"]) if "bytes" in info else "–",
        str(len(versions)) if versions else "–",
        info["checksum"][:12],
        "the user's own" if fixed is None else "same bytes everywhere" if fixed else "made anew, differs",
    ]


def of(results: Results) -> dict:
    """The values for the template."""
    warnings = []
    if results.binaries and not results.catalog.entries:
        warnings.append("These results have no catalog of algorithms: sizes are compared by their averages. Start the sweep again to add it.")
    if len(results.machines) > 1:
        warnings.append("Cells were measured on several machines: compare only speeds that the same machine measured.")
    if len(results.binaries) > 1:
        warnings.append("Cells were measured by several binaries; the last result of each cell is shown.")
    return {
        "machines": [machine_text(info) for info in results.machines],
        "binaries": [binary_text(info) for info in results.binaries],
        "time": time_text(results.first, results.last) if results.last else "",
        "counts": {name: results.outcomes.get(name, 0) for name in ("done", "failed", "unavailable")},
        "datasets": [dataset_row(info) for info in results.datasets],
        "notes": [info.get("notes", "") for info in results.datasets],
        "failures": [[row[name] or "–" for name in FAILURES] for row in results.failures],
        "absences": [[str(row["cells"]), row["problem"]] for row in results.absences],
        "warnings": warnings,
    }
