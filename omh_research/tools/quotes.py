"""Does this quote stand in this source? (spec T12)

Job: match a quote against one text in normal form, on token borders, and locate it in the
original. A changed word, number, sign, negation or unit is not found; neither is a quote whose
first or last token is cut out of a longer one ("5 million" in "15 million", "0.5", "non-", "12%").
Refuses to judge meaning (see `alignment`), to search many sources at once (see `quote_index`)
and to accept paraphrase. Importers: tools, phases, delegates.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from bisect import bisect_right
from itertools import pairwise
from typing import NamedTuple

from omh_research.tools.normal_form import (
    CJK,
    blank_markup,
    count_alnum,
    has_line_hyphen,
    loosen,
    normalise,
)

__all__ = [
    "ELLIPSIS_REACH",
    "MIN_QUOTE_CHARS",
    "MISSING",
    "NOT_FOUND",
    "TOO_SHORT",
    "VERIFIED",
    "PreparedText",
    "locate",
    "match",
    "normalise",
]

MIN_QUOTE_CHARS = 12
ELLIPSIS_REACH = 600
VERIFIED, NOT_FOUND, TOO_SHORT, MISSING = "verified", "not_found", "too_short", "missing"

_MIN_CORE_CHARS = 8
_MAX_STARTS = 1_000
_MAX_LOOKS = 8
_MAX_PARAGRAPH = 20_000
_BLOCK = 1_024
_EDGE = " \t\"'.,;:!?\u3001\u3002\uff0c\uff1a\uff1b\uff01\uff1f"
_HYPHENS = ("-", "\u2010", "\u2011", "\u2012", "\u2013", "\u2212")
_PARAGRAPH = re.compile(r"\n[ \t\r]{0,80}\n")
_ELLIPSIS = re.compile(r" ?[\[(]?\.(?: ?\.){2,}[\])]? ?")
_NO_BORDER = re.compile(f"[{CJK}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_NUMERAL = frozenset("〇零一二三四五六七八九十百千万亿萬億兆点")
_BEFORE_NUMBER = frozenset("<>\u2264\u2265\u2248\u00b1~$\u20ac\u00a3\u00a5\u20b9")
_AFTER_NUMBER = frozenset("%\u2030\u00b0\u20ac$\u00a3\u00a5\u20b9万亿千百兆億萬")
_MAGNITUDE = re.compile(
    r" ?(?:hundred|thousand|million|billion|trillion|percent|per cent|mio|mrd|mill|millones|"
    r"milliarden?|millionen|millions?|milliards?|bn|mn|миллион|миллиард|тысяч|процент)"
)
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|neither|nor|without|cannot|hardly|kein\w*|nicht|nie|ne|pas|jamais|"
    r"nunca|sin|não|не|нет|ни)\b|n't\b|[不没沒无無未非]|\b(?:لا|ليس|لم|لن|غير)\b"
)


Span = tuple[int, int]


class PreparedText:
    """One source, its normal form computed once and kept. Safe to share between threads.

    `original` is the text as given, `norm` its normal form; offsets returned by `locate` are
    those of `original`.
    """

    __slots__ = ("_blocks", "_broken", "_loose", "_words", "norm", "original")

    def __init__(self, text: str) -> None:
        self.original = text
        self.norm = normalise(text)
        self._broken: bool | None = None
        self._loose: dict[bool, str] = {}
        self._words: frozenset[str] | None = None
        self._blocks: dict[bool, list[int]] = {}

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

    def loose(self, join_hyphens: bool) -> str:
        """Return the looser form of the text (see `normal_form.loosen`), computed once."""
        if join_hyphens not in self._loose:
            self._loose[join_hyphens] = loosen(self.original, join_hyphens=join_hyphens)
        return self._loose[join_hyphens]

    @property
    def words(self) -> frozenset[str]:
        """The space-separated tokens of the loose form, edge punctuation cut off."""
        if self._words is None:
            self._words = frozenset(
                token.strip(_EDGE + "()[]") for token in self.loose(False).split(" ")
            )
        return self._words

    def to_original(self, start: int, end: int, *, form: str, blanked: bool) -> tuple[int, int]:
        """Return the span of `original` that became `form[start:end]`.

        Letters and digits are never added or dropped by normalising, so the n-th one of the
        form is the n-th one of the text; `blanked` counts in the text without markup.
        """
        first, count = count_alnum(form[:start]), count_alnum(form[start:end])
        text = blank_markup(self.original) if blanked else self.original
        if blanked not in self._blocks:
            totals, sum_ = [], 0
            for at in range(0, len(text), _BLOCK):
                totals.append(sum_)
                sum_ += count_alnum(text[at : at + _BLOCK])
            self._blocks[blanked] = totals
        begin = _nth_alnum(text, self._blocks[blanked], first + 1)
        last = _nth_alnum(text, self._blocks[blanked], first + count)
        return begin, last + 1


def _trim_token(token: str) -> str:
    return token.strip(_EDGE + "()[]")


def _nth_alnum(text: str, blocks: list[int], wanted: int) -> int:
    """Return the index in `text` of its `wanted`-th letter or digit (counted from 1)."""
    block = max(0, bisect_right(blocks, wanted - 1) - 1)
    seen = blocks[block] if blocks else 0
    for index in range(block * _BLOCK, len(text)):
        seen += count_alnum(text[index])
        if seen >= wanted:
            return index
    return max(0, len(text) - 1)


def match(quote: str, text: str | PreparedText) -> str:
    """Return "verified", "not_found", "too_short" or "missing" for `quote` in `text` (T12).

    An ellipsis inside the quote stands for words left out: verified when each part has at least
    12 characters and all are found, in order, in one paragraph or within 600 characters.
    """
    norm = normalise(quote)
    if not norm:
        return MISSING
    core = norm.strip(_EDGE)
    if len(norm) < MIN_QUOTE_CHARS or len(core) < _MIN_CORE_CHARS:
        return TOO_SHORT
    return VERIFIED if _search(quote, norm, PreparedText.of(text)) else NOT_FOUND


def locate(quote: str, text: str | PreparedText) -> tuple[int, int] | None:
    """Return the span of `quote` in the original `text` (characters), or None if not found.

    With an ellipsis the span reaches from the first part to the last. Edge punctuation of the
    quote is outside the span.
    """
    norm = normalise(quote)
    if len(norm.strip(_EDGE)) < 2:
        return None
    found = _search(quote, norm, PreparedText.of(text))
    if found is None:
        return None
    start, end, hay = found
    return hay.to_original(start, end)


class _Hay(NamedTuple):
    """One form of a source: its text and whether it is a loose one."""

    source: PreparedText
    text: str
    loose: bool

    def to_original(self, start: int, end: int) -> tuple[int, int]:
        return self.source.to_original(start, end, form=self.text, blanked=self.loose)


def _search(quote: str, norm: str, source: PreparedText) -> tuple[int, int, _Hay] | None:
    """Return (start, end, form in which it was found) of the quote, or None."""
    hay = _Hay(source, source.norm, False)
    span = _find(norm.strip(_EDGE), hay) or _find_parts(norm, hay)
    if span:
        return *span, hay
    broken = source.is_broken or has_line_hyphen(quote)
    if not broken and not _words_known(loosen(quote).strip(_EDGE), source):
        return None
    for join in (False, True) if broken else (False,):
        hay = _Hay(source, source.loose(join), True)
        target = loosen(quote, join_hyphens=join)
        span = _find(target.strip(_EDGE), hay) or _find_parts(target, hay)
        if span:
            return *span, hay
    return None


def _words_known(core: str, source: PreparedText) -> bool:
    """Say whether all inner words of a loose quote stand in the source at all.

    Most invented quotes fail here, without another pass over the text.
    """
    words = source.words
    return all(
        token in words for token in core.split(" ")[1:-1] if token.isalnum() and token.isascii()
    )


def _find(core: str, hay: _Hay, start: int = 0, limit: int = sys.maxsize) -> Span | None:
    """Return the first place of `core` in `hay` that begins and ends on token borders."""
    at = hay.text.find(core, start, limit)
    looks = _MAX_LOOKS
    while at >= 0:
        if _on_borders(core, hay.text, at):
            end = at + len(core)
            beside = hay.text[max(0, at - 3) : at] == " - " or hay.text[end : end + 3] == " - "
            if not (hay.loose and beside):
                return at, end
            looks -= 1
            if looks < 0:
                return None
            if not _cuts_hyphen(hay.source.original, *hay.to_original(at, end)):
                return at, end
        at = hay.text.find(core, at + 1, limit)
    return None


def _cuts_hyphen(text: str, left: int, right: int) -> bool:
    """Say whether `text[left:right]` is cut out of a hyphenated word, a range or a sign."""
    before, after = text[max(0, left - 2) : left], text[right : right + 2]
    head = before[-1:] in _HYPHENS and (
        text[left].isdigit() or (len(before) == 2 and _is_word(before[0]))
    )
    return head or (after[:1] in _HYPHENS and len(after) == 2 and _is_word(after[1]))


def _find_parts(norm: str, hay: _Hay) -> Span | None:
    """Return the span of a quote with an ellipsis inside, by the rule of T12."""
    if ".." not in norm and ". ." not in norm:
        return None
    parts = [part.strip(_EDGE) for part in _ELLIPSIS.split(norm)]
    parts = [part for part in parts if part]
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
        left, right = hay.to_original(start, end)
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
        if len(gap) <= 40 and gap.count(" ") <= 5 and _NEGATION.search(gap):
            return True
    return False


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_" or (char > "\x7f" and unicodedata.category(char)[0] == "M")


def _on_borders(core: str, hay: str, at: int) -> bool:
    """Say whether `core` at `at` in `hay` begins and ends where a token does."""
    end = at + len(core)
    before, after = hay[max(0, at - 8) : at], hay[end : end + 16]
    return _starts_clean(before, core[0], core) and _ends_clean(core[-1], after)


def _starts_clean(before: str, first: str, core: str) -> bool:
    """Say whether a token can begin at `first`, with `before` in front of it."""
    if not before or not _is_word(first):
        return True
    last = before[-1]
    if last == " ":
        if not first.isdigit():
            return True
        held = before.rstrip()[-1:]
        grouped = bool(re.match(r"\d{3}(?!\d)", core)) and bool(re.search(r"\b\d{1,3} $", before))
        return held not in _BEFORE_NUMBER and not grouped
    if first in _NUMERAL and last in _NUMERAL:
        return False
    if _is_word(last):
        if first.isdigit() and last.isdigit():
            return False
        return bool(_NO_BORDER.match(first) or _NO_BORDER.match(last))
    earlier = before[-2:-1]
    if first.isdigit():
        if last in "-+^\u2044" or last in _BEFORE_NUMBER:
            return False
        return not (last in ".,'/:" and earlier.isdigit())
    if last in "-/" and earlier:
        return not _is_word(earlier)
    return True


def _ends_clean(last: str, after: str) -> bool:
    """Say whether a token can end at `last`, with `after` behind it."""
    if not after or not _is_word(last):
        return True
    following, beyond = after[0], after[1:2]
    if last.isdigit():
        if after.lstrip(" ")[:1] in _AFTER_NUMBER or _MAGNITUDE.match(after):
            return False
        if following in "^\u2044" or (following in ".,'/:" and beyond.isdigit()):
            return False
    if last in _NUMERAL and following in _NUMERAL:
        return False
    if _is_word(following):
        if last.isdigit() and following.isdigit():
            return False
        return bool(_NO_BORDER.match(last) or _NO_BORDER.match(following))
    if following == "'" and beyond == "t":
        return False
    if following in "-/" and beyond:
        return not _is_word(beyond)
    return True
