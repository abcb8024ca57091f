"""Real hosts and the real validator find the skill (D10); each test skips by name without them.

Programs are looked for on PATH and in OMH_TEST_HERMES, OMH_TEST_CLAUDE, OMH_TEST_CODEX,
OMH_TEST_OPENCODE, OMH_TEST_GEMINI, OMH_TEST_AGENTSKILLS.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from omh_research.skill.installer import ALIASES, SKILL, install
from tests.simulators.llm_server import LlmServer, Step

ENVIRONMENT_KEYS = ("PATH", "LANG", "TMPDIR")


def find(program: str) -> str:
    found = os.environ.get(f"OMH_TEST_{program.upper()}") or shutil.which(program)
    if not found:
        pytest.skip(f"the program {program} is not installed")
    return found


def run(arguments: list[str], home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {key: os.environ[key] for key in ENVIRONMENT_KEYS if key in os.environ}
    return subprocess.run(
        arguments, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=home, timeout=120,
        env={**kept, "HOME": str(home), **environment}, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("name", [SKILL, *ALIASES])
def test_the_reference_validator_accepts_the_skill(tmp_path: Path, name: str) -> None:
    install("generic", tmp_path, aliases=True)
    result = run([find("agentskills"), "validate", str(tmp_path / name)], tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


def test_hermes_lists_it(tmp_path: Path) -> None:
    hermes = find("hermes")
    install("hermes", tmp_path / "skills" / "omh", aliases=True)
    result = run([hermes, "skills", "list"], tmp_path, HERMES_HOME=str(tmp_path))
    for name in (SKILL, *ALIASES):
        row = next(line for line in result.stdout.splitlines() if name in line)
        assert "omh" in row and "enabled" in row


def test_hermes_lists_it_through_a_link(tmp_path: Path) -> None:
    hermes = find("hermes")
    install("hermes", tmp_path / "skills" / "omh", link=True)
    result = run([hermes, "skills", "list"], tmp_path, HERMES_HOME=str(tmp_path))
    assert SKILL in result.stdout


@pytest.mark.parametrize("has_web", [True, False])
def test_hermes_offers_it_to_the_model_when_it_has_the_web(tmp_path: Path, has_web: bool) -> None:
    """85-hosts 2.1: listed is not offered."""
    hermes = find("hermes")
    install("hermes", tmp_path / "skills" / "omh")
    with LlmServer(lambda _: Step("hello")) as made:
        (tmp_path / "config.yaml").write_text(
            f'model: {{provider: custom, base_url: "{made.openai_url}", default: "scripted", '
            "context_length: 65536}\n"
        )
        search = {"SEARXNG_URL": made.root} if has_web else {}
        run(
            [hermes, "-z", "hello", "-t", "terminal,web,skills"], tmp_path,
            HERMES_HOME=str(tmp_path), OPENAI_API_KEY="k", **search,
        )  # fmt: skip
        assert made.requests
        assert (SKILL in made.prompt(0)) == has_web


def test_claude_code_finds_it_in_the_project(tmp_path: Path) -> None:
    claude = find("claude")
    install("claude", tmp_path / ".claude" / "skills", aliases=True)
    with LlmServer(lambda _: Step("hello")) as made:
        result = run(
            [claude, "-p", "hello", "--output-format", "stream-json", "--verbose"], tmp_path,
            ANTHROPIC_BASE_URL=made.root, ANTHROPIC_API_KEY="k",
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        )  # fmt: skip
    events = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    listed = next(event["skills"] for event in events if "skills" in event)
    assert {SKILL, *ALIASES} <= set(listed)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("codex", ["debug", "prompt-input", "hi"]),
        ("opencode", ["debug", "skill"]),
        ("gemini", ["skills", "list"]),
    ],
)
def test_other_agents_find_it_among_the_skills_of_a_project(
    tmp_path: Path, program: str, words: list[str]
) -> None:
    """85-hosts 3.1: `.agents/skills`, which `skill install --host generic` writes."""
    path = find(program)
    (tmp_path / "project").mkdir()
    install("generic", tmp_path / "project" / ".agents" / "skills", aliases=True)
    run(["git", "init", "-q"], tmp_path / "project")
    result = subprocess.run(
        [path, *words], cwd=tmp_path / "project", capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL, timeout=120,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path),
             "GEMINI_CLI_TRUST_WORKSPACE": "true"},
    )  # fmt: skip
    for name in (SKILL, *ALIASES):
        assert name in result.stdout + result.stderr, result.stderr[-500:]
