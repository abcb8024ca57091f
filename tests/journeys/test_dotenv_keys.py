"""Keys of a root's `.env` reach every provider from every command, and stand nowhere (D6, T7)."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from omh_research.delegates.registry import make
from omh_research.errors import DelegateError
from omh_research.providers.web.keys import for_delegates
from tests.delegates.tasks import a_task
from tests.providers.site import Answer, Asked, Site
from tests.runs import Ended, cli

KEYS = {
    "OPENALEX_API_KEY": "canary-openalex-7f3a",
    "SEMANTIC_SCHOLAR_API_KEY": "canary-semantic-91bc",
    "NCBI_API_KEY": "canary-ncbi-55de",
    "TAVILY_API_KEY": "canary-tavily-02ff",
}
PROVIDERS = ("openalex", "semanticscholar", "pubmed", "crossref", "arxiv", "tavily",
             "duckduckgo", "wikipedia")  # fmt: skip


def echo(asked: Asked) -> Answer:
    """The worst of servers: it refuses, and repeats everything it was sent."""
    said = json.dumps({"error": [asked.path, asked.params, asked.headers, asked.body.decode()]})
    return Answer(said.encode(), 400)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Site, Path]]:
    for name in list(os.environ):
        if name.startswith("OMH_") or name.endswith(("_PROXY", "_proxy", "_API_KEY")):
            monkeypatch.delenv(name)
    root = tmp_path / "root"
    root.mkdir()
    (root / ".env").write_text("".join(f"{name}={key}\n" for name, key in KEYS.items()))
    (root / "queries.json").write_text(json.dumps([f"tides of {n}" for n in "abcde"]))
    monkeypatch.setenv("OMH_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(root)
    with Site(echo) as site:
        for name, value in site.environ(*PROVIDERS).items():
            monkeypatch.setenv(name, value)
        yield site, root


def literature() -> Ended:
    return cli("literature", "run", "--topic", "Tides", "--query-file", "queries.json",
               "--output-dir", "bundle", "--provider-order", "openalex,semantic_scholar",
               "--json")  # fmt: skip


def over_mcp() -> Ended:
    pytest.importorskip("mcp", reason="needs the extra mcp")
    import anyio
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    said: list[str] = []

    async def work() -> None:
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "omh_research", "mcp"], env=dict(os.environ)
        )
        async with Client(server) as client:
            given = {"query": "tides", "sources": ["openalex", "semanticscholar", "pubmed"]}
            said.append(repr(await client.call_tool("academic_search", given)))

    anyio.run(work)
    return Ended(0, said[0], "")


SCHOLARLY = ("OPENALEX_API_KEY", "SEMANTIC_SCHOLAR_API_KEY", "NCBI_API_KEY")


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        (lambda: cli("tools", "academic", "--query", "tides"), SCHOLARLY),
        (literature, SCHOLARLY[:2]),
        (lambda: cli("run", "How do tides shape coasts?", "--json"), tuple(KEYS)),
        (lambda: cli("web", "search", "tides", "--json"), ("TAVILY_API_KEY",)),
        (over_mcp, SCHOLARLY),
    ],
    ids=["tools", "literature", "run", "web", "mcp"],
)
def test_keys_of_the_dotenv_file_are_sent_and_stand_nowhere(
    command: Callable[[], Ended], wanted: tuple[str, ...], world: tuple[Site, Path]
) -> None:
    site, root = world
    ended = command()
    sent = "".join(map(str, site.asked))
    assert [name for name in wanted if KEYS[name] not in sent] == [], ended
    assert "canary" not in ended.out + ended.err
    told = [path for path in root.parent.rglob("*") if path.is_file() and path.name != ".env"]
    assert told, "nothing was looked at"
    assert [path for path in told if b"canary" in path.read_bytes()] == []


def test_a_key_of_the_environment_beats_the_dotenv_file(
    world: tuple[Site, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    site, _ = world
    monkeypatch.setenv("NCBI_API_KEY", "of-the-environment")
    cli("tools", "academic", "--query", "tides", "--sources", "pubmed")
    assert [asked.params["api_key"] for asked in site.asked] == ["of-the-environment"]


def test_a_program_that_prints_a_key_of_the_dotenv_file_has_it_redacted(
    world: tuple[Site, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """D3: an agent program reads `.env` by itself and may show it when it fails."""
    monkeypatch.setenv("OPENAI_API_KEY", "canary-own-13")
    with (Path.cwd() / ".env").open("a") as file:
        file.write("OMH_LLM_BASE_URL=http://other.test\n")
    environ = for_delegates(os.environ, Path.cwd())
    options = {"command": "sh -c 'cat .env >&2; echo $OPENAI_API_KEY >&2; exit 3'"}
    with pytest.raises(DelegateError) as caught:
        make("command", options, environ=environ).answer(a_task(), None, lambda: False)
    assert "TAVILY_API_KEY=[redacted]" in str(caught.value)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    ("file", "environment", "key"),
    [
        ("OMH_LLM_BASE_URL={url}\n", {"OPENAI_API_KEY": "canary-own-11"}, "none"),
        ("OMH_LLM_BASE_URL={url}\nOPENAI_API_KEY=of-the-file\n",
         {"OMH_LLM_API_KEY": "canary-own-12"}, "of-the-file"),
        ("OMH_LLM_API_KEY=of-the-file\n", {"OMH_LLM_BASE_URL": "{url}"}, "of-the-file"),
        ("OMH_LLM_BASE_URL=http://evil.test\nOMH_LLM_API_KEY=x\n",
         {"OMH_LLM_BASE_URL": "{url}", "OMH_LLM_API_KEY": "of-the-environment"},
         "of-the-environment"),
    ],
)  # fmt: skip
def test_a_key_of_the_environment_is_not_for_an_address_that_only_the_file_names(
    file: str,
    environment: dict[str, str],
    key: str,
    world: tuple[Site, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """D4, D6: a foreign folder's `.env` cannot have the user's key sent to a server of its own."""
    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    from tests.simulators.llm_server import LlmServer, fail

    _, root = world
    with LlmServer(lambda _: fail(401, "wrong key")) as made:
        (root / ".env").write_text(file.format(url=made.openai_url))
        for name, value in environment.items():
            monkeypatch.setenv(name, value.format(url=made.openai_url))
        cli("run", "How do tides shape coasts?", "--delegate", "llm", "--model", "m", "--json")
    assert made.headers, "the model was asked"
    sent = [{n.lower(): v for n, v in headers.items()}["authorization"] for headers in made.headers]
    assert set(sent) == {f"Bearer {key}"}
