"""The one view of a report that every export is made from: same sources, same numbers (spec O6).

Job: read a run's report, findings, ledger and panel into frozen values, without characters that
hide (81 section 7). Refuses to re-number, to edit the visible body and to write. Importers:
export, cli.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from omh_research.documents import frontmatter
from omh_research.documents.display import visible
from omh_research.documents.finding import ParsedFinding, parse_finding
from omh_research.documents.names import check_slug
from omh_research.errors import NoSuchRunError
from omh_research.export.verification import read_panel, with_verification
from omh_research.lazy_re import lazy_re
from omh_research.project import Project
from omh_research.store.sources import Sources
from omh_research.tools.identifiers import find_dois
from omh_research.tools.source_list import parse_sources
from omh_research.tools.urls import canonical

_ROW_END = lazy_re(r"(?m)^(\[\d{1,4}\] [^\n]*)\n(?=\[\d{1,4}\] )")
CHECKED = ("verified", "too_short", "not_found", "not_held", "missing")


class QuoteRow(Struct, frozen=True):
    """One evidence row of a source: claim, exact quote, and what the check said."""

    claim: str
    quote: str
    status: str
    date: str = ""
    accessed_at: str = ""
    limitations: str = ""
    confidence: str = ""


class CitedSource(Struct, frozen=True):
    """One entry of the Sources list. `seen` is fetched, declared, lead or "" (unknown)."""

    n: int
    title: str
    url: str
    credibility: str = ""
    date: str = ""
    doi: str = ""
    seen: str = ""
    accessed_at: str = ""
    quotes: tuple[QuoteRow, ...] = ()


class ReportView(Struct, frozen=True, kw_only=True):
    """A report and everything that stands behind it. `panel` is panel.json or None."""

    slug: str
    topic: str
    language: str
    status: str
    title: str
    body: str
    sources: tuple[CitedSource, ...]
    subtopics: tuple[str, ...]
    findings: tuple[tuple[str, ParsedFinding], ...]
    sources_fetched: str = ""
    sources_declared: str = ""
    panel: dict[str, Any] | None = None

    @property
    def whole_body(self) -> str:
        """The body with the generated section Verification, if a panel judged it (P10)."""
        return visible(with_verification(self.body, self.panel))

    @property
    def flowing_body(self) -> str:
        """The whole body as Markdown to lay out: each row of the Sources list its own paragraph."""
        return _ROW_END.sub(r"\1\n\n", self.whole_body)

    @property
    def is_right_to_left(self) -> bool:
        """Whether the report's language is written from right to left."""
        return self.language in ("ar", "fa", "he", "ur", "ps", "yi")


def view_of(project: Project, slug: str) -> ReportView:
    """Return the view of a run's report.

    Raises:
        NoSuchRunError: the run has no report.
        DamagedFileError: a file of it cannot be read.
    """
    text = project.reader.report(check_slug(slug))
    if text is None:
        raise NoSuchRunError(f"{slug} has no report here.", hint="Run it to its end first.")
    where = project.layout.relative(project.layout.report(slug))
    meta, body = frontmatter.parse(text, where=where)
    plan = project.reader.plan(slug)
    findings = project.reader.findings(slug, plan) if plan is not None else ()
    parsed = tuple((finding.subtopic, parse_finding(finding.text)) for finding in findings)
    panel = read_panel(project.reader.evidence(slug, "panel.json"), body, f"{slug}: panel.json")
    body = visible(body)
    return ReportView(
        slug=slug,
        topic=_word(meta, "topic"),
        language=_word(meta, "language") or "en",
        status=_word(meta, "status"),
        title=_title(body) or _word(meta, "topic"),
        body=body,
        sources=_sources(project, slug, body, [finding for _, finding in parsed]),
        subtopics=plan.names if plan is not None else (),
        findings=parsed,
        sources_fetched=_word(meta, "sources_fetched"),
        sources_declared=_word(meta, "sources_declared"),
        panel=panel,
    )


def _word(meta: dict[str, object], key: str) -> str:
    value = meta.get(key, "")
    return visible(value) if isinstance(value, str) else ""


def _title(body: str) -> str:
    for line in body.split("\n"):
        if line.startswith("# "):
            return line[2:].strip()
    return ""


def _sources(
    project: Project, slug: str, body: str, findings: Sequence[ParsedFinding]
) -> tuple[CitedSource, ...]:
    record = Sources(project.layout, slug, canonical)
    held, leads = record.held(), record.leads()
    quotes: dict[str, list[QuoteRow]] = {}
    for line in project.reader.evidence_lines(slug, "evidence_ledger.jsonl"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        quotes.setdefault(str(row.get("canonical_url", "")), []).append(_quote(row))
    declared = {canonical(s.url) for finding in findings for s in finding.sources if s.url}
    found = []
    for entry in parse_sources(body):
        url = canonical(entry.url)
        text = held.get(url)
        seen = "fetched" if text is not None else "declared" if url in declared else ""
        if not seen and url in leads:
            seen = "lead"
        dois = find_dois(f"{entry.url} {entry.title}")
        found.append(
            CitedSource(
                n=entry.n,
                title=entry.title,
                url=entry.url,
                credibility=entry.credibility,
                date=entry.date,
                doi=dois[0] if dois else "",
                seen=seen,
                accessed_at=text.accessed_at if text is not None else "",
                quotes=tuple(dict.fromkeys(quotes.get(url, ()))),
            )
        )
    return tuple(found)


def _quote(row: dict[str, Any]) -> QuoteRow:
    def word(key: str) -> str:
        return visible(str(row.get(key) or ""))

    return QuoteRow(
        claim=word("claim"),
        quote=word("quote"),
        status=word("quote_status"),
        date=word("published_at"),
        accessed_at=word("accessed_at"),
        limitations=word("limitations"),
        confidence=word("confidence"),
    )
