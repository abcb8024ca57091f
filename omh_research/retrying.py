"""Setting a blocked run going again (spec E14): where to, and what is forgotten.

Job: the Outcome of an operator's retry, by the reason of the block. Refuses a run that is not
blocked. Importers: operate.
"""

from __future__ import annotations

from typing import Any

from omh_research.documents import event
from omh_research.documents.event import Word
from omh_research.documents.state import State
from omh_research.errors import UsageError
from omh_research.machine import Phase, Trigger
from omh_research.outcome import Outcome

_CLOSED: dict[str, Any] = {"failed_calls": 0, "failed_tasks": (), "breaker_open": False}


def retried(state: State, now: str) -> Outcome:
    """Return the outcome of `retry`: replies get new task ids, counters start anew.

    Exhausted retries go back to synthesis with the last feedback; too little evidence goes back
    to the search; anything else to the phase that was blocked. A time cap counts anew from `now`
    (its whole length: an operator's retry grants it); calls, tokens and money stay spent.

    Raises:
        UsageError: the run is not blocked.
    """
    if state.phase != Phase.BLOCKED:
        raise UsageError(
            f"{state.slug} is not blocked: it is in phase {state.phase}.",
            hint=f"`omh-research step {state.slug}` advances it.",
        )
    if state.blocked_reason in ("cap", "breaker"):
        return _resumed(state, now)
    changes: dict[str, Any] = {
        "retries": state.retries + 1,
        "failures": {},
        "synthesis_attempts": 0,
        "verdict_asks": 0,
        "undecided": 0,
        "clock_from": _clock(state, now),
        **_CLOSED,
    }
    if state.blocked_reason == "retries_exhausted":
        changes["blocked_phase"] = Phase.SYNTHESIZE.value
    elif state.blocked_reason == "insufficient_evidence":
        changes["blocked_phase"] = Phase.SEARCH.value
        changes["completed_subtopics"] = ()
    to = str(changes.get("blocked_phase", state.blocked_phase or Phase.DECOMPOSE.value))
    logged = event.make(Word.RETRIED, state.slug, state.step + 1, phase=to)
    return Outcome(trigger=Trigger.RETRIED, events=(logged,), changes=changes)


def _clock(state: State, now: str) -> str:
    return now if state.options.get("max_wall_s") else state.clock_from


def _resumed(state: State, now: str) -> Outcome:
    """After a cap or an open breaker: the answers that are there stay valid and are not paid twice.

    A draft in verification was replaced by the partial report: synthesis finds its answer again.
    """
    verifying = state.blocked_phase == Phase.VERIFY
    to = Phase.SYNTHESIZE.value if verifying else state.blocked_phase
    logged = event.make(Word.RETRIED, state.slug, state.step + 1, phase=to)
    changes = {**_CLOSED, "blocked_phase": to, "clock_from": _clock(state, now)}
    return Outcome(trigger=Trigger.RETRIED, events=(logged,), changes=changes)
