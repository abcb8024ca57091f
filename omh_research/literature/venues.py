"""Where a work was published: the kind of place, and whether two names mean one venue.

Job: pure rules on venue names, publication types and preprint DOIs. Refuses to decide whether two
records are one work (see `matching`). Importers: literature.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from omh_research.lazy_re import lazy_re
from omh_research.literature.bibrecord import BibRecord
from omh_research.literature.titles import fold, word_set

_WORD = lazy_re(r"[^\W\d_]+")
# "Circulation. Conference: Scientific Sessions" is a supplement of the journal Circulation.
_SUPPLEMENT = lazy_re(r"\.\s*Conference(?: Publication)?:.*$", re.IGNORECASE | re.DOTALL)
_PREPRINT_DOI = lazy_re(
    r"^10\.(?:48550/|1101/(?:\d{6}$|\d{4}\.\d\d\.\d\d\.)|64898/|2139/ssrn|21203/|20944/|31234/|"
    r"31235/|31219/|26434/|36227/|7287/peerj\.preprints|22541/|14293/|2196/preprints|"
    r"36443/10|32388/|55277/|1149/osf|5194/(?:egusphere|[a-z]+-20\d\d-))"
)
_PREPRINT_VENUE = lazy_re(
    r"\b(?:arxiv|biorxiv|medrxiv|chemrxiv|psyarxiv|socarxiv|eartharxiv|techrxiv|engrxiv|ssrn|"
    r"preprints?|research square|authorea|corr|e-?print)\b",
    re.IGNORECASE,
)
_KINDS = (
    ("workshop", lazy_re(r"\bworkshops?\b")),
    ("journal", lazy_re(
        r"\b(?:journal|j|transactions|trans|annals|archives|letters|magazine|record|review|"
        r"reviews|quarterly|bulletin|zeitschrift|revista|acta|rundschau|lancet|bmj|jama|pnas|"
        r"proc(?:eedings)? of the (?:\w+ ){0,3}?(?:academy|society|royal|endowment|ieee$))\b")),
    ("conference", lazy_re(
        r"\b(?:conference|conf|proceedings|proc|symposium|symp|congress|meeting|colloquium)\b")),
    ("thesis", lazy_re(r"\b(?:thesis|dissertation)\b")),
)  # fmt: skip
_VENUE_STOP = word_set(
    "the a an of on for in and und et de der die des la le du to journal j international intl int "
    "proceedings proc conference conf annual meeting acm ieee print online electronic series "
    "section part new supplement suppl supplementum uk us"
)
_SMALL = word_set("the a an of on for in and und et de der die des la le du to")
_TYPE_KIND = {
    "journal-article": "journal", "article": "", "inproceedings": "conference",
    "proceedings-article": "conference", "conference": "conference", "phdthesis": "thesis",
    "dissertation": "thesis", "thesis": "thesis", "book": "book", "book-chapter": "chapter",
    "incollection": "chapter", "posted-content": "preprint", "preprint": "preprint",
}  # fmt: skip


class Venue(Struct, frozen=True):
    """A venue made ready: its kind, its words that matter, and its initials.

    `initials` holds those of all words and, after a space, those without the small words.
    """

    kind: str
    words: tuple[str, ...]
    initials: str


def read_venue(record: BibRecord) -> Venue:
    """Return where a record was published; kind "" when unknown, "preprint" for a server."""
    stated = _TYPE_KIND.get(record.publication_type.lower(), "")
    named = _read_venue_name(_SUPPLEMENT.sub("", record.venue[:300]))
    kind = "preprint" if is_preprint(record) else named.kind or stated
    return named if kind == named.kind else Venue(kind, named.words, named.initials)


@lru_cache(maxsize=4_096)
def _read_venue_name(name: str) -> Venue:
    folded = fold(name)
    kind = next((kind for kind, pattern in _KINDS if pattern.search(folded)), "")
    words = _WORD.findall(folded)
    kept = tuple(w for w in words if w not in _VENUE_STOP) or tuple(words)
    return Venue(kind, kept, _initials(words))


def _initials(words: list[str]) -> str:
    main = "".join([w[0] for w in words if w not in _SMALL])
    return f"{''.join([w[0] for w in words])} {main}"


def is_preprint(record: BibRecord) -> bool:
    """Tell whether flag, type, DOI, venue or a bare arXiv id says the record is a preprint."""
    if record.is_preprint or _TYPE_KIND.get(record.publication_type.lower()) == "preprint":
        return True
    if record.doi:
        return bool(_PREPRINT_DOI.match(record.doi))
    if record.venue:
        return bool(_PREPRINT_VENUE.search(record.venue))
    return bool(record.arxiv)


def venues_agree(a: Venue, b: Venue) -> bool | None:
    """Tell whether two venue names may mean one venue; None when either is empty.

    Abbreviations ("Curr Vasc Pharmacol"), acronyms ("VLDB") and longer forms of the same name
    agree; the kinds are not looked at.
    """
    if not a.words or not b.words:
        return None
    if a.kind == b.kind == "preprint":
        return True
    short, long = sorted((a, b), key=lambda v: len(v.words))
    if _abbreviates(short.words, long.words):
        return True
    for one, other in ((short, long), (long, short)):
        for word in one.words:
            if len(word) >= 3 and _is_acronym(word, other):
                return True
    return False


def _abbreviates(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """Every word of the shorter name begins, in order, a word of the longer (either way)."""
    at = 0
    for word in short:
        while at < len(long):
            other = long[at]
            at += 1
            if other.startswith(word) or word.startswith(other) or _contracts(word, other):
                break
        else:
            return False
    return True


def _contracts(word: str, other: str) -> bool:
    """Tell whether one word is a contraction of the other ("natl", "dtsch", "atheroscler")."""
    short, long = sorted((word, other), key=len)
    if len(short) < 3 or short[0] != long[0]:
        return False
    rest = iter(long)
    return all(c in rest for c in short) and len(short) * 3 >= len(long)


def _is_acronym(word: str, venue: Venue) -> bool:
    """Tell whether a word is built from the initials of a name, in order ("sigmod", "vldb")."""
    initials = venue.initials
    return len(venue.words) > 1 and (word in initials or (len(word) > 3 and word[-3:] in initials))
