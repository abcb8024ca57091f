"""Which of many sources holds this quote? (spec T12, figure Q6)

Job: narrow quotes to the few sources that hold a whole stretch of them, then ask `quotes.match`
of those only. Same answers as asking every source, without the cost. Refuses to rank and to accept
anything `quotes.match` does not. Importers: tools, phases, delegates.

How, for many quotes at once: source and quote are cut at the same places, after every "e " (or
another frequent pair where that is rare). A stretch between two cuts inside the quote is then,
letter for letter, a stretch of any source that holds the quote. One pass over each source looks
for one stretch of every quote: some four times fewer pieces than words, each nearly unique, and
nothing is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from omh_research.tools.normal_form import has_line_hyphen
from omh_research.tools.quotes import VERIFIED, PreparedQuote, PreparedText, match, split_parts

# Frequent ends of words, by script: of each set the cut that leaves the longest stretch.
_CUTS = (("e ",), ("s ", "n "), ("а ", "о ", "и "), ("的", ","), ("の", "ا"), (" ",))
_MIN_STRETCH = 12
# A pass over the sources for fewer quotes costs more than asking each source.
_MIN_GROUP = 40


class QuoteIndex:
    """Named sources to ask about quotes. Read from any number of threads.

    `sources` maps a key (a URL, an id) to a text or a `PreparedText`; answers are keys in the
    order of that mapping. Many quotes at once (`find_all`) cost far less than one by one.
    """

    def __init__(self, sources: Mapping[str, str | PreparedText]) -> None:
        self._keys = tuple(sources)
        self._texts = tuple(PreparedText.of(text) for text in sources.values())
        self._broken = [n for n, source in enumerate(self._texts) if source.is_broken]

    def find(self, quote: str) -> tuple[str, ...]:
        """Return the keys of all sources in which `quote` is verified."""
        return self.find_all([quote])[0]

    def find_all(self, quotes: Sequence[str]) -> list[tuple[str, ...]]:
        """Return for each quote, in order, the keys of all sources in which it is verified."""
        prepared = [PreparedQuote(quote) for quote in quotes]
        everywhere = range(len(self._texts))
        candidates: list[set[int] | range] = [everywhere] * len(prepared)
        for cut, wanted in self._group(prepared).items():
            chosen = [index for indexes in wanted.values() for index in indexes]
            if len(chosen) < _MIN_GROUP:
                continue
            found = self._scan(cut, wanted)
            for index in chosen:
                held = found.get(index, set())
                if self._broken and "-" in prepared[index].form:
                    held = held.union(self._broken)
                candidates[index] = held
        return [
            tuple(
                self._keys[number]
                for number in sorted(numbers)
                if match(quote, self._texts[number]) == VERIFIED
            )
            for quote, numbers in zip(prepared, candidates, strict=True)
        ]

    def _group(self, quotes: Sequence[PreparedQuote]) -> dict[str, dict[str, list[int]]]:
        """Return for each cut the stretches looked for, each with the indexes of its quotes."""
        groups: dict[str, dict[str, list[int]]] = {}
        for index, quote in enumerate(quotes):
            if has_line_hyphen(quote.original):
                continue
            part = max(split_parts(quote.form), key=len, default="")
            for cuts in _CUTS:
                pairs = [(max(part.split(cut)[1:-1], key=len, default=""), cut) for cut in cuts]
                stretch, cut = max(pairs, key=lambda pair: len(pair[0]))
                if len(stretch) >= _MIN_STRETCH:
                    groups.setdefault(cut, {}).setdefault(stretch, []).append(index)
                    break
        return groups

    def _scan(self, cut: str, wanted: Mapping[str, list[int]]) -> dict[int, set[int]]:
        """Return for each index the numbers of the sources that hold its stretch."""
        found: dict[int, set[int]] = {}
        stretches = frozenset(wanted)
        for number, source in enumerate(self._texts):
            for stretch in stretches.intersection(source.form.split(cut)):
                for index in wanted[stretch]:
                    found.setdefault(index, set()).add(number)
        return found
