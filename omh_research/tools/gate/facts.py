"""The checkable facts of a sentence, and a source's text indexed for them.

Job: gather figures, dates and names of a piece of text, and answer for one source which of them it
holds, which quotations, which verified evidence rows. Refuses to decide what a miss means.
Importers: tools.gate, phases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from omh_research.documents.source import HeldText
from omh_research.lazy_re import lazy_re
from omh_research.tools.dates import Date, DateIndex, find_dates, index_dates
from omh_research.tools.figures import Figure, FigureIndex, find_figures, index_figures
from omh_research.tools.gate.context import Context
from omh_research.tools.name_index import Name, NameIndex, index_names
from omh_research.tools.proper_names import find_names
from omh_research.tools.quotes import NOT_FOUND, VERIFIED, PreparedText, match
from omh_research.tools.tokens import content_tokens, detect_language

_NOT_PROSE = lazy_re(
    r"`[^`\n]{1,300}`|\(\s*\d{1,2}\s*\)|（\s*\d{1,2}\s*）|\(?unverified\)?",
    re.IGNORECASE,
    needs=("`", "(", "（", "unverified"),
)
_DOI_OR_ID = lazy_re(
    r"\b10\.\d{4,9}/\S+|\barxiv\s*:\s*\S+|\bISBN[\s:]*[\d-]{10,17}",
    re.IGNORECASE,
    needs=("10.", "arxiv", "isbn"),
)
_STRUCTURE_WORD = lazy_re(
    r"\b(?:step|phase|option|item|point|finding|takeaway|question|subtopic|section|table|figure|fig\.|part)\s+\d{1,2}(?:\.\d{1,2}){0,3}\b",
    re.IGNORECASE,
    needs=(
        "step", "phase", "option", "item", "point", "finding", "takeaway", "question", "subtopic",
        "section", "table", "fig", "part",
    ),
)  # fmt: skip
_ACRONYM = lazy_re(r"\(([A-Z][A-Za-z0-9]{1,7})\)")


class Facts(Struct, frozen=True):
    """The figures, dates and names of a piece of text."""

    figures: tuple[Figure, ...] = ()
    dates: tuple[Date, ...] = ()
    names: tuple[Name, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to check."""
        return not (self.figures or self.dates or self.names)

    def by_rule(self) -> Iterator[tuple[str, list[str]]]:
        """Yield (rule stem, spellings) for each kind that is not empty."""
        for rule, items in (("figure", self.figures), ("date", self.dates), ("name", self.names)):
            spelled = list(dict.fromkeys(item.text for item in items))
            if spelled:
                yield rule, spelled


def find_facts(text: str, language: str, known: frozenset[str]) -> Facts:
    """Return the facts a piece of a report states. `known` as in `proper_names.find_names`."""
    text = _ACRONYM.sub(_drop_spelled_out, text)
    plain = _DOI_OR_ID.sub(" ", _STRUCTURE_WORD.sub(" ", _NOT_PROSE.sub(" ", text)))
    dates = find_dates(plain)
    undated = _without(plain, [(date.start, date.end) for date in dates])
    figures = find_figures(undated)
    unnumbered = _without(undated, [(figure.start, figure.end) for figure in figures])
    names = find_names(unnumbered, language=language, known=known)
    return Facts(tuple(figures), tuple(dates), tuple(names))


