"""Web search: real result bodies, keys, fallbacks, honest "unknown" (D6, D6b, T7c)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.documents.source import Hit
from omh_research.errors import PrerequisiteError, ProviderError, UsageError
from omh_research.providers.availability import reach_all, web_trouble
from omh_research.providers.web import duckduckgo as ddg
from omh_research.providers.web import open_web
from omh_research.providers.web.keys import find_key, read_dotenv, with_keys
from omh_research.providers.web.searching import WebSearch, build_provider, configured_names
from omh_research.providers.web.services import (
    parse_brave,
    parse_searxng,
    parse_serper,
    parse_tavily,
)
from omh_research.providers.web.wikipedia import edition
from omh_research.providers.web.wikipedia import parse as parse_wikipedia
from omh_research.settings import Settings

from .site import Answer, Asked, Site

PARSERS = {"tavily": parse_tavily, "brave": parse_brave, "serper": parse_serper,
           "searxng": parse_searxng, "duckduckgo": ddg.parse}  # fmt: skip
BODIES: dict[str, Any] = {
    "tavily": {"results": [{"url": "https://a.test/1", "title": "T", "content": "C", "published_date": "2026-01-11"}]},
    "brave": {"web": {"results": [{"url": "https://a.test/1", "title": "<b>T</b>", "description": "C <strong>x</strong>"}]}},
    "serper": {"organic": [{"link": "https://a.test/1", "title": "T", "snippet": "C", "date": "3 days ago"}]},
    "searxng": {"results": [{"url": "https://a.test/1", "title": "T", "content": "C"}, {"url": "gopher://x"}]},
    "wikipedia": {"query": {"search": [{"title": "Rust (language)", "snippet": "a <span class=\"m\">b</span>"}]}},
}  # fmt: skip
RESULT_PAGE = (
    '<div class="result results_links"><a class="result__a" href="//duckduckgo.com/l/?uddg='
    'https%3A%2F%2Fa.test%2F1%3Fx%3D1&rut=f">T &amp; <b>U</b></a>'
    '<a class="result__snippet" href="#">C <b>d</b></a></div>'
    '<div class="result result--ad"><a class="result__a" href="https://ad.test/">Ad</a></div>'
    '<div class="result"><a class="result__a" href="https://duckduckgo.com/y.js?ad=1">Ad 2</a></div>'
)


def _bodies(asked: Asked) -> Answer:
    if asked.path == "/html/":
        return Answer(RESULT_PAGE.encode(), content_type="text/html")
    name = {"/res/v1/web/search": "brave", "/w/api.php": "wikipedia"}.get(asked.path)
    if name is None:
        name = (
            "searxng"
            if asked.method == "GET"
            else ("serper" if "x-api-key" in asked.headers else "tavily")
        )
    return Answer(json.dumps(BODIES[name]).encode())


@pytest.mark.parametrize(
    "name", ["tavily", "brave", "serper", "searxng", "wikipedia", "duckduckgo"]
)
def test_each_provider_finds_over_http(name: str, site: Any) -> None:
    server = site(_bodies)
    keys = {"TAVILY_API_KEY": "k-tav-1", "BRAVE_API_KEY": "k-bra-1", "SERPER_API_KEY": "k-ser-1"}
    environ = server.environ(name) | keys
    provider = build_provider(name, server.transport(), environ)
    (hit,) = provider.search('a "b" & c?', limit=5)
    assert (hit.provider, hit.rank) == (name, 1)
    assert hit.url.startswith("http") and "<" not in hit.title + hit.snippet
    assert hit.date == ("2026-01-11" if name == "tavily" else "")


def test_duckduckgo_links_are_unwrapped_and_advertisements_left_out() -> None:
    (hit,) = ddg.parse(RESULT_PAGE)
    assert (hit.url, hit.title, hit.snippet) == ("https://a.test/1?x=1", "T & U", "C d")


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "provider", "count"),
    [("brave-brave-response.json", "brave", 18), ("brave-schema.json", "brave", 2),
     ("serper-serper.json", "serper", 10), ("serper-schema.json", "serper", 2),
     ("tavily-schema.json", "tavily", 2), ("tavily-zh-cli.json", "tavily", 6),
     ("tavily-utf16-tavily-output.json", "tavily", 3), ("searxng-schema.json", "searxng", 2),
     ("searxng-scout-schema.json", "searxng", 2), ("searxng-search-response-good.json", "searxng", 5),
     ("duckduckgo-html-ddg-results.html", "duckduckgo", 10), ("duckduckgo-schema.json", "duckduckgo", 4)],
)  # fmt: skip
def test_recorded_results_are_read(file: str, provider: str, count: int, shared: Path) -> None:
    hits = PARSERS[provider]((shared / "search" / file).read_bytes())
    assert len(hits) == count
    assert all(hit.title and hit.url.startswith(("http://", "https://")) for hit in hits)
    assert [hit.rank for hit in hits] == list(range(1, count + 1))
    assert not any("<b>" in hit.snippet or "\x00" in hit.snippet for hit in hits)


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "provider"),
    [("duckduckgo-html-ddg-captcha.html", "duckduckgo"), ("searxng-search-response-blocked.html", "searxng")],
)  # fmt: skip
def test_recorded_bot_check_is_unknown_never_nothing_found(
    file: str, provider: str, shared: Path
) -> None:
    with pytest.raises(ProviderError):
        PARSERS[provider]((shared / "search" / file).read_bytes())


def test_nothing_found_is_told_from_no_answer() -> None:
    assert parse_tavily(b'{"results": []}') == []
    assert parse_brave(b'{"query": {"original": "x"}}') == []
    assert parse_serper(b'{"searchParameters": {}, "organic": []}') == []
    assert parse_searxng(b'{"results": []}') == []
    assert ddg.parse('<div class="no-results">No results.</div>') == []
    assert parse_wikipedia(b'{"query": {"search": []}}', "https://w.test") == []
    for parse, body in (
        (parse_searxng, b'{"results": [], "unresponsive_engines": [["google", "timeout"]]}'),
        (parse_tavily, b'{"detail": {"error": "Unauthorized"}}'),
        (parse_brave, b'{"type": "ErrorResponse"}'),
        (parse_serper, b'{"message": "Not enough credits"}'),
        (ddg.parse, b"<html><body>Welcome</body></html>"),
        (
            lambda body: parse_wikipedia(body, "https://w.test"),
            b'{"error": {"code": "ratelimited"}}',
        ),
    ):
        with pytest.raises(ProviderError):
            parse(body)


@given(st.binary(max_size=200))
def test_any_bytes_are_results_or_a_typed_failure(body: bytes) -> None:
    for parse in PARSERS.values():
        try:
            found = parse(body)
        except ProviderError:
            continue
        assert all(isinstance(hit, Hit) for hit in found)


@pytest.mark.parametrize(
    ("query", "language"),
    [("rust ownership", "en"), ("量子计算", "zh"), ("量子コンピュータ", "ja"), ("양자 컴퓨터", "ko"),
     ("квантовый компьютер", "ru"), ("الحوسبة الكمية", "ar"), ("Größe der Erde", "en")],
)  # fmt: skip
def test_edition_follows_the_script_of_the_query(query: str, language: str) -> None:
    assert edition(query) == language


def _searcher(site: Site, *names: str, provider: str = "", **extra: str) -> WebSearch:
    environ = site.environ(*names) | extra
    return WebSearch(site.transport(sleep=lambda s: None), environ=environ, provider=provider)


def test_failing_provider_is_followed_by_the_next_keyless_one(site: Any) -> None:
    """D6b: a provider that fails is followed by the next; every attempt is told."""

    def answer(asked: Asked) -> Answer:
        if asked.path == "/html/":
            return Answer(b"<html>anomaly-modal</html>", 202, "text/html")
        return _bodies(asked)

    server = site(answer)
    outcome = _searcher(server, "duckduckgo", "wikipedia").find("x", limit=3)
    assert [(a.provider, a.state) for a in outcome.attempts] == [
        ("duckduckgo", "error"),
        ("wikipedia", "ok"),
    ]
    assert "bot check" in outcome.attempts[0].detail
    assert [hit.provider for hit in outcome.hits] == ["wikipedia"]


def test_exhausted_provider_is_routed_around(site: Any) -> None:
    """T7b: marked `exhausted_until`, routed around and reported."""

    def answer(asked: Asked) -> Answer:
        if asked.path == "/html/":
            return Answer(b"", 429, headers={"Retry-After": "36000"})
        return _bodies(asked)

    server = site(answer)
    searcher = _searcher(server, "duckduckgo")
    environ_wiki = server.environ("duckduckgo", "wikipedia")
    environ_wiki["OMH_DUCKDUCKGO_URL"] += "/ddg"
    server.answer = lambda asked: (
        Answer(b"", 429, headers={"Retry-After": "36000"})
        if "/ddg" in asked.path
        else _bodies(asked)
    )
    searcher = WebSearch(server.transport(sleep=lambda s: None), environ=environ_wiki)
    for _ in range(2):
        outcome = searcher.find("x", limit=3)
        assert [(a.provider, a.state) for a in outcome.attempts] == [
            ("duckduckgo", "exhausted"),
            ("wikipedia", "ok"),
        ]
    assert sum("/ddg" in asked.path for asked in server.asked) == 1


def test_all_failing_is_unknown_with_every_reason(site: Any) -> None:
    """Complaint 8: all providers raise: no invented results, an end."""
    server = site(lambda asked: Answer(b"down", 500, "text/plain"))
    searcher = _searcher(server, "duckduckgo", "wikipedia")
    assert not searcher.find("x", limit=3).is_known
    with pytest.raises(ProviderError, match=r"duckduckgo.*wikipedia"):
        searcher.search("x", limit=3)


def test_keys_come_from_the_environment_or_the_dotenv_file_and_are_never_shown(
    tmp_path: Path, site: Any
) -> None:
    """D6: never written anywhere; canary over attempts and errors."""
    (tmp_path / ".env").write_text(
        "# keys\nexport TAVILY_API_KEY='canary-tavily-1' # mine\nBRAVE_API_KEY=canary-brave-2 # x\nBAD LINE\nSERPER_API_KEY=\n",
        encoding="utf-8",
    )
    filled = with_keys({"JINA_API_KEY": ""}, tmp_path)
    assert [find_key(name, filled) for name in ("tavily", "brave", "serper", "jina")] == [
        "canary-tavily-1", "canary-brave-2", "", "",
    ]  # fmt: skip
    assert find_key("tavily", with_keys({"TAVILY_API_KEY": "env"}, tmp_path)) == "env"
    server = site(
        lambda asked: Answer(json.dumps({"echo": [asked.headers, asked.params]}).encode(), 403)
    )
    environ = with_keys(server.environ("tavily", "brave", "duckduckgo", "wikipedia"), tmp_path)
    searcher = WebSearch(server.transport(), environ=environ)
    outcome = searcher.find("x", limit=1)
    assert [a.provider for a in outcome.attempts] == ["tavily", "brave", "duckduckgo", "wikipedia"]
    assert "canary" in str([asked.headers for asked in server.asked])
    assert "canary" not in str(outcome)


def test_absent_or_odd_dotenv_is_no_fault(tmp_path: Path) -> None:
    assert read_dotenv(None) == {} and read_dotenv(tmp_path) == {}
    (tmp_path / ".env").write_bytes(b'\xef\xbb\xbfA=1\r\nB="two words"\r\n=x\n\xff\xfe\nC=\'open\n')
    assert read_dotenv(tmp_path) == {"A": "1", "B": "two words", "C": "open"}


def test_only_keys_are_taken_from_the_dotenv_file_and_the_environment_wins(tmp_path: Path) -> None:
    """D6, D7: a `.env` file opens no host, moves no provider, lifts no ban."""
    (tmp_path / ".env").write_text(
        "OMH_ALLOW_HOSTS=127.0.0.1:1\nOMH_OPENALEX_URL=http://evil.test\nOMH_OFFLINE=0\n"
        "HTTPS_PROXY=http://evil.test\nOMH_CONTACT=evil@example.org\nOPENAI_API_KEY=canary-4\n"
        "OPENALEX_API_KEY=canary-1\nSEMANTIC_SCHOLAR_API_KEY=canary-2\nNCBI_API_KEY=canary-3\n"
    )
    environ = {"OMH_OFFLINE": "1", "S2_API_KEY": "mine", "NCBI_API_KEY": " ", "PATH": "/bin"}
    assert with_keys(environ, tmp_path) == environ | {
        "OPENALEX_API_KEY": "canary-1", "NCBI_API_KEY": "canary-3",
    }  # fmt: skip
    assert with_keys(environ, None) == environ


def test_configured_order_is_keyed_then_keyless() -> None:
    assert configured_names({}) == ["duckduckgo", "wikipedia"]
    environ = {"SERPER_API_KEY": "k", "OMH_SEARXNG_URL": "http://s.test"}
    assert configured_names(environ) == ["serper", "searxng", "duckduckgo", "wikipedia"]


def test_missing_key_or_name_is_said_with_what_to_do(site: Any) -> None:
    server = site(_bodies)
    with pytest.raises(PrerequisiteError, match="TAVILY_API_KEY"):
        build_provider("tavily", server.transport(), {}).search("x", limit=1)
    with pytest.raises(UsageError, match="duckduckgo"):
        WebSearch(server.transport(), environ={}, provider="altavista")


def test_academic_providers_give_leads_too(site: Any) -> None:
    body = {
        "results": [
            {
                "id": "https://openalex.org/W1",
                "doi": "https://doi.org/10.5555/a",
                "title": "T",
                "publication_date": "2020-01-02",
            }
        ]
    }
    server = site(lambda asked: Answer(json.dumps(body).encode()))
    (hit,) = build_provider("openalex", server.transport(), server.environ("openalex")).search(
        "x", limit=3
    )
    assert (hit.url, hit.identifiers.doi, hit.date) == (
        "https://doi.org/10.5555/a",
        "10.5555/a",
        "2020-01-02",
    )
    server.answer = lambda asked: Answer(b"x", 500)
    with pytest.raises(ProviderError):
        build_provider(
            "openalex", server.transport(sleep=lambda s: None), server.environ("openalex")
        ).search("x", limit=3)


def test_web_trouble_is_known_before_a_run(
    site: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """E36: no usable search, said before any file is written; it sends nothing."""
    server = site(_bodies)
    for name, value in server.environ("duckduckgo").items():
        monkeypatch.setenv(name, value)
    settings = Settings(root=str(tmp_path))
    assert web_trouble(settings) == "" and server.asked == []
    assert ("duckduckgo", "") in reach_all(settings)
    assert "OMH_OFFLINE" in web_trouble(Settings(root=str(tmp_path), offline=True))
    monkeypatch.delenv("OMH_ALLOW_HOSTS")
    for name in ("wikipedia", "openalex", "crossref"):
        monkeypatch.setenv(f"OMH_{name.upper()}_URL", server.base)
    assert "not a public address" in web_trouble(settings)


def test_open_web_gives_general_searches_first_and_the_literature_last(tmp_path: Path) -> None:
    providers, reader = open_web(Settings(root=str(tmp_path)))
    assert [provider.name for provider in providers] == [
        "duckduckgo", "wikipedia", "openalex", "crossref", "semanticscholar", "arxiv", "pubmed",
    ]  # fmt: skip
    assert reader.name == "web"
