"""JSON of measurements that are committed: entries have lines of their own, so that differences can be read."""

import json


def lines_of(measured: dict, depth: int) -> str:
    """The first `depth` levels of dictionaries have a line for each of their entries."""

    def text(value, level: int) -> str:
        if level == depth or not isinstance(value, dict) or not value:
            return json.dumps(value)
        entries = [f"{' ' * (level + 1)}{json.dumps(key)}: {text(each, level + 1)}" for key, each in value.items()]
        return "{\n" + ",\n".join(entries) + f"\n{' ' * level}}}"

    return text(measured, 0) + "\n"
