"""The academic evidence tool: the seed's contract, side by side, honest errors (T6, T7, T25)."""

from __future__ import annotations

import json
import math
import threading
from typing import Any

import pytest

from omh_research.tools import academic
from tests.providers.conftest import own_environment, site
from tests.providers.site import Answer, Asked

__all__ = ["own_environment", "site"]

CROSSREF = {"message-type": "work-list", "message": {"items": [
    {"DOI": "10.5555/A", "title": ["Shared work"], "type": "journal-article", "URL": "https://doi.org/10.5555/a",
     "author": [{"given": f"G{n}", "family": f"F{n}"} for n in range(14)],
     "issued": {"date-parts": [[2020, 2, 3]]}, "abstract": "<jats:p>About it.</jats:p>"},
    {"DOI": "10.5555/b", "title": ["Editorial"], "type": "journal-article"},
    {"DOI": "10.5555/c", "title": ["Editorial"], "type": "journal-article"},
]}}  # fmt: skip
OPENALEX = {"results": [
    {"id": "https://openalex.org/W1", "doi": "https://doi.org/10.5555/a", "title": "Shared work, again"},
    {"id": "https://openalex.org/W2", "doi": None, "title": "Shared  Work"},
    {"id": "https://openalex.org/W3", "doi": None, "title": "Own work"},
]}  # fmt: skip
SCHOLAR = {"total": 1, "data": [{"paperId": "p1", "title": "Paper", "year": 2019}]}
FEED = (
    '<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/abs/2001.00001v2</id>'
    "<title>Feed work</title><summary>S</summary><published>2020-01-01T00:00:00Z</published></entry></feed>"
)
RECORDS = (
    "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>7</PMID><Article><ArticleTitle>Med work"
    "</ArticleTitle></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>"
)
IDS = {"esearchresult": {"count": "1", "idlist": ["7"]}}


def _answers(asked: Asked) -> Answer:
    if "esearch" in asked.path:
        return Answer(json.dumps(IDS).encode())
    if "efetch" in asked.path:
        return Answer(RECORDS.encode(), content_type="text/xml")
    if "api/query" in asked.path:
        return Answer(FEED.encode(), content_type="application/atom+xml")
    if "paper/search" in asked.path:
        return Answer(json.dumps(SCHOLAR).encode())
    return Answer(json.dumps(OPENALEX if "search" in asked.params else CROSSREF).encode())


