"""Markup made harmless for a forgiving parser.

Job: one linear pass that takes out comments and turns every `<` that opens nothing into text.
Refuses to parse. Importers: corpus, providers.web.

The standard library's HTMLParser looks for the end of an unfinished tag or comment again at every
`<`: a page of 120 kB of `<a href="` kept it busy for 40 s. After this pass each construct ends
within `MAX_CONSTRUCT_CHARS`, so its work is bounded (81-reliability section 7).
"""

from __future__ import annotations

from omh_research.lazy_re import lazy_re

MAX_CONSTRUCT_CHARS = 8_000
_OPENING = lazy_re(r"<(?:!--|[A-Za-z/!?])")


def tame(markup: str) -> str:
    """Return `markup` without comments, its unfinished tags as text."""
    kept: list[str] = []
    place = 0
    unclosed_comment = False
    for found in _OPENING.finditer(markup):
        start = found.start()
        if start < place:
            continue
        if found.group() == "<!--" and not unclosed_comment:
            end = markup.find("-->", found.end())
            kept.append(markup[place:start])
            unclosed_comment = end < 0
            place = end + 3 if end >= 0 else start
            if end >= 0:
                continue
        end = markup.find(">", start, start + MAX_CONSTRUCT_CHARS)
        if end < 0 or (unclosed_comment and found.group() == "<!--"):
            kept.append(markup[place:start] + "&lt;")
            place = start + 1
    kept.append(markup[place:])
    return "".join(kept)
