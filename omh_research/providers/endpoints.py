"""Where each provider lives.

Job: base URLs and their overrides for tests and mirrors (spec T8), the fixed host list (T7).
Refuses to build requests. Importers: providers.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from omh_research.errors import PrerequisiteError

BASE_URLS: Mapping[str, str] = {
    "arxiv": "https://export.arxiv.org",
    "crossref": "https://api.crossref.org",
    "openalex": "https://api.openalex.org",
    "semanticscholar": "https://api.semanticscholar.org",
    "pubmed": "https://eutils.ncbi.nlm.nih.gov",
    "datacite": "https://api.datacite.org",
    "tavily": "https://api.tavily.com",
    "brave": "https://api.search.brave.com",
    "serper": "https://google.serper.dev",
    "searxng": "",
    "duckduckgo": "https://html.duckduckgo.com",
    "wikipedia": "https://{language}.wikipedia.org",
    "jina": "https://r.jina.ai",
}


def override_name(provider: str) -> str:
    """Return the environment variable that overrides `provider`'s base URL."""
    return f"OMH_{provider.upper()}_URL"


def base_url(provider: str, environ: Mapping[str, str], *, language: str = "en") -> str:
    """Return scheme, host, port and path prefix of `provider`, without a final slash.

    `language` (ISO 639-1) picks Wikipedia's edition. Raises `PrerequisiteError` for a provider
    that has no address of its own (SearXNG) and was given none.
    """
    base = environ.get(override_name(provider)) or BASE_URLS[provider]
    if not base:
        raise PrerequisiteError(
            f"{provider} has no public address.",
            hint=f"Set {override_name(provider)} to your instance.",
        )
    return base.replace("{language}", language).rstrip("/")


def host_list(base: str) -> frozenset[str]:
    """Return the hosts that a request to `base` may end at: that one host (and port)."""
    parts = urlsplit(base)
    host = (parts.hostname or "").lower()
    try:
        port = parts.port
    except ValueError:
        port = None
    if port is None:
        return frozenset({host})
    return frozenset({f"[{host}]:{port}" if ":" in host else f"{host}:{port}"})
