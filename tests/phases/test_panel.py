"""The claim panel through whole runs: votes, outcomes, what is asked again, what is written."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from omh_research.documents.verdict import parse_vote
from omh_research.phases.panel import decide
from omh_research.tools.claims import find_claims
from tests.runs import NAMES, SUBTOPICS, TOPIC, Run, answers, cli, finding, source_line, verdict

VOTES = ("confirm", "refute", "qualified", "abstain", "failed", "unreadable", "missing")
SAID = {
    "confirm": "VOTE: CONFIRM\nREASON: the quote says so",
    "refute": "VOTE: REFUTE\nREASON: the source says the opposite",
    "qualified": "VOTE: QUALIFIED\nREASON: only in narrow bays",
    "abstain": "VOTE: ABSTAIN\nREASON: too little evidence",
    "unreadable": "I would rather talk about ducks.",
}
SENTENCES = {
    "Moon and Sun": (
        "Spring tides come when the pull of both bodies lines up",
        "Neap tides follow the quarter moons",
        "The solar pull is weaker because the distance is so great",
        "Equinox tides tend to be the highest of a year",
    ),
    "Funnel bays": (
        "A narrowing bay raises the water at its head",
        "Resonance doubles the range in long inlets",
        "Shallow sills delay the flood current",
        "Estuary walls reflect part of every wave",
    ),
    "Salt marshes": (
        "Marsh plants slow the flow and catch the mud",
        "Creeks drain the platform after each high water",
        "Cordgrass roots bind fine sediment",
        "Storm surges spread seeds landward",
    ),
}


def long_report(each: int = 4) -> str:
    sections = "\n\n".join(
        f"### {name}\n\n" + " ".join(f"{text} [{n}]." for text in SENTENCES[name][:each])
        for n, name in enumerate(NAMES, 1)
    )
    sources = "\n".join(source_line(n, name) for n, name in enumerate(NAMES, 1))
    return (
        f"# Tides\n\n## Executive Summary\n\n{SENTENCES[NAMES[0]][0]} [1].\n\n"
        f"## Detailed Findings\n\n{sections}\n\n## Key Takeaways\n\n- {SENTENCES[NAMES[1]][0]} "
        f"[2].\n\n## Open Questions\n\n- None.\n\n## Sources\n\n{sources}\n"
    )


CLAIMS = find_claims(long_report(), NAMES)
MARKS = [hashlib.sha256(claim.sentence.encode()).hexdigest()[:12] for claim in CLAIMS]


def lines_of(votes: Mapping[int, tuple[str, ...]], asking: int = 0) -> list[dict[str, Any]]:
    """Return script lines for the votes of claims by number; a missing vote has none."""
    found = []
    for at, kinds in votes.items():
        for number, kind in enumerate(kinds, 1):
            line: dict[str, Any] = {"id": f"verify-0-{asking}-vote-{MARKS[at]}-{number}"}
            if kind == "failed":
                found.append({**line, "fault": "fail"})
            elif kind != "missing":
                found.append({**line, "text": SAID[kind]})
    return found


def every(kinds: tuple[str, ...]) -> dict[int, tuple[str, ...]]:
    """Return the same votes for each of the twelve claims."""
    return dict.fromkeys(range(12), kinds)


def panel_run(folder: Path, votes: list[dict[str, Any]], *more: str) -> Run:
    """Return a run that stands before its verification."""
    script = [*votes, *answers(synthesist={"text": long_report()})]
    run = Run(folder, script)
    assert run.start("--panel", "3", *more, *SUBTOPICS).code == 0
    for _ in range(3):
        run.step()
    assert run.state()["phase"] == "verify"
    return run


def panel_of(run: Run) -> dict[str, Any]:
    path = run.base / "research" / f"{run.slug}-evidence" / "panel.json"
    value = json.loads(path.read_text("utf-8"))
    assert isinstance(value, dict)
    return value


def expected(kinds: tuple[str, ...]) -> str:
    """P2 in other words: at least two of three said something, and two of those said no."""
    counted = Counter(kinds)
    if counted["confirm"] + counted["refute"] + counted["qualified"] < 2:
        return "unverified"
    return "refuted" if counted["refute"] > 1 else "confirmed"


def test_every_combination_of_three_votes_is_decided_as_written() -> None:
    """P2: all 343, in every order."""
    for kinds in itertools.product(VOTES, repeat=3):
        votes = [parse_vote(SAID.get(kind, "")) for kind in kinds]
        assert decide(votes, 3) == expected(kinds), kinds


def test_a_majority_of_five_and_seven_is_the_quorum() -> None:
    """P2: two refutations refute, one never does, and silence is no vote."""
    confirm, refute, none = (parse_vote(SAID[k]) for k in ("confirm", "refute", "abstain"))
    assert decide([confirm] * 2 + [none] * 3, 5) == "unverified"
    assert decide([confirm] * 3 + [none] * 2, 5) == "confirmed"
    assert decide([refute] * 2 + [none] * 3, 5) == "unverified"
    assert decide([refute] * 2 + [confirm] * 3, 5) == "refuted"
    assert decide([refute] + [confirm] * 3 + [none] * 3, 7) == "confirmed"
    assert decide([refute] * 3 + [none] * 4, 7) == "unverified"


MIXES = list(itertools.combinations_with_replacement(VOTES, 3))


@pytest.mark.parametrize(
    "mixes", [MIXES[3::7], pytest.param(MIXES, marks=pytest.mark.deep)], ids=["some", "all"]
)
def test_every_mix_of_votes_in_a_run_gives_its_outcome_in_panel_json(
    tmp_path: Path, mixes: list[tuple[str, ...]]
) -> None:
    """P1-P4, P10 through the engine: the 84 mixes, twelve claims a run."""
    assert len(CLAIMS) == 12 and len(mixes) % 12 == 0
    for start in range(0, len(mixes), 12):
        chosen = dict(enumerate(mixes[start : start + 12]))
        run = panel_run(tmp_path / str(start), lines_of(chosen))
        ended = run.step()
        panel = panel_of(run)
        assert set(panel) == {
            "summary", "findings", "refuted", "unverified", "sources", "stats",
        }  # fmt: skip
        keys = (("confirmed", "findings"), ("refuted", "refuted"), ("unverified", "unverified"))
        got = {item["claim"]: tag for tag, key in keys for item in panel[key]}
        for at, kinds in chosen.items():
            assert got[CLAIMS[at].text] == expected(kinds), kinds
        for _, key in keys:
            for item in panel[key]:
                assert {"claim", "sources", "votes", "caveats"} <= set(item)
                qualified = [v for v in item["votes"] if v["vote"] == "qualified"]
                assert item["caveats"] == [v["reason"] for v in qualified]
        valid = sum(k in VOTES[:3] for kinds in chosen.values() for k in kinds)
        stats = panel["stats"]
        assert (stats["claims"], stats["votes"], stats["valid"]) == (12, 36, valid)
        assert stats["abstained"] == 36 - valid
        undecided = "PANEL_COMPLETE" if not panel["findings"] else "VERIFY_PASS"
        assert ended.json["events"][0] == ("VERIFY_FAIL" if panel["refuted"] else undecided)


def test_a_refuted_claim_sends_the_draft_back_with_the_reasons(tmp_path: Path) -> None:
    """P5, P9: FAIL with the refutations as feedback."""
    votes = every(("confirm",) * 3) | {5: ("refute", "refute", "confirm")}
    run = panel_run(tmp_path, lines_of(votes))
    ended = run.step()
    assert (ended.code, ended.json["phase"]) == (0, "synthesize")
    feedback = run.state()["last_verifier_feedback"]
    assert "Resonance doubles the range" in feedback and SAID["refute"][21:] in feedback
    assert run.state()["spent"]["tasks"] == 5 + 36


def test_unverified_claims_are_counted_and_shown_but_do_not_fail(tmp_path: Path) -> None:
    """P5, P10: the file's body stays as returned; `show --report` and json append the section."""
    votes = every(("confirm",) * 3)
    votes |= {4: ("abstain", "failed", "confirm"), 8: ("qualified", "confirm", "confirm")}
    run = panel_run(tmp_path, lines_of(votes))
    assert run.step().json["status"] == "confirmed"
    head, body = run.report_path.read_text("utf-8").split("\n---\n\n", 1)
    assert body == long_report() and "\nunverified: 1" in head.replace('"', "")
    shown = run.cli("show", run.slug, "--report").out
    assert "## Verification" in shown and "11 confirmed, 0 refuted, 1 unverified" in shown
    assert "**unverified**: A narrowing bay raises the water at its head [2]" in shown
    assert "only in narrow bays" in shown, "the caveat is kept with the claim"
    assert json.loads(run.cli("show", run.slug, "--panel").out) == panel_of(run)
    out = tmp_path / "r.json"
    assert run.cli("export", run.slug, "--to", "json", "-o", str(out)).code == 0
    assert "## Verification" in json.loads(out.read_text("utf-8"))["body"]


