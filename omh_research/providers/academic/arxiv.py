"""arXiv: what to ask and how to read the answer.

Job: search requests and a pure parser of the Atom feed. Refuses to fetch. arXiv answers 400 to
accents, brackets and stray colons in a query, errors arrive as a feed with an "Error" entry, and
an empty feed may only mean load (spec T7b). Importers: providers.academic, tools.academic.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from xml.etree.ElementTree import Element

from omh_research.errors import ProviderError
from omh_research.lazy_re import lazy_re
from omh_research.providers.academic.record import Filters, ParsedRecords, Record
from omh_research.providers.academic.xml_reading import parse_xml, text_of
from omh_research.providers.cleaning import (
    clean_arxiv,
    clean_date,
    clean_doi,
    clean_names,
    clean_text,
    clean_year,
)
from omh_research.unicode_form import unicode_form

NAME = "arxiv"
MAX_ROWS = 100
MAX_QUERY_WORDS = 24
_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
_OPENSEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"
_WORD = lazy_re(r"[A-Za-z0-9]+")
_CJK = lazy_re(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff66-\uff9f]")
_NOT_SEARCHED = frozenset(
    ("and", "or", "not", "andnot", "the", "a", "an", "of", "in", "on", "for", "to", "with", "by",
     "from", "at", "is", "are", "was", "were", "be", "does", "do", "did", "how", "what", "why",
     "which", "who", "when", "where", "can", "could", "should", "would", "it", "its", "this",
     "that", "these", "those")
)  # fmt: skip
_LETTERS = str.maketrans({"ß": "ss", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "æ": "ae", "Æ": "AE",
                          "œ": "oe", "Œ": "OE", "đ": "d", "Đ": "D", "ð": "d", "þ": "th",
                          "ı": "i"})  # fmt: skip


def search_request(
    query: str, limit: int, filters: Filters, environ: Mapping[str, str]
) -> tuple[str, dict[str, str]]:
    """Return (path, parameters) of a search; raises `ProviderError` for a query without a word
    that arXiv can search (it indexes no Chinese, Arabic or Cyrillic)."""
    words = query_words(query)
    if not words:
        raise ProviderError("The query has no word that arXiv can search.")
    search = " OR ".join(f"all:{word}" for word in words)
    if filters.min_year is not None or filters.max_year is not None:
        first, last = filters.min_year or 1991, filters.max_year or 2999
        search = f"({search}) AND submittedDate:[{first:04d}01010000 TO {last:04d}12312359]"
    return "/api/query", {
        "search_query": search,
        "start": "0",
        "max_results": str(min(max(limit, 1), MAX_ROWS)),
        "sortBy": "relevance",
        "sortOrder": "descending",
    }


def query_words(query: str) -> list[str]:
    """Return the words of `query` in plain ASCII, without operators and function words."""
    folded = unicode_form("NFKD", _CJK.sub(" ", query).translate(_LETTERS))
    bare = "".join(char for char in folded if not unicodedata.combining(char))
    # A word in another script must not leave its ASCII crumbs behind as search words.
    words = [word for word in re.split(r"[^\w]+", bare) if word.isascii() and word]
    found = [each for word in words for each in _WORD.findall(word)]
    kept = [word for word in found if word.lower() not in _NOT_SEARCHED]
    return list(dict.fromkeys(kept or found))[:MAX_QUERY_WORDS]


def parse(body: bytes | str) -> ParsedRecords:
    """Return the entries of an Atom feed; raises `ProviderError` for an error or another body."""
    root = parse_xml(body, "arXiv")
    if root.tag != f"{_ATOM}feed":
        raise ProviderError("arXiv answered with something that is no Atom feed.")
    records: list[Record] = []
    empty = invalid = 0
    for entry in root.findall(f"{_ATOM}entry"):
        identifier = text_of(entry.find(f"{_ATOM}id"))
        if "/api/errors" in identifier:
            said = text_of(entry.find(f"{_ATOM}summary"))[:120]
            raise ProviderError(f"arXiv refused the query: {said}.")
        if not len(entry):
            empty += 1
        elif record := _record(entry, identifier):
            records.append(record)
        else:
            invalid += 1
    total = text_of(root.find(f"{_OPENSEARCH}totalResults"))
    return ParsedRecords(tuple(records), empty, invalid, int(total) if total.isdigit() else None)


def _record(entry: Element, identifier: str) -> Record | None:
    title = clean_text(text_of(entry.find(f"{_ATOM}title")))
    if not title:
        return None
    arxiv, version = clean_arxiv(identifier)
    names = [text_of(author.find(f"{_ATOM}name")) for author in entry.findall(f"{_ATOM}author")]
    published = clean_date(text_of(entry.find(f"{_ATOM}published")))
    doi = clean_doi(text_of(entry.find(f"{_ARXIV}doi")))
    return Record(
        provider=NAME,
        provider_record_id=f"{arxiv}{version or ''}" if arxiv else identifier,
        title=title,
        abstract=clean_text(text_of(entry.find(f"{_ATOM}summary"))),
        authors=clean_names(names),
        doi=doi,
        arxiv=arxiv,
        venue="arXiv",
        year=clean_year((published or "")[:4]),
        published_date=published,
        url=identifier or None,
        publication_type="preprint",
        is_preprint=True,
        preprint_server="arXiv",
        peer_reviewed=False,
        version=version,
        is_open_access=True,
    )
