"""Caps and the breaker in whole runs (O5): a labelled partial report, blocked, exit 3, retry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.runs import NAMES, SUBTOPICS, TOPIC, Run, answers, cli

PLAN = "\n".join(
    f"- name: {name}\n  queries: [{name.lower()} tides, {name.lower()} research]" for name in NAMES
)
# Usage of one call of the script: one model call unless a test says otherwise.
PRICED = {"model_calls": 1, "input_tokens": 900, "output_tokens": 100, "cost_usd": 0.5}


def priced(**other: Any) -> list[dict[str, Any]]:
    return [{**line, "usage": PRICED} for line in answers(**other)]


def blocked_by_cap(run: Run, words: str) -> str:
    """Check what a cap leaves; return the partial report, which is always there."""
    state = run.state()
    assert (state["phase"], state["blocked_reason"]) == ("blocked", "cap")
    asked = run.calls()
    again = run.step()
    assert (again.code, again.json["blocked_reason"]) == (3, "cap")
    assert run.calls() == asked, "the call that would cross the cap was not made"
    shown = run.cli("status", run.slug, "--json").json
    assert (shown["status"], shown["blocked_reason"]) == ("blocked", "cap")
    assert run.cli("next", run.slug, "--json").json["blocked_reason"] == "cap"
    text = run.report_path.read_text("utf-8")
    assert text.split("\n")[1] == "status: partial" and "Partial report" in text and words in text
    return text


@pytest.mark.parametrize(
    ("calls", "phase", "extent"),
    [
        (2, "search", f"Nothing was found before that. Not researched: {'; '.join(NAMES)}."),
        (3, "synthesize", "It holds only what is proven so far."),
        (4, "verify", "It holds only what is proven so far."),
    ],
)
def test_the_cap_on_calls_in_each_phase(
    tmp_path: Path, calls: int, phase: str, extent: str
) -> None:
    run = Run(tmp_path)
    assert run.start("--cap", f"max_model_calls={calls}", *SUBTOPICS).code == 0
    ended = run.to_end()
    assert ended.code == 3 and run.state()["blocked_phase"] == phase
    assert f"{extent}\n" in blocked_by_cap(run, f"the cap of {calls} model calls")
    made = 0 if calls < 3 else calls
    assert len(run.calls()) == made == run.state()["spent"].get("model_calls", 0)
    left = run.cli("status", run.slug, "--json").json["remaining"]["max_model_calls"]
    assert left == calls - made


def test_the_cap_on_calls_before_a_plan(tmp_path: Path) -> None:
    """Decompose: the planner is not asked when the time is up; the report says how little it is."""
    run = Run(tmp_path, [{"role": "planner", "text": PLAN}, *answers()])
    started = run.start("--max-time", "0.000001")
    assert started.code in (0, 3)
    run.slug = run.slug or run.cli("status", "--json").json["runs"][0]["slug"]
    assert run.to_end().code == 3 if started.code == 0 else True
    said = blocked_by_cap(run, "time cap")
    assert "There was no plan yet: nothing was searched." in said and run.calls() == []


def test_the_cap_in_the_gap_check(tmp_path: Path) -> None:
    from tests.runs import finding

    run = Run(tmp_path, answers(Salt_marshes={"text": finding("Salt marshes", "growth rates")}))
    run.start("--cap", "max_model_calls=3", *SUBTOPICS)
    assert run.to_end().code == 3 and run.state()["blocked_phase"] == "gap_check"
    assert "Marsh plants" not in blocked_by_cap(run, "model calls"), "nothing is proven by quotes"


@pytest.mark.parametrize(
    ("options", "words"),
    [(("--max-cost", "1.9"), "cost cap of $1.9"), (("--max-tokens", "3500"), "cap of 3500 tokens")],
)
def test_money_and_tokens_stop_before_they_are_crossed(
    tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    """Three calls cost $1.50 or 3,000 tokens; a fourth like them would cross."""
    run = Run(tmp_path, priced())
    run.start(*options, *SUBTOPICS)
    assert run.to_end().code == 3 and len(run.calls()) == 3
    assert words in blocked_by_cap(run, words)
    spent = run.state()["spent"]
    assert (spent["cost_usd"], spent["input_tokens"], spent["output_tokens"]) == (1.5, 2700, 300)


def test_a_panel_stops_between_its_batches_and_keeps_the_votes(tmp_path: Path) -> None:
    """O5, P3: votes of the same lap count; a retry asks for none of them again."""
    from tests.phases.test_panel import SAID, long_report

    vote = {"role": "claim-skeptic", "text": SAID["confirm"]}
    run = Run(tmp_path, [vote, *answers(synthesist={"text": long_report(2)})])
    run.start("--panel", "3", "--cap", "max_model_calls=20", *SUBTOPICS)
    assert run.to_end().code == 3
    assert len(run.calls()) == 5 + 12 and run.state()["spent"]["model_calls"] == 17
    blocked_by_cap(run, "20 model calls")
    plan = next((run.base / "research").glob("*-evidence/caps_plan.json"))
    granted = json.loads(plan.read_text())
    granted["caps"]["max_model_calls"] = 40
    plan.write_text(json.dumps(granted))
    assert run.cli("retry", run.slug).code == 0
    assert run.to_end().json["status"] == "confirmed"
    assert len(run.calls()) == len(set(run.calls())) == 5 + 18, "nothing was paid twice"


def test_a_hosts_time_is_capped_too(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.start("--max-time", "0.000001", *SUBTOPICS, delegate="host")
    ended = run.cli("next", run.slug, "--json")
    assert (ended.code, ended.json["blocked_reason"], ended.json["tasks"]) == (3, "cap", [])


def test_the_breaker_opens_over_tasks_stays_open_and_is_closed_by_retry(tmp_path: Path) -> None:
    """Three failed calls of three tasks: no further call in any invocation until `retry`."""
    faults: dict[str, Any] = {name: {"fault": "fail", "times": 0} for name in NAMES}
    run = Run(tmp_path, answers(**faults))
    run.start(*SUBTOPICS)
    first = run.step()
    assert first.code == 0 and run.state()["breaker_open"] and len(run.calls()) == 3
    for _ in range(3):
        ended = run.child("step", run.slug, "--json")
        assert (ended.code, ended.json["blocked_reason"]) == (3, "breaker")
    assert len(run.calls()) == 3
    assert run.cli("status", run.slug, "--json").json["blocked_reason"] == "breaker"
    assert run.cli("next", run.slug, "--json").json["blocked_reason"] == "breaker"
    run.set_script(answers())
    assert run.cli("retry", run.slug).code == 0
    assert run.to_end().json["status"] == "confirmed"
    assert len(run.calls()) == len(set(run.calls())) == 3 + 5


def test_a_breaker_after_findings_ends_in_a_partial_report(tmp_path: Path) -> None:
    """One task's own three tries do not open it; a failure of another task does."""
    run = Run(tmp_path, answers(synthesist={"fault": "fail"}))
    run.start(*SUBTOPICS)
    run.step()
    run.step()
    for _ in range(2):
        run.step()
    assert not run.state().get("breaker_open") and run.state()["failed_calls"] == 2
    run.change_state(by="omh_research 0", failed_tasks=["gap-check-followup", "synthesize-report"])
    other = run.state()["failures"]
    run.change_state(by="omh_research 0", failures={**other, "report": 1})
    run.step()
    assert run.state()["breaker_open"]
    ended = run.step()
    assert (ended.code, ended.json["blocked_reason"]) == (3, "breaker")
    text = run.report_path.read_text("utf-8")
    assert text.split("\n")[1] == "status: partial" and "three calls failed in a row" in text


