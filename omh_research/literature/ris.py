"""RIS: one record for each paper (B12).

Job: write RIS as reference managers import it: a tag of two signs, two spaces, a dash, a space;
names as "Family, Given" where they can be told apart. Refuses to put a line break into a value.
Importers: literature.export.
"""

from __future__ import annotations

from collections.abc import Sequence

from omh_research.literature.record import Paper
from omh_research.literature.reference_fields import kind_of, name_parts


def write_ris(papers: Sequence[Paper]) -> str:
    """Return the papers as RIS, lines ended by CR LF as the format's description has it."""
    return "".join(_record(paper) for paper in papers)


def _record(paper: Paper) -> str:
    ids = paper.identifiers
    date = (paper.published_date or "").replace("-", "/")
    rows: list[tuple[str, str | None]] = [("TY", kind_of(paper).ris), ("ID", paper.record_id)]
    rows += [("AU", _name(author)) for author in paper.authors]
    rows += [
        ("TI", paper.title),
        ("T2", paper.venue),
        ("PY", str(paper.year) if paper.year is not None else None),
        ("DA", date + "/" * (3 - date.count("/")) if date else None),
        ("DO", ids.doi),
        ("UR", paper.url),
        ("AN", ids.pmid and f"PMID:{ids.pmid}"),
        ("LA", paper.publication.language),
        ("AB", paper.abstract),
    ]
    for label, value in (
        ("arXiv", ids.arxiv),
        ("OpenAlex", ids.openalex),
        ("SemanticScholar", ids.semantic_scholar),
    ):
        rows.append(("N1", value and f"{label}:{value}"))
    lines = [f"{tag}  - {' '.join(value.split())}\r\n" for tag, value in rows if value]
    return "".join(lines) + "ER  - \r\n\r\n"


def _name(name: str) -> str:
    parts = name_parts(name)
    return f"{parts[0]}, {parts[1]}" if parts else name
