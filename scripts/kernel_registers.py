"""Registers of the GPU kernels, by compute capability, from compiled kernels.

    kernel_registers.py FILE...   FILE: a program, library, object or cubin with kernels

Bytes of a stack, or of registers that are spilled, stand beside the registers. It needs cuobjdump, on PATH or in
.deps/cuda/toolkit/bin. The exit status is 1 if a kernel has them that is not in KNOWN.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Architectures by kernels with a stack or spilled registers, where the bounds that 9.0 needs leave too few. Nothing else may have them.
KNOWN = {
    "join_kernel<ronomon_cut_finder>": (80, 89),
    "map_partitions_kernel<ronomon_cut_finder>": (80, 89),
    "rolling_scan<rolling_buzhash, zeros_test<unsigned int>, 1u, rolling_tuning{256u, 512u, 2u}>": (80, 89, 90, 100),
    "rolling_scan<rolling_rabin_inck, pattern_test, 1u, rolling_tuning{256u, 512u, 2u}>": (90, 100),
}


def resources(files):
    """By the demangled name of each kernel of the project: by architecture its registers, and its bytes of stack and local memory."""
    tool = shutil.which("cuobjdump", path=f"{os.environ.get('PATH', '')}:{ROOT}/.deps/cuda/toolkit/bin")
    if tool is None:
        sys.exit("cuobjdump is not here; CUDA's toolkit has it, and so has NVIDIA's package nvidia-cuda-cuobjdump")
    kernels, chosen = {}, 0
    for file in files:
        listed = subprocess.run([tool, "--dump-resource-usage", file], check=True, capture_output=True, text=True).stdout
        text = subprocess.run(["c++filt"], input=listed, check=True, capture_output=True, text=True).stdout
        usages = re.findall(r"arch = sm_(\d+)|Function (?:void )?(.*):\s+REG:(\d+) STACK:(\d+) SHARED:\d+ LOCAL:(\d+)", text)
        for architecture, name, registers, stack, local in usages:
            if architecture:
                chosen = int(architecture)
            elif kernel := re.match(r"run_kernel<(.*)>\(", name.replace("cutpoint::cuda::", "")):
                kernels.setdefault(kernel[1].strip(), {})[chosen] = int(registers), int(stack) + int(local)
    return dict(sorted(kernels.items()))


def main(files):
    if not files:
        sys.exit(__doc__)
    kernels = resources(files)
    for name, by_architecture in kernels.items():
        used = (f"{at // 10}.{at % 10}: {registers}" + (f" (+{memory} B)" if memory else "") for at, (registers, memory) in sorted(by_architecture.items()))
        print(f"{name}\n  {', '.join(used)}")
    spilling = [f"{name} for sm_{at}" for name, each in kernels.items() for at, (_, memory) in each.items() if memory and at not in KNOWN.get(name, ())]
    if spilling:
        sys.exit("kernels with a stack or with spilled registers: " + ", ".join(spilling))


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as the shell's own programs end when their reader does
    main(sys.argv[1:])
