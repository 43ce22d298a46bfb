#!/usr/bin/env python3
"""What the bulk form of the Python package costs over C++: the same engine, the same buffer of random bytes, turn and turn about.

    bench/python_overhead.py build/release/bench/cutpoint_in_memory [--bytes 1073741824] [--rounds 9] [CUTS FINGERPRINT]...

Each round times C++ and Python in both orders; medians of all, and the median of the rounds' ratios.
"""

import argparse
import random
import statistics
import subprocess
import tempfile
import time

import cutpoint


def compare(program: str, path: str, data: bytes, cuts: str, fingerprint: str, rounds: int) -> None:
    with subprocess.Popen([program, path, cuts, fingerprint], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def in_cpp() -> tuple[int, float]:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write("\n")
            process.stdin.flush()
            count, seconds = process.stdout.readline().split()
            return int(count), float(seconds)

        def in_python() -> tuple[int, float]:
            begun = time.perf_counter()
            arrays = cutpoint.chunk_arrays(data, cuts, fingerprint=fingerprint)
            return len(arrays.offsets), time.perf_counter() - begun

        assert in_cpp()[0] == in_python()[0]  # also measures what is fastest here, once
        times: dict[str, list[float]] = {"C++": [], "Python": []}
        for turn in range(rounds):
            both = [("C++", in_cpp), ("Python", in_python)]
            for name, run in both if turn % 2 else reversed(both):
                times[name].append(run()[1])
        assert process.stdin is not None
        process.stdin.close()
    ratios = [python / cpp for cpp, python in zip(times["C++"], times["Python"], strict=True)]
    speeds = {name: len(data) / statistics.median(seconds) / 2**20 for name, seconds in times.items()}
    print(f"{cuts} {fingerprint}: C++ {speeds['C++']:.0f} MiB/s, Python {speeds['Python']:.0f} MiB/s, "
          f"ratio of times {statistics.median(ratios):.3f} (of the fastest {min(times['Python']) / min(times['C++']):.3f}; "
          f"{min(ratios):.3f} to {max(ratios):.3f})", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--bytes", type=int, default=1 << 30)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("job", nargs="*", default=["fastcdc", "sha256", "fastcdc", "none", "gear", "blake3"])
    options = parser.parse_args()
    data = random.Random(1).randbytes(options.bytes)
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        for cuts, fingerprint in zip(options.job[::2], options.job[1::2], strict=True):
            compare(options.program, file.name, data, cuts, fingerprint, options.rounds)


if __name__ == "__main__":
    main()
