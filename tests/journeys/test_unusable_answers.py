"""A researcher's reply that is no finding is asked for again, never committed (E21, E23, O5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runs import NAMES, STEMS, Run, answers, finding

REFUSAL = "Sorry, I cannot help with that."


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = Run(tmp_path)
    run.start(delegate="host")
    return run


def named(subtopic: str, name: str) -> str:
    """Return the finding on `name` under another SUBTOPIC line."""
    return finding(name).replace(f"SUBTOPIC: {name}", f"SUBTOPIC: {subtopic}")


def handed(run: Run) -> dict[str, str]:
    """Return the goals of the tasks that wait, by id."""
    return {task["id"]: task["goal"] for task in run.cli("next", run.slug, "--json").json["tasks"]}


@pytest.mark.parametrize(
    "text",
    [
        REFUSAL,
        "VERDICT: PASS\nCONFIDENCE: HIGH\n",
        'Error: 429 {"error": {"message": "Rate limit reached"}}',
        "抱歉，我无法完成这个请求。",
        f"SUBTOPIC: {NAMES[1]}\nQUERIES_RUN:\n- funnel bays tides\n",
        finding(NAMES[0]),
        named("SALT MARSHES.", NAMES[2]),
    ],
    ids=[
        "refusal",
        "verdict",
        "error",
        "refusal in Chinese",
        "no section",
        "another subtopic",
        "another, upper case",
    ],
)
def test_e21_an_answer_that_is_no_finding_on_its_subtopic_is_asked_for_again(
    run: Run, text: str
) -> None:
    """E21: the others of the batch are committed, this one is handed out under a new attempt."""
    asked = handed(run)
    said = run.cli("submit", run.slug, f"search-0-{STEMS[1]}", stdin=text)
    assert said.code == 0 and "will be asked for again" in said.err, said
    for index in (0, 2):
        run.cli("submit", run.slug, f"search-0-{STEMS[index]}", stdin=finding(NAMES[index]))
    again = handed(run)
    assert list(again) == [f"search-1-{STEMS[1]}"]
    assert "not in this form" in again[f"search-1-{STEMS[1]}"]
    assert "not in this form" not in asked[f"search-0-{STEMS[1]}"]
    found = run.root / ".omh" / "research" / f"{run.slug}-findings"
    assert sorted(path.stem for path in found.iterdir()) == sorted([STEMS[0], STEMS[2]])
    run.cli("submit", run.slug, f"search-1-{STEMS[1]}", stdin=finding(NAMES[1]))
    assert list(handed(run)) == ["synthesize-0-0-report"]


def test_e21_three_refusals_end_in_an_honest_empty_block_whose_gaps_are_followed_up(
    run: Run,
) -> None:
    """E21, E23: what was never answered is a gap for the follow-up researcher."""
    for attempt in range(3):
        run.cli("submit", run.slug, f"search-{attempt}-{STEMS[0]}", stdin=REFUSAL)
        for name, stem in zip(NAMES[1:], STEMS[1:], strict=True):
            if attempt == 0:
                run.cli("submit", run.slug, f"search-0-{stem}", stdin=finding(name))
    ((task, goal),) = handed(run).items()
    assert task == "gap-check-0-followup" and "moon and sun tides" in goal
    shown = run.cli("show", run.slug, "--findings").out
    assert "SYNTHESIS: (insufficient sources for this subtopic)" in shown
    assert REFUSAL not in shown


def test_e21_a_follow_up_is_judged_like_the_others(run: Run) -> None:
    """E21, E23: a refused follow-up is asked for again, and an answer on a subtopic is taken."""
    for name, stem in zip(NAMES, STEMS, strict=True):
        run.cli("submit", run.slug, f"search-0-{stem}", stdin=finding(name, gaps="what of wind"))
    run.cli("submit", run.slug, "gap-check-0-followup", stdin=REFUSAL)
    assert list(handed(run)) == ["gap-check-1-followup"]
    run.cli("submit", run.slug, "gap-check-1-followup", stdin=finding(NAMES[0]))
    assert list(handed(run)) == ["synthesize-0-0-report"]


def test_o5_refusals_all_round_open_the_breaker(run: Run) -> None:
    """O5, complaint 10: three unusable answers over several tasks, then nothing more is asked."""
    for stem in STEMS:
        run.cli("submit", run.slug, f"search-0-{stem}", stdin=REFUSAL)
    ended = run.cli("next", run.slug, "--json")
    assert (ended.code, ended.json["blocked_reason"]) == (3, "breaker")


@pytest.mark.parametrize(
    "text",
    [
        "I read https://moon-and-sun.example/paper and it says that both bodies pull.",
        "The pull of the moon and of the sun raises the water; spring tides come when both line up.",
        named("The Moon, and the Sun too", NAMES[0]),
        named("月球与太阳", NAMES[0]),
        "SYNTHESIS: (insufficient sources for this subtopic)\nGAPS:\n- everything\n",
    ],
    ids=["links in prose", "prose", "other words", "translated", "an honest nothing"],
)
def test_e22_lenient_forms_are_still_taken(run: Run, text: str) -> None:
    """E22: prose, a subtopic in other words and an honest empty answer count."""
    run.cli("submit", run.slug, f"search-0-{STEMS[0]}", stdin=text)
    for name, stem in zip(NAMES[1:], STEMS[1:], strict=True):
        run.cli("submit", run.slug, f"search-0-{stem}", stdin=finding(name))
    assert not any(task.startswith("search-") for task in handed(run))


def test_e21_a_delegate_that_refuses_once_is_asked_once_more(tmp_path: Path) -> None:
    """E21: the same holds for a delegate that we run, and the run still ends confirmed."""
    first = {"role": "researcher", "id": f"search-0-{STEMS[0]}", "text": REFUSAL}
    run = Run(tmp_path, [first, *answers()])
    run.start()
    for _ in range(8):
        run.cli("step", run.slug)
    assert run.calls().count(f"search-0-{STEMS[0]}") == 1
    assert run.calls().count(f"search-1-{STEMS[0]}") == 1
    assert run.cli("status", run.slug, "--json").json["status"] == "confirmed"
