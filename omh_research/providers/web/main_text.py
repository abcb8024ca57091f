"""The main text of an HTML page as Markdown.

Job: the extractor where a page is of a size it can take, the standard library's reader for larger
pages and for what the extractor leaves out. Refuses to guess metadata (`page_head` reads what is
declared) and to spend more than linear time. Importers: providers.web.
"""

from __future__ import annotations

import contextlib

from omh_research.corpus.html_reading import MIN_MAIN_CHARS, _by_trafilatura, _MainText
from omh_research.corpus.taming import tame
from omh_research.lazy_re import lazy_re

MAX_EXTRACTED_TAGS = 60_000
"""`<` in a page the extractor is given: it takes seconds and megabytes in proportion to them."""

MAX_EXTRACTED_CHARS = 3_000_000
_BLANK_LINES = lazy_re(r"\n{3,}")


def extract_main_text(markup: str, *, links: bool = False) -> str:
    """Return the article of a page with headings, lists, tables and code; "" when there is none.

    When the extractor finds only a sliver, the whole page outside menus is read instead (a form, a
    list, a short note). `links` keeps link targets; without them a quote of the text stays a quote.
    """
    if len(markup) > MAX_EXTRACTED_CHARS or markup.count("<") > MAX_EXTRACTED_TAGS:
        return _tidy(_whole_text(markup))
    text = _by_trafilatura(markup, links) or ""
    if len(text) < MIN_MAIN_CHARS:
        own = _whole_text(markup)
        text = own if len(own) > 2 * len(text) else text
    return _tidy(text)


def _whole_text(markup: str) -> str:
    """Return all text outside menus, headers and footers."""
    parser = _MainText()
    with contextlib.suppress(AssertionError, ValueError, RecursionError):
        parser.feed(tame(markup))
        parser.close()
    return parser.markdown()


def _tidy(text: str) -> str:
    return _BLANK_LINES.sub("\n\n", text).strip()
