"""The estimate before a run holds what the run costs, for every delegate (O5, P8)."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from omh_research import Engine
from omh_research.engine import spent_by
from tests.runs import NAMES, SUBTOPICS, TOPIC, Run, cli, finding, report, verdict

DEMO = Path(__file__).resolve().parents[2] / "scripts" / "demo_corpus"


def estimated(topic: str, *words: str, root: Path) -> dict[str, Any]:
    """Return the estimate of the dry run, which writes nothing."""
    ended = cli("start", topic, *words, "--dry-run", "--json", "--root", str(root))
    assert ended.code == 0, ended.err
    assert not (root / ".omh").exists()
    return dict(ended.json["estimate"])


def actual(root: Path, slug: str) -> dict[str, float]:
    """Step a run to its end; return what its stored replies cost, the last one's before it goes."""
    engine, most = Engine(str(root)), {"tasks": 0.0}
    tasks = root / ".omh" / "state" / f"research--{slug}.tasks"
    for _ in range(40):
        status = engine.step(slug).status
        if status != "active":
            break
        spent = spent_by(engine.project, slug)
        most = {
            "tasks": max(most["tasks"], spent.tasks),
            "model_calls": spent.model_calls,
            "tokens": spent.input_tokens + spent.output_tokens,
            "cost_usd": -1.0 if spent.cost_usd is None else spent.cost_usd,
        }
    assert status == "confirmed", (status, tasks)
    ledger = root / ".omh" / "research" / f"{slug}-evidence" / "fetch_ledger.jsonl"
    rows = ledger.read_text("utf-8") if ledger.exists() else ""
    return {**most, "fetches": rows.replace(" ", "").count('"charge":1')}


def check(
    low_high: dict[str, Any], spent: dict[str, float], *, calls: int, tokens: int = 0
) -> None:
    """Every figure lies in its range, also with the last lap's task, `calls` and `tokens` added."""
    for name, last in (
        ("tasks", 1),
        ("model_calls", calls),
        ("tokens", tokens),
        ("fetches", 0),
    ):
        found = low_high[name]
        assert found["low"] <= spent[name] + last <= found["high"], (name, found, spent)
        assert spent[name] <= found["high"], (name, found, spent)
    if low_high["cost_usd"] is None:
        assert spent["cost_usd"] == -1.0, "an unknown price stays unknown"
    else:
        found = low_high["cost_usd"]
        assert found["low"] <= max(spent["cost_usd"], found["low"]) <= found["high"]


def test_o5_extractive(tmp_path: Path) -> None:
    words = ("--corpus", str(DEMO))
    topic = "How do tides shape coasts and harbours?"
    low_high = estimated(topic, *words, root=tmp_path)
    started = cli("start", topic, *words, "--json", "--root", str(tmp_path)).json
    spent = actual(tmp_path, started["slug"])
    assert spent["fetches"] > 0 and spent["tasks"] >= 4
    check(low_high, spent, calls=0)


@pytest.mark.parametrize("panel", [(), ("--panel", "3")])
def test_o5_scripted(tmp_path: Path, panel: tuple[str, ...]) -> None:
    from tests.phases.test_panel import SAID
    from tests.runs import answers

    vote = {"role": "claim-skeptic", "text": SAID["confirm"]}
    run = Run(tmp_path, [vote, *answers()])
    (tmp_path / "dry").mkdir()
    low_high = estimated(TOPIC, *run.script_options, *panel, *SUBTOPICS, root=tmp_path / "dry")
    run.start(*panel, *SUBTOPICS)
    spent = actual(run.root, run.slug)
    check(low_high, spent, calls=len(run.calls()) - int(spent["model_calls"]))
    assert low_high["votes"]["low"] <= len(run.calls()) - 5 <= low_high["votes"]["high"]


PROGRAM = """
import pathlib, sys
prompt, here = sys.stdin.read(), pathlib.Path(__file__).parent
name = max({names!r}, key=prompt.rfind)
said = "verdict" if "VERDICT: " in prompt else "report" if "Executive Summary" in prompt else name
print((here / f"{{said}}.txt").read_text())
"""


def test_o5_command(tmp_path: Path) -> None:
    program = tmp_path / "agent.py"
    program.write_text(PROGRAM.format(names=NAMES))
    for name, text in (
        *((name, finding(name)) for name in NAMES), ("report", report()), ("verdict", verdict()),
    ):  # fmt: skip
        (tmp_path / f"{name}.txt").write_text(text)
    root = tmp_path / "root"
    root.mkdir()
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(program))}"
    words = ("--command", command, *SUBTOPICS)
    low_high = estimated(TOPIC, *words, root=root)
    assert low_high["cost_usd"] is None, "what another program costs is not known"
    started = cli("start", TOPIC, *words, "--json", "--root", str(root)).json
    spent = actual(root, started["slug"])
    assert spent["model_calls"] == 4
    check(low_high, spent, calls=1)


def test_o5_llm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    from tests.journeys.test_llm_run import CANARY, Mind
    from tests.simulators.llm_server import LlmServer
    from tests.skill import mind

    (tmp_path / "docs").mkdir()
    for name in mind.FACTS:
        text = f"# {name}\n\n{mind.page_of(name)['text']}\n"
        (tmp_path / "docs" / f"{name.split()[0].lower()}.md").write_text(text, encoding="utf-8")
    for name in ("OMH_OFFLINE", "OMH_ROOT", "OMH_LLM_PROVIDER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMH_LLM_API_KEY", CANARY)
    monkeypatch.chdir(tmp_path)
    words = ("--delegate", "llm", "--model", "gpt-4o-mini", "--corpus", "docs")
    low_high = estimated(mind.TOPIC, *words, root=tmp_path)
    assert low_high["cost_usd"] is not None and low_high["cost_usd"]["high"] > 0
    with LlmServer(Mind()) as made:
        monkeypatch.setenv("OMH_LLM_BASE_URL", made.openai_url)
        ended = cli("start", mind.TOPIC, *words, "--json", "--root", str(tmp_path))
        assert "cost $" in ended.err, "start prints the range before it spends"
        spent = actual(tmp_path, ended.json["slug"])
    assert spent["model_calls"] + 1 == len(made.requests)
    assert spent["fetches"] == 3 and spent["cost_usd"] > 0
    check(low_high, spent, calls=1, tokens=640)


def test_o5_host(tmp_path: Path) -> None:
    """A host pays its own calls: none of ours are estimated, its tasks are."""
    words = ("--delegate", "host", *SUBTOPICS)
    (tmp_path / "dry").mkdir()
    low_high = estimated(TOPIC, *words, root=tmp_path / "dry")
    assert low_high["model_calls"] == {"low": 0, "high": 0}
    run = Run(tmp_path)
    run.start(*SUBTOPICS, delegate="host")
    handed = 0
    while True:
        tasks = run.cli("next", run.slug, "--json").json["tasks"]
        if not tasks:
            break
        for task in tasks:
            handed += 1
            said = {
                "researcher": finding(max(NAMES, key=task["goal"].rfind)),
                "research-synthesist": report(),
                "research-verifier": verdict(),
            }[task["role"]]
            ended = run.cli("submit", run.slug, task["id"], stdin=said)
            assert ended.code == 0, ended.err
    assert run.cli("status", run.slug, "--json").json["status"] == "confirmed"
    assert low_high["tasks"]["low"] <= handed <= low_high["tasks"]["high"]
