"""Ranking: BM25 over passages held in memory, in any script.

Job: order passages by relevance to a query. Two engines with one meaning: SQLite's FTS5 for much
text (82-dependencies 2.4: as fast as anything measured, no package), pure Python for little text
and for a Python whose SQLite lacks FTS5. Refuses to read files or to cut text into passages.
Importers: tools, corpus, delegates, phases.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from omh_research.lazy_re import lazy_re
from omh_research.tools.tokens import (
    han_characters,
    query_words,
    search_terms,
    terms,
    tokenize,
    words,
)

if TYPE_CHECKING:
    import sqlite3

K1 = 1.2
B = 0.75
# Below this, building the SQLite table costs more than it saves.
SMALL_CHARS = 30_000
MAX_QUERY_TERMS = 128
# A term in more than half of the passages says nothing about any of them (when there are many).
_COMMON_SHARE = 0.5
# Text that FTS5's own tokeniser reads as `tokens.fold` would: ASCII, accented Latin letters without
# special folds, punctuation. Everything else is folded and cut by us first.
NEEDS_FOLDING = lazy_re(
    "[^\x00-\x7f\u00a1-\u00a7\u00a9\u00ab\u00ac\u00b0\u00b1\u00b6\u00b7\u00bb\u00bf-\u00c5\u00c7-\u00cf"
    "\u00d1-\u00d7\u00d9-\u00dd\u00e0-\u00e5\u00e7-\u00ef\u00f1-\u00f7\u00f9-\u00fd\u00ff-\u010f"
    "\u2010-\u2023\u2030-\u203a\u20ac\u2190-\u2193\u2212\u2500-\u257f]"
)
TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"


class Ranked(Struct, frozen=True):
    """A passage by its place in the sequence given, and its BM25 score (more is better, > 0)."""

    index: int
    score: float


class _Engine(Protocol):
    def search(self, query: str, limit: int) -> list[Ranked]: ...


def _distinct(terms: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(terms))[:MAX_QUERY_TERMS]


def _best(scores: Iterable[tuple[int, float]], limit: int) -> list[Ranked]:
    best = heapq.nsmallest(limit, ((-score, index) for index, score in scores if score > 0))
    return [Ranked(index, -score) for score, index in best]


def inverse_frequency(total: int, containing: int) -> float:
    """BM25's weight of a term found in `containing` of `total` passages (never negative)."""
    return math.log(1 + (total - containing + 0.5) / (containing + 0.5))


class Bm25:
    """BM25 over passages already given as tokens: every one's score for a set of terms.

    `gain` is the most that one term can add, in units of its weight.
    """

    def __init__(self, documents: Iterable[Sequence[str]], *, k1: float = K1, b: float = B) -> None:
        self.postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        lengths: list[int] = []
        for index, tokens in enumerate(documents):
            lengths.append(len(tokens))
            for token, count in Counter(tokens).items():
                self.postings[token].append((index, count))
        average = sum(lengths) / len(lengths) if lengths and any(lengths) else 1.0
        self.total = len(lengths)
        self.gain = k1 + 1
        self._norms = [k1 * (1 - b + b * length / average) for length in lengths]

    def weight(self, term: str) -> float:
        """The inverse document frequency of a term; that of an unseen term is the highest."""
        return inverse_frequency(self.total, len(self.postings.get(term, ())))

    def scores(self, terms: Iterable[str]) -> dict[int, float]:
        """Score by document index, only of documents that hold a term."""
        scores: dict[int, float] = defaultdict(float)
        for term in terms:
            found = self.postings.get(term)
            if not found:
                continue
            weight = inverse_frequency(self.total, len(found)) * self.gain
            for index, count in found:
                scores[index] += weight * count / (count + self._norms[index])
        return scores


def _passage_tokens(passage: str) -> list[str]:
    if passage.isascii():
        return tokenize(passage)
    found = words(passage)
    return [*terms(found), *han_characters(found)]


class _PureEngine:
    """BM25 in Python alone."""

    def __init__(self, passages: Sequence[str]) -> None:
        self._model = Bm25(map(_passage_tokens, passages))

    def search(self, query: str, limit: int) -> list[Ranked]:
        asked = query_words(query)
        wanted = _distinct((*terms(asked), *han_characters(asked)))
        return _best(self._model.scores(wanted).items(), limit)


def search_text(passage: str) -> str:
    """A passage as FTS5 (with TOKENIZER) should index it: as it is, or folded and cut by us."""
    if passage.isascii() or not NEEDS_FOLDING.search(passage):
        return passage
    return " ".join(search_terms(words(passage)))


def _indexed_text(passage: str) -> str:
    """`search_text` with the single Han characters of the passage beside its bigrams."""
    if passage.isascii() or not NEEDS_FOLDING.search(passage):
        return passage
    found = words(passage)
    return " ".join((*search_terms(found), *han_characters(found)))


def match_expression(query: str) -> str:
    """The FTS5 expression that finds passages holding any content term of the query, or ""."""
    asked = query_words(query)
    wanted = _distinct((*search_terms(asked), *han_characters(asked)))
    return " OR ".join(f'"{term}"' for term in wanted)


class _Fts5Engine:
    """BM25 by SQLite's FTS5: a table in memory that keeps the index and not the text."""

    def __init__(self, passages: Sequence[str]) -> None:
        self._db = _connect()
        self._db.execute(
            f'create virtual table passage using fts5(text, content="", tokenize="{TOKENIZER}")'
        )
        rows = ((number, _indexed_text(text)) for number, text in enumerate(passages, 1))
        self._db.executemany("insert into passage(rowid, text) values (?, ?)", rows)
        self._db.commit()

    def search(self, query: str, limit: int) -> list[Ranked]:
        expression = match_expression(query)
        if not expression:
            return []
        rows = self._db.execute(
            "select rowid, rank from passage where passage match ? order by rank limit ?",
            (expression, limit),
        )
        return _best(((row - 1, -rank) for row, rank in rows), limit)


def _connect() -> sqlite3.Connection:
    import sqlite3

    return sqlite3.connect(":memory:", isolation_level="DEFERRED", check_same_thread=False)


def _build(passages: Sequence[str]) -> _Engine:
    if sum(map(len, passages)) > SMALL_CHARS:
        try:
            return _Fts5Engine(passages)
        except (ImportError, _operational_error()):
            pass  # this Python's SQLite has no FTS5
    return _PureEngine(passages)


def _operational_error() -> type[Exception]:
    try:
        import sqlite3
    except ImportError:
        return ImportError
    return sqlite3.OperationalError


class Index:
    """Passages made ready once for many queries; the passages themselves are not kept."""

    def __init__(self, passages: Sequence[str]) -> None:
        self._size = len(passages)
        self._engine = _build(passages)

    def __len__(self) -> int:
        return self._size

    def search(self, query: str, *, limit: int = 20) -> list[Ranked]:
        """The best passages for the query, best first, ties in their order; at most `limit`.

        Stop words of the query's language count only when there is nothing else. A passage
        without any term of the query is not returned, so the answer may be shorter or empty.
        """
        if limit < 1 or not self._size:
            return []
        return self._engine.search(query, limit)


def rank(query: str, passages: Sequence[str], *, limit: int = 20) -> list[Ranked]:
    """One query against passages: `Index(passages).search(query, limit=limit)`."""
    return Index(passages).search(query, limit=limit)
