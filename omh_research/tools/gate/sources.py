"""Rules about the Sources list: numbers, addresses, works, what was really read.

Job: resolve each entry against the findings and the held texts, exactly (spec E28, T23,
complaints 18, 20, 23): a look-alike address is another address. Refuses to read sentences (see
`evidence`). Importers: tools.gate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from omh_research.documents.report import fold_title
from omh_research.documents.source import HeldText
from omh_research.documents.source_lines import Source, trim_url
from omh_research.lazy_re import lazy_re
from omh_research.tools.gate.contract import (
    DECLARED,
    FETCHED,
    LEAD,
    Failure,
    GateInput,
    ListedSource,
)
from omh_research.tools.gate.reading import ReadReport
from omh_research.tools.identifiers import find_dois, normalise_doi, work_key
from omh_research.tools.source_list import SourceEntry
from omh_research.tools.tokens import content_tokens, is_cjk
from omh_research.tools.urls import canonical

_LIST = "Sources"
_BODY_URL = lazy_re(r"https?://[^\s<>\"'“”‘’`|\\^{}、。，；「」『』《》【】（）]+", re.IGNORECASE)
_MAX_QUERY_CHARS = 400
_COPIED_CHARS = 40


class Sources:
    """The sources of one gate run: findings, held texts and leads, by work and by address."""

    def __init__(self, given: GateInput) -> None:
        self.declared: dict[str, list[Source]] = {}
        self.held: dict[str, list[HeldText]] = {}
        self._known: dict[str, tuple[str, frozenset[str]]] = {}
        self._leads = frozenset(
            key for url in given.leads for key in (canonical(url), work_key(url))
        )
        self._allowed = given.declared_allowed
        dois = {canonical(text.url): text.doi for text in given.held if text.doi}
        for text in given.held:
            for key in {work_key(text.url, text.doi), work_key(text.url), canonical(text.url)}:
                self.held.setdefault(key, []).append(text)
        for _, finding in given.findings:
            for source in finding.sources:
                own = {work_key(source.url, dois.get(canonical(source.url))), work_key(source.url)}
                for key in own | {canonical(source.url)}:
                    self.declared.setdefault(key, []).append(source)
        self._orphans = self._find_orphans(given)

    def key_of(self, url: str) -> str:
        """Return the key of the work at `url`, by its DOI when the run knows one."""
        return self._keyed(url)[0]

    def texts_of(self, url: str) -> list[HeldText]:
        """Return the held texts of the work at `url`, each once.

        Where none is held under the address, that of the same page under another spelling counts,
        if no finding names that spelling: a changed address must not hide a page from its text.
        """
        found = {t.sha256 or t.url: t for key in self._keys(url) for t in self.held.get(key, ())}
        if not found and self._orphans and self.is_declared(url):
            found = {t.sha256 or t.url: t for t in self._orphans.get(_page_of(url), ())}
        return list(found.values())

    def _find_orphans(self, given: GateInput) -> dict[str, list[HeldText]]:
        """Return the held texts that no finding names, by page."""
        found: dict[str, list[HeldText]] = {}
        for text in given.held if given.declared_allowed else ():
            keys = {work_key(text.url, text.doi), work_key(text.url), canonical(text.url)}
            if not any(key in self.declared for key in keys):
                found.setdefault(_page_of(text.url), []).append(text)
        return found

    def declared_of(self, url: str) -> list[Source]:
        """Return the findings' entries of the work at `url`, each once."""
        found = (s for key in self._keys(url) for s in self.declared.get(key, ()))
        return list(dict.fromkeys(found))

    def titles_of(self, url: str) -> list[str]:
        """Return the titles under which the run knows the work at `url`."""
        titles = [s.title for key in self._keys(url) for s in self.declared.get(key, ())]
        return [t for t in [*titles, *(text.title for text in self.texts_of(url))] if t]

    def is_declared(self, url: str) -> bool:
        """Return whether a finding lists the address, or another one of the same work."""
        return any(key in self.declared for key in self._keys(url))

    def seen(self, url: str) -> str:
        """Return how the run knows the work: fetched, declared, lead, or "" (in no finding)."""
        if self.texts_of(url):
            return FETCHED if self.is_declared(url) else ""
        if not self.is_declared(url):
            return ""
        return LEAD if self._keys(url) & self._leads else DECLARED

    def is_usable(self, url: str) -> bool:
        """Return whether a report may stand on this source (T23)."""
        seen = self.seen(url)
        return seen == FETCHED or (seen == DECLARED and self._allowed)

    def _keys(self, url: str) -> frozenset[str]:
        return self._keyed(url)[1]

    def _keyed(self, url: str) -> tuple[str, frozenset[str]]:
        """Return (work key, all keys) of an address, worked out once."""
        if url not in self._known:
            address = canonical(url)
            doi = next((text.doi for text in self.held.get(address, ()) if text.doi), None)
            key = work_key(url, doi)
            self._known[url] = key, frozenset({key, work_key(url), address})
        return self._known[url]


