"""One run at a glance, as listings hold it.

Job: the Row type and how a State becomes one. Refuses I/O. Importers: store.listing, status.
"""

from __future__ import annotations

from msgspec import Struct

from omh_research.documents.state import Spent, State


class Row(Struct, frozen=True, array_like=True, gc=False):
    """One run at a glance. `problem` says why its state cannot be read ("" when it can)."""

    slug: str
    topic: str = ""
    phase: str = ""
    delegate: str = ""
    done: int = 0
    total: int = 0
    batch: int = 0
    attempts: int = 0
    started_at: str = ""
    session_id: str = ""
    cancel_requested: bool = False
    blocked_reason: str = ""
    spent: Spent = Spent()
    problem: str = ""


def row_of(state: State) -> Row:
    """Return the row of a state."""
    return Row(
        state.slug,
        state.topic,
        state.phase,
        state.delegate,
        len(state.completed_subtopics),
        state.subtopic_count,
        state.batch,
        state.synthesis_attempts,
        state.started_at,
        state.session_id,
        state.cancel_requested,
        state.blocked_reason,
        state.spent,
    )
