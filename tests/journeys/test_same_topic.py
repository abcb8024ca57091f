"""A topic is one run: resumed, shown, refreshed, adopted; other topics run beside it (E8-E14)."""

from __future__ import annotations

from pathlib import Path

import pytest

from omh_research import Engine
from omh_research.documents.options import RunOptions
from tests.runs import NAMES, SUBTOPICS, TOPIC, URLS, Run, answers, cli, finding, report


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = Run(tmp_path)
    run.start()
    return run


@pytest.fixture
def done(run: Run) -> Run:
    assert run.to_end().json["status"] == "confirmed"
    return run


@pytest.mark.parametrize(
    "topic",
    [
        TOPIC,
        "how do tides shape coasts",
        "  HOW DO\tTIDES  shape coasts?! ",
        "Ｈow do tides shape coasts",
    ],
)
def test_the_same_topic_resumes_its_run_and_does_no_work(run: Run, topic: str) -> None:
    """E10, E40."""
    run.step()
    before, calls = run.state(), run.calls()
    ended = run.start(topic=topic)
    assert ended.code == 0 and ended.json["resumed"] is True
    assert (ended.json["slug"], ended.json["phase"]) == (before["slug"], "gap_check")
    assert run.state() == before and run.calls() == calls


def test_options_that_differ_are_named_and_not_applied(run: Run) -> None:
    """E40."""
    before = run.state()
    ended = run.cli("start", TOPIC, "--delegate", "host", "--language", "de", "--json")
    (note,) = ended.json["notes"]
    assert "not applied" in note and "delegate" in note and "language" in note
    assert run.state() == before


def test_a_near_topic_is_only_mentioned(run: Run) -> None:
    """E10."""
    ended = run.cli(
        "start", "How do the tides shape coasts?", *run.script_options, *SUBTOPICS, "--json"
    )
    assert ended.code == 0 and ended.json["slug"] != run.slug
    assert any(run.slug in note for note in ended.json["notes"])


def test_different_topics_run_side_by_side(run: Run) -> None:
    """E12: and none is blocked by another."""
    slugs = [run.slug]
    for n in range(3):
        topic = f"Question number {n} about rivers and lakes"
        slugs.append(
            run.cli("start", topic, *run.script_options, *SUBTOPICS, "--json").json["slug"]
        )
    assert len(set(slugs)) == 4
    listed = run.cli("status", "--json").json["runs"]
    assert sorted(row["slug"] for row in listed) == sorted(slugs)
    for slug in slugs:
        assert run.cli("step", slug).code == 0


def test_the_same_topic_twice_a_day_never_reuses_a_slug(done: Run) -> None:
    """E5."""
    slugs = {done.slug}
    for _ in range(3):
        ended = done.cli(
            "start", TOPIC, *done.script_options, *SUBTOPICS, "--if-confirmed", "refresh", "--json"
        )
        slugs.add(ended.json["slug"])
        done.cli("clear", ended.json["slug"], "--yes")
    assert len(slugs) == 4


def test_a_slug_that_is_taken_is_drawn_again(tmp_path: Path) -> None:
    """E5: four hex digits may come twice."""
    drawn = iter(["aaaa", "aaaa", "aaaa", "bbbb"])
    engine = Engine(str(tmp_path), rand=lambda digits: "0" * 32 if digits == 32 else next(drawn))
    options = RunOptions(subtopics=tuple((name, (name, f"{name} b")) for name in NAMES))
    first = engine.start("Tides", delegate="host", options=options)
    second = engine.start("Moons", delegate="host", options=options)
    assert first.slug.endswith("aaaa") and second.slug.endswith("aaaa")
    engine.clear(second.slug)
    third = engine.start("Moons!", delegate="host", options=options, if_confirmed="refresh")
    assert third.slug.startswith("moons-") and third.slug.endswith("bbbb")


@pytest.mark.parametrize("choice", ["view", "cancel", None])
def test_a_confirmed_topic_is_shown_not_done_again(done: Run, choice: str | None) -> None:
    """E11: default view: print its path, exit 0, do no work."""
    files, calls = done.files(), done.calls()
    more = ["--if-confirmed", choice] if choice else []
    ended = done.cli("start", TOPIC, *done.script_options, *SUBTOPICS, *more, "--json")
    assert (ended.code, ended.json["status"]) == (0, "confirmed")
    assert ended.json["report"] == f".omh/research/{done.slug}-report.md"
    plain = done.cli("start", TOPIC, *done.script_options, *SUBTOPICS, *more)
    assert plain.out.strip() == f".omh/research/{done.slug}-report.md"
    assert (done.files(), done.calls()) == (files, calls)


