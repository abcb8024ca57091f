"""Persistent identifiers of works: DOI, arXiv id, PubMed id (spec T14, complaint 23).

Job: find them in text and addresses, put them in one form, and give each work one key, so that
the abstract page, the PDF, version 2, the DOI link and the PubMed page of one paper are one
source. Refuses to look anything up. Importers: everybody above documents.

DOIs are lower case from `10.` on (the DOI Handbook: names are case-insensitive). arXiv ids carry
no version.
"""

from __future__ import annotations

from urllib.parse import unquote

from omh_research.lazy_re import lazy_re
from omh_research.tools.urls import canonical

# DOI syntax: "10.", registrant code, "/", suffix. Real suffixes are ASCII without spaces.
_DOI = lazy_re(r"10\.\d{4,9}(?:\.\d{1,9}){0,3}/[!#-&'-@A-\[\]^_a-z{}~]+")
_DOI_WHOLE = lazy_re(r"10\.\d{4,9}(?:\.\d{1,9}){0,3}/[!-~]+")
_DOI_LEAD = lazy_re(r"(?i)(?:https?://)?(?:www\.|dx\.)?doi\.org/|(?:doi|info:doi)\s*[:/]?\s*")
_INVISIBLE = lazy_re("[\u00ad\u200b-\u200f\u2060\ufeff]")
_DASHES = lazy_re("[\u2010-\u2015\u2212]")
_END = ".,;:'\"!?*_`~\\|^&"
_PAIRS = {")": "(", "]": "[", "}": "{", ">": "<"}
_STOPS = lazy_re(
    r"](?:\(|\[)|\)\[|</|&(?:quot|lt|gt|nbsp);|['\"]>|[?#]|&[a-z_]+=|[,;](?=10\.\d{4,9}/)"
)
_LANDING = lazy_re(
    r"(?i)(?:\.full(?:\.pdf|-text|\.txt)?|\.(?:pdf|epub|html?|xml|abstract|short|long)|\.supplementary"
    r"-material|/(?:full|fulltext|abstract|pdf|epdf|epub|meta|html|summary|references|citations|suppinfo"
    r"|download|figure|figures|metrics|xml|text|asset))+/?$"
)
_PREPRINT_VERSION = lazy_re(r"(?<=\d)v\d{1,2}$")
_ARXIV_ID = r"(?:\d{4}\.\d{4,5}|[a-z\-]{2,12}(?:\.[A-Z]{2})?/\d{7})"
_ARXIV = lazy_re(
    rf"(?i:(?<![a-z0-9])arxiv(?:\s*[:.]\s*|\s+)|(?:(?:www|export|[a-z]{{2}})\.)?(?:arxiv|ar5iv|alphaxiv)\.org/"
    rf"(?:abs|pdf|html|ps|format|e-print|src|overview)/|10\.48550/arxiv\.)({_ARXIV_ID})(?!\d)",
    needs=("arxiv", "ar5iv", "alphaxiv"),
)
_PMID = lazy_re(
    r"(?i:pubmed\.ncbi\.nlm\.nih\.gov/|ncbi\.nlm\.nih\.gov/(?:m/)?pubmed/|europepmc\.org/"
    r"(?:article|abstract)/med/|(?<![a-z])pmid\s*:?\s*)(\d{1,8})(?!\d)",
    needs=("pubmed", "/med/", "pmid"),
)
_PMC = lazy_re(
    r"(?i:(?:pmc\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pmc|europepmc\.org)/articles?/(?:pmc/)?)"
    r"PMC(\d{1,9})",
    needs=("pmc",),
)
# Publishers whose addresses spell the DOI another way: pattern, DOI built from its groups.
_SPELLED = (
    (
        lazy_re(
            r"https://nature\.com/articles/((?:s\d{5}|n[a-z]{2,12})-?[\w-]*\d[\w-]*)",
            needs=("//nature.",),
        ),
        "10.1038/{}",
    ),
    (lazy_re(r"https://zenodo\.org/records?/(\d+)", needs=("zenodo",)), "10.5281/zenodo.{}"),
    (
        lazy_re(r"https://papers\.ssrn\.com/.*[?&]abstract_?id=(\d+)", needs=("papers.ssrn",)),
        "10.2139/ssrn.{}",
    ),
    (
        lazy_re(r"https://elifesciences\.org/articles/(\d{4,6})", needs=("elifesciences",)),
        "10.7554/elife.{}",
    ),
)


