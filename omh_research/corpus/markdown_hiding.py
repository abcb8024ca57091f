"""What a Markdown document holds but does not show.

Job: take HTML comments and hidden HTML elements out of Markdown, as a reader of the rendered page
sees it (the words of `hidden`); code blocks and code spans show them and keep them. Linear.
Refuses to render anything, and to cut what has no end. Importers: corpus.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from omh_research.corpus.hidden import hides
from omh_research.lazy_re import lazy_re

MAX_ELEMENT_CHARS = 50_000
MAX_LOOKED_BACK = 2_000
_OPENING = lazy_re(r"<!--|<([a-z][a-z0-9]{0,15})((?:\s[^<>]{0,500})?)>", re.I)
_ATTRIBUTE = lazy_re(r"([a-z-]{1,40})(?:\s{0,9}=\s{0,9}(\"[^\"]*\"|'[^']*'|[^\s\"']+))?", re.I)
_FENCE = lazy_re(r"^ {0,3}(```|~~~)", re.M)


def shown_markdown(text: str) -> str:
    """Return Markdown without its comments and without the HTML elements that it hides."""
    if "<" not in text:
        return text
    fences = [match.start() for match in _FENCE.finditer(text)]
    kept: list[str] = []
    endless: set[str] = set()
    position = 0
    for match in _OPENING.finditer(text):
        start = match.start()
        if start < position or bisect_right(fences, start) % 2 or _in_code_span(text, start):
            continue
        end = _end_of(text, match, endless)
        if end:
            kept.append(text[position:start])
            position = end
    return "".join([*kept, text[position:]])


def _end_of(text: str, match: re.Match[str], endless: set[str]) -> int:
    """Return where a hidden piece ends; 0 for what is shown or has no end."""
    tag = (match[1] or "").lower()
    if tag in endless or (tag and not hides(tag, _attributes(match[2]))):
        return 0
    end = _close(text, match.end(), tag) if tag else text.find("-->", match.end()) + 3
    if end <= 2:
        endless.add(tag)
        return 0
    return end


def _close(text: str, start: int, tag: str) -> int:
    """Return the end of the element that was opened before `start`, or 0."""
    depth = 1
    tags = re.compile(rf"<(/?){tag}\b[^<>]{{0,500}}>", re.I)
    for match in tags.finditer(text, start, start + MAX_ELEMENT_CHARS):
        depth += -1 if match[1] else 1
        if not depth:
            return match.end()
    return 0


def _attributes(text: str) -> dict[str, str]:
    return {name.lower(): value.strip("\"'") for name, value in _ATTRIBUTE.findall(text)}


def _in_code_span(text: str, start: int) -> bool:
    near = max(0, start - MAX_LOOKED_BACK)
    line = max(near, text.rfind("\n", near, start) + 1)
    return text.count("`", line, start) % 2 == 1