def test_a_refusing_verifier_is_no_failed_call(tmp_path: Path) -> None:
    from tests.runs import verdict

    run = Run(tmp_path, answers(verifier={"text": verdict("FAIL", "too thin")}))
    run.start(*SUBTOPICS)
    ended = run.to_end()
    assert (ended.code, ended.json["blocked_reason"]) == (3, "retries_exhausted")
    assert not run.state().get("breaker_open") and not run.state().get("failed_calls")


def estimate_of(*args: str, root: Path) -> dict[str, Any]:
    root.mkdir(exist_ok=True)
    ended = cli("start", TOPIC, *args, "--dry-run", "--json", "--root", str(root))
    assert ended.code == 0 and not (root / ".omh").exists()
    return dict(ended.json["estimate"])


@pytest.mark.parametrize("panel", [(), ("--panel", "3")])
def test_the_estimate_holds_what_a_scripted_run_costs(
    tmp_path: Path, panel: tuple[str, ...]
) -> None:
    """O5: the actual figures lie in the range that the dry run printed, and it wrote nothing."""
    from tests.phases.test_panel import SAID

    vote = {"role": "claim-skeptic", "text": SAID["confirm"]}
    run = Run(tmp_path, [vote, *answers()])
    given = (*run.script_options, *panel, *SUBTOPICS)
    low_high = estimate_of(*given, root=tmp_path / "dry")
    run.start(*panel, *SUBTOPICS)
    for _ in range(3):
        run.step()
    assert run.state()["phase"] == "verify"
    assert run.step().json["status"] == "confirmed"
    votes = sum("-vote-" in call for call in run.calls())
    assert low_high["tasks"]["low"] <= len(run.calls()) <= low_high["tasks"]["high"]
    assert low_high["model_calls"]["low"] <= len(run.calls()) <= low_high["model_calls"]["high"]
    assert low_high["votes"]["low"] <= votes <= low_high["votes"]["high"]
    assert bool(votes) == bool(panel)


def test_an_unknown_price_is_said_and_never_nought(tmp_path: Path) -> None:
    found = estimate_of("--model", "no-such-model-9", root=tmp_path)
    assert found["cost_usd"] is None
    said = cli("start", TOPIC, "--model", "no-such-model-9", "--dry-run", "--root", str(tmp_path))
    assert "cost unknown" in said.out
    free = estimate_of("--delegate", "extractive", "--corpus", str(tmp_path), root=tmp_path)
    assert free["cost_usd"] == {"low": 0, "high": 0} and free["model_calls"]["high"] == 0
