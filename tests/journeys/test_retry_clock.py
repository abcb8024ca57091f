"""A time cap counts anew from an operator's retry; calls, tokens and money do not (O5, E14)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from omh_research import Engine
from tests.runs import NAMES, SUBTOPICS, Run


class Clock:
    """A clock that moves when told."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.now


def test_o5_retry_grants_the_time_again_and_only_the_time(tmp_path: Path) -> None:
    run, clock = Run(tmp_path), Clock()
    assert run.start("--max-time", "100", *SUBTOPICS).code == 0
    engine = Engine(str(run.root), clock=clock)
    assert engine.step(run.slug).status == "active"
    before = run.state()["spent"]
    clock.now += timedelta(seconds=200)
    blocked = engine.step(run.slug)
    while blocked.status == "active":  # phases that ask nobody need no time
        blocked = engine.step(run.slug)
    assert (blocked.status, blocked.blocked_reason) == ("blocked", "cap")
    assert "time cap of 100 s" in run.report_path.read_text("utf-8")
    engine.retry(run.slug)
    state = run.state()
    assert state["clock_from"] > state["started_at"] and state["spent"] == before
    assert engine.step(run.slug).status == "active", "the granted time is used"
    clock.now += timedelta(seconds=101)
    assert engine.step(run.slug).blocked_reason == "cap", "and ends in its turn"
    engine.retry(run.slug)
    assert engine.run(run.slug).status == "confirmed"
    assert len(run.calls()) == len(set(run.calls())) == len(NAMES) + 2, "nothing was paid twice"


def test_a_run_without_a_time_cap_keeps_its_one_clock(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.start("--cap", "max_model_calls=3", *SUBTOPICS)
    run.to_end()
    assert run.cli("retry", run.slug).code == 0
    assert run.state().get("clock_from", "") == ""
    assert run.to_end().json["blocked_reason"] == "cap", "calls stay spent"
