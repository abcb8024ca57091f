"""Where each scholarly provider lives.

Job: base URLs and their overrides for tests and mirrors (spec T8), the fixed host list (T7).
Refuses to build requests. Importers: providers.academic.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

BASE_URLS: Mapping[str, str] = {
    "arxiv": "https://export.arxiv.org",
    "crossref": "https://api.crossref.org",
    "openalex": "https://api.openalex.org",
    "semanticscholar": "https://api.semanticscholar.org",
    "pubmed": "https://eutils.ncbi.nlm.nih.gov",
    "datacite": "https://api.datacite.org",
}
_OVERRIDES = {
    "arxiv": "OMH_ARXIV_URL",
    "crossref": "OMH_CROSSREF_URL",
    "openalex": "OMH_OPENALEX_URL",
    "semanticscholar": "OMH_SEMANTICSCHOLAR_URL",
    "pubmed": "OMH_PUBMED_URL",
    "datacite": "OMH_DATACITE_URL",
}


def base_url(provider: str, environ: Mapping[str, str]) -> str:
    """Return scheme, host, port and path prefix of `provider`, without a final slash."""
    return (environ.get(_OVERRIDES[provider]) or BASE_URLS[provider]).rstrip("/")


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
