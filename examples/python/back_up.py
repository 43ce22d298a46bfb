#!/usr/bin/env python3
"""Backs up files into a store, which is made if there is none, and shows what each snapshot added."""

import argparse
import sys

import cutpoint


def open_or_make(folder: str) -> cutpoint.Store:
    try:
        return cutpoint.Store.create(folder)
    except FileExistsError:
        return cutpoint.Store.open(folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", help="folder of the store")
    parser.add_argument("path", nargs="+", help="file or folder")
    parser.add_argument("--keep-daily", type=int, metavar="N", help="keep one snapshot of each of the last N days alone")
    options = parser.parse_args()

    with open_or_make(options.store) as store:
        snapshot = store.backup(options.path)
        for problem in snapshot.problems:
            print(problem.message, file=sys.stderr)
        if options.keep_daily is not None:
            store.forget(keep_daily=options.keep_daily)
            store.prune()
        print(f"{'snapshot':<8}  {'time':<19} {'files':>9} {'MiB':>9} {'added':>9}")
        for each in store.snapshots():
            time = each.datetime.astimezone()
            size, added = each.bytes / 2**20, each.new_stored_bytes / 2**20
            print(f"{each.id[:8]}  {time:%Y-%m-%d %H:%M:%S} {each.files:>9,} {size:>9,.1f} {added:>9,.1f}")
    return 1 if snapshot.is_incomplete else 0


if __name__ == "__main__":
    sys.exit(main())