def test_a_refresh_is_a_new_run_and_the_old_report_stays(done: Run) -> None:
    """E11."""
    old = done.report_path.read_bytes()
    ended = done.cli(
        "start", TOPIC, *done.script_options, *SUBTOPICS, "--if-confirmed", "refresh", "--json"
    )
    assert ended.json["slug"] != done.slug and ended.json["phase"] == "search"
    assert done.report_path.read_bytes() == old
    assert done.cli("audit", done.slug).code == 0


def test_on_a_terminal_the_user_is_asked(done: Run) -> None:
    """E11: three choices; asked with the report's path."""
    asked: list[str] = []
    engine = Engine(str(done.root))
    options = RunOptions(subtopics=tuple((name, (name, f"{name} b")) for name in NAMES))
    for choice, fresh in (("view", False), ("cancel", False), ("refresh", True)):

        def answer(path: str, choice: str = choice) -> str:
            asked.append(path)
            return choice

        started = engine.start(TOPIC, delegate="host", options=options, ask_user=answer)
        assert (started.slug != done.slug) is fresh
    assert asked == [f".omh/research/{done.slug}-report.md"] * 3


def test_a_run_stopped_between_confirming_and_clearing_is_finished(done: Run) -> None:
    """E9: by whichever command comes first; downstream sees confirmed all the while."""
    state = b'{"phase": "verify", "slug": "%s", "topic": "t", "session_id": "%s", "step": 5}'
    session = (next((done.base / "logs").iterdir()).name)[len("research-") : -len(".log")]
    for command in (
        ("step", done.slug),
        ("next", done.slug),
        ("start", "Another question", *SUBTOPICS, *done.script_options),
    ):
        done.state_path.write_bytes(state % (done.slug.encode(), session.encode()))
        assert done.cli("wait", done.slug, "--timeout", "0").code == 0
        ended = done.cli(*command, "--json")
        assert ended.code == 0 and "on record" not in ended.out, ended
        assert not done.state_path.exists()
    words = done.words()
    assert words[-1] == "REPORT_CONFIRMED_RECOVERED" and words.count("REPORT_CONFIRMED") == 1
    assert done.cli("audit", done.slug).code == 0


def test_a_plan_without_a_state_is_adopted_with_its_name(run: Run) -> None:
    """E13: same slug, same session; answers that had come are not asked for again."""
    session = run.state()["session_id"]
    run.step()
    calls = run.calls()
    run.state_path.unlink()
    plan = (run.base / "research" / f"{run.slug}-plan.md").read_bytes()
    ended = run.cli("start", TOPIC, *run.script_options, "--json")
    assert (ended.json["slug"], ended.json["resumed"]) == (run.slug, True)
    assert (run.base / "research" / f"{run.slug}-plan.md").read_bytes() == plan
    assert run.state()["session_id"] == session
    assert run.to_end().json["status"] == "confirmed"
    assert run.calls()[: len(calls)] == calls
    assert len(run.calls()) == len(set(run.calls())), "zero respend"


def test_a_damaged_state_moved_aside_costs_no_answer(run: Run) -> None:
    """E3, E13: the replies of a run whose state was lost are found again."""
    run.step()
    calls = run.calls()
    run.state_path.write_bytes(b"\0" * 200)
    assert run.step().code == 7
    assert run.cli("status", run.slug, "--json").code == 7
    assert run.cli("recover", "--json").json["runs"][0]["done"] == ""
    assert run.state_path.read_bytes() == b"\0" * 200, "never moved without being told"
    moved = run.cli("recover", "--move-damaged", "--json").json["runs"][0]
    assert moved["done"].endswith(".corrupt-1") and not run.state_path.exists()
    run.cli("recover")
    assert run.start().json["slug"] == run.slug
    assert run.to_end().json["status"] == "confirmed"
    assert run.calls()[: len(calls)] == calls and len(run.calls()) == len(set(run.calls()))


def test_a_newer_state_is_never_touched(run: Run) -> None:
    """E4: exit 7, the version is named; not moved aside, not overwritten, not cleared by recover."""
    run.change_state(state_version=7)
    data = run.state_path.read_bytes()
    for command in (("step", run.slug), ("next", run.slug), ("retry", run.slug)):
        ended = run.cli(*command, "--json")
        assert ended.code == 7 and "7" in ended.error["message"]
    run.cli("recover", "--move-damaged")
    run.cli("start", "Another question altogether", *run.script_options, *SUBTOPICS)
    assert run.state_path.read_bytes() == data
    assert not list(run.state_path.parent.glob("*.corrupt*"))


