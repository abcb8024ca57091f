"""Evidence as rows and as a Markdown table (spec T18, T22).

Job: lay out verified quotes with claim, link, dates, status and limitation, every cell escaped so
that no text can break out of its cell or forge a link. Refuses to verify. Importers: tools,
phases.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote as percent_encode

from msgspec import Struct

from omh_research.lazy_re import lazy_re
from omh_research.tools.alignment import ALIGNED, Alignment
from omh_research.tools.citation_input import CheckedSource

HIGH, MEDIUM, LOW, SPECULATIVE = "HIGH", "MEDIUM", "LOW", "SPECULATIVE"
_COLUMNS = (
    "Evidence", "Claim", "Exact quote", "Source", "Source date", "Accessed", "Status", "Limitation",
)  # fmt: skip
_CONTROLS = lazy_re(r"[\x00-\x1f\x7f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+")
_MARKUP = lazy_re(r"([\\`*_\[\]<>|~])")


def confidence_label(sources: int, is_supported: bool = True) -> str:
    """Return the label for a claim that so many different works support (T22).

    Three or more agree: HIGH; two: MEDIUM; one: LOW, for a conclusion on one source is LOW; none:
    SPECULATIVE.
    """
    if not is_supported:
        return SPECULATIVE
    return HIGH if sources >= 3 else MEDIUM if sources == 2 else LOW


class Evidence(Struct, frozen=True):
    """One verified quote: the claim it was cited for, its source, and how well it carries it."""

    claim: str
    quote: str
    source: CheckedSource
    alignment: Alignment
    confidence: str


def evidence_row(number: int, item: Evidence) -> dict[str, Any]:
    """Return one row of `evidence_rows`, with the id `E{number}`."""
    source, is_aligned = item.source, item.alignment.status == ALIGNED
    return {
        "evidence_id": f"E{number}",
        "claim": item.claim,
        "quote": item.quote,
        "source": source.id,
        "title": source.title or source.url or source.id,
        "url": source.url or None,
        "source_date": source.date or None,
        "accessed_at": source.accessed_at or None,
        "publisher": source.publisher or None,
        "source_type": source.source_type or None,
        "status": "verified" if is_aligned else "quote verified, claim unproven",
        "support_status": "supported" if is_aligned else "unproven",
        "alignment_status": item.alignment.status,
        "confidence": item.confidence,
        "limitations": source.limitations or None,
        "basis": source.basis,
    }


def evidence_markdown(rows: list[dict[str, Any]]) -> str:
    """Return the evidence table, "" without rows; ends with a line end."""
    if not rows:
        return ""
    lines = ["## Evidence", ""]
    lines += table(
        _COLUMNS,
        [
            (
                escape_cell(row["evidence_id"]),
                escape_cell(row["claim"]),
                escape_cell(f"\u201c{row['quote'].strip()}\u201d"),
                link_cell(row["title"], row["url"]),
                escape_cell(row["source_date"] or "not stated"),
                escape_cell(row["accessed_at"] or "not stated"),
                escape_cell(row["status"]),
                escape_cell(row["limitations"] or "none stated"),
            )
            for row in rows
        ],
    )
    return "\n".join(lines) + "\n"


def table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """Return the lines of a Markdown table; cells are escaped already."""
    lines = ["| " + " | ".join(columns) + " |", "| " + " | ".join("---" for _ in columns) + " |"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def escape_cell(text: str) -> str:
    """Return `text` as the content of one table cell: one line, no markup, no controls."""
    line = " ".join(_CONTROLS.sub(" ", text).split())
    line = line.replace("&", "&amp;") if re.search(r"&(?:#|\w+;)", line) else line
    return _MARKUP.sub(r"\\\1", line)


def link_cell(title: str, url: str | None) -> str:
    """Return a link cell; only http(s) addresses become links."""
    if not url:
        return escape_cell(title)
    if not re.match(r"(?i)https?://[^\s/]", url):
        return escape_cell(f"{title} ({url})" if title != url else title)
    safe = percent_encode(_CONTROLS.sub("", url), safe="!#$%&'*+,/:;=?@_~.-", errors="replace")
    return f"[{escape_cell(title)}]({safe})"
