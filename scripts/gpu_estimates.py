"""The table of estimates for several GPUs in docs/results/gpu-kernels.md, made from that page's limits of the kernels on 9.0.

    gpu_estimates.py           prints the table
    gpu_estimates.py --write   writes it into the page; tests/sources tests that it is there

A limit by issue, by the integer units or by shared memory is proportional to multiprocessors and clock. The number of threads that wait
for look-ups bounds a scan with tables, too, and so does the memory that the bytes are read from. The least of them is the estimate.
"""

import re
import signal
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/results/gpu-kernels.md"
BEGIN, END = "<!-- scripts/gpu_estimates.py: begin -->\n", "<!-- scripts/gpu_estimates.py: end -->\n"
PAGE_RATE = 132 * 1.75  # multiprocessors and GHz of the page's limits
LOOKUP_CYCLES = 60  # assumed for a byte's look-ups and operations in one thread


class Device(NamedTuple):
    """By NVIDIA's data sheets: boost clock in GHz, TB/s of its memory, nominal GB/s of its link; KiB of shared memory by the programming guide."""

    name: str
    capability: str
    multiprocessors: int
    clock: float
    memory: float
    link: int
    shared_kib: int


DEVICES = (
    Device("A100", "8.0", 108, 1.41, 2.04, 32, 164),
    Device("L4", "8.9", 58, 2.04, 0.30, 32, 100),
    Device("L40S", "8.9", 142, 2.52, 0.86, 32, 100),
    Device("RTX 4090", "8.9", 128, 2.52, 1.01, 32, 100),
    Device("H100", "9.0", 132, 1.75, 3.35, 64, 228),
    Device("H200", "9.0", 132, 1.75, 4.80, 64, 228),
    Device("B200", "10.0", 148, 1.85, 8.00, 64, 228),
    Device("RTX 5090", "12.0", 170, 2.41, 1.79, 64, 100),
)


def rows_of(page, head):
    """The cells of each row of the table that begins with this head."""
    table = page.split(head, 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def limits_of_page(page):
    """Of each kernel: its name, the KiB of shared memory of a block of 256 threads or 0, and TB/s by each limit of the page."""
    for name, shared, _, _, *rates in rows_of(page, "| scan | shared, KiB |"):
        by = {limit: float(rate) for limit, rate in zip(("issue", "integer", "shared"), rates, strict=True) if rate != "–"}
        yield name, 0 if shared == "–" or "AES" in name.upper() else int(shared), by
    for name, _, _, integer, issue in rows_of(page, "| fingerprint | integer (before) |"):
        yield name, 0, {"issue": float(issue), "integer": float(re.match(r"[\d.]+", integer)[0])}


def estimate(device, shared, rates):
    """TB/s, and by which limit."""
    by = {limit: rate * device.multiprocessors * device.clock / PAGE_RATE for limit, rate in rates.items()}
    if shared:  # blocks of 128 threads, if one of 256 does not fit
        threads = 256 * ((device.shared_kib - 1) // shared) or 128
        by["residency"] = device.multiprocessors * device.clock * threads / LOOKUP_CYCLES / 1000
    by["memory"] = device.memory
    limit = min(by, key=by.get)
    return by[limit], limit


def table(page):
    heads = [f"{each.name}, {each.capability}" for each in DEVICES]
    yield f"| TB/s, estimated | {' | '.join(heads)} |\n|---|{'--:|' * len(heads)}\n"
    for name, shared, rates in limits_of_page(page):
        cells = (estimate(each, shared, rates) for each in DEVICES)
        yield f"| {name} | {' | '.join(f'{rate:.2g} {limit}' for rate, limit in cells)} |\n"
    yield f"| nominal link | {' | '.join(f'{each.link / 1000:.3f}' for each in DEVICES)} |\n"


def with_table(page):
    before, rest = page.split(BEGIN)
    return before + BEGIN + "".join(table(page)) + END + rest.split(END)[1]


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as the shell's own programs end when their reader does
    if "--write" in sys.argv[1:]:
        PAGE.write_text(with_table(PAGE.read_text()))
    else:
        print("".join(table(PAGE.read_text())), end="")