def normalise_doi(s: str) -> str | None:
    """Return the DOI that `s` is or holds, as `10.…` in lower case, or None if there is none.

    Accepts `doi:`, resolver addresses, percent-encoding, HTML escapes, dashes from typesetting
    and text before it.
    """
    found = find_dois(s)
    return found[0] if found else None


def is_doi(s: str) -> bool:
    """Say whether the whole of `s` is one well-formed DOI (with or without `doi:` or resolver)."""
    text = _clean(s).strip()
    lead = _DOI_LEAD.match(text)
    return _DOI_WHOLE.fullmatch(text[lead.end() :] if lead else text) is not None


def find_dois(text: str) -> list[str]:
    """Return the DOIs in `text`, lower case, each once, in order of first appearance."""
    if "10." not in text:
        return []
    found: dict[str, None] = {}
    clean, at = _clean(text), 0
    while match := _DOI.search(clean, at):
        before = clean[match.start() - 1 : match.start()]
        doi = None if before.isalnum() or before == "." else _trim_doi(match[0])
        if doi is not None:
            found[doi] = None
        stop = _STOPS.search(match[0])  # another one may stand right behind
        at = match.start() + max(stop.start() if stop else len(match[0]), 8)
    return list(found)


def find_arxiv(text: str) -> list[str]:
    """Return the arXiv ids in `text` (after `arXiv:` or in an address), without version."""
    return list(dict.fromkeys(match[1].lower() for match in _ARXIV.finditer(text)))


def find_pmids(text: str) -> list[str]:
    """Return the PubMed ids in `text` (after `PMID` or in an address)."""
    return list(dict.fromkeys(match[1].lstrip("0") for match in _PMID.finditer(text)))


def work_key(url: str, doi: str | None = None) -> str:
    """Return one key for the work at `url`: `arxiv:…`, `doi:…`, `pmid:…`, `pmc:…` or the URL.

    A known `doi` wins over what the address says, so pages of a work that carry its DOI meet.
    arXiv's own DOIs are arXiv ids.
    """
    address = canonical(url)
    own = normalise_doi(doi) if doi else None
    if own is None and "10." in address:
        own = normalise_doi(unquote(address))
    for pattern, form in _SPELLED if own is None else ():
        spelled = pattern.match(address)
        if spelled:
            own = form.format(spelled[1]).lower()
    arxiv = find_arxiv(own or "") or ([] if own else find_arxiv(unquote(address)))
    if arxiv:
        return f"arxiv:{arxiv[0]}"
    if own:
        return f"doi:{own}"
    for kind, pattern in (("pmid", _PMID), ("pmc", _PMC)):
        number = pattern.search(address)
        if number:
            return f"{kind}:{number[1].lstrip('0')}"
    return address


def _clean(text: str) -> str:
    """Return `text` with escapes, invisible characters and typeset dashes undone."""
    if "%" in text:
        text = unquote(text)
    if "&" in text:
        from html import unescape

        text = unescape(text)
    return text if text.isascii() else _DASHES.sub("-", _INVISIBLE.sub("", text))


def _trim_doi(raw: str) -> str | None:
    """Return a DOI cut where running text or an address goes on, or None if nothing is left."""
    stop = _STOPS.search(raw)
    doi = raw[: stop.start()] if stop else raw
    while doi:
        last = doi[-1]
        if last in _END or (last in _PAIRS and doi.count(last) > doi.count(_PAIRS[last])):
            doi = doi[:-1]
            continue
        if last in "([{<":
            doi = doi[:-1]
            continue
        landing = _LANDING.search(doi)
        if not landing or landing.start() <= doi.index("/"):
            break
        doi = doi[: landing.start()]
    if doi.startswith("10.1101/"):
        doi = _PREPRINT_VERSION.sub("", doi)
    return doi.lower() if _DOI_WHOLE.fullmatch(doi) else None
