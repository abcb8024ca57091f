"""Does this quote stand in this source? (spec T12)

Job: match a quote against one text in normal form, on token borders, and locate it in the
original. A changed word, number, sign, negation or unit is not found; neither is a quote whose
first or last token is cut out of a longer one ("5 million" in "15 million", "0.5", "non-", "12%").
Refuses to judge meaning (see `alignment`), to search many sources at once (see `quote_index`)
and to accept paraphrase. Importers: tools, phases, delegates.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct

from omh_research.lazy_re import lazy_re
from omh_research.tools.negation import is_negated
from omh_research.tools.normal_form import (
    blank_markup,
    comparable,
    comparable_each,
    count_alnum,
    has_line_hyphen,
    normalise,
)
from omh_research.tools.token_borders import is_word, on_borders

__all__ = [
    "ELLIPSIS_REACH",
    "MIN_QUOTE_CHARS",
    "MISSING",
    "NOT_FOUND",
    "TOO_SHORT",
    "VERIFIED",
    "PreparedQuote",
    "PreparedText",
    "lead_in",
    "locate",
    "match",
    "normalise",
    "prepare_quote",
    "prepare_quotes",
    "split_parts",
]

MIN_QUOTE_CHARS = 12
ELLIPSIS_REACH = 600
VERIFIED, NOT_FOUND, TOO_SHORT, MISSING = "verified", "not_found", "too_short", "missing"

_MIN_CORE_CHARS = 8
_MAX_STARTS = 1_000
_MAX_LOOKS = 8
# Characters compared at places that are cut out of a longer token, before giving up (T20).
_MAX_COMPARED = 50_000_000
_MAX_PARAGRAPH = 20_000
_CLAUSE_END = lazy_re(r"[.!?;:,()\u3002\uff01\uff1f\uff1b\uff0c\uff1a]| - ")
_BLOCK = 1_024
_LEAD_CHARS = 160
_EDGE = " \t\"'.,;:!?\u3001\u3002\uff0c\uff1a\uff1b\uff01\uff1f"
_CORE_EDGE, _CORE_END = _EDGE + "\u2033", _EDGE + "-"
_MARKS = frozenset("'\"")
_HYPHENS = ("-", "\u2010", "\u2011", "\u2012", "\u2013", "\u2212")
_PARAGRAPH = lazy_re(r"\n[ \t\r]{0,80}\n")
_ELLIPSIS = lazy_re(r" ?[\[(]?\.(?: ?\.){2,}[\])]? ?")


Span = tuple[int, int]


class PreparedText:
    """One source, made ready once and kept. Safe to share between threads.

    `original` is the text as given, `form` what quotes are searched in
    (`normal_form.comparable`); offsets returned by `locate` are those of `original`.
    """

    __slots__ = ("_blocks", "_broken", "_flat", "_joined", "form", "original")

    def __init__(self, text: str) -> None:
        self.original = text
        self.form = comparable(text)
        self._broken: bool | None = None
        self._joined: str | None = None
        self._flat: str | None = None
        self._blocks: list[int] | None = None

    @classmethod
    def of(cls, text: str | PreparedText) -> PreparedText:
        """Return `text` prepared; a text that already is comes back as it is."""
        return text if isinstance(text, PreparedText) else cls(text)

    @property
    def is_broken(self) -> bool:
        """Whether words of the text may be broken by hyphens at line ends."""
        if self._broken is None:
            self._broken = has_line_hyphen(self.original)
        return self._broken

    @property
    def joined(self) -> str:
        """The form without hyphens between letters, for texts with broken words; made once."""
        if self._joined is None:
            self._joined = comparable(self.original, join_hyphens=True)
        return self._joined

    @property
    def flat(self) -> str:
        """The form in which a line end after a hyphen is but a space; made once."""
        if self._flat is None:
            self._flat = comparable(_flatten(self.original))
        return self._flat

    def to_original(self, start: int, end: int, form: str) -> tuple[int, int]:
        """Return the span of `original` that became `form[start:end]`.

        Letters and digits are never added or dropped by normalising, so the n-th one of the
        form is the n-th one of the text without its markup.
        """
        text = blank_markup(self.original)
        if self._blocks is None:
            totals, total = [], 0
            for at in range(0, len(text), _BLOCK):
                totals.append(total)
                total += count_alnum(text[at : at + _BLOCK])
            self._blocks = totals
        first, count = count_alnum(form[:start]), count_alnum(form[start:end])
        begin = _nth_alnum(text, self._blocks, first + 1)
        return begin, _nth_alnum(text, self._blocks, first + count) + 1


def _nth_alnum(text: str, blocks: list[int], wanted: int) -> int:
    """Return the index in `text` of its `wanted`-th letter or digit (counted from 1)."""
    block = max(0, bisect_right(blocks, wanted - 1) - 1)
    seen = blocks[block] if blocks else 0
    for index in range(block * _BLOCK, len(text)):
        seen += count_alnum(text[index])
        if seen >= wanted:
            return index
    return max(0, len(text) - 1)


class PreparedQuote(Struct, frozen=True, gc=False):
    """One quote, made ready once (`prepare_quote`): for asking several sources about it.

    `norm` is its normal form without outer quotation marks, `form` what is compared, `core` the
    form without edge punctuation: what is looked for.
    """

    original: str
    norm: str
    form: str
    core: str

    @property
    def is_open(self) -> bool:
        """Whether the quote may be verified without standing in a text in one piece.

        It may with an ellipsis, and with a hyphen, where lines break.
        """
        form = self.form
        return "-" in form or ".." in form or ". ." in form or "-" in self.original


def prepare_quote(quote: str, norm: str | None = None) -> PreparedQuote:
    """Return `quote` prepared; `norm` may hold `normalise(quote)` if that is known."""
    if norm is None:
        norm = normalise(quote)
    if norm[:1] in _MARKS and norm[-1:] in _MARKS:
        norm = norm.strip("'\"")  # the marks are the citing text's, not the source's
    form = comparable(quote, norm=norm)
    return PreparedQuote(quote, norm, form, _core(form))


def _core(form: str) -> str:
    """Return a form without its edge punctuation; that is what is looked for.

    A dash at the end goes too: "IL-" must meet the border check that "IL-4" cut at "IL" meets. A
    dash at the start stays, it may be a sign.
    """
    return form.strip(_CORE_EDGE).rstrip(_CORE_END)


def prepare_quotes(quotes: Sequence[str]) -> list[PreparedQuote]:
    """Return each quote prepared, in order; many together cost a fifth of one by one."""
    return [
        prepare_quote(quote, norm)
        if norm[:1] in _MARKS and norm[-1:] in _MARKS
        else PreparedQuote(quote, norm, form, form.strip(_CORE_EDGE).rstrip(_CORE_END))
        for quote, (norm, form) in zip(quotes, comparable_each(quotes), strict=True)
    ]


def match(quote: str | PreparedQuote, text: str | PreparedText) -> str:
    """Return "verified", "not_found", "too_short" or "missing" for `quote` in `text` (T12).

    An ellipsis inside the quote stands for words left out: verified when each part has at least
    12 characters and all are found, in order, in one paragraph or within 600 characters.
    """
    if isinstance(quote, str):
        quote = prepare_quote(quote)
    core = quote.core
    if len(core) < _MIN_CORE_CHARS or len(quote.norm) < MIN_QUOTE_CHARS:
        return TOO_SHORT if quote.norm else MISSING
    source = text if isinstance(text, PreparedText) else PreparedText(text)
    form = source.form
    at = form.find(core)
    if at >= 0 and (_is_between_words(core, form, at) or _is_whole(core, form, at)):
        return VERIFIED
    if at < 0 and not quote.is_open:
        return NOT_FOUND
    return VERIFIED if _search(quote, source, at) else NOT_FOUND


def locate(quote: str | PreparedQuote, text: str | PreparedText) -> tuple[int, int] | None:
    """Return the span of `quote` in the original `text` (characters), or None if not found.

    With an ellipsis the span reaches from the first part to the last. Edge punctuation of the
    quote is outside the span.
    """
    if isinstance(quote, str):
        quote = prepare_quote(quote)
    if len(quote.core) < 2:
        return None
    source = PreparedText.of(text)
    found = _search(quote, source, 0)
    return source.to_original(*found) if found else None


def lead_in(quote: str | PreparedQuote, source: PreparedText) -> str:
    """Return what stands before a found quote in its own clause, in normal form; "" if nothing.

    "it is not true that" before "the drug is effective": the quote is exact, its sense is not.
    """
    prepared = prepare_quote(quote) if isinstance(quote, str) else quote
    found = _search(prepared, source, 0) if prepared.core else None
    if found is None:
        return ""
    start, _, form = found
    return _CLAUSE_END.split(form[max(0, start - _LEAD_CHARS) : start])[-1].strip()


class _Hay(NamedTuple):
    """One form of a source, and the source (asked where the form has lost what matters)."""

    source: PreparedText
    text: str


def _search(quote: PreparedQuote, source: PreparedText, start: int) -> tuple[int, int, str] | None:
    """Return (start, end, form of the source in which it was found) of the quote, or None.

    The whole quote is looked for from `start` on; a negative `start` says it is nowhere.
    """
    form, hay = quote.form, _Hay(source, source.form)
    found = _find(quote.core, hay, start) if start >= 0 else None
    found = found or _find_parts(form, hay)
    if found:
        return *found, hay.text
    if not (("-" in form and source.is_broken) or has_line_hyphen(quote.original)):
        return None
    flat = _flatten(quote.original)
    for text, form in (
        (source.joined, comparable(quote.original, join_hyphens=True)),
        (source.flat, comparable(flat)),
        (source.form, comparable(flat)),
    ):
        hay = _Hay(source, text)
        found = _find(_core(form), hay) or _find_parts(form, hay)
        if found:
            return *found, text
    return None


def _flatten(text: str) -> str:
    """Return `text` on one line, at its own length."""
    return text.replace("\n", " ").replace("\r", " ")


def split_parts(form: str) -> list[str]:
    """Return the parts of a quote's form between ellipses: all of it where there is none."""
    if ".." not in form and ". ." not in form:
        return [form]
    parts = (_core(part) for part in _ELLIPSIS.split(form))
    return [part for part in parts if part]


