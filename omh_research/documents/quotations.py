"""Quotations in running text: what stands between quotation marks, and block quotes.

Job: find them in straight, curly, angled and CJK marks. A line may be read in two ways when a
quotation itself holds marks, so a line yields alternatives: it is honest if all quotations of one
alternative are. Refuses to compare with a source. Importers: documents, tools.
"""

from __future__ import annotations

from omh_research.lazy_re import lazy_re

_CLOSERS = {
    "“": "”", "„": "“”", "«": "»", "»": "«", "「": "」", "『": "』", "〝": "〞", "＂": "＂",
}  # fmt: skip
MAX_QUOTATION_CHARS = 8_000
_OPEN_ALL = '"“„«「『〝＂'
_CLOSE_ALL = '"”“»」』〞＂'
_MARKERS = r"(?:\s*(?:[\[【［(（]\s*\^?\d[\d\s,;–-]*[\]】］)）]|\[\^\d+\]|[¹²³⁰⁴-⁹]+))*"
_LINE = lazy_re(
    rf"\s*(?:[-*+•>]\s+|\d{{1,3}}[.)]\s+)*(?:\*\*[^*\n]{{1,80}}\*\*[:：]?\s*)?"
    rf"(?P<body>[{_OPEN_ALL}].*[{_CLOSE_ALL}])\s*[.,;。，；]?{_MARKERS}\s*[.。]?\s*"
)
_CITATION = lazy_re(r"[\[【［]\s*\^?\d[\d\s,;–-]*[\]】］]", needs=("[", "【", "［"))


def find_quotations(line: str) -> tuple[tuple[str, ...], ...]:
    """Return the alternatives of one line or sentence, the likeliest first; () when none.

    Each alternative is the texts between marks, in order, without the marks. Titles in 《》 are
    no quotations.
    """
    alternatives: list[tuple[str, ...]] = []
    spans = quotation_spans(line)
    whole = _whole_quotation(line)
    if whole:
        alternatives.append((line[whole[0] + 1 : whole[1] - 1].strip(),))
        if not spans or (spans[0][0], spans[-1][1]) != whole:
            return tuple(alternatives)  # a mark inside, such as an inch sign, would hide the rest
    pairs = tuple(text for start, end in spans if (text := line[start + 1 : end - 1].strip()))
    if pairs and pairs not in alternatives:
        alternatives.append(pairs)
    return tuple(alternatives)


def find_block_quotes(text: str) -> tuple[str, ...]:
    """Return the block quotes (`>` lines) of a text, each joined to one line."""
    found: list[str] = []
    current: list[str] = []
    for line in [*text.split("\n"), ""]:
        stripped = line.lstrip()
        if stripped.startswith(">"):
            current.append(stripped.lstrip("> ").strip())
        elif current:
            found.append(" ".join(part for part in current if part))
            current = []
    return tuple(found)


def is_whole_quotation(line: str) -> bool:
    """Return whether a line is one quotation with at most a label before and citations behind."""
    return _whole_quotation(line) is not None


def _whole_quotation(line: str) -> tuple[int, int] | None:
    """Return the span of the quotation, marks included, that a line is as a whole."""
    line = line[:20_000]
    end = line.rfind('" [') + 1
    number = line[end + 2 : -1]
    begin = 2 if line.startswith("- ") else 0
    if line.startswith('"', begin) and end > begin + 1 and line[-1] == "]" and number.isdecimal():
        span = (begin, end)  # as our own quote lines are
    elif match := _LINE.fullmatch(line):
        span = match.span("body")
    else:
        return None
    return None if _CITATION.search(line[slice(*span)]) else span


def quotation_spans(line: str) -> list[tuple[int, int]]:
    """Return the spans of the outermost quotations, marks included, left to right."""
    found: list[tuple[int, int]] = []
    ends: dict[str, dict[int, int]] = {}
    at = 0
    while at < len(line):
        char = line[at]
        if char == '"' or char in _CLOSERS:
            if char not in ends:
                ends[char] = _straight_ends(line) if char == '"' else _curly_ends(line, char)
            end = ends[char].get(at, -1)
        else:
            at += 1
            continue
        if end < 0:
            at += 1
            continue
        found.append((at, end + 1))
        at = end + 1
    return found


def _straight_ends(line: str) -> dict[int, int]:
    """Return where each straight quotation ends, in one pass.

    A mark behind a space and before a word opens a quotation inside; any other one closes. An
    inch mark (5") opens nothing. One left open with another open inside ends at the next mark.
    """
    ends: dict[int, int] = {}
    opened: list[int] = []
    at = line.find('"')
    while at >= 0:
        if _opens(line, at):
            opened.append(at)
        elif opened:
            start = opened.pop()
            if at - start < MAX_QUOTATION_CHARS:
                ends[start] = at
        at = line.find('"', at + 1)
    for start in opened[:-1]:
        ends[start] = line.find('"', start + 1)
    return ends


def _opens(line: str, at: int) -> bool:
    before, after = line[at - 1 : at] if at else "", line[at + 1 : at + 2]
    if before and (before.isalnum() or before in ".,;:!?%)]}"):
        return False
    return bool(after) and (not after.isspace() or not before)


def _curly_ends(line: str, opening: str) -> dict[int, int]:
    """Return where each quotation that opens with this directed mark ends, in one pass."""
    closers = _CLOSERS[opening]
    ends: dict[int, int] = {}
    opened: list[int] = []
    for i, char in enumerate(line):
        if char in closers:
            if opened:
                start = opened.pop()
                if i - start < MAX_QUOTATION_CHARS:
                    ends[start] = i
        elif char == opening:
            opened.append(i)
    return ends
