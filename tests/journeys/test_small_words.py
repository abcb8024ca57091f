"""Messages that were wrong, vague or missing: said rightly, once, with the way out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.journeys.test_bad_input import named, plan_text
from tests.runs import NAMES, SUBTOPICS, TOPIC, Run, answers, verdict

OTHER_SUBTOPICS = tuple(word.replace("tides", "waves") for word in SUBTOPICS)


@pytest.mark.parametrize(
    "language", ["../x", "xx-yy-zz!", "a", "de_DE", "日本", "x" * 9, "-", "d e"]
)
def test_o7_a_language_is_a_code(tmp_path: Path, language: str) -> None:
    run = Run(tmp_path)
    ended = run.cli("start", TOPIC, *run.script_options, f"--language={language}", "--json")
    assert ended.code == 2 and "language" in ended.error["message"] and not run.base.exists()
    topics = tmp_path / "t.jsonl"
    topics.write_text(json.dumps({"topic": "Waves", "language": language}) + "\n")
    ended = run.cli("batch", str(topics), *run.script_options, "--executor", "serial")
    assert "is no language" in ended.out + ended.err


@pytest.mark.parametrize("language", ["de", "zh-Hant", "pt-BR", "German", "es-419"])
def test_o7_codes_and_names_are_taken(tmp_path: Path, language: str) -> None:
    assert Run(tmp_path).start(*SUBTOPICS, "--language", language).code == 0


def test_a_draft_that_went_away_is_a_damaged_run_with_a_way_out(tmp_path: Path) -> None:
    """E3, exit code 7."""
    run = Run(tmp_path)
    run.start()
    for _ in range(3):
        run.step()
    assert run.state()["phase"] == "verify"
    run.report_path.unlink()
    ended = run.step()
    assert ended.code == 7 and ended.error["code"] == "damaged"
    assert f"clear {run.slug} --yes" in ended.error["message"]


@pytest.mark.parametrize(("names", "said"), [(2, True), (6, False)])
def test_e15_the_advice_fits_the_fault(tmp_path: Path, names: int, said: bool) -> None:
    run = Run(tmp_path)
    path = tmp_path / "plan.json"
    words = ("Waves", "Deltas", "Lagoons", "Currents", "Fjords", "Reefs")
    path.write_text(plan_text(named(*words[:names])))
    message = run.cli("start", TOPIC, "--delegate", "host", "--plan", str(path), "--json").error[
        "message"
    ]
    assert ("may be repeated" in message) is said and f"has {names}" in message


def test_e15_a_planner_is_not_told_of_options(tmp_path: Path) -> None:
    """The host's answer of two subtopics is refused by the rule alone."""
    run = Run(tmp_path)
    run.start("--require-quotes", delegate="host")
    task = run.cli("next", run.slug, "--json").json["tasks"][0]["id"]
    answer = "".join(f"- name: {n}\n  queries: [{n} a, {n} b]\n" for n in NAMES[:2])
    told = run.cli("submit", run.slug, task, "--json", stdin=answer).out
    assert "3 to 5 subtopics" in told and "--subtopic" not in told
    goal = run.cli("next", run.slug, "--json").json["tasks"][0]["goal"]
    assert "3 to 5 subtopics, this one has 2" in goal and "--subtopic" not in goal


def test_e15_a_dropped_subtopic_is_told_in_one_sentence(tmp_path: Path) -> None:
    run = Run(tmp_path)
    path = tmp_path / "plan.json"
    twins = named("Rising of the sea level", "Rising of sea level", "Deltas")
    path.write_text(plan_text(twins))
    ended = run.cli("start", TOPIC, "--delegate", "host", "--plan", str(path), "--json")
    message = ended.error["message"]
    assert "this one has 2; subtopic dropped (near duplicate): Rising of sea level. " in message


