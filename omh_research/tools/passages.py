"""Passages: a text cut into slices of bounded length, and windows within a sentence.

Job: cut at blank lines, line ends, sentence ends, spaces, in that order of preference; every slice
is literal, so a quote from it verifies (spec T10). Refuses to rank. Linear in the text's length.
Importers: tools, corpus, delegates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from omh_research.lazy_re import lazy_re
from omh_research.tools.sentences import split
from omh_research.tools.tokens import is_cjk, tokenize

_BLANK = lazy_re(r"\n[^\S\n]*\n\s*|\f\s*")
_CUTS = ("\n", "。", "！", "？", "؟ ", "। ", ". ", "! ", "? ", "; ", "；", "，", ", ", " ")
_WORD = lazy_re(r"[^\W_]+")
# What an unmatched word or number next to a match is worth in a window: it may be the answer.
_PLAIN, _NAME, _FIGURE = 0.15, 0.3, 0.6


def weigh(text: str) -> int:
    """Length with Han, kana and Hangul characters counted three times: they say that much more."""
    if text.isascii():
        return len(text)
    return len(text) + 2 * sum(1 for ch in text if is_cjk(ch))


def paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of the blocks between blank lines, without outer white space."""
    position = 0
    while position < len(text):
        found = _BLANK.search(text, position)
        end = found.start() if found else len(text)
        piece = text[position:end]
        if stripped := piece.strip():
            start = position + piece.index(stripped[0])
            yield start, start + len(stripped)
        position = found.end() if found else len(text)


def _cut(text: str, start: int, limit: int) -> int:
    """Where to end a slice that starts at `start` and may not pass `limit`."""
    least = start + (limit - start) // 2
    for mark in _CUTS:
        at = text.rfind(mark, least, limit)
        if at >= 0:
            return at + len(mark)
    return limit


def slices(text: str, start: int, end: int, longest: int) -> Iterator[tuple[int, int]]:
    """text[start:end] as (start, end) of at most `longest` characters, cut where it hurts least."""
    while end - start > longest:
        cut = _cut(text, start, start + longest)
        yield start, cut
        start = cut
    if start < end:
        yield start, end


def pack(text: str, longest: int) -> list[tuple[int, int]]:
    """The whole text as slices of at most `longest` characters; short paragraphs share a slice.

    Nothing but white space is left out.
    """
    packed: list[tuple[int, int]] = []
    for start, end in paragraphs(text):
        if packed and end - packed[-1][0] <= longest:
            packed[-1] = (packed[-1][0], end)
        else:
            packed.extend(slices(text, start, end, longest))
    return packed


def chunks(text: str, longest: int, shortest: int) -> list[str]:
    """Paragraphs of at least `shortest` weighed characters; longer ones by whole sentences.

    A sentence longer than `longest` is cut. Every chunk is a literal slice of the text.
    """
    found: list[str] = []
    for start, end in paragraphs(text):
        begin = start
        if end - start > longest:
            last = start
            for span in split(text[start:end]):
                if start + span.end - begin > longest and last > begin:
                    found.append(text[begin:last])
                    begin = start + span.start
                last = start + span.end
                if last - begin > longest:
                    *whole, (begin, last) = slices(text, begin, last, longest)
                    found.extend(text[a:b] for a, b in whole)
        found.append(text[begin:end])
    stripped = (chunk.strip() for chunk in found)
    return [chunk for chunk in stripped if weigh(chunk) >= shortest]


def _values(sentence: str, weight: Callable[[str], float]) -> list[tuple[int, int, float]]:
    """(start, end, value) of each word; a run of Han or kana gives a value per character."""
    values: list[tuple[int, int, float]] = []
    for found in _WORD.finditer(sentence):
        start, word = found.start(), found.group()
        if is_cjk(word[0]):
            matched = [weight(word[i : i + 2]) for i in range(len(word))]
            for i, ch in enumerate(word):
                value = max(matched[i], matched[i - 1] if i else 0.0) / 2
                plain = _FIGURE if ch.isnumeric() else _PLAIN / 3
                values.append((start + i, start + i + 1, value or plain))
            continue
        value = max(map(weight, tokenize(word)), default=0.0)
        if not value and (len(word) > 2 or word.isdigit()):
            value = _FIGURE if word[0].isdigit() else _NAME if word[0].isupper() else _PLAIN
        values.append((start, found.end(), value))
    return values


def window(sentence: str, weight: Callable[[str], float], longest: int) -> tuple[int, int]:
    """The slice (start, end) of at most `longest` characters that says most of the query.

    `weight` gives a token's worth, 0 to 1. Words that match count most, figures and names beside
    them some. Cut at word ends. Linear in the sentence's length.
    """
    if len(sentence) <= longest:
        return 0, len(sentence)
    values = _values(sentence, weight)
    first = total = 0.0
    best, left, right = -1.0, 0, -1
    first = 0
    for last, (_, end, value) in enumerate(values):
        total += value
        while first <= last and end - values[first][0] > longest:
            total -= values[first][2]
            first += 1
        if first <= last and total > best + 1e-9:
            best, left, right = total, first, last
    if right < 0:
        return 0, longest
    start, end = values[left][0], values[right][1]
    while right + 1 < len(values) and values[right + 1][1] - start <= longest:
        right += 1
        end = values[right][1]
    while left and end - values[left - 1][0] <= longest:
        left -= 1
        start = values[left][0]
    return start, end
