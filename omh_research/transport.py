"""The one door to the network: every request of every feature goes through `Transport`.

Job: fetch one URL under all the rules of `omh_research.network` (which targets, which addresses,
how long, how much, how often) and hand back the whole response or a typed error. Refuses to cut,
to follow a rule-breaking redirect, to parse bodies or to judge HTTP statuses. The only module
that imports httpx. Importers: providers, tools.academic, literature, wiring.

Rules: spec D7, T7, T7b and 81-reliability section 7. `OMH_OFFLINE=1` forbids all of it, loopback
included. States of the errors raised: `offline`, `refused`, `timeout`, `too_large`,
`unsupported`, `error`.
"""

from __future__ import annotations

import functools
import json
import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from msgspec import structs

from omh_research import __version__
from omh_research.errors import TransportError
from omh_research.network import backoff, body, guard, pacing, proxies, resolution
from omh_research.network.errand import (
    MAX_REDIRECTS,
    Errand,
    Response,
    asked_wait_s,
    redirect_headers,
    redirect_location,
    redirect_target,
)
from omh_research.network.guard import Target
from omh_research.network.redaction import redact_url

if TYPE_CHECKING:
    import ssl

    import httpcore
    import httpx

    from omh_research.network.wire import PinnedBackend

DEFAULT_TIMEOUT_S = 30.0
MAX_TIMEOUT_S = 60.0
DEFAULT_MAX_BYTES = 10_000_000
USER_AGENT = f"omh-research/{__version__} (research agent; polite; obeys robots.txt)"

_HEADER_ALLOWANCE = 256 * 1024
_BODILESS = frozenset({204, 304})


class _BrokenConnection(TransportError):
    """A failure that may pass by itself: worth one more try."""