def _find(core: str, hay: _Hay, start: int = 0, limit: int = sys.maxsize) -> Span | None:
    """Return the first place of `core` in `hay` that begins and ends on token borders."""
    text = hay.text
    at = text.find(core, start, limit)
    looks, tries = _MAX_LOOKS, _MAX_COMPARED // max(1, len(core))
    while at >= 0 and tries:
        tries -= 1
        end = at + len(core)
        if _is_whole(core, text, at):
            return at, end
        if on_borders(core, text, at):
            looks -= 1
            if looks < 0:
                return None
            if not _cuts_hyphen(hay.source.original, hay.source.to_original(at, end, text)):
                return at, end
        at = text.find(core, at + 1, limit)
    return None


def _is_between_words(core: str, text: str, at: int) -> bool:
    """Say whether `core` has words, and no dash or number, on both sides: the common case."""
    end = at + len(core)
    return (
        at > 1
        and end + 1 < len(text)
        and text[at - 1] == " " == text[end]
        and text[at - 2] != "-" != text[end + 1]
        and not core[0].isdigit()
        and not core[-1].isdigit()
    )


def _is_whole(core: str, text: str, at: int) -> bool:
    """Say whether `core` stands there on token borders with no dash beside it.

    Beside a dash only the original text tells a hyphen or a sign from a dash between words.
    """
    end = at + len(core)
    if text.startswith(" - ", end) or (at > 2 and text.startswith(" - ", at - 3)):
        return False
    return on_borders(core, text, at)