def test_s1_a_long_topic_is_told_with_its_true_length(tmp_path: Path) -> None:
    run = Run(tmp_path)
    topics = tmp_path / "topics.txt"
    topics.write_text("x" * 5_000 + "\n" + "y" * 4_000 + "\n")
    ended = run.cli("batch", str(topics), *run.script_options, *SUBTOPICS, "--executor", "serial",
                    "--json")  # fmt: skip
    told = [entry["detail"] for entry in ended.json["entries"]]
    assert "5000 characters" in told[0] and "characters" not in told[1], told


def test_e40_a_waiting_run_waits_the_second_time_too(tmp_path: Path) -> None:
    run = Run(tmp_path)
    first, second = (run.cli("start", TOPIC, "--delegate", "host", "--json").json for _ in range(2))
    assert (first["status"], first["phase"]) == ("awaiting", "decompose")
    assert (second["status"], second["phase"], second["resumed"]) == ("awaiting", "decompose", True)
    planned = Run(tmp_path / "planned")
    same = [planned.start(*SUBTOPICS, delegate="host").json for _ in range(2)]
    assert same[0]["status"] == same[1]["status"] == "active"


@pytest.mark.parametrize("blocked", [False, True])
def test_e35_a_cancel_of_an_idle_run_says_when_it_ends(tmp_path: Path, blocked: bool) -> None:
    script = answers(verifier={"text": verdict("FAIL")}) if blocked else None
    run = Run(tmp_path, script)
    run.start()
    if blocked:
        assert run.to_end().code == 3
    said = run.cli("cancel", run.slug).out
    assert "cancelling" in said and f"omh-research step {run.slug}" in said
    assert run.step().code == 4


def test_o5_no_cost_is_foretold_for_what_is_only_shown(tmp_path: Path) -> None:
    """E11: a confirmed or resumed run prints no estimate; a new one does."""
    run = Run(tmp_path)
    words = ("start", TOPIC, "--delegate", "command", "--command", "cat", *SUBTOPICS)
    assert "expected:" in run.cli(*words).err
    assert "expected:" not in run.cli(*words).err


def test_e11_a_confirmed_report_says_which_options_were_not_applied(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.start()
    run.to_end()
    (run.root / "docs").mkdir()
    for command in ("start", "run"):
        again = run.cli(command, TOPIC, *run.script_options, *SUBTOPICS, "--json")
        assert again.code == 0 and again.json["notes"] == []
        other = run.cli(
            command, TOPIC, "--corpus", str(run.root / "docs"), "--rounds", "3",
            "--language", "de", *OTHER_SUBTOPICS, "--json",
        )  # fmt: skip
        (note,) = other.json["notes"]
        assert "not applied: corpus, language, plan, rounds." in note
        assert "--if-confirmed refresh" in note and other.code == 0


def test_e14_a_blocked_run_says_how_other_options_come_in(tmp_path: Path) -> None:
    run = Run(tmp_path, answers(verifier={"text": verdict("FAIL")}))
    run.start()
    assert run.to_end().code == 3
    ended = run.cli("start", TOPIC, *run.script_options, "--rounds", "2", "--json")
    assert ended.code == 3
    (note,) = ended.json["notes"]
    assert "not applied: rounds" in note and f"omh-research clear {run.slug} --yes" in note


@pytest.mark.parametrize("data", [bytes(range(256)), b"role\x00text", b"\xff\xfe\x00a"])
def test_d5_a_role_file_that_is_no_text_is_refused_with_its_path(
    tmp_path: Path, data: bytes
) -> None:
    run = Run(tmp_path)
    folder = run.base / "roles"
    folder.mkdir(parents=True)
    (folder / "researcher.md").write_bytes(data)
    ended = run.cli("roles", "researcher", "--json")
    assert ended.code == 2 and ".omh/roles/researcher.md" in ended.error["message"]
    (folder / "researcher.md").write_text("Ein eigener Text: Größe, 潮汐.\n", "utf-8")
    assert "潮汐" in run.cli("roles", "researcher").out
