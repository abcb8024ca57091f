"""What a page says about itself: title, author, date, language, identifiers.

Job: read the declared metadata (meta tags, JSON-LD, `itemprop`) in one linear pass. Refuses to
guess: a date is only one that the page declares as its publication date. Importers:
providers.web.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from omh_research.documents.source import Identifiers
from omh_research.lazy_re import lazy_re
from omh_research.providers.cleaning import (
    clean_arxiv,
    clean_doi,
    clean_pmid,
    clean_text,
    iso_date,
    items,
    mapping,
)

HEAD_CHARS = 400_000
MAX_TAG_CHARS = 4_000
MAX_JSON_CHARS = 200_000
_TAG = lazy_re(r"<(meta|html|title|time|script)(?=[\s>/])", re.IGNORECASE)
_ATTRIBUTE = lazy_re(r"([a-zA-Z_:.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_TITLES = ("citation_title", "og:title", "twitter:title", "dc.title", "headline")
_AUTHORS = ("citation_author", "author", "dc.creator", "parsely-author", "sailthru.author",
            "article:author", "byl")  # fmt: skip
_DATES = ("citation_publication_date", "article:published_time", "datepublished", "citation_date",
          "citation_online_date", "dc.date.issued", "dcterms.issued", "parsely-pub-date",
          "publishdate", "pubdate", "sailthru.date", "og:article:published_time", "dc.date",
          "article.published", "published_time", "date")  # fmt: skip
_DOIS = ("citation_doi", "dc.identifier", "prism.doi", "bepress_citation_doi", "dc.identifier.doi")
_DATE = lazy_re(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?(?!\d)")
_COMPACT_DATE = lazy_re(r"(\d{4})(\d\d)(\d\d)(?!\d)")
_ARTICLES = ("article", "newsarticle", "blogposting", "scholarlyarticle", "report", "webpage",
             "techarticle", "medicalwebpage", "reportagenewsarticle")  # fmt: skip


class Head(Struct, frozen=True):
    """The declared metadata; "" where the page declares none."""

    title: str = ""
    author: str = ""
    date: str = ""
    language: str = ""
    refresh: str = ""
    identifiers: Identifiers = Identifiers()


def read_head(text: str, url: str) -> Head:
    """Return the metadata of a page; `text` is its markup, `url` helps to tell identifiers."""
    reader = _Reader()
    reader.read(text[:HEAD_CHARS])
    linked = reader.linked_data()
    return Head(
        title=_title(reader, linked),
        author=_author(reader, linked),
        date=reader.first_date() or iso_start(linked.get("datePublished")),
        language=reader.language,
        refresh=reader.refresh,
        identifiers=_identifiers(reader, url),
    )


_WANTED_IN = {"script": ("ld+json", "LD+JSON"), "time": ("pubdate", "itemprop")}


class _Reader:
    """One pass over the opening of the markup, tag by tag, by `str.find`: always linear."""

    def __init__(self) -> None:
        self.named: dict[str, list[str]] = {}
        self.title = self.language = self.refresh = ""
        self._scripts: list[str] = []

    def read(self, text: str) -> None:
        for found in _TAG.finditer(text):
            end = text.find(">", found.end(), found.end() + MAX_TAG_CHARS)
            if end < 0:
                continue
            tag, inner = found.group(1).lower(), text[found.end() : end]
            wanted = _WANTED_IN.get(tag)
            if wanted is not None and not any(word in inner for word in wanted):
                continue  # most scripts and times of a page say nothing about it
            given = _attributes(inner)
            if tag == "meta":
                self._take_meta(given)
            elif tag == "html":
                self.language = self.language or _language(
                    given.get("lang") or given.get("xml:lang")
                )
            elif tag == "title" and not self.title:
                close = text.find("<", end, end + MAX_TAG_CHARS)
                self.title = clean_text(text[end + 1 : close]) if close > 0 else ""
            elif tag == "time" and ("pubdate" in given or given.get("itemprop") == "datePublished"):
                self._add("datepublished", given.get("datetime", ""))
            elif tag == "script" and "ld+json" in given.get("type", "").lower():
                close = text.find("</", end, end + MAX_JSON_CHARS)
                while close > 0 and text[close + 2 : close + 8].lower() != "script":
                    close = text.find("</", close + 2, end + MAX_JSON_CHARS)
                if close > 0 and len(self._scripts) < 8:
                    self._scripts.append(text[end + 1 : close])

    def _take_meta(self, given: dict[str, str]) -> None:
        content = given.get("content", "").strip()
        for key in ("name", "property", "itemprop"):
            if given.get(key):
                self._add(given[key].lower(), content)
        equivalent = given.get("http-equiv", "").lower()
        if equivalent == "refresh" and not self.refresh:
            self.refresh = content.partition("=")[2].strip("\"' ")
        elif equivalent == "content-language" and not self.language:
            self.language = _language(content)

    def _add(self, name: str, content: str) -> None:
        if content and len(self.named.setdefault(name, [])) < 200:
            self.named[name].append(content)

    def first(self, names: tuple[str, ...]) -> str:
        return next((value for name in names for value in self.named.get(name, ()) if value), "")

    def first_date(self) -> str:
        found = (iso_start(value) for name in _DATES for value in self.named.get(name, ()))
        return next((date for date in found if date), "")

    def linked_data(self) -> dict[str, Any]:
        """Return the first JSON-LD object that describes an article ({} when none does)."""
        best: dict[str, Any] = {}
        for script in self._scripts:
            try:
                data = json.loads(script.strip(), strict=False)
            except (ValueError, RecursionError):
                continue
            for node in _nodes(data, 0):
                kinds = node.get("@type")
                words = [str(k).lower() for k in (kinds if isinstance(kinds, list) else [kinds])]
                if any(word in _ARTICLES for word in words):
                    if node.get("datePublished"):
                        return node
                    best = best or node
        return best


def _nodes(data: object, depth: int) -> Iterator[dict[str, Any]]:
    if depth > 4:
        return
    if isinstance(data, list):
        for each in data[:50]:
            yield from _nodes(each, depth + 1)
    elif isinstance(data, dict):
        yield data
        for key in ("@graph", "mainEntity", "mainEntityOfPage"):
            yield from _nodes(data.get(key), depth + 1)


def _attributes(text: str) -> dict[str, str]:
    given: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(text):
        given.setdefault(name.lower(), html.unescape(double or single or bare))
    if "pubdate" in text:
        given.setdefault("pubdate", "")
    return given


def _language(value: str | None) -> str:
    """Return the primary subtag of a language tag, lower case; "" when it is none."""
    found = re.match(r"[A-Za-z]{2,3}(?=$|[-_,; ])", (value or "").strip())
    return found.group().lower() if found else ""


def iso_start(value: object) -> str:
    """Return the ISO date at the beginning of `value`, "" when there is none."""
    if not isinstance(value, str):
        return ""
    text = value.strip()[:40]
    found = _DATE.match(text) or _COMPACT_DATE.match(text)
    return (iso_date([part for part in found.groups() if part]) or "") if found else ""


def _title(reader: _Reader, linked: dict[str, Any]) -> str:
    """Return the title without the site's name where the page tells the two apart."""
    declared = clean_text(reader.first(_TITLES)) or clean_text(linked.get("headline"))
    return (declared or reader.title)[:300]


