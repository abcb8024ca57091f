"""How providers answer over real HTTP: recorded bodies, faults, exhaustion, look-ups (T6-T8)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from omh_research.providers.academic.lookup import lookup_doi, retraction_status, titles_agree
from omh_research.providers.academic.record import Filters, ProviderAnswer, Record
from omh_research.providers.academic.search import PROVIDERS, fetch, passes

from .site import Answer, Asked, Site

OURS = ("arxiv", "crossref", "openalex", "semanticscholar", "pubmed")
ESEARCH = json.dumps({"esearchresult": {"count": "1", "idlist": ["1"]}}).encode()
WORK = {
    "DOI": "10.5555/12345678",
    "title": ["Toward a Unified Theory: a Review"],
    "type": "journal-article",
}


def _ask(name: str, site: Site, query: str = "attention", **options: Any) -> ProviderAnswer:
    given = {"limit": 25, "timeout_s": 20.0, "transport": site.transport(sleep=lambda s: None),
             "environ": site.environ(name)}  # fmt: skip
    return fetch(name, query, **(given | options))


def _records_only(answer: Answer) -> Any:
    """Answer PubMed's search for ids with one id, and everything else with `answer`."""
    return lambda asked: Answer(ESEARCH) if "esearch" in asked.path else answer


def _recorded(shared: Path) -> list[dict[str, Any]]:
    index = json.loads((shared / "providers" / "index.json").read_text("utf-8"))
    return [entry for entry in index if entry["provider"] in OURS]


def _same_words(one: str, other: str) -> bool:
    plain = [re.sub(r"\W+", "", re.sub(r"<[^>]*>", "", text)).casefold() for text in (one, other)]
    return plain[0] == plain[1]


@pytest.mark.data
def test_every_recorded_body_is_read_right_or_unknown(shared: Path, site: Any) -> None:
    """Issue 3.3: served over loopback HTTP, every good one right, every bad one unknown."""
    gold: dict[str, list[dict[str, Any]]] = {}
    rows = (shared / "dedupe" / "cross-provider-a.jsonl").read_text("utf-8").split("\n")
    for row in (json.loads(line) for line in rows if line):
        gold.setdefault(row["file"], []).append(row)
    current: list[Answer] = []
    server = site(lambda asked: _records_only(current[0])(asked))
    seen = {"good": 0, "bad": 0}
    for entry in _recorded(shared):
        body = (shared / "providers" / entry["file"]).read_bytes()
        kind = entry.get("content_type") or "application/json"
        current[:] = [Answer(body, entry["status"], kind)]
        answer = _ask(entry["provider"], server, limit=2000)
        if entry["file"] in gold:
            seen["good"] += 1
            assert answer.status in ("success", "partial"), (entry["file"], answer.reason)
            for row in gold[entry["file"]]:
                _check(answer.records[row["index"]], row)
        elif entry["status"] != 200:
            seen["bad"] += 1
            assert answer.status in ("error", "exhausted") and answer.reason, entry["file"]
        elif b'"status_code"' in body[:40]:  # wrapped by its recorder: read through the wrapping
            assert answer.status == "success"
        elif entry["kind"] != "other":  # those are other endpoints, some of them lists of papers
            assert answer.status in ("empty", "error") and not answer.records, entry["file"]
        _forget_marks()
    assert seen["good"] >= 100 and seen["bad"] >= 13


def _forget_marks() -> None:
    from omh_research.network.state_folder import state_home

    for mark in (state_home() / "exhausted").glob("*.json"):
        mark.unlink()


