"""A bundle's pool as a source of a run (B12, B15).

Job: hand out the canonical papers of a bundle, only through a manifest that holds, never merged
again. Refuses failed and damaged bundles. Importers: literature, providers.bundle.
"""

from __future__ import annotations

from urllib.parse import quote

from msgspec import Struct

from omh_research.errors import DamagedFileError
from omh_research.literature.manifest import Manifest
from omh_research.literature.record import Paper
from omh_research.literature.validate import check_bundle

SCHEME = "bundle:"


class PoolPaper(Struct, frozen=True):
    """One paper as a source: `text` is its abstract, "" when the bundle has none.

    `url` is the DOI's address where there is one, else the provider's, else `bundle:RECORD_ID`.
    `date` is as exact as known ("2024", "2024-03-28"), "" when unknown.
    """

    record_id: str
    url: str
    title: str
    text: str
    date: str = ""
    authors: tuple[str, ...] = ()
    venue: str = ""
    year: int | None = None
    doi: str | None = None
    arxiv: str | None = None
    pmid: str | None = None
    language: str = ""
    publication_type: str = ""
    is_preprint: bool | None = None


def open_checked(folder: str) -> tuple[Manifest, tuple[Paper, ...]]:
    """Return manifest and canonical papers of a bundle.

    Raises:
        DamagedFileError: the bundle does not hold, or its run failed.
    """
    check = check_bundle(folder)
    if check.problems or check.manifest is None:
        more = f" (and {len(check.problems) - 1} more)" if len(check.problems) > 1 else ""
        raise DamagedFileError(
            f"The bundle does not hold: {check.problems[0]}{more}",
            hint="See `omh-research literature validate`.",
        )
    if not check.is_usable:
        raise DamagedFileError(
            f"The bundle's search failed ({check.manifest.failure_code}).",
            hint="Run the search again.",
        )
    return check.manifest, check.papers


def load_pool(folder: str) -> list[PoolPaper]:
    """Return the papers of a bundle in its order.

    Raises:
        DamagedFileError: the bundle does not hold, or its run failed.
    """
    return [_pool_paper(paper) for paper in open_checked(folder)[1]]


def _pool_paper(paper: Paper) -> PoolPaper:
    ids = paper.identifiers
    return PoolPaper(
        record_id=paper.record_id,
        url=address_of(paper),
        title=paper.title,
        text=paper.abstract or "",
        date=paper.published_date or (str(paper.year) if paper.year is not None else ""),
        authors=paper.authors,
        venue=paper.venue or "",
        year=paper.year,
        doi=ids.doi,
        arxiv=ids.arxiv,
        pmid=ids.pmid,
        language=paper.publication.language or "",
        publication_type=paper.publication.publication_type or "",
        is_preprint=paper.publication.is_preprint,
    )


def address_of(paper: Paper) -> str:
    """Return the address a report cites the paper by."""
    ids = paper.identifiers
    if ids.doi:
        return f"https://doi.org/{quote(ids.doi, safe='/:;()._-')}"
    if ids.arxiv:
        return f"https://arxiv.org/abs/{ids.arxiv}"
    if ids.pmid:
        return f"https://pubmed.ncbi.nlm.nih.gov/{ids.pmid}/"
    if paper.url and paper.url.startswith(("https://", "http://")):
        return paper.url
    return f"{SCHEME}{quote(paper.record_id, safe=':')}"
