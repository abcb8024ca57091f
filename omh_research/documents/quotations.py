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
_CITATION = lazy_re(r"[\[【［]\s*\^?\d[\d\s,;–-]*[\]】］]")


def find_quotations(line: str) -> tuple[tuple[str, ...], ...]:
    """Return the alternatives of one line or sentence, the likeliest first; () when none.

    Each alternative is the texts between marks, in order, without the marks. Titles in 《》 are
    no quotations.
    """
    alternatives: list[tuple[str, ...]] = []
    spans = quotation_spans(line)
    match = _LINE.fullmatch(line[:20_000])
    if match and not _CITATION.search(match["body"]):
        alternatives.append((match["body"][1:-1].strip(),))
        if not spans or (spans[0][0], spans[-1][1]) != match.span("body"):
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
    match = _LINE.fullmatch(line[:20_000])
    return bool(match and not _CITATION.search(match["body"]))


def quotation_spans(line: str) -> list[tuple[int, int]]:
    """Return the spans of the outermost quotations, marks included, left to right."""
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(line):
        char = line[at]
        if char == '"':
            end = _straight_end(line, at)
        elif char in _CLOSERS:
            end = _curly_end(line, at)
        else:
            at += 1
            continue
        if end < 0:
            at += 1
            continue
        found.append((at, end + 1))
        at = end + 1
    return found


def _straight_end(line: str, at: int) -> int:
    """Return where the straight quotation that opens at `at` ends, or -1.

    A mark behind a space and before a word opens a quotation inside; any other one closes. An
    inch mark (5") opens nothing.
    """
    if not _opens(line, at):
        return -1
    depth = 0
    for i in range(at + 1, min(len(line), at + MAX_QUOTATION_CHARS)):
        if line[i] != '"':
            continue
        if _opens(line, i):
            depth += 1
        elif depth:
            depth -= 1
        else:
            return i
    return line.find('"', at + 1) if depth else -1


def _opens(line: str, at: int) -> bool:
    before, after = line[at - 1 : at] if at else "", line[at + 1 : at + 2]
    if before and (before.isalnum() or before in ".,;:!?%)]}"):
        return False
    return bool(after) and (not after.isspace() or not before)


def _curly_end(line: str, at: int) -> int:
    """Return where the quotation that opens at `at` with a directed mark ends, or -1."""
    opening, depth = line[at], 0
    closers = _CLOSERS[opening]
    for i in range(at + 1, min(len(line), at + MAX_QUOTATION_CHARS)):
        if line[i] in closers:
            if depth == 0:
                return i
            depth -= 1
        elif line[i] == opening:
            depth += 1
    return -1
