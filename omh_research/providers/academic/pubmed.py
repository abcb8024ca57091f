"""PubMed: what to ask and how to read the answer.

Job: the two requests of a search (ids, then records) and pure parsers of both. Refuses to fetch.
In a term, square brackets are field tags, a colon a range, capital AND, OR, NOT operators, an
asterisk a wildcard. `NCBI_API_KEY` lifts the rate. Importers: providers.academic, tools.academic.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element

from omh_research.errors import ProviderError
from omh_research.lazy_re import lazy_re
from omh_research.providers.academic.record import Filters, ParsedRecords, Record
from omh_research.providers.academic.xml_reading import parse_xml, text_of
from omh_research.providers.cleaning import (
    clean_doi,
    clean_names,
    clean_pmid,
    clean_text,
    clean_year,
    iso_date,
    items,
    json_body,
    mapping,
)

NAME = "pubmed"
MAX_ROWS = 100
_SYNTAX = lazy_re(r"[\[\](){}\"“”„:*/\\=<>|&#~?]")
_BOOLEAN = lazy_re(r"\b(?:AND|OR|NOT)\b")
_MONTH_NAMES = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_LANGUAGES = {
    "eng": "en", "fre": "fr", "ger": "de", "spa": "es", "chi": "zh", "jpn": "ja", "rus": "ru",
    "por": "pt", "ita": "it", "pol": "pl", "dut": "nl", "kor": "ko", "tur": "tr", "cze": "cs",
    "hun": "hu", "swe": "sv", "dan": "da", "nor": "no", "fin": "fi", "ara": "ar", "heb": "he",
    "per": "fa", "ukr": "uk", "gre": "el", "rum": "ro", "hrv": "hr", "srp": "sr", "slv": "sl",
    "slo": "sk", "bul": "bg", "lit": "lt", "cat": "ca", "ice": "is",
}  # fmt: skip
_SEARCHED_LANGUAGES = {two: three for three, two in _LANGUAGES.items()}


def search_request(
    query: str, limit: int, filters: Filters, environ: Mapping[str, str]
) -> tuple[str, dict[str, str]]:
    """Return (path, parameters) of the search for ids; raises `ProviderError` for a query without
    a Latin, Greek or digit character (PubMed indexes no other script)."""
    words = _BOOLEAN.sub(lambda word: word.group().lower(), _SYNTAX.sub(" ", query))
    term = " ".join(words.split())
    if not re.search(r"[0-9A-Za-zÀ-ɏͰ-Ͽ]", term):
        raise ProviderError("The query has no word that PubMed can search.")
    term = " AND ".join([term, *_conditions(filters)])
    params = {
        "db": "pubmed",
        "retmode": "json",
        "sort": "relevance",
        "retmax": str(min(max(limit, 1), MAX_ROWS)),
        "term": term,
    }
    if filters.min_year is not None or filters.max_year is not None:
        params |= {
            "datetype": "pdat",
            "mindate": str(filters.min_year or 1000),
            "maxdate": str(filters.max_year or 3000),
        }
    return "/entrez/eutils/esearch.fcgi", params | _access(environ)


def _conditions(filters: Filters) -> list[str]:
    found = []
    if filters.language in _SEARCHED_LANGUAGES:
        found.append(f"{_SEARCHED_LANGUAGES[filters.language]}[la]")
    if "review" in filters.publication_types:
        found.append("review[pt]")
    if filters.open_access:
        found.append("free full text[sb]")
    return found


def doi_request(doi: str, environ: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return (path, parameters) of the search for the id of one DOI."""
    params = {"db": "pubmed", "retmode": "json", "retmax": "2", "term": f'"{doi}"[doi]'}
    return "/entrez/eutils/esearch.fcgi", params | _access(environ)


