"""A cap, a cancel or a time limit that ends a call in the middle, with a real slow program (O5).

What the run itself ended is no failure of the delegate: `cap` and a labelled partial report, no
breaker, no strike, and the answers that had arrived are used and never paid again. A task's own
time limit is the delegate's failure.
"""

from __future__ import annotations

import json
import shlex
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.runs import NAMES, SUBTOPICS, Run, finding, report, verdict

PLAN = "\n".join(
    f"- name: {name}\n  queries: [{name.lower()} tides, {name.lower()} research]" for name in NAMES
)
PROGRAM = """
import json, pathlib, re, sys, time
here = pathlib.Path(__file__).parent
prompt = sys.stdin.read()
said = json.loads((here / "said.json").read_text(encoding="utf-8"))
role = re.search(r"\\[omh-role:([a-z-]+)\\]", prompt)[1]
named = re.search(r"^Subtopic: (.+)$", prompt, re.M)
key = named[1] if role == "researcher" else role
with (here / "asked.txt").open("a") as file:
    file.write(key + "\\n")
if key in (here / "slow.txt").read_text().split("\\n"):
    time.sleep(120)
print(said[key])
"""


class Slow:
    """A run whose delegate is a program that sleeps over the tasks named in `slow.txt`."""

    def __init__(self, folder: Path, *slow: str, gap: str = "none") -> None:
        self.folder, self.run = folder, Run(folder)
        (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
        said = {
            "planner": PLAN,
            "research-synthesist": report(),
            "research-verifier": verdict(),
            "_followup": finding(NAMES[0]).replace(NAMES[0], "_followup", 1),
            **{name: finding(name, gap) for name in NAMES},
        }
        (folder / "said.json").write_text(json.dumps(said), encoding="utf-8")
        self.slow_at(*slow)

    def slow_at(self, *keys: str) -> None:
        """Choose the tasks over which the program sleeps."""
        (self.folder / "slow.txt").write_text("\n".join(keys))

    def asked(self) -> list[str]:
        """Return the tasks that the program was started for, in order."""
        file = self.folder / "asked.txt"
        return file.read_text().splitlines() if file.exists() else []

    def start(self, *more: str, plan: tuple[str, ...] = SUBTOPICS) -> Any:
        """Start the run with the program as its delegate."""
        program = shlex.join([sys.executable, str(self.folder / "program.py")])
        given = ("--command", program, *more, *plan)
        ended = self.run.start(*given, delegate="command")
        self.run.slug = self.run.slug or self.run.cli("status", "--json").json["runs"][0]["slug"]
        return ended

    def limit(self, seconds: float) -> str:
        """Let the run's time cap end so many seconds from now; return it as it is said."""
        state = self.run.state()
        began = datetime.fromisoformat(state.get("clock_from") or state["started_at"])
        whole = round((datetime.now(UTC) - began).total_seconds() + seconds, 1)
        options = {**state["options"], "max_wall_s": whole}
        self.run.change_state(by="omh_research 0", options=options)
        return f"{whole:g} s"

    def end(self) -> Any:
        """Step until the run ends."""
        return self.run.to_end()


CASES: list[tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...], str]] = [
    # phase, what it sleeps over, its plan, the answers that had come, what the label says
    ("decompose", ("planner",), (), (), "There was no plan yet: nothing was searched."),
    ("search", NAMES, SUBTOPICS, (), f"Not researched: {'; '.join(NAMES)}."),
    ("search", NAMES[:1], SUBTOPICS, NAMES[1:], f"Not researched: {NAMES[0]}."),
    ("gap_check", ("_followup",), SUBTOPICS, NAMES, "only what is proven so far."),
    ("synthesize", ("research-synthesist",), SUBTOPICS, NAMES, "only what is proven so far."),
    (
        "verify",
        ("research-verifier",),
        SUBTOPICS,
        (*NAMES, "research-synthesist"),
        "only what is proven so far.",
    ),
]


