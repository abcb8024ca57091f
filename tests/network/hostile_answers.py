"""What hostile and broken servers answer, and the state each must end in (issue 5.3, D7)."""

from __future__ import annotations

import gzip
import socket
import time
import zlib

from msgspec import Struct

from .hostile import Script, raw, reply

MAX_BYTES = 200_000


class Case(Struct, frozen=True):
    """One server: `states` are the acceptable outcomes ("ok" means a whole response)."""

    name: str
    script: Script
    states: tuple[str, ...]
    body: bytes | None = None


def _forever(chunk: bytes, head: bytes) -> Script:
    def script(connection: socket.socket, request: bytes) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(chunk)

    return script


def _drip(head: bytes, piece: bytes, pause_s: float = 0.05) -> Script:
    def script(connection: socket.socket, request: bytes) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(piece)
            time.sleep(pause_s)

    return script


def _silence(connection: socket.socket, request: bytes) -> None:
    time.sleep(5)


def _reset(connection: socket.socket, request: bytes) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    connection.close()


def _raw_deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(9, zlib.DEFLATED, -15)
    return engine.compress(data) + engine.flush()


_OK = b"HTTP/1.1 200 OK\r\n"
_ZEROS = b"\0" * 5_000_000
_BOMB = gzip.compress(_ZEROS)
_TEXT = b"the quick brown fox " * 200
_CHUNKED = _OK + b"Transfer-Encoding: chunked\r\n\r\n"


def _coded(body: bytes, coding: str) -> Script:
    return reply(body, headers=f"Content-Encoding: {coding}\r\n")


SIZE = (
    Case("declares 10 GB", raw(_OK + b"Content-Length: 10000000000\r\n\r\nabc"), ("too_large",)),
    Case("one byte too many, declared", reply(b"x" * (MAX_BYTES + 1)), ("too_large",)),
    Case("exactly the limit", reply(b"x" * MAX_BYTES), ("ok",), b"x" * MAX_BYTES),
    Case("endless chunks", _forever(b"1000\r\n" + b"x" * 4096 + b"\r\n", _CHUNKED), ("too_large",)),
    Case("endless body without length", _forever(b"x" * 4096, _OK + b"\r\n"), ("too_large",)),
    Case("one chunk of 2^60", raw(_CHUNKED + b"1000000000000000\r\n", b"x" * 500_000), ("too_large", "error")),
    Case("gzip bomb", _coded(_BOMB, "gzip"), ("too_large",)),
    Case("x-gzip bomb", _coded(_BOMB, "x-gzip"), ("too_large",)),
    Case("two layers of gzip", _coded(gzip.compress(_BOMB), "gzip, gzip"), ("too_large",)),
    Case("three layers of gzip", _coded(gzip.compress(gzip.compress(_BOMB)), "gzip,gzip,gzip"), ("refused",)),
    Case("deflate bomb", _coded(zlib.compress(_ZEROS), "deflate"), ("too_large",)),
    Case("raw deflate bomb", _coded(_raw_deflate(_ZEROS), "deflate"), ("too_large",)),
    Case("bomb of many gzip members", _coded(gzip.compress(b"\0" * 1000) * 5000, "gzip"), ("too_large",)),
    Case("bomb in chunks", raw(_OK + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
                               + f"{len(_BOMB):x}\r\n".encode() + _BOMB + b"\r\n0\r\n\r\n"), ("too_large",)),
    Case("bomb in an error page", reply(_BOMB, status="404 Not Found", headers="Content-Encoding: gzip\r\n"), ("too_large",)),
)  # fmt: skip

