"""JSON Schemas: current, shipped, and what a real run writes validates (E3)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from omh_research.documents.finding_file import render_finding
from omh_research.documents.plan import Subtopic
from omh_research.documents.plan_file import Plan, render_plan
from omh_research.documents.state import State, render_state
from omh_research.documents.task import Reply
from omh_research.resources import resource_names, resource_text
from omh_research.schemas import KINDS, make_schema
from tests.runs import NAMES, Run, answers, finding, report, verdict

FOLDER = Path(__file__).resolve().parent.parent / "state_schema"


def validator(kind: str) -> jsonschema.Draft202012Validator:
    schema = json.loads((FOLDER / f"{kind}.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def head(path: Path) -> Any:
    """Return the frontmatter as any YAML reader sees it."""
    return yaml.safe_load(path.read_text("utf-8").split("\n---\n")[0])


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_schema_file_is_current_and_says_what_it_is(kind: str) -> None:
    """E3: run scripts/make_schemas.py after changing a type."""
    held = json.loads((FOLDER / f"{kind}.schema.json").read_text("utf-8"))
    assert held == json.loads(json.dumps(make_schema(kind)))
    assert held["$id"] == f"urn:omh-research:schema:{kind}:1"
    assert held["title"] == kind and held["description"] and held["type"] == "object"
    assert f"{kind}.schema.json" in resource_names("state_schema")
    assert resource_text("state_schema", f"{kind}.schema.json")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Return a host run with answers stored, a corpus run confirmed, and one that was blocked."""
    host = Run(tmp_path_factory.mktemp("host"))
    host.start(delegate="host")
    host.cli("submit", host.slug, "search-0-moon-and-sun", stdin=finding(NAMES[0]))
    folder = tmp_path_factory.mktemp("read")
    (folder / "root" / "docs").mkdir(parents=True)
    (folder / "root" / "docs" / "a.md").write_text("# A\n\nSpring tides come twice a month.\n")
    text = finding(NAMES[0]).replace(
        "SYNTHESIS:",
        'EVIDENCE:\n- [1] Tides come twice | "Spring tides come twice a month."\nSYNTHESIS:',
    )
    read = {"role": "researcher", "subtopic": NAMES[0], "text": text, "searches": ["spring tides"]}
    confirmed = Run(folder, [read, *answers()])
    corpus = ["--corpus", str(folder / "root" / "docs")]
    subtopics = [arg for name in NAMES for arg in ("--subtopic", f"{name}: {name} a; {name} b")]
    confirmed.start(*corpus, *subtopics)
    confirmed.to_end()
    blocked = Run(
        tmp_path_factory.mktemp("blocked"), answers(verifier={"text": verdict("FAIL", "wrong")})
    )
    blocked.start()
    blocked.to_end()
    return [host, confirmed, blocked]


def test_every_state_reply_and_task_of_a_real_run_validates(runs: list[Run]) -> None:
    states = [
        json.loads(path.read_bytes()) for run in runs for path in run.base.glob("state/*.json")
    ]
    replies = [
        json.loads(path.read_bytes()) for run in runs for path in run.base.glob("state/*.tasks/*")
    ]
    assert {state["phase"] for state in states} == {"search", "blocked"} and len(replies) > 5
    for state in states:
        validator("state").validate(state)
    for reply in replies:
        validator("reply").validate(reply)
    tasks = runs[0].cli("next", runs[0].slug, "--json").json["tasks"]
    assert len(tasks) == 2
    for task in tasks:
        validator("task").validate(task)


def test_every_durable_head_row_and_event_of_a_real_run_validates(runs: list[Run]) -> None:
    counted: dict[str, int] = {}
    for run in runs:
        found = [
            *(("plan", head(path)) for path in run.base.glob("research/*-plan.md")),
            *(("finding", head(path)) for path in run.base.glob("research/*-findings/*.md")),
            *(("report", head(path)) for path in run.base.glob("research/*-report.md")),
            *(("event", event) for event in run.cli("log", run.slug, "--json").json["events"]),
        ]
        for kind in ("fetch", "evidence"):
            for path in run.base.glob(f"research/*-evidence/{kind}_ledger.jsonl"):
                found += [(kind, json.loads(line)) for line in path.read_text("utf-8").splitlines()]
        for kind, value in found:
            validator(kind).validate(value)
            counted[kind] = counted.get(kind, 0) + 1
    assert set(counted) == {"plan", "finding", "report", "event", "fetch", "evidence"}, counted


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("state", {"phase": "sleeping", "slug": "a-1", "topic": "t"}),
    ("state", {"phase": "search", "slug": "../x", "topic": "t"}),
    ("state", {"phase": "search", "slug": "a-1", "topic": "t", "revision": -1}),
    ("state", {"phase": "search", "slug": "a-1", "topic": "t", "completed_subtopics": "x"}),
    ("plan", {"status": "confirmed", "topic": "t", "slug": "a-1", "subtopics": []}),
    ("plan", {"status": "planning", "topic": "t", "slug": "a-1", "subtopics": [{"name": "x"}]}),
    ("finding", {"subtopic": "x", "source_urls": [], "sources": [{"n": "1", "title": "", "url": ""}]}),
    ("report", {"status": "done", "topic": "t", "slug": "a-1"}),
    ("event", {"time": "now", "event": "STARTED", "slug": "a-1", "step": 1}),
    ("event", {"time": "2026-11-30T12:00:00Z", "event": "MADE_UP", "slug": "a-1", "step": 1}),
    ("task", {"id": "a", "role": "cook", "goal": "", "context": "", "tools": []}),
    ("verdict", {"kind": "MAYBE"}),
    ("reply", {"task_id": "a", "status": "pending"}),
    ("fetch", {"kind": "guess", "status": "ok", "accessed_at": ""}),
    ("evidence", {"quote": 3}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value"), WRONG)
def test_a_schema_refuses_what_it_should(kind: str, value: dict[str, Any]) -> None:
    assert not validator(kind).is_valid(value)


def test_unknown_fields_of_other_programs_are_allowed_in_a_state() -> None:
    """E2."""
    plain = json.loads(
        render_state(State(phase="search", slug="a-1", topic="t"), written_at="", version="1")
    )
    assert validator("state").is_valid({**plain, "note_of_another": {"a": 1}})


def test_nothing_is_written_that_breaks_its_schema(tmp_path: Path) -> None:
    """E3: a fault of ours is found before the file is replaced, not by the next reader."""
    subtopics = tuple(Subtopic(name, ("a", "b")) for name in NAMES)
    for write in (
        lambda: render_plan(Plan(topic="t", slug="../x", subtopics=subtopics)),
        lambda: render_plan(Plan(topic="t", slug="a-1", subtopics=subtopics, status="done")),
        lambda: render_finding(3, report()),
        lambda: render_state(
            State(phase="search", slug="a-1", topic="t", revision="2"), written_at="", version="1"
        ),
    ):
        with pytest.raises((ValueError, TypeError)):
            write()
    from omh_research.store.mailbox import Mailbox
    from omh_research.store.sources import Sources
    from tests.store.parts import SLUG, a_project
    from tests.store.test_sources import a_row

    project = a_project(tmp_path)
    with pytest.raises(ValueError):
        Mailbox(project.layout, SLUG).put(Reply(task_id="a", text="x", received_at=7))
    with pytest.raises(ValueError):
        Sources(project.layout, SLUG, str).record(a_row(1, charge="one"))
    assert not list(Path(project.layout.base).rglob("*.json*"))
