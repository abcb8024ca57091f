"""One request as asked for, the response to it, and where a redirect may lead it.

Job: the value types of the door and the redirect rules. Refuses to connect. Importers: transport,
providers (for `Response`).
"""

from __future__ import annotations

import time
from urllib.parse import urljoin

from msgspec import Struct

from omh_research.network import backoff, guard
from omh_research.network.exhaustion import utc_now
from omh_research.network.guard import Target

MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KEPT_ACROSS_HOSTS = frozenset(
    {"accept", "accept-encoding", "accept-language", "connection", "user-agent"}
)


class Response(Struct, frozen=True):
    """A whole response. `headers` has lower-case names; `body` is decoded and never cut."""

    status: int
    headers: dict[str, str]
    body: bytes
    url: str
    final_url: str

    @property
    def content_type(self) -> str:
        """The media type, lower case, without parameters; "" when undeclared."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class Errand(Struct, frozen=True):
    """One request as asked for, before any redirect. `deadline` is a monotonic time."""

    method: str
    target: Target
    headers: dict[str, str]
    content: bytes | None
    max_bytes: int
    deadline: float
    hosts: frozenset[str] | None

    def left_s(self) -> float:
        """Return the seconds left, never negative."""
        return max(self.deadline - time.monotonic(), 0.0)


def asked_wait_s(response: Response) -> float | None:
    """Return the seconds the server asks to wait, None when it names none."""
    value = response.headers.get("retry-after")
    return backoff.parse_retry_after(value, utc_now()) if value else None


def redirect_location(response: Response) -> str:
    """Return where a response redirects to, "" when it does not."""
    return response.headers.get("location", "") if response.status in _REDIRECTS else ""


def redirect_target(errand: Errand, target: Target, status: int, location: str) -> Target:
    """Return the next target, checked; raises `TransportError` (`refused`)."""
    url = urljoin(target.url, location.strip().replace(" ", "%20")).partition("#")[0]
    following = guard.parse_target(url)
    if target.scheme == "https" and following.scheme == "http":
        raise guard.refuse(url, "a redirect may not leave https")
    if errand.method != "GET" and (status not in (307, 308) or not _same_party(target, following)):
        raise guard.refuse(url, "a request with a body is not redirected elsewhere")
    return following


def redirect_headers(headers: dict[str, str], target: Target, following: Target) -> dict[str, str]:
    """Return the headers for the next target: another party gets no credentials."""
    if _same_party(target, following):
        return headers
    return {name: value for name, value in headers.items() if name in _KEPT_ACROSS_HOSTS}


def _same_party(one: Target, other: Target) -> bool:
    """Return whether credentials may follow: the same host, and nowhere less safe."""
    if one.host != other.host:
        return False
    return one.authority == other.authority or (one.scheme, other.scheme) == ("http", "https")