def test_no_quorum_anywhere_is_never_confirmed_and_only_failed_votes_are_asked_again(
    tmp_path: Path,
) -> None:
    """P5: draft stays, phase verify, three invocations, then blocked and said plainly."""
    first = every(("failed", "unreadable", "abstain"))
    lines = lines_of(first)
    for asking in (1, 2):
        lines += lines_of(every(("failed", "unreadable", "missing")), asking)
    run = panel_run(tmp_path, lines)
    before = run.calls()
    for asking in range(2):
        ended = run.step()
        assert (ended.code, ended.json["phase"]) == (0, "verify"), ended
        assert run.report_path.read_text().split("\n")[1] == "status: draft"
        assert len(panel_of(run)["unverified"]) == 12
        assert run.state()["undecided"] == asking + 1
    ended = run.step()
    assert (ended.code, ended.json["blocked_reason"]) == (3, "verification_could_not_run")
    assert "Verification could not run" in " ".join(ended.json["notes"])
    asked = run.calls()[len(before) :]
    assert len(asked) == len(set(asked)) == 1 + 36 + 24 + 24, "an abstention is an answer"
    assert not [task for task in asked if "-vote-" in task and task.endswith("-3")][12:]
    assert not run.state().get("breaker_open"), "a failed vote is an abstention, no breaker"
    assert run.report_path.read_text().split("\n")[1] == "status: draft"


