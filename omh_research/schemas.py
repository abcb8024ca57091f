"""JSON Schemas of everything a run writes, generated from the types that write it (spec E3).

Job: one schema a document kind, each with `$id`, title and description. Refuses I/O: the files in
`state_schema/` are written by `scripts/make_schemas.py`. Importers: scripts, tests.
"""

from __future__ import annotations

from typing import Any

import msgspec

from omh_research.documents import heads
from omh_research.documents.event import Word
from omh_research.documents.source import Fetch
from omh_research.documents.state import PHASES, State
from omh_research.documents.task import ROLES, Reply
from omh_research.documents.verdict import Verdict
from omh_research.tools.ledger import EvidenceRow

KINDS: dict[str, tuple[type, str]] = {
    "state": (State, "One run's state, `.omh/state/research--{slug}.json`."),
    "plan": (heads.PlanHead, "The frontmatter of a plan, `.omh/research/{slug}-plan.md`."),
    "finding": (
        heads.FindingHead,
        "The frontmatter of a findings file, `.omh/research/{slug}-findings/{subtopic}.md`.",
    ),
    "report": (heads.ReportHead, "The frontmatter of a report, `.omh/research/{slug}-report.md`."),
    "event": (heads.LoggedEvent, "One event of a run, as `log --json` prints it."),
    "task": (heads.HandedTask, "One task, as `next --json` hands it out."),
    "verdict": (Verdict, "A verifier's answer, as it was read."),
    "reply": (Reply, "A stored reply, `.omh/state/research--{slug}.tasks/{task}.json`."),
    "fetch": (Fetch, "One line of `{slug}-evidence/fetch_ledger.jsonl`."),
    "evidence": (EvidenceRow, "One line of `{slug}-evidence/evidence_ledger.jsonl`."),
}
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SLUG = {"pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": 80}
_COUNTERS = ("revision", "step", "batch", "synthesis_attempts", "subtopic_count", "retries")
# What the types leave to checks of their own.
_NARROWER: dict[str, dict[str, dict[str, Any]]] = {
    "state": {
        "phase": {"enum": list(PHASES)},
        "slug": _SLUG,
        "session_id": {"pattern": "^[A-Za-z0-9-]{0,64}$"},
        "topic": {"minLength": 1},
        "state_version": {"minimum": 0},
        **{name: {"minimum": 0} for name in _COUNTERS},
    },
    "event": {"event": {"enum": [word.value for word in Word]}},
    "task": {"role": {"enum": list(ROLES)}},
    "verdict": {"kind": {"enum": ["PASS", "FAIL", "unreadable"]}},
    "reply": {"status": {"enum": ["answered", "failed"]}},
    "fetch": {"kind": {"enum": ["search", "fetch"]}, "charge": {"minimum": 0}},
}


def make_schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of one kind of document (a key of `KINDS`)."""
    known, text = KINDS[kind]
    (reference,), components = msgspec.json.schema_components(
        (known,), ref_template="#/$defs/{name}"
    )
    name = reference["$ref"].rsplit("/", 1)[-1]
    body: dict[str, Any] = components.pop(name)
    properties = body["properties"]
    properties.pop("unknown", None)  # where our type keeps what other programs added
    for field, narrower in _NARROWER.get(kind, {}).items():
        properties[field].update(narrower)
    if kind == "event":
        body["additionalProperties"] = {"type": "string"}
    schema = {
        "$schema": _DIALECT,
        "$id": f"urn:omh-research:schema:{kind}:1",
        **body,
        "title": kind,
        "description": text,
    }
    for component in components.values():
        component.pop("description", None)
    return {**schema, "$defs": components} if components else schema
