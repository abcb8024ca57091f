"""A host drives a run with next and submit, each call an invocation of its own (D2, E38, E39)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from omh_research.documents.task import Reply
from omh_research.project import Project
from omh_research.settings import Settings
from omh_research.store.mailbox import Mailbox
from tests.runs import CLAIMS, NAMES, STEMS, SUBTOPICS, TOPIC, URLS, Run, finding, report, verdict


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = Run(tmp_path)
    started = run.start(delegate="host")
    assert started.json == {
        **started.json, "ok": True, "phase": "search", "status": "active", "resumed": False,
        "report": None,
    }  # fmt: skip
    return run


def tasks(run: Run) -> list[dict[str, Any]]:
    ended = run.cli("next", run.slug, "--json")
    assert (ended.code, ended.json["status"]) == (0, "awaiting"), ended
    found = ended.json["tasks"]
    assert found, "never awaiting with no tasks"
    return list(found)


def submit(run: Run, task: str, text: str, *more: str) -> Any:
    return run.cli("submit", run.slug, task, "--json", *more, stdin=text)


def search_all(run: Run) -> None:
    for name, stem in zip(NAMES, STEMS, strict=True):
        assert submit(run, f"search-0-{stem}", finding(name)).code == 0


def test_a_host_goes_from_tasks_to_a_confirmed_report(run: Run) -> None:
    """E17, E24, E27, E38, E39: whole prompts out, answers in, one commit a submission at most."""
    handed = tasks(run)
    assert [task["id"] for task in handed] == [f"search-0-{stem}" for stem in STEMS]
    for task, name in zip(handed, NAMES, strict=True):
        assert set(task) == {"id", "role", "goal", "context", "tools"}
        assert task["goal"].startswith("[omh-role:researcher]")
        assert TOPIC in task["goal"] and name in task["goal"] and "SOURCES:" in task["goal"]
        assert f"{name.lower()} tides" in task["goal"], "its exact queries"
        others = [other for other in NAMES if other != name]
        assert not any(other in task["context"] for other in others), "nothing of the others"
        assert task["tools"] == ["web_search", "web_extract"]
    assert tasks(run) == handed, "the same ones until they are answered"
    for left, (name, stem) in zip((2, 1, 0), zip(NAMES, STEMS, strict=True), strict=True):
        stored = submit(run, f"search-0-{stem}", finding(name)).json
        assert (stored["stored"], stored["waiting"]) == (True, left)
        assert stored["phase"] == ("search" if left else "gap_check")
    (task,) = tasks(run)
    assert task["role"] == "research-synthesist" and task["tools"] == []
    assert task["context"].startswith("---\nstatus: planning\ntopic:")
    assert "the report alone, no words or code fence around it" in task["goal"]
    for name in NAMES:
        assert name in task["goal"] and finding(name).split("\n")[4] in task["context"]
    assert submit(run, task["id"], report()).json["phase"] == "verify"
    (task,) = tasks(run)
    assert task["role"] == "research-verifier" and task["tools"] == []
    assert "# Tides and coasts" in task["context"] and run.slug in task["goal"]
    ended = submit(run, task["id"], verdict())
    assert (ended.code, ended.json["phase"], ended.json["status"]) == (0, "confirmed", "confirmed")
    last = run.cli("next", run.slug, "--json")
    assert (last.code, last.json["status"], last.json["tasks"]) == (0, "confirmed", [])
    assert run.cli("audit", run.slug).code == 0


def test_e32_a_verifier_that_was_not_understood_is_told_so(run: Run) -> None:
    search_all(run)
    submit(run, tasks(run)[0]["id"], report())
    (first,) = tasks(run)
    assert "could not be read" not in first["goal"]
    assert submit(run, first["id"], "It looks fine to me.").json["phase"] == "verify"
    (again,) = tasks(run)
    assert again["id"] != first["id"] and "could not be read as a verdict" in again["goal"]
    assert submit(run, again["id"], verdict()).json["phase"] == "confirmed"


def test_each_call_may_be_another_process_and_answers_come_in_any_order(run: Run) -> None:
    """E20, D2."""
    for stem, name in reversed(list(zip(STEMS, NAMES, strict=True))):
        ended = run.child("submit", run.slug, f"search-0-{stem}", "--json", stdin=finding(name))
        assert ended.code == 0, ended.err
    assert run.child("next", run.slug, "--json").json["tasks"][0]["role"] == "research-synthesist"


def test_a_step_that_waits_for_its_host_exits_5(run: Run) -> None:
    ended = run.step()
    assert (ended.code, ended.json["waiting"]) == (5, 3)
    assert run.cli("run", TOPIC, "--delegate", "host").code == 5


def test_a_file_a_failure_and_sources(run: Run, tmp_path: Path) -> None:
    """E39: `--file`, `--failed`; D2: `--sources` are held and count as read."""
    answer, pages = tmp_path / "a.md", tmp_path / "pages.jsonl"
    answer.write_text("\ufeff" + finding(NAMES[0]), encoding="utf-8")
    page = {"url": "https://moon-and-sun.example/paper", "text": "Spring tides come."}
    pages.write_text(json.dumps(page) + "\n\n")
    ended = run.cli(
        "submit", run.slug, "search-0-moon-and-sun", "--file", str(answer), "--sources", str(pages)
    )
    assert ended.code == 0, ended
    (held,) = (run.base / "research" / f"{run.slug}-evidence" / "texts").iterdir()
    assert held.read_text() == "Spring tides come."
    failed = submit(run, "search-0-funnel-bays", "", "--failed", "rate\nlimited")
    assert failed.json["waiting"] == 1
    done = submit(run, "search-0-salt-marshes", finding(NAMES[2]))
    assert done.json["phase"] == "search" and "rate limited" in done.json["notes"][0]
    assert [task["id"] for task in tasks(run)] == ["search-1-funnel-bays"], "asked again (E21)"


def page_file(folder: Path, *pages: tuple[str, str]) -> str:
    """Write a file for `--sources`."""
    path = folder / "pages.jsonl"
    path.write_text("".join(json.dumps({"url": u, "text": t}) + "\n" for u, t in pages))
    return str(path)


def test_sources_may_follow_their_answer_until_its_batch_is_committed(
    run: Run, tmp_path: Path
) -> None:
    """D2: the same text again, now with its pages: they are kept, and the report counts them."""
    first = submit(run, "search-0-moon-and-sun", finding(NAMES[0]))
    assert (first.json["stored"], first.json["notes"]) == (True, [])
    page = (URLS[NAMES[0]], f"{CLAIMS[NAMES[0]]}, says the paper.")
    pages = page_file(tmp_path, page, page)
    late = submit(run, "search-0-moon-and-sun", finding(NAMES[0]), "--sources", pages)
    assert (late.code, late.json["stored"], late.json["waiting"]) == (0, False, 2)
    (note,) = late.json["notes"]
    assert note.startswith("sources: 1 kept, 1 held before")
    again = submit(run, "search-0-moon-and-sun", finding(NAMES[0]), "--sources", pages)
    assert again.code == 0 and again.json["notes"][0].startswith("sources: 0 kept, 2 held before")
    (held,) = (run.base / "research" / f"{run.slug}-evidence" / "texts").iterdir()
    assert held.read_text() == page[1]
    search_all(run)
    assert submit(run, tasks(run)[0]["id"], report()).code == 0
    assert "sources_fetched: 1\nsources_declared: 2" in run.report_path.read_text("utf-8")
    assert submit(run, tasks(run)[0]["id"], verdict()).json["status"] == "confirmed"
    assert run.cli("audit", run.slug).code == 0


def test_new_sources_for_a_committed_answer_are_refused_and_nothing_is_kept(
    run: Run, tmp_path: Path
) -> None:
    """D2: the evidence rows are made when the batch is committed; known sources stay quiet."""
    known = (URLS[NAMES[0]], "A paper on the Moon.")
    pages = page_file(tmp_path, known)
    assert submit(run, "search-0-moon-and-sun", finding(NAMES[0]), "--sources", pages).code == 0
    search_all(run)
    before = run.files()
    quiet = submit(run, "search-0-moon-and-sun", finding(NAMES[0]), "--sources", pages)
    assert (quiet.code, quiet.json["stored"]) == (0, False)
    pages = page_file(tmp_path, known, ("https://late.example/page", "Too late."))
    late = submit(run, "search-0-moon-and-sun", finding(NAMES[0]), "--sources", pages)
    assert late.code == 2 and "1 new" in late.error["message"]
    assert run.files() == before


@pytest.mark.parametrize(
    "line", ["nonsense", "{}", '{"url": "x"}', '{"url": 1, "text": "a"}', "[]"]
)
def test_bad_sources_are_named_by_line_and_nothing_is_stored(
    run: Run, tmp_path: Path, line: str
) -> None:
    pages = tmp_path / "pages.jsonl"
    pages.write_text('{"url": "https://a.example", "text": "t"}\n' + line + "\n")
    ended = submit(run, "search-0-moon-and-sun", finding(NAMES[0]), "--sources", str(pages))
    assert ended.code == 2 and "line 2" in ended.error["message"]
    assert len(tasks(run)) == 3


@pytest.mark.parametrize(
    "task",
    ["search-0-unknown", "search-1-moon-and-sun", "verify-0-0-report", "../../x", "", "a/b", "A"],
)
def test_an_unknown_task_is_refused_and_nothing_is_stored(run: Run, task: str) -> None:
    """E39, E7."""
    before = run.files()
    ended = submit(run, task, "some text")
    assert ended.code == 2 and ended.out == ""
    assert run.files() == before


def test_the_same_text_twice_is_quiet_another_is_refused(run: Run) -> None:
    """E39, D2: idempotent; a finished task keeps its answer."""
    first = submit(run, "search-0-moon-and-sun", finding(NAMES[0]))
    again = submit(run, "search-0-moon-and-sun", finding(NAMES[0]))
    assert (first.json["stored"], again.code, again.json["stored"]) == (True, 0, False)
    other = submit(run, "search-0-moon-and-sun", "another text")
    assert other.code == 2 and "finished" in other.error["message"]
    search_all(run)
    late = submit(run, "search-0-moon-and-sun", finding(NAMES[0]))
    assert (late.code, late.json["stored"]) == (0, False), "also when the batch is committed"


def test_a_last_answer_that_was_stored_but_not_committed_is_committed_when_it_comes_again(
    run: Run,
) -> None:
    """E39, E20: killed between storing and the commit, the host hands the same answer in again."""
    for name, stem in zip(NAMES[:2], STEMS[:2], strict=True):
        submit(run, f"search-0-{stem}", finding(name))
    last = f"search-0-{STEMS[2]}"
    project = Project(Settings(root=str(run.root)))
    Mailbox(project.layout, run.slug).put(Reply(last, text=finding(NAMES[2])))
    again = submit(run, last, finding(NAMES[2]))
    assert (again.code, again.json["stored"], again.json["waiting"]) == (0, False, 0)
    assert again.json["phase"] == "gap_check" == run.state()["phase"]
    assert run.words().count("BATCH_COMPLETE") == 1
    late = submit(run, last, finding(NAMES[2]))
    assert (late.code, late.json["phase"]) == (0, "gap_check"), "no other phase is started"
    assert run.words().count("GAP_CHECK_COMPLETE") == 0


@pytest.mark.parametrize(
    ("text", "word"),
    [("", "empty"), ("  \n\t", "empty"), ("x" * 2_000_001, "2000000"),
     (finding(NAMES[0]) + "[SUMMARY TRUNCATED: full text in /tmp/x]", "cut")],
)  # fmt: skip
def test_an_empty_huge_or_cut_answer_is_refused(run: Run, text: str, word: str) -> None:
    """E39: nothing is stored, the advice is said."""
    ended = submit(run, "search-0-moon-and-sun", text)
    assert ended.code == 2 and word in ended.error["message"]
    assert len(tasks(run)) == 3


def test_bytes_that_are_no_text_are_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"\xff\xfe\x00broken")
    ended = submit(run, "search-0-moon-and-sun", "", "--file", str(path))
    assert ended.code == 2 and "UTF-8" in ended.error["message"]
    missing = submit(run, "search-0-moon-and-sun", "", "--file", str(tmp_path / "none"))
    assert missing.code == 2


def test_an_answer_to_an_ended_run_is_refused(run: Run) -> None:
    """E39: cancelled 4, confirmed 2, never there or cleared 7."""
    assert run.cli("cancel", run.slug).code == 0
    cancelled = submit(run, "search-0-moon-and-sun", finding(NAMES[0]))
    assert cancelled.code == 4 and "cancelled" in cancelled.error["message"]
    assert submit(run, "search-0-moon-and-sun", finding(NAMES[0])).code == 4, "and ever after"
    unknown = run.cli("submit", "nothing-20261130-abcd", "search-0-a", stdin="x")
    assert unknown.code == 7
    fresh = Run(run.folder / "fresh")
    fresh.start(delegate="host")
    search_all(fresh)
    for text in (report(), verdict()):
        (task,) = tasks(fresh)
        submit(fresh, task["id"], text)
    late = submit(fresh, "search-0-moon-and-sun", "another text")
    assert late.code == 2 and "confirmed" in late.error["message"]


def test_a_submission_that_blocks_exits_3(run: Run) -> None:
    """E31, E39."""
    search_all(run)
    codes = []
    for _ in range(4):
        for text in (report(), verdict("FAIL", "no")):
            (task,) = tasks(run)
            codes.append(submit(run, task["id"], text).code)
    assert codes == [0] * 7 + [3]
    ended = run.cli("next", run.slug, "--json")
    assert (ended.code, ended.json["status"], ended.json["tasks"]) == (3, "blocked", [])
    refused = submit(run, "verify-0-0-report", verdict())
    assert refused.code == 2


def test_a_failing_gate_hands_out_no_verifier_task(run: Run) -> None:
    """E28, E38: `next` commits the failure and hands out the next draft."""
    search_all(run)
    (task,) = tasks(run)
    submit(run, task["id"], report().replace("[2].", "[9]."))
    (task,) = tasks(run)
    assert task["id"] == "synthesize-1-0-report"
    assert "Address these prior verifier findings:" in task["goal"]


def test_next_without_a_slug(run: Run) -> None:
    """E38: the only active run, else exit 2 naming them."""
    assert run.cli("next", "--json").json["slug"] == run.slug
    other = run.cli("start", "Another question", "--delegate", "host", *SUBTOPICS, "--json").json
    ended = run.cli("next", "--json")
    assert ended.code == 2
    assert run.slug in ended.error["message"] and other["slug"] in ended.error["message"]
    empty = Run(run.folder / "empty")
    assert empty.cli("next", "--json").code == 2


def test_a_host_without_a_plan_is_handed_a_planner_task(tmp_path: Path) -> None:
    """E40, E15."""
    run = Run(tmp_path)
    ended = run.cli("start", TOPIC, "--delegate", "host", "--json")
    assert (ended.code, ended.json["status"], ended.json["phase"]) == (0, "awaiting", "decompose")
    run.slug = ended.json["slug"]
    (task,) = tasks(run)
    assert task["role"] == "planner" and task["goal"].startswith("[omh-role:planner]")
    bad = submit(run, task["id"], "- name: one\n  queries: [a, b]")
    assert bad.code == 0 and "could not be used" in bad.json["notes"][0]
    (task,) = tasks(run)
    assert task["id"] == "decompose-1-planner" and "could not be used" in task["goal"]
    plan = "\n".join(f"- name: {name}\n  queries: [{name} a, {name} b]" for name in NAMES)
    assert submit(run, task["id"], plan).json["phase"] == "search"


@pytest.mark.parametrize(
    ("tools", "code"),
    [("web_search,web_extract", 0), ("web_search", 0), ("web_extract", 0), ("", 8), ("shell", 8)],
)
def test_a_host_that_declares_no_web_tool_fails_fast(tmp_path: Path, tools: str, code: int) -> None:
    """E36: the seed's exact line on stderr, exit 8, before any file is written."""
    run = Run(tmp_path)
    ended = run.cli("start", TOPIC, "--delegate", "host", "--host-tools", tools)
    assert ended.code == code
    if code:
        line = "omh-deep-research requires the `web` toolset (web_search + web_extract); aborting."
        assert line in ended.err and not run.base.exists()


