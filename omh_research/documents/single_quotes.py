"""Quotations between single marks: '…' and ‘…’ of four words or more.

Job: tell a quotation from an apostrophe (don't, 1990's, the dogs' bowls, 'tis). A mark may be read
as the end or as an apostrophe, so each quotation yields its readings: it is honest if one of them
is. Refuses shorter ones: words set apart, not quoted. Importers: tools.
"""

from __future__ import annotations

from omh_research.documents.quotations import quotation_spans
from omh_research.lazy_re import lazy_re

MIN_WORDS = 4
MAX_CHARS = 2_000
_MAX_ENDS = 6
# An opening mark stands before a word and behind a space, an opening bracket or Han and kana.
_OPEN = lazy_re(
    r"(?:(?<=[\s(\[{—–:,*_|\-])|(?<![\s\S])|(?<=[\u2e80-\u9fff\uff00-\uffef])(?=‘))"
    r"['‘‚‹](?=[^\W_])(?!(?:[Tt]is|[Tt]was|[Tt]were|em|til|cause|bout|round|n)\b)(?!\d\ds?\b)",
    needs=("'", "‘", "‚", "‹"),
)
_CLOSE = lazy_re(r"(?<=[^\s(\[{—–])['’‘›](?![A-Za-z0-9\u00c0-\u024f\u0370-\u04ff])")
_WORD = lazy_re(r"[\u2e80-\u9fff]{1,2}|[^\W_\u2e80-\u9fff]+(?:['’][^\W_]+)*")


def find_single_quotations(line: str) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Return for each quotation between single marks its readings, left to right.

    Each reading is a tuple of one text without the marks, the longest first. What stands between
    double marks is left to `quotations`.
    """
    found: list[tuple[tuple[str, ...], ...]] = []
    outer = quotation_spans(line) if "'" in line or "‘" in line or "‚" in line else []
    at = 0
    while match := _OPEN.search(line, at):
        start = at = match.end()
        if any(left < start < right for left, right in outer):
            continue
        readings: list[tuple[str, ...]] = []
        end = start
        for close in _CLOSE.finditer(line, start, min(len(line), start + MAX_CHARS)):
            if len(readings) >= _MAX_ENDS or any(
                left >= start and left < close.start() for left, _ in outer
            ):
                break
            text = line[start : close.start()].strip()
            if len(_WORD.findall(text)) >= MIN_WORDS:
                readings.append((text,))
                end = end if len(readings) > 1 else close.end()
            elif text[-1:] != "s":
                break  # two or three words set apart
        if readings:
            found.append(tuple(reversed(readings)))
            at = end
    return tuple(found)
