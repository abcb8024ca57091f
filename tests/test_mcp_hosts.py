"""Real agent programs drive a whole run through the MCP server (D9); the model is scripted.

Skipped, each by name, where a program is not installed (see tests/delegates/test_real_agents.py).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs the extra mcp")

from tests.delegates.test_real_agents import find
from tests.simulators.llm_server import LlmServer, Step
from tests.skill.mind import FACTS, TOPIC, think

SUBTOPICS = [{"name": name, "queries": [f"{name}: a", f"{name}; b"]} for name in FACTS]
SERVER = [sys.executable, "-m", "omh_research", "mcp"]


def offered(body: dict[str, Any]) -> dict[str, str]:
    """Return our tools as this program names them, by their own names."""
    listed = [each for tool in body["tools"] for each in tool.get("functionDeclarations", [tool])]
    named: list[str] = []
    for tool in listed:
        name = tool.get("name") or tool.get("function", {}).get("name") or ""
        named += [f"{name}/{inner['name']}" for inner in tool.get("tools", [])] or [name]
    return {
        "research_" + name.rpartition("research_")[2]: name for name in named if "research_" in name
    }


def objects_in(value: object) -> Iterator[dict[str, Any]]:
    """Yield the results in a message, however the program wrapped them."""
    if isinstance(value, dict):
        if "ok" in value:
            yield value
        for inner in value.values():
            yield from objects_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from objects_in(inner)
    elif isinstance(value, str) and "{" in value:
        start, end = value.find("{"), value.rfind("}")
        try:
            yield from objects_in(json.loads(value[start : end + 1]))
        except ValueError:
            return


class Driver:
    """A model that does what the server's instructions say: start, then next and submit."""

    def __init__(self) -> None:
        self.slug = self.status = ""
        self.results: list[dict[str, Any]] = []
        self._tasks: list[dict[str, Any]] = []
        self._turns = 0

    def __call__(self, body: dict[str, Any]) -> Step:
        if not body.get("tools") or not (names := offered(body)):
            return Step("A run of research")  # programs ask for titles beside the work
        # Programs put reminders behind the results, and several results into one message.
        said_so_far = next(body[key] for key in ("messages", "input", "contents") if key in body)
        spoken = [
            next((said[key] for key in ("content", "output", "parts") if said.get(key)), "")
            for said in said_so_far
        ]
        results = [result for said in spoken for result in objects_in(said)]
        if results:
            self._learn(results[-1])
        self._turns += 1
        tool, given = self._wish()
        return Step(calls=[(names[tool], given)]) if tool else Step(f"It is {self.status}.")

    def _learn(self, result: dict[str, Any]) -> None:
        self.results.append(result)
        self.slug = result.get("slug", self.slug)
        if "tasks" in result:
            self._tasks, self.status = list(result["tasks"]), result["status"]

    def _wish(self) -> tuple[str, dict[str, Any]]:
        if not self.slug:
            return "research_start", {"topic": TOPIC, "delegate": "host", "subtopics": SUBTOPICS}
        if self.status in ("confirmed", "blocked", "cancelled") or self._turns > 40:
            return "", {}
        if not self._tasks:
            return "research_next", {"slug": self.slug}
        task = self._tasks.pop(0)
        text, sources = think(task)
        given = {"slug": self.slug, "task_id": task["id"], "text": text, "sources": sources}
        return "research_submit", given


def set_up(program: str, made: LlmServer, home: Path) -> tuple[list[str], dict[str, str]]:
    """Write the program's configuration; return its words and its environment."""
    own = [*SERVER, "--root", str(home / "root")]
    (home / "root").mkdir()
    if program == "claude":
        servers = {"mcpServers": {"omh": {"command": own[0], "args": own[1:]}}}
        (home / "mcp.json").write_text(json.dumps(servers))
        words = ["-p", "Research it.", "--mcp-config", "mcp.json", "--strict-mcp-config",
                 "--allowedTools", "mcp__omh", "--no-session-persistence"]  # fmt: skip
        return words, {"ANTHROPIC_BASE_URL": made.root, "ANTHROPIC_API_KEY": "k",
                       "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}  # fmt: skip
    if program == "hermes":
        (home / "config.yaml").write_text(
            f'model: {{provider: custom, base_url: "{made.openai_url}", default: "scripted", '
            "context_length: 65536}\nmcp_discovery_timeout: 30\n"
            f"mcp_servers: {{omh: {{command: {own[0]}, args: {json.dumps(own[1:])}}}}}\n"
        )
        return ["-z", "Research it."], {"HERMES_HOME": str(home), "OPENAI_API_KEY": "k"}
    if program == "gemini":
        server = {"command": own[0], "args": own[1:], "trust": True, "timeout": 60_000}
        (home / ".gemini").mkdir()
        (home / ".gemini" / "settings.json").write_text(json.dumps({
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False},
            "mcpServers": {"omh": server},
        }))  # fmt: skip
        words = ["--skip-trust", "--model", "gemini-2.5-pro", "-p", "Research it."]
        return words, {"GOOGLE_GEMINI_BASE_URL": made.root, "GEMINI_API_KEY": "k"}
    if program == "codex":
        (home / ".codex").mkdir()
        (home / ".codex" / "config.toml").write_text(
            'model="m"\nmodel_provider="local"\napproval_policy="never"\n'
            '[model_providers.local]\nname="local"\nwire_api="responses"\n'
            f'base_url="{made.openai_url}"\n[mcp_servers.omh]\ncommand={json.dumps(own[0])}\n'
            f"args={json.dumps(own[1:])}\nrequired=true\nstartup_timeout_sec=30\n"
            'default_tools_approval_mode="approve"\n'
        )
        return ["exec", "--skip-git-repo-check", "--ephemeral", "Research it."], {}
    (home / ".config" / "opencode").mkdir(parents=True)
    options = {"baseURL": made.openai_url, "apiKey": "k"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": {}}}
    config = {
        "model": "loc/m", "autoupdate": False, "provider": {"loc": provider},
        "mcp": {"omh": {"type": "local", "command": own, "enabled": True, "timeout": 30_000}},
        "permission": {"*": "allow"},
    }  # fmt: skip
    (home / ".config" / "opencode" / "opencode.json").write_text(json.dumps(config))
    return ["run", "--model", "loc/m", "Research it."], {}


@pytest.mark.parametrize("program", ["claude", "codex", "gemini", "hermes", "opencode"])
def test_a_real_agent_drives_a_run_to_confirmed(program: str, tmp_path: Path) -> None:
    """D9: results arrive whole through each program's own client, old protocol or new."""
    path = find(program)
    driver = Driver()
    with LlmServer(driver) as made:
        words, environment = set_up(program, made, tmp_path)
        done = subprocess.run(
            [str(path), *words], cwd=tmp_path, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL, timeout=240,
            env={"PATH": f"{path.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path),
                 **environment},
        )  # fmt: skip
    assert driver.status == "confirmed", (
        driver.results[-2:],
        done.stdout[-500:],
        done.stderr[-900:],
    )
    assert "It is confirmed." in done.stdout
    (report,) = (tmp_path / "root" / ".omh" / "research").glob("*-report.md")
    assert "status: confirmed" in report.read_text("utf-8")
    assert all(result["ok"] for result in driver.results)
