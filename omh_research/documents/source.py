"""Sources: what a search found, what a read returned, what is held.

Job: the frozen value types of the provider seam and of the fetch ledger. Refuses to fetch.
Importers: providers, delegates, phases, tools, store, literature.
"""

from msgspec import Struct

PAGE_STATES = (
    "ok", "empty", "refused", "robots", "not_found", "soft_404", "bot_wall", "login",
    "unsupported", "too_large", "timeout", "error",
)  # fmt: skip


class Identifiers(Struct, frozen=True):
    """Persistent identifiers of a work; each None when unknown. DOI in lower case, `10.…`."""

    doi: str | None = None
    arxiv: str | None = None
    pmid: str | None = None


class Hit(Struct, frozen=True):
    """One search result: a lead, never evidence. `rank` counts from 1."""

    url: str
    title: str
    snippet: str = ""
    provider: str = ""
    rank: int = 1
    date: str = ""
    identifiers: Identifiers = Identifiers()


class Page(Struct, frozen=True):
    """One read page or document. Only `state == "ok"` has usable `text` (main text, Markdown).

    `page_starts` holds, for a PDF, the character offset in `text` at which each page starts.
    """

    url: str
    final_url: str
    state: str
    title: str = ""
    text: str = ""
    language: str = ""
    date: str = ""
    author: str = ""
    detail: str = ""
    page_starts: tuple[int, ...] = ()
    identifiers: Identifiers = Identifiers()


class HeldText(Struct, frozen=True):
    """A fetched text that the run holds under its SHA-256 (hex, of the UTF-8 bytes)."""

    url: str
    sha256: str
    title: str = ""
    date: str = ""
    accessed_at: str = ""
    text: str = ""
    doi: str | None = None
    arxiv: str | None = None
    pmid: str | None = None
    publisher: str = ""
    source_type: str = ""


class Fetch(Struct, frozen=True, omit_defaults=True):
    """One line of `fetch_ledger.jsonl` (spec T19).

    `kind` is "search" or "fetch"; a search has `query` and `provider`, a fetch `canonical_url`.
    `status` is "ok", "deduplicated", "refused_cap" or a page state. `charge` is 1 for an attempt
    that counts against the caps, 0 otherwise. `sha256` names the
    held text of an ok fetch, or the kept hit list of an ok search. `retry` counts the operator's
    retries before it; only a look into a local corpus has one, for it is made anew after each.
    """

    kind: str
    status: str
    accessed_at: str
    query: str = ""
    canonical_url: str = ""
    subquestion: str = ""
    provider: str = ""
    charge: int = 0
    results: int = 0
    title: str = ""
    date: str = ""
    sha256: str = ""
    detail: str = ""
    page_starts: tuple[int, ...] = ()
    identifiers: Identifiers = Identifiers()
    retry: int = 0
