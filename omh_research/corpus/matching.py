"""Which documents of the index answer a question.

Job: the query's telling terms, and the best passage of each of the best documents. Refuses to
write. Importers: corpus.
"""

from __future__ import annotations

import sqlite3

from omh_research.tools.ranking import MAX_QUERY_TERMS
from omh_research.tools.tokens import query_words, search_terms

# Terms in more than a tenth of many passages cost time and tell nothing.
_COMMON_SHARE = 0.1
_COMMON_FROM = 50_000
# Passages asked for at first, per document wanted; so many times more each further time.
_PASSAGES_A_HIT = 6
_MORE_PASSAGES = 4
_LEFT_OUT = 400  # documents; an old SQLite takes 999 variables and expressions 1,000 deep


def best_passages(connection: sqlite3.Connection, query: str, limit: int) -> dict[int, str]:
    """Return the best passage of each of the `limit` best documents (by id), best first.

    A document that is found is asked no more: however many of its passages would come next,
    they take no other document's place.
    """
    terms = _query_terms(query)
    if not terms:
        return {}
    expression = _any_of(_telling(connection, terms))
    best: dict[int, str] = {}
    spans: list[int] = []
    count = limit * _PASSAGES_A_HIT
    while len(best) < limit:
        spans = spans[: 2 * _LEFT_OUT]
        others = " AND rowid NOT BETWEEN ? AND ?" * (len(spans) // 2)
        rows = connection.execute(
            f"SELECT rowid FROM words WHERE words MATCH ?{others} ORDER BY rank, rowid LIMIT ?",
            (expression, *spans, count),
        ).fetchall()
        for (rowid,) in rows:
            document, first, last, text = connection.execute(
                "SELECT document, first, last, text FROM passage JOIN document "
                "ON document.id = document WHERE passage.id = ?",
                (rowid,),
            ).fetchone()
            if document not in best:
                best[document] = text
                spans += (first, last)
                if len(best) == limit:
                    break
        if len(rows) < count:
            break
        count *= _MORE_PASSAGES
    return best


def _telling(connection: sqlite3.Connection, terms: list[str]) -> list[str]:
    """Drop terms that most of a large corpus shares, unless nothing else is left."""
    total = connection.execute("SELECT max(id) FROM passage").fetchone()[0] or 0
    if total < _COMMON_FROM or len(terms) < 3:
        return terms
    most = int(total * _COMMON_SHARE)
    rare = []
    for term in terms:
        row = connection.execute(
            "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)",
            (_any_of([term]), most),
        ).fetchone()
        if row[0] < most:
            rare.append(term)
    if len(rare) < 2 or len(rare) == len(terms):
        return terms
    # What one long document repeats is no common word of the others.
    (longest,) = connection.execute("SELECT max(last - first) FROM document").fetchone()
    return terms if longest + 1 >= most else rare


def _query_terms(query: str) -> list[str]:
    """Distinct terms as the index holds them; without content words all words count."""
    return list(dict.fromkeys(search_terms(query_words(query))))[:MAX_QUERY_TERMS]


def _any_of(terms: list[str]) -> str:
    return " OR ".join(f'"{term}"' for term in terms)
