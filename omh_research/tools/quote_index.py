"""Which of many sources holds this quote? (spec T12, figure Q6)

Job: narrow a quote to the few sources that hold all of its words, then ask `quotes.match` of
those only. Same answers as asking every source, without the cost. Refuses to rank and to accept
anything `quotes.match` does not. Importers: tools, phases, delegates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from omh_research.tools.normal_form import CJK, has_line_hyphen
from omh_research.tools.quotes import VERIFIED, PreparedQuote, PreparedText, filter_words, match

_MAX_WORDS = 12
_CJK_CHAR = re.compile(f"[{CJK}]")


class QuoteIndex:
    """An index over named sources. Built once, read from any number of threads.

    `sources` maps a key (a URL, an id) to a text or a `PreparedText`; answers are keys in the
    order of that mapping.
    """

    def __init__(self, sources: Mapping[str, str | PreparedText]) -> None:
        self._keys = tuple(sources)
        self._texts = tuple(PreparedText.of(text) for text in sources.values())
        self._words = [(number, source.words) for number, source in enumerate(self._texts)]
        self._broken = {number for number, source in enumerate(self._texts) if source.is_broken}
        self._chars: list[frozenset[str]] | None = None

    def candidates(self, quote: str) -> tuple[str, ...]:
        """Return the keys of the sources that could hold `quote`: never too few."""
        return tuple(self._keys[number] for number in self._numbers(PreparedQuote(quote)))

    def find(self, quote: str) -> tuple[str, ...]:
        """Return the keys of all sources in which `quote` is verified."""
        prepared = PreparedQuote(quote)
        return tuple(
            self._keys[number]
            for number in self._numbers(prepared)
            if match(prepared, self._texts[number]) == VERIFIED
        )

    def _numbers(self, quote: PreparedQuote) -> Iterable[int]:
        """Return the numbers, ascending, of the sources that hold every word of `quote`."""
        if has_line_hyphen(quote.original):
            return range(len(self._texts))
        words = sorted(filter_words(quote.form), key=len, reverse=True)
        if words:
            held = self._words
            for word in words[:_MAX_WORDS]:  # the longest is the likeliest to be rare
                held = [pair for pair in held if word in pair[1]]
                if len(held) < 2:
                    break
            numbers = {number for number, _ in held}
        else:
            wanted = frozenset(_CJK_CHAR.findall(quote.form))
            if self._chars is None:
                self._chars = [frozenset(source.form) for source in self._texts]
            numbers = {number for number, chars in enumerate(self._chars) if chars >= wanted}
        if self._broken and "-" in quote.form:
            numbers |= self._broken
        return sorted(numbers)
