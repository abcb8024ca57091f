"""Condense: sources made ready once, their most telling sentences for many queries.

Job: passages, near duplicates, boilerplate, relevance and selection put together (spec T10).
Refuses to know the JSON contract (see `compress.py`). Same input, same output.
Importers: `omh_research.tools`, delegates, phases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from omh_research.tools.boilerplate import is_boilerplate
from omh_research.tools.passages import pack, slices
from omh_research.tools.ranking import Index
from omh_research.tools.relevance import ABSTRACT_CHARS, Relevance, Sentence, is_question
from omh_research.tools.selection import Limits, Piece, Slice, select
from omh_research.tools.sentences import Span, split
from omh_research.tools.similarity import repeated_passages, repeated_tokens
from omh_research.tools.tokens import content_tokens, terms, words

MAX_CHUNK_CHARS = 1_200
# Of more text than this, or than this many budgets, only the best passages are read sentence by
# sentence: BM25 over passages picks them.
_READ_CHARS = 60_000
_READ_BUDGETS = 5
_LONGEST_SENTENCE = 600
# Passages whose reading is kept between queries.
_KEPT_PASSAGES = 4_000
# Passages looked at for repetition when there is no query: the beginnings.
_FIRST_PASSAGES = 1_000


class Source(Struct, frozen=True):
    """One source as given; `id`, `url` and `title` come back unchanged with its chunks."""

    text: str
    id: Any = None
    url: Any = None
    title: Any = None


class Passage(Struct, frozen=True):
    """A slice of a source: source number, number within the source, offsets."""

    source: int
    number: int
    start: int
    end: int


class _Unit(Struct, frozen=True):
    """A sentence of a passage as read: `parted` from the one before by a blank line or not."""

    span: Span
    tokens: tuple[str, ...]
    parted: bool
    furniture: bool


class _Candidates(Struct, frozen=True):
    """Sentences on offer for one query, in reading order; what was left out as repetition."""

    sentences: list[Sentence]
    places: list[tuple[Passage, Span]]
    repeated_passages: int
    repeated_sentences: int


class Result(Struct, frozen=True):
    """What a compression kept, best first, and what it left out.

    `repeated` counts passages and sentences that say again what was said, `irrelevant` passages
    that do not speak to the query.
    """

    kept: list[Slice]
    scored: bool
    repeated: int = 0
    irrelevant: int = 0


class Compressor:
    """Sources made ready once, compressed for many queries.

    With `keep_boilerplate` site furniture counts as content.
    """

    def __init__(self, sources: Sequence[Source], *, keep_boilerplate: bool = False) -> None:
        self.sources = sources
        self._keep_boilerplate = keep_boilerplate
        self.passages = [
            Passage(number, place, start, end)
            for number, source in enumerate(sources)
            for place, (start, end) in enumerate(pack(source.text, MAX_CHUNK_CHARS))
        ]
        self._size = sum(passage.end - passage.start for passage in self.passages)
        self._index: Index | None = None
        self._reading: dict[int, list[_Unit]] = {}

    def text(self, place: Passage | Slice | Piece) -> str:
        """The literal text of a passage, piece or slice."""
        return self.sources[place.source].text[place.start : place.end]

    def _nearest(self, query: str, characters: int) -> list[int]:
        """Numbers of the passages to read for a query, in order: all, or the best by BM25."""
        if self._size <= characters:
            return list(range(len(self.passages)))
        if self._index is None:
            self._index = Index([self.text(passage) for passage in self.passages])
        found = self._index.search(query, limit=max(1, characters // MAX_CHUNK_CHARS))
        return sorted(ranked.index for ranked in found)

    def _read(self, number: int) -> list[_Unit]:
        """The sentences of a passage; read once while there is room to keep them."""
        if number in self._reading:
            return self._reading[number]
        text = self.text(self.passages[number])
        units: list[_Unit] = []
        last = 0
        for span in _sentences(text):
            found = words(span.text)
            parted = "\n\n" in text[last : span.start]
            furniture = not self._keep_boilerplate and is_boilerplate(span.text, found)
            units.append(_Unit(span, tuple(terms(found)), parted, furniture))
            last = span.end
        if len(self._reading) < _KEPT_PASSAGES:
            self._reading[number] = units
        return units

    def _candidates(self, query: str, budget: int) -> _Candidates:
        near = self._nearest(query, max(_READ_CHARS, _READ_BUDGETS * budget))
        read = [self._read(number) for number in near]
        repeated = set(
            repeated_tokens([[t for unit in units for t in unit.tokens] for units in read])
        )
        asked = frozenset(content_tokens(query))
        seen: set[tuple[str, ...]] = set()
        sentences: list[Sentence] = []
        places: list[tuple[Passage, Span]] = []
        block = again = 0
        for index, (number, units) in enumerate(zip(near, read, strict=True)):
            if index in repeated:
                continue
            passage = self.passages[number]
            whole = len(self.sources[passage.source].text)
            block += 1
            for unit in units:
                block += unit.parted
                if unit.tokens in seen:
                    again += 1
                    continue
                if unit.furniture and not _asks_for(asked, unit):
                    continue
                if len(unit.tokens) > 3:
                    seen.add(unit.tokens)
                place = (passage.start + unit.span.end) / whole
                short = whole <= ABSTRACT_CHARS
                sentences.append(Sentence(unit.span.text, unit.tokens, block, place, short))
                places.append((passage, unit.span))
        return _Candidates(sentences, places, len(repeated), again)

    def compress(
        self,
        query: str,
        *,
        max_chars: int,
        max_per_source: int | None = None,
        min_score: float = 0.0,
    ) -> Result:
        """The slices that speak to the query, together at most `max_chars` characters.

        Without a query, or when nothing matches and `min_score` is 0, the sources' beginnings.
        """
        limits = Limits(max_chars, max_per_source, MAX_CHUNK_CHARS, is_question(query))
        if not words(query):
            return Result(self._beginnings(limits), False)
        found = self._candidates(query, max_chars)
        relevance = Relevance(query, found.sentences)
        pieces = [
            Piece(
                passage.source,
                passage.number,
                found.sentences[i].block,
                passage.start + span.start,
                passage.start + span.end,
                relevance.scores[i],
                relevance.own[i],
            )
            for i, (passage, span) in enumerate(found.places)
        ]
        kept = select(pieces, self.text, relevance.weight, limits)
        if min_score > 0:
            kept = [slice_ for slice_ in kept if slice_.own > min_score]
        matched = {(piece.source, piece.passage) for piece in pieces if piece.own > min_score}
        irrelevant = len(self.passages) - found.repeated_passages - len(matched)
        if not kept and min_score <= 0:
            kept = self._beginnings(limits)
        repeated = found.repeated_passages + found.repeated_sentences
        return Result(kept, True, repeated, max(0, irrelevant))

    def _beginnings(self, limits: Limits) -> list[Slice]:
        """The sources' first passages in turn, the last one cut to what is left."""
        repeated = set(repeated_passages([self.text(p) for p in self.passages[:_FIRST_PASSAGES]]))
        order = sorted(
            (p for i, p in enumerate(self.passages) if i not in repeated),
            key=lambda p: (p.number, p.source),
        )
        kept: list[Slice] = []
        room = limits.characters
        for passage in order:
            if room <= 0:
                break
            if limits.per_source is not None and passage.number >= limits.per_source:
                continue
            end = min(passage.end, passage.start + room)
            kept.append(Slice(passage.source, passage.number, passage.start, end, 0.0, 0.0))
            room -= end - passage.start
        return kept


