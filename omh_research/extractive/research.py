"""The researcher's task: search, read, quote, and say what was not found.

Job: answer one researcher task in the template of D5b from what the Library holds: the topic's
best passages first, then those of the subtopic's queries. Every line of EVIDENCE and SYNTHESIS is a
quote. Refuses to go past the caps (T5) or on after a stop. Importers: delegates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from msgspec import Struct

from omh_research.delegates.interface import Library
from omh_research.documents.finding import INSUFFICIENT, NONE_FOUND
from omh_research.documents.names import FOLLOWUP_STEM
from omh_research.documents.source import Hit, Page
from omh_research.documents.task import Brief
from omh_research.extractive.choosing import Chosen, Quote, leading_quote, spread, to_quote
from omh_research.extractive.labels import fallback_facets, labels_of
from omh_research.extractive.lines import evidence_line, one_line, quote_line, source_line
from omh_research.extractive.scoring import (
    Question,
    Scored,
    ask,
    ask_about,
    coverage,
    keep_relevant,
    missing_words,
    names_subject,
    score_documents,
    speaks_of,
    subject_of,
)
from omh_research.extractive.units import Unit, heading_terms, is_dense, quotable_units
from omh_research.tools.boilerplate import is_boilerplate
from omh_research.tools.tokens import content_tokens

# One limit for every search: a recorded answer then serves every subtopic.
SEARCH_LIMIT = 20
TOPIC_DOCUMENTS = 6
QUERY_DOCUMENTS = 2
TOPIC_QUOTES = 12
DENSE_TOPIC_QUOTES = 40  # sentences of scripts without spaces are a third as long
QUERY_QUOTES = 4
# A query's quote must hold half of what the query has beyond the topic's words.
MIN_OWN_COVERAGE = 0.5
# Documents that hold at least this share of what the nearest one holds of the topic come first.
NEAR_SHARE = 0.25
ENOUGH_QUOTES = 2
# So many sentences before or after one that holds a word of the topic may still be about it.
BESIDE = 4
# What a document far from the topic must hold of a query's own words to be quoted all the same.
SURE_COVERAGE = 0.8
ASKED_SHARE = 0.75


class Researched(Struct, frozen=True):
    """What one researcher found: quotes in order of worth, sources, queries, gaps, notes."""

    quotes: tuple[Quote, ...]
    sources: tuple[Page, ...]
    queries: tuple[tuple[str, int], ...]
    gaps: tuple[str, ...]
    notes: tuple[str, ...] = ()
    fetches: int = 0


class _Reader:
    """Reads each document once, within the task's budget, and keeps what it said."""

    def __init__(self, brief: Brief, library: Library, should_stop: Callable[[], bool]) -> None:
        self._brief, self._library, self._should_stop = brief, library, should_stop
        self.pages: dict[str, Page] = {}
        self.notes: list[str] = []
        self.over: set[str] = set()
        self._first: dict[str, str] = {}
        self.fetches = 0

    def search(self, query: str) -> list[Hit]:
        """Return the hits of one query; nothing after a stop."""
        return [] if self._should_stop() else self._library.search(query, limit=SEARCH_LIMIT)

    def read(self, hits: Sequence[Hit], count: int) -> list[Page]:
        """Return up to `count` readable documents of the hits, in their order."""
        found: list[Page] = []
        for hit in hits:
            if len(found) == count or self._should_stop():
                break
            if hit.url not in self.pages:
                if self.fetches >= self._brief.max_fetches:
                    self.over.add(hit.url)
                    continue
                self.pages[hit.url] = self._fetch(hit)
            page = self.pages[hit.url]
            # A copy of a document under another name is no second source.
            if page.state == "ok" and self._first.setdefault(page.text, hit.url) == hit.url:
                found.append(page)
        return found

    def _fetch(self, hit: Hit) -> Page:
        before = self._library.remaining_fetches()
        page = self._library.read(hit.url)
        # What another task has read is on record and costs nothing.
        self.fetches += self._library.remaining_fetches() < before
        if page.state != "ok":
            self.notes.append(f"not read: {hit.url} ({page.state}: {page.detail})")
        return page


