"""What the export formats share: kinds of publication, names in two parts, citation keys.

Job: pure helpers for the writers. Refuses to write a format. Importers: literature.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from msgspec import Struct

from omh_research.lazy_re import lazy_re
from omh_research.literature.record import Paper
from omh_research.literature.titles import fold, tokens_of


class Kind(Struct, frozen=True):
    """One kind of publication in the words of each format."""

    bibtex: str
    ris: str
    csl: str


ARTICLE = Kind("article", "JOUR", "article-journal")
_PREPRINT = Kind("misc", "UNPB", "article")
_OTHER = Kind("misc", "GEN", "document")
_CONFERENCE = Kind("inproceedings", "CPAPER", "paper-conference")
_KINDS = {
    "article": ARTICLE,
    "journal-article": ARTICLE,
    "review": ARTICLE,
    "letter": ARTICLE,
    "letters-and-comments": ARTICLE,
    "editorial": ARTICLE,
    "erratum": ARTICLE,
    "case-report": ARTICLE,
    "clinical-trial": ARTICLE,
    "meta-analysis": ARTICLE,
    "study": ARTICLE,
    "news": Kind("article", "NEWS", "article-newspaper"),
    "proceedings-article": _CONFERENCE,
    "conference": _CONFERENCE,
    "conference-paper": _CONFERENCE,
    "book": Kind("book", "BOOK", "book"),
    "monograph": Kind("book", "BOOK", "book"),
    "book-chapter": Kind("incollection", "CHAP", "chapter"),
    "book-section": Kind("incollection", "CHAP", "chapter"),
    "reference-entry": Kind("incollection", "ENCYC", "entry-encyclopedia"),
    "dissertation": Kind("phdthesis", "THES", "thesis"),
    "report": Kind("techreport", "RPRT", "report"),
    "dataset": Kind("misc", "DATA", "dataset"),
    "preprint": _PREPRINT,
    "posted-content": _PREPRINT,
}

_PARTICLES = frozenset(
    ("van", "von", "der", "den", "de", "da", "di", "del", "la", "le", "ter", "ten")
)
_SUFFIXES = frozenset(("jr", "jr.", "sr", "sr.", "ii", "iii", "iv"))
_COLLECTIVE = lazy_re(
    r"\b(?:group|team|consortium|collaboration|committee|society|university|institute|network|"
    r"investigators|association|organi[sz]ation|agency|ministry|foundation|inc|ltd|the|for|of)\b",
    re.IGNORECASE,
)


def kind_of(paper: Paper) -> Kind:
    """Return the kind of a paper; a venue without a known type makes it an article."""
    if paper.publication.is_preprint:
        return _PREPRINT
    word = (paper.publication.publication_type or "").lower()
    return _KINDS.get(word) or (ARTICLE if paper.venue else _OTHER)


def name_parts(name: str) -> tuple[str, str] | None:
    """Return (family, given) of a person's name in Latin script, None where that is a guess.

    "Jane van der Berg" gives ("van der Berg", "Jane"); organisations, single words and names in
    other scripts are not taken apart.
    """
    if name.count(",") == 1:
        family, given = (part.strip() for part in name.split(","))
        return (family, given) if family and given else None
    words = name.split()
    if not 2 <= len(words) <= 6 or "," in name or _COLLECTIVE.search(name):
        return None
    letters = [c for c in name if c.isalpha()]
    if not letters or any("LATIN" not in unicodedata.name(c, "") for c in letters):
        return None
    end = len(words) - 1
    if words[end].lower() in _SUFFIXES or not words[end][:1].isalpha():
        return None
    start = end
    while start > 1 and words[start - 1].lower() in _PARTICLES and words[start - 1].islower():
        start -= 1
    return " ".join(words[start:]), " ".join(words[:start])


def citation_keys(papers: Sequence[Paper]) -> list[str]:
    """Return one key for each paper: first author's family name, year, first title word."""
    taken: set[str] = set()
    keys: list[str] = []
    for paper in papers:
        base = _plain_key(paper)
        key, number = base, 1
        while key.lower() in taken:
            number += 1
            key = f"{base}-{number}"
        taken.add(key.lower())
        keys.append(key)
    return keys


def _plain_key(paper: Paper) -> str:
    name = paper.authors[0] if paper.authors else ""
    parts = name_parts(name)
    family = _ascii_word(parts[0] if parts else name) or "anon"
    words = (_ascii_word(w) for w in tokens_of(fold(paper.title)))
    word = next((w for w in words if len(w) > 3), "")
    return f"{family[:30]}{paper.year or ''}{word[:20]}"


def _ascii_word(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", fold(text).encode("ascii", "ignore").decode())
