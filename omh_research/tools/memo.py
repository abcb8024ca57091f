"""The memo of a run with several rounds: key points by subproblem and source (spec L3, L8).

Job: merge KEY_POINTS (or the cited sentences of a SYNTHESIS) into one document, de-duplicated, in
plan order, so that it does not depend on who answered first. Refuses page text and HTML: a point is
at most 200 characters. Importers: phases, export.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from omh_research.documents.finding import ParsedFinding
from omh_research.documents.source import HeldText
from omh_research.documents.source_lines import Source
from omh_research.lazy_re import lazy_re
from omh_research.tools.claims import cited_sentences
from omh_research.tools.independence import SourceFact, priority_of, tag_of
from omh_research.tools.quotes import normalise
from omh_research.tools.references import find_markers
from omh_research.tools.similarity import is_near_duplicate
from omh_research.tools.urls import canonical

MAX_POINT_CHARS = 200
MAX_POINTS = 12
MAX_COPIED_WORDS = 25
_LOOSE = lazy_re(r"\s+(?=[.,;:!?。，；：！？、])")
_HTML = lazy_re(r"</?[a-zA-Z][^>]{0,200}>")


class MemoFinding(Struct, frozen=True):
    """What one source says on one subproblem; `conflict` names the source it contradicts or ""."""

    url: str
    title: str
    priority: int
    points: tuple[str, ...]
    conflict: str = ""
    date: str = ""


class MemoPart(Struct, frozen=True):
    """One subproblem with its findings, in order. `distilled` counts texts without KEY_POINTS."""

    number: int
    title: str
    findings: tuple[MemoFinding, ...]
    distilled: int = 0


class Memo(Struct, frozen=True):
    """The whole memo."""

    parts: tuple[MemoPart, ...]
    new_concepts: tuple[str, ...] = ()
    uncertain: tuple[str, ...] = ()


class Parts(Struct, frozen=True):
    """The memo's parts in order; held text and time of reading of each source, by its URL."""

    parts: tuple[MemoPart, ...]
    texts: dict[str, str]
    added: dict[str, str]


def build_parts(
    groups: Mapping[str, Sequence[ParsedFinding]], held: Mapping[str, HeldText]
) -> Parts:
    """Return the memo of every subproblem in the order given; `held` is by canonical URL."""
    texts: dict[str, str] = {}
    added: dict[str, str] = {}
    for finding in (finding for findings in groups.values() for finding in findings):
        for source in finding.sources:
            text = held.get(canonical(source.url))
            if text is not None:
                texts[source.url], added[source.url] = text.text, text.accessed_at
    parts = tuple(
        build_part(number, name, findings, texts)
        for number, (name, findings) in enumerate(groups.items(), 1)
    )
    return Parts(parts, texts, added)


def build_part(
    number: int, title: str, findings: Sequence[ParsedFinding], texts: Mapping[str, str]
) -> MemoPart:
    """Return the memo of one subproblem; `texts` are held texts by source URL."""
    rows: dict[str, MemoFinding] = {}
    distilled = 0
    for finding in findings:
        sources = {source.n: source for source in finding.sources}
        points = [(item.n, item.priority, item.point, item.conflict) for item in finding.key_points]
        if not points:
            distilled += 1
            points = [(n, 0, text, 0) for n, text in _distil(finding)]
        for n, priority, text, conflict in points:
            source = sources.get(n)
            point = clean_point(text, texts.get(source.url, "") if source else "")
            if source is None or not point:
                continue
            against = sources[conflict].title if conflict in sources else ""
            rows[source.url] = _merged(rows.get(source.url), source, (priority, point, against))
    return MemoPart(number, title, tuple(rows.values()), distilled)


def _merged(row: MemoFinding | None, source: Source, item: tuple[int, str, str]) -> MemoFinding:
    priority, point, against = item
    if row is None:
        fact = SourceFact(source.url, credibility=source.credibility)
        chosen = priority or priority_of(fact)
        return MemoFinding(source.url, source.title, chosen, (point,), against, source.date)
    points = row.points
    if len(points) < MAX_POINTS and not any(is_near_duplicate(point, old) for old in points):
        points = (*points, point)
    return MemoFinding(row.url, row.title, row.priority, points, row.conflict or against, row.date)


def _distil(finding: ParsedFinding) -> list[tuple[int, str]]:
    found = []
    for sentence in cited_sentences(finding.synthesis):
        markers = find_markers(sentence)
        plain = sentence
        for marker in reversed(markers):
            plain = plain[: marker.start] + plain[marker.end :]
        found += [(n, plain) for marker in markers for n in marker.numbers]
    return found


def tidy(text: str) -> str:
    """Return text on one line, without the gaps that removed citations leave before a stop."""
    return _LOOSE.sub("", " ".join(text.split()))


def clean_point(text: str, page: str) -> str:
    """Return a point fit for the memo, or "": no HTML, at most 200 characters, no long copy."""
    plain = tidy(_HTML.sub(" ", text)).strip('-* "“”')
    words = plain.split()
    if page and len(words) > MAX_COPIED_WORDS and normalise(plain) in normalise(page):
        plain = " ".join(words[:MAX_COPIED_WORDS]) + " …"
    if len(plain) > MAX_POINT_CHARS:
        plain = plain[: MAX_POINT_CHARS - 2].rstrip() + " …"
    return plain


def memo_json(memo: Memo) -> dict[str, Any]:
    """Return memo.json in the seed's shape."""
    return {
        "subproblems": [
            {
                "id": part.number,
                "title": part.title,
                "findings": [
                    {
                        "source": row.url,
                        "priority": f"P{row.priority}",
                        "key_points": list(row.points),
                        "conflict": row.conflict or None,
                    }
                    for row in part.findings
                ],
            }
            for part in memo.parts
        ],
        "new_concepts": list(memo.new_concepts),
        "uncertain_points": list(memo.uncertain),
        "distilled": sum(part.distilled for part in memo.parts),
    }


def memo_markdown(memo: Memo, language: str) -> str:
    """Return memo.md, the same content for people (L9 in Chinese)."""
    is_zh = language == "zh"
    part_word, source_word = ("子问题", "来源") if is_zh else ("Subproblem", "Source")
    parts: list[str] = []
    for part in memo.parts:
        names = {row.title: chr(65 + index % 26) for index, row in enumerate(part.findings)}
        lines = [f"## {part_word} {part.number}: {part.title}"]
        for index, row in enumerate(part.findings):
            tag = tag_of(row.priority, language)
            lines += ["", f"### {source_word} {chr(65 + index % 26)} [{tag}] ({row.url})"]
            lines += [f"- {point}" for point in row.points]
            if row.conflict:
                other = names.get(row.conflict, row.conflict)
                word = f"与来源 {other} 冲突" if is_zh else f"conflicts with source {other}"
                separator = "：" if is_zh else ": "
                lines.append(f"- ⚠️ {word}{separator}{row.points[-1]} ???")
        parts.append("\n".join(lines))
    return "\n\n---\n\n".join(parts) + "\n"


def sources_json(memo: Memo, added_at: Mapping[str, str]) -> dict[str, Any]:
    """Return sources.json in the seed's shape, each source once (L9: with `summary`)."""
    rows: dict[str, dict[str, Any]] = {}
    for part in memo.parts:
        for row in part.findings:
            rows.setdefault(
                row.url,
                {
                    "url": row.url,
                    "title": row.title,
                    "priority": f"P{row.priority}",
                    "added_at": added_at.get(row.url, "")[:10],
                    "summary": row.points[0] if row.points else "",
                },
            )
    return {"sources": list(rows.values())}