def _page_of(url: str) -> str:
    """Return host and path of an address, folded, without parameters: the page it opens."""
    try:
        parts = urlsplit(canonical(url))
    except ValueError:
        return url
    path = unquote(parts.path).partition(";")[0].strip().rstrip("/").casefold()
    return f"{parts.netloc.rpartition('@')[2]}{path}"


def list_sources(read: ReadReport, sources: Sources) -> tuple[ListedSource, ...]:
    """Return the entries of the report's list, resolved."""
    cited = frozenset(read.cited)
    return tuple(
        ListedSource(e.n, e.title, e.url, sources.key_of(e.url), sources.seen(e.url), e.n in cited)
        for e in read.entries
    )


def check_sources(
    given: GateInput, read: ReadReport, sources: Sources, listed: tuple[ListedSource, ...]
) -> Iterator[Failure]:
    """Yield what is wrong with numbers, addresses and works."""
    yield from _check_numbers(read)
    seen_works: dict[str, int] = {}
    for source, entry in zip(listed, read.entries, strict=True):
        where = f"{_LIST} [{source.n}]"
        if source.key in seen_works and source.n != seen_works[source.key]:
            first = seen_works[source.key]
            message = f"is the same work as [{first}]; give it one number and cite that one."
            yield Failure("one_work_one_number", where, message)
        seen_works.setdefault(source.key, source.n)
        yield from _check_entry(given, source, entry, sources)
    if not read.cited and any(sources.is_usable(s.url) for s in _declared(given)):
        message = "no sentence cites a source; cite every factual sentence with its `[N]`."
        yield Failure("nothing_cited", "report", message)
    yield from _check_body_addresses(given, read, sources)


def _declared(given: GateInput) -> list[Source]:
    return [source for _, finding in given.findings for source in finding.sources]


def has_usable_source(given: GateInput, sources: Sources) -> bool:
    """Return whether at least one subtopic has a source that may be used (E28c)."""
    return any(sources.is_usable(source.url) for source in _declared(given))


def _check_numbers(read: ReadReport) -> Iterator[Failure]:
    numbers = [entry.n for entry in read.entries]
    for n in sorted(set(read.cited) - set(numbers)):
        message = f"[{n}] is cited but not in the Sources list; add its entry or cite another one."
        yield Failure("dangling_number", f"[{n}]", message)
    for n in sorted({n for n in numbers if n and numbers.count(n) > 1}):
        yield Failure("repeated_number", f"{_LIST} [{n}]", f"the number {n} stands more than once.")
    present = sorted(set(numbers))
    if present and present != list(range(1, len(present) + 1)):
        missing = sorted(set(range(1, present[-1] + 1)) - set(present))[:5]
        holes = f"missing: {', '.join(map(str, missing))}" if missing else "an entry has no number"
        yield Failure(
            "numbering", _LIST, f"the entries are not numbered 1 to {len(present)} ({holes})."
        )


def _check_entry(
    given: GateInput, source: ListedSource, entry: SourceEntry, sources: Sources
) -> Iterator[Failure]:
    where = f"{_LIST} [{source.n}]"
    if not source.url:
        yield Failure("source_without_address", where, "the entry has no address.")
        return
    if not source.seen:
        message = (
            f"{source.url} is in no finding; list only sources of the findings, with their "
            "addresses unchanged."
        )
        yield Failure("source_not_in_findings", where, message)
        return
    if source.seen == LEAD:
        message = f"{source.url} was only a search hit, nobody read it; a lead is no evidence."
        yield Failure("lead_cited", where, message)
    elif source.seen == DECLARED and not given.declared_allowed:
        message = f"{source.url} was never fetched in this run; cite a source that was read."
        yield Failure("source_not_fetched", where, message)
    yield from _check_entry_doi(source, entry, sources)
    other = _title_of_another(source, sources)
    if other:
        message = f"the title belongs to another source ({other}); title and address must match."
        yield Failure("title_of_another_source", where, message)