def test_a_submission_sets_no_other_delegate_to_work(tmp_path: Path) -> None:
    """E39: a run whose delegate we run ourselves has no task for a host."""
    run = Run(tmp_path)
    run.start()
    ended = submit(run, "search-0-moon-and-sun", finding(NAMES[0]))
    assert ended.code == 2 and run.calls() == []


def test_a_deadline_for_the_host_is_a_failed_task(tmp_path: Path) -> None:
    """E39, O4: unanswered at its deadline; the run goes on without it."""
    run = Run(tmp_path)
    run.start(delegate="host")
    (run.base / "config.yaml").write_text("host_timeout_s: 3600\n")
    assert len(tasks(run)) == 3
    submit(run, "search-0-moon-and-sun", finding(NAMES[0]))
    state = run.state()
    state["_meta"]["written_at"] = "2020-01-01T00:00:00Z"
    run.state_path.write_text(json.dumps(state))
    ended = run.cli("next", run.slug, "--json")
    assert ended.json["notes"] and "deadline" in " ".join(ended.json["notes"])
    assert run.state()["completed_subtopics"] == [NAMES[0]]


def test_e22_what_a_stored_answer_lacks_is_said_to_its_writer(run: Run) -> None:
    """E22: any text is stored; one about another subtopic, or in no template, is not silently so."""
    tasks(run)
    first, second, third = (f"search-0-{stem}" for stem in STEMS)
    fine = submit(run, first, finding(NAMES[0])).json
    assert fine["stored"] and fine["notes"] == []
    other = submit(run, second, finding(NAMES[0])).json
    (note,) = other["notes"]
    assert other["stored"] and NAMES[0] in note and NAMES[1] in note
    bare = submit(run, third, "I could not do it, sorry.").json
    assert bare["stored"] and any("not a findings block" in note for note in bare["notes"])