class Transport:
    """Fetches URLs. Holds no connection, cookie or key; safe to use from several threads.

    `resolver` answers (host, port) with addresses. `intervals_s` are seconds between two requests
    per host (`pacing.INTERVALS_S`); hosts opened by `OMH_ALLOW_HOSTS` are not paced unless named.
    """

    def __init__(
        self,
        *,
        environ: Mapping[str, str] | None = None,
        resolver: resolution.Resolver = resolution.system_resolver,
        intervals_s: Mapping[str, float] = pacing.INTERVALS_S,
        default_interval_s: float = pacing.DEFAULT_INTERVAL_S,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._environ = os.environ if environ is None else environ
        self._resolver = resolver
        self._intervals_s = intervals_s
        self._pace = pacing.Pace(intervals_s, default_interval_s)
        self._sleep = sleep

    def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        max_bytes: int = DEFAULT_MAX_BYTES,
        allowed_hosts: frozenset[str] | None = None,
        accept: str = "*/*",
    ) -> Response:
        """Return the response to a GET, whatever its HTTP status.

        `timeout_s` (at most 60) bounds everything: name, connection, redirects, body, retries and
        the host's polite rate. `max_bytes` bounds the body, raw and decoded. `allowed_hosts`
        (`host` or `host:port`) is a fixed list that redirects may not leave. 429 and 5xx are
        asked again within the time, honouring `Retry-After`; a longer wait is never slept, the
        last response is returned. Raises `TransportError`.
        """
        sent = {"accept": accept, **_lower(headers)}
        return self._run(_errand("GET", url, sent, _Bounds(timeout_s, max_bytes, allowed_hosts)))

    def post_json(
        self,
        url: str,
        payload: Any,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        max_bytes: int = DEFAULT_MAX_BYTES,
        allowed_hosts: frozenset[str] | None = None,
    ) -> Response:
        """Return the response to a POST of `payload` as JSON; same rules as `get`.

        Redirects are followed only where the method stays (307, 308) and the host does too.
        """
        content = json.dumps(payload, ensure_ascii=False).encode("utf-8")
        json_type = "application/json"
        sent = {"accept": json_type, **_lower(headers), "content-type": json_type}
        errand = _errand("POST", url, sent, _Bounds(timeout_s, max_bytes, allowed_hosts))
        return self._run(structs.replace(errand, content=content))

    def probe(
        self, url: str, *, timeout_s: float, allowed_hosts: frozenset[str] | None = None
    ) -> None:
        """Open a connection to `url`'s host and close it: can it be reached under the rules?

        Sends nothing. Raises `TransportError` when it cannot.
        """
        errand = _errand("GET", url, {}, _Bounds(timeout_s, 0, allowed_hosts))
        addresses, proxy = self._route(errand, errand.target)
        _connect(errand, addresses, proxy)

    def _run(self, errand: Errand) -> Response:
        """Do the errand, trying again after passing failures while there is time."""
        attempt = 1
        while True:
            try:
                response = self._follow(errand)
                if response.status not in backoff.RETRIED_STATUSES:
                    return response
                wait = backoff.next_wait_s(attempt, asked_wait_s(response), errand.left_s())
                if wait is None:
                    return response
            except _BrokenConnection:
                wait = backoff.next_wait_s(attempt, None, errand.left_s())
                if wait is None:
                    raise
            self._sleep(wait)
            attempt += 1

    def _follow(self, errand: Errand) -> Response:
        """Do the errand through at most five redirects, each checked like the first URL."""
        target, headers, paced = errand.target, errand.headers, ""
        for _ in range(MAX_REDIRECTS + 1):
            if target.authority != paced:
                self._wait_turn(target, errand)
                paced = target.authority
            response = self._exchange(errand, target, headers)
            location = redirect_location(response)
            if not location:
                return response
            following = redirect_target(errand, target, response.status, location)
            headers = redirect_headers(headers, target, following)
            target = following
        shown = redact_url(errand.target.url)
        raise TransportError(f"{shown} redirects more than {MAX_REDIRECTS} times.")

    def _wait_turn(self, target: Target, errand: Errand) -> None:
        """Take the host's next polite slot and wait for it."""
        self._check_online(target)
        if target.authority in self._allowed() and target.host not in self._intervals_s:
            return
        wait = self._pace.take_slot(target.host, errand.left_s())
        if wait is None:
            raise TransportError(
                f"The polite rate for {target.host} leaves no turn within the time limit.",
                state="timeout",
            )
        if wait > 0:
            self._sleep(wait)

    def _allowed(self) -> frozenset[str]:
        return guard.parse_allowed(self._environ.get("OMH_ALLOW_HOSTS", ""))

    def _check_online(self, target: Target) -> None:
        if self._environ.get("OMH_OFFLINE", "") not in ("", "0"):
            raise TransportError(
                f"Not fetched: {redact_url(target.url)}, because OMH_OFFLINE forbids the network.",
                state="offline",
                hint="Unset OMH_OFFLINE to allow it.",
            )

    def _exchange(self, errand: Errand, target: Target, headers: dict[str, str]) -> Response:
        """Check the target, connect to it and read one response."""
        addresses, proxy = self._route(errand, target)
        return _speak(errand, target, headers, addresses, proxy)

    def _route(self, errand: Errand, target: Target) -> tuple[list[str], str | None]:
        """Return the checked addresses to connect to, and the proxy they belong to, if any."""
        self._check_online(target)
        allowed = self._allowed()
        guard.check_host_list(target, errand.hosts)
        guard.check_port(target, allowed)
        proxy = proxies.proxy_for(target, self._environ)
        if proxy is not None:
            return self._proxy_addresses(proxy, errand), proxy
        found = resolution.resolve(self._resolver, target.host, target.port, errand.left_s())
        return [str(each) for each in guard.check_addresses(target, found, allowed)], None

    def _proxy_addresses(self, proxy: str, errand: Errand) -> list[str]:
        """Resolve the user's own proxy; it is trusted knowingly and may be on a private network."""
        try:
            parts = urlsplit(proxy)
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port = None, None
        if not host or urlsplit(proxy).scheme not in ("http", "https"):
            raise TransportError(
                "The proxy in HTTP_PROXY or HTTPS_PROXY is no http(s) URL.",
                hint="Set it to http://HOST:PORT or name the provider in NO_PROXY.",
            )
        return resolution.resolve(self._resolver, host, port or 80, errand.left_s())


def _lower(headers: Mapping[str, str] | None) -> dict[str, str]:
    return {name.lower(): value for name, value in (headers or {}).items()}


class _Bounds(NamedTuple):
    """What a caller allows one errand."""

    timeout_s: float
    max_bytes: int
    hosts: frozenset[str] | None


def _errand(method: str, url: str, headers: Mapping[str, str], bounds: _Bounds) -> Errand:
    """Return the errand for `url`; refuses the URL before anything else happens."""
    deadline = time.monotonic() + min(max(bounds.timeout_s, 0.01), MAX_TIMEOUT_S)
    target = guard.parse_target(url)
    # Identity is asked for because every other coding has to be bounded as it unfolds.
    fixed = {"accept-encoding": "identity", "connection": "close"}
    sent = {"user-agent": USER_AGENT, **headers, **fixed}
    return Errand(method, target, sent, None, bounds.max_bytes, deadline, bounds.hosts)


