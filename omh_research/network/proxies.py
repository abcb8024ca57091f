"""Proxy settings from the environment, for the fixed provider hosts and model servers only.

Job: say which proxy, if any, a host is reached through. Refuses to proxy pages: through a proxy
the address that is connected to cannot be checked, so only hosts that we or the user chose may go
that way (spec T7, D7). Importers: transport, model_door.
"""

from __future__ import annotations

from collections.abc import Mapping

from omh_research.network.addresses import is_public, parse_address
from omh_research.network.guard import Target

PROXIED_HOSTS = frozenset(
    {
        "export.arxiv.org",
        "api.crossref.org",
        "api.openalex.org",
        "api.semanticscholar.org",
        "eutils.ncbi.nlm.nih.gov",
        "api.datacite.org",
        "api.tavily.com",
        "api.search.brave.com",
        "google.serper.dev",
        "r.jina.ai",
    }
)


def proxy_for(target: Target, environ: Mapping[str, str]) -> str | None:
    """Return the proxy URL for `target`, None when it is reached directly.

    Reads `HTTPS_PROXY`/`HTTP_PROXY` and `NO_PROXY` in either case (`*`, host names with or
    without a leading dot, `host:port`, addresses).
    """
    return _named_proxy(target, environ) if target.host in PROXIED_HOSTS else None


def proxy_of_user(target: Target, environ: Mapping[str, str]) -> str | None:
    """Return the proxy URL for a server the user chose, such as a model's; None for local ones."""
    address = parse_address(target.host)
    if target.host == "localhost" or (address is not None and not is_public(address)):
        return None
    return _named_proxy(target, environ)


def _named_proxy(target: Target, environ: Mapping[str, str]) -> str | None:
    name = f"{target.scheme}_proxy"
    proxy = environ.get(name) or environ.get(name.upper())
    if not proxy or is_excepted(target, environ):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def is_excepted(target: Target, environ: Mapping[str, str]) -> bool:
    """Return whether `NO_PROXY` names the target's host or a domain above it."""
    listed = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
    return any(_names(entry.strip().lower(), target) for entry in listed.split(","))


def _names(entry: str, target: Target) -> bool:
    if not entry:
        return False
    if entry in ("*", target.authority):
        return True
    if parse_address(entry.strip("[]")) is not None:
        return entry.strip("[]") == target.host
    domain = entry.removeprefix("*").removeprefix(".")
    return target.host == domain or target.host.endswith(f".{domain}")
