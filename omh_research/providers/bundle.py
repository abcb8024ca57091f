"""A literature bundle as search provider and reader (spec B12).

Job: answer searches and reads from the canonical pool of a valid bundle. Refuses the network and
every address outside the pool. Importers: wiring.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from omh_research.documents.source import Hit, Identifiers, Page
from omh_research.literature.pool import PoolPaper, load_pool

if TYPE_CHECKING:
    from omh_research.tools.ranking import Index

PROVIDER = "bundle"
_SNIPPET_CHARS = 300


class BundleSource:
    """`SearchProvider` and `Reader` over a pool. Safe to use from several threads."""

    name = PROVIDER

    def __init__(self, papers: list[PoolPaper]) -> None:
        self._papers = papers
        self._by_url: dict[str, PoolPaper] = {}
        for paper in papers:
            self._by_url.setdefault(paper.url, paper)
        self._lock = threading.Lock()
        self._index: Index | None = None

    def search(self, query: str, *, limit: int = 10) -> list[Hit]:
        """Return at most `limit` papers, best first; those without an abstract come last."""
        if limit < 1:
            return []
        with self._lock:
            found = self._ready().search(query, limit=limit * 3)
        ranked = [self._papers[each.index] for each in found]
        ranked.sort(key=lambda paper: not paper.text)
        return [_hit(paper, rank) for rank, paper in enumerate(ranked[:limit], 1)]

    def read(self, url: str) -> Page:
        """Return a paper's title and abstract; "empty" where the bundle holds no abstract."""
        paper = self._by_url.get(url)
        if paper is None:
            return Page(url, url, "refused", detail="this run reads papers of its bundle only")
        state = "ok" if paper.text else "empty"
        return Page(
            url,
            url,
            state,
            title=paper.title,
            text=paper.text,
            language=paper.language,
            date=paper.date,
            author="; ".join(paper.authors),
            detail="" if paper.text else "the bundle holds no abstract of this paper",
            identifiers=_identifiers(paper),
        )

    def _ready(self) -> Index:
        if self._index is None:
            from omh_research.tools.ranking import Index

            self._index = Index([f"{paper.title}\n{paper.text}" for paper in self._papers])
        return self._index


def _hit(paper: PoolPaper, rank: int) -> Hit:
    snippet = paper.text[:_SNIPPET_CHARS]
    return Hit(paper.url, paper.title, snippet, PROVIDER, rank, paper.date, _identifiers(paper))


def _identifiers(paper: PoolPaper) -> Identifiers:
    return Identifiers(paper.doi, paper.arxiv, paper.pmid)


def open_bundle(folder: str) -> BundleSource:
    """Return the source over the bundle in `folder`.

    Raises:
        DamagedFileError: the bundle does not hold, or its run failed.
    """
    return BundleSource(load_pool(folder))
