"""Everything one lap knows of its run, read once and frozen.

Job: the Snapshot type. Refuses I/O. Importers: engine, phases, recovery, commit, store.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from omh_research.documents.options import RunOptions
from omh_research.documents.plan_file import Plan
from omh_research.documents.state import State
from omh_research.documents.task import FindingText


class CancelRequest(Struct, frozen=True):
    """A cancel somebody asked for; it holds until it is consumed."""

    reason: str = ""
    at: str = ""
    by: str = ""


class Snapshot(Struct, frozen=True, kw_only=True):
    """One run as it stands on disk at the start of a lap.

    `findings` holds the bodies of the findings files that exist, in plan order, `_followup` last.
    `report` is the whole report file, or None. `caps_plan` is the `data` of `caps.plan`, or None.
    `logged` holds the first and last words of the run's log.
    """

    state: State
    options: RunOptions
    plan: Plan | None = None
    findings: tuple[FindingText, ...] = ()
    report: str | None = None
    cancel: CancelRequest | None = None
    caps_plan: dict[str, Any] | None = None
    logged: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()

    @property
    def slug(self) -> str:
        """The run's slug."""
        return self.state.slug