def research(brief: Brief, library: Library, should_stop: Callable[[], bool]) -> Researched:
    """Return what the Library holds for the subtopic; raises `ProviderError` when it is down."""
    reader = _Reader(brief, library, should_stop)
    chosen = Chosen()
    hits = reader.search(brief.topic)
    pages = reader.read(hits, TOPIC_DOCUMENTS)
    topic = _about_topic(brief.topic, brief.language, tuple(pages), tuple(hits))
    is_known = topic.is_known
    gaps: list[str] = []
    unmet: list[str] = []
    queries: list[tuple[str, int]] = []
    if brief.subtopic != FOLLOWUP_STEM:
        queries.append((brief.topic, len(topic.quotes)))
        for quote in topic.quotes:
            chosen.add(quote)
        if topic.missing or not topic.quotes:
            gaps.append(topic.missing if topic.quotes else brief.topic)
        if topic.missing and not topic.quotes:
            reader.notes.append(f"nothing that was read says: {topic.missing}")
    for query in brief.queries:
        hits = reader.search(query)
        quotes = _query_quotes(brief, query, reader.read(hits, QUERY_DOCUMENTS), hits, is_known)
        queries.append((query, len(quotes)))
        for quote in quotes:
            chosen.add(quote)
        if not quotes:
            unmet.append(query)
    is_generic = brief.subtopic in fallback_facets(brief.language)  # it says no more than the topic
    if brief.subtopic == FOLLOWUP_STEM or (len(unmet) == len(brief.queries) and not is_generic):
        gaps += unmet  # one query answered is a subtopic answered
    used = {quote.url for quote in chosen.quotes}
    sources = tuple(page for page in reader.pages.values() if page.url in used)
    return Researched(
        tuple(chosen.quotes), sources, tuple(queries), tuple(dict.fromkeys(map(one_line, gaps))),
        (*reader.notes, *_over_cap(reader)), reader.fetches,
    )  # fmt: skip


def _over_cap(reader: _Reader) -> tuple[str, ...]:
    """Say that the cap left nothing to read: else it looks as if the documents had nothing."""
    if not reader.over or reader.pages:
        return ()
    return ("nothing was read: the cap of fetches is reached",)


class _Topic(Struct, frozen=True):
    """What the nearest documents say of the topic itself: whether they speak of it, the best
    quotes, and the words of it that none of them says.
    """

    is_known: bool
    quotes: tuple[Quote, ...]
    missing: str


@lru_cache(maxsize=1)  # the researchers of a batch meet the same documents
def _about_topic(
    topic: str, language: str, pages: tuple[Page, ...], hits: tuple[Hit, ...]
) -> _Topic:
    scored = _score(language, topic, pages, hits)
    question = ask(topic, language, (item.unit.terms for item in scored))
    is_known = _speak_of(question, language, scored, pages)
    quotes = _topic_quotes(topic, language, scored, pages) if is_known else []
    return _Topic(is_known, tuple(quotes), _missing_words(question, language, scored, pages))


def _score(language: str, text: str, pages: Sequence[Page], hits: Sequence[Hit]) -> list[Scored]:
    """Score the documents' sentences; unread hits only tell how common a word is."""
    wanted = frozenset(content_tokens(text, language))
    documents = [quotable_units(page, language, wanted) for page in pages]
    read = {page.url for page in pages}
    pool: list[Unit] = [unit for units in documents for unit in units]
    for hit in hits:
        if hit.url not in read:
            snippet = Page(hit.url, hit.url, "ok", text=hit.snippet)
            pool += quotable_units(snippet, language, wanted)
    question = ask(text, language, (unit.terms for unit in pool))
    return score_documents(question, documents)


def _speak_of(
    topic: Question, language: str, scored: Sequence[Scored], pages: Sequence[Page]
) -> bool:
    """Return whether the topic's nearest documents speak of it at all; if not, none is quoted."""
    sentences: dict[int, list[Unit]] = {}
    for item in scored:
        sentences.setdefault(item.document, []).append(item.unit)
    documents = (
        (
            heading_terms(pages[document], language),
            [unit.terms for unit in sorted(units, key=lambda unit: unit.order)],
        )
        for document, units in sorted(sentences.items())
    )
    return speaks_of(topic, language, documents)


def _missing_words(
    topic: Question, language: str, scored: Sequence[Scored], pages: Sequence[Page]
) -> str:
    """Return the words of the topic that no document read says: most of it, or its names."""
    heads = (heading_terms(page, language) for page in pages)
    held = frozenset().union(*heads, *(item.unit.terms for item in scored))
    texts = [page.text for page in pages]
    return " ".join(missing_words(topic, language, held, texts))


