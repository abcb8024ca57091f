"""EVIDENCE and KEY_POINTS: the lines of a researcher's answer that carry quotes and points.

Job: read `- [N] claim | "exact quote"` (spec E28b) and `[N] P1..P6 | point | conflict` (L8) as
leniently as models write them. Refuses to check a quote. Importers: documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from omh_research.documents.answer_text import after_number, is_fence_line
from omh_research.lazy_re import lazy_re

REF = r"[\[【［〔]\s*\^?[A-Za-z]{0,2}-?(\d{1,4})\s*[\]】］〕]"
_REF_LEAD = lazy_re(
    rf"\s*(?:[-*+•]\s+|\|\s*|\d{{1,3}}\.\s+)?(?:\*\*)?{REF}(?:\*\*)?\s*[:：|｜]?\s*"
)
_PRIORITY = lazy_re(r"\[?\s*P([1-6])\b[^\]|｜]{0,40}\]?", re.IGNORECASE)
_CELL = lazy_re(r"\s*[|｜]\s*", needs=("|", "｜"))
_QUOTE_OPEN = '"“„«‹「『《〝＂‟'
_QUOTE_CLOSE = '"”“»›」』》〞〟＂'


class EvidenceLine(Struct, frozen=True):
    """One line of the EVIDENCE block: `claim` stands on the exact `quote` from source `n`.

    `quote` is "" when the line has none, `n` is 0 when it names no source.
    """

    n: int
    claim: str
    quote: str


class KeyPoint(Struct, frozen=True):
    """One line of the KEY_POINTS block (L8): `priority` 1..6, `conflict` the other source or 0."""

    n: int
    priority: int
    point: str
    conflict: int = 0


def read_evidence(section: str, notes: list[str]) -> tuple[EvidenceLine, ...]:
    """Return the lines of an EVIDENCE section; what is not understood is counted in `notes`."""
    lines = [line for line in _joined(section) if line.strip("|-: \t")]
    found: list[EvidenceLine] = []
    odd = 0
    for line in lines:
        item = _evidence_line(line)
        if item:
            found.append(item)
        elif not line.lstrip().startswith("|") and line.strip("() ").casefold() not in (
            "none",
            "无",
        ):
            odd += 1
    if odd:
        notes.append(f"{odd} EVIDENCE lines not understood")
    return tuple(found)


def _lead(line: str) -> tuple[int, int] | None:
    """The source's number in front of a line and where its text begins."""
    if known := after_number(line):
        return known
    lead = _REF_LEAD.match(line)
    return (int(lead[1]), lead.end()) if lead else None


def _evidence_line(line: str) -> EvidenceLine | None:
    lead = _lead(line)
    if not lead:
        return None
    number, begin = lead
    rest = line[begin:].strip().strip("|｜").strip()
    opening = -1
    for match in _CELL.finditer(rest):
        after = rest[match.end() : match.end() + 1]
        if after and (after in _QUOTE_OPEN or after in "'‘"):
            opening = match.start()
            break
    if opening >= 0:
        return EvidenceLine(
            number,
            rest[:opening].strip(),
            strip_quotes(_CELL.sub("", rest[opening:], count=1)),
        )
    for mark in _QUOTE_OPEN:
        at = rest.find(mark)
        if at > 0 and rest[-1] in _QUOTE_CLOSE + ".。)" and len(rest) - at > 3:
            claim = rest[:at].rstrip(" \t-—–:：|｜")
            return EvidenceLine(number, claim, strip_quotes(rest[at:].rstrip(".。)")))
    if rest[:1] and rest[0] in _QUOTE_OPEN and rest[-1] in _QUOTE_CLOSE:
        return EvidenceLine(number, "", strip_quotes(rest))
    return EvidenceLine(number, rest, "")


def strip_quotes(text: str) -> str:
    """Return `text` without one pair of quotation marks around it."""
    text = text.strip()
    if len(text) >= 2 and text[0] in _QUOTE_OPEN + "'‘" and text[-1] in _QUOTE_CLOSE + "'’":
        return text[1:-1].strip()
    return text


def read_key_points(section: str, notes: list[str]) -> tuple[KeyPoint, ...]:
    """Return the lines of a KEY_POINTS section; what is not understood is counted in `notes`."""
    found: list[KeyPoint] = []
    odd = 0
    for line in _joined(section):
        number, begin = _lead(line) or (0, 0)
        cells = _CELL.split(line[begin:].strip().strip("|｜")) if begin else []
        priority = _PRIORITY.fullmatch(cells[0].strip()) if len(cells) > 1 else None
        if not begin or not priority:
            odd += bool(line.strip("|-: \t"))
            continue
        conflict = re.search(REF, cells[-1]) if len(cells) > 2 else None
        point = " | ".join(cells[1:-1] if len(cells) > 2 else cells[1:]).strip()
        found.append(KeyPoint(number, int(priority[1]), point, int(conflict[1]) if conflict else 0))
    if odd:
        notes.append(f"{odd} KEY_POINTS lines not understood")
    return tuple(found)


def _joined(section: str) -> Iterable[str]:
    """Yield the entries of a list: a line that opens no entry belongs to the one before."""
    entry = ""
    for line in section.split("\n"):
        if is_fence_line(line) or not line.strip():
            continue
        if _lead(line) or line.lstrip().startswith(("|", "- ", "* ")):
            if entry:
                yield entry
            entry = line
        else:
            entry = f"{entry} {line.strip()}" if entry else line
    if entry:
        yield entry
