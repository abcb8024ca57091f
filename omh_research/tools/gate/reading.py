"""The report as the gate sees it: sentences, each with its citations and quotations.

Job: cut a report body into sentences without tearing a quotation apart, and pair each piece with
the source numbers behind it. Refuses to look at sources. Importers: tools.gate, phases.
"""

from __future__ import annotations

import re

from msgspec import Struct

from omh_research.documents.answer_text import is_fence_line
from omh_research.documents.quotations import (
    find_quotations,
    is_whole_quotation,
    quotation_spans,
)
from omh_research.documents.report import Report, Section, parse_report
from omh_research.documents.single_quotes import find_single_quotations
from omh_research.lazy_re import lazy_re
from omh_research.tools import sentences
from omh_research.tools.references import (
    Marker,
    find_markers,
    find_source_sections,
    parse_sources,
)
from omh_research.tools.source_list import SourceEntry, read_entries

_URL = lazy_re(
    r"\]\([^()\s]{1,2000}\)|(?:https?://|\bcorpus:)[^\s<>\"”」』）)\]]{1,2000}",
    re.IGNORECASE,
    needs=("](", "http", "corpus:"),
)
_LIST_LEAD = lazy_re(r"\s*(?:[-*+•]\s+|\d{1,3}[.)、]\s+|>\s?)+")
_BLOCK_START = lazy_re(r"\s*(?:[-*+•]\s|\d{1,3}[.)、]\s|\||>|#)")
_WORD = lazy_re(r"[^\W_]")
# What says of the sentence before it how sure it is (E30, L6), or on which page it stands.
_LABEL_WORDS = (
    "unverified|uncertain|unclear|not known|unknown|(?:only )?(?:one|single) source|unsicher|unklar"
    "|(?:nur )?eine Quelle|incertain|incierto|不确定|不明|单一来源|仅有一个来源|不確か"
)
_LABEL = lazy_re(
    rf"\s*(?:[(（]\s*(?:{_LABEL_WORDS})\s*[)）]|\(`[^`\n]{{1,30}}`\))\s*[.。]?(?!\w)", re.IGNORECASE
)
# Text after the last citation that still makes the citation a suffix: closing marks and labels.
_TRAILING = lazy_re(rf"[\W_]*(?:\(?(?:{_LABEL_WORDS})\)?)?[\W_]*", re.IGNORECASE)


AMONG_SOURCES = "Text among the sources"

# The alternatives in which quotation marks can be read (see `documents.quotations`).
Readings = tuple[tuple[str, ...], ...]
_FORM_SECTIONS = ("summary", "details", "takeaways", "questions", "sources")
_HEADING_NUMBER = lazy_re(r"\s*(?:\d{1,2}(?:\.\d{1,2}){0,3}[.)、:]?|[IVXivx]{1,4}[.)])\s+")
_CALLOUT = lazy_re(
    r"\W*(?:note|caveat|hinweis|anmerkung|remarque|nota|注意?|备注)\W{0,4}[:：]", re.I
)


class Part(Struct, frozen=True):
    """A piece of a sentence and the sources cited for it.

    `text` is without markers and addresses. `quotations` are groups of quotation marks that are
    judged apart: those between double marks, a block quote, each one between single marks.
    """

    text: str
    numbers: tuple[int, ...]
    quotations: tuple[Readings, ...]