LENGTH = (
    Case("body shorter than declared", raw(_OK + b"Content-Length: 100\r\n\r\nshort"), ("error",)),
    Case("body longer than declared", raw(_OK + b"Content-Length: 5\r\n\r\nhello world"), ("error",)),
    Case("length 0 but a body", raw(_OK + b"Content-Length: 0\r\n\r\nhello"), ("error",)),
    Case("two lengths that differ", raw(_OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"), ("error",)),
    Case("length and chunks at once", raw(_OK + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), ("error",)),
    Case("negative length", raw(_OK + b"Content-Length: -5\r\n\r\nhello"), ("error",)),
    Case("length is a word", raw(_OK + b"Content-Length: five\r\n\r\nhello"), ("error",)),
    Case("length in hexadecimal", raw(_OK + b"Content-Length: 0x5\r\n\r\nhello"), ("error",)),
    Case("length with a plus", raw(_OK + b"Content-Length: +5\r\n\r\nhello"), ("error",)),
    Case("length of 5,000 digits", raw(_OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n"), ("error", "too_large")),
    Case("chunks cut off", raw(_CHUNKED + b"5\r\nhello\r\n"), ("error",)),
    Case("chunk shorter than its size", raw(_CHUNKED + b"50\r\nhello\r\n"), ("error",)),
    Case("negative chunk size", raw(_CHUNKED + b"-5\r\nhello\r\n0\r\n\r\n"), ("error",)),
    Case("chunk size is a word", raw(_CHUNKED + b"zz\r\nhello\r\n0\r\n\r\n"), ("error",)),
    Case("endless chunk extension", _forever(b"x" * 4096, _CHUNKED + b"5;"), ("error", "too_large")),
    Case("endless trailers", _forever(b"X-A: b\r\n" * 500, _CHUNKED + b"0\r\n"), ("error", "too_large")),
    Case("unknown transfer coding", raw(_OK + b"Transfer-Encoding: gzip\r\n\r\nhello"), ("error",)),
)  # fmt: skip

CODING = (
    Case("gzip cut short", _coded(gzip.compress(_TEXT)[:-12], "gzip"), ("error",)),
    Case("gzip with a flipped byte", _coded(gzip.compress(_TEXT)[:-5] + b"\xff" * 5, "gzip"), ("error",)),
    Case("gzip declared, text sent", _coded(_TEXT, "gzip"), ("error",)),
    Case("deflate declared, text sent", _coded(_TEXT, "deflate"), ("error",)),
    Case("garbage after gzip", _coded(gzip.compress(_TEXT) + b"garbage", "gzip"), ("error",)),
    Case("brotli unasked", _coded(b"\x8b\x02\x80hello\x03", "br"), ("unsupported",)),
    Case("zstd unasked", _coded(b"\x28\xb5\x2f\xfd", "zstd"), ("unsupported",)),
    Case("made-up coding", _coded(b"hello", "rot13"), ("unsupported",)),
    Case("empty body called gzip", _coded(b"", "gzip"), ("ok",), b""),
    Case("good gzip", _coded(gzip.compress(_TEXT), "gzip"), ("ok",), _TEXT),
    Case("good gzip in two members", _coded(gzip.compress(_TEXT) + gzip.compress(_TEXT), "gzip"), ("ok",), _TEXT * 2),
    Case("good deflate", _coded(zlib.compress(_TEXT), "deflate"), ("ok",), _TEXT),
    Case("good raw deflate", _coded(_raw_deflate(_TEXT), "deflate"), ("ok",), _TEXT),
    Case("good gzip of deflate", _coded(gzip.compress(zlib.compress(_TEXT)), "deflate, gzip"), ("ok",), _TEXT),
    Case("identity by name", _coded(_TEXT, "identity"), ("ok",), _TEXT),
)  # fmt: skip

TIME = (
    Case("never answers", _silence, ("timeout",)),
    Case("drips its status line", _drip(b"HTTP/1.1 ", b"2"), ("timeout", "error")),
    Case("drips its headers", _drip(_OK, b"X-Slow: drip\r\n"), ("timeout",)),
    Case("drips its body", _drip(_OK + b"Content-Length: 100000\r\n\r\n", b"x"), ("timeout",)),
    Case("drips its chunks", _drip(_CHUNKED, b"1\r\nx\r\n"), ("timeout",)),
    Case("drips without length", _drip(_OK + b"\r\n", b"x"), ("timeout",)),
    Case("endless interim answers", _drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.01), ("timeout", "too_large")),
    Case("stops after the headers", lambda c, r: (c.sendall(_OK + b"Content-Length: 10\r\n\r\n"), time.sleep(3))[0], ("timeout",)),
)  # fmt: skip

HEADERS = (
    Case("endless headers", _forever(b"X-Filler: " + b"a" * 500 + b"\r\n", _OK), ("error", "too_large")),
    Case("one endless header", _forever(b"a" * 4096, _OK + b"X-Long: "), ("error", "too_large")),
    Case("endless status line", _forever(b"a" * 4096, b"HTTP/1.1 200 "), ("error", "too_large")),
    Case("NUL in a header", raw(_OK + b"X-A: a\0b\r\nContent-Length: 0\r\n\r\n"), ("error",)),
    Case("no colon in a header", raw(_OK + b"garbage\r\n\r\n"), ("error",)),
    Case("a header without a name", raw(_OK + b": value\r\n\r\n"), ("error",)),
    Case("status of two digits", raw(b"HTTP/1.1 20 OK\r\n\r\n"), ("error",)),
    Case("status 1000", raw(b"HTTP/1.1 1000 No\r\nContent-Length: 0\r\n\r\n"), ("error",)),
    Case("version 9.9", raw(b"HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n"), ("error", "ok")),
    Case("HTTP/0.9", raw(b"<html>hello</html>"), ("error",)),
    Case("another protocol's greeting", raw(b"220 mail.example.com ESMTP\r\n"), ("error",)),
    Case("TLS alert in plain", raw(b"\x15\x03\x01\x00\x02\x02\x46"), ("error",)),
    Case("binary noise", raw(bytes(range(256)) * 40), ("error",)),
    Case("closes at once", lambda c, r: None, ("error",)),
    Case("resets the connection", _reset, ("error",)),
    Case("closes within the headers", raw(_OK + b"Content-Ty"), ("error",)),
    Case("switches protocols", raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), ("error", "ok")),
    Case("no content with a body", raw(b"HTTP/1.1 204 No Content\r\n\r\nsurprise"), ("ok",), b""),
    Case("interim answer, then a good one", raw(b"HTTP/1.1 103 Early Hints\r\n\r\n" + _OK + b"Content-Length: 2\r\n\r\nok"), ("ok",), b"ok"),
)  # fmt: skip

ALL = (*SIZE, *LENGTH, *CODING, *TIME, *HEADERS)
