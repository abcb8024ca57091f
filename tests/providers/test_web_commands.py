"""The commands and scripts for people: exit codes, JSON, files, quoting (D6b, L7)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .site import Answer, Asked
from .test_page_reading import PAGE

PROJECT = Path(__file__).resolve().parents[2]
AWKWARD = """-n $(touch x) `id` "two  words" 'q' \\ ; & * 中文"""


def _answer(asked: Asked) -> Answer:
    if asked.path == "/page":
        return Answer(PAGE.encode(), 200, "text/html")
    if asked.path == "/w/api.php":
        found = [{"title": f"Result {n}", "snippet": "about it"} for n in range(1, 4)]
        return Answer(json.dumps({"query": {"search": found}}).encode())
    return Answer(b"no", 404, "text/plain")


@pytest.fixture
def world(site: Any, tmp_path: Path) -> Any:
    """Return (site, run): `run` calls the command in an empty root; DuckDuckGo is broken there."""
    server = site(_answer)
    environ = {
        **os.environ,
        **server.environ("duckduckgo", "wikipedia"),
        "PYTHONPATH": str(PROJECT),
    }

    def run(
        *words: str, program: tuple[str, ...] = (), **extra: str
    ) -> subprocess.CompletedProcess[str]:
        command = program or (sys.executable, "-m", "omh_research", "web")
        return subprocess.run([*command, *words], cwd=tmp_path, env={**environ, **extra},
                              capture_output=True, text=True, timeout=120)  # fmt: skip

    return server, run


def test_search_prints_results_and_tells_every_switch(world: Any) -> None:
    _, run = world
    shown = run("search", "rust", "-n", "2", "--json")
    answer = json.loads(shown.stdout)
    assert shown.returncode == 0 and answer["ok"]
    assert [list(result) for result in answer["results"]] == [
        ["title", "url", "snippet", "date", "provider", "rank"]
    ] * 2
    assert [(a["provider"], a["state"]) for a in answer["attempts"]] == [
        ("duckduckgo", "error"),
        ("wikipedia", "ok"),
    ]
    assert "duckduckgo" in shown.stderr
    plain = run("search", "rust", "--provider", "wikipedia")
    assert plain.stdout.startswith("1. Result 1\n") and plain.stderr == ""


def test_search_without_an_answer_fails_and_writes_nothing(world: Any, tmp_path: Path) -> None:
    server, run = world
    server.answer = lambda asked: Answer(b"down", 403, "text/plain")
    shown = run("search", "x", "--json", "--out", "out.json")
    assert shown.returncode == 1 and json.loads(shown.stdout)["results"] == []
    assert not (tmp_path / "out.json").exists()


def test_read_prints_markdown_or_json_or_writes_a_file(world: Any, tmp_path: Path) -> None:
    server, run = world
    url = server.base + "/page"
    assert run("read", url).stdout.startswith("# Boiling water")
    answer = json.loads(run("read", url, "--json").stdout)
    assert {
        "url",
        "final_url",
        "status",
        "title",
        "language",
        "date",
        "text",
        "state",
    } <= answer.keys()
    assert (answer["state"], answer["status"], answer["language"], answer["date"]) == (
        "ok",
        200,
        "en",
        "2024-03-05",
    )
    written = run("read", url, "--out", "page.md")
    assert written.returncode == 0 and written.stdout == ""
    assert (tmp_path / "page.md").read_text("utf-8").startswith("# Boiling water")


@pytest.mark.parametrize(("path", "state"), [("/none", "not_found"), ("/page", "refused")])
def test_page_that_was_not_read_is_a_failure_with_its_state(
    path: str, state: str, world: Any, tmp_path: Path
) -> None:
    server, run = world
    extra = {"OMH_ALLOW_HOSTS": ""} if state == "refused" else {}
    shown = run("read", server.base + path, "--json", "--out", "page.json", **extra)
    answer = json.loads(shown.stdout)
    assert (shown.returncode, answer["state"], answer["text"]) == (1, state, "")
    assert answer["status"] == (404 if state == "not_found" else None)
    assert state in shown.stderr and not (tmp_path / "page.json").exists()


def test_offline_is_said(world: Any) -> None:
    server, run = world
    shown = run("read", server.base + "/page", OMH_OFFLINE="1")
    assert shown.returncode == 1 and "OMH_OFFLINE" in shown.stderr and server.asked == []


@pytest.mark.parametrize("words", [("search", ""), ("search", "x", "-n", "0"), ("search", "x", "--provider", "altavista"),
                                   ("read", "http://a.test/", "--timeout", "900"), ("read",)])  # fmt: skip
def test_wrong_words_are_a_usage_error(words: tuple[str, ...], world: Any) -> None:
    server, run = world
    assert run(*words).returncode == 2 and server.asked == []


def test_out_refuses_a_link(world: Any, tmp_path: Path) -> None:
    server, run = world
    (tmp_path / "victim").write_text("kept", encoding="utf-8")
    (tmp_path / "link").symlink_to("victim")
    assert run("read", server.base + "/page", "--out", "link").returncode == 2
    assert (tmp_path / "victim").read_text("utf-8") == "kept"


@pytest.mark.skipif(os.name == "nt", reason="shell scripts")
def test_scripts_pass_awkward_words_on_whole(world: Any, tmp_path: Path) -> None:
    """L7: safe for quotes and spaces in their arguments."""
    server, run = world
    if not (PROJECT / ".venv" / "bin" / "omh-research").exists():
        pytest.skip("the scripts need the project's environment")
    found = run(AWKWARD, "2", "out file.txt", program=(str(PROJECT / "scripts" / "search.sh"),))
    assert found.returncode == 0, found.stderr
    assert (tmp_path / "out file.txt").read_text("utf-8").count("about it") == 2
    sent = [asked.params["q"] for asked in server.asked if asked.path == "/html/"]
    assert sent == [AWKWARD]
    read = run(
        server.base + "/page", "a page.md", program=(str(PROJECT / "scripts" / "read_page.sh"),)
    )
    assert read.returncode == 0 and (tmp_path / "a page.md").exists()
    assert not (tmp_path / "x").exists()
    assert run(program=(str(PROJECT / "scripts" / "read_page.sh"),)).returncode == 2


def test_the_configured_contact_address_reaches_the_academic_providers(
    site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T7: `contact` of the configuration is the polite address, for every command that searches."""
    from tests.runs import cli

    empty = b'{"message": {"items": [], "total-results": 0}}'
    made = site(lambda asked: Answer(empty))
    for name, value in made.environ("crossref").items():
        monkeypatch.setenv(name, value)
    (tmp_path / ".omh").mkdir()
    (tmp_path / ".omh" / "config.yaml").write_text("contact: polite@example.org\n")
    monkeypatch.chdir(tmp_path)
    assert cli("tools", "academic", "--query", "tides", "--sources", "crossref").code == 0
    (tmp_path / "queries.json").write_text(json.dumps([f"tides {n}" for n in "abcde"]))
    words = ("--topic", "Tides", "--query-file", "queries.json", "--provider-order", "crossref")
    cli("literature", "run", *words, "--output-dir", "bundle", "--json")
    assert len(made.asked) > 1, "literature asked too"
    assert {asked.params.get("mailto") for asked in made.asked} == {"polite@example.org"}
