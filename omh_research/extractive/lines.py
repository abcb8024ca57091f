"""The lines of findings and reports: one place that writes them and reads them back.

Job: source, evidence and quote lines in the template of D5b, made so that nothing in a document's
title or text can pass for another line, a citation or a marker (D8). Refuses multi-line output.
Importers: extractive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from omh_research.documents.heading_text import heading_text
from omh_research.documents.source import Page
from omh_research.extractive.labels import Labels
from omh_research.lazy_re import lazy_re

MAX_TITLE_CHARS = 160
_QUOTE_LINE = lazy_re(
    r'^- (?:\*\*[^*"]{1,30}\*\*: )?"(?P<text>.*)" \[(?P<n>\d{1,4})\]'
    r"(?: \(`\D{0,20}(?P<page>\d+)\D{0,4}`\))?$"
)
_BRACKETS = str.maketrans('[]【】［］〔〕|<>"—–', "()()()()/()'--")
_SCHEME = lazy_re(r"\b[a-z][a-z0-9+.-]{1,12}://|\bcorpus:", re.I, needs=("://", "corpus:"))


class QuotedLine(Struct, frozen=True):
    """A quote line read back: the quote, its source number, its page (0: none)."""

    text: str
    number: int
    page: int


def one_line(text: str) -> str:
    """Return the text on one line, white space folded."""
    return " ".join(text.split())


def plain_label(text: str) -> str:
    """Return text that stands outside quotes (titles, topics): no brackets, links or markers."""
    label = heading_text(_SCHEME.sub("", one_line(text).translate(_BRACKETS)).lstrip(" -#"))
    label = label.rstrip(" -")
    printable = "".join(char if char.isprintable() else " " for char in label)
    label = one_line(printable)
    if len(label) <= MAX_TITLE_CHARS:
        return label
    head, _, tail = label[:MAX_TITLE_CHARS].rpartition(" ")  # no word is cut in two
    return head.rstrip(" ,;:-(/") if len(tail) < MAX_TITLE_CHARS // 3 else label[:MAX_TITLE_CHARS]


def source_line(number: int, page: Page, credibility: str = "secondary") -> str:
    """Return `[N] Title — URL — tag — date`."""
    title = plain_label(page.title) or plain_label(page.url.rsplit("/", 1)[-1]) or "Document"
    return f"[{number}] {title} — {page.url} — {credibility} — {page.date or 'n.d.'}"


def evidence_line(number: int, quote: str) -> str:
    """Return `- [N] claim | "quote"`; the claim is the quote itself, its own marks made inert."""
    claim = quote.replace('"', "'").replace("|", "/").replace("｜", "/")
    return f'- [{number}] {claim} | "{quote}"'


def quote_line(quote: str, number: int, page: int, labels: Labels, doubt: str = "") -> str:
    """Return `- "quote" [N]`, with the page where the document has pages; `doubt` stands in front.

    The page stands in a code span: it is a place, not a figure that the source must hold (E28).
    """
    where = f" (`{labels.page} {page}`)" if page else ""
    before = f"**{doubt}**: " if doubt else ""
    return f'- {before}"{quote}" [{number}]{where}'


def read_quote_lines(text: str) -> Iterator[QuotedLine]:
    """Yield every quote line of a finding or report, in order."""
    for line in text.split("\n"):
        match = _QUOTE_LINE.match(line.rstrip("\r"))
        if match:
            yield QuotedLine(match["text"], int(match["n"]), int(match["page"] or 0))
