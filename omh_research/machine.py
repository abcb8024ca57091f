"""The state machine: which phase follows which trigger. Everything that moves a run is here.

Job: `TRANSITIONS`, one table; `resolve`, the only guard that does not fit it (three strikes);
`advance`, which applies a trigger to a State. Refuses to read, write, or know who is asking.
The diagram in `omh_research/README.md` is generated from the table. Importers: engine, phases,
recovery, commit, scripts.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec.structs import replace

from omh_research.documents.state import State
from omh_research.errors import OmhError

MAX_SYNTHESIS_FAILURES = 3


class Phase(StrEnum):
    """Where a run stands. The last two are ends: no state file says them."""

    DECOMPOSE = "decompose"
    SEARCH = "search"
    GAP_CHECK = "gap_check"
    SYNTHESIZE = "synthesize"
    VERIFY = "verify"
    BLOCKED = "blocked"
    CONFIRMED = "confirmed"
    CANCELLED = "cancelled"


class Trigger(StrEnum):
    """What can happen to a run."""

    PLANNED = "planned"
    PLANNER_FAILED = "planner_failed"
    BATCH_DONE = "batch_done"
    ALL_FOUND = "all_found"
    GAPS_CHECKED = "gaps_checked"
    FOLLOWUP_FAILED = "followup_failed"
    PLAN_REVISED = "plan_revised"
    DRAFTED = "drafted"
    DRAFT_FAILED = "draft_failed"
    PASSED = "passed"
    FAILED = "failed"
    EXHAUSTED = "exhausted"
    VERDICT_UNREADABLE = "verdict_unreadable"
    UNDECIDED = "undecided"
    STOPPED = "stopped"
    RETRIED = "retried"
    CANCELLED = "cancelled"


P, T = Phase, Trigger
TRANSITIONS: dict[Phase, dict[Trigger, Phase]] = {
    P.DECOMPOSE: {
        T.PLANNED: P.SEARCH,
        T.PLANNER_FAILED: P.DECOMPOSE,
        T.STOPPED: P.BLOCKED,
        T.CANCELLED: P.CANCELLED,
    },
    P.SEARCH: {
        T.BATCH_DONE: P.SEARCH,
        T.ALL_FOUND: P.GAP_CHECK,
        T.STOPPED: P.BLOCKED,
        T.CANCELLED: P.CANCELLED,
    },
    P.GAP_CHECK: {
        T.GAPS_CHECKED: P.SYNTHESIZE,
        T.FOLLOWUP_FAILED: P.GAP_CHECK,
        T.PLAN_REVISED: P.SEARCH,
        T.STOPPED: P.BLOCKED,
        T.CANCELLED: P.CANCELLED,
    },
    P.SYNTHESIZE: {
        T.DRAFTED: P.VERIFY,
        T.DRAFT_FAILED: P.SYNTHESIZE,
        T.STOPPED: P.BLOCKED,
        T.CANCELLED: P.CANCELLED,
    },
    P.VERIFY: {
        T.PASSED: P.CONFIRMED,
        T.FAILED: P.SYNTHESIZE,
        T.EXHAUSTED: P.BLOCKED,
        T.VERDICT_UNREADABLE: P.VERIFY,
        T.UNDECIDED: P.VERIFY,
        T.STOPPED: P.BLOCKED,
        T.CANCELLED: P.CANCELLED,
    },
    P.BLOCKED: {
        T.RETRIED: P.DECOMPOSE,
        T.CANCELLED: P.CANCELLED,
    },
}
"""`RETRIED` leads back to the phase that was blocked (`State.blocked_phase`): the row names the
earliest one, `advance` the real one."""

ENDS = (Phase.CONFIRMED, Phase.CANCELLED)
WORKING = (P.DECOMPOSE, P.SEARCH, P.GAP_CHECK, P.SYNTHESIZE, P.VERIFY)


class IllegalMoveError(OmhError):
    """A trigger that the table does not know for this phase: nothing was changed."""

    code = "illegal_move"


def resolve(state: State, trigger: Trigger) -> Trigger:
    """Turn a fourth failed verification into `EXHAUSTED` (spec E30, E31)."""
    if trigger is Trigger.FAILED and state.synthesis_attempts >= MAX_SYNTHESIS_FAILURES:
        return Trigger.EXHAUSTED
    return trigger


def next_phase(phase: str, trigger: Trigger) -> Phase:
    """Return the phase after `trigger`.

    Raises:
        IllegalMoveError: the table has no such row.
    """
    try:
        return TRANSITIONS[Phase(phase)][trigger]
    except (KeyError, ValueError) as error:
        raise IllegalMoveError(f"Phase {phase!r} knows no move {trigger.value!r}.") from error


def advance(state: State, trigger: Trigger, **changes: Any) -> State:
    """Return the state after `trigger`, with `changes` to its other fields.

    `step` and `revision` grow by one; entering `blocked` records the phase left; leaving it
    returns there. The given state is never changed.

    Raises:
        IllegalMoveError: the table has no such row.
    """
    trigger = resolve(state, trigger)
    phase = next_phase(state.phase, trigger)
    if phase is Phase.BLOCKED:
        changes.setdefault("blocked_phase", state.phase)
    elif trigger is Trigger.RETRIED:
        phase = Phase(changes.get("blocked_phase") or state.blocked_phase or Phase.DECOMPOSE)
        if phase not in WORKING:
            raise IllegalMoveError(f"A blocked run cannot go back to {phase.value!r}.")
        changes.update(blocked_phase="", blocked_reason="")
    if trigger is Trigger.FAILED:
        changes.setdefault("synthesis_attempts", state.synthesis_attempts + 1)
    return replace(
        state, phase=phase.value, step=state.step + 1, revision=state.revision + 1, **changes
    )
