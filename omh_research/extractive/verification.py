"""The verifier's task: check a report against the findings it was made from.

Job: what can be checked without a model: every quote is a quote of the findings and stands once,
every number resolves, every subtopic has its section, nothing stands outside quotes and fixed
labels. Refuses to judge truth: the engine's gate checks the held texts. In doubt FAIL (E32).
Importers: delegates.
"""

from __future__ import annotations

import re

from msgspec import Struct

from omh_research.documents.finding import INSUFFICIENT, parse_finding
from omh_research.documents.source_lines import parse_source_line
from omh_research.documents.task import Brief
from omh_research.extractive.lines import QuotedLine, one_line, read_quote_lines
from omh_research.lazy_re import lazy_re
from omh_research.tools.normal_form import normalise

SECTIONS = (
    "Executive Summary", "Detailed Findings", "Key Takeaways", "Open Questions", "Sources",
)  # fmt: skip
_HEADING = lazy_re(r"^(#{1,3}) +(.+?) *$", re.M)


class Check(Struct, frozen=True):
    """One row of the verdict's EVIDENCE table."""

    claim: str
    source: str
    holds: bool


def verify(brief: Brief) -> str:
    """Return the verdict in the form of D5b."""
    known = _known_quotes(brief)
    body, _, tail = brief.report.partition("\n## Sources")
    urls = {
        source.n: source.url
        for line in tail.split("\n")
        if (source := parse_source_line(line)) is not None and source.n
    }
    quotes = list(read_quote_lines(body))
    checks = [
        Check(quote.text, f"[{quote.number}]", _holds(quote, urls, known)) for quote in quotes
    ]
    faults = [f"not a quote of source {c.source}: {c.claim[:80]}" for c in checks if not c.holds]
    faults += _structure_faults(brief, body, quotes, set(urls))
    covered = [(name, _covers(body, name)) for name, _ in brief.subtopics]
    faults += [f"no section for the subtopic: {name}" for name, found in covered if not found]
    return _render(checks, covered, faults)


def _known_quotes(brief: Brief) -> dict[str, set[str]]:
    """Normal forms of the findings' quotes by source URL."""
    known: dict[str, set[str]] = {}
    for finding in brief.findings:
        parsed = parse_finding(finding.text)
        by_number = {source.n: source.url for source in parsed.sources}
        for row in parsed.evidence:
            if row.n in by_number and row.quote:
                known.setdefault(by_number[row.n], set()).add(normalise(row.quote))
    return known


def _holds(quote: QuotedLine, urls: dict[int, str], known: dict[str, set[str]]) -> bool:
    return normalise(quote.text) in known.get(urls.get(quote.number, ""), set())


def _structure_faults(
    brief: Brief, body: str, quotes: list[QuotedLine], numbers: set[int]
) -> list[str]:
    faults: list[str] = []
    headings = [text for level, text in _HEADING.findall(brief.report) if level == "##"]
    faults += [f"missing section: {name}" for name in SECTIONS if name not in headings]
    forms = [normalise(quote.text) for quote in quotes]
    faults += [f"quoted twice: {q.text[:80]}" for q, form in zip(quotes, forms, strict=True)
               if forms.count(form) > 1]  # fmt: skip
    used = {quote.number for quote in quotes}
    if used != set(range(1, len(used) + 1)) or used != numbers:
        faults.append("the numbers used and the Sources list differ")
    if not quotes and body.count(INSUFFICIENT) < len(brief.subtopics):
        faults.append("nothing is quoted, and the sections do not say so")
    return list(dict.fromkeys(faults))


def _covers(body: str, name: str) -> bool:
    return any(level == "###" and text == one_line(name) for level, text in _HEADING.findall(body))


def _render(checks: list[Check], covered: list[tuple[str, bool]], faults: list[str]) -> str:
    passed = not faults
    lines = [f"VERDICT: {'PASS' if passed else 'FAIL'}", "CONFIDENCE: HIGH", "", "EVIDENCE:"]
    lines += ["| claim | source | holds |", "|---|---|---|"]
    lines += [
        f"| {check.claim.replace('|', '/')[:120]} | {check.source} | "
        f"{'yes' if check.holds else 'no'} |"
        for check in checks
    ]
    lines += ["", "SUBTOPIC COVERAGE:", "| subtopic | covered |", "|---|---|"]
    lines += [f"| {name.replace('|', '/')} | {'yes' if ok else 'no'} |" for name, ok in covered]
    lines += ["", "GAPS:", *([f"- {fault}" for fault in faults] or ["- none"])]
    lines += ["", f"RECOMMENDATION: {'APPROVE' if passed else 'REQUEST_CHANGES'}"]
    return "\n".join(lines) + "\n"
