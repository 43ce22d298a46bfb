"""The tables of the GPU kernels' registers in docs/results/gpu-kernels.md, made from compiled kernels.

    kernel_registers.py FILE...           prints the tables; FILE: a program, library, object or cubin with kernels
    kernel_registers.py --write FILE...   writes them into docs/results/gpu-kernels.md

It needs cuobjdump, on PATH or in .deps/cuda/toolkit/bin. The exit status is 1 if a kernel has a stack or spills registers.
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
}
FINDERS = {
    "backup": "tttd",
    "first_candidate": "gear, rabin, rabin-inck, adler, crc32, buzhash and their profiles",
    "restarted": "fastcdc, borg2-fastcdc",
    "window_after": "borg1",
}
STEPS = ("map_partitions", "join", "sequential_join")


def resources(files):
    """Registers and bytes of stack and local memory of each kernel of the project, by its demangled name."""
    tool = shutil.which("cuobjdump", path=f"{os.environ.get('PATH', '')}:{ROOT}/.deps/cuda/toolkit/bin")
    if tool is None:
        sys.exit("cuobjdump is not here; CUDA's toolkit has it, and so has NVIDIA's package nvidia-cuda-cuobjdump")
    kernels = {}
    for file in files:
        listed = subprocess.run([tool, "--dump-resource-usage", file], check=True, capture_output=True, text=True).stdout
        text = subprocess.run(["c++filt"], input=listed, check=True, capture_output=True, text=True).stdout
        usages = re.findall(r"Function (?:void )?(.*):\s+REG:(\d+) STACK:(\d+) SHARED:\d+ LOCAL:(\d+)", text)
        for name, registers, stack, local in usages:
            kernel = re.match(r"run_kernel<(.*)>\(", name.replace("cutpoint::cuda::", ""))
            if kernel:
                kernels[kernel[1].strip()] = (int(registers), int(stack) + int(local))
    return kernels


def tables(kernels):
    scans, finders, others = {}, {}, {}
    for name, (registers, _) in kernels.items():
        scan = re.match(r"rolling_scan<rolling_(.*, \d)u, rolling_tuning.*|(\w+)_scan$", name)
        step = re.match(r"(\w+)_kernel<(\w+)_cut_finder ?>$", name)
        if scan:
            scans[SCANS.get(scan[1], scan[2] or scan[1])] = registers
        elif step:
            finders.setdefault(FINDERS.get(step[2], step[2]), {})[step[1]] = registers
        else:
            inner = re.sub(r"hash_kernel_launch<(?:chunk_hash_kernel<)?(\w+)[ >]*$", r"\1", name)
            others[inner.removesuffix("_kernel")] = registers
    yield "| scan | registers |\n|---|--:|\n"
    yield from (f"| {name} | {registers} |\n" for name, registers in sorted(scans.items()))
    yield "\n| cut finder | map | join | finish |\n|---|--:|--:|--:|\n"
    yield from (f"| {name} | {' | '.join(str(used.get(step, '–')) for step in STEPS)} |\n" for name, used in sorted(finders.items()))
    yield "\n| other kernel | registers |\n|---|--:|\n"
    yield from (f"| {name} | {registers} |\n" for name, registers in sorted(others.items()))


def main(words):
    files = [word for word in words if word != "--write"]
    if not files:
        sys.exit(__doc__)
    kernels = resources(files)
    text = "".join(tables(kernels))
    if "--write" in words:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(before + BEGIN + text + END + rest.split(END)[1])
    else:
        print(text, end="")
    spilling = [name for name, (_, bytes_used) in kernels.items() if bytes_used]
    if spilling:
        sys.exit("kernels with a stack or with spilled registers: " + ", ".join(spilling))


if __name__ == "__main__":
    main(sys.argv[1:])