def _asks_for(asked: frozenset[str], unit: _Unit) -> bool:
    """True when a piece holds half of what is asked: a question may be about cookies."""
    return len(asked.intersection(unit.tokens)) * 2 >= len(asked)


def _sentences(text: str) -> Iterator[Span]:
    """Sentences of a passage; what has no sentence ends is cut at words, so nothing is too long."""
    for span in split(text):
        if len(span.text) <= _LONGEST_SENTENCE:
            yield span
            continue
        for start, end in slices(text, span.start, span.end, _LONGEST_SENTENCE):
            piece = text[start:end]
            lead = len(piece) - len(piece.lstrip())
            if stripped := piece.strip():
                yield Span(start + lead, start + lead + len(stripped), stripped)


def shorten(text: str, query: str, max_chars: int) -> list[Span]:
    """The parts of one text that speak to the query, in reading order, at most `max_chars` in all.

    The whole text (without outer white space) when it fits.
    """
    stripped = text.strip()
    if len(stripped) <= max_chars:
        start = text.find(stripped)
        return [Span(start, start + len(stripped), stripped)] if stripped else []
    kept = Compressor([Source(text)]).compress(query, max_chars=max_chars).kept
    return [
        Span(s.start, s.end, text[s.start : s.end]) for s in sorted(kept, key=lambda s: s.start)
    ]
