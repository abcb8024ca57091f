"""Searching the web: which providers, in which order, and what to do when one fails.

Job: build the configured providers, ask them one after the other until one answers, and report
every attempt (spec D6, D6b). Refuses to merge answers of several providers and to hide a switch.
Importers: cli.web, wiring.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from omh_research.documents.source import Hit
from omh_research.errors import OmhError, PrerequisiteError, ProviderError, UsageError
from omh_research.providers.asking import ExhaustedError
from omh_research.providers.endpoints import override_name
from omh_research.providers.interface import SearchProvider
from omh_research.providers.web.keys import KEY_NAMES, find_key

if TYPE_CHECKING:
    from omh_research.transport import Transport

KEYED = ("tavily", "brave", "serper")
KEYLESS = ("searxng", "duckduckgo", "wikipedia")
SCHOLARLY = ("arxiv", "openalex", "crossref", "semanticscholar", "pubmed")
NAMES = (*KEYED, *KEYLESS, *SCHOLARLY)


class Attempt(Struct, frozen=True):
    """One provider asked: `state` is ok, empty, exhausted or error."""

    provider: str
    state: str
    results: int = 0
    detail: str = ""


class SearchOutcome(Struct, frozen=True):
    """What a search came to. `is_known` is false when every provider failed."""

    hits: tuple[Hit, ...]
    attempts: tuple[Attempt, ...]

    @property
    def is_known(self) -> bool:
        """True when at least one provider really answered."""
        return any(attempt.state in ("ok", "empty") for attempt in self.attempts)


def configured_names(environ: Mapping[str, str]) -> list[str]:
    """Return the providers that can be asked here: those with a key, then the keyless ones."""
    keyed = [name for name in KEYED if find_key(name, environ)]
    keyless = [
        name for name in KEYLESS if name != "searxng" or environ.get(override_name("searxng"))
    ]
    return [*keyed, *keyless]


def build_provider(name: str, transport: Transport, environ: Mapping[str, str]) -> SearchProvider:
    """Return the provider called `name`; raises `UsageError` for an unknown name."""
    if name in (*KEYED, "searxng"):
        from omh_research.providers.web.services import Service

        key = find_key(name, environ) if name in KEY_NAMES else ""
        return Service(name, transport, environ, key)
    if name == "duckduckgo":
        from omh_research.providers.web.duckduckgo import DuckDuckGo

        return DuckDuckGo(transport, environ)
    if name == "wikipedia":
        from omh_research.providers.web.wikipedia import Wikipedia

        return Wikipedia(transport, environ)
    if name in SCHOLARLY:
        from omh_research.providers.web.scholarly import Scholarly

        return Scholarly(name, transport, environ)
    raise UsageError(f"Unknown search provider {name!r}.", hint=f"Choose of {', '.join(NAMES)}.")


class WebSearch:
    """All configured providers as one `SearchProvider`: the first that answers wins.

    `provider` names the one to ask first; after it (or when none is named, after those with keys)
    come the keyless ones. An empty answer is an answer, except that the next one is asked too when
    there is one: a small index that knows nothing of a topic says little about the web.
    """

    name = "web"

    def __init__(
        self,
        transport: Transport,
        *,
        environ: Mapping[str, str] | None = None,
        provider: str = "",
    ) -> None:
        self._transport = transport
        self._environ = os.environ if environ is None else environ
        self._order = configured_names(self._environ)
        if provider:
            build_provider(provider, transport, self._environ)
            rest = [name for name in self._order if name in KEYLESS and name != provider]
            self._order = [provider, *rest]

    def search(self, query: str, *, limit: int) -> list[Hit]:
        """Return at most `limit` hits; raises `ProviderError` when no provider answered."""
        outcome = self.find(query, limit=limit)
        if not outcome.is_known:
            said = "; ".join(f"{each.provider}: {each.detail}" for each in outcome.attempts)
            raise ProviderError(f"No search provider answered ({said}).")
        return list(outcome.hits)

    def find(self, query: str, *, limit: int) -> SearchOutcome:
        """Return the hits and every attempt made; never raises for a provider's fault."""
        attempts: list[Attempt] = []
        for name in self._order:
            try:
                provider = build_provider(name, self._transport, self._environ)
                hits = provider.search(query, limit=limit)
            except ExhaustedError as error:
                attempts.append(Attempt(name, "exhausted", detail=error.message))
            except (ProviderError, PrerequisiteError) as error:
                attempts.append(Attempt(name, "error", detail=_one_line(error)))
            else:
                attempts.append(Attempt(name, "ok" if hits else "empty", len(hits)))
                if hits:
                    return SearchOutcome(tuple(hits), tuple(attempts))
        return SearchOutcome((), tuple(attempts))


def _one_line(error: OmhError) -> str:
    return " ".join(str(error).split())[:300]
