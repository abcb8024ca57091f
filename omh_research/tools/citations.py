"""Check drafted claims against the sources they cite (spec T11-T15, T25; seed: citations).

Job: the operations `verify` and `references` of the seed's JSON contract, as pure functions. For
each citation: was the source fetched, does the quote stand in it, is the DOI its own, does the
quote carry the claim. Refuses to fetch, to translate and to call anything true: a verified,
aligned quote is where support begins. Importers: tools, phases, audit, cli.

The same functions serve the engine, the command line and MCP; the same input gives the same
output.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from omh_research.tools.alignment import ALIGNED, Alignment, compare
from omh_research.tools.citation_input import (
    MAX_CITATIONS,
    MAX_CLAIMS,
    MAX_SOURCE_CHARS,
    MAX_SOURCES,
    MAX_TOTAL_INPUT_CHARS,
    CheckedSource,
    Citation,
    CitationInput,
    Claim,
    read_payload,
)
from omh_research.tools.comparison import compare_candidates
from omh_research.tools.evidence_table import (
    Evidence,
    confidence_label,
    evidence_markdown,
    evidence_row,
)
from omh_research.tools.identifiers import is_doi, normalise_doi
from omh_research.tools.ledger import EvidenceRow
from omh_research.tools.quotes import (
    MIN_QUOTE_CHARS,
    MISSING,
    NOT_FOUND,
    TOO_SHORT,
    VERIFIED,
    lead_in,
)

__all__ = [
    "MAX_CITATIONS",
    "MAX_CLAIMS",
    "MAX_SOURCES",
    "MAX_SOURCE_CHARS",
    "MAX_TOTAL_INPUT_CHARS",
    "MIN_QUOTE_CHARS",
    "references",
    "verify",
]

NOT_CHECKED = "not_checked"
_NO_ALIGNMENT = Alignment(NOT_CHECKED)


class _Checked(Struct, frozen=True):
    """One citation, checked: the source it means and the state of each of its parts."""

    citation: Citation
    source: CheckedSource | None
    resolved_by: str
    quote_status: str
    doi_status: str
    alignment: Alignment
    issues: tuple[tuple[str, str], ...]

    @property
    def verdict(self) -> str:
        """ "flagged" with any issue, "verified" with a verified quote, else "weak"."""
        if self.issues:
            return "flagged"
        return "verified" if self.quote_status == VERIFIED else "weak"

    @property
    def supports(self) -> bool:
        """Whether this citation by itself supports its claim (T13)."""
        return self.verdict == "verified" and self.alignment.status == ALIGNED


def verify(
    payload: dict[str, Any], rows: Iterable[EvidenceRow] = (), *, resume: bool = False
) -> dict[str, Any]:
    """Return the seed's verification result for `{sources, claims, comparison?}`.

    `rows` are those of a sibling evidence ledger: they fill dates, publisher, type and limitations
    (T16); with `resume` their quotes stand in for the text of sources that have none. Raises
    ToolInputError for a payload that cannot be read.
    """
    given = read_payload(payload, rows, resume=resume)
    checked = [
        [_check(citation, claim, given) for citation in claim.citations] for claim in given.claims
    ]
    refs = _number_references(checked)
    flags, warnings = _report_issues(given, checked)
    claims: list[dict[str, Any]] = []
    evidence: list[dict[str, Any]] = []
    for claim, citations in zip(given.claims, checked, strict=True):
        claims.append(_claim_result(claim, citations, refs))
        for item in citations:
            if item.source is not None and item.verdict == "verified":
                confidence = claims[-1]["confidence"] if item.supports else "LOW"
                found = Evidence(
                    claim.text, item.citation.quote, item.source, item.alignment, confidence
                )
                evidence.append(evidence_row(len(evidence) + 1, found))
    table = compare_candidates(given.comparison, given.sources, evidence)
    abstain = not any(source.pieces for source in given.sources)
    return {
        "abstain": abstain,
        "abstain_reason": "no_sources" if abstain else None,
        "summary": _summary(claims, checked),
        "claims": claims,
        "references": _reference_list(checked, refs),
        "flags": flags,
        "warnings": warnings,
        "evidence_rows": evidence,
        "evidence_markdown": evidence_markdown(evidence),
        "comparison_rows": table.rows,
        "comparison_markdown": table.markdown,
        "comparison_warnings": table.warnings,
    }


def references(
    payload: dict[str, Any], rows: Iterable[EvidenceRow] = (), *, resume: bool = False
) -> dict[str, Any]:
    """Return only the numbered reference list of `verify` (T15), and whether to abstain."""
    result = verify(payload, rows, resume=resume)
    return {key: result[key] for key in ("abstain", "abstain_reason", "references")}


def _check(citation: Citation, claim: Claim, given: CitationInput) -> _Checked:
    """Check one citation of `claim`."""
    source, resolved_by = given.resolve(citation)
    if source is None:
        named = citation.source or citation.url or "(nothing)"
        issue = ("citation_source_not_found", f"no fetched source is {named[:200]}")
        doi_status = _doi_status(citation.doi, None)
        return _Checked(
            citation, None, "", MISSING if not citation.quote.strip() else NOT_FOUND, doi_status,
            _NO_ALIGNMENT, (issue,),
        )  # fmt: skip
    issues = []
    quote = given.quotes[citation.quote]
    status, piece = source.find(quote)
    if status == NOT_FOUND:
        reason = "the source's text" if source.pieces else "the source: no text of it was given"
        issues.append(
            (
                "quote_not_found_in_source",
                f"not in {reason} ({source.id}): {citation.quote[:200]!r}",
            )
        )
    doi_status = _doi_status(citation.doi, source)
    if doi_status == "malformed":
        issues.append(("doi_malformed", f"not a DOI: {citation.doi[:200]}"))
    elif doi_status == NOT_FOUND:
        issues.append(
            (
                "doi_not_found_in_source",
                f"{citation.doi[:200]} is not the DOI of {source.id}, nor in it",
            )
        )
    alignment = _NO_ALIGNMENT
    if piece is not None:
        lead = lead_in(quote, piece)
        alignment = compare(claim.text, citation.quote, source.title, lead)
    return _Checked(citation, source, resolved_by, status, doi_status, alignment, tuple(issues))


def _doi_status(doi: str, source: CheckedSource | None) -> str:
    """Return "missing" (none given), "malformed", "verified" or "not_found" (spec T14)."""
    if not doi.strip():
        return MISSING
    own = normalise_doi(doi) if is_doi(doi) else None
    if own is None:
        return "malformed"
    return VERIFIED if source is not None and own in source.dois else NOT_FOUND


def _number_references(checked: list[list[_Checked]]) -> dict[str, int]:
    """Return the reference number of each work, by first citation, flagged ones left out."""
    refs: dict[str, int] = {}
    for citations in checked:
        for item in citations:
            if item.source is not None and item.verdict != "flagged":
                refs.setdefault(item.source.key, len(refs) + 1)
    return refs


def _reference_list(checked: list[list[_Checked]], refs: dict[str, int]) -> list[dict[str, Any]]:
    """Return one entry a work, in order, described by the first source cited for it."""
    entries: dict[int, dict[str, Any]] = {}
    for citations in checked:
        for item in citations:
            source = item.source
            if source is None or item.verdict == "flagged" or refs[source.key] in entries:
                continue
            entries[refs[source.key]] = {
                "ref": refs[source.key],
                "source": source.id,
                "title": source.title or source.url or source.id,
                "url": source.url or None,
                "date": source.date or None,
                "accessed_at": source.accessed_at or None,
                "publisher": source.publisher or None,
                "source_type": source.source_type or None,
                "doi": normalise_doi(source.doi) if source.doi else None,
            }
    return [entries[number] for number in sorted(entries)]


def _claim_result(claim: Claim, citations: list[_Checked], refs: dict[str, int]) -> dict[str, Any]:
    """Return one claim of the result; `supported` needs a known source, quote and alignment."""
    supported = any(item.supports for item in citations) or _joint_support(claim, citations)
    flagged = any(item.issues for item in citations)
    status = "supported" if supported else "invalid" if flagged else "unproven"
    works = {item.source.key for item in citations if item.source is not None and item.supports}
    return {
        "text": claim.text,
        "supported": supported,
        "support_status": status,
        "confidence": confidence_label(len(works), supported),
        "citations": [_citation_result(item, refs) for item in citations],
    }


def _joint_support(claim: Claim, citations: list[_Checked]) -> bool:
    """Say whether verified quotes carry the claim together though none does alone."""
    quotes = [item for item in citations if item.verdict == "verified" and item.source is not None]
    if len(quotes) < 2:
        return False
    titles = "\n".join(item.source.title for item in quotes if item.source is not None)
    joined = "\n".join(item.citation.quote for item in quotes)
    return compare(claim.text, joined, titles).status == ALIGNED


def _citation_result(item: _Checked, refs: dict[str, int]) -> dict[str, Any]:
    is_listed = item.source is not None and item.verdict != "flagged"
    return {
        "source": item.citation.source or None,
        "url": item.citation.url or None,
        "resolved_by": item.resolved_by or None,
        "url_status": "known" if item.source is not None else "unknown",
        "quote_status": item.quote_status,
        "doi_status": item.doi_status,
        "alignment_status": item.alignment.status,
        "alignment_detail": item.alignment.reason or None,
        "basis": item.source.basis if item.source is not None else None,
        "verdict": item.verdict,
        "ref": refs[item.source.key] if is_listed and item.source is not None else None,
    }


def _report_issues(
    given: CitationInput, checked: list[list[_Checked]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return (flags, warnings), each `{claim, citation, issue, detail}` with indexes from 0."""
    flags: list[dict[str, Any]] = []
    warnings = [_issue(None, None, "source_problem", problem) for problem in given.problems]
    for number, citations in enumerate(checked):
        if not citations:
            warnings.append(_issue(number, None, "claim_without_citation", "nothing supports it"))
        for index, item in enumerate(citations):
            flags += [_issue(number, index, name, detail) for name, detail in item.issues]
            if item.quote_status == TOO_SHORT:
                detail = f"a quote needs {MIN_QUOTE_CHARS} characters to prove anything"
                warnings.append(_issue(number, index, "quote_too_short", detail))
            elif item.quote_status == MISSING and item.source is not None:
                warnings.append(_issue(number, index, "quote_missing", "the claim stays unproven"))
            elif item.alignment.status not in (ALIGNED, NOT_CHECKED):
                missing = ", ".join(item.alignment.missing[:8])
                detail = item.alignment.reason + (f": {missing}" if missing else "")
                warnings.append(_issue(number, index, "quote_does_not_carry_claim", detail))
    return flags, warnings


def _issue(claim: int | None, citation: int | None, issue: str, detail: str) -> dict[str, Any]:
    return {"claim": claim, "citation": citation, "issue": issue, "detail": detail}


def _summary(claims: list[dict[str, Any]], checked: list[list[_Checked]]) -> dict[str, int]:
    items = [item for citations in checked for item in citations]
    verdicts = [item.verdict for item in items]
    supported = sum(1 for claim in claims if claim["supported"])
    return {
        "claims": len(claims),
        "supported": supported,
        "unsupported": len(claims) - supported,
        "citations": len(items),
        "verified": verdicts.count("verified"),
        "weak": verdicts.count("weak"),
        "flagged": verdicts.count("flagged"),
        "aligned": sum(1 for item in items if item.supports),
        "support_unproven": sum(1 for c in claims if c["support_status"] == "unproven"),
    }