def _cuts_hyphen(text: str, span: Span) -> bool:
    """Say whether `span` of `text` is cut out of a hyphenated word, a range or a sign."""
    left, right = span
    before, after = text[max(0, left - 2) : left], text[right : right + 2]
    head = before[-1:] in _HYPHENS and (
        text[left].isdigit() or (len(before) == 2 and is_word(before[0]))
    )
    return head or (after[:1] in _HYPHENS and len(after) == 2 and is_word(after[1]))


def _find_parts(form: str, hay: _Hay) -> Span | None:
    """Return the span of a quote with an ellipsis inside, by the rule of T12."""
    if ".." not in form and ". ." not in form:
        return None
    parts = split_parts(form)
    if not parts or any(len(part) < MIN_QUOTE_CHARS for part in parts):
        return None
    start, looks = -1, _MAX_LOOKS
    for _ in range(_MAX_STARTS):
        first = _find(parts[0], hay, start + 1)
        if first is None:
            return None
        start = first[0]
        spans = _follow(parts[1:], hay, first)
        if spans is None or _hides_negation(spans, hay.text):
            continue
        end = spans[-1][1]
        if end - start <= ELLIPSIS_REACH:
            return start, end
        looks -= 1
        if looks < 0:
            return None
        left, right = hay.source.to_original(start, end, hay.text)
        if not _PARAGRAPH.search(hay.source.original[left:right]):
            return start, end
    return None


def _follow(parts: list[str], hay: _Hay, first: Span) -> list[Span] | None:
    """Return the spans of `first` and, in order after it, of each of `parts`."""
    spans = [first]
    for part in parts:
        span = _find(part, hay, spans[-1][1], first[0] + _MAX_PARAGRAPH)
        if span is None:
            return None
        spans.append(span)
    return spans


def _hides_negation(spans: list[tuple[int, int]], form: str) -> bool:
    """Say whether an ellipsis leaves out only a few words and one of them negates."""
    for (_, left), (right, _) in pairwise(spans):
        gap = form[left:right]
        if len(gap) <= 40 and gap.count(" ") <= 5 and is_negated(gap):
            return True
    return False