def _check_entry_doi(
    source: ListedSource, entry: SourceEntry, sources: Sources
) -> Iterator[Failure]:
    """A DOI written beside an address must be that work's own."""
    written = {*find_dois(entry.title), *find_dois(entry.credibility), *find_dois(entry.date)}
    for doi in sorted(written):
        texts = sources.texts_of(source.url)
        known = {normalise_doi(text.doi) for text in texts if text.doi}
        known |= set(find_dois(" ".join([source.url, *sources.titles_of(source.url)])))
        if doi not in known and not any(_holds_doi(text, doi) for text in texts):
            message = f"DOI {doi} is not this source's DOI and not in its text."
            yield Failure("doi_not_in_source", f"{_LIST} [{source.n}]", message)


def _holds_doi(text: HeldText, doi: str) -> bool:
    return doi in text.text.casefold() and doi in find_dois(text.text)


def _title_of_another(source: ListedSource, sources: Sources) -> str:
    """Return the address whose title the entry carries, if that is clearly another work's."""
    own = sources.titles_of(source.url)
    if not own or not source.title:
        return ""
    folded, words = fold_title(source.title), frozenset(content_tokens(source.title))
    if folded in {fold_title(title) for title in own}:
        return ""
    is_alike = any(_likeness(words, frozenset(content_tokens(title))) > 0.34 for title in own)
    for declared in (s for group in sources.declared.values() for s in group):
        if sources.key_of(declared.url) == source.key or not declared.title:
            continue
        other = frozenset(content_tokens(declared.title))
        is_same = fold_title(declared.title) == folded and (len(folded) > 1 or is_cjk(folded))
        if is_same or (not is_alike and len(words) > 1 and _likeness(words, other) >= 0.8):
            return declared.url
    return ""


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of the smaller title's words that stand in the other one."""
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0


def _check_body_addresses(
    given: GateInput, read: ReadReport, sources: Sources
) -> Iterator[Failure]:
    """Addresses and DOIs in the text itself must be those of the findings as well."""
    told: set[str] = set()
    for match in _BODY_URL.finditer(read.body):
        url = trim_url(match[0])
        if canonical(url) in told:
            continue
        told.add(canonical(url))
        if not sources.is_declared(url) and not sources.is_declared(match[0]):
            message = f"{url} is in no finding; keep addresses in the Sources list."
            yield Failure("address_not_in_findings", "text", message)
    dois = find_dois(_BODY_URL.sub(" ", read.body))
    if dois:
        declared = " ".join(
            " ".join([s.url, s.title]) for _, finding in given.findings for s in finding.sources
        )
        said = " ".join(
            " ".join([f.synthesis, *(row.claim for row in f.evidence)]) for _, f in given.findings
        )
        known = set(find_dois(declared)) | (
            set(find_dois(said)) if given.declared_allowed else set()
        )
        known |= {doi for text in given.held if text.doi and (doi := normalise_doi(text.doi))}
        for doi in dois:
            if doi not in known and not any(_holds_doi(text, doi) for text in given.held):
                message = f"DOI {doi} is in no finding and in no fetched text."
                yield Failure("doi_not_in_findings", "text", message)
    prose = " ".join(_BODY_URL.sub(" ", read.body).casefold().split())
    for entry in read.entries:
        if sources.seen(entry.url) != FETCHED and _carries_text(entry.url, prose):
            message = "the address carries text of the report in its query; leave it out."
            yield Failure("address_carries_text", f"{_LIST} [{entry.n}]", message)


def _carries_text(url: str, prose: str) -> bool:
    """Return whether a query string could carry findings out (81-reliability 7, 5)."""
    try:
        query = unquote(urlsplit(url).query.replace("+", " "))
    except ValueError:
        return True
    if len(query) < _COPIED_CHARS:
        return False
    if len(query) > _MAX_QUERY_CHARS:
        return True
    value = " ".join(query.casefold().split())
    windows = range(0, len(value) - _COPIED_CHARS + 1, 4)
    return any(value[at : at + _COPIED_CHARS] in prose for at in windows)
