"""From scored sentences to the quotes worth keeping.

Job: build the leading passage (the best sentence with the neighbours that complete it), pick the
next best ones without repeating one, spread them over documents. Refuses to score, render and read.
Importers: extractive.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from omh_research.documents.source import Page
from omh_research.extractive.scoring import Scored
from omh_research.extractive.units import Unit, is_dense, is_quotable, starts_anew
from omh_research.tools.normal_form import normalise

LEAD_CHARS = 420
LEAD_DENSE_CHARS = 180
LEAD_SENTENCES = 3
# A neighbour joins the leading sentence only if it scores at least this share of it.
NEIGHBOUR_SHARE = 0.4
# Two quotes that share this much of the smaller one's words say the same.
_SAME_SHARE = 0.85


class Quote(Struct, frozen=True):
    """A literal slice of the document `url`; `page` counts from 1, 0 when unknown."""

    text: str
    url: str
    page: int
    terms: frozenset[str]


class Chosen:
    """Quotes in the order they were added, none of which repeats another."""

    def __init__(self) -> None:
        self.quotes: list[Quote] = []
        self._forms: list[str] = []

    def add(self, quote: Quote) -> bool:
        """Add the quote unless one with the same words is there; return whether it was added."""
        form = normalise(quote.text)
        for other, other_form in zip(self.quotes, self._forms, strict=True):
            if form in other_form or other_form in form or _same(quote.terms, other.terms):
                return False
        self.quotes.append(quote)
        self._forms.append(form)
        return True


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    smaller = min(len(one), len(other))
    return smaller >= 4 and len(one & other) >= _SAME_SHARE * smaller


def to_quote(item: Scored, pages: Sequence[Page]) -> Quote:
    """Return a scored sentence as a quote of its document."""
    unit = item.unit
    return Quote(unit.text, pages[item.document].url, unit.page, unit.terms)


def leading_quote(scored: Sequence[Scored], pages: Sequence[Page]) -> Quote:
    """Return the best sentence, with up to two neighbours of its paragraph that score well.

    `scored` holds every unit of every document, best first.
    """
    best = scored[0]
    text = pages[best.document].text
    limit = LEAD_DENSE_CHARS if is_dense(best.unit.text) else LEAD_CHARS
    mates = {item.unit.order: item for item in scored if item.document == best.document}
    first = last = best.unit
    terms = set(best.unit.terms)
    said = {normalise(best.unit.text)}
    for _ in range(LEAD_SENTENCES - 1):
        options = [
            (mate.score, -mate.unit.order, mate.unit)
            for mate in (mates.get(first.order - 1), mates.get(last.order + 1))
            if mate is not None
            and mate.score >= NEIGHBOUR_SHARE * best.score
            and normalise(mate.unit.text) not in said
            and _joins(text, (first, last), mate.unit, limit)
        ]
        if not options:
            break
        unit = max(options, key=lambda option: option[:2])[2]
        first, last = (unit, last) if unit.order < first.order else (first, unit)
        terms |= unit.terms
        said.add(normalise(unit.text))
    quote = " ".join(text[first.start : last.end].split())
    return Quote(quote, pages[best.document].url, first.page, frozenset(terms))


def _joins(text: str, span: tuple[Unit, Unit], unit: Unit, limit: int) -> bool:
    """True when the widened slice is one paragraph, short enough, and nothing odd lies within."""
    start, end = min(span[0].start, unit.start), max(span[1].end, unit.end)
    piece = text[start:end]
    folded = " ".join(piece.split())
    is_whole = "\n\n" not in piece and not starts_anew(piece)
    return is_whole and len(folded) <= limit and is_quotable(folded)


def spread(scored: Iterable[Scored], pages: Sequence[Page], count: int) -> list[Quote]:
    """Return up to `count` quotes, the best first, of at least two documents if possible."""
    items = list(scored)
    chosen = Chosen()
    for item in items:
        if len(chosen.quotes) == count:
            break
        chosen.add(to_quote(item, pages))
    quotes = chosen.quotes
    if len(quotes) > 1 and len({quote.url for quote in quotes}) == 1:
        for item in items:
            other = to_quote(item, pages)
            if other.url != quotes[0].url and all(not _same(other.terms, q.terms) for q in quotes):
                return [*quotes[:-1], other]
    return quotes
