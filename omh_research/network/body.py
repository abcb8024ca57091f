"""Reading a response body within bounds.

Job: collect a streamed body under a cap on raw and on decoded bytes and a deadline; undo gzip and
deflate as it streams. Refuses to cut: a body over the cap is `too_large`, a short or damaged one
an error (spec D7, 81-reliability section 7). Importers: transport.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable, Iterator

from omh_research.errors import TransportError

_PIECE = 64 * 1024
_MAX_LAYERS = 2
_GZIP_NAMES = ("gzip", "x-gzip")
_WBITS_GZIP = 31
_WBITS_ZLIB = 15
_WBITS_RAW = -15


def too_large(shown: str, max_bytes: int) -> TransportError:
    """Return the error for a body over `max_bytes`."""
    return TransportError(f"{shown} is larger than {max_bytes} bytes.", state="too_large")


def collect(
    chunks: Iterable[bytes], encoding: str, max_bytes: int, deadline: float, shown: str
) -> bytes:
    """Return the whole decoded body.

    `encoding` is the Content-Encoding header, `deadline` a `time.monotonic()` value, `shown` the
    redacted URL for errors. Raises `TransportError` with state `too_large`, `timeout`,
    `unsupported` or `error`.
    """
    stream: Iterator[bytes] = _bounded(chunks, max_bytes, deadline, shown)
    for name in reversed(_layers(encoding, shown)):
        stream = _bounded(_inflate(stream, name, shown), max_bytes, deadline, shown)
    body = bytearray()
    for piece in stream:
        body += piece
    return bytes(body)


def _layers(encoding: str, shown: str) -> list[str]:
    names = [name.strip().lower() for name in encoding.split(",")]
    layers = [name for name in names if name and name != "identity"]
    if len(layers) > _MAX_LAYERS:
        raise TransportError(f"{shown} is compressed {len(layers)} times over.", state="refused")
    for name in layers:
        if name not in (*_GZIP_NAMES, "deflate"):
            raise TransportError(
                f"{shown} came in the content encoding {name[:20]!r}, which was not asked for.",
                state="unsupported",
            )
    return layers


def _bounded(
    chunks: Iterable[bytes], max_bytes: int, deadline: float, shown: str
) -> Iterator[bytes]:
    total = 0
    for chunk in chunks:
        total += len(chunk)
        if total > max_bytes:
            raise too_large(shown, max_bytes)
        if time.monotonic() > deadline:
            raise TransportError(f"{shown} did not end in time.", state="timeout")
        yield chunk


def _inflate(chunks: Iterator[bytes], name: str, shown: str) -> Iterator[bytes]:
    """Yield the decompressed stream in pieces of at most 64 kB, so a bomb never unfolds."""
    first = b""
    while len(first) < 2 and (chunk := next(chunks, b"")):
        first += chunk
    wbits = _WBITS_GZIP if name in _GZIP_NAMES else _deflate_wbits(first)
    engine = zlib.decompressobj(wbits)
    started = False
    try:
        for chunk in _chained(first, chunks):
            data = chunk
            while data:
                started = True
                piece = engine.decompress(data, _PIECE)
                data = engine.unconsumed_tail
                if engine.eof and not data:
                    data = engine.unused_data.lstrip(b"\0") if wbits == _WBITS_GZIP else b""
                    if data:  # gzip allows several members in a row
                        engine = zlib.decompressobj(wbits)
                if piece:
                    yield piece
        while started and not engine.eof:
            piece = engine.decompress(engine.unconsumed_tail, _PIECE)
            if not piece:
                break
            yield piece
    except zlib.error:
        raise TransportError(f"{shown} is damaged: its {name} data are invalid.") from None
    if started and not engine.eof:
        raise TransportError(f"{shown} is damaged: its {name} data end early.")


def _chained(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _deflate_wbits(first: bytes) -> int:
    """Tell zlib-wrapped deflate (the standard) from the raw one that some servers send."""
    if len(first) >= 2 and first[0] & 0x0F == 8 and (first[0] * 256 + first[1]) % 31 == 0:
        return _WBITS_ZLIB
    return _WBITS_RAW
