"""Whether two records are one work: the rules, most certain first.

Job: one pure verdict on a pair, with the name of the rule that gave it. Refuses to search for
pairs or to build clusters (see `dedupe`). Importers: literature.

A wrong merge loses a paper, a missed one only shows it twice; so whatever conflicts (numbers in
titles, erratum against article, journal against workshop, different first pages, two DOIs of two
publishers) wins over whatever agrees, and absence of evidence never counts as agreement.
"""

from __future__ import annotations

from msgspec import Struct

from omh_research.literature import citation, titles, venues
from omh_research.literature.bibrecord import BibRecord, doi_base
from omh_research.literature.titles import Title
from omh_research.literature.venues import Venue

CITED_SIMILARITY = 0.75


class Features(Struct, frozen=True):
    """One record made ready for comparison with others (built once, when first needed)."""

    record: BibRecord
    title: Title
    names: frozenset[str]
    venue: Venue
    starts: frozenset[int]
    volume: int | None
    doi_base: str


class Verdict(Struct, frozen=True):
    """The outcome for a pair. `rule` names the ground; `strength` orders the merges, 1 first."""

    is_same: bool
    rule: str
    strength: int = 9


SAME_DOI = Verdict(True, "doi", 1)


def features_of(record: BibRecord, title: Title) -> Features:
    """Return the comparison form of a record whose title was read already."""
    return Features(
        record,
        title,
        citation.name_words(record.authors),
        venues.read_venue(record),
        citation.issue_pages(record),
        citation.read_volume(record.volume),
        doi_base(record.doi),
    )


def is_plainly_one(a: BibRecord, b: BibRecord, one: Title, two: Title) -> bool:
    """Tell at a glance what `judge` would say of one DOI under one title (the common case)."""
    same_title = one.compact == two.compact and one.notice == two.notice
    return same_title and bool(a.doi) and a.doi == b.doi


def judge(a: Features, b: Features) -> Verdict:
    """Return whether two records are one work (B7), and by which rule."""
    shared = _shared_identifier(a, b)
    if shared in ("", "doi") and a.title.notice != b.title.notice:
        return Verdict(False, "notice_and_article")
    names = citation.names_shared(a.names, b.names)
    likeness = titles.compare(a.title, b.title)
    if shared:
        return _judge_identified(a, b, shared, likeness, names)
    if a.title.is_null or b.title.is_null:
        return Verdict(False, "no_title")
    gap = _year_gap(a, b)
    if gap is not None and gap > 1:
        return Verdict(False, "years_differ")
    if a.starts and b.starts and not a.starts & b.starts:
        return Verdict(False, "pages_differ")
    if likeness in ("", "worded"):
        return _judge_citation(a, b, likeness, names)
    if names is not None and names <= 0.5 and not (names and _same_place(a, b)):
        return Verdict(False, "authors_differ")
    agree = bool(names)
    if _is_preprint(a) != _is_preprint(b):
        if agree and a.title.weight > 3:
            return Verdict(True, "preprint_of", 4)
        return Verdict(False, "preprint_unproven")
    return _judge_described(a, b, likeness, agree, gap)


def _judge_identified(
    a: Features, b: Features, shared: str, likeness: str, names: float | None
) -> Verdict:
    """Judge records that share an identifier: a shared DOI alone does not join two titles.

    Supplements and proceedings give one DOI to many abstracts; a provider's own record id names
    exactly one record.
    """
    if shared != "doi":
        return Verdict(True, shared, 1)
    if likeness in ("same", "near") or a.title.is_null or b.title.is_null:
        return SAME_DOI
    differ = Verdict(False, "doi_shared_by_titles")
    if a.starts and b.starts and not a.starts & b.starts:
        return differ
    if likeness == "worded" or titles.is_contained(a.title, b.title):
        return differ if names is not None and names <= 0.5 else Verdict(True, "doi", 1)
    if names is None or names <= 0.5:
        return differ
    if titles.similarity(a.title.compact, b.title.compact) >= CITED_SIMILARITY:
        return Verdict(True, "doi", 2)
    return _judge_citation(a, b, likeness, names)


