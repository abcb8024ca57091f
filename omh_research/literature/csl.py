"""CSL-JSON: one item for each paper (B12).

Job: write the data model of the Citation Style Language 1.0.2. Refuses fields outside its schema:
identifiers that it does not know go into `note`. Importers: literature.export.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from omh_research.literature.record import Paper
from omh_research.literature.reference_fields import kind_of, name_parts


def write_csl(papers: Sequence[Paper]) -> str:
    """Return the papers as a CSL-JSON array."""
    items = [_item(paper) for paper in papers]
    return json.dumps(items, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def _item(paper: Paper) -> dict[str, Any]:
    ids = paper.identifiers
    notes = [
        f"{label}: {value}"
        for label, value in (
            ("arXiv", ids.arxiv),
            ("OpenAlex", ids.openalex),
            ("Semantic Scholar", ids.semantic_scholar),
        )
        if value
    ]
    item = {
        "id": paper.record_id,
        "type": kind_of(paper).csl,
        "title": paper.title,
        "author": [_name(author) for author in paper.authors],
        "container-title": paper.venue,
        "issued": _issued(paper),
        "DOI": ids.doi,
        "PMID": ids.pmid,
        "URL": paper.url,
        "language": paper.publication.language,
        "abstract": paper.abstract,
        "note": "\n".join(notes),
    }
    return {name: value for name, value in item.items() if value}


def _name(name: str) -> dict[str, str]:
    parts = name_parts(name)
    return {"family": parts[0], "given": parts[1]} if parts else {"literal": name}


def _issued(paper: Paper) -> dict[str, Any] | None:
    """Return the date as CSL has it: as exact as known, the year when the date is another's."""
    parts = [int(p) for p in (paper.published_date or "").split("-") if p.isdigit()]
    if parts and (paper.year is None or parts[0] == paper.year):
        return {"date-parts": [parts[:3]]}
    return {"date-parts": [[paper.year]]} if paper.year is not None else None
