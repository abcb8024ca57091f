"""What the academic parsers read out of bodies, good and bad (T6, T7, T7c, B6)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.errors import ProviderError
from omh_research.providers.academic import (
    arxiv,
    crossref,
    datacite,
    openalex,
    pubmed,
    semanticscholar,
)
from omh_research.providers.academic.record import Filters
from omh_research.providers.academic.xml_reading import MAX_DEPTH, parse_xml
from omh_research.providers.cleaning import clean_arxiv, clean_date, clean_doi, clean_text

JSON_PARSERS = [crossref.parse, openalex.parse, semanticscholar.parse, datacite.parse]
XML_PARSERS = [arxiv.parse, pubmed.parse]

FEED = """<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"
 xmlns:arxiv="http://arxiv.org/schemas/atom"><entry><id>http://arxiv.org/abs/hep-th/9901001v3</id>
 <title>On  the
   Théorie of Strings &amp; Things</title><summary> We show. </summary>
 <published>1999-01-02T03:04:05Z</published><author><name>Ana  Ruiz</name></author>
 <author><name>张伟</name></author><arxiv:doi>10.1103/PhysRevD.1</arxiv:doi></entry></feed>"""

ARTICLE = """<?xml version="1.0"?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD" "https://dtd.nlm.nih.gov/x.dtd">
<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>123</PMID><Article>
<Journal><JournalIssue><PubDate><MedlineDate>1998 Dec-1999 Jan</MedlineDate></PubDate></JournalIssue>
<Title>J. Tests</Title></Journal><ArticleTitle>Role of <i>BRCA1</i> in H<sub>2</sub>O.</ArticleTitle>
<ELocationID EIdType="doi" ValidYN="N">10.1/wrong</ELocationID>
<Abstract><AbstractText Label="AIM">To test.</AbstractText><AbstractText>It works.</AbstractText></Abstract>
<AuthorList><Author><LastName>Łoś</LastName><ForeName>Ewa</ForeName></Author>
<Author><CollectiveName>The Group</CollectiveName></Author></AuthorList><Language>ger</Language>
<PublicationTypeList><PublicationType>Journal Article</PublicationType>
<PublicationType>Retracted Publication</PublicationType></PublicationTypeList></Article>
<CommentsCorrectionsList><CommentsCorrections RefType="RetractionIn">
<RefSource>J. Tests. 2003 Mar;1(1):2</RefSource></CommentsCorrections></CommentsCorrectionsList>
</MedlineCitation><PubmedData><ReferenceList><Reference><ArticleIdList>
<ArticleId IdType="doi">10.1000/of-a-reference</ArticleId></ArticleIdList></Reference></ReferenceList>
<ArticleIdList><ArticleId IdType="doi">10.1000/Own.Doi</ArticleId></ArticleIdList></PubmedData>
</PubmedArticle></PubmedArticleSet>"""


def test_arxiv_entry_in_the_old_numbering() -> None:
    (record,) = arxiv.parse(FEED.encode()).records
    assert (record.title, record.abstract) == ("On the Théorie of Strings & Things", "We show.")
    assert record.authors == ("Ana Ruiz", "张伟")
    assert (record.arxiv, record.version, record.doi) == (
        "hep-th/9901001",
        "v3",
        "10.1103/physrevd.1",
    )
    assert (record.published_date, record.year, record.is_preprint) == ("1999-01-02", 1999, True)


def test_pubmed_article_with_everything_odd() -> None:
    (record,) = pubmed.parse(ARTICLE.encode()).records
    assert record.title == "Role of BRCA1 in H2O."
    assert record.abstract == "AIM: To test. It works."
    assert record.authors == ("Ewa Łoś", "The Group")
    assert (record.doi, record.pmid) == ("10.1000/own.doi", "123")
    assert (record.published_date, record.language, record.retracted) == ("1998-12", "de", True)
    assert pubmed.retraction_date(ARTICLE.encode()) == "2003-03"


def _openalex(**changes: Any) -> bytes:
    work = {
        "id": "https://openalex.org/W1", "doi": "https://doi.org/10.5555/ABC", "title": "A <i>b</i>",
        "publication_year": 2020, "publication_date": "2020-02-03", "type": "article",
        "authorships": [{"author": {"display_name": "Ann"}}, None, {"raw_author_name": "Bo"}],
        "abstract_inverted_index": {"two": [1], "one": [0, 2]}, "is_retracted": False,
        "open_access": {"is_oa": True}, "language": "en",
        "ids": {"pmid": "https://pubmed.ncbi.nlm.nih.gov/42"},
    }  # fmt: skip
    return json.dumps({"meta": {"count": 9}, "results": [work | changes]}).encode()


def test_openalex_work() -> None:
    parsed = openalex.parse(_openalex())
    (record,) = parsed.records
    assert (record.title, record.abstract, record.authors) == ("A b", "one two one", ("Ann", "Bo"))
    assert (record.doi, record.pmid, record.openalex) == ("10.5555/abc", "42", "W1")
    assert (record.is_open_access, record.retracted, parsed.total) == (True, False, 9)


def test_malformed_doi_is_dropped_with_its_warning() -> None:
    """B3: a malformed DOI is dropped with `invalid_doi_discarded`."""
    (record,) = openalex.parse(_openalex(doi="doi:ten.5555")).records
    assert (record.doi, record.warnings) == (None, ("invalid_doi_discarded",))


@pytest.mark.parametrize("index", [None, [], {"a": None}, {"a": ["x"]}, {"a": [True]}, "text"])
def test_unusable_abstract_is_none_at_all(index: Any) -> None:
    assert openalex.parse(_openalex(abstract_inverted_index=index)).records[0].abstract == ""


def test_abstract_with_an_absurd_position_costs_nothing() -> None:
    index = {"end": [10**15], "start": [0]}
    assert (
        openalex.parse(_openalex(abstract_inverted_index=index)).records[0].abstract == "start end"
    )


def test_crossref_notice_of_retraction_is_told_from_the_retracted_work() -> None:
    def work(**extra: Any) -> bytes:
        message = {"DOI": "10.5555/x", "title": ["T"], "type": "journal-article"} | extra
        return json.dumps({"status": "ok", "message-type": "work", "message": message}).encode()

    retracted = work(
        **{"updated-by": [{"type": "retraction", "updated": {"date-parts": [[2021, 5]]}}]}
    )
    notice = work(**{"update-to": [{"type": "retraction", "DOI": "10.5555/y"}]})
    corrected = work(**{"updated-by": [{"type": "correction"}]})
    assert crossref.parse(retracted).records[0].retracted is True
    assert crossref.retraction_date(retracted) == "2021-05"
    assert crossref.parse(notice).records[0].retracted is None
    assert crossref.parse(corrected).records[0].retracted is None


@pytest.mark.parametrize("parse", JSON_PARSERS)
@pytest.mark.parametrize(
    "body",
    [b"", b"   ", b"<html><h1>Sign in</h1></html>", b"not json", b"[", b"null", b"5", b'"x"', b"{}",
     b'{"error": "API rate limit exceeded"}', b'{"errors": [{"status": "404"}]}',
     b'{"message": "Forbidden"}', b"\xff\xfe\x00", b"[" * 100_000, b'{"results": {}}',
     b'{"status": "failed", "message": [{"type": "x"}]}', b'{"data": {"a": 1}, "error": "x"}',
     b'{"message": {"items": 5}, "message-type": "work-list"}'],
)  # fmt: skip
def test_body_of_another_kind_is_no_empty_answer(parse: Any, body: bytes) -> None:
    """T7c: an error or an HTML page is `unknown`, never "empty"."""
    try:
        parsed = parse(body)
    except ProviderError:
        return
    assert parsed.records == () and parsed.invalid_records + parsed.empty_records > 0


@pytest.mark.parametrize("parse", XML_PARSERS)
@pytest.mark.parametrize(
    "body",
    [b"", b"<html></html>", b"{}", b"<feed/>", b"<a><b></a>", b"plain", b"<?xml version='1.0'?>",
     b"\x00\x01", b"<PubmedArticleSet><PubmedArticle> wrong format </PubmedArticleSet>"],
)  # fmt: skip
def test_xml_of_another_kind_is_no_empty_answer(parse: Any, body: bytes) -> None:
    with pytest.raises(ProviderError):
        parse(body)


def test_null_and_foreign_entries_are_counted_and_the_good_ones_used() -> None:
    """B6: the bad ones are counted, the good ones used."""
    work = json.loads(_openalex())["results"][0]
    mixed = {"results": [None, work, 5, "x", {}, {"title": None}, [], work]}
    parsed = openalex.parse(json.dumps(mixed).encode())
    assert (len(parsed.records), parsed.empty_records, parsed.invalid_records) == (2, 3, 3)
    papers = {"total": 3, "data": [None, {"title": "P", "paperId": "1"}, 7]}
    counted = semanticscholar.parse(json.dumps(papers).encode())
    assert (len(counted.records), counted.empty_records, counted.invalid_records) == (1, 1, 1)
    items = {
        "message-type": "work-list",
        "message": {"items": [{"title": ["T"], "DOI": "10.1234/a"}, None, []]},
    }
    listed = crossref.parse(json.dumps(items).encode())
    assert (len(listed.records), listed.empty_records, listed.invalid_records) == (1, 2, 0)


@pytest.mark.parametrize("key", ["results", "data", "message"])
def test_null_instead_of_a_list_counts_as_one_empty_entry(key: str) -> None:
    body = {"results": {"results": None}, "data": {"data": None},
            "message": {"message-type": "work-list", "message": {"items": None}}}[key]  # fmt: skip
    parse = {"results": openalex.parse, "data": semanticscholar.parse, "message": crossref.parse}[
        key
    ]
    parsed = parse(json.dumps(body).encode())
    assert (parsed.records, parsed.empty_records) == ((), 1)


BOMB = (
    b'<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
    b'<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><feed>&c;</feed>'
)


@pytest.mark.parametrize(
    "body",
    [
        BOMB,
        b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>',
        b'<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1/x.dtd"> %p;]><x/>',
        b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><x>&undeclared;</x>',
        b"<x>&undeclared;</x>",
        b"<a>" * (MAX_DEPTH + 1) + b"</a>" * (MAX_DEPTH + 1),
        b"<a>" + b"<b/>" * 500_000 + b"</a>",
        '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'.encode("utf-16"),
    ],
)  # fmt: skip
def test_xml_that_could_do_harm_is_refused(body: bytes) -> None:
    """T7: no entity expansion, no external entities; depth and node caps."""
    with pytest.raises(ProviderError):
        parse_xml(body, "test")


def test_doctype_that_only_names_a_dtd_is_harmless_and_known_entities_are_read() -> None:
    root = parse_xml(b'<!DOCTYPE x SYSTEM "https://x.test/x.dtd"><x>caf&eacute;</x>', "test")
    assert root.text == "café"


@given(st.binary(max_size=300))
def test_any_bytes_parse_or_fail_typed(body: bytes) -> None:
    for parse in (*JSON_PARSERS, *XML_PARSERS):
        try:
            parsed = parse(body)
        except ProviderError as error:
            assert error.message
        else:
            assert all(record.title or record.doi for record in parsed.records)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["results", "message", "items", "data", "title", "author", "authors", "doi",
                         "DOI", "issued", "date-parts", "authorships", "attributes", "titles",
                         "externalIds", "type", "publicationTypes", "ids"]), inner, max_size=5),
    max_leaves=25,
)  # fmt: skip


@given(_JSON)
def test_any_json_of_the_right_names_parses_or_fails_typed(value: Any) -> None:
    body = json.dumps(value).encode()
    for parse in JSON_PARSERS:
        try:
            parsed = parse(body)
        except ProviderError:
            continue
        for record in parsed.records:
            assert record.title.strip()
            assert record.doi is None or record.doi.startswith("10.")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("graph neural networks", "all:graph OR all:neural OR all:networks"),
        ("Schrödinger équation", "all:Schrodinger OR all:equation"),
        ("what is [CLS] (BERT): a token?", "all:CLS OR all:BERT OR all:token"),
        ("cats AND dogs OR NOT birds", "all:cats OR all:dogs OR all:birds"),
        ("Straße ø łódź", "all:Strasse OR all:o OR all:lodz"),
        ("CRISPR技术 进展", "all:CRISPR"),
        ("state-of-the-art", "all:state OR all:art"),
        ("what is it", "all:what OR all:is OR all:it"),
    ],
)
def test_arxiv_query_is_plain_ascii_without_operators(query: str, expected: str) -> None:
    """T7b: arXiv answers 400 on accents and brackets in a query."""
    _, params = arxiv.search_request(query, 5, Filters(), {})
    assert params["search_query"] == expected


@pytest.mark.parametrize("query", ["量子计算 进展", "квантовые вычисления", "الذكاء", "???", ""])
def test_arxiv_is_not_asked_what_it_cannot_search(query: str) -> None:
    with pytest.raises(ProviderError, match="no word"):
        arxiv.search_request(query, 5, Filters(), {})


@given(st.text(max_size=80))
def test_queries_never_carry_a_providers_syntax(query: str) -> None:
    _, alex = openalex.search_request(query, 5, Filters(), {})
    assert not set(alex["search"]) & set('"()[]*?~|:')
    _, scholar = semanticscholar.search_request(query, 5, Filters(), {})
    assert "-" not in scholar["query"]
    try:
        _, med = pubmed.search_request(query, 5, Filters(), {})
        assert not set(med["term"]) & set('[]():*"')
        _, feed = arxiv.search_request(query, 5, Filters(), {})
        assert feed["search_query"].isascii()
    except ProviderError:
        pass


@pytest.mark.parametrize(
    "query", ["量子计算", "cats AND dogs NOT birds", "O'Brien: the [best] café?"]
)
def test_words_survive_in_queries_that_take_free_text(query: str) -> None:
    _, cross = crossref.search_request(query, 5, Filters(), {})
    assert cross["query"] == query
    _, alex = openalex.search_request(query, 5, Filters(), {})
    assert not any(word in alex["search"].split() for word in ("AND", "OR", "NOT"))
    assert "".join(c for c in query.lower() if c.isalnum()) == "".join(
        c for c in alex["search"].lower() if c.isalnum()
    )


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("https://doi.org/10.1000/ABC", "10.1000/abc"),
        ("doi:10.1000/abc.", "10.1000/abc"),
        ("10.1002/(SICI)1097-4644(1996)60:4<485::AID-JCB5>3.0.CO;2-X", "10.1002/(sici)1097-4644(1996)60:4<485::aid-jcb5>3.0.co;2-x"),
        ("10.1/short", None),
        ("not a doi", None),
        (None, None),
        (10.1, None),
    ],
)  # fmt: skip
def test_doi_forms(raw: Any, clean: str | None) -> None:
    assert clean_doi(raw) == clean


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("http://arxiv.org/abs/2002.00741v1", ("2002.00741", "v1")),
        ("https://arxiv.org/pdf/2002.00741v12.pdf", ("2002.00741", "v12")),
        ("arXiv:math.GT/0309136", ("math.GT/0309136", None)),
        ("2104.12255", ("2104.12255", None)),
        ("http://arxiv.org/api/errors#x", (None, None)),
        ("12345", (None, None)),
    ],
)
def test_arxiv_id_forms(raw: str, clean: tuple[str | None, str | None]) -> None:
    assert clean_arxiv(raw) == clean


def test_dates_are_as_exact_as_they_are_written() -> None:
    forms = ["2024-03-28T00:00:00Z", "2024-03", "2024", "2024-13", "0000", "", "3 days ago", None]
    assert [clean_date(form) for form in forms] == [
        "2024-03-28",
        "2024-03",
        "2024",
        "2024",
        None,
        None,
        None,
        None,
    ]


def test_markup_in_texts() -> None:
    assert (
        clean_text(
            "a <jats:p>b</jats:p><jats:p>c</jats:p> H<sub>2</sub>O &lt;i&gt;x&lt;/i&gt; 1 < 2"
        )
        == "a b c H2O x 1 < 2"
    )
