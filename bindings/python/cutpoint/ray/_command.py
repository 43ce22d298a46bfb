"""The command `cutpoint-ray dedup`: `cutpoint dedup` on a cluster of Ray, with the same report, options and exit codes."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path
from typing import Any

import cutpoint
from cutpoint._settings import _size
from cutpoint.ray import DedupError, dedup

DONE, INPUT_FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130


def parser() -> argparse.ArgumentParser:
    meaning = "Reports what deduplication would save, of data that many machines read together"
    top = argparse.ArgumentParser("cutpoint-ray", description=meaning)
    top.add_argument("--version", action="version", version=f"cutpoint-ray {cutpoint.__version__}")
    out = top.add_subparsers(dest="command", required=True).add_parser("dedup", help="report what deduplication would save")
    add = out.add_argument
    add("paths", nargs="*", metavar="PATH", help="file or folder that every machine sees")
    add("--files-from", action="append", default=[], metavar="FILE", help="read paths from a file, one a line")
    add("--files-from0", action="append", default=[], metavar="FILE", help="the same, with a zero byte after each path")
    add("--per-machine", action="append", default=[], metavar="PATH", help="instead: read by each machine of its own disks")
    add("--address", default="auto", help="auto, local, or HOST:PORT of a Ray cluster")
    add("-a", "--algorithm", "--profile", "--cuts", dest="cuts", help="as `cutpoint dedup` takes them")
    add("-s", "--size", metavar="MIN:AVG:MAX")
    add("-p", "--param", action="append", default=[], metavar="KEY=VALUE")
    add("--hash", dest="fingerprint", default="sha256")
    add("--context", default="", metavar="FILE", help="'prune', or a file with rules")
    add("--backend", default="auto")
    add("--threads", type=int, help="processors of a task (default: all of the smallest machine)")
    add("--memory", metavar="SIZE")
    add("-L", "--follow", dest="follow_links", action="store_true")
    add("--exclude", action="append", default=[], metavar="PATTERN")
    add("--iexclude", dest="exclude_in_any_case", action="append", default=[], metavar="PATTERN")
    add("--exclude-file", action="append", default=[], metavar="FILE", help="patterns, one a line")
    add("--include", action="append", default=[], metavar="PATTERN")
    add("--exclude-if-present", action="append", default=[], metavar="NAME[:TEXT]")
    add("--exclude-larger-than", metavar="SIZE")
    add("--one-file-system", action="store_true")
    add("--exclude-caches", action="store_true")
    add("--limit-read", metavar="SIZE", help="bytes a second that a machine reads")
    add("--no-kinds", dest="kinds", action="store_false", help="12 bytes for each chunk instead of 20")
    add("--sample", type=int, default=1, metavar="N", help="keep one of N fingerprints, and state the error")
    add("--partitions", type=int, default=16, metavar="N", help="ranges of fingerprints")
    add("--task-bytes", default="4G", metavar="SIZE", help="bytes that a task reads")
    add("--checkpoint", metavar="FOLDER", help="keep results there, and go on with a run that was stopped")
    add("--json", action="store_true", help="print the report as JSON, and an event for each task on standard error")
    return top


class Progress:
    def __init__(self, is_json: bool) -> None:
        self.is_json, self.has_line = is_json, False

    def __call__(self, event: dict[str, Any]) -> None:
        if self.is_json:
            print(json.dumps(event), file=sys.stderr, flush=True)
        elif sys.stderr.isatty():
            rate = event["bytes"] / max(event["seconds"], 1e-9) / (1 << 20)
            text = f"{event['files']} of {event['listed_files']} files, {rate:.0f} MiB/s, {event['running_tasks']} tasks run"
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
            self.has_line = True

    def clear(self) -> None:
        if self.has_line:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def say(sentence: object) -> None:
    print(f"cutpoint-ray: error: {sentence}", file=sys.stderr)


def text_of(name: str, file: str) -> str:
    try:
        return Path(file).read_text(errors="surrogateescape")
    except OSError as error:
        raise ValueError(f"{name} {file}: {error.strerror}") from None


def bad_parameter(text: str) -> tuple[str, str]:
    raise ValueError(f"--param {text}: must be KEY=VALUE")


def main(words: list[str] | None = None) -> int:
    options = vars(parser().parse_args(words))
    del options["command"]
    is_json, memory, largest, size = (options.pop(name) for name in ("json", "memory", "exclude_larger_than", "size"))
    progress = Progress(is_json)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        parameters = dict(each.split("=", 1) if "=" in each else bad_parameter(each) for each in options.pop("param"))
        for name, end in ("--files-from", "\n"), ("--files-from0", "\0"):
            for file in options.pop(name[2:].replace("-", "_")):
                listed = text_of(name, file).removesuffix(end).split(end)
                if "" in listed:
                    raise ValueError(f"{name} {file}: path {listed.index('') + 1} of the list is empty")
                options["paths"] += listed
        for file in options.pop("exclude_file"):
            options["exclude"] += [each for each in text_of("--exclude-file", file).splitlines() if each and not each.startswith("#")]
        if options["context"] not in ("", "prune"):
            options["context"] = text_of("--context", options["context"])
        report = dedup(
            **options, **parameters, **({"size": size} if size else {}), progress=progress,
            memory_bytes=_size("--memory", memory) if memory else None,
            largest_file_bytes=_size("--exclude-larger-than", largest) if largest else None,
        )  # fmt: skip
    except KeyboardInterrupt:
        progress.clear()
        folder = options["checkpoint"]
        say("interrupted; " + (f"{folder} keeps the tasks that were done" if folder else "nothing is kept without --checkpoint"))
        return INTERRUPTED
    except (ValueError, TypeError) as error:
        say(error)
        return WRONG_USAGE
    except (DedupError, OSError, MemoryError) as error:
        progress.clear()
        say(error)
        return INPUT_FAILED
    progress.clear()
    text = report.pop("text")
    for failure in report["failures"]:
        say(failure["message"])
    print(json.dumps(report, indent=2) if is_json else text, end="\n" if is_json else "")
    return INPUT_FAILED if report["failed_input_count"] else DONE


if __name__ == "__main__":
    sys.exit(main())
