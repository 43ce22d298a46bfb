"""Searches the context that stores the fewest bytes: for each class of files it tries every rule by a backup, and keeps the best."""

import re
import shutil
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from experiments.papers.store_runs import Programs

LEAST_CLASS = 1 << 20  # bytes; extensions with fewer share the chunker of the others, as `cutpoint tune` has it
OTHERS = "others"


def _fastcdc(average: int) -> str:
    """The store's usual chunker with another average."""
    return f"fastcdc(min_bytes={average // 4},avg_bytes={average},max_bytes={4 * average},normalization=2,seed=0x0)"


# Cuts by their names. The last is that of a store without settings.
RULES = {
    "fixed-8k": "fixed(avg_bytes=8192)",
    "fixed-64k": "fixed(avg_bytes=65536)",
    "whole": "fixed(avg_bytes=8388608)",
    **{f"fastcdc-{average >> 10}k": _fastcdc(average) for average in (8 << 10, 16 << 10, 32 << 10, 128 << 10, 256 << 10, 64 << 10)},
}
UNCOMPRESSED_PAYS = 1.001  # of the fewest bytes; a class that takes no more without compression is not compressed

BackUp = Callable[..., tuple[float, int]]  # takes a folder and words for `init`; returns seconds and bytes


def extension_of(name: str) -> str:
    """What follows the last dot, in lower case, or an empty text; the same of a name that only begins with a dot."""
    return Path(name).suffix.lower()[1:]


def classes_of(files: list[Path]) -> dict[str, list[Path]]:
    """The files by extension. Those of rare extensions, and of none, are OTHERS."""
    by_extension: dict[str, list[Path]] = defaultdict(list)
    for file in files:
        by_extension[extension_of(file.name)].append(file)
    classes: dict[str, list[Path]] = {OTHERS: []}
    for extension, members in sorted(by_extension.items()):
        is_class = re.fullmatch(r"[a-z0-9_+-]+", extension) and sum(file.stat().st_size for file in members) >= LEAST_CLASS
        classes.setdefault(extension if is_class else OTHERS, []).extend(members)
    return classes


def _linked(files: list[Path], folder: Path) -> Path:
    """A folder with these files alone, as other names of them."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for number, file in enumerate(files):
        (folder / f"{number}-{file.name}").hardlink_to(file)
    return folder


def search(programs: Programs, files: list[Path], back_up: BackUp) -> dict:
    """The context, its cost in runs and seconds, and for each class its bytes, and what is stored of it by each rule.

    A class is judged by a store of its own; duplicates between classes do not count.
    """
    results, seconds = {}, 0.0
    for name, members in classes_of(files).items():
        folder = _linked(members, programs.scratch / "class")
        stored = {}
        for rule, cuts in RULES.items():
            spent, stored[rule] = back_up(folder, "--cuts", cuts)
            seconds += spent
        best = min(stored, key=stored.get)
        spent, without = back_up(folder, "--cuts", RULES[best], "--compression", "none")
        seconds += spent
        is_compressed = name == OTHERS or without > UNCOMPRESSED_PAYS * stored[best]
        results[name] = {"bytes": sum(file.stat().st_size for file in members), "rule": best, "is_compressed": is_compressed, "stored": stored}
    runs = len(results) * (len(RULES) + 1)
    return {"runs": runs, "seconds": round(seconds, 1), "classes": results, "context": context_of(results)}


def context_of(results: dict[str, dict]) -> str:
    """A context file: classes with the same rule are one."""
    extensions: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for name, entry in results.items():
        if name != OTHERS:
            extensions[entry["rule"], entry["is_compressed"]].append(name)
    text = f'[{OTHERS}]\ncuts = "{RULES[results[OTHERS]["rule"]]}"\n'
    for (rule, is_compressed), names in sorted(extensions.items()):
        listed = ", ".join(f'"{name}"' for name in names)
        name, level = (rule, "") if is_compressed else (f"{rule}-uncompressed", "compression_level = 0\n")
        text += f'\n[class.{name}]\nextensions = [{listed}]\ncuts = "{RULES[rule]}"\n{level}'
    return text
