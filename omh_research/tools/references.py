"""Citations in a report: markers in running text, and how they agree with the Sources list.

Job: find citation markers in all usual forms (`[1]`, `[1][2]`, `[1, 2]`, `[1-3]`, `【1】`, `[^1]`,
superscripts, links `[1](url)`, full width) and say which have no source (dangling) and which
sources nobody cites. Refuses to fetch or to judge what is cited. Importers: tools, phases,
delegates, literature, cli.

Not markers: years, code, footnote definitions, the list's own numbers, links with words, images,
units and powers (m², 10⁶), intervals (95% CI [1, 3]).
"""

from __future__ import annotations

import re

from msgspec import Struct

from omh_research.lazy_re import lazy_re
from omh_research.tools.source_list import (
    SourceEntry,
    SourceSection,
    find_source_sections,
    parse_sources,
)
from omh_research.unicode_form import unicode_form

__all__ = [
    "Marker",
    "SourceEntry",
    "SourceSection",
    "body_markers",
    "cited_numbers",
    "dangling",
    "find_markers",
    "find_source_sections",
    "parse_sources",
    "uncited",
]


class Marker(Struct, frozen=True):
    """One citation marker: the source numbers it names, in order, and its span in the text."""

    numbers: tuple[int, ...]
    start: int
    end: int