def _author(reader: _Reader, linked: dict[str, Any]) -> str:
    for name in _AUTHORS:
        found = [clean_text(value) for value in reader.named.get(name, ())]
        people = [value for value in found if value and "://" not in value]
        people = [re.sub(r"^(?:by|von|par|por|di)\s+", "", value, flags=re.I) for value in people]
        if people:
            return "; ".join(dict.fromkeys(people))[:500]
    authors = linked.get("author")
    names = []
    for each in authors if isinstance(authors, list) else [authors]:
        names.append(clean_text(mapping(each).get("name")) or clean_text(each))
    return "; ".join(dict.fromkeys(name for name in names if name and "://" not in name))[:500]


def _identifiers(reader: _Reader, url: str) -> Identifiers:
    doi = next((d for d in map(clean_doi, _values(reader, _DOIS)) if d), None)
    arxiv = clean_arxiv(reader.first(("citation_arxiv_id",)))[0]
    if not arxiv and "arxiv.org/" in url:
        arxiv = clean_arxiv(url.partition("?")[0])[0]
    pmid = clean_pmid(reader.first(("citation_pmid",)))
    if not pmid and "pubmed.ncbi.nlm.nih.gov/" in url:
        pmid = clean_pmid(url.partition("?")[0])
    return Identifiers(doi, arxiv, pmid)


def _values(reader: _Reader, names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        yield from items(reader.named.get(name))