def _check(record: Record, row: dict[str, Any]) -> None:
    assert _same_words(record.title, row["title"]) or "tex-math" in row["title"]
    assert not re.search(r"</?(?:i|sub|scp|jats)", record.title)
    for field in ("year", "doi", "arxiv", "pmid"):
        if field in row:
            assert getattr(record, field) == row[field], (row["id"], field)
    # The gold list names at most eight authors.
    assert list(record.authors[:8]) == row.get("authors", list(record.authors[:8]))
    assert record.url and record.url.startswith("http")
    if row["provider"] in ("arxiv", "pubmed", "openalex"):
        assert record.published_date


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize(
    "answer",
    [
        Answer(b"Resource not found.", 404, "text/plain"),
        Answer(b'{"error": "bad"}', 400),
        Answer(b"no", 403, "text/plain"),
        Answer(b"oops", 500, "text/plain"),
        Answer(b"<html>gateway</html>", 502, "text/html"),
        Answer(b"<html><form>Sign in</form></html>", 200, "text/html"),
        Answer(b"", 200),
        Answer(b"{", 200),
    ],
    ids=["404", "400", "403", "500", "502", "login page", "nothing", "torn"],
)
def test_fault_is_unknown_never_nothing_found(name: str, answer: Answer, site: Any) -> None:
    """T7c, complaint 22."""
    found = _ask(name, site(_records_only(answer)))
    assert (found.status, found.records, found.is_known) == ("error", (), False)
    assert found.reason


@pytest.mark.parametrize("name", PROVIDERS)
def test_throttled_provider_is_remembered_and_not_asked_again(name: str, site: Any) -> None:
    """T7b: a Retry-After of 15 hours is never slept; the mark holds across invocations."""
    server = site(lambda asked: Answer(b"{}", 429, headers={"Retry-After": "54000"}))
    first, second = _ask(name, server), _ask(name, server)
    assert (first.status, second.status) == ("exhausted", "exhausted")
    assert first.exhausted_until == second.exhausted_until and len(server.asked) == 1
    assert "until" in second.reason


def test_short_wait_is_slept_and_the_answer_used(site: Any) -> None:
    answers = iter(
        [Answer(b"", 429, headers={"Retry-After": "2"}), Answer(b'{"total": 0, "data": []}')]
    )
    slept: list[float] = []
    server = site(lambda asked: next(answers))
    transport = server.transport(sleep=slept.append)
    assert _ask("semanticscholar", server, transport=transport).status == "empty"
    assert slept == [2.0]


def test_empty_feed_is_asked_again_and_then_unknown(site: Any) -> None:
    """T7b: arXiv answers empty feeds under load."""
    empty = b'<feed xmlns="http://www.w3.org/2005/Atom"></feed>'
    full = b'<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/abs/2001.00001v1</id><title>T</title></entry></feed>'
    server = site(lambda asked: Answer(empty, content_type="application/atom+xml"))
    answer = _ask("arxiv", server)
    assert (answer.status, len(server.asked)) == ("error", 2)
    bodies = iter([empty, full])
    server.answer = lambda asked: Answer(next(bodies), content_type="application/atom+xml")
    assert _ask("arxiv", server).status == "success"


def test_nothing_found_is_an_answer(site: Any) -> None:
    bodies = {
        "crossref": {"message-type": "work-list", "message": {"items": [], "total-results": 0}},
        "openalex": {"meta": {"count": 0}, "results": []},
        "semanticscholar": {"total": 0, "offset": 0},
        "pubmed": {"esearchresult": {"count": "0", "idlist": []}},
        "datacite": {"data": [], "meta": {"total": 0}},
    }
    for name, body in bodies.items():
        answer = _ask(name, site(lambda asked, body=body: Answer(json.dumps(body).encode())))
        assert (answer.status, answer.is_known, answer.total) == ("empty", True, 0)


def test_only_unusable_entries_are_an_error_and_a_few_make_it_partial(site: Any) -> None:
    def body(items: list[Any]) -> Answer:
        return Answer(
            json.dumps({"message-type": "work-list", "message": {"items": items}}).encode()
        )

    none = _ask("crossref", site(lambda asked: body([None, 5])))
    assert (none.status, none.empty_records, none.invalid_records) == ("error", 1, 1)
    some = _ask("crossref", site(lambda asked: body([None, WORK])))
    assert (some.status, len(some.records), some.empty_records) == ("partial", 1, 1)


