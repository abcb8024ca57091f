"""Evidence rows: what a researcher's EVIDENCE lines prove against the held texts (spec E28b, T19).

Job: check each quoted line against its source's held text and render it as a line of
`evidence_ledger.jsonl`. Refuses to drop a line: an unproven one is written as unproven.
Importers: phases.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from omh_research.documents.finding import EvidenceLine, ParsedFinding
from omh_research.documents.heads import checked
from omh_research.documents.names import kebab
from omh_research.documents.source import HeldText
from omh_research.documents.source_lines import Source
from omh_research.tools.alignment import align
from omh_research.tools.identifiers import find_arxiv, find_dois, find_pmids
from omh_research.tools.ledger import EvidenceRow
from omh_research.tools.quotes import PreparedText, match
from omh_research.tools.urls import canonical

MAX_QUOTE_CHARS = 1600
SCHEMA_VERSION = 1


def evidence_rows(
    subtopic: str, finding: ParsedFinding, held: Mapping[str, HeldText]
) -> tuple[str, ...]:
    """Return one JSON line per EVIDENCE line, in order, the same bytes for the same input."""
    sources = {source.n: source for source in finding.sources}
    prepared: dict[str, PreparedText] = {}
    support: dict[str, set[str]] = {}
    for line in finding.evidence:
        if line.n in sources:
            support.setdefault(line.claim.casefold(), set()).add(canonical(sources[line.n].url))
    rows = []
    for line in finding.evidence:
        source = sources.get(line.n)
        text = held.get(canonical(source.url)) if source is not None else None
        if text is not None and text.sha256 not in prepared:
            prepared[text.sha256] = PreparedText.of(text.text)
        words = prepared.get(text.sha256) if text is not None else None
        row = _row(subtopic, line, source, text, words)
        row["confidence"] = _confidence(len(support.get(line.claim.casefold(), ())))
        checked(row, EvidenceRow, "a row of the evidence ledger")
        rows.append(json.dumps(row, ensure_ascii=True, sort_keys=True))
    return tuple(rows)


def _row(
    subtopic: str,
    line: EvidenceLine,
    source: Source | None,
    text: HeldText | None,
    words: PreparedText | None,
) -> dict[str, object]:
    quote_status = "missing" if not line.quote else "not_held"
    alignment = ""
    if line.quote and words is not None:
        quote_status = match(line.quote, words)
        alignment = align(line.claim, line.quote)
    row: dict[str, object] = {
        "schema_version": SCHEMA_VERSION,
        "source_id": f"{kebab(subtopic, 40) or 'followup'}-{line.n}",
        "canonical_url": canonical(source.url) if source is not None else "",
        "title": source.title if source is not None else "",
        "publisher": text.publisher if text is not None else "",
        "published_at": (text.date if text is not None else "")
        or (source.date if source is not None else ""),
        "accessed_at": text.accessed_at if text is not None else "",
        "source_type": source.credibility if source is not None else "",
        "subquestion": subtopic,
        "claim": line.claim,
        "quote": line.quote[:MAX_QUOTE_CHARS],
        "limitations": "" if text is not None else "declared by the delegate, text not held",
        "seen": "fetched" if text is not None else "declared",
        "quote_status": quote_status,
        "alignment_status": alignment,
    }
    if text is not None:
        row["content_sha256"] = text.sha256
    row.update(_identifiers(str(row["canonical_url"]), text))
    return row


def _identifiers(url: str, text: HeldText | None) -> dict[str, str]:
    """Return the work's identifiers, as the source gave them or as its address says (B12)."""
    found = {
        "doi": (text.doi if text is not None else None) or next(iter(find_dois(url)), None),
        "arxiv": (text.arxiv if text is not None else None) or next(iter(find_arxiv(url)), None),
        "pmid": (text.pmid if text is not None else None) or next(iter(find_pmids(url)), None),
    }
    return {name: value for name, value in found.items() if value}


def _confidence(sources: int) -> str:
    """Return the T22 label for a claim that so many sources state."""
    return "HIGH" if sources >= 3 else "MEDIUM" if sources == 2 else "LOW"
