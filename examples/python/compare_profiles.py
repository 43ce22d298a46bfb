#!/usr/bin/env python3
"""Shows what each profile would save on these files, and its speed here: one row for each, the greatest savings first."""

import argparse
import sys

import cutpoint

COLUMNS = "{:<16} {:>9} {:>12} {:>11} {:>9}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="+", help="file or folder")
    parser.add_argument("--fingerprint", default="blake3", choices=cutpoint.fingerprints()[1:])
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()

    reports = {
        name: cutpoint.dedup(options.path, name, fingerprint=options.fingerprint, threads=options.threads)
        for name in cutpoint.profiles()
    }
    failures = next(iter(reports.values()))["failures"]
    for failure in failures:
        print(failure["message"], file=sys.stderr)
    print(COLUMNS.format("profile", "savings", "mean bytes", "chunks", "MiB/s"))
    for name, report in sorted(reports.items(), key=lambda row: -(row[1]["result"]["savings_share"] or 0)):
        result, speed = report["result"], report["bytes_per_second"] or 0
        savings, mean = result["savings_share"] or 0, result["chunks"]["mean_bytes"] or 0
        print(
            COLUMNS.format(name, f"{savings:.2%}", f"{mean:,.0f}", f"{result['chunk_count']:,}", f"{speed / 2**20:,.0f}")
        )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
