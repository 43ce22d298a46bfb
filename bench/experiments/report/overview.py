"""What stands at the head of the page: machine, binary, time, data sets, and what became of the cells."""

from experiments.report.rows import Results
from experiments.sizes import rounded


def machine_text(info: dict) -> str:
    """A machine in a line."""
    machine = info.get("machine", {})
    sets = [name for name in ("sse4_2", "avx2", "avx512f", "sha_ni", "neon") if name in machine.get("instruction_sets", [])]
    memory = sum(node.get("memory_bytes", 0) for node in machine.get("numa_nodes", []))
    parts = [
        machine.get("processor_model", "unknown processor"),
        f"{machine['cores']} cores" if machine.get("cores") else "",
        ", ".join(name.upper().replace("_", "-") for name in sets),
        f"{rounded(memory)} of memory" if memory else "",
        ", ".join(gpu.get("name", "") for gpu in info.get("gpus", [])) or "no GPU",
        f"Linux {info['kernel']}" if info.get("kernel") else "",
    ]
    return " · ".join(part for part in parts if part)


def binary_text(info: dict) -> str:
    words = [f"cutpoint {info.get('version', '')}".strip(), info.get("commit", ""), info.get("compiler", ""), f"SHA-256 {info['key'][:12]}…"]
    return " · ".join(word for word in words if word)


def dataset_row(info: dict) -> dict:
    versions = info.get("versions", [])
    fixed = info.get("deterministic")
    return {
        "name": info["label"],
        "stands_for": ", ".join(info.get("stands_for", [])) or "–",
        "bytes": rounded(info["bytes"]) if "bytes" in info else "–",
        "versions": str(len(versions)) if versions else "–",
        "checksum": info["checksum"][:12],
        "made": "the user's own" if fixed is None else "same bytes everywhere" if fixed else "made anew, differs",
        "notes": info.get("notes", ""),
    }


def of(results: Results) -> dict:
    """All of it, ready for the template."""
    warnings = []
    if len(results.machines) > 1:
        warnings.append("Cells were measured on several machines: speeds compare only where the same one measured both.")
    if len(results.binaries) > 1:
        warnings.append("Cells were measured by several binaries; of a cell that several measured, the last is shown.")
    return {
        "machines": [machine_text(info) for info in results.machines],
        "binaries": [binary_text(info) for info in results.binaries],
        "first": results.first.replace("T", " ")[:16],
        "last": results.last.replace("T", " ")[:16],
        "counts": {name: results.outcomes.get(name, 0) for name in ("done", "failed", "unavailable")},
        "datasets": [dataset_row(info) for info in results.datasets],
        "failures": results.failures,
        "warnings": warnings,
    }
