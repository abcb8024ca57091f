"""The door for model servers: the client that model libraries are handed.

Job: an HTTP client that speaks to one server only, connects to checked addresses, follows no
redirect and bounds what it reads (spec D4, D7, 81-reliability section 7). Refuses every other host.
Loads the HTTP engine of the model libraries, so it is imported only when a model is asked.
Importers: llm.client.

A server whose address the user configured may be local or private: it was named knowingly, as a
proxy is. A provider's own public address has to resolve to public addresses.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from typing import NamedTuple

import httpx2

from omh_research.errors import TransportError
from omh_research.network import guard, proxies, resolution
from omh_research.network.guard import Target
from omh_research.network.redaction import redact_url

MAX_ANSWER_BYTES = 32_000_000
RESOLVE_TIMEOUT_S = 10.0


class ModelServer(NamedTuple):
    """Where a model is asked: `url` of the interface; `is_own` when the user gave it."""

    url: str
    is_own: bool


def open_model_client(
    server: ModelServer,
    timeout_s: float,
    *,
    environ: Mapping[str, str] | None = None,
    resolver: resolution.Resolver = resolution.system_resolver,
) -> httpx2.AsyncClient:
    """Return the client for one model server; close it after use.

    Raises `TransportError` for an address that no rule allows. Requests raise it too, when the
    server's name leads where it must not.
    """
    seen = os.environ if environ is None else environ
    target = guard.parse_target(server.url)
    proxy = proxies.proxy_of_user(target, seen)
    transport = _CheckedTransport(target, server, seen, resolver, proxy)
    return httpx2.AsyncClient(
        transport=transport,
        timeout=timeout_s,
        follow_redirects=False,
        trust_env=False,
        headers={"accept-encoding": "identity"},
    )


class _CheckedTransport(httpx2.AsyncBaseTransport):
    """Sends requests to one host and port, through addresses that were checked just before."""

    def __init__(
        self,
        target: Target,
        server: ModelServer,
        environ: Mapping[str, str],
        resolver: resolution.Resolver,
        proxy: str | None,
    ) -> None:
        self._target, self._environ, self._resolver = target, environ, resolver
        self._is_own, self._proxy = server.is_own, proxy
        self._inner = httpx2.AsyncHTTPTransport(proxy=proxy)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Check, connect to the first address that answers, send."""
        target = guard.parse_target(str(request.url))
        self._check(target)
        if self._proxy is not None:
            return _bounded(await self._inner.handle_async_request(request))
        request.extensions = {**request.extensions, "sni_hostname": target.host}
        addresses = await self._addresses(target)
        url = request.url
        for address in addresses[:-1]:
            request.url = url.copy_with(host=address)
            try:
                return _bounded(await self._inner.handle_async_request(request))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        request.url = url.copy_with(host=addresses[-1])
        return _bounded(await self._inner.handle_async_request(request))

    def _check(self, target: Target) -> None:
        if self._environ.get("OMH_OFFLINE", "") not in ("", "0"):
            raise TransportError(
                f"Not asked: {redact_url(target.url)}, because OMH_OFFLINE forbids the network.",
                state="offline",
            )
        guard.check_host_list(target, frozenset({self._target.authority}))
        guard.check_port(target, self._allowed())

    def _allowed(self) -> frozenset[str]:
        allowed = guard.parse_allowed(self._environ.get("OMH_ALLOW_HOSTS", ""))
        return allowed | {self._target.authority} if self._is_own else allowed

    async def _addresses(self, target: Target) -> list[str]:
        found = await asyncio.to_thread(
            resolution.resolve, self._resolver, target.host, target.port, RESOLVE_TIMEOUT_S
        )
        return [str(each) for each in guard.check_addresses(target, found, self._allowed())]

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


def _bounded(response: httpx2.Response) -> httpx2.Response:
    """Return the response with a body that ends; refuses one that unfolds by itself."""
    if response.headers.get("content-encoding", "identity") not in ("", "identity"):
        raise httpx2.RemoteProtocolError("the answer is compressed though that was not asked for")
    response.stream = _BoundedBody(response.stream)  # type: ignore[arg-type]
    return response


class _BoundedBody(httpx2.AsyncByteStream):
    """A body of at most `MAX_ANSWER_BYTES`."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count = 0
        async for chunk in self._inner:
            count += len(chunk)
            if count > MAX_ANSWER_BYTES:
                raise httpx2.RemoteProtocolError(f"more than {MAX_ANSWER_BYTES} bytes of answer")
            yield chunk

    async def aclose(self) -> None:
        """Close the body."""
        await self._inner.aclose()
