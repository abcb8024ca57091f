"""Web sources: search services and page readers.

Job: `open_web` builds the search providers and the reader of a run. Refuses to load an HTTP client
before a request is made. Importers: wiring, cli.web.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omh_research.providers.interface import Reader, SearchProvider
    from omh_research.settings import Settings
    from omh_research.transport import Transport

LAST_RESORTS = ("openalex", "crossref", "semanticscholar", "arxiv", "pubmed")
"""Asked when no general search answers: leads from the literature are better than none."""


def web_environ(settings: Settings, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment that providers see: with the keys of the root's `.env` (spec D6), and
    the settings' polite address (spec T7), where it has none itself."""
    from omh_research.providers.web.keys import with_keys

    seen = with_keys(os.environ if environ is None else environ, settings.root)
    if settings.contact:
        seen.setdefault("OMH_CONTACT", settings.contact)
    return seen


def open_web(
    settings: Settings, *, allow_jina: bool = False
) -> tuple[Sequence[SearchProvider], Reader]:
    """Return the search providers, in the order they are asked, and the page reader.

    Providers with a key come first, then SearXNG (if set up), DuckDuckGo, Wikipedia, then the
    academic five. `allow_jina` lets Jina Reader read a page that we could not.
    """
    from omh_research.providers.web.page_cache import PageCache
    from omh_research.providers.web.reading import WebReader
    from omh_research.providers.web.searching import build_provider, configured_names
    from omh_research.transport import Transport

    environ = web_environ(settings)
    transport = Transport(environ=environ)
    names = [*configured_names(environ), *LAST_RESORTS]
    providers = [build_provider(name, transport, environ) for name in names]
    second = open_jina(transport, environ) if allow_jina else None
    return providers, WebReader(transport, second=second, cache=PageCache())


def open_jina(transport: Transport, environ: Mapping[str, str]) -> Reader:
    """Return the Jina reader, with the key of `environ` (`web_environ`) when there is one."""
    from omh_research.providers.web.jina import JinaReader
    from omh_research.providers.web.keys import find_key

    return JinaReader(transport, environ, find_key("jina", environ))