def _drop_spelled_out(match: re.Match[str]) -> str:
    """Drop an acronym in brackets behind the words it stands for."""
    words = re.findall(r"[^\W\d_]+", match.string[max(0, match.start() - 120) : match.start()])
    initials = "".join(word[0] for word in words[-8:]).casefold()
    letters = [char for char in match[1].casefold().rstrip("s") if char.isalpha()]
    at = 0
    for char in letters:
        at = initials.find(char, at) + 1
        if not at:
            return match[0]
    return " "


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return `text` with a `#` in the place of each span: no figure, no sentence border."""
    for start, end in reversed(spans):
        text = f"{text[:start]} # {text[end:]}"
    return text


def missing_facts(facts: Facts, held: Sequence[SourceText], *, cross: bool) -> Facts:
    """Return the facts that none of the texts holds.

    Across languages only names that are spelled the same everywhere count: acronyms and names
    with digits or inner capitals (T13b).
    """
    names = [name for name in facts.names if not cross or _is_universal(name.text)]
    return Facts(
        tuple(f for f in facts.figures if not any(text.figures.supports(f) for text in held)),
        tuple(d for d in facts.dates if not any(text.dates.supports(d) for text in held)),
        tuple(n for n in names if not any(text.names.supports(n) for text in held)),
    )


def _is_universal(name: str) -> bool:
    words = name.split()
    return all(any(char.isdigit() for char in w) or sum(c.isupper() for c in w) > 1 for w in words)


class SourceText:
    """One source as held: its text and what can be asked of it. Indexes are made on first use.

    `titles` are those whose words count as the source's own: of pages that the run fetched. What
    somebody merely says the title is, in `said_titles`, may be quoted where the text bears it out;
    it proves no figure, date or name (T23).
    """

    def __init__(
        self,
        held: Sequence[HeldText],
        titles: Sequence[str],
        rows: Sequence[str],
        said_titles: Sequence[str] = (),
    ) -> None:
        self._held = held
        self._extra = [*titles, *(text.date for text in held)]
        self._labels = [*(text.publisher for text in held), *(text.url for text in held)]
        self._rows = rows
        self._said = said_titles
        self._matches: dict[str, str] = {}

    @property
    def texts(self) -> list[str]:
        """The held texts."""
        return [text.text for text in self._held]

    def match(self, quotation: str) -> str:
        """Return the best match of `quotation` in the held texts or titles (see `quotes.match`)."""
        if quotation not in self._matches:
            results = [match(quotation, text) for text in self._prepared]
            best = VERIFIED if VERIFIED in results else (results[0] if results else NOT_FOUND)
            titles = [*self._extra, *self._borne_out] if best == NOT_FOUND else []
            if any(match(quotation, title) == VERIFIED for title in titles if title):
                best = VERIFIED
            self._matches[quotation] = best
        return self._matches[quotation]

    @cached_property
    def _prepared(self) -> list[PreparedText]:
        return [PreparedText(text.text) for text in self._held]

    @cached_property
    def _borne_out(self) -> list[str]:
        """The said titles that state nothing the text does not hold."""
        return [title for title in self._said if self._bears_out(title)]

    def _bears_out(self, title: str) -> bool:
        facts = find_facts(title, self.language, frozenset())
        if not missing_facts(facts, [self], cross=False).is_empty:
            return False
        words = {word for word in content_tokens(title) if not word[0].isdigit()}
        known = self._tokens
        return sum(word in known for word in words) >= 0.6 * len(words)

    @cached_property
    def _tokens(self) -> frozenset[str]:
        return frozenset(token for text in self.texts for token in content_tokens(text))

    @cached_property
    def language(self) -> str:
        """The language of the held text (ISO 639-1)."""
        return detect_language(self._held[0].text[:20_000])

    @cached_property
    def figures(self) -> FigureIndex:
        """The figures of text, titles and dates."""
        return index_figures("\n".join([*(text.text for text in self._held), *self._extra]))

    @cached_property
    def dates(self) -> DateIndex:
        """The dates of text, titles and date fields."""
        return index_dates("\n".join([*(text.text for text in self._held), *self._extra]))

    @cached_property
    def names(self) -> NameIndex:
        """The words of text, titles, publisher and address."""
        return index_names([*(text.text for text in self._held), *self._extra, *self._labels])

    @cached_property
    def verified_rows(self) -> tuple[str, ...]:
        """The quotes of the findings' EVIDENCE lines for this source that stand in its text."""
        return tuple(row for row in dict.fromkeys(self._rows) if self.match(row) == VERIFIED)

    @cached_property
    def quoted(self) -> SourceText:
        """This source reduced to its verified quotes (E28b)."""
        only = HeldText(url="", sha256="", text="\n\n".join(self.verified_rows))
        reduced = SourceText([only], self._extra, (), self._borne_out)
        reduced._labels = self._labels
        return reduced

    @cached_property
    def context(self) -> Context:
        """The held text sentence by sentence."""
        return Context([text.text for text in self._held], self.language)
