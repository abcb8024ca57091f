"""Looking up one DOI where it lives, and whether its work was retracted.

Job: `lookup_doi` answers yes, no or unknown and whether the registered title is another one;
`retraction_status` asks at least two sources (spec T7c). Refuses to turn an error, a throttled
provider or an HTML page into "no". Importers: tools.academic, wiring.
"""

from __future__ import annotations

import datetime
import os
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from omh_research.errors import ProviderError
from omh_research.network.exhaustion import utc_now
from omh_research.providers.academic import crossref, datacite, openalex, pubmed
from omh_research.providers.academic.record import ParsedRecords, Record
from omh_research.providers.asking import Question
from omh_research.providers.cleaning import clean_doi
from omh_research.providers.together import run_together
from omh_research.unicode_form import unicode_form

if TYPE_CHECKING:
    from omh_research.transport import Transport

_JSON = "application/json"
_XML = "application/xml, text/xml"
_DATACITE_PREFIXES = ("10.48550/", "10.5281/", "10.5061/", "10.6084/", "10.17605/", "10.7910/")
_ENOUGH_SOURCES = 2


class DoiAnswer(Struct, frozen=True):
    """Whether a DOI is registered.

    `status` is yes, no or unknown. With `yes`, `title` is the registered title, `registrar` the
    provider that knows it, and `title_match` says whether it is the title asked about (None when
    none was given). `reason` explains no and unknown. `checked_at` is ISO-8601 UTC.
    """

    doi: str
    status: str
    checked_at: str
    title: str = ""
    registrar: str = ""
    title_match: bool | None = None
    reason: str = ""
    record: Record | None = None

    @property
    def is_mismatch(self) -> bool:
        """True when the DOI is registered for a work with another title."""
        return self.title_match is False


class RetractionAnswer(Struct, frozen=True):
    """What one source says: `status` yes, no or unknown, `date` of the notice where it tells."""

    source: str
    status: str
    date: str | None = None
    reason: str = ""


class RetractionStatus(Struct, frozen=True):
    """What all sources together say; `no` needs two sources that really answered."""

    doi: str
    status: str
    checked_at: str
    sources: tuple[RetractionAnswer, ...]


def lookup_doi(
    doi: str,
    *,
    title: str = "",
    transport: Transport,
    timeout_s: float = 20.0,
    environ: Mapping[str, str] | None = None,
) -> DoiAnswer:
    """Return whether `doi` is registered, asking Crossref and DataCite (the likelier first).

    `no` means: both answered, in their own format, that they do not have it (other agencies are
    not asked). Never raises for what a provider does.
    """
    env = os.environ if environ is None else environ
    moment = _stamp(utc_now())
    clean = clean_doi(doi)
    if clean is None:
        return DoiAnswer(doi, "no", moment, reason="it is not the form of a DOI")
    order = ["crossref", "datacite"]
    if clean.startswith(_DATACITE_PREFIXES):
        order.reverse()
    reasons = []
    unknown = False
    for name in order:
        try:
            record = _find(name, clean, transport, timeout_s / len(order), env)
        except ProviderError as error:
            unknown = True
            reasons.append(f"{name}: {error.message}")
            continue
        if record is not None:
            match = titles_agree(title, record.title) if title.strip() else None
            return DoiAnswer(clean, "yes", moment, record.title, name, match, "", record)
        reasons.append(f"{name} has no such DOI")
    status = "unknown" if unknown else "no"
    return DoiAnswer(clean, status, moment, reason="; ".join(reasons))


def retraction_status(
    doi: str,
    *,
    transport: Transport,
    timeout_s: float = 20.0,
    environ: Mapping[str, str] | None = None,
) -> RetractionStatus:
    """Return whether the work behind `doi` was retracted, from Crossref, OpenAlex and PubMed.

    One source that says yes is enough for yes; no needs two that answered; else unknown.
    """
    env = os.environ if environ is None else environ
    clean = clean_doi(doi) or doi
    checks: dict[str, Callable[[], RetractionAnswer]] = {
        "crossref": lambda: _crossref_says(clean, transport, timeout_s, env),
        "openalex": lambda: _openalex_says(clean, transport, timeout_s, env),
        "pubmed": lambda: _pubmed_says(clean, transport, timeout_s, env),
    }
    found = []
    for name, outcome in run_together(checks).items():
        if isinstance(outcome, ProviderError):
            found.append(RetractionAnswer(name, "unknown", reason=outcome.message))
        elif isinstance(outcome, Exception):
            raise outcome
        else:
            found.append(outcome)
    said = [answer.status for answer in found]
    clear = said.count("no") >= _ENOUGH_SOURCES
    status = "yes" if "yes" in said else ("no" if clear else "unknown")
    return RetractionStatus(clean, status, _stamp(utc_now()), tuple(found))


