"""Whole runs through the command line with a delegate that answers by script."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.runs import (
    CLAIMS,
    NAMES,
    STEMS,
    SUBTOPICS,
    TOPIC,
    URLS,
    Run,
    answers,
    finding,
    report,
    verdict,
)

SEED_WORDS = [
    "STARTED", "PLAN_WRITTEN", "BATCH_COMPLETE", "GAP_CHECK_COMPLETE", "REPORT_DRAFT",
    "VERIFY_PASS", "REPORT_CONFIRMED",
]  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def words_of(run: Run) -> list[str]:
    return run.words()


def test_from_a_topic_to_a_confirmed_report_one_phase_a_step(run: Run) -> None:
    """E5, E16-E18, E23, E26, E29, E33, E34: and exactly these files at the end."""
    started = run.start()
    assert (started.code, started.json["phase"], started.json["status"]) == (0, "search", "active")
    assert run.state()["phase"] == "search", "the plan is durable before the state says search"
    slug, session = run.slug, run.state()["session_id"]
    assert slug.startswith("how-do-tides-shape-coasts-20") and len(slug.rsplit("-", 1)[1]) == 4
    for phase, words in (
        ("gap_check", ["BATCH_COMPLETE"]),
        ("synthesize", ["GAP_CHECK_COMPLETE"]),
        ("verify", ["REPORT_DRAFT"]),
    ):
        stepped = run.step()
        assert (stepped.code, stepped.json["phase"], stepped.json["events"]) == (0, phase, words)
        assert run.state()["phase"] == phase
    assert run.report_path.read_text().split("\n")[1] == "status: draft"
    last = run.step()
    assert (last.code, last.json["status"]) == (0, "confirmed")
    assert last.json["events"] == ["VERIFY_PASS", "REPORT_CONFIRMED"]
    assert run.files() == sorted([
        f"logs/research-{session}.log",
        f"research/{slug}-evidence/caps_plan.json",
        f"research/{slug}-evidence/evidence_ledger.jsonl",
        f"research/{slug}-evidence/fetch_ledger.jsonl",
        f"research/{slug}-evidence/seal.json",
        *(f"research/{slug}-findings/{stem}.md" for stem in STEMS),
        f"research/{slug}-plan.md",
        f"research/{slug}-report.md",
        "state/locks/_start.lock",
        f"state/locks/{slug}.lock",
    ])  # fmt: skip
    assert run.words() == SEED_WORDS
    assert len(run.calls()) == len(set(run.calls())) == 5, "no planner: the subtopics were given"


def test_the_files_hold_what_the_delegate_said_verbatim(run: Run) -> None:
    """E22, E26: the researcher's text and the report's body unedited; E33: nothing private."""
    run.start()
    run.to_end()
    for name, stem in zip(NAMES, STEMS, strict=True):
        text = run.finding_path(stem).read_text()
        head, body = text.split("\n---\n\n", 1)
        assert body == finding(name)
        assert f'url: "{URLS[name]}"' in head and "credibility: primary" in head
    head, body = run.report_path.read_text().split("\n---\n\n", 1)
    assert body == report()
    assert head.split("\n")[:3] == ["---", "status: confirmed", f'topic: "{TOPIC}"']
    log = (run.base / "logs").iterdir().__next__().read_text()
    for line in log.splitlines():
        assert f" slug={run.slug}" in line and "  " not in line
    durable = "".join(
        path.read_text() for path in run.base.rglob("*") if path.suffix in (".md", ".log", ".jsonl")
    )
    import getpass
    import os
    import socket

    assert str(run.root) not in durable and str(run.folder) not in durable
    assert socket.gethostname() not in durable
    if getpass.getuser() not in ("root", "runner"):
        assert getpass.getuser() not in durable
    assert str(os.getpid()) not in log.replace(run.slug, "")
    assert CLAIMS[NAMES[0]] not in log, "decisions and transitions only, never findings text"


def test_run_goes_to_the_end_by_itself_and_says_where_it_is(run: Run) -> None:
    """`run` = start, then step until confirmed; E29 (4): a summary; E11: the second shows it."""
    first = run.cli("run", TOPIC, *run.script_options, *SUBTOPICS)
    assert first.code == 0 and "confirmed" in first.out
    assert ".omh/research/how-do-tides-shape-coasts" in first.out
    assert "3 only declared" in first.out, "T23: on what the report stands"
    again = run.cli("run", TOPIC, *run.script_options, *SUBTOPICS)
    assert again.code == 0 and again.out.strip().endswith("-report.md")
    assert len(run.calls()) == 5, "nothing was asked a second time"


def test_a_refused_draft_is_written_anew_with_the_feedback(tmp_path: Path) -> None:
    """E25, E30: FAIL, then PASS; the feedback ends the goal and is kept whole in the state."""
    fail = verdict("FAIL", "the title says nothing")
    script = answers(
        verifier={"sequence": [fail, verdict()], "text": ""},
        synthesist={"sequence": [report("T"), report("Tides and coasts")], "text": ""},
    )
    script.insert(
        0,
        {
            "role": "research-synthesist",
            "goal_contains": "Address these prior verifier findings:\nVERDICT: FAIL",
            "text": report("Better"),
        },
    )
    run = Run(tmp_path, script)
    run.start()
    for _ in range(3):
        run.step()
    failed = run.step()
    assert (failed.code, failed.json["phase"]) == (0, "synthesize")
    assert failed.json["events"] == ["VERIFY_FAIL", "SYNTHESIS_RETRY"]
    state = run.state()
    assert state["synthesis_attempts"] == 1 and state["last_verifier_feedback"] == fail
    assert run.to_end().json["status"] == "confirmed"
    body = run.report_path.read_text()
    assert "# Better" in body and "# T\n" not in body
    assert not list((run.base / "research").glob("*-v2*")), "E26: always overwritten"
    assert run.words().count("REPORT_DRAFT") == 2


def test_four_refused_drafts_block_the_run_and_nothing_restarts_it(tmp_path: Path) -> None:
    """E14, E30, E31: at most four drafts; blocked stays; retry lets an operator go on."""
    run = Run(tmp_path, answers(verifier={"text": verdict("FAIL", "not convincing")}))
    run.start()
    blocked = run.to_end()
    assert (blocked.code, blocked.json["status"]) == (3, "blocked")
    assert blocked.json["blocked_reason"] == "retries_exhausted"
    calls = run.calls()
    assert len([call for call in calls if call.startswith("synthesize")]) == 4
    assert len([call for call in calls if call.startswith("verify")]) == 4
    words = run.words()
    assert words.count("VERIFY_FAIL") == 4 and words.count("SYNTHESIS_RETRY") == 3
    assert words[-1] == "BLOCKED_RETRIES_EXHAUSTED"
    state = run.state()
    assert (state["phase"], state["synthesis_attempts"]) == ("blocked", 3)
    assert run.report_path.read_text().split("\n")[1] == "status: draft"
    shown = run.cli("show", run.slug, "--verdict")
    assert shown.code == 0 and "not convincing" in shown.out
    for command in (("step", run.slug), ("next", run.slug), ("start", TOPIC, *run.script_options)):
        ended = run.cli(*command)
        assert ended.code == 3, command
    assert run.calls() == calls, "no command but retry sets it going"
    assert run.words()[-1] == "BLOCKED" and run.words().count("BLOCKED") == 1, "one event a state"
    run.set_script(answers())
    assert run.cli("retry", run.slug).code == 0
    assert run.state()["phase"] == "synthesize" and run.state()["synthesis_attempts"] == 0
    assert run.to_end().json["status"] == "confirmed"
    assert run.words()[-1] == "REPORT_CONFIRMED" and "RETRIED" in run.words()


def test_an_unreadable_verdict_is_asked_for_twice_more_then_fails(tmp_path: Path) -> None:
    """E32: in doubt, fail."""
    run = Run(tmp_path, answers(verifier={"text": "I would say it looks fine to me."}))
    run.start()
    for _ in range(3):
        run.step()
    events = [run.step().json["events"] for _ in range(3)]
    assert events == [
        ["VERDICT_UNREADABLE"],
        ["VERDICT_UNREADABLE"],
        ["VERIFY_FAIL", "SYNTHESIS_RETRY"],
    ]
    assert run.state()["synthesis_attempts"] == 1
    asked = [call for call in run.calls() if call.startswith("verify")]
    assert asked == ["verify-0-0-report", "verify-0-1-report", "verify-0-2-report"]


@pytest.mark.parametrize(
    "answer",
    [
        "---\nstatus: confirmed\n---\n" + report(),
        "---\nstatus: confirmed\n---\n# Only this\n",
        "\ufeff---\nstatus: confirmed\ntopic: x\n---\n\n" + report(),
    ],
)
def test_a_synthesist_cannot_confirm_its_own_report(tmp_path: Path, answer: str) -> None:
    """E26, 81 section 4: the leading block is removed, ignored, and it is said."""
    run = Run(tmp_path, answers(synthesist={"text": answer}))
    run.start()
    run.step(), run.step()
    drafted = run.step()
    assert any("frontmatter block" in note for note in drafted.json["notes"])
    text = run.report_path.read_text()
    assert text.split("\n")[1] == "status: draft" and "status: confirmed" not in text
    assert run.cli("wait", run.slug, "--timeout", "0").code == 124


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda text: text.replace("[2].\n", "[7].\n", 1), "7"),
        (lambda text: text.replace(URLS[NAMES[1]], "https://made-up.example/x"), "made-up"),
        (lambda text: text.replace("### Funnel bays", "### Other bays"), "Funnel bays"),
        (lambda text: "test", ""),
    ],
)
def test_what_the_gate_refuses_no_verifier_is_asked_about(
    tmp_path: Path, change: object, complaint: str
) -> None:
    """E28: the gate runs first and always; its failure is the feedback; nothing is paid."""
    assert callable(change)
    run = Run(tmp_path, answers(synthesist={"text": change(report())}))
    run.start()
    run.step(), run.step(), run.step()
    failed = run.step()
    assert failed.json["events"] == ["VERIFY_FAIL", "SYNTHESIS_RETRY"]
    assert complaint in run.state()["last_verifier_feedback"]
    assert not [call for call in run.calls() if call.startswith("verify")]
    assert run.to_end().code == 3, "four such drafts block"


def test_gaps_lead_to_one_follow_up_and_on(tmp_path: Path) -> None:
    """E23: two branches only; literal repeats dropped; `_followup.md`."""
    gaps = {
        NAMES[0]: "how fast marshes grow",
        NAMES[1]: "How fast marshes grow ",
        NAMES[2]: "n/a",
    }
    script = [
        {"role": "researcher", "subtopic": name, "text": finding(name, gap)}
        for name, gap in gaps.items()
    ]
    followup = finding("Moon and Sun").replace("Moon and Sun", "_followup").replace(
        URLS[NAMES[0]], "https://moon-and-sun.example/paper"
    )  # fmt: skip
    script.append({"role": "researcher", "subtopic": "_followup", "text": followup})
    run = Run(tmp_path, [*script, *answers()])
    run.start()
    run.step()
    checked = run.step()
    assert checked.json["events"] == ["GAP_CHECK_COMPLETE"]
    assert run.finding_path("_followup").read_text().endswith(followup)
    events = run.cli("log", run.slug, "--json").json["events"]
    assert next(e["gaps"] for e in events if e["event"] == "GAP_CHECK_COMPLETE") == "1"
    assert run.to_end().json["status"] == "confirmed"


def test_batches_of_three_each_a_step(tmp_path: Path) -> None:
    """E17, E18: five subtopics are two batches; findings, then completed, then phase."""
    names = ["Waves", "Currents", "Estuaries", "Deltas", "Lagoons"]
    script = [
        {"role": "researcher", "subtopic": name, "text": finding(NAMES[0]).replace(NAMES[0], name)}
        for name in names
    ]
    run = Run(tmp_path, script)
    run.start(*(arg for n in names for arg in ("--subtopic", f"{n}: {n} first; {n} second")))
    run.step()
    state = run.state()
    assert (state["phase"], state["completed_subtopics"]) == ("search", names[:3])
    assert len(list(run.finding_path("x").parent.glob("*.md"))) == 3
    run.step()
    state = run.state()
    assert (state["phase"], state["completed_subtopics"]) == ("gap_check", names)
    batches = [
        (event["batch"], json.loads(event["subtopics"]))
        for event in run.cli("log", run.slug, "--json").json["events"]
        if event["event"] == "BATCH_COMPLETE"
    ]
    assert batches == [("1", names[:3]), ("2", names[3:])]


def test_one_failing_researcher_loses_no_other(tmp_path: Path) -> None:
    """E21: tried again in later steps; the others' findings are on disk at once."""
    bad = {"role": "researcher", "subtopic": NAMES[1], "fault": "fail", "reason": "no network"}
    run = Run(tmp_path, [bad, *answers()])
    run.start()
    first = run.step()
    assert first.json["events"] == ["DELEGATE_FAILED", "BATCH_COMPLETE"]
    assert any("no network" in note for note in first.json["notes"])
    assert run.state()["completed_subtopics"] == [NAMES[0], NAMES[2]]
    run.set_script(answers())
    run.step()
    assert run.state()["phase"] == "gap_check"
    asked = [call for call in run.calls() if "funnel" in call]
    assert asked == ["search-0-funnel-bays", "search-1-funnel-bays"]
    assert run.to_end().json["status"] == "confirmed"


