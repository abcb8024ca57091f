"""The main text of an HTML page as Markdown.

Job: the fast extractor first, the standard library's reader for what it leaves out. Refuses to
guess metadata (`page_head` reads what is declared). Importers: providers.web.
"""

from __future__ import annotations

import re

from omh_research.corpus.html_reading import MIN_MAIN_CHARS, _by_trafilatura, read_html

_BLANK_LINES = re.compile(r"\n{3,}")


def extract_main_text(markup: str, url: str, *, links: bool = False) -> str:
    """Return the article of a page with headings, lists, tables and code; "" when there is none.

    When the extractor finds only a sliver, the whole page outside menus is read instead (a form, a
    list, a short note). `links` keeps link targets; without them a quote of the text stays a quote.
    """
    text = _by_trafilatura(markup, links) or ""
    if len(text) < MIN_MAIN_CHARS:
        text = read_html(markup, url, links=links).text
    return _BLANK_LINES.sub("\n\n", text).strip()
