"""The state machine: every phase with every trigger, and random walks (E14, E18, E23, E30, E31)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from omh_research.documents.state import PHASES as STATE_PHASES
from omh_research.documents.state import State, to_plain
from omh_research.machine import (
    ENDS,
    MAX_SYNTHESIS_FAILURES,
    TRANSITIONS,
    WORKING,
    IllegalMoveError,
    Phase,
    Trigger,
    advance,
    next_phase,
)

# Written by hand from the spec, not read from the module: (phase, trigger) -> phase.
LEGAL: dict[tuple[str, str], str] = {
    ("decompose", "planned"): "search",
    ("decompose", "planner_failed"): "decompose",
    ("search", "batch_done"): "search",
    ("search", "all_found"): "gap_check",
    ("gap_check", "gaps_checked"): "synthesize",
    ("gap_check", "followup_failed"): "gap_check",
    ("gap_check", "plan_revised"): "search",
    ("synthesize", "drafted"): "verify",
    ("synthesize", "draft_failed"): "synthesize",
    ("verify", "passed"): "confirmed",
    ("verify", "failed"): "synthesize",
    ("verify", "exhausted"): "blocked",
    ("verify", "verdict_unreadable"): "verify",
    ("verify", "undecided"): "verify",
    ("blocked", "retried"): "decompose",
    **{(phase, "stopped"): "blocked" for phase in WORKING},
    **{(phase, "cancelled"): "cancelled" for phase in (*WORKING, "blocked")},
}


def a_state(phase: str = "search", **fields: Any) -> State:
    given = {"slug": "tides-20261130-ab12", "topic": "Tides", "step": 4, "revision": 7, **fields}
    return State(phase=phase, **given)


@pytest.mark.parametrize("trigger", list(Trigger))
@pytest.mark.parametrize("phase", list(Phase))
def test_every_phase_with_every_trigger(phase: Phase, trigger: Trigger) -> None:
    state = a_state(phase.value)
    before = to_plain(state)
    wanted = LEGAL.get((phase.value, trigger.value))
    if wanted is None:
        with pytest.raises(IllegalMoveError) as caught:
            advance(state, trigger, batch=99)
        assert phase.value in str(caught.value) and trigger.value in str(caught.value)
    else:
        after = advance(state, trigger)
        assert (after.phase, after.step, after.revision) == (wanted, 5, 8)
        assert next_phase(phase.value, trigger) == wanted
    assert to_plain(state) == before, "the state that was given has changed"


def test_the_table_has_exactly_the_legal_moves() -> None:
    rows = {
        (phase.value, trigger.value): target.value
        for phase, row in TRANSITIONS.items()
        for trigger, target in row.items()
    }
    assert rows == LEGAL


def test_the_ends_have_no_way_out_and_are_never_a_states_phase() -> None:
    assert not set(ENDS) & set(TRANSITIONS)
    assert set(STATE_PHASES) == {phase.value for phase in Phase} - {end.value for end in ENDS}


def test_an_unknown_phase_is_illegal() -> None:
    with pytest.raises(IllegalMoveError):
        advance(a_state("dreaming"), Trigger.CANCELLED)


@pytest.mark.parametrize("attempts", range(MAX_SYNTHESIS_FAILURES))
def test_a_failed_draft_is_written_anew_three_times(attempts: int) -> None:
    """E30: one first draft and at most three retries."""
    after = advance(a_state("verify", synthesis_attempts=attempts), Trigger.FAILED)
    assert (after.phase, after.synthesis_attempts) == ("synthesize", attempts + 1)


def test_the_fourth_failure_blocks_and_counts_no_further() -> None:
    """E31: `synthesis_attempts` = 3 and FAIL: blocked; the counter stays."""
    after = advance(a_state("verify", synthesis_attempts=3), Trigger.FAILED)
    assert (after.phase, after.synthesis_attempts, after.blocked_phase) == ("blocked", 3, "verify")


@pytest.mark.parametrize("phase", WORKING)
def test_a_retry_leads_back_to_the_phase_that_was_blocked(phase: Phase) -> None:
    """E14: an operator's retry; nothing else leaves `blocked`."""
    blocked = advance(a_state(phase.value), Trigger.STOPPED, blocked_reason="cap")
    assert (blocked.phase, blocked.blocked_phase) == ("blocked", phase)
    again = advance(blocked, Trigger.RETRIED)
    assert (again.phase, again.blocked_phase, again.blocked_reason) == (phase, "", "")


@pytest.mark.parametrize("phase", ["blocked", "confirmed", "cancelled"])
def test_a_retry_never_leads_to_an_end(phase: str) -> None:
    with pytest.raises(IllegalMoveError):
        advance(a_state("blocked", blocked_phase=phase), Trigger.RETRIED)


class Walk(RuleBasedStateMachine):
    """Any sequence of triggers: what the table promises holds along every path."""

    def __init__(self) -> None:
        super().__init__()
        self.state = a_state("decompose", step=0, revision=0)
        self.moves = 0
        self.drafts_failed = 0

    @precondition(lambda self: self.state.phase not in ("confirmed", "cancelled"))
    @rule(trigger=st.sampled_from(list(Trigger)))
    def try_a_trigger(self, trigger: Trigger) -> None:
        before = self.state
        try:
            self.state = advance(before, trigger)
        except IllegalMoveError:
            assert (before.phase, trigger.value) not in LEGAL
            return
        self.moves += 1
        assert (before.phase, trigger.value) in LEGAL
        if trigger is Trigger.FAILED:
            self.drafts_failed += 1
        if trigger is Trigger.RETRIED:
            assert self.state.phase == before.blocked_phase
            self.state = counter_reset(self.state)
            self.drafts_failed = 0

    @rule(trigger=st.sampled_from(list(Trigger)))
    @precondition(lambda self: self.state.phase in ("confirmed", "cancelled"))
    def an_end_is_an_end(self, trigger: Trigger) -> None:
        with pytest.raises(IllegalMoveError):
            advance(self.state, trigger)

    @invariant()
    def counters_fit(self) -> None:
        assert self.state.step == self.moves == self.state.revision
        assert self.state.synthesis_attempts <= MAX_SYNTHESIS_FAILURES
        assert self.drafts_failed <= MAX_SYNTHESIS_FAILURES + 1
        assert self.state.phase != "blocked" or self.state.blocked_phase
        assert self.state.phase not in WORKING or not self.state.blocked_phase


def counter_reset(state: State) -> State:
    """What a retry's outcome does beside the move: the counter of drafts starts anew."""
    from msgspec.structs import replace

    return replace(state, synthesis_attempts=0)


Walk.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestWalk = Walk.TestCase
