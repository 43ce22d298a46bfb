"""What `cutpoint list --json` says, asked once."""

import json
import subprocess
from functools import lru_cache

from command import BINARY, IS_SANITIZED


@lru_cache(maxsize=None)
def listed() -> dict:
    return json.loads(subprocess.run([BINARY, "list", "--json"], capture_output=True, check=True).stdout)


def entries() -> list:
    return listed()["entries"]


def entries_to_run() -> list:
    """Every entry; under a sanitizer, where a run takes ten times as long, some."""
    return entries()[::4] if IS_SANITIZED else entries()


def option_of(name: str) -> str:
    """The option that takes this name: --algorithm or --profile."""
    return "--" + next(entry["kind"] for entry in entries() if entry["name"] == name)


def bounded(entry: dict) -> list:
    """Returns the parameters that may be set and have bounds."""
    return [parameter for parameter in entry["parameters"] if "lowest" in parameter and not parameter["fixed"]]


def as_number(value) -> int:
    """Patterns of bits are hexadecimal text, other numbers are numbers."""
    return value if isinstance(value, int) else int(value, 16)


def settings_of(entry: dict) -> list:
    """Every parameter with its default, as --param takes it."""
    return [f"{parameter['name']}={parameter['default']}" for parameter in entry["parameters"]]