def records_request(ids: list[str], environ: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return (path, parameters) of the records of `ids`."""
    params = {"db": "pubmed", "retmode": "xml", "id": ",".join(ids)}
    return "/entrez/eutils/efetch.fcgi", params | _access(environ)


def _access(environ: Mapping[str, str]) -> dict[str, str]:
    access = {"tool": "omh-research"}
    if contact := environ.get("OMH_CONTACT"):
        access["email"] = contact
    if key := environ.get("NCBI_API_KEY"):
        access["api_key"] = key
    return access


def parse_ids(body: bytes | str | Mapping[str, Any]) -> tuple[list[str], int | None]:
    """Return (PubMed ids, number of all matches) of a search body, JSON or XML.

    Raises `ProviderError` for an error or any other body.
    """
    start = body.lstrip()[:1] if isinstance(body, bytes | str) else "{"
    if start in (b"<", "<"):
        assert isinstance(body, bytes | str)
        root = parse_xml(body, "PubMed")
        if root.tag != "eSearchResult" or root.find("ERROR") is not None:
            raise ProviderError("PubMed answered with an error or an unknown shape.")
        ids = [text_of(each) for each in root.iterfind("IdList/Id")]
        count = text_of(root.find("Count"))
    else:
        result = mapping(mapping(json_body(body, "PubMed")).get("esearchresult"))
        if not isinstance(result.get("idlist"), list) or result.get("ERROR"):
            raise ProviderError("PubMed answered with an error or an unknown shape.")
        ids = [str(each) for each in items(result["idlist"])]
        count = str(result.get("count", ""))
    return [each for each in ids if each.isdigit()], int(count) if count.isdigit() else None


def parse(body: bytes | str) -> ParsedRecords:
    """Return the articles of a record body; raises `ProviderError` for any other body."""
    root = parse_xml(body, "PubMed")
    if root.tag == "PubmedArticleSet":
        entries = [*root.findall("PubmedArticle"), *root.findall("PubmedBookArticle")]
    elif root.tag in ("PubmedArticle", "PubmedBookArticle"):
        entries = [root]
    else:
        raise ProviderError("PubMed answered with something that is no set of articles.")
    records: list[Record] = []
    empty = invalid = 0
    for entry in entries:
        if not len(entry):
            empty += 1
        elif record := _record(entry):
            records.append(record)
        else:
            invalid += 1
    return ParsedRecords(tuple(records), empty, invalid, None)


def _record(entry: Element) -> Record | None:
    article = entry.find("MedlineCitation/Article")
    if article is None:
        article = entry.find("BookDocument")
    if article is None:
        return None
    title = clean_text(text_of(article.find("ArticleTitle"))) or clean_text(
        text_of(article.find("VernacularTitle")) or text_of(article.find("Book/BookTitle"))
    )
    if not title:
        return None
    pmid = clean_pmid(text_of(entry.find(".//PMID")))
    types = [text_of(each) for each in article.iterfind("PublicationTypeList/PublicationType")]
    published = _journal_date(article) or _parts_date(article.find("ArticleDate"))
    online = _parts_date(article.find("ArticleDate"))
    is_preprint = "Preprint" in types
    return Record(
        provider=NAME,
        provider_record_id=pmid or "",
        title=title,
        abstract=_abstract(article),
        authors=clean_names([_author(each) for each in article.iterfind("AuthorList/Author")]),
        doi=_doi(entry, article),
        pmid=pmid,
        venue=clean_text(text_of(article.find("Journal/Title"))) or None,
        year=clean_year((published or "")[:4]),
        published_date=published,
        online_date=online,
        url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid else None,
        publication_type=_kind(types),
        is_preprint=is_preprint,
        preprint_server=clean_text(text_of(article.find("Journal/Title"))) if is_preprint else None,
        peer_reviewed=False if is_preprint else None,
        language=_LANGUAGES.get(text_of(article.find("Language"))),
        retracted=_retracted(entry, types),
    )


def _kind(types: list[str]) -> str | None:
    """Return the most telling publication type: PubMed lists the generic one first."""
    named = [each for each in types if each and not each.startswith("Research Support")]
    special = [each for each in named if each != "Journal Article"]
    chosen = (special or named or [""])[0]
    return re.sub(r"[^a-z0-9]+", "-", chosen.lower()).strip("-") or None


def _retracted(entry: Element, types: list[str]) -> bool | None:
    notices = entry.iterfind("MedlineCitation/CommentsCorrectionsList/CommentsCorrections")
    if "Retracted Publication" in types:
        return True
    return True if any(each.get("RefType") == "RetractionIn" for each in notices) else None


def _author(author: Element) -> str:
    last = text_of(author.find("LastName"))
    first = text_of(author.find("ForeName")) or text_of(author.find("Initials"))
    return f"{first} {last}".strip() or text_of(author.find("CollectiveName"))


def _abstract(article: Element) -> str:
    parts = []
    for part in article.iterfind("Abstract/AbstractText"):
        text = clean_text(text_of(part))
        label = clean_text(part.get("Label"))
        if text:
            parts.append(f"{label}: {text}" if label and label != "UNLABELLED" else text)
    return " ".join(parts)


def _doi(entry: Element, article: Element) -> str | None:
    """Return the article's own DOI (reference lists carry others)."""
    for each in article.iterfind("ELocationID"):
        if each.get("EIdType") == "doi" and each.get("ValidYN", "Y") == "Y":
            return clean_doi(text_of(each))
    for path in ("PubmedData/ArticleIdList/ArticleId", "PubmedBookData/ArticleIdList/ArticleId"):
        for each in entry.iterfind(path):
            if each.get("IdType") == "doi":
                return clean_doi(text_of(each))
    return None


def _journal_date(article: Element) -> str | None:
    issue = article.find("Journal/JournalIssue/PubDate")
    if issue is None:
        issue = article.find("Book/PubDate")
    if issue is None:
        return None
    free = text_of(issue.find("MedlineDate"))
    if free:
        words = free.split()
        month = words[1] if len(words) > 1 else ""
        return iso_date([words[0][:4], *_month(month)])
    return _parts_date(issue)


def _parts_date(element: Element | None) -> str | None:
    if element is None:
        return None
    month = text_of(element.find("Month"))
    day = text_of(element.find("Day"))
    return iso_date([text_of(element.find("Year")), *_month(month), *([day] if day else [])])


def _month(text: str) -> list[str]:
    """Return the month's number in a list, [] for a season or nothing (ends the date there)."""
    if text.isdigit():
        return [text]
    number = _MONTHS.get(text[:3].lower())
    return [str(number)] if number else []


def retraction_date(body: bytes) -> str | None:
    """Return the date written in the reference to a retraction notice, None when there is none."""
    root = parse_xml(body, "PubMed")
    for each in root.iter("CommentsCorrections"):
        if each.get("RefType") == "RetractionIn":
            found = re.search(r"\b(1[89]\d\d|20\d\d)(?: ([A-Z][a-z]{2}))?", text_of(each))
            if found:
                return iso_date([found.group(1), *_month(found.group(2) or "")])
    return None