def test_a_researcher_that_fails_three_times_leaves_an_honest_block(tmp_path: Path) -> None:
    """E21: `SOURCES: (none-found…)`, the insufficiency string, GAPS filled; no invented text."""
    bad = {"role": "researcher", "subtopic": NAMES[1], "fault": "empty"}
    run = Run(tmp_path, [bad, *answers()])
    run.start()
    for _ in range(3):
        run.step()
    text = run.finding_path("funnel-bays").read_text()
    assert "(none-found" in text and "(insufficient sources for this subtopic)" in text
    assert "GAPS:" in text
    assert run.state()["phase"] == "gap_check"
    assert run.words().count("DELEGATE_FAILED") == 3


def test_planning_by_the_delegate_and_its_failures(tmp_path: Path) -> None:
    """E15: the planner is tried three times, then the model-free planner; a cause is said."""
    plan = "\n".join(f"- name: {name}\n  queries: [{name} a, {name} b]" for name in NAMES)
    run = Run(tmp_path, [{"role": "planner", "sequence": ["no list here", plan]}, *answers()])
    ended = run.cli("start", TOPIC, *run.script_options, "--json")
    assert ended.code == 0 and ended.json["phase"] == "decompose"
    run.slug = ended.json["slug"]
    assert any("could not be used" in note for note in ended.json["notes"])
    assert run.step().json["phase"] == "search"
    assert run.calls() == ["decompose-0-planner", "decompose-1-planner"]
    assert run.words() == ["STARTED", "DELEGATE_FAILED", "PLAN_WRITTEN"]


def test_it_is_the_same_in_processes_of_their_own(run: Run) -> None:
    """D11: one invocation a process; state is all they share."""
    started = run.child("start", TOPIC, *run.script_options, *SUBTOPICS, "--json")
    assert started.code == 0, started.err
    run.slug = started.json["slug"]
    codes = [run.child("step", run.slug).code for _ in range(4)]
    assert codes == [0, 0, 0, 0]
    assert run.child("wait", run.slug, "--timeout", "0").out == "confirmed\n"
    assert run.child("audit", run.slug).code == 0