def test_keys_and_addresses_are_sent_and_never_shown(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T7: keys only from the environment, never in logs or errors."""
    echo = lambda asked: Answer(json.dumps({"error": [asked.params, asked.headers]}).encode(), 400)  # noqa: E731
    server = site(echo)
    secrets = {"OPENALEX_API_KEY": "canary-oa-1", "SEMANTIC_SCHOLAR_API_KEY": "canary-s2-2",
               "NCBI_API_KEY": "canary-nc-3", "OMH_CONTACT": "canary@example.org"}  # fmt: skip
    for name in PROVIDERS:
        answer = _ask(name, server, environ=server.environ(name) | secrets)
        assert answer.status == "error" and "canary" not in answer.reason
    sent = [str(asked) for asked in server.asked]
    for secret in secrets.values():
        assert any(secret in each for each in sent)


def test_filters_are_asked_for_and_checked(site: Any) -> None:
    filters = Filters(2019, 2021, ("article",), True, "en", True)
    server = site(lambda asked: Answer(b"{}", 500))
    for name in OURS:
        _ask(name, server, filters=filters, timeout_s=1.0)
    params = [asked.params for asked in server.asked]
    assert "2019-01-01" in str(params) and "type:article" in str(params)
    assert "from-pub-date:2019,until-pub-date:2021,type:journal-article" in str(params)
    assert "submittedDate:[201901010000 TO 202112312359]" in str(params)
    assert "2019-2021" in str(params) and "eng[la]" in str(params)


def test_records_outside_the_filters_are_left_out() -> None:
    record = Record("x", "1", "T", year=2018, is_preprint=True, language="de", is_open_access=False)
    assert passes(record, Filters())
    for filters in (Filters(min_year=2019), Filters(max_year=2017), Filters(exclude_preprints=True),
                    Filters(language="en"), Filters(open_access=True)):  # fmt: skip
        assert not passes(record, filters)
    assert passes(Record("x", "1", "T"), Filters(2019, 2021, (), True, "en", True))


def test_base_url_keeps_its_path_prefix_and_the_providers_own_path_follows(site: Any) -> None:
    """T8: scheme, host, port and path prefix stand for the provider's own."""
    server = site(lambda asked: Answer(b'{"results": []}'))
    environ = server.environ() | {"OMH_OPENALEX_URL": f"{server.base}/mirror/"}
    _ask("openalex", server, environ=environ)
    assert server.asked[0].path == "/mirror/works"


# Look-ups (T7c)


def _registry(crossref: Answer, datacite: Answer) -> Any:
    return lambda asked: crossref if asked.path.startswith("/works/") else datacite


def _look(site: Site, doi: str = "10.5555/12345678", title: str = "") -> Any:
    transport = site.transport(sleep=lambda s: None)
    return lookup_doi(
        doi, title=title, transport=transport, environ=site.environ("crossref", "datacite")
    )


FOUND = Answer(json.dumps({"status": "ok", "message-type": "work", "message": WORK}).encode())
ABSENT = Answer(b"Resource not found.", 404, "text/plain")
NO_DATACITE = Answer(b'{"errors": [{"status": "404"}]}', 404)


def test_registered_doi_with_its_title() -> None:
    assert titles_agree("TOWARD a unified theory", "Toward a Unified Theory: a Review")


def test_doi_that_both_registries_lack_is_no(site: Any) -> None:
    answer = _look(site(_registry(ABSENT, NO_DATACITE)))
    assert (answer.status, answer.title) == ("no", "")


@pytest.mark.parametrize(
    ("title", "matches"),
    [("Toward a Unified Theory", True), ("toward a UNIFIED theory — a review", True),
     ("On the Origin of Species", False), ("", None)],
)  # fmt: skip
def test_doi_of_another_work_is_a_mismatch(title: str, matches: bool | None, site: Any) -> None:
    """Complaint 20: real DOI, false title."""
    answer = _look(site(_registry(FOUND, NO_DATACITE)), title=title)
    assert (answer.status, answer.title_match, answer.registrar) == ("yes", matches, "crossref")
    assert answer.is_mismatch == (matches is False)


@pytest.mark.parametrize(
    "fault",
    [Answer(b"", 429), Answer(b'{"a": 1}', 400), Answer(b"x", 500), Answer(b"<html>404</html>", 404, "text/html"),
     Answer(b"<html>login</html>", 200, "text/html"), Answer(b"{}", 200)],
    ids=["429", "400", "500", "a page as 404", "login", "foreign"],
)  # fmt: skip
def test_fault_of_a_registry_is_unknown_never_absent(fault: Answer, site: Any) -> None:
    """Complaint 22: an error read as an answer."""
    assert _look(site(_registry(fault, NO_DATACITE))).status == "unknown"


def test_other_registry_settles_what_the_first_cannot(site: Any) -> None:
    body = {
        "data": {
            "attributes": {"doi": "10.48550/arxiv.2312.07559", "titles": [{"title": "PaperQA"}]}
        }
    }
    server = site(_registry(Answer(b"x", 500), Answer(json.dumps(body).encode())))
    answer = _look(server, "10.48550/arXiv.2312.07559", "PaperQA")
    assert (answer.status, answer.registrar, answer.title_match) == ("yes", "datacite", True)
    assert len(server.asked) == 1  # the registry where arXiv's DOIs live is asked first


def test_doi_with_a_comma_and_slashes_is_asked_for_whole(site: Any) -> None:
    server = site(_registry(FOUND, NO_DATACITE))
    _look(server, "10.5555/(SICI)1,2/3<4>5;6")
    assert server.asked[0].path == "/works/10.5555%2F%28sici%291%2C2%2F3%3C4%3E5%3B6"


def test_what_is_no_doi_asks_nobody(site: Any) -> None:
    server = site(_registry(FOUND, FOUND))
    assert (_look(server, "not a doi").status, server.asked) == ("no", [])


def _retraction(site: Any, crossref: Answer, openalex: Answer, pubmed: Answer) -> Any:
    def answer(asked: Asked) -> Answer:
        if "esearch" in asked.path:
            return pubmed
        return openalex if "doi.org" in asked.path else crossref

    server = site(answer)
    environ = server.environ("crossref", "openalex", "pubmed")
    return retraction_status(
        "10.5555/12345678", transport=server.transport(sleep=lambda s: None), environ=environ
    )


def _alex(retracted: bool) -> Answer:
    work = {"id": "https://openalex.org/W1", "title": "T", "is_retracted": retracted}
    return Answer(json.dumps(work).encode())


NOT_INDEXED = Answer(json.dumps({"esearchresult": {"count": "0", "idlist": []}}).encode())


@pytest.mark.parametrize(
    ("crossref", "openalex", "status"),
    [
        (FOUND, _alex(False), "no"),
        (FOUND, _alex(True), "yes"),
        (Answer(b"x", 500), _alex(True), "yes"),
        (Answer(b"x", 500), _alex(False), "unknown"),
        (FOUND, Answer(b"", 429), "unknown"),
        (FOUND, Answer(b"<html></html>", 200, "text/html"), "unknown"),
        (ABSENT, Answer(b"{}", 404), "unknown"),
    ],
)
def test_no_retraction_needs_two_sources_that_answered(
    crossref: Answer, openalex: Answer, status: str, site: Any
) -> None:
    """T7c: retraction status from at least two sources, dated."""
    found = _retraction(site, crossref, openalex, NOT_INDEXED)
    assert found.status == status
    assert [each.source for each in found.sources] == ["crossref", "openalex", "pubmed"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found.checked_at)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Deep Learning", "Deep learning", True),
        ("Deep Learning", "Deep Learning.", True),
        ("A Survey of X", "A Survey of X: Methods and Outlook", True),
        ("Über Träume und Schlaf", "Uber Traume und Schlaf", True),
        ("H2O dynamics", "H₂O dynamics", True),
        ("Deep Learning", "Deep Learning for Dogs", False),
        ("Effects of aspirin in adults", "Effects of ibuprofen in adults", False),
        ("", "Anything", False),
    ],
)
def test_which_titles_agree(one: str, other: str, same: bool) -> None:
    assert titles_agree(one, other) is same