def titles_agree(one: str, other: str) -> bool:
    """Return whether two titles name the same work: case, accents, punctuation, a missing subtitle
    and small slips do not matter, another word does (spec T7c)."""
    a, b = _title_words(one), _title_words(other)
    if not a or not b:
        return False
    if a == b or "".join(a) == "".join(b):
        return True
    short, long = sorted((a, b), key=len)
    if len(short) >= 3 and long[: len(short)] == short:
        return True
    shared = len(set(a) & set(b))
    return min(len(a), len(b)) >= 5 and shared / len(set(a) | set(b)) >= 0.8


def _title_words(title: str) -> list[str]:
    folded = unicode_form("NFKD", title).casefold()
    bare = "".join(char for char in folded if not unicodedata.combining(char))
    return re.findall(r"\w+", bare.replace("_", " "))


def _stamp(moment: datetime.datetime) -> str:
    return moment.replace(microsecond=0).isoformat().replace("+00:00", "Z")


def _find(
    name: str, doi: str, transport: Transport, timeout_s: float, env: Mapping[str, str]
) -> Record | None:
    """Return the registered record, None when `name` says it has none; raises otherwise."""
    body = _look(name, doi, transport, timeout_s, env)
    if body is None:
        return None
    parse = crossref.parse if name == "crossref" else datacite.parse
    records = parse(body).records
    if not records:
        raise ProviderError(f"{name} has a record without a title.")
    return records[0]


def _look(
    name: str, doi: str, transport: Transport, timeout_s: float, env: Mapping[str, str]
) -> bytes | None:
    """Return the look-up's body, None for a 404 in the provider's own format.

    A 404 that is an HTML page comes from something in between and says nothing about the DOI.
    """
    module = {"crossref": crossref, "datacite": datacite, "openalex": openalex}[name]
    path, params = module.lookup_request(doi, env)
    question = Question(name, transport, timeout_s, environ=env)
    response = question.send(path, params, accept=_JSON)
    if response.status == 404 and response.body.lstrip()[:1] != b"<":
        return None
    if response.status != 200:
        raise ProviderError(f"{name} answered HTTP {response.status}.")
    return response.body


def _crossref_says(
    doi: str, transport: Transport, timeout_s: float, env: Mapping[str, str]
) -> RetractionAnswer:
    body = _look("crossref", doi, transport, timeout_s, env)
    if body is None:
        return RetractionAnswer("crossref", "unknown", reason="it has no such DOI")
    record = _only(crossref.parse(body), "crossref")
    date = crossref.retraction_date(body)
    return RetractionAnswer("crossref", "yes" if record.retracted else "no", date)


def _openalex_says(
    doi: str, transport: Transport, timeout_s: float, env: Mapping[str, str]
) -> RetractionAnswer:
    body = _look("openalex", doi, transport, timeout_s, env)
    if body is None:
        return RetractionAnswer("openalex", "unknown", reason="it has no such DOI")
    retracted = _only(openalex.parse(body), "openalex").retracted
    if retracted is None:
        return RetractionAnswer("openalex", "unknown", reason="it does not say")
    return RetractionAnswer("openalex", "yes" if retracted else "no")


def _pubmed_says(
    doi: str, transport: Transport, timeout_s: float, env: Mapping[str, str]
) -> RetractionAnswer:
    question = Question("pubmed", transport, timeout_s, environ=env)
    path, params = pubmed.doi_request(doi, env)
    ids, _ = pubmed.parse_ids(question.answer(path, params, accept=_JSON))
    if len(ids) != 1:
        return RetractionAnswer("pubmed", "unknown", reason="it has no such DOI")
    path, params = pubmed.records_request(ids, env)
    body = question.answer(path, params, accept=_XML)
    record = _only(pubmed.parse(body), "pubmed")
    if record.doi != doi:
        return RetractionAnswer("pubmed", "unknown", reason="it answered with another DOI")
    date = pubmed.retraction_date(body)
    return RetractionAnswer("pubmed", "yes" if record.retracted else "no", date)


def _only(parsed: ParsedRecords, name: str) -> Record:
    if not parsed.records:
        raise ProviderError(f"{name} has a record without a title.")
    return parsed.records[0]
