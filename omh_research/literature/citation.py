"""Who and where in print: authors' names, volumes and pages made ready for comparison.

Job: pure rules that read these parts of a citation. Refuses to decide whether two records are one
work (see `matching`). Importers: literature.
"""

from __future__ import annotations

from omh_research.lazy_re import lazy_re
from omh_research.literature.bibrecord import BibRecord
from omh_research.literature.titles import fold, word_set

_WORD = lazy_re(r"[^\W\d_]+")
_INITIALS = lazy_re(r"\b[A-Z]{1,3}\b")
_PARTICLES = word_set(
    "jr sr ii iii iv phd md msc et al and de da do dos du del della der den di la le van von zu "
    "ter ten st the for group collaboration consortium"
)
_MONTHS = {
    month: at
    for at, month in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_MANGLED = lazy_re(r"^\W*(?:(\d{1,2})-([A-Z][a-z]{2})|([A-Z][a-z]{2})-(\d{1,2}))\W*$")
_PLAIN_PAGES = lazy_re(r"[A-Za-z]?0{0,3}(\d{1,7})(?:-{1,2}\d{1,7})?")
_RANGE = lazy_re(r"([A-Za-z]{0,5})0*(\d{1,9})(?:\s*[-–—‐‑−]+\s*[A-Za-z]{0,5}0*(\d{1,9}))?")
_VOLUME = lazy_re(r"^\D{0,12}?(\d{1,6})(?![\d)])")
_LAST_NUMBER = lazy_re(r"(?<!\d)(\d{1,6})$")


def name_words(authors: tuple[str, ...]) -> frozenset[str]:
    """Return the folded words of the authors' names, without initials and particles."""
    text = "\n".join(authors)
    if not text.isupper():
        text = _INITIALS.sub(" ", text)
    words = _WORD.findall(fold(text))
    return frozenset([w for w in words if len(w) > 1 or not w.isascii()]) - _PARTICLES


def names_shared(a: frozenset[str], b: frozenset[str]) -> float | None:
    """Return the share of the shorter author list's words found in the longer; None when unknown.

    Measured on the shorter list, so that one cut to "et al.", or with given names left out,
    still counts whole.
    """
    if not a or not b:
        return None
    return len(a & b) / min(len(a), len(b))


def start_pages(pages: str) -> frozenset[int]:
    """Return the numbers a page field may begin at (several for a list of ranges).

    A range that a spreadsheet turned into a date ("21-Aug" for 21-8) gives both numbers.
    """
    plain = _PLAIN_PAGES.fullmatch(pages)
    if plain:
        return frozenset((int(plain.group(1)),))
    text = pages[:200]
    mangled = _MANGLED.match(text)
    if mangled:
        day = mangled.group(1) or mangled.group(4)
        month = _MONTHS.get((mangled.group(2) or mangled.group(3)).lower())
        return frozenset((int(day), month)) if month else frozenset()
    if "pagination" in text:
        return frozenset()
    return frozenset(int(m.group(2)) for m in _RANGE.finditer(text))


def page_spans(pages: str) -> frozenset[tuple[int, int]]:
    """Return the page ranges of a page field, abbreviated ends made whole ("742-8": 742, 748)."""
    spans = set()
    for match in _RANGE.finditer(pages[:200]):
        first, last = match.group(2), match.group(3)
        if last and len(last) < len(first):
            last = first[: len(first) - len(last)] + last
        spans.add((int(first), int(last or first)))
    return frozenset(spans)


def read_volume(volume: str) -> int | None:
    """Return the volume number; None for none or for a torn field such as "2)"."""
    if volume.isdecimal() and len(volume) < 7:
        return int(volume)
    text = volume[:80].strip()
    found = _VOLUME.match(text) or _LAST_NUMBER.search(text)
    return int(found.group(1)) if found else None


def issue_pages(record: BibRecord) -> frozenset[int]:
    """Return the pages a record may start at; none for pages of an article ahead of print.

    Those count from 1 and have no volume: they say nothing of the place in an issue.
    """
    starts = start_pages(record.pages)
    return frozenset() if 1 in starts and read_volume(record.volume) is None else starts
