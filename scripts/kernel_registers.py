"""The tables of the GPU kernels' registers in docs/results/gpu-kernels.md, made from compiled kernels.

    kernel_registers.py FILE...           prints the tables; FILE: a program, library, object or cubin with kernels
    kernel_registers.py --write FILE...   writes them into docs/results/gpu-kernels.md

Bytes of a stack, or of registers that are spilled, stand beside the registers. It needs cuobjdump, on PATH or in
.deps/cuda/toolkit/bin. The exit status is 1 if a kernel has them that is not in KNOWN.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/results/gpu-kernels.md"
BEGIN, END = "<!-- scripts/kernel_registers.py: begin -->\n", "<!-- scripts/kernel_registers.py: end -->\n"
SCANS = {
    "gear<unsigned int>, zeros_test<unsigned int>, 1": "gear, xet",
    "gear<unsigned long>, zeros_test<unsigned long>, 2": "fastcdc, borg2-fastcdc (two masks)",
    "adler, pattern_test, 1": "adler",
    "buzhash, residue_test, 1": "buzhash and its profiles",
    "buzhash, zeros_test<unsigned int>, 1": "borg1",
    "crc32, zeros_test<unsigned int>, 1": "crc32",
    "rabin, zeros_test<unsigned int>, 1": "rabin, restic",
    "rabin, zeros_test<unsigned int>, 2": "tttd (two masks)",
    "rabin_inck, pattern_test, 1": "rabin-inck",
    "rabin64": "rabin-aes",
    "toeplitz<1u>": "toeplitz-aes",
    "toeplitz<2u>": "toeplitz128-aes",
}
FINDERS = {
    "backup": "tttd",
    "first_candidate": "gear, rabin, rabin-inck, adler, crc32, buzhash and their profiles",
    "restarted": "fastcdc, borg2-fastcdc",
    "two_masks": "toeplitz-aes, rabin-aes, toeplitz128-aes",
    "window_after": "borg1",
}
STEPS = ("map_partitions", "join", "sequential_join")
# Architectures by kernels with a stack or spilled registers, where the bounds that 9.0 needs leave too few. Nothing else may have them.
KNOWN = {
    "join_kernel<ronomon_cut_finder>": (80, 89),
    "map_partitions_kernel<ronomon_cut_finder>": (80, 89),
    "rolling_scan<rolling_buzhash, zeros_test<unsigned int>, 1u, rolling_tuning{256u, 512u, 2u}>": (80, 89, 90, 100),
    "rolling_scan<rolling_rabin_inck, pattern_test, 1u, rolling_tuning{256u, 512u, 2u}>": (90, 100),
}


def resources(files):
    """By architecture: registers, and bytes of stack and local memory, of each kernel of the project, by its demangled name."""
    tool = shutil.which("cuobjdump", path=f"{os.environ.get('PATH', '')}:{ROOT}/.deps/cuda/toolkit/bin")
    if tool is None:
        sys.exit("cuobjdump is not here; CUDA's toolkit has it, and so has NVIDIA's package nvidia-cuda-cuobjdump")
    kernels = {}
    for file in files:
        listed = subprocess.run([tool, "--dump-resource-usage", file], check=True, capture_output=True, text=True).stdout
        text = subprocess.run(["c++filt"], input=listed, check=True, capture_output=True, text=True).stdout
        usages = re.findall(r"arch = sm_(\d+)|Function (?:void )?(.*):\s+REG:(\d+) STACK:(\d+) SHARED:\d+ LOCAL:(\d+)", text)
        for architecture, name, registers, stack, local in usages:
            if architecture:
                chosen = kernels.setdefault(int(architecture), {})
            elif kernel := re.match(r"run_kernel<(.*)>\(", name.replace("cutpoint::cuda::", "")):
                chosen[kernel[1].strip()] = (int(registers), int(stack) + int(local))
    return {architecture: kernels[architecture] for architecture in sorted(kernels) if kernels[architecture]}


def tables(kernels):
    """Markdown, with a column for each architecture."""
    scans, finders, others = {}, {}, {}
    for architecture, by_name in kernels.items():
        for name, (registers, memory) in by_name.items():
            used = f"{registers} (+{memory} B)" if memory else str(registers)
            scan = re.match(r"rolling_scan<rolling_(.*, \d)u, (rolling_tuning.*)|encrypted_scan<rolling_(.*?) ?>$|(\w+)_scan$", name)
            step = re.match(r"(\w+)_kernel<(\w+)_cut_finder ?>$", name)
            if scan:
                small = ", small blocks" if scan[2] and "128u" in scan[2] else ""
                rule = scan[1] or scan[3] or scan[4]
                scans.setdefault(SCANS.get(rule, rule) + small, {})[architecture] = used
            elif step:
                finders.setdefault(FINDERS.get(step[2], step[2]), {}).setdefault(architecture, {})[step[1]] = used
            else:
                inner = re.sub(r"hash_kernel_launch<(?:chunk_hash_kernel<)?(\w+)[ >]*$", r"\1", name)
                others.setdefault(inner.removesuffix("_kernel"), {})[architecture] = used
    steps = {name: {at: " / ".join(used.get(step, "–") for step in STEPS) for at, used in row.items()} for name, row in finders.items()}
    for head, rows in (("scan", scans), ("cut finder: map / join / finish", steps), ("other kernel", others)):
        yield f"| {head} | " + " | ".join(f"{at // 10}.{at % 10}" for at in kernels) + " |\n|---|" + "--:|" * len(kernels) + "\n"
        yield from (f"| {name} | {' | '.join(row.get(at, '–') for at in kernels)} |\n" for name, row in sorted(rows.items()))
        yield "\n"


def main(words):
    files = [word for word in words if word != "--write"]
    if not files:
        sys.exit(__doc__)
    kernels = resources(files)
    text = "".join(tables(kernels)).removesuffix("\n")
    if "--write" in words:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(before + BEGIN + text + END + rest.split(END)[1])
    else:
        print(text, end="")
    spilling = [f"{name} for sm_{at}" for at, of in kernels.items() for name, (_, memory) in of.items() if memory and at not in KNOWN.get(name, ())]
    if spilling:
        sys.exit("kernels with a stack or with spilled registers: " + ", ".join(spilling))


if __name__ == "__main__":
    main(sys.argv[1:])