def test_another_program_may_write_between_our_steps(run: Run) -> None:
    """E2: unknown fields kept, our fields left out are filled from the plan, no step refused."""
    run.step()
    plain = run.state()
    kept = {key: plain[key] for key in ("phase", "slug", "topic", "subtopic_count", "completed_subtopics",
                                        "started_at", "session_id", "synthesis_attempts")}  # fmt: skip
    import json

    foreign = {
        **kept,
        "omh_mode": "research",
        "_meta": {"written_by": "omh-plugin", "mode": "research", "schema_version": 1},
    }
    run.state_path.write_text(json.dumps(foreign))
    run.set_script(answers())
    ended = run.cli("step", run.slug, "--json")
    assert ended.code == 0 and run.state()["omh_mode"] == "research"
    events = run.cli("log", run.slug, "--json").json["events"]
    assert [event["step"] for event in events] == sorted(event["step"] for event in events)
    assert len(events) == len({(event["event"], event["step"]) for event in events})


def test_a_run_begun_by_the_seeds_skill_is_carried_on(tmp_path: Path) -> None:
    """E2: plan and state as the seed's text writes them; a host takes over."""
    run = Run(tmp_path)
    run.slug = "tides-and-coasts-20261130-ab12"
    research = run.base / "research"
    research.mkdir(parents=True)
    lines = "".join(f"  - name: {name}\n    queries: [{name} a, {name} b]\n" for name in NAMES)
    (research / f"{run.slug}-plan.md").write_text(
        f"---\nstatus: planning\ntopic: {TOPIC}\nslug: {run.slug}\nsubtopics:\n{lines}---\n"
    )
    run.state_path.parent.mkdir(parents=True)
    run.state_path.write_text(
        f'{{"phase": "search", "slug": "{run.slug}", "topic": "{TOPIC}", "subtopic_count": 3,'
        '"completed_subtopics": [], "started_at": "2026-11-30T08:00:00Z", "session_id": "s-1",'
        '"synthesis_attempts": 0, "active": true, "_meta": {"written_by": "omh-plugin"}}'
    )
    tasks = run.cli("next", run.slug, "--json").json["tasks"]
    assert len(tasks) == 3
    for task, name in zip(tasks, NAMES, strict=True):
        assert name in task["goal"] and URLS
        assert run.cli("submit", run.slug, task["id"], stdin=finding(name)).code == 0
    (task,) = run.cli("next", run.slug, "--json").json["tasks"]
    run.cli("submit", run.slug, task["id"], stdin=report())
    assert run.state()["phase"] == "verify"


def test_e10_e36_a_known_topic_is_resumed_or_shown_without_asking_for_sources_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E10, E11, E36: what this call could not do is not asked of a run that it only resumes."""
    corpus = tmp_path / "notes"
    corpus.mkdir()
    (corpus / "tides.md").write_text(
        "Tides are caused by the Moon. Spring tides come at new moon and full moon.\n"
        "The tidal range is largest in funnel bays, where the water has to rise.\n", "utf-8"
    )  # fmt: skip
    monkeypatch.setenv("OMH_OFFLINE", "1")
    new = cli("start", "What causes tides?", "--root", str(tmp_path), "--json")
    assert new.code == 8 and not (tmp_path / ".omh").exists(), "a new one needs its sources"
    first = cli(
        "start", "What causes tides?", "--corpus", str(corpus), "--root", str(tmp_path), "--json"
    )
    assert first.code == 0, first.err
    again = cli("start", "What causes tides?", "--root", str(tmp_path), "--json")
    assert (again.code, again.json["resumed"], again.json["slug"]) == (0, True, first.json["slug"])
    ended = cli("run", "What causes tides?", "--root", str(tmp_path), "--json")
    assert (ended.code, ended.json["status"]) == (0, "confirmed"), ended
    shown = cli("run", "What causes tides?", "--root", str(tmp_path), "--json")
    assert shown.code == 0
    anew = cli("run", "What causes tides?", "--if-confirmed", "refresh", "--root", str(tmp_path),
               "--json")  # fmt: skip
    assert anew.code == 8


def test_p1_a_delegate_that_only_quotes_is_not_asked_to_vote(tmp_path: Path) -> None:
    """Said at once and not after three rounds of votes that cannot be given."""
    (tmp_path / "notes").mkdir()
    ended = cli("start", "What causes tides?", "--panel", "3", "--corpus", str(tmp_path / "notes"),
                "--root", str(tmp_path), "--json")  # fmt: skip
    assert ended.code == 2 and "judges claims" in ended.error["message"]
    assert not (tmp_path / ".omh").exists()
