"""Errors and notes that say what is really wrong (O5, E10, E15)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.runs import NAMES, SUBTOPICS, TOPIC, Run, child_command, child_environment


@pytest.mark.parametrize("value", ["-1", "5", "many"])
def test_o5_a_cap_that_there_is_not_is_named_before_its_number_is_judged(
    tmp_path: Path, value: str
) -> None:
    run = Run(tmp_path)
    ended = run.start("--cap", f"tasks={value}", *SUBTOPICS)
    assert ended.code == 2 and "There is no cap tasks" in ended.error["message"]
    assert "max_fetches" in ended.error["message"], "the caps there are"
    wrong = run.start("--cap", "max_fetches=-1", *SUBTOPICS)
    assert wrong.code == 2 and "0 or more" in wrong.error["message"]
    assert not run.base.exists()


def test_o5_a_batch_names_the_cap_that_there_is_not(tmp_path: Path) -> None:
    run = Run(tmp_path)
    topics = tmp_path / "topics.jsonl"
    topics.write_text(json.dumps({"topic": "x", "caps": {"tasks": -1}}) + "\n")
    ended = run.cli("batch", str(topics))
    assert "There is no cap tasks" in ended.out + ended.err


def plan_file(tmp_path: Path, **head: str) -> str:
    path = tmp_path / "plan.json"
    subtopics = [{"name": name, "queries": [f"{name} a", f"{name} b"]} for name in NAMES]
    path.write_text(json.dumps({**head, "subtopics": subtopics}))
    return str(path)


def test_e15_what_a_plan_file_says_of_the_run_and_is_not_used_is_said(tmp_path: Path) -> None:
    """E15: the subtopics are taken; another topic, slug or status is named in one note."""
    run = Run(tmp_path)
    plan = plan_file(tmp_path, topic="Something else", slug="other-20200101-abcd", status="done")
    (note,) = run.start("--plan", plan).json["notes"]
    for word in ("topic 'Something else'", "slug 'other-20200101-abcd'", "status 'done'"):
        assert word in note
    assert run.cli("show", run.slug, "--plan").out.count("Something else") == 0


def test_e15_a_plan_file_that_says_the_same_needs_no_note(tmp_path: Path) -> None:
    run = Run(tmp_path)
    plan = plan_file(tmp_path, topic=TOPIC.upper(), status="planning")
    assert run.start("--plan", plan).json["notes"] == []


@pytest.mark.skipif(os.name == "nt", reason="locales of POSIX")
@pytest.mark.parametrize("where", ["topic", "subtopic"])
def test_a_topic_that_the_locale_cannot_read_says_what_to_set(tmp_path: Path, where: str) -> None:
    """E10: no talk of control characters; with the variable named it works."""
    run = Run(tmp_path)
    text = "Was bewirkt die Größe des Monds?" if where == "topic" else "Why tides?"
    first = "Größe: Größe a; Größe b" if where == "subtopic" else SUBTOPICS[1]
    words = ("start", text, *run.script_options, "--subtopic", first, *SUBTOPICS[2:])
    plain = {**child_environment(), "LC_ALL": "C", "PYTHONUTF8": "0"}

    def start(**more: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            child_command(*words), capture_output=True, cwd=run.root, env={**plain, **more},
            timeout=60, check=False,
        )  # fmt: skip

    ended = start()
    assert ended.returncode == 2 and b"PYTHONUTF8=1" in ended.stderr, ended
    assert b"control character" not in ended.stderr and where.encode() in ended.stderr
    assert start(PYTHONUTF8="1").returncode == 0
