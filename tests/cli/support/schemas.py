"""What docs/schemas says of JSON, with no room for what it does not name: outside the tests, names may come."""

import json
import unittest
from pathlib import Path

try:
    from jsonschema import Draft202012Validator
except ImportError:
    Draft202012Validator = None

SCHEMAS = Path(__file__).resolve().parents[3] / "docs/schemas"

needs_jsonschema = unittest.skipUnless(Draft202012Validator, "needs jsonschema (python3-jsonschema)")


def closed(schema):
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    limits = {"additionalProperties": False} if isinstance(schema.get("properties"), dict) else {}
    return {key: closed(value) for key, value in schema.items()} | limits


def problems_in(name: str, *values) -> list[str]:
    """Where values are not what a schema says."""
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(closed(schema))
    return [f"{problem.json_path}: {problem.message}"[:500] for value in values for problem in validator.iter_errors(value)]