@functools.cache
def _tls_context() -> ssl.SSLContext:
    """Return the one verifying TLS context of this process (making one takes tens of ms)."""
    import httpx

    return httpx.create_ssl_context()


def _connect(errand: Errand, addresses: list[str], proxy: str | None) -> None:
    """Open a plain connection to the first address that answers, and close it."""
    import httpcore

    from omh_research.network.wire import Meter, PinnedBackend

    port = (urlsplit(proxy).port or 80) if proxy else errand.target.port
    backend = PinnedBackend(addresses, Meter(errand.deadline, 0))
    try:
        backend.connect_tcp(errand.target.host, port).close()
    except (httpcore.ConnectError, httpcore.TimeoutException, OSError):
        shown = redact_url(errand.target.url)
        raise TransportError(f"No connection to {shown}.") from None


def _speak(
    errand: Errand,
    target: Target,
    headers: dict[str, str],
    addresses: list[str],
    proxy: str | None,
) -> Response:
    """Send one request to checked addresses and read the answer; maps every failure."""
    import httpcore
    import httpx

    from omh_research.network.wire import Meter, PinnedBackend, WireOverflow

    meter = Meter(errand.deadline, errand.max_bytes + _HEADER_ALLOWANCE)
    backend = PinnedBackend(addresses, meter)
    shown = redact_url(target.url)
    try:
        request = httpx.Request(errand.method, target.url, headers=headers, content=errand.content)
        return _send(errand, target, request, backend, proxy)
    except WireOverflow:
        raise body.too_large(shown, errand.max_bytes) from None
    except httpcore.TimeoutException:
        raise TransportError(f"{shown} did not answer in time.", state="timeout") from None
    except (httpcore.ConnectError, httpcore.ProxyError) as error:
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            raise TransportError(f"{shown} has no valid TLS certificate.") from None
        raise _BrokenConnection(f"No connection to {shown}.") from None
    except (httpcore.ReadError, httpcore.WriteError, OSError):
        raise _BrokenConnection(f"The connection to {shown} broke.") from None
    except httpcore.RemoteProtocolError as error:
        raise TransportError(f"{shown} broke the HTTP protocol: {_fault(str(error))}.") from None
    except (httpcore.LocalProtocolError, httpx.InvalidURL, ValueError):
        # The engine's own text may quote a header, so it is not passed on.
        raise TransportError(f"The request for {shown} cannot be sent.", state="refused") from None


def _send(
    errand: Errand,
    target: Target,
    request: httpx.Request,
    backend: PinnedBackend,
    proxy: str | None,
) -> Response:
    """Send `request` to the target's own parts (no second parser chooses the host) and read."""
    import httpcore
    import httpx

    from omh_research.network.wire import open_pool

    port = None if target.port == guard.DEFAULT_PORTS[target.scheme] else target.port
    url = httpcore.URL(scheme=target.scheme, host=target.host, port=port, target=target.path)
    with (
        open_pool(backend, _tls_context(), proxy) as pool,
        pool.stream(
            request.method, url, headers=request.headers.raw, content=errand.content
        ) as answer,
    ):
        received = httpx.Headers(answer.headers)
        content = _read_body(errand, target, answer, received, backend)
        names = {name.lower(): received[name] for name in received}
        return Response(answer.status, names, content, errand.target.url, target.url)


def _fault(text: str) -> str:
    """Return the kind of a protocol fault, without the bytes the server sent."""
    if "without sending a response" in text:
        return "it closed the connection without an answer"
    if "without sending complete message body" in text or "incomplete chunked" in text:
        return "the body is shorter than declared"
    if "too long" in text or "buffer" in text:
        return "the header block is too long"
    return "the answer is malformed"


def _read_body(
    errand: Errand,
    target: Target,
    answer: httpcore.Response,
    received: httpx.Headers,
    backend: PinnedBackend,
) -> bytes:
    """Read the body within bounds and check its length."""
    from omh_research.network.wire import has_surplus

    shown = redact_url(target.url)
    declared = received.get("content-length", "")
    length = int(declared) if declared.isascii() and declared.isdigit() else None
    if answer.status in _BODILESS:
        length = None
    if length is not None and "transfer-encoding" in received:
        raise TransportError(f"{shown} declared its length in two ways that exclude each other.")
    if length is not None and length > errand.max_bytes:
        raise body.too_large(shown, errand.max_bytes)
    encoding = received.get("content-encoding", "")
    content = body.collect(answer.iter_stream(), encoding, errand.max_bytes, errand.deadline, shown)
    if length is not None and has_surplus(backend.meter, backend.stream, length):
        raise TransportError(f"{shown} sent more than the length it declared.")
    return content
