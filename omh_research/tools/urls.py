"""One key for one address (spec T15).

Job: turn the many spellings of a web address into one canonical form, so that a source is listed,
fetched and cited once. Refuses to open anything and to guess: a changed digit, letter, host, port
or meaningful parameter stays another address. Importers: everybody above documents.

The canonical form is a key, not necessarily an address to fetch: scheme `https`, no `www.`, no
trailing slash, no fragment, no tracking parameters, parameters sorted. It may be shown and linked
to; fetch the address as it was given.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote_to_bytes, urlsplit

from omh_research.lazy_re import is_unprintable, lazy_re
from omh_research.tools.tracking import is_tracking

# Hosts whose first path segments do not distinguish case: host -> how many segments.
_CASELESS_SEGMENTS = {"github.com": 2, "gitlab.com": 2, "doi.org": 9, "x.com": 1, "twitter.com": 1}
_HOST_ALIASES = {
    "dx.doi.org": "doi.org",
    "doi.acm.org": "doi.org",
    "export.arxiv.org": "arxiv.org",
    "m.youtube.com": "youtube.com",
    "mobile.twitter.com": "twitter.com",
    "old.reddit.com": "reddit.com",
}
_DEFAULT_PORTS = {80, 443}
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_KEPT_IN_PATH = "!$&'()*+,;=:@/"
_KEPT_IN_QUERY = "!$'()*,;:@/?"
_ESCAPE = lazy_re(rb"%([0-9A-Fa-f]{2})")
_CONTROLS = lazy_re(r"[\x00-\x1f\x7f\u200b-\u200f\u2060\ufeff\u00ad]", guard=is_unprintable)
_SCHEME = lazy_re(r"(?i)(https?):[/\\]{1,4}")
_DOI_SCHEME = lazy_re(r"(?i)(?:doi:|info:doi/)\s*(?=10\.\d{4,9}/)", needs=("10.",))
_ROUTE_FRAGMENT = lazy_re(r"!|/[^#]")
_MAX_URL_CHARS = 8_000


def canonical(url: str) -> str:
    """Return the canonical form of `url`; what is no http(s) address comes back trimmed.

    Never raises. `http` and `https`, `www.` or not, a trailing slash, default ports, fragments
    (but not `#!` and `#/` routes), percent-encoding, IDNA, the order of parameters and tracking
    parameters do not count; everything else does.
    """
    text = _CONTROLS.sub("", url).strip("<> \t\u00a0\u3000")
    text = _DOI_SCHEME.sub("https://doi.org/", text, count=1)
    if text[:4].lower() == "www.":
        text = "https://" + text
    scheme = _SCHEME.match(text)
    if scheme is None or len(text) > _MAX_URL_CHARS:
        return text
    rest = text[scheme.end() :]
    cut = min((i for i in map(rest.find, "?#") if i >= 0), default=len(rest))
    rest = rest[:cut].replace("\\", "/") + rest[cut:]
    try:
        parts = urlsplit(f"{scheme[1].lower()}://{rest}")
        host, port = _host(parts.hostname or ""), parts.port
    except ValueError:
        return text
    if not host:
        return text
    path = _path(host, parts.path)
    query = _query(host, parts.query)
    route = f"#{parts.fragment}" if _ROUTE_FRAGMENT.match(parts.fragment) else ""
    if port is None or port in _DEFAULT_PORTS:
        return f"https://{host}{path}{query}{route}"
    return f"{parts.scheme}://{host}:{port}{path}{query}{route}"


def same_source(a: str, b: str) -> bool:
    """Say whether two addresses are spellings of one."""
    return a == b or canonical(a) == canonical(b)


def _host(host: str) -> str:
    """Return the host in lower-case ASCII (IDNA), without `www.`; "" when it is not a host."""
    if "%" in host:
        host = unquote_to_bytes(host).decode("utf-8", "replace")
    host = host.strip().rstrip(".").lower()
    if not host.isascii():
        host = host.encode("idna").decode("ascii")  # UnicodeError is a ValueError
    if ":" in host:
        return f"[{host}]"
    if not host or re.search(r"[\s/\\?#@<>^|%\[\]]", host):
        return ""
    if host.startswith("www.") and "." in host[4:]:
        host = host[4:]
    return _HOST_ALIASES.get(host, host)


def _path(host: str, path: str) -> str:
    """Return the path with dot segments resolved, escapes normal and no trailing slash."""
    segments: list[str] = []
    for segment in _escape(path, _KEPT_IN_PATH).split("/")[1:]:
        if segment == "..":
            segments = segments[:-1]
        elif segment != ".":
            segments.append(segment)
    caseless = _CASELESS_SEGMENTS.get(host, 0)
    segments[:caseless] = [segment.lower() for segment in segments[:caseless]]
    while segments and not segments[-1]:
        segments.pop()
    return "/" + "/".join(segments)


def _query(host: str, query: str) -> str:
    """Return the query without tracking parameters, sorted by name; "" when nothing is left."""
    kept = []
    for part in query.split("&"):
        name = part.partition("=")[0]
        if part and not is_tracking(host, unquote_to_bytes(name).decode("utf-8", "replace")):
            kept.append(_escape(part.replace("+", "%20"), _KEPT_IN_QUERY + "="))
    kept.sort(key=lambda part: part.partition("=")[0])
    return "?" + "&".join(kept) if kept else ""


def _escape(text: str, kept: str) -> str:
    """Return `text` with each character either plain or percent-encoded, never both ways."""
    raw = _ESCAPE.sub(_unescape, text.encode("utf-8", "replace"))
    return quote(raw, safe=kept + "%~")


def _unescape(match: re.Match[bytes]) -> bytes:
    value = int(match[1], 16)
    return bytes([value]) if value in _UNRESERVED else match[0].upper()