@pytest.fixture
def world(site: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """All five providers at one loopback site; the environment points to it."""
    server = site(_answers)
    for name, value in server.environ(*academic.DEFAULT_SOURCES).items():
        monkeypatch.setenv(name, value)
    return server


def test_result_has_the_seeds_fields_to_the_letter(world: Any) -> None:
    data = academic.search("shared work", ["crossref", "pubmed"], 5, 10.0)
    assert list(data) == ["query", "sources_queried", "count", "results", "errors"]
    first, last = data["results"][0], data["results"][-1]
    assert list(first) == ["id", "source", "title", "text", "authors", "date", "doi", "url"]
    assert first["text"] == "About it." and first["date"] == "2020-02-03"
    assert (first["doi"], first["url"]) == ("10.5555/a", "https://doi.org/10.5555/a")
    assert len(first["authors"]) == academic.MAX_AUTHORS == 10
    assert (last["source"], last["pmid"]) == ("pubmed", "7")
    assert (data["count"], data["errors"]) == (len(data["results"]), [])


def test_results_come_in_the_order_asked_for_without_repeats(world: Any) -> None:
    """T6: merged in the order asked for, de-duplicated by DOI then title."""
    data = academic.search("x", ["openalex", "crossref"], 5, 10.0)
    assert [(r["source"], r["title"]) for r in data["results"]] == [
        ("openalex", "Shared work, again"),
        ("openalex", "Shared Work"),
        ("openalex", "Own work"),
        ("crossref", "Editorial"),
        ("crossref", "Editorial"),
    ]
    turned = academic.search("x", ["crossref", "openalex"], 5, 10.0)
    assert [r["title"] for r in turned["results"]] == [
        "Shared work",
        "Editorial",
        "Editorial",
        "Own work",
    ]


def test_all_five_are_asked_by_default(world: Any) -> None:
    data = academic.search("x")
    assert data["sources_queried"] == ["arxiv", "openalex", "crossref", "semanticscholar", "pubmed"]
    assert {r["source"] for r in data["results"]} == set(data["sources_queried"])
    assert (
        next(r for r in data["results"] if r["source"] == "arxiv")["id"]
        == "http://arxiv.org/abs/2001.00001v2"
    )


def test_unknown_source_is_an_entry_in_errors(world: Any) -> None:
    data = academic.search("x", ["scopus", "arxiv", "arxiv"], 5, 10.0)
    assert data["errors"] == [{"source": "scopus", "error": "unknown source"}]
    assert (data["sources_queried"], data["count"]) == (["arxiv"], 1)


def test_each_source_fails_alone(world: Any) -> None:
    def answer(asked: Asked) -> Answer:
        if "paper/search" in asked.path:
            return Answer(b"{}", 429, headers={"Retry-After": "54000"})
        if "esearch" in asked.path:
            return Answer(b"<html>down</html>", 200, "text/html")
        return _answers(asked)

    world.answer = answer
    data = academic.search("x", None, 5, 10.0)
    failed = {error["source"]: error for error in data["errors"]}
    assert set(failed) == {"semanticscholar", "pubmed"}
    assert failed["semanticscholar"]["exhausted_until"].endswith("Z")
    assert {r["source"] for r in data["results"]} == {"arxiv", "openalex", "crossref"}


def test_providers_are_asked_side_by_side(world: Any) -> None:
    """Issue 3.3: five slow providers cost the time of the slowest: all five wait at once here."""
    together = threading.Barrier(5, timeout=20.0)

    def answer(asked: Asked) -> Answer:
        if "efetch" not in asked.path:  # PubMed's second request
            together.wait()
        return _answers(asked)

    world.answer = answer
    assert academic.search("x", None, 5, 20.0)["errors"] == []
    assert not together.broken


@pytest.mark.parametrize(
    ("limit", "clamped"), [(0, 1), (-5, 1), (7, 7), (99, 25), (math.nan, 1), (math.inf, 1)]
)
def test_limit_is_clamped(limit: float, clamped: int) -> None:
    assert academic.clamp_limit(limit) == clamped


@pytest.mark.parametrize(
    ("timeout", "clamped"), [(0, 1.0), (-1, 1.0), (30, 30.0), (900, 60.0), (math.nan, 1.0)]
)
def test_timeout_is_clamped(timeout: float, clamped: float) -> None:
    assert academic.clamp_timeout(timeout) == clamped


def test_limit_is_asked_for_and_kept(world: Any) -> None:
    data = academic.search("x", ["crossref"], 1, 10.0)
    assert data["count"] == 1
    assert world.asked[0].params["rows"] == "1"


def test_empty_query_asks_nobody(world: Any) -> None:
    data = academic.search("  ", ["arxiv"], 5, 5.0)
    assert (data["count"], data["errors"][0]["source"], world.asked) == (0, "arxiv", [])


def test_offline_is_an_error_of_every_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMH_OFFLINE", "1")
    data = academic.search("x", None, 5, 5.0)
    assert len(data["errors"]) == 5 and all(
        "OMH_OFFLINE" in each["error"] for each in data["errors"]
    )


def test_parsers_take_bodies_as_bytes_text_or_parsed_json() -> None:
    """The seed's parsers take parsed JSON and XML text."""
    body = json.dumps(CROSSREF)
    assert academic.parse_crossref(body.encode()) == academic.parse_crossref(body)
    assert academic.parse_crossref(CROSSREF) == academic.parse_crossref(body)
    assert academic.parse_openalex(OPENALEX)[0]["id"] == "https://openalex.org/W1"
    assert academic.parse_semanticscholar(SCHOLAR)[0]["date"] == "2019"
    assert academic.parse_arxiv(FEED)[0]["date"] == "2020-01-01"
    assert academic.parse_pubmed(RECORDS)[0]["pmid"] == "7"