def _judge_citation(a: Features, b: Features, likeness: str, names: float | None) -> Verdict:
    """Judge records whose titles differ but whose whole citation is the same.

    Volume, first page, year, venue and (nearly) all authors agree: then a longer or translated
    form of the title is a form of it. Two abstracts of one group on one page have neither.
    """
    differ = Verdict(False, "titles_differ")
    if names is None or names < 0.75 or not a.starts & b.starts or _volumes_differ(a, b):
        return differ
    spans = citation.page_spans(a.record.pages) & citation.page_spans(b.record.pages)
    is_article = any(end > start for start, end in spans)
    same_venue = venues.venues_agree(a.venue, b.venue) is not False
    if likeness == "worded" and (same_venue or is_article):
        return Verdict(True, "title_and_pages", 3)
    if a.volume is None or b.volume is None:
        return differ
    if titles.is_contained(a.title, b.title) and (same_venue or is_article):
        return Verdict(True, "citation", 3)
    if not same_venue:
        return differ
    alike = titles.similarity(a.title.compact, b.title.compact)
    if alike >= CITED_SIMILARITY and not titles.numbers_differ(a.title, b.title):
        return Verdict(True, "citation", 3)
    if is_article and (a.title.is_translated or b.title.is_translated):
        return Verdict(True, "citation_translated", 4)
    return differ


def _judge_described(
    a: Features, b: Features, likeness: str, agree: bool, gap: int | None
) -> Verdict:
    """Judge records by title, authors, year, venue and pages, no identifier shared."""
    same_venue = venues.venues_agree(a.venue, b.venue)
    volumes_differ = _volumes_differ(a, b)
    same_place = bool(a.starts & b.starts) and not (volumes_differ and same_venue is False)
    if _identifiers_conflict(a, b) and not (same_place and agree):
        return Verdict(False, "identifiers_differ")
    if same_place and (agree or likeness == "same"):
        return Verdict(True, "title_and_pages", 2)
    if not _kinds_agree(a.venue, b.venue):
        return Verdict(False, "venue_kinds_differ")
    if volumes_differ:
        return Verdict(False, "volumes_differ")
    if same_venue is False and not (gap == 0 and _are_bare_conferences(a, b)):
        return Verdict(False, "venues_differ")
    if a.title.is_listed:
        return Verdict(False, "title_too_general")
    if a.title.weight <= 3 and not (agree and gap == 0 and _is_by_several(a, b)):
        # A short title by one author may be a column that comes back with every issue.
        return Verdict(False, "title_too_general")
    if agree:
        if gap == 1 and not same_venue:
            return Verdict(False, "years_differ")
        return Verdict(True, "title_and_authors", 3 if likeness == "same" else 5)
    if likeness == "same" and gap == 0 and a.title.weight >= 5:
        return Verdict(True, "title_and_year", 6)
    return Verdict(False, "authors_unknown")


def _same_place(a: Features, b: Features) -> bool:
    return bool(a.starts & b.starts) and a.volume is not None and a.volume == b.volume


def _volumes_differ(a: Features, b: Features) -> bool:
    return a.volume is not None and b.volume is not None and a.volume != b.volume


def _are_bare_conferences(a: Features, b: Features) -> bool:
    """Tell whether both name a conference and nothing else: it may bear two names."""
    has_pages = bool(a.starts or b.starts or a.volume or b.volume)
    return a.venue.kind == b.venue.kind == "conference" and not has_pages


def _is_by_several(a: Features, b: Features) -> bool:
    return min(len(a.record.authors), len(b.record.authors)) >= 2


def _shared_identifier(a: Features, b: Features) -> str:
    one, two = a.record, b.record
    if one.doi and one.doi == two.doi:
        return "doi"
    for name in ("pmid", "arxiv", "openalex", "semantic_scholar"):
        value: str = getattr(one, name)
        if value and value == getattr(two, name):
            return name
    return ""


def _identifiers_conflict(a: Features, b: Features) -> bool:
    """Tell whether one registry holds the two records as two works (versions aside)."""
    one, two = a.record, b.record
    if one.doi and two.doi and a.doi_base != b.doi_base:
        return True
    return any(
        getattr(one, name) and getattr(two, name)
        for name in ("pmid", "arxiv", "openalex", "semantic_scholar")
    )


def _is_preprint(features: Features) -> bool:
    return features.venue.kind == "preprint"


def _kinds_agree(a: Venue, b: Venue) -> bool:
    """Journal, conference and workshop versions of one title are different publications."""
    return not a.kind or not b.kind or a.kind == b.kind


def _year_gap(a: Features, b: Features) -> int | None:
    one, two = a.record.year, b.record.year
    return None if one is None or two is None else abs(one - two)
