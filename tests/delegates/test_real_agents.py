"""Real agent programs against a scripted model server (85-hosts section 4).

Skipped, each by name, where a program is not installed: put it on PATH, or name it in
OMH_TEST_HERMES, OMH_TEST_CLAUDE, OMH_TEST_CODEX, OMH_TEST_OPENCODE or OMH_TEST_GEMINI.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from omh_research.delegates.registry import make
from omh_research.documents.task import Reply
from omh_research.errors import DelegateError
from tests.simulators.llm_server import LlmServer, Step

from .tasks import WEB, a_task, never


def find(program: str) -> Path:
    found = os.environ.get(f"OMH_TEST_{program.upper()}") or shutil.which(program)
    if not found:
        pytest.skip(f"the agent program {program} is not installed")
    return Path(found)


def run(
    program: str, made: LlmServer, home: Path, monkeypatch: pytest.MonkeyPatch, tools: Any
) -> Reply:
    monkeypatch.setenv("PATH", f"{find(program).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(home))
    match program:
        case "hermes":
            monkeypatch.setenv("HERMES_HOME", str(home))
            (home / "config.yaml").write_text(
                f'model: {{provider: custom, base_url: "{made.openai_url}", default: "scripted", '
                "context_length: 65536}\n"
            )
        case "claude":
            monkeypatch.setenv("ANTHROPIC_BASE_URL", made.root)
            monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
            monkeypatch.setenv("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        case "gemini":
            monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", made.root)
            monkeypatch.setenv("GEMINI_API_KEY", "k")
            (home / ".gemini").mkdir()
            (home / ".gemini" / "settings.json").write_text(json.dumps({
                "security": {"auth": {"selectedType": "gemini-api-key"}},
                "privacy": {"usageStatisticsEnabled": False},
                "general": {"enableAutoUpdate": False},
            }))  # fmt: skip
        case "codex":
            (home / ".codex").mkdir()
            (home / ".codex" / "config.toml").write_text(
                'model="m"\nmodel_provider="local"\n[model_providers.local]\nname="local"\n'
                f'base_url="{made.openai_url}"\nwire_api="responses"\n'
            )
        case _:
            (home / ".config" / "opencode").mkdir(parents=True)
            options = {"baseURL": made.openai_url, "apiKey": "k"}
            provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": {}}}
            config = {"model": "loc/m", "autoupdate": False, "provider": {"loc": provider}}
            (home / ".config" / "opencode" / "opencode.json").write_text(json.dumps(config))
    task = a_task("research-verifier", goal="Judge it: VERDICT.", tools=tools)
    return make("command", {"preset": program, "timeout_s": 120}).answer(task, None, never)


def offered(made: LlmServer) -> set[str]:
    """Return the names of all tools that the model was offered."""
    tools = [tool for body in made.requests for tool in body.get("tools") or []]
    tools = [each for tool in tools for each in tool.get("functionDeclarations", [tool])]
    return {str(t.get("name") or t.get("function", {}).get("name") or t["type"]) for t in tools}


@pytest.mark.parametrize("program", ["hermes", "claude", "opencode", "gemini"])
def test_a_closed_role_offers_the_model_no_tool_and_the_answer_arrives(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D3: read-only roles get read-only arguments, as the program itself understands them."""
    with LlmServer(lambda _: Step("VERDICT: PASS")) as made:
        reply = run(program, made, tmp_path, monkeypatch, ())
    assert reply.text.strip() == "VERDICT: PASS"
    assert offered(made) == set()
    assert "Judge it: VERDICT." in made.prompt(0) and "plan: rivers" in made.prompt(0)
    assert reply.usage.input_tokens == 10 and reply.usage.output_tokens == 5


def test_claude_offers_a_browsing_role_the_web_and_nothing_that_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LlmServer(lambda _: Step("VERDICT: PASS")) as made:
        run("claude", made, tmp_path, monkeypatch, WEB)
    names = offered(made)
    assert {"WebFetch", "WebSearch"} <= names
    assert not names & {"Bash", "Write", "Edit", "Read", "NotebookEdit", "Task"}


def test_opencode_offers_a_browsing_role_the_web_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LlmServer(lambda _: Step("VERDICT: PASS")) as made:
        run("opencode", made, tmp_path, monkeypatch, WEB)
    assert offered(made) == {"webfetch"}


def test_gemini_offers_a_browsing_role_the_web_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LlmServer(lambda _: Step("VERDICT: PASS")) as made:
        run("gemini", made, tmp_path, monkeypatch, WEB)
    assert offered(made) == {"google_web_search", "web_fetch"}


@pytest.mark.parametrize("tools", [(), WEB], ids=["closed", "browsing"])
def test_codex_answers_through_its_answer_file_and_searches_only_if_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tools: tuple[str, ...]
) -> None:
    with LlmServer(lambda _: Step("VERDICT: PASS")) as made:
        reply = run("codex", made, tmp_path, monkeypatch, tools)
    assert reply.text.strip() == "VERDICT: PASS"
    assert ("web_search" in offered(made)) == bool(tools)
    assert any("not a list of tools" in note for note in reply.notes)


@pytest.mark.parametrize("program", ["hermes"])
def test_a_model_that_cannot_be_reached_is_a_failure_not_an_answer(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = Step(status=401, body={"error": {"message": "bad key"}})
    with LlmServer(lambda _: refusal) as made, pytest.raises(DelegateError):
        run(program, made, tmp_path, monkeypatch, ())
