"""A document's text cut into passages for ranking.

Job: pieces of some hundred characters that end where paragraphs or sentences end and, joined, are
the text again: nothing is lost or doubled, so a document can be kept as its passages. Refuses to
change a character. Linear. Importers: corpus.
"""

from __future__ import annotations

from collections.abc import Iterator

from omh_research.documents.heading_text import heading_text
from omh_research.lazy_re import lazy_re

TARGET_CHARS = 900
MAX_CHARS = 1_800
_HEADING = lazy_re(r"#{1,6}[ \t]+(\S[^\n]{0,200})")
_ENDS = lazy_re(r"[.!?](?=\s)|[。！？｡।؟]|\n")
# A Han, kana or Hangul character carries about as much as two or three letters.
_DENSE = lazy_re("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_DENSE_FACTOR = 0.45


def split_passages(text: str) -> Iterator[tuple[str, str]]:
    """Yield (heading, passage): the nearest Markdown heading above, and a slice of `text`.

    The passages joined in order are exactly `text`.
    """
    factor = _DENSE_FACTOR if _is_dense(text[:2_000]) else 1.0
    target, limit = int(TARGET_CHARS * factor), int(MAX_CHARS * factor)
    heading, start, end = "", 0, 0
    for match in _blocks(text):
        title = _HEADING.match(text, match[0])
        if end > start and (title or match[1] - start > target):
            yield from _pieces(text, (start, end), limit, heading)
            start = match[0]
        if title:
            heading = heading_text(title.group(1))
        end = match[1]
    yield from _pieces(text, (start, end), limit, heading)


def _is_dense(sample: str) -> bool:
    return not sample.isascii() and len(_DENSE.findall(sample)) * 4 > len(sample)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    while position < len(text):
        end = text.find("\n\n", position)
        if end < 0:
            yield position, len(text)
            return
        end += 2
        while end < len(text) and text[end].isspace():
            end += 1
        yield position, end
        position = end


def _pieces(
    text: str, span: tuple[int, int], limit: int, heading: str
) -> Iterator[tuple[str, str]]:
    start, end = span
    while end - start > limit:
        cut = start + limit
        for found in _ENDS.finditer(text, start + limit // 2, start + limit):
            cut = found.end()
        yield heading, text[start:cut]
        start = cut
    if end > start:
        yield heading, text[start:end]
