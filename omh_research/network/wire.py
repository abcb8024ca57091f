"""The bytes on the wire: connections that go only where they were sent, reads that end.

Job: a network backend that connects to checked addresses instead of resolving again, and a
stream that counts what it reads and keeps the deadline of the whole request. Refuses to judge
addresses. Loads the HTTP engine, so `transport` imports it only when a request is made.
Importers: transport.
"""

from __future__ import annotations

import contextlib
import select
import ssl
import time
from collections.abc import Iterable, Sequence
from typing import Any

import httpcore

_HEADER_WINDOW = 128 * 1024
_CONNECT_SHARE = 0.5
_LONGEST_FIRST_TRY_S = 4.0


class WireOverflow(Exception):
    """More bytes arrived than the request may read."""


class Meter:
    """What one exchange may use and has used: a deadline and a number of bytes.

    `deadline` is a `time.monotonic()` value. `head` keeps the first bytes after the connection
    was made, so that the length of the header block can be told afterwards.
    """

    def __init__(self, deadline: float, max_wire_bytes: int) -> None:
        self._deadline = deadline
        self._max_wire_bytes = max_wire_bytes
        self.bytes_read = 0
        self.head = bytearray()

    def left_s(self) -> float:
        """Return the seconds left; raises `httpcore.ReadTimeout` when there are none."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout("the request's time is up")
        return left

    def count(self, chunk: bytes) -> None:
        """Add what was read; raises `WireOverflow` past the limit."""
        self.bytes_read += len(chunk)
        if self.bytes_read > self._max_wire_bytes:
            raise WireOverflow
        if len(self.head) < _HEADER_WINDOW:
            self.head += chunk

    def restart(self) -> None:
        """Forget what was read so far (a proxy's answer, an unencrypted preamble)."""
        self.bytes_read = 0
        self.head.clear()


class BoundedStream(httpcore.NetworkStream):
    """A connection whose every read and write ends by the request's deadline.

    The engine's own time-outs are per read; a server that drips a byte a second passes those.
    """

    def __init__(self, inner: httpcore.NetworkStream, meter: Meter) -> None:
        self._inner = inner
        self._meter = meter

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return the next bytes, counted."""
        chunk = self._inner.read(max_bytes, self._meter.left_s())
        self._meter.count(chunk)
        return chunk

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send `buffer`."""
        self._inner.write(buffer, self._meter.left_s())

    def close(self) -> None:
        """Close the connection."""
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        """Encrypt; the name that is verified is the URL's host, not the address."""
        inner = self._inner.start_tls(ssl_context, server_hostname, self._meter.left_s())
        self._meter.restart()
        return BoundedStream(inner, self._meter)

    def get_extra_info(self, info: str) -> Any:
        """Return facts about the connection."""
        return self._inner.get_extra_info(info)


class PinnedBackend(httpcore.NetworkBackend):
    """Connects to the addresses it was made with, whatever name it is asked for.

    Resolving a second time is how a rebinding name server gets past a check (81 section 7).
    """

    def __init__(self, addresses: Sequence[str], meter: Meter) -> None:
        self._addresses = addresses
        self.meter = meter
        self.stream: BoundedStream | None = None

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Try the checked addresses in order; one dead address leaves time for the next."""
        last: Exception = httpcore.ConnectError("no address")
        for index, address in enumerate(self._addresses):
            is_last = index == len(self._addresses) - 1
            left = self.meter.left_s()
            try:
                # A black-holed IPv6 route must not eat the time of the IPv4 one behind it.
                first = min(left * _CONNECT_SHARE, _LONGEST_FIRST_TRY_S)
                inner = httpcore.SyncBackend().connect_tcp(
                    address, port, timeout=left if is_last else first
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                last = error
                continue
            self.stream = BoundedStream(inner, self.meter)
            return self.stream
        raise last

    def sleep(self, seconds: float) -> None:
        """Sleep, never past the deadline."""
        time.sleep(min(seconds, self.meter.left_s()))


def open_pool(
    backend: PinnedBackend, context: ssl.SSLContext, proxy: str | None
) -> httpcore.ConnectionPool:
    """Return a pool for one connection through `backend`, by way of `proxy` when given."""
    if proxy is None:
        return httpcore.ConnectionPool(
            ssl_context=context, max_connections=1, network_backend=backend
        )
    url = httpcore.URL(proxy)
    auth = _proxy_credentials(proxy)
    plain = httpcore.URL(scheme=url.scheme, host=url.host, port=url.port, target=b"/")
    return httpcore.HTTPProxy(
        proxy_url=plain,
        proxy_auth=auth,
        ssl_context=context,
        proxy_ssl_context=context if url.scheme == b"https" else None,
        max_connections=1,
        network_backend=backend,
    )


def _proxy_credentials(proxy: str) -> tuple[str, str] | None:
    from urllib.parse import unquote, urlsplit

    parts = urlsplit(proxy)
    if parts.username is None:
        return None
    return unquote(parts.username), unquote(parts.password or "")


def has_surplus(meter: Meter, stream: BoundedStream | None, content_length: int) -> bool:
    """Return whether more arrived than the header block and `content_length` bytes.

    The engine drops what follows a body of declared length; a server that declares less than it
    sends would have its page cut without anybody noticing.
    """
    head = bytes(meter.head)
    end = head.find(b"\r\n\r\n")
    if end < 0 or head[:8] not in (b"HTTP/1.1", b"HTTP/1.0") or head[9:10] == b"1":
        return False
    if meter.bytes_read > end + 4 + content_length:
        return True
    connection = stream.get_extra_info("socket") if stream else None
    with contextlib.suppress(OSError, ValueError, httpcore.NetworkError, httpcore.TimeoutException):
        if connection is not None and select.select([connection], [], [], 0)[0]:
            return bool(connection.recv(1))
    return False
