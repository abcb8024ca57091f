"""What a phase decided: data, no effect.

Job: the Outcome type and the artifacts it may carry. Refuses I/O. Importers: phases, commit,
recovery, engine.
"""

from __future__ import annotations

import json
from typing import Any

from msgspec import Struct

from omh_research.documents.event import Event
from omh_research.machine import Trigger


class Artifact(Struct, frozen=True):
    """One durable file to write whole.

    `kind` is "plan", "finding", "report" or "evidence"; `name` the findings stem or the evidence
    file's name; `text` the whole content.
    """

    kind: str
    name: str
    text: str


class Rows(Struct, frozen=True):
    """Lines for an append-only ledger in the evidence folder; lines already there are skipped."""

    name: str
    lines: tuple[str, ...]


class Outcome(Struct, frozen=True, kw_only=True):
    """What to make true, in this order: artifacts, rows, events, state.

    `changes` are fields of the next State. `notes` are said in the command's output.
    """

    trigger: Trigger
    artifacts: tuple[Artifact, ...] = ()
    rows: tuple[Rows, ...] = ()
    events: tuple[Event, ...] = ()
    changes: dict[str, Any] = {}
    notes: tuple[str, ...] = ()


def render_json(value: object) -> str:
    """Return a JSON document as evidence files hold it."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, indent=1) + "\n"
