#!/usr/bin/env python3
"""What the bulk form of the Python package costs over C++: the same engine, the same buffer of random bytes, turn and
turn about.

    bench/engine/python_overhead.py build/release/bench/cutpoint_in_memory [--bytes 1073741824] [--rounds 9] [CUTS
    FINGERPRINT]...

Each round times both, the next in the other order: speeds are medians, ratios the median of the rounds' own.
"""

import argparse
import random
import statistics
import subprocess
import tempfile
import time

import cutpoint

PIECE_BYTES = 1 << 24  # what Python draws at once is limited


def compare(program: str, path: str, data: bytes, cuts: str, fingerprint: str, rounds: int) -> None:
    with subprocess.Popen(
        [program, path, cuts, fingerprint], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        to_cpp, from_cpp = process.stdin, process.stdout

        def in_cpp() -> tuple[int, float, float]:
            print(file=to_cpp, flush=True)
            count, clock, work = from_cpp.readline().split()
            return int(count), float(clock), float(work)

        def in_python() -> tuple[int, float, float]:
            clock, work = time.perf_counter(), time.process_time()
            arrays = cutpoint.chunk_arrays(data, cuts, fingerprint=fingerprint)
            return len(arrays.offsets), time.perf_counter() - clock, time.process_time() - work

        assert in_cpp()[0] == in_python()[0]  # also measures what is fastest here, once
        cpp, python = [], []
        for turn in range(rounds):
            sides = [(cpp, in_cpp), (python, in_python)]
            for times, run in sides if turn % 2 else reversed(sides):
                times.append(run()[1:])
        to_cpp.close()
    speeds = [len(data) / statistics.median(clock for clock, _ in times) / 2**20 for times in (cpp, python)]
    ratios = [statistics.median(b[which] / a[which] for a, b in zip(cpp, python, strict=True)) for which in (0, 1)]
    print(
        f"{cuts} {fingerprint}: C++ {speeds[0]:.0f} MiB/s, Python {speeds[1]:.0f} MiB/s; "
        f"Python's time is {ratios[0]:.3f} of C++'s by the clock, {ratios[1]:.3f} of the processors",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--bytes", type=int, default=1 << 30)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("job", nargs="*", default=["fastcdc", "sha256", "fastcdc", "none", "gear", "blake3"])
    options = parser.parse_args()
    draw = random.Random(1)
    piece_sizes = [min(PIECE_BYTES, options.bytes - at) for at in range(0, options.bytes, PIECE_BYTES)]
    data = b"".join(draw.randbytes(size) for size in piece_sizes)
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        for cuts, fingerprint in zip(options.job[::2], options.job[1::2], strict=True):
            compare(options.program, file.name, data, cuts, fingerprint, options.rounds)


if __name__ == "__main__":
    main()
