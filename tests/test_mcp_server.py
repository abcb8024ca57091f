"""The MCP server with real client sessions over standard input and output (D9)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs the extra mcp")

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from omh_research.errors import UsageError
from omh_research.mcp_tools import TOOLS, Scratch

from .skill.mind import FACTS, TOPIC, think

Session = Callable[[Any], Awaitable[None]]


def with_client(root: Path, session: Session, mode: str = "auto") -> None:
    """Run `session` with a client of a fresh server process on `root`."""
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "omh_research", "mcp", "--root", str(root)],
        cwd=str(root),
    )  # fmt: skip

    async def work() -> None:
        with anyio.fail_after(240):
            async with Client(server, mode=mode) as client:
                await session(client)

    anyio.run(work)


async def call(client: Any, tool: str, /, **given: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, given)
    assert not result.is_error, result.structured_content
    assert json.loads(result.content[0].text) == result.structured_content
    return dict(result.structured_content)


async def refusal(client: Any, tool: str, /, **given: Any) -> dict[str, str]:
    result = await client.call_tool(tool, given)
    assert result.is_error
    assert result.structured_content["ok"] is False
    return dict(result.structured_content["error"])


def command(root: Path, *words: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "omh_research", *words, "--json", "--root", str(root)],
        capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    return dict(json.loads(done.stdout or done.stderr))


SUBTOPICS = [{"name": name, "queries": [f"{name}: a", f"{name}; b"]} for name in FACTS]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_drives_a_run_to_a_confirmed_report_and_reads_it(
    tmp_path: Path, mode: str
) -> None:
    """Issue: a whole research through start, next, submit; the report as a resource; progress."""
    progress: list[str] = []

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        progress.append(str(message))

    async def session(client: Any) -> None:
        started = await call(
            client, "research_start", topic=TOPIC, delegate="host", subtopics=SUBTOPICS
        )
        slug = started["slug"]
        while True:
            result = await client.call_tool(
                "research_next", {"slug": slug}, progress_callback=on_progress
            )
            offered = result.structured_content
            if offered["status"] != "awaiting":
                break
            for task in offered["tasks"]:
                text, sources = think(task)
                stored = await call(
                    client, "research_submit",
                    slug=slug, task_id=task["id"], text=text, sources=sources,
                )  # fmt: skip
                assert stored["stored"] is True
        assert offered["status"] == "confirmed"
        assert any("subtopics researched" in words for words in progress)
        listed = [str(r.uri) for r in (await client.list_resources()).resources]
        assert f"omh://report/{slug}" in listed and "omh://role/researcher" in listed
        shown = (await client.read_resource(f"omh://report/{slug}")).contents[0].text
        on_disk = (tmp_path / ".omh" / "research" / f"{slug}-report.md").read_text("utf-8")
        assert shown.strip() == on_disk.strip() and "status: confirmed" in shown
        assert (await call(client, "research_report", slug=slug))["text"].strip() == shown.strip()
        assert (await call(client, "research_wait", slug=slug))["status"] == "confirmed"
        assert (await call(client, "research_audit", slug=slug))["ok"] is True
        again = await call(client, "research_start", topic=TOPIC)
        assert again["status"] == "confirmed" and again["report"].endswith(f"{slug}-report.md")

    with_client(tmp_path, session, mode)


def test_results_are_the_objects_that_the_commands_print(tmp_path: Path) -> None:
    async def session(client: Any) -> None:
        started = await call(client, "research_start", topic="A and B", subtopics=SUBTOPICS)
        slug = started["slug"]
        plan = (tmp_path / ".omh" / "research" / f"{slug}-plan.md").read_text("utf-8")
        assert all(query in plan for row in SUBTOPICS for query in row["queries"])
        for name, words in (
            ("research_next", ["next", slug]), ("research_status", ["status", slug]),
            ("research_start", ["start", "A and B", "--delegate", "host"]),
        ):  # fmt: skip
            given: dict[str, Any] = {"slug": slug}
            if name == "research_start":
                given = {"topic": "A and B", "delegate": "host"}
            assert await call(client, name, **given) == command(tmp_path, *words)
        role = await call(client, "research_roles", name="planner")
        assert role == command(tmp_path, "roles", "planner")

    with_client(tmp_path, session)


def test_evidence_tools_give_what_the_commands_give(tmp_path: Path) -> None:
    source = {"id": "s", "url": "https://a.example/", "title": "T", "text": "It is 1,233 km long."}
    cited = {"source": "s", "quote": "It is 1,233 km long."}
    claims = [{"text": "It is 1,233 km long.", "citations": [cited]}]

    async def session(client: Any) -> None:
        planned = await call(
            client, "evidence_caps", op="plan", payload={"subquestions": ["a b c", "d e f"]}
        )
        assert planned["ok"] and len(planned["data"]["subquestions"]) == 2
        payload = {"query": "how long", "sources": [source]}
        kept = await call(client, "evidence_compress", payload=payload)
        assert kept["data"]["kept"][0]["chunk"] == source["text"]
        checked = await call(
            client, "evidence_citations", payload={"sources": [source], "claims": claims}
        )
        assert checked["data"]["summary"]["verified"] == 1
        wrong = await client.call_tool(
            "evidence_caps",
            {"op": "plan", "payload": {"subquestions": ["a"], "caps": {"max_moons": 1}}},
        )
        assert wrong.is_error and wrong.structured_content["ok"] is False

    with_client(tmp_path, session)


def test_a_run_is_cancelled_while_another_call_waits_for_it(tmp_path: Path) -> None:
    async def session(client: Any) -> None:
        slug = (await call(client, "research_start", topic="Z", subtopics=SUBTOPICS))["slug"]
        ends: list[Any] = []

        async def wait() -> None:
            ends.append(await call(client, "research_wait", slug=slug, timeout=60))

        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            cancelled = await call(client, "research_cancel", slug=slug, reason="enough")
            assert cancelled["ok"] is True
            offered = await call(client, "research_next", slug=slug)
            assert offered["status"] == "cancelled" and offered["tasks"] == []
        assert ends[0]["status"] == "cancelled"

    with_client(tmp_path, session)


def test_a_damaged_configuration_stops_no_reading_and_no_cancel(tmp_path: Path) -> None:
    """As `show`, `status`, `cancel` do: what looks or stops needs nothing of it; a start does."""

    async def session(client: Any) -> None:
        started = await call(
            client, "research_start", topic=TOPIC, delegate="host", subtopics=SUBTOPICS
        )
        slug = started["slug"]
        (tmp_path / ".omh" / "config.yaml").write_text("side_by_side: many\n")
        plan = (await client.read_resource(f"omh://plan/{slug}")).contents[0].text
        assert all(name in plan for name in FACTS)
        role = (await client.read_resource("omh://role/researcher")).contents[0].text
        assert "SUBTOPIC:" in role
        assert (await call(client, "research_report", slug=slug, part="plan"))["text"] == plan
        assert (await call(client, "research_status", slug=slug))["phase"] == "search"
        refused = await refusal(client, "research_start", topic="Another topic of the tides")
        assert "config.yaml" in refused["message"]
        assert (await call(client, "research_cancel", slug=slug, reason="enough"))["ok"] is True

    with_client(tmp_path, session)


def test_malformed_calls_get_errors_that_name_what_is_wrong_and_change_nothing(
    tmp_path: Path,
) -> None:
    async def session(client: Any) -> None:
        for name, given, code, words in (
            ("research_start", {}, "usage", "topic"),
            ("research_start", {"topic": 3}, "usage", "$.topic"),
            ("research_start", {"topic": "x", "colour": "red"}, "usage", "colour"),
            ("research_start", {"topic": "x", "panel": 4}, "usage", "panel"),
            ("research_start", {"topic": "x", "delegate": "nobody"}, "usage", "nobody"),
            ("research_start", {"topic": "x", "subtopics": SUBTOPICS[:1]}, "plan", "3"),
            ("research_start", {"topic": " "}, "usage", "topic"),
            ("research_submit", {"slug": "a-b", "task_id": "t"}, "usage", "empty"),
            ("research_submit", {"slug": "../x", "task_id": "t", "text": "y"}, "usage", "slug"),
            ("research_next", {"slug": "no-such-run"}, "no_such_run", "no-such-run"),
            ("research_next", {"slug": "--help"}, "usage", "slug"),
            ("research_cancel", {"slug": "no-such-run"}, "no_such_run", "no-such-run"),
            ("research_wait", {"slug": "x", "timeout": 1e9}, "usage", "timeout"),
        ):
            error = await refusal(client, name, **given)
            assert error["code"] == code and words.casefold() in error["message"].casefold(), (
                name, given, error,
            )  # fmt: skip
        for uri in ("omh://report/../../etc", "omh://nothing/x", "file:///etc/passwd"):
            with pytest.raises(Exception, match=r"(?i)slug|no resource|no_such|not found|invalid"):
                await client.read_resource(uri)
        with pytest.raises(Exception, match="no tool 'no_such_tool'"):
            await client.call_tool("no_such_tool", {})
        assert not list(tmp_path.glob(".omh/research/*"))

    with_client(tmp_path, session)


def test_lists_and_numbers_written_as_text_are_taken_as_meant(tmp_path: Path) -> None:
    tools = {tool.name: tool for tool in TOOLS}
    scratch = Scratch(tmp_path, str(tmp_path))
    given = {"topic": "[draft] {x}", "subtopics": json.dumps(SUBTOPICS), "rounds": "2"}
    words = tools["research_start"].command(given, scratch)
    assert words[-1] == "[draft] {x}" and words[words.index("--rounds") + 1] == "2"
    assert json.loads(Path(words[words.index("--plan") + 1]).read_bytes()) == SUBTOPICS
    for wrong in ("[not json", '{"a": 1}', "plain"):
        with pytest.raises(UsageError, match="subtopics"):
            tools["research_start"].command({"topic": "x", "subtopics": wrong}, scratch)


def test_paths_are_those_of_the_project_and_no_argument_is_an_option(tmp_path: Path) -> None:
    tools = {tool.name: tool for tool in TOOLS}
    scratch = Scratch(tmp_path / "scratch", "/project")
    words = tools["research_start"].command({"topic": "--root=/", "corpus": ["docs"]}, scratch)
    assert words[words.index("--corpus") + 1] == os.path.normpath("/project/docs")
    assert words[-2:] == ["--", "--root=/"]
    assert tools["research_status"].command({"slug": "--help"}, scratch)[-2:] == ["--", "--help"]


@pytest.mark.parametrize("folder", ["../x", "/etc/x", ".", "a/../.."])
def test_a_bundle_is_written_below_the_project_root_only(tmp_path: Path, folder: str) -> None:
    tools = {tool.name: tool for tool in TOOLS}
    scratch = Scratch(tmp_path, str(tmp_path / "root"))
    given = {"topic": "x", "queries": ["a"], "output_dir": folder}
    with pytest.raises(UsageError, match="below the project root"):
        tools["literature_run"].command(given, scratch)
    words = tools["literature_run"].command({**given, "output_dir": "b/c"}, scratch)
    assert str(tmp_path / "root" / "b" / "c") in words


def test_every_tool_has_a_closed_schema_a_description_and_a_command() -> None:
    names = [tool.name for tool in TOOLS]
    for word in ("start", "next", "submit", "status", "cancel"):
        assert sum(word in name for name in names) == 1, word
    for tool in TOOLS:
        schema = tool.schema()
        assert schema["type"] == "object" and schema["additionalProperties"] is False
        assert len(tool.description) > 20
        assert set(schema.get("required", [])) <= set(schema["properties"])
