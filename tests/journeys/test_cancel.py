"""Cancels: at every phase, by every way, never lost, never half (E8, E35)."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest

from omh_research.documents.task import Reply
from omh_research.project import Project
from omh_research.settings import Settings
from omh_research.store.mailbox import Mailbox
from tests.runs import (
    NAMES,
    STEMS,
    SUBTOPICS,
    TOPIC,
    Run,
    answers,
    child_command,
    child_environment,
    finding,
)

PHASES = ("search", "gap_check", "synthesize", "verify")


def at_phase(folder: Path, number: int) -> Run:
    """Return a run in the given phase."""
    run = Run(folder)
    run.start()
    for _ in range(number):
        run.step()
    assert run.state()["phase"] == PHASES[number]
    return run


def check_cancelled(run: Run) -> None:
    """Check that the run ended as cancelled, and that nothing of it is left but durable files."""
    assert run.words()[-1] == "CANCELLED" and run.words().count("CANCELLED") == 1
    left = [name for name in run.files() if name.startswith("state/")]
    assert left == ["state/locks/_start.lock", f"state/locks/{run.slug}.lock"]
    assert not run.report_path.exists() or "status: confirmed" not in run.report_path.read_text()


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("command", ["step", "next", "start", "run", "retry"])
def test_a_cancel_between_two_phases_takes_effect_at_the_next_invocation(
    tmp_path: Path, number: int, command: str
) -> None:
    """E8: whatever the next command is; nobody is asked anything more."""
    run = at_phase(tmp_path, number)
    calls = run.calls()
    asked = run.cli("cancel", run.slug, "--reason", "enough", "--json")
    assert (asked.code, asked.json["status"]) == (0, "cancelling")
    if command in ("start", "run"):
        other = ("Another question entirely", "--delegate", "host", *SUBTOPICS)
        ended = run.cli(command, *other, "--json")
        assert ended.code in (0, 5)
    else:
        ended = run.cli(command, run.slug, "--json")
        assert ended.code == 4
    assert run.calls() == calls
    words = run.words()
    assert words[-1] == "CANCELLED"
    if command not in ("start", "run"):
        check_cancelled(run)


def test_a_cancelled_run_stays_cancelled(tmp_path: Path) -> None:
    """E41: known by its plan and log: 4 ever after; its topic may be started anew."""
    run = at_phase(tmp_path, 1)
    run.cli("cancel", run.slug)
    assert run.step().code == 4
    for command in ("step", "next", "status"):
        ended = run.cli(command, run.slug, "--json")
        assert (ended.code, ended.json["status"]) == (4, "cancelled"), command
    assert run.cli("wait", run.slug, "--timeout", "5").code == 4
    again = run.cli("cancel", run.slug, "--json")
    assert (again.code, again.json["status"]) == (0, "cancelled")
    assert len(list(run.finding_path("x").parent.iterdir())) == 3, "findings are kept"
    fresh = run.cli("start", TOPIC, *run.script_options, *SUBTOPICS, "--json").json
    assert fresh["slug"] != run.slug and not fresh["resumed"]


def test_a_cancel_never_expires(tmp_path: Path) -> None:
    """E35: the reference plugin forgets after 30 seconds; ours holds until it is consumed."""
    run = at_phase(tmp_path, 0)
    run.cli("cancel", run.slug)
    marker = run.base / "state" / f"research--{run.slug}.cancel"
    plain = json.loads(marker.read_text())
    marker.write_text(json.dumps({**plain, "at": "1999-01-01T00:00:00Z"}))
    assert run.step().code == 4


@pytest.mark.parametrize("number", range(4))
def test_another_programs_cancel_in_the_state_is_seen(tmp_path: Path, number: int) -> None:
    """E2: `cancel_requested` written by a tool of the `omh_state` format."""
    run = at_phase(tmp_path, number)
    run.change_state(
        cancel_requested=True, cancel_reason="x", cancel_at="t", cancel_requested_by="y"
    )
    status = run.cli("status", run.slug, "--json").json
    assert status["status"] == "cancelling"
    assert run.step().code == 4
    check_cancelled(run)


def test_a_cancelled_batch_keeps_the_findings_that_had_come_back(tmp_path: Path) -> None:
    """E35."""
    run = Run(tmp_path)
    run.start(delegate="host")
    run.cli("submit", run.slug, "search-0-moon-and-sun", stdin=finding(NAMES[0]))
    run.cli("cancel", run.slug)
    assert run.step().code == 4
    assert run.finding_path("moon-and-sun").read_text().endswith(finding(NAMES[0]))
    check_cancelled(run)


def wait_for(condition: object, process: subprocess.Popen[bytes]) -> None:
    assert callable(condition)
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


@pytest.mark.parametrize("how", ["command", "state"])
def test_a_cancel_while_a_delegate_works_is_taken_up_before_it_ends(
    tmp_path: Path, how: str
) -> None:
    """E35: it waits for no lock and takes effect at once where the delegate listens."""
    slow = {"role": "researcher", "subtopic": NAMES[2], "fault": "hang"}
    run = Run(tmp_path, [slow, *answers()])
    run.start()
    command = child_command("step", run.slug, "--root", str(run.root), "--json")
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=child_environment()
    )
    folder = run.base / "state" / f"research--{run.slug}.tasks"
    wait_for(lambda: len(list(folder.glob("search*.json"))) == 2, process)
    if how == "command":
        assert run.cli("cancel", run.slug).code == 0
    else:
        run.change_state(cancel_requested=True, cancel_reason="x")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, json.loads(out)["status"]) == (4, "cancelled"), err
    for name, stem in ((NAMES[0], "moon-and-sun"), (NAMES[1], "funnel-bays")):
        assert run.finding_path(stem).read_text().endswith(finding(name)), "what came back is kept"
    check_cancelled(run)


def test_a_cancel_while_a_phase_writes_takes_effect_at_its_end(tmp_path: Path) -> None:
    """E35: the next phase boundary: the same invocation, not the next."""
    slow = {"role": "research-synthesist", "fault": "deaf", "seconds": 1.5}
    run = Run(tmp_path, answers(synthesist=slow))
    run.start()
    run.step(), run.step()
    command = child_command("step", run.slug, "--root", str(run.root), "--json")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=child_environment())
    wait_for(lambda: "synthesize-0-0-report" in run.calls(), process)
    run.cli("cancel", run.slug)
    process.communicate(timeout=60)
    assert process.returncode == 4
    check_cancelled(run)


def test_only_the_exact_slug_is_cancelled(tmp_path: Path) -> None:
    """O3: `topic-1` never hits `topic-10`."""
    run = at_phase(tmp_path, 0)
    for wrong in (run.slug[:-1], run.slug + "0", run.slug.upper(), "*", run.slug + "/../x"):
        assert run.cli("cancel", wrong).code in (2, 7), wrong
    assert run.cli("status", run.slug, "--json").json["status"] == "active"
    assert run.step().code == 0


def test_a_confirmed_run_cannot_be_cancelled(tmp_path: Path) -> None:
    run = at_phase(tmp_path, 3)
    state = run.state_path.read_bytes()
    run.step()
    for left in (None, state):  # cleared, and stopped before it was cleared
        if left is not None:
            run.state_path.write_bytes(left)
        ended = run.cli("cancel", run.slug)
        assert ended.code == 2 and "confirmed" in ended.err
    assert run.step().json["status"] == "confirmed"
    assert "CANCELLED" not in run.words()
    assert run.cli("wait", run.slug, "--timeout", "0").code == 0


def test_a_folder_of_another_tool_without_our_locks_takes_a_cancel(tmp_path: Path) -> None:
    """E2: only a state file is there."""
    run = Run(tmp_path)
    run.slug = "tides-20261130-ab12"
    run.state_path.parent.mkdir(parents=True)
    run.state_path.write_text(json.dumps({"phase": "verify", "slug": run.slug, "topic": "Tides"}))
    assert run.cli("cancel", run.slug).code == 0
    assert run.cli("status", run.slug, "--json").json["status"] == "cancelling"
    assert run.cli("step", run.slug).code == 4


def test_a_run_whose_delegate_is_gone_can_still_be_cancelled(tmp_path: Path) -> None:
    """E35: a plug-in that was removed, a script that was deleted."""
    run = at_phase(tmp_path, 0)
    (run.folder / "script.json").unlink()
    assert run.step().code in (2, 8)
    assert run.cli("cancel", run.slug).code == 0
    assert run.step().code == 4
    check_cancelled(run)


def test_a_cancel_in_the_gap_check_keeps_the_follow_up_that_had_come_back(tmp_path: Path) -> None:
    """E35: its answer was stored, the commit was not reached."""
    run = Run(tmp_path)
    run.start(delegate="host")
    for name, stem in zip(NAMES, STEMS, strict=True):
        run.cli("submit", run.slug, f"search-0-{stem}", stdin=finding(name, gaps="the height"))
    asked = run.cli("next", run.slug, "--json").json["tasks"]
    assert [task["role"] for task in asked] == ["researcher"], asked
    text = finding(NAMES[0])
    project = Project(Settings(root=str(run.root)))
    Mailbox(project.layout, run.slug).put(Reply(asked[0]["id"], text=text))
    run.cli("cancel", run.slug)
    assert run.step().code == 4
    assert run.finding_path("_followup").read_text("utf-8").endswith(text)
    check_cancelled(run)
