"""The sources of a report as BibTeX, RIS and CSL-JSON (spec O6).

Job: turn each entry of the Sources list into the literature's Paper and use its writers, so that
one report and one bundle are exported alike. Refuses to invent an author or a year.
Importers: export.registry.
"""

from __future__ import annotations

from omh_research.export.view import CitedSource, ReportView
from omh_research.lazy_re import lazy_re
from omh_research.literature.record import Identifiers, Paper, PaperSource, Publication
from omh_research.tools.identifiers import find_arxiv

_DATE = lazy_re(r"\b(1\d{3}|20\d\d)(?:-(\d\d)(?:-(\d\d))?)?\b")


def paper_of(source: CitedSource, view: ReportView) -> Paper:
    """Return one source as a Paper; `record_id` carries its number in the report."""
    match = _DATE.search(source.date)
    arxiv = find_arxiv(source.url)
    identifiers = Identifiers(doi=source.doi or None, arxiv=arxiv[0] if arxiv else None)
    accessed = source.accessed_at or ""
    return Paper(
        record_id=f"source:{source.n}",
        title=source.title or source.url,
        authors=(),
        identifiers=identifiers,
        venue=None,
        year=int(match[1]) if match else None,
        published_date=match[0] if match else None,
        online_date=None,
        url=source.url or None,
        abstract=None,
        abstract_status="not_requested",
        abstract_provenance=None,
        publication=Publication(),
        sources=(
            PaperSource(
                provider="report",
                provider_record_id=str(source.n),
                query_id=view.slug,
                rank=max(1, source.n),
                url=source.url or None,
                first_seen_at=accessed,
            ),
        ),
        query_matches=(),
        quality_warnings=(),
        doi=source.doi or None,
        source="report",
        pmid=None,
        openalex_id=None,
        semantic_scholar_id=None,
        arxiv_id=identifiers.arxiv,
        language=None,
        is_open_access=None,
    )


def to_bibtex(view: ReportView) -> str:
    """Return the sources as BibTeX."""
    from omh_research.literature.bibtex import write_bibtex

    return write_bibtex([paper_of(source, view) for source in view.sources])


def to_ris(view: ReportView) -> str:
    """Return the sources as RIS."""
    from omh_research.literature.ris import write_ris

    return write_ris([paper_of(source, view) for source in view.sources])


def to_csl(view: ReportView) -> str:
    """Return the sources as CSL-JSON."""
    from omh_research.literature.csl import write_csl

    return write_csl([paper_of(source, view) for source in view.sources])
