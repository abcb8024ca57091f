"""The scope check of `start` and `run`: asked back, answered, left out (P7)."""

import errno
import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from omh_research import Engine
from omh_research.documents.options import RunOptions
from omh_research.errors import ScopeError
from tests.runs import SUBTOPICS, Ended, cli

OPEN = "Which laptop is best?"
HOST = ("--delegate", "host", "--host-tools", "web_search,web_extract")


def _start(root: Path, *args: str) -> Ended:
    root.mkdir(exist_ok=True)
    return cli("start", *args, "--root", str(root))


def _topics(root: Path) -> list[str]:
    return [run.topic for run in Engine(str(root)).status_all()]


@pytest.mark.parametrize("command", ["start", "run"])
def test_p7_without_a_terminal_the_questions_are_the_answer(tmp_path: Path, command: str) -> None:
    ended = cli(command, OPEN, *HOST, "--root", str(tmp_path))
    assert ended.code == 2
    assert 2 <= len(json.loads(ended.out)["questions"]) <= 3
    assert all(question in ended.err for question in ended.json["questions"])
    assert "--detail" in ended.err and "--no-scope-check" in ended.err
    assert list(tmp_path.iterdir()) == []


def test_p7_json_holds_the_questions_beside_the_error(tmp_path: Path) -> None:
    ended = _start(tmp_path, "该买什么车？", *HOST, "--json")
    assert (ended.code, ended.out) == (2, "")
    failure = json.loads(ended.err)
    assert failure["ok"] is False and failure["error"]["code"] == "scope"
    assert len(failure["questions"]) == 3 and "预算" in failure["questions"][1]
    assert list(tmp_path.iterdir()) == []


def test_p7_details_are_folded_into_the_topic(tmp_path: Path) -> None:
    given = ("--detail", "for programming", "--detail", "at most 900 €")
    assert _start(tmp_path, OPEN, *given, *HOST).code == 0
    assert _topics(tmp_path) == ["Which laptop is best? (for programming; at most 900 €)"]
    again = _start(tmp_path, OPEN, *given, *HOST, "--json")
    assert again.json["resumed"] is True


def test_p7_the_check_can_be_left_out_and_a_run_is_resumed_unquestioned(tmp_path: Path) -> None:
    assert _start(tmp_path, OPEN, "--no-scope-check", *HOST).code == 0
    assert _topics(tmp_path) == [OPEN]
    assert _start(tmp_path, OPEN, *HOST, "--json").json["resumed"] is True


def test_p7_never_with_subtopics_plan_corpus_or_bundle(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(
        json.dumps(
            [
                {"name": f"Laptop facet {n}", "queries": [f"laptop {n} a", f"laptop {n} b"]}
                for n in (1, 2, 3)
            ]
        )
    )
    corpus = tmp_path / "docs"
    corpus.mkdir()
    (corpus / "a.md").write_text("# Laptops\n\nA laptop with a matte screen was tested in 2024.\n")
    for name, given in (
        ("a", SUBTOPICS),
        ("b", ("--plan", str(plan))),
        ("c", ("--corpus", str(corpus))),
    ):
        ended = _start(tmp_path / name, OPEN, *given, *HOST)
        assert ended.code == 0, (name, ended.err)
    bundle = _start(tmp_path / "d", OPEN, "--bundle", str(tmp_path / "none"), *HOST, "--json")
    assert "questions" not in bundle.err


def test_p7_a_bare_concept_and_a_fact_start_at_once(tmp_path: Path) -> None:
    for number, topic in enumerate(("光合作用", "CRISPR", "Which enzyme repairs DNA?")):
        assert _start(tmp_path / str(number), topic, *HOST).code == 0


def test_p7_a_program_is_not_questioned_unless_it_asks(tmp_path: Path) -> None:
    engine = Engine(str(tmp_path))
    options = RunOptions(host_tools=("web_search", "web_extract"))
    with pytest.raises(ScopeError) as caught:
        engine.start(OPEN, delegate="host", options=options, scope_check=True)
    assert len(caught.value.questions) == 3
    assert engine.start(OPEN, delegate="host", options=options).status == "awaiting"


def test_p7_batch_never_asks(tmp_path: Path) -> None:
    topics = tmp_path / "topics.txt"
    topics.write_text(f"{OPEN}\n")
    corpus = tmp_path / "docs"
    corpus.mkdir()
    (corpus / "a.md").write_text("# Laptops\n\nThe laptop in the test ran for nine hours.\n")
    script = tmp_path / "script.json"
    script.write_text('{"replies": []}')
    (tmp_path / "root").mkdir()
    ended = cli(
        "batch", str(topics), "--delegate", "scripted", "--option", f"script={script}",
        "--root", str(tmp_path / "root"),
    )  # fmt: skip
    assert "questions" not in ended.out + ended.err
    assert _topics(tmp_path / "root") == [OPEN]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_p7_on_a_terminal_it_asks_and_goes_on(tmp_path: Path) -> None:
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "omh_research", "start", OPEN, *HOST, "--root", str(tmp_path)],
        stdin=child, stdout=subprocess.PIPE, stderr=child, close_fds=True,
    )  # fmt: skip
    os.close(child)
    seen = _answer(parent, ["for programming", "", "Norway, this year"])
    assert process.wait(30) == 0, seen
    assert process.stdout is not None
    process.stdout.close()
    os.close(parent)
    assert _topics(tmp_path) == ["Which laptop is best? (for programming; Norway, this year)"]


def _answer(terminal: int, answers: list[str]) -> str:
    """Type one answer after each question mark of a question; return all that was shown."""
    seen, waiting, end = "", list(answers), time.monotonic() + 60
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            data = os.read(terminal, 4096)
        except OSError as error:  # Linux says EIO once the child has gone
            assert error.errno == errno.EIO
            break
        if not data:
            break
        seen += data.decode("utf-8", "replace")
        asked = sum(seen.count(word) for word in ("how often?", "at most?", "by when?"))
        while waiting and len(answers) - len(waiting) < asked:
            os.write(terminal, f"{waiting.pop(0)}\n".encode())
    return seen


def test_p7_an_mcp_client_is_not_questioned(tmp_path: Path) -> None:
    """The client speaks with its user itself: the tool's words leave the check out."""
    from omh_research.mcp_tools import TOOLS, Scratch

    tool = next(tool for tool in TOOLS if tool.name == "research_start")
    given = {"topic": OPEN, "delegate": "host", "host_tools": ["web_search", "web_extract"]}
    words = tool.command(given, Scratch(tmp_path, str(tmp_path)))
    ended = cli(*words[: words.index("--")], "--root", str(tmp_path), *words[words.index("--") :])
    assert ended.code == 0 and _topics(tmp_path) == [OPEN]
