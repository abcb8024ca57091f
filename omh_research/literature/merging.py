"""From hits to canonical papers: one for each work, with all its sources (B7).

Job: merge the members of each cluster into one paper, keep every source and match, and say which
members were joined and why one is canonical. Pure; refuses to decide what is one work (see
`dedupe`). Importers: literature.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from omh_research.literature.bibrecord import BibRecord
from omh_research.literature.dedupe import Deduplication, canonical_key, dedupe
from omh_research.literature.record import (
    Identifiers,
    Paper,
    Publication,
    QueryMatch,
    bib_of,
    flatten,
    gaps_of,
    ids_of,
)

# The parts of `dedupe.canonical_key`, in its order.
_GROUNDS = (
    "published version over preprint",
    "has a DOI",
    "has year and venue",
    "has an abstract",
    "names more authors",
    "found earlier",
)
_FILLED = ("venue", "year", "published_date", "online_date", "url")


class MergedPool(Struct, frozen=True):
    """Canonical papers in order of first appearance, and the place of each hit among them."""

    papers: tuple[Paper, ...]
    paper_of_hit: tuple[int, ...]
    outcome: Deduplication
    grounds: tuple[str, ...]


def merge_hits(hits: Sequence[Paper]) -> MergedPool:
    """Return the canonical pool of the hits."""
    bibs = [bib_of(hit, rank) for rank, hit in enumerate(hits)]
    outcome = dedupe(bibs)
    papers: list[Paper] = []
    grounds: list[str] = []
    place = [0] * len(hits)
    taken: set[str] = set()
    for at, cluster in enumerate(outcome.clusters):
        members = sorted(cluster[1:], key=lambda i: canonical_key(bibs[i]))
        paper = _merge(
            hits[cluster[0]], [hits[i] for i in members], [hits[i] for i in sorted(cluster)]
        )
        paper = _with_free_id(paper, taken)
        papers.append(paper)
        grounds.append(_ground(bibs[cluster[0]], bibs[members[0]]) if members else "")
        for i in cluster:
            place[i] = at
    return MergedPool(tuple(papers), tuple(place), outcome, tuple(grounds))


def _merge(canonical: Paper, others: Sequence[Paper], in_order: Sequence[Paper]) -> Paper:
    """Return the canonical member, its gaps filled from the others, all sources kept."""
    kind = bool(canonical.publication.is_preprint)
    filled: dict[str, Any] = {
        name: _first([getattr(p, name) for p in (canonical, *others)]) for name in _FILLED
    }
    identifiers = Identifiers(
        # A preprint's DOI names the preprint, not the published work.
        doi=_first(
            p.identifiers.doi
            for p in (canonical, *others)
            if p is canonical or bool(p.publication.is_preprint) == kind
        ),
        pmid=_first(p.identifiers.pmid for p in (canonical, *others)),
        arxiv=_first(p.identifiers.arxiv for p in (canonical, *others)),
        openalex=_first(p.identifiers.openalex for p in (canonical, *others)),
        semantic_scholar=_first(p.identifiers.semantic_scholar for p in (canonical, *others)),
    )
    told = next((p for p in (canonical, *others) if p.abstract), None)
    authors = canonical.authors or next((p.authors for p in others if p.authors), ())
    gaps = gaps_of(authors, filled["year"], identifiers, filled["url"])
    kept = {w for p in in_order for w in p.quality_warnings if not w.startswith("missing_")}
    return flatten(
        msgspec.structs.replace(
            canonical,
            **filled,
            record_id=ids_of(canonical.title, authors, filled["year"], identifiers)[0],
            authors=authors,
            identifiers=identifiers,
            abstract=told.abstract if told else None,
            abstract_status="present" if told else "not_requested",
            abstract_provenance=told.abstract_provenance if told else None,
            publication=_publication(canonical, others),
            sources=tuple(s for p in in_order for s in p.sources),
            query_matches=_matches(in_order),
            quality_warnings=tuple(sorted(kept | {f"missing_{gap}" for gap in gaps})),
        )
    )


def _publication(canonical: Paper, others: Sequence[Paper]) -> Publication:
    """Fill what the canonical member does not say from members of the same kind only."""
    kind = bool(canonical.publication.is_preprint)
    alike = [p.publication for p in others if bool(p.publication.is_preprint) == kind]
    chain = [canonical.publication, *alike]
    return Publication(
        **{n: _first(getattr(p, n) for p in chain) for n in Publication.__struct_fields__}
    )


def _first(values: Any) -> Any:
    return next((value for value in values if value not in (None, "")), None)


def _matches(papers: Sequence[Paper]) -> tuple[QueryMatch, ...]:
    best: dict[tuple[str, str], int] = {}
    for paper in papers:
        for match in paper.query_matches:
            key = (match.query_id, match.provider)
            best[key] = min(match.rank, best.get(key, match.rank))
    return tuple(QueryMatch(query, provider, rank) for (query, provider), rank in best.items())


def _with_free_id(paper: Paper, taken: set[str]) -> Paper:
    """Give the paper the first of its ids that no other paper bears.

    Two works can share a DOI (a supplement's) or a title; the ids must still tell them apart.
    """
    ids = ids_of(paper.title, paper.authors, paper.year, paper.identifiers)
    number = 2
    chosen = next((each for each in ids if each not in taken), "")
    while not chosen:
        chosen = f"{ids[-1]}-{number}" if f"{ids[-1]}-{number}" not in taken else ""
        number += 1
    taken.add(chosen)
    if chosen == paper.record_id:
        return paper
    warnings = tuple(sorted({*paper.quality_warnings, "shared_identifier"}))
    return msgspec.structs.replace(paper, record_id=chosen, quality_warnings=warnings)


def _ground(chosen: BibRecord, runner_up: BibRecord) -> str:
    """Return why the canonical member was preferred to the next best one."""
    pairs = zip(canonical_key(chosen), canonical_key(runner_up), strict=True)
    for ground, (one, other) in zip(_GROUNDS, pairs, strict=False):
        if one != other:
            return ground
    return "same content"


def dedupe_map(hits: Sequence[Paper], pool: MergedPool) -> dict[str, Any]:
    """Return the content of `dedupe_map.json`: merge edges, and each merged cluster's ground.

    Lines count from 1 in `candidates_normalized`.
    """

    def member(at: int) -> dict[str, Any]:
        """Return how the map names a hit."""
        return {"line": at + 1, "record_id": hits[at].record_id}

    clusters = [
        {
            "canonical_id": paper.record_id,
            "canonical": member(cluster[0]),
            "ground": ground,
            "members": [member(i) for i in sorted(cluster)],
        }
        for paper, cluster, ground in zip(
            pool.papers, pool.outcome.clusters, pool.grounds, strict=True
        )
        if len(cluster) > 1
    ]
    edges = [
        {"left": member(edge.left), "right": member(edge.right), "rule": edge.rule}
        for edge in pool.outcome.edges
    ]
    edges.sort(key=lambda e: (e["left"]["line"], e["right"]["line"]))  # type: ignore[index]
    return {"clusters": clusters, "edges": edges}