class Statement(Struct, frozen=True):
    """One sentence of the report: where it stands, as written, and its parts."""

    kind: str
    heading: str
    text: str
    parts: tuple[Part, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """All source numbers the sentence cites, in order."""
        return tuple(dict.fromkeys(n for part in self.parts for n in part.numbers))


class ReadReport(Struct, frozen=True):
    """A report, read for checking: `body` is the text outside the Sources list.

    `headings` are the title and those headings that the form does not prescribe.
    """

    body: str
    report: Report
    entries: tuple[SourceEntry, ...]
    statements: tuple[Statement, ...]
    cited: tuple[int, ...]
    headings: tuple[Statement, ...] = ()


def read_report(text: str) -> ReadReport:
    """Return the report `text` as sentences with citations, and its Sources list."""
    text = _unfence(text.replace("\r\n", "\n"))
    body = _without_lists(text)
    report = parse_report(body)
    statements = tuple(s for part in report.sections for s in _statements(part))
    cited = tuple(dict.fromkeys(n for marker in find_markers(body) for n in marker.numbers))
    headings = tuple(h for part in report.sections for h in _heading(part))
    return ReadReport(body, report, tuple(parse_sources(text)), statements, cited, headings)


def _heading(section: Section) -> list[Statement]:
    """Return a heading as a statement that cites nothing; the form's own ones say nothing."""
    if not section.level or section.kind in _FORM_SECTIONS or section.title == AMONG_SOURCES:
        return []
    text = _cut(section.title, find_markers(section.title))
    number = _HEADING_NUMBER.match(text)
    part = _part(text[number.end() :] if number else text, ())
    return [Statement("heading", section.title, section.title, (part,))] if part else []


def _without_lists(text: str) -> str:
    """Return `text` without its Sources lists; sentences hidden among the entries stay."""
    body, at = "", 0
    for section in sorted(find_source_sections(text), key=lambda section: section.start):
        if section.start < at:
            continue
        stray = _strays(text[section.start : section.end])
        heading = f"\n\n## {AMONG_SOURCES}\n\n" if stray else "\n\n"
        body += text[at : section.start] + heading + "\n".join(stray) + "\n"
        at = section.end
    return body + text[at:]


def _strays(section: str) -> list[str]:
    """Return the lines of a Sources list that are no entry: text of the report."""
    found: list[str] = []
    is_entry = False
    for line in section.split("\n")[1:]:
        if not line.strip():
            is_entry = False
        elif read_entries([line]) or line.lstrip().startswith(("#", "|--", "| --", "---")):
            is_entry = True
        elif not is_entry or (len(line.split()) >= 8 and line.rstrip()[-1:] in ".!?。！？"):
            found.append(line)
    return found


def _unfence(text: str) -> str:
    """Return the text inside a fence that wraps the whole report, else the text."""
    lines = text.strip().split("\n")
    if len(lines) > 2 and is_fence_line(lines[0]) and is_fence_line(lines[-1]):
        inner = lines[1:-1]
        if not any(is_fence_line(line) for line in inner) and any(
            line.startswith("#") for line in inner
        ):
            return "\n".join(inner)
    return text


def _statements(section: Section) -> list[Statement]:
    found: list[Statement] = []
    for block in _blocks(section.text):
        for sentence in _split_block(block):
            parts = _parts(sentence)
            if parts:
                found.append(Statement(section.kind, section.title, sentence, parts))
    return found


def _blocks(text: str) -> list[str]:
    """Return paragraphs, list items, rows and block quotes, each on one line."""
    blocks: list[str] = []
    is_open = inside = False
    for line in text.split("\n"):
        if is_fence_line(line) or line.lstrip().startswith("```"):
            inside, is_open = not inside, False
            continue
        if not line.strip():
            is_open = False
            continue
        is_quote = line.lstrip().startswith(">")
        joins_quote = is_quote and bool(blocks) and is_open and blocks[-1].startswith(">")
        if inside or not is_open or (_BLOCK_START.match(line) and not joins_quote):
            blocks.append(line.strip())
        else:
            blocks[-1] += " " + line.strip().lstrip("> ")
        is_open = not inside and not line.lstrip().startswith("|")
    return blocks


def _split_block(block: str) -> list[str]:
    """Return the sentences of one block; quotations and citations behind a full stop stay whole."""
    if block.startswith(("|", ">")) or is_whole_quotation(block):
        return [block]
    quotes = quotation_spans(block)
    pieces: list[tuple[int, int]] = []
    for span in sentences.split(block):
        start = span.start
        if pieces and (_is_inside(quotes, pieces[-1][1], start) or _only_markers(span.text)):
            pieces[-1] = (pieces[-1][0], span.end)
            continue
        lead = _leading_markers(span.text) if pieces else 0
        lead += _leading_label(span.text[lead:]) if pieces else 0
        if lead:
            pieces[-1] = (pieces[-1][0], start + lead)
            start += lead
        if start < span.end:
            pieces.append((start, span.end))
    return [text for start, end in pieces if (text := block[start:end].strip())]


def _is_inside(quotes: list[tuple[int, int]], end: int, start: int) -> bool:
    """Return whether a sentence border from `end` to `start` lies inside a quotation."""
    return any(left < end < right and start < right for left, right in quotes)


def _only_markers(text: str) -> bool:
    return not _WORD.search(_cut(text, find_markers(text)))


def _leading_markers(text: str) -> int:
    """Return how many characters of citations a sentence begins with: those of the one before."""
    at = 0
    for marker in find_markers(text):
        if text[at : marker.start].strip(" .,;"):
            break
        at = marker.end
    rest = text[at:].lstrip()
    return at if at and rest[:1] not in ("", ".", ",", ":", "：") else 0


def _leading_label(text: str) -> int:
    """Return how many characters of a label, such as "(uncertain)", a sentence begins with."""
    match = _LABEL.match(text)
    return match.end() if match else 0


def _parts(sentence: str) -> tuple[Part, ...]:
    """Return the pieces of a sentence with their sources.

    Citations that each close a piece belong to that piece; in any other order ("According to [1],
    ...") all of them stand behind the whole sentence.
    """
    is_block_quote = sentence.startswith(">")
    lead = _LIST_LEAD.match(sentence)
    text = sentence[lead.end() :] if lead else sentence
    markers = find_markers(text)
    groups = _groups(text, markers)
    if len(groups) > 1 and not is_block_quote and _are_suffixes(text, groups):
        pieces = []
        at = 0
        for start, end, numbers in groups:
            pieces.append(_part(text[at:start], numbers))
            at = end
        return tuple(piece for piece in pieces if piece)
    numbers = tuple(dict.fromkeys(n for marker in markers for n in marker.numbers))
    part = _part(_cut(text, markers), numbers)
    if part and is_block_quote and not part.quotations and not _CALLOUT.match(part.text):
        whole = part.text.strip()
        readings = ((whole,), (whole.rpartition(" — ")[0] or whole,))
        part = Part(part.text, numbers, (readings,))
    return (part,) if part else ()


def _part(text: str, numbers: tuple[int, ...]) -> Part | None:
    plain = " ".join(_URL.sub("] " if "](" in text else " ", text).split()).strip()
    if not _WORD.search(plain):
        return None
    double = find_quotations(plain)
    return Part(plain, numbers, ((double,) if double else ()) + find_single_quotations(plain))


def _groups(text: str, markers: list[Marker]) -> list[tuple[int, int, tuple[int, ...]]]:
    """Return runs of adjacent markers as (start, end, numbers)."""
    groups: list[tuple[int, int, tuple[int, ...]]] = []
    for marker in markers:
        if groups and not text[groups[-1][1] : marker.start].strip(" ,;、，"):
            start, _, numbers = groups[-1]
            groups[-1] = (start, marker.end, tuple(dict.fromkeys(numbers + marker.numbers)))
        else:
            groups.append((marker.start, marker.end, marker.numbers))
    return groups


def _are_suffixes(text: str, groups: list[tuple[int, int, tuple[int, ...]]]) -> bool:
    at = 0
    for start, end, _ in groups:
        words = re.findall(r"[^\W_]+", text[at:start])
        if len(words) < 3 and sum(map(len, words)) < 10:
            return False
        at = end
    return bool(_TRAILING.fullmatch(text[at:]))


def _cut(text: str, markers: list[Marker]) -> str:
    for marker in reversed(markers):
        text = text[: marker.start] + " " + text[marker.end :]
    return text
