"""Phase 0 for one run: what an earlier invocation left half done (spec E8, E9, E14).

Job: from a Snapshot, the commit that finishes it, or None. Refuses I/O. Importers: engine.
"""

from __future__ import annotations

from omh_research.commit import Clear, Commit, Log
from omh_research.documents import event
from omh_research.documents.event import Word
from omh_research.documents.snapshot import Snapshot
from omh_research.machine import Phase
from omh_research.sentinel import status_of


def diagnose(snapshot: Snapshot) -> Commit | None:
    """Return the commit that ends a run confirmed but not cleared, else None.

    A cancel is the engine's: it first keeps the findings that had come back.
    """
    if snapshot.report is None or status_of(snapshot.report.encode("utf-8")) != "confirmed":
        return None
    state = snapshot.state
    recovered = event.make(Word.REPORT_CONFIRMED_RECOVERED, state.slug, state.step + 1)
    ops = (Log(state.session_id, (recovered,)), Clear(state.slug))
    return Commit(state.slug, ops, None, Phase.CONFIRMED.value)


def cancelled(snapshot: Snapshot) -> Commit | None:
    """Return the commit that ends a run whose cancel was asked for, else None.

    For a run that is at rest; the engine, meeting one at work, first keeps its findings.
    """
    if snapshot.cancel is None:
        return None
    state = snapshot.state
    logged = event.make(Word.CANCELLED, state.slug, state.step + 1)
    ops = (Log(state.session_id, (logged,)), Clear(state.slug))
    return Commit(state.slug, ops, None, Phase.CANCELLED.value)


def blocked_event(snapshot: Snapshot) -> Log:
    """Return the log line of an invocation that meets a blocked run; nothing is restarted."""
    state = snapshot.state
    met = event.make(Word.BLOCKED, state.slug, state.step, reason=state.blocked_reason or "blocked")
    return Log(state.session_id, (met,))
