"""A researcher's answer: subtopic, queries, sources, evidence, synthesis, gaps.

Job: read the block of the researcher template (spec D5b, E28b, L8) as leniently as models write
it (E22), say what could not be read, and merge gaps (E23). Refuses to change the stored text, to
judge a source and to touch files; the findings file itself is `finding_file`. Importers: phases,
tools, delegates, roles, cli.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from omh_research.documents.answer_text import (
    after_bullet,
    drop_fence_lines,
    is_fence_line,
    unwrap_answer,
)
from omh_research.documents.evidence_lines import (
    REF,
    EvidenceLine,
    KeyPoint,
    read_evidence,
    read_key_points,
)
from omh_research.documents.frontmatter import strip_leading_block
from omh_research.documents.gaps import read_gaps
from omh_research.documents.heading_text import heading_text
from omh_research.documents.labels import FINDING_SECTIONS, match_section, read_label_line
from omh_research.documents.source_lines import Source, find_links, parse_source_line
from omh_research.lazy_re import lazy_re

__all__ = [
    "INSUFFICIENT",
    "NONE_FOUND",
    "EvidenceLine",
    "KeyPoint",
    "ParsedFinding",
    "QueryRun",
    "Source",
    "empty_finding",
    "parse_finding",
]

INSUFFICIENT = "(insufficient sources for this subtopic)"
NONE_FOUND = "(none-found, reasons listed)"
MAX_ANSWER_CHARS = 2_000_000
MAX_QUERIES = 200

_BULLET = lazy_re(r"\s*(?:[-*+•·▪◦]|\d{1,3}[.)、])\s+")
_ARROW = lazy_re(r"\s*(?:→|->|=>|⇒|—>)\s*")


class QueryRun(Struct, frozen=True):
    """A query as it was run and what it brought."""

    query: str
    note: str = ""


class ParsedFinding(Struct, frozen=True):
    """A researcher's answer, read. `notes` says in words what was missing or not understood.

    `is_block`: it has at least one section of the template that findings stand in.
    """

    subtopic: str = ""
    queries_run: tuple[QueryRun, ...] = ()
    sources: tuple[Source, ...] = ()
    evidence: tuple[EvidenceLine, ...] = ()
    synthesis: str = ""
    gaps: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    key_points: tuple[KeyPoint, ...] = ()
    is_block: bool = True

    @property
    def is_insufficient(self) -> bool:
        """Whether the answer itself says that it found too little (E21)."""
        return not self.sources or INSUFFICIENT in self.synthesis


@lru_cache(maxsize=16)  # a phase reads the same few answers for several ends
def parse_finding(text: str) -> ParsedFinding:
    """Read a researcher's answer; any text gives a result, never an error.

    A text without one section of the template yields the links it holds as sources and the note
    that it is not a findings block.
    """
    notes: list[str] = []
    if len(text) > MAX_ANSWER_CHARS:
        notes.append(f"only the first {MAX_ANSWER_CHARS} characters were read")
    answer, had_block = strip_leading_block(unwrap_answer(text[:MAX_ANSWER_CHARS]))
    if had_block:
        notes.append("a leading frontmatter block was ignored")
    sections = _split_sections(answer)
    if not any(name in sections for name in ("sources", "synthesis", "gaps", "evidence")):
        return _not_a_block(answer, sections, notes)
    for name in ("subtopic", "queries_run", "sources", "synthesis", "gaps"):
        if name not in sections:
            notes.append(f"no {name.upper()} section")
    body = {name: "\n".join(lines) for name, lines in sections.items()}
    sources = _read_sources(body.get("sources"), answer, notes)
    evidence = read_evidence(body.get("evidence", ""), notes)
    key_points = read_key_points(body.get("key_points", ""), notes)
    synthesis = _read_synthesis(body, notes)
    return ParsedFinding(
        subtopic=_first_line(body.get("subtopic", "")),
        queries_run=_read_queries(body.get("queries_run", "")),
        sources=sources,
        evidence=evidence,
        synthesis=synthesis,
        gaps=read_gaps(drop_fence_lines(body.get("gaps", ""))),
        notes=tuple(notes),
        key_points=key_points,
    )


def empty_finding(subtopic: str, queries: Sequence[str], reasons: Sequence[str]) -> str:
    """Return the honest empty-result block in the researcher's template (E21).

    `reasons` say why nothing came back; they stand under GAPS with the unanswered queries.
    """
    lines = [f"SUBTOPIC: {_one_line(subtopic)}", "", "QUERIES_RUN:"]
    lines += [f"- {_one_line(query)} → no result" for query in queries]
    lines += ["", f"SOURCES: {NONE_FOUND}"]
    lines += ["", f"SYNTHESIS: {INSUFFICIENT}", "", "GAPS:"]
    lines += [f"- unanswered: {_one_line(query)}" for query in queries]
    lines += [f"- reason: {_one_line(reason)}" for reason in reasons]
    return "\n".join(lines) + "\n"


def _split_sections(answer: str) -> dict[str, list[str]]:
    """Return the lines of each section; "" holds what stands before or between them."""
    sections: dict[str, list[str]] = {}
    current, level = "", 0
    for line in answer.split("\n"):
        opener = read_label_line(line)
        name = ""
        if opener:
            name = match_section(opener.label, FINDING_SECTIONS, loose=bool(opener.level))
        if opener and name:
            current, level = name, opener.level
            sections.setdefault(name, []).extend([opener.rest] if opener.rest else [])
            continue
        closes = opener and opener.level and opener.level <= (level or 2)
        if closes and (level or current != "synthesis"):
            current, level = "", 0
        sections.setdefault(current, []).append(line)
    return sections


def _not_a_block(answer: str, sections: dict[str, list[str]], notes: list[str]) -> ParsedFinding:
    """Return what can be taken from a text that does not follow the template."""
    sources = _sources_from_links(answer)
    notes.append(
        "not a findings block: none of the sections SOURCES, SYNTHESIS, GAPS was found; "
        f"{len(sources)} links in the text were taken as its sources"
    )
    return ParsedFinding(
        subtopic=_first_line("\n".join(sections.get("subtopic", []))),
        queries_run=_read_queries("\n".join(sections.get("queries_run", []))),
        sources=sources,
        synthesis=answer.strip(),
        notes=tuple(notes),
        is_block=False,
    )


def _read_sources(section: str | None, answer: str, notes: list[str]) -> tuple[Source, ...]:
    if section is None:
        links = _sources_from_links(answer)
        notes.append(f"{len(links)} links in the text were taken as its sources")
        return links
    found: list[Source] = []
    odd = 0
    for line in section.split("\n"):
        if not line.strip() or is_fence_line(line):
            continue
        source = parse_source_line(line)
        if source and (source.url, source.n) not in {(s.url, s.n) for s in found[-200:]}:
            found.append(source)
        elif not source and re.match(rf"\s*(?:[-*]\s*)?{REF}", line):
            odd += 1
            if odd <= 5:
                notes.append(f"a SOURCES line has no address: {_short(line)}")
    if not found and (links := _sources_from_links(section)):
        found.extend(links)
        notes.append("the SOURCES section is no list; its links were taken")
    return _numbered(found, notes)


def _numbered(sources: list[Source], notes: list[str]) -> tuple[Source, ...]:
    """Number the sources that carry no number, in their order."""
    used = {source.n for source in sources}
    if 0 not in used:
        if len(used) < len(sources):
            notes.append("a source number stands more than once")
        return tuple(sources)
    notes.append("sources without a number were numbered in their order")
    numbered: list[Source] = []
    following = 1
    for source in sources:
        if source.n == 0:
            while following in used:
                following += 1
            used.add(following)
            source = Source(following, source.title, source.url, source.credibility, source.date)
        numbered.append(source)
    return tuple(numbered)


def _sources_from_links(text: str) -> tuple[Source, ...]:
    return tuple(Source(n, title, url) for n, (title, url) in enumerate(find_links(text), start=1))


def _read_queries(section: str) -> tuple[QueryRun, ...]:
    lines = [line for line in section.split("\n") if line.strip() and not is_fence_line(line)]
    begins = [after_bullet(line, _BULLET) for line in lines]
    texts = [line[at:] for line, at in zip(lines, begins, strict=True) if at or not any(begins)]
    queries: list[QueryRun] = []
    for text in texts[:MAX_QUERIES]:
        query, *note = _ARROW.split(text.strip(), maxsplit=1)
        query = query.strip().strip('`"“”')
        if query and not query.startswith("|"):
            queries.append(QueryRun(query, note[0].strip() if note else ""))
    return tuple(queries)


def _read_synthesis(body: dict[str, str], notes: list[str]) -> str:
    if "synthesis" in body:
        text = body["synthesis"].strip("\n")
        fences = sum(is_fence_line(line) for line in text.split("\n"))
        return (drop_fence_lines(text) if fences % 2 else text).strip()
    rest = drop_fence_lines(body.get("", "")).strip()
    if rest:
        notes.append("the text outside the sections was taken as the synthesis")
    return rest


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return heading_text(line.lstrip("*_`#[] \t").rstrip("*_`[] \t"))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _short(line: str) -> str:
    text = _one_line(line)
    return text if len(text) <= 80 else text[:79] + "…"
