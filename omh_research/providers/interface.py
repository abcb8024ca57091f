"""The provider seam: where text comes from.

Job: the protocols of search providers and page readers. Refuses to name a concrete one.
Importers: providers, delegates, wiring. Phases never import it (spec E19).
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from omh_research.documents.source import Hit, Page


class SearchProvider(Protocol):
    """Finds leads. Raises `ProviderError` when the answer is unknown; [] is a real "nothing"."""

    name: str

    def search(self, query: str, *, limit: int) -> list[Hit]:
        """Return at most `limit` hits, best first."""
        ...


class Reader(Protocol):
    """Reads one URL into main text. Never raises for a page's own faults: see `Page.state`."""

    name: str

    def read(self, url: str) -> Page:
        """Return the page; `state` says how it went."""
        ...


@runtime_checkable
class Renewable(Protocol):
    """A reader of files of this machine: it costs nothing, and what it reads may change."""

    def renew(self) -> None:
        """Look at the files again before the next answer."""
        ...