@pytest.mark.parametrize(("phase", "slow", "plan", "came", "label"), CASES)
def test_o5_a_time_cap_in_mid_call_is_a_cap_in_every_phase(
    tmp_path: Path,
    phase: str,
    slow: tuple[str, ...],
    plan: tuple[str, ...],
    came: tuple[str, ...],
    label: str,
) -> None:
    """The true reason, a partial report, no breaker; after `retry` only what had not come is paid."""
    made = Slow(tmp_path, *slow, gap="growth rates" if phase == "gap_check" else "none")
    run = made.run
    cap = "4 s"
    started = made.start(*([] if plan else ["--max-time", "4"]), plan=plan)
    while started.code == 0 and run.state()["phase"] != phase:
        assert run.step().code == 0
    if plan:
        cap = made.limit(4 if came == NAMES[1:] else 1.5)
    ended = made.end() if started.code == 0 else started
    state = run.state()
    assert (state["blocked_reason"], state["blocked_phase"]) == ("cap", phase), ended
    assert not state.get("breaker_open") and not state.get("failed_calls")
    assert not state.get("failures"), "no strike against a task that we ended"
    text = run.report_path.read_text("utf-8")
    assert text.split("\n")[1] == "status: partial"
    assert f"The run was stopped: the time cap of {cap} is reached." in text and label in text
    assert "DELEGATE_FAILED" not in run.words()
    shown = run.cli("status", run.slug, "--json").json
    assert (shown["status"], shown["blocked_reason"]) == ("blocked", "cap")
    for name in set(came) & set(NAMES):
        assert run.finding_path(name.lower().replace(" ", "-")).is_file(), "what came is kept"
    made.slow_at()
    assert run.cli("retry", run.slug).code == 0
    made.limit(600)
    assert made.end().json["status"] == "confirmed"
    asked = made.asked()
    assert all(asked.count(name) == 1 for name in came), asked
    assert all(asked.count(name) == 2 for name in slow), asked
    assert run.cli("audit", run.slug).code == 0


def test_o5_a_tasks_own_time_limit_is_a_failure(tmp_path: Path) -> None:
    """Three researchers over their limit: three failed calls, and the breaker says so."""
    made = Slow(tmp_path, *NAMES)
    made.start("--task-timeout", "1.5")
    first = made.run.step()
    assert first.code == 0 and made.run.state()["breaker_open"]
    assert all("no answer within the 1.5 s of a task" in note for note in first.json["notes"])
    assert made.run.words().count("DELEGATE_FAILED") == 3
    ended = made.run.step()
    assert (ended.code, ended.json["blocked_reason"]) == (3, "breaker")
    assert not made.run.report_path.exists(), "nothing was found, and no cap cut it short"


def test_o5_one_after_another_shares_one_time_cap(tmp_path: Path) -> None:
    """With one task at a time the cap counts for all: the second is not started any more."""
    made = Slow(tmp_path, *NAMES)
    made.run.base.mkdir()
    (made.run.base / "config.yaml").write_text("side_by_side: 1\n")
    made.start("--max-time", "2")
    assert made.end().json["blocked_reason"] == "cap"
    assert len(made.asked()) == 1


def test_e35_a_cancel_in_mid_call_ends_the_program_and_leaves_no_late_answer(
    tmp_path: Path,
) -> None:
    made = Slow(tmp_path, NAMES[0])
    made.start()
    run = made.run

    def cancel() -> None:
        while len(made.asked()) < 3:
            time.sleep(0.02)
        time.sleep(0.5)
        run.child("cancel", run.slug)

    thread = threading.Thread(target=cancel)
    thread.start()
    ended = run.child("step", run.slug, "--json")
    thread.join()
    assert (ended.code, ended.json["status"]) == (4, "cancelled")
    assert not run.state_path.exists()
    assert not run.state_path.with_name(f"research--{run.slug}.tasks").exists()
    assert [run.finding_path(stem).exists() for stem in ("moon-and-sun", "funnel-bays")] == [
        False,
        True,
    ]
