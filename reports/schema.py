"""The published JSON Schema of verdict.json. ``python -m reports.schema`` writes it anew."""

from __future__ import annotations

import sys

import msgspec

from reports.document import SCHEMA, Document
from reports.files import json_bytes
from reports.suite import ROOT

FILE = ROOT / "docs" / "verdict-2.schema.json"


def render() -> bytes:
    """Return the schema, derived from the types that verdict.json is written and read with."""
    told = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA, **msgspec.json.schema(Document)}
    return json_bytes(told)


def main() -> int:
    """Write the schema."""
    FILE.write_bytes(render())
    return 0


if __name__ == "__main__":
    sys.exit(main())