def _topic_quotes(
    topic: str, language: str, scored: list[Scored], pages: Sequence[Page]
) -> list[Quote]:
    relevant = keep_relevant(scored)
    if not relevant:
        return []
    lead = leading_quote(scored, pages)
    chosen = Chosen()
    chosen.add(lead)
    most = DENSE_TOPIC_QUOTES if is_dense(lead.text) else TOPIC_QUOTES
    near = _near_topic(topic, language, scored, pages) | {scored[0].document}
    speaking = {(item.document, item.unit.order) for item in relevant if item.coverage}
    for item in relevant[1:]:
        if len(chosen.quotes) == most:
            break
        is_about = item.document in near and _is_beside(item, speaking)
        if is_about and not _is_furniture(topic, language, item.unit):
            chosen.add(to_quote(item, pages))
    return chosen.quotes


def _is_beside(item: Scored, speaking: set[tuple[int, int]]) -> bool:
    """Return whether a sentence holds a word of the topic, or stands near one that does.

    A long document speaks of much else.
    """
    document, order = item.document, item.unit.order
    return any((document, order + step) in speaking for step in range(-BESIDE, BESIDE + 1))


def _is_furniture(topic: str, language: str, unit: Unit) -> bool:
    """Return whether a sentence belongs to the site ("All rights reserved"), not to the topic.

    One that holds nearly all of a longer topic's words may be what is asked for.
    """
    if not is_boilerplate(unit.text):
        return False
    asked = frozenset(content_tokens(topic, language))
    return not (len(asked) > 2 and len(asked & unit.terms) >= ASKED_SHARE * len(asked))


def _query_quotes(
    brief: Brief, query: str, pages: Sequence[Page], hits: Sequence[Hit], is_known: bool
) -> list[Quote]:
    topic, language = brief.topic, brief.language
    scored = _score(language, query, pages, hits)
    own = ask_about(query, topic, language, [item.unit.terms for item in scored])
    fitting = [
        item
        for item in scored
        if coverage(own, item.unit.terms) >= MIN_OWN_COVERAGE
        and not _is_furniture(topic, language, item.unit)
    ]
    near = _near_topic(topic, language, scored, pages) if is_known else set()
    chosen = Chosen()
    for quote in spread([item for item in fitting if item.document in near], pages, QUERY_QUOTES):
        chosen.add(quote)
    # A second document where another speaks of the same (D1b). Far from the topic it must hold
    # nearly all of a query of several words: one word in common is mostly about something else.
    for item in fitting:
        quote = to_quote(item, pages)
        held = {other.url for other in chosen.quotes}
        is_wanted = len(chosen.quotes) < ENOUGH_QUOTES or len(held) < 2
        is_sure = len(own.terms) > 1 and coverage(own, item.unit.terms) >= SURE_COVERAGE
        if is_wanted and quote.url not in held and (is_sure or item.document in near):
            chosen.add(quote)
    return chosen.quotes


def _near_topic(
    topic: str, language: str, scored: Sequence[Scored], pages: Sequence[Page]
) -> set[int]:
    """Return the documents that speak of the topic too, by all their words and headings."""
    words: dict[int, set[str]] = {}
    for item in scored:
        known = words.get(item.document)
        if known is None:
            known = set(heading_terms(pages[item.document], language))
            words[item.document] = known
        known.update(item.unit.terms)
    subject = subject_of(ask(topic, language, (item.unit.terms for item in scored)))
    shares = {
        document: coverage(subject, frozenset(held))
        for document, held in words.items()
        if names_subject(subject, frozenset(held))
    }
    enough = NEAR_SHARE * max(shares.values(), default=0.0)
    return {document for document, share in shares.items() if share and share >= enough}


def render_finding(brief: Brief, found: Researched) -> str:
    """Return the researcher's answer in the template of D5b; quotes and fixed words only."""
    labels = labels_of(brief.language)
    numbers = {page.url: number for number, page in enumerate(found.sources, 1)}
    lines = [f"SUBTOPIC: {one_line(brief.subtopic)}", "QUERIES_RUN:"]
    lines += [f"- {one_line(query)} → {count}" for query, count in found.queries]
    if not found.quotes:
        lines += [f"SOURCES: {NONE_FOUND}", f"SYNTHESIS: {INSUFFICIENT}"]
    else:
        lines.append("SOURCES:")
        lines += [source_line(numbers[page.url], page) for page in found.sources]
        lines.append("EVIDENCE:")
        lines += [evidence_line(numbers[quote.url], quote.text) for quote in found.quotes]
        lines.append("SYNTHESIS:")
        lines += [
            quote_line(quote.text, numbers[quote.url], quote.page, labels) for quote in found.quotes
        ]
    lines.append("GAPS:")
    lines += [f"- {gap}" for gap in found.gaps] or ["- none"]
    return "\n".join(lines) + "\n"