def test_only_abstentions_leave_nothing_to_ask(tmp_path: Path) -> None:
    """P5: blocked at once, no vote is asked a second time."""
    run = panel_run(tmp_path, lines_of(every(("abstain",) * 3)))
    ended = run.step()
    assert (ended.code, ended.json["blocked_reason"]) == (3, "verification_could_not_run")


def test_a_later_quorum_confirms(tmp_path: Path) -> None:
    """P5: the votes that failed answer the second time; what was paid is counted once."""
    lines = lines_of(every(("failed", "failed", "confirm")))
    lines += lines_of(every(("confirm", "confirm", "confirm")), 1)
    run = panel_run(tmp_path, lines)
    assert run.step().json["phase"] == "verify"
    ended = run.step()
    assert ended.json["status"] == "confirmed"
    assert panel_of(run)["stats"]["valid"] == 36
    assert len(run.calls()) == len(set(run.calls())) == 5 + 36 + 24


def test_a_kill_after_the_last_vote_asks_none_again(tmp_path: Path) -> None:
    """P3: every vote is stored under its task id; the state is put back as the kill left it."""
    votes = every(("confirm", "confirm", "refute")) | {3: ("refute",) * 3}
    run = panel_run(tmp_path, lines_of(votes))
    saved = run.state_path.read_bytes()
    assert run.step().json["phase"] == "synthesize"
    asked = run.calls()
    run.state_path.write_bytes(saved)
    assert run.step().json["phase"] == "synthesize"
    assert run.calls() == asked


def test_a_host_votes_by_batches_of_four_claims_and_fails_or_answers(tmp_path: Path) -> None:
    """P1, P3 through the host protocol: the goal's one line, the quotes in the context."""
    run = Run(tmp_path)
    assert run.start("--panel", "3", *SUBTOPICS, delegate="host").code == 0
    text = {
        "researcher": lambda task: finding(json.loads(task["context"])["subtopic"]),
        "research-synthesist": lambda task: long_report(2),
        "research-verifier": lambda task: verdict(),
    }
    batches = []
    while (given := run.cli("next", run.slug, "--json")).json["tasks"]:
        tasks = given.json["tasks"]
        votes = [task for task in tasks if task["role"] == "claim-skeptic"]
        if votes:
            batches.append(len(votes))
            goal = votes[0]["goal"].split("\n")
            assert sum(line.startswith("CLAIM: ") for line in goal) == 1
            assert votes[0]["tools"] == [] and "FINDINGS" in votes[0]["context"]
            lone = run.cli("submit", run.slug, votes[0]["id"], "--failed", "busy", "--json")
            assert lone.code == 0
            tasks = votes[1:]
        for task in tasks:
            said = text.get(task["role"], lambda task: SAID["confirm"])(task)
            assert run.cli("submit", run.slug, task["id"], "--json", stdin=said).code == 0
    assert batches == [12, 6]
    assert run.cli("status", run.slug, "--json").json["status"] == "confirmed"
    assert panel_of(run)["stats"]["failed"] == 2


def test_no_subtopic_is_starved_and_the_rest_is_counted(tmp_path: Path) -> None:
    """P1, P9: a crowded section leaves the others their share."""
    crowd = " ".join(
        f"Harbour number {n} silts up faster than harbour {n + 30} does [1]." for n in range(20)
    )
    body = long_report().replace(f"{SENTENCES[NAMES[0]][1]} [1].", crowd)
    script = [{"role": "claim-skeptic", "text": SAID["confirm"]}]
    run = Run(tmp_path, [*script, *answers(synthesist={"text": body})])
    run.start("--panel", "3", *SUBTOPICS)
    assert run.to_end().json["status"] == "confirmed"
    panel = panel_of(run)
    shares = Counter(item["subtopic"] for item in panel["findings"])
    assert shares == dict.fromkeys(NAMES, 4)
    assert panel["stats"]["unexamined"] == {"Moon and Sun": 19}
    assert "- Moon and Sun: 19" in run.cli("show", run.slug, "--report").out


@pytest.mark.parametrize("size", ["1", "2", "4", "6", "8"])
def test_other_sizes_are_usage_errors(tmp_path: Path, size: str) -> None:
    ended = cli("start", TOPIC, "--panel", size, "--root", str(tmp_path), "--json")
    assert ended.code == 2 and not (tmp_path / ".omh").exists()
