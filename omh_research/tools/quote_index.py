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
from omh_research.tools.quotes import (
    VERIFIED,
    PreparedQuote,
    PreparedText,
    match,
    prepare_quotes,
    split_parts,
)

# Frequent ends of words, by script: of each set the cut that leaves the longest stretch.
_CUTS = (("e ",), ("s ", "n "), ("а ", "о ", "и "), ("的", ","), ("の", "ا"), (" ",))
_MIN_STRETCH = 12
# Some sources hold a stretch of so many characters by chance; most do not.
_MIN_SHORT = 4
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
        prepared = prepare_quotes(quotes)
        everywhere = range(len(self._texts))
        candidates: list[set[int] | range] = [everywhere] * len(prepared)
        for cut, wanted in self._group(prepared).items():
            found = self._scan(cut, wanted)
            for index in (index for indexes in wanted.values() for index in indexes):
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
        """Return for each cut the stretches looked for, each with the indexes of its quotes.

        Only cuts worth a pass. A quote without a long stretch joins one of these by a short one;
        one without that either is in no group.
        """
        groups: dict[str, dict[str, list[int]]] = {}
        parts: dict[int, str] = {}
        for index, quote in enumerate(quotes):
            if has_line_hyphen(quote.original):
                continue
            parts[index] = part = max(split_parts(quote.form), key=len, default="")
            for cuts in _CUTS:
                stretch, cut = _longest_stretch(part, cuts)
                if len(stretch) >= _MIN_STRETCH:
                    groups.setdefault(cut, {}).setdefault(stretch, []).append(index)
                    break
        worth = {cut: held for cut, held in groups.items() if _count(held) >= _MIN_GROUP}
        placed = {
            index for held in worth.values() for indexes in held.values() for index in indexes
        }
        for index in sorted(parts.keys() - placed) if worth else ():
            stretch, cut = _longest_stretch(parts[index], tuple(worth))
            if len(stretch) >= _MIN_SHORT:
                worth[cut].setdefault(stretch, []).append(index)
        return worth

    def _scan(self, cut: str, wanted: Mapping[str, list[int]]) -> dict[int, set[int]]:
        """Return for each index the numbers of the sources that hold its stretch."""
        found: dict[int, set[int]] = {}
        stretches = frozenset(wanted)
        for number, source in enumerate(self._texts):
            for stretch in stretches.intersection(source.form.split(cut)):
                for index in wanted[stretch]:
                    found.setdefault(index, set()).add(number)
        return found


def _count(wanted: Mapping[str, list[int]]) -> int:
    return sum(map(len, wanted.values()))


def _longest_stretch(part: str, cuts: tuple[str, ...]) -> tuple[str, str]:
    """Return the longest stretch of `part` between two of one of the `cuts`, and that cut."""
    pairs = ((max(part.split(cut)[1:-1], key=len, default=""), cut) for cut in cuts)
    return max(pairs, key=lambda pair: len(pair[0]))
