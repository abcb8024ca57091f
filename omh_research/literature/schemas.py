"""The JSON Schemas of the bundle's two documents, generated from their types.

Job: render `paper.schema.json` and `bundle.schema.json` (draft 2020-12). Refuses to write files.
Importers: scripts, tests.
"""

from __future__ import annotations

import json

import msgspec

from omh_research.literature.manifest import Manifest
from omh_research.literature.record import Paper

TYPES: dict[str, type[msgspec.Struct]] = {"paper": Paper, "bundle": Manifest}


def schema_text(name: str) -> str:
    """Return the schema called `name` ("paper" or "bundle") as it stands in `state_schema/`."""
    schema = msgspec.json.schema(TYPES[name])
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return json.dumps(whole, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