_MAX_NUMBER = 999
_MAX_RANGE = 60
_OPEN, _CLOSE = r"[\[【［〔]", r"[\]】］〕]"
_ONE = r"\^?(?:\d{1,3}(?:\s?†[^\]】\n]{0,60})?)"
_JOIN = r"\s{0,3}(?:[,，、;；\-–—‑~～〜/&]|至|到|and|und|et|y)\s{0,3}"
_BRACKET = lazy_re(
    rf"\\?{_OPEN}{{1,2}}\s{{0,2}}(?:(?:ref|refs|source|sources|src|来源|文献)\.?\s{{0,2}})?"
    rf"(?P<list>{_ONE}(?:{_JOIN}{_ONE}){{0,40}})(?:,?\s?pp?\.\s?[\d–-]{{1,12}})?\s{{0,2}}\\?{_CLOSE}{{1,2}}",
    re.IGNORECASE,
)
_SUP_TAG = lazy_re(
    r"<sup[^>\n]{0,60}>\s{0,3}(?:<a[^>\n]{0,200}>)?\[?(?P<list>\d{1,3}(?:\s?[,，–-]\s?\d{1,3}){0,20})\]?"
    r"(?:</a>)?\s{0,3}</sup>",
    re.IGNORECASE,
)
_RAISED_DIGITS = "\u00b9\u00b2\u00b3\u2070\u2074-\u2079"
_RAISED_JOINS = "\u02d2,\u2009\u207b\u2013-"
_RAISED = lazy_re(f"[{_RAISED_DIGITS}][{_RAISED_DIGITS}{_RAISED_JOINS}]{{0,40}}")
_RAISED_DIGIT = lazy_re(f"[{_RAISED_DIGITS}]{{1,3}}")
_NUMBER = lazy_re(r"\d{1,3}")
_DASH = lazy_re(r"\s*(?:[-–—‑~～〜]|至|到)\s*\^?")
_FENCE = lazy_re(r"^[ ]{0,3}(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_INLINE_CODE = lazy_re(r"(`{1,3})(?!`)[^\n]{1,500}?(?<!`)\1(?!`)")
_INTERVAL_BEFORE = lazy_re(
    r"(?:\bci|\bcri|interval|intervall|range|iqr|bounds?|∈|[=≈]|\bin|区间|范围|區間)\s{0,3}[:=]?\s{0,3}$",
    re.IGNORECASE,
)
_UNIT_WORDS = "mol min max sec rad det var log sin cos tan exp dim deg rms chi kwh ppm inch feet"
_SENTENCE_MARKS = ".,;:!?)\"'”’»]】）。，；：！？、」』"


def find_markers(text: str) -> list[Marker]:
    """Return the citation markers of running text in order, never overlapping.

    Numbers from 1 to 999; a range is spelt out. A definition (`[1]: …`, `[^1]: …`) at the start
    of a line is no marker, nor is anything inside code.
    """
    hidden = _hidden_spans(text)
    found = [m for m in map(_bracket_marker, _BRACKET.finditer(text)) if m is not None]
    if "<sup" in text or "<SUP" in text:
        found += [_marker(m["list"], m.start(), m.end()) for m in _SUP_TAG.finditer(text)]
    if not text.isascii():
        found += [m for m in map(_raised_marker, _RAISED.finditer(text)) if m is not None]
    found.sort(key=lambda marker: marker.start)
    kept: list[Marker] = []
    index = 0
    for marker in found:
        while index < len(hidden) and hidden[index][1] <= marker.start:
            index += 1
        is_hidden = index < len(hidden) and hidden[index][0] <= marker.start
        if not marker.numbers or is_hidden or (kept and marker.start < kept[-1].end):
            continue
        joins = kept and len(kept[-1].numbers) <= _MAX_RANGE
        if joins and _DASH.fullmatch(text, kept[-1].end, marker.start):
            marker = _span(kept.pop(), marker)
        kept.append(marker)
    return kept


def body_markers(report: str) -> list[Marker]:
    """Return the markers of a report outside its Sources lists, in order."""
    spans = sorted((section.start, section.end) for section in find_source_sections(report))
    kept: list[Marker] = []
    at = 0
    for marker in find_markers(report):
        while at < len(spans) and spans[at][1] <= marker.start:
            at += 1
        if at == len(spans) or marker.start < spans[at][0]:
            kept.append(marker)
    return kept


def cited_numbers(report: str) -> list[int]:
    """Return the numbers cited in a report's text outside its Sources list, sorted."""
    return sorted({number for marker in body_markers(report) for number in marker.numbers})


def dangling(report: str) -> list[int]:
    """Return the numbers that are cited but not in the Sources list, sorted."""
    listed = {entry.n for entry in parse_sources(report)}
    return [number for number in cited_numbers(report) if number not in listed]


def uncited(report: str) -> list[int]:
    """Return the numbers that are in the Sources list but never cited, sorted."""
    cited = set(cited_numbers(report))
    return sorted({entry.n for entry in parse_sources(report) if entry.n} - cited)


def _span(first: Marker, last: Marker) -> Marker:
    """Return one marker for `[1]-[3]`: everything from the first to the last."""
    low, high = first.numbers[-1], last.numbers[0]
    between = range(low + 1, high) if 0 < high - low <= _MAX_RANGE else ()
    return Marker((*first.numbers, *between, *last.numbers), first.start, last.end)


def _bracket_marker(match: re.Match[str]) -> Marker | None:
    text, start, end = match.string, match.start(), match.end()
    head = text[max(0, start - 24) : start]
    if head.endswith(("!", "=", "$", "∈", "_", "^", "{")) or (
        head.endswith("\\") and not match[0].startswith("\\")
    ):
        return None
    if text[end : end + 1] in (":", "：") and not head.rsplit("\n", 1)[-1].strip(" \t>-*"):
        return None
    if re.search("[-,–]", match["list"]) and _INTERVAL_BEFORE.search(head):
        return None
    if match[0].count("[") - match[0].count("]") not in (0, 1):
        return None
    return _marker(match["list"], start, end)


def _raised_marker(match: re.Match[str]) -> Marker | None:
    """Return the marker of a superscript that follows a sentence mark or a word, else None."""
    text, start = match.string, match.start()
    word = re.search(r"[^\W\d_]*$", text[max(0, start - 24) : start])
    before = text[start - 1 : start]
    letters = word[0] if word else ""
    is_cjk = letters[-1:] >= "\u3040"
    follows_word = is_cjk or (len(letters) >= 4 and letters.casefold() not in _UNIT_WORDS.split())
    if not follows_word and (not before or before not in _SENTENCE_MARKS):
        return None
    if text[match.end() : match.end() + 1].isalnum() and not is_cjk:
        return None
    parts = _RAISED_DIGIT.findall(match[0])
    joined = ",".join(unicode_form("NFKC", part) for part in parts)
    if len(parts) == 2 and re.search("[\u207b\u2013-]", match[0]):
        joined = joined.replace(",", "-")
    return _marker(joined, start, start + len(match[0].rstrip("\u02d2,\u2009\u207b\u2013-")))


def _marker(listed: str, start: int, end: int) -> Marker:
    """Return the marker of a list such as "1, 3-5"; ranges run upwards, at most 60 long."""
    listed = re.sub(r"†[^,，\]】]*", "", listed)
    numbers: list[int] = []
    matches = list(_NUMBER.finditer(listed))
    for index, match in enumerate(matches):
        number = int(match[0])
        between = listed[matches[index - 1].end() : match.start()] if index else ""
        if index and _DASH.fullmatch(between) and 0 < number - numbers[-1] <= _MAX_RANGE:
            numbers.extend(range(numbers[-1] + 1, number + 1))
        else:
            numbers.append(number)
    if not all(0 < number <= _MAX_NUMBER for number in numbers):
        return Marker((), start, end)
    return Marker(tuple(dict.fromkeys(numbers)), start, end)


def _hidden_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of code and comments, sorted, not overlapping."""
    spans: list[tuple[int, int]] = []
    fence: re.Match[str] | None = None
    for match in _FENCE.finditer(text):
        if fence is None:
            fence = match
        elif match[1].startswith(fence[1]):
            spans.append((fence.start(), match.end()))
            fence = None
    if fence is not None:
        spans.append((fence.start(), len(text)))
    spans += [m.span() for m in _INLINE_CODE.finditer(text)] if "`" in text else []
    at = text.find("<!--")
    while at >= 0:
        end = text.find("-->", at)
        spans.append((at, end + 3 if end >= 0 else len(text)))
        at = text.find("<!--", end) if end >= 0 else -1
    spans.sort()
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
