"""The scripted delegate: matching, sequences, faults, the record of calls (E20)."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from omh_research.delegates import registry
from omh_research.delegates.scripted import Script, ScriptedDelegate, ScriptedReply, read_script
from omh_research.documents.task import Brief, Reply, Task
from omh_research.errors import DelegateError, UsageError

from .tasks import MemoryLibrary, a_task, never


def scripted(*replies: ScriptedReply, calls: Path | None = None) -> ScriptedDelegate:
    return ScriptedDelegate(Script(replies=replies), calls=calls)


def test_the_first_matching_line_answers_and_names_of_the_task_are_filled_in() -> None:
    delegate = scripted(
        ScriptedReply(role="research-verifier", text="VERDICT: PASS"),
        ScriptedReply(role="researcher", subtopic="Elbe", text="other"),
        ScriptedReply(goal_contains="Rhine", text="SUBTOPIC: {{subtopic}} of {{topic}}"),
    )
    assert delegate.answer(a_task(), None, never).text == "SUBTOPIC: Rhine of European rivers"
    assert delegate.answer(a_task("research-verifier"), None, never).text == "VERDICT: PASS"
    with pytest.raises(DelegateError, match=r"no reply for the task t-9 \(planner\)"):
        delegate.answer(a_task("planner", id="t-9", goal="Plan."), None, never)


def test_a_sequence_answers_by_attempt_and_its_last_text_repeats() -> None:
    delegate = scripted(ScriptedReply(sequence=("VERDICT: FAIL", "VERDICT: PASS")))
    said = [
        delegate.answer(a_task(brief=Brief(topic="t", slug="s", attempt=n)), None, never).text
        for n in (0, 1, 2, 0)
    ]
    assert said == ["VERDICT: FAIL", "VERDICT: PASS", "VERDICT: PASS", "VERDICT: FAIL"]


def test_every_call_is_written_down_also_by_several_threads_and_processes(tmp_path: Path) -> None:
    """E20: a crash test counts the lines of one task id."""
    calls = tmp_path / "calls.txt"
    threads = [
        threading.Thread(
            target=scripted(ScriptedReply(text="x"), calls=calls).answer,
            args=(a_task(id=f"t-{n}"), None, never),
        )
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = calls.read_text("utf-8").splitlines()
    assert sorted(lines) == [f"t-{n} researcher" for n in range(8)]


def test_a_fault_limited_to_one_call_is_over_in_the_next_process(tmp_path: Path) -> None:
    calls = tmp_path / "calls.txt"
    line = ScriptedReply(fault="fail", times=1, text="well", reason="no luck")
    with pytest.raises(DelegateError, match="no luck"):
        scripted(line, calls=calls).answer(a_task(), None, never)
    assert scripted(line, calls=calls).answer(a_task(), None, never).text == "well"
    with pytest.raises(DelegateError, match="no luck"):  # another task has its own count
        scripted(line, calls=calls).answer(a_task(id="t-11"), None, never)


def test_each_fault_is_what_its_name_says() -> None:
    assert scripted(ScriptedReply(fault="empty", text="x")).answer(a_task(), None, never).text == ""
    endless = scripted(ScriptedReply(fault="endless", size=100_001)).answer(a_task(), None, never)
    assert len(endless.text) == 100_001
    slow = scripted(ScriptedReply(fault="sleep", seconds=0.05, text="late"))
    assert slow.answer(a_task(), None, never).text == "late"
    deaf = scripted(ScriptedReply(fault="deaf", seconds=0.05, text="late"))
    assert deaf.answer(a_task(), None, lambda: True).text == "late"


def test_a_hanging_reply_ends_when_the_run_is_stopped() -> None:
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    with pytest.raises(DelegateError, match="hung until it was stopped"):
        scripted(ScriptedReply(fault="hang")).answer(a_task(), None, stop.is_set)


def test_searches_and_reads_go_through_the_library() -> None:
    library = MemoryLibrary()
    url = "https://rivers.example/rhine"
    delegate = scripted(ScriptedReply(searches=("Rhine",), reads=(url,), text="x"))
    assert delegate.needs_library
    delegate.answer(a_task(), library, never)
    assert (library.searched, library.was_read) == (["Rhine"], [url])
    with pytest.raises(DelegateError, match="no library"):
        delegate.answer(a_task(), None, never)


def test_a_callable_answers_with_text_or_with_a_whole_reply() -> None:
    def think(task: Task) -> str | Reply:
        if task.role == "planner":
            return Reply(task_id=task.id, status="failed", reason="cannot")
        return task.brief.subtopic

    delegate = ScriptedDelegate(think)
    assert delegate.answer(a_task(), None, never).text == "Rhine"
    assert delegate.answer(a_task("planner"), None, never).status == "failed"


def test_a_script_file_is_yaml_or_json_and_a_wrong_one_is_named(tmp_path: Path) -> None:
    yaml = tmp_path / "script.yaml"
    yaml.write_text(
        "replies:\n- role: researcher\n  text: |\n    SUBTOPIC: 莱茵河\n  fault: sleep\n", "utf-8"
    )
    assert read_script(yaml).replies[0].text == "SUBTOPIC: 莱茵河\n"
    plain = tmp_path / "script.json"
    plain.write_text(json.dumps({"replies": [{"text": "hi"}]}), "utf-8")
    made = registry.make("scripted", {"script": str(plain)})
    assert made.answer(a_task(), None, never).text == "hi"
    for text in ("replies: 3", "replies:\n- rolle: x", "replies:\n- fault: melt", "a: [", "\x00"):
        yaml.write_text(text, "utf-8")
        with pytest.raises(UsageError, match=r"script\.yaml is wrong"):
            read_script(yaml)
    with pytest.raises(UsageError, match="cannot be read"):
        read_script(tmp_path / "absent.yaml")


def test_the_environment_reaches_a_run_started_by_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "s.yaml"
    script.write_text("replies:\n- text: from the environment\n", "utf-8")
    monkeypatch.setenv("OMH_SCRIPT", str(script))
    monkeypatch.setenv("OMH_SCRIPT_CALLS", str(tmp_path / "calls"))
    delegate = registry.make("scripted")
    assert delegate.answer(a_task(), None, never).text == "from the environment"
    assert (tmp_path / "calls").read_text("utf-8") == "t-1 researcher\n"
