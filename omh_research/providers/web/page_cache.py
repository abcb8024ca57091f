"""An HTTP cache for pages: what a server lets us keep is not asked for again.

Job: keep good GET responses under the user's cache folder, answer from them while they are fresh
by the server's own word, and ask "changed?" when they are not (RFC 9111, a private cache; spec
D7). Refuses to guess freshness and to keep what carries credentials or a secret in its URL.
Importers: providers.web.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from omh_research.network.errand import Response
from omh_research.network.exhaustion import utc_now
from omh_research.network.redaction import is_secret_name
from omh_research.network.state_folder import state_home

if TYPE_CHECKING:
    from omh_research.transport import Transport

MAX_TOTAL_BYTES = 200_000_000
MAX_AGE_S = 7 * 24 * 3600
_MAX_HEAD_BYTES = 64_000
_KEPT_HEADERS = frozenset(
    {"content-type", "content-language", "etag", "last-modified", "cache-control", "expires",
     "date", "age", "vary"}
)  # fmt: skip

Clock = Callable[[], datetime.datetime]


class PageCache:
    """One folder of kept responses, one file each. Safe for several threads and processes."""

    def __init__(self, folder: Path | None = None, *, clock: Clock = utc_now) -> None:
        self._folder = folder if folder is not None else state_home() / "pages"
        self._clock = clock

    def get(self, transport: Transport, url: str, timeout_s: float, accept: str) -> Response:
        """Return the response to a GET of `url`, kept or new. Raises `TransportError`."""
        if not is_cacheable_url(url):
            return transport.get(url, timeout_s=timeout_s, accept=accept)
        path = self._path(url, accept)
        kept, stored_at = _load(path)
        if kept is not None and self._is_fresh(kept.headers, stored_at):
            return kept
        asked = transport.get(url, timeout_s=timeout_s, accept=accept, headers=_conditions(kept))
        if kept is not None and asked.status == 304:
            headers = {**kept.headers, **_kept_headers(asked.headers)}
            kept = Response(kept.status, headers, kept.body, url, kept.final_url)
            self._store(path, kept)
            return kept
        if asked.status == 200 and _may_keep(asked.headers):
            self._store(path, asked)
        return asked

    def _path(self, url: str, accept: str) -> Path:
        digest = hashlib.sha256(f"{accept}\n{url}".encode()).hexdigest()[:32]
        return self._folder / f"{digest}.page"

    def _is_fresh(self, headers: Mapping[str, str], stored_at: float) -> bool:
        """Return whether the server's own word still covers the response; nothing is guessed."""
        rules = _cache_control(headers)
        if "no-cache" in rules:
            return False
        age = self._clock().timestamp() - stored_at
        if age < 0:
            return False
        lifetime = _lifetime_s(headers, rules)
        began = headers.get("age", "0")
        spent = age + (float(began) if began.isascii() and began.isdigit() else 0.0)
        return spent < min(lifetime, MAX_AGE_S)

    def _store(self, path: Path, response: Response) -> None:
        """Keep a response; a folder that cannot be written is no fault."""
        head = {
            "status": response.status, "url": response.url, "final_url": response.final_url,
            "headers": _kept_headers(response.headers), "stored_at": self._clock().timestamp(),
        }  # fmt: skip
        line = json.dumps(head, ensure_ascii=True).encode() + b"\n"
        import tempfile

        name = ""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".new")
            with os.fdopen(handle, "wb") as file:
                file.write(line + response.body)
            os.replace(name, path)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(name)
            return
        self._make_room()

    def _make_room(self) -> None:
        """Remove the responses kept longest until the folder is within its bound."""
        try:
            found = [(entry.stat(), entry.path) for entry in os.scandir(self._folder)]
        except OSError:
            return
        total = sum(facts.st_size for facts, _ in found)
        for facts, path in sorted(found, key=lambda each: each[0].st_mtime):
            if total <= MAX_TOTAL_BYTES:
                return
            with contextlib.suppress(OSError):
                os.unlink(path)
            total -= facts.st_size


def is_cacheable_url(url: str) -> bool:
    """Return whether a response to `url` may lie in a file: no secret in its address."""
    try:
        parts = urlsplit(url)
        names = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    except ValueError:
        return False
    return "@" not in parts.netloc and not any(is_secret_name(name) for name in names)


def _load(path: Path) -> tuple[Response | None, float]:
    """Return a kept response and when it was stored; None when absent or damaged."""
    try:
        with path.open("rb") as file:
            line = file.readline(_MAX_HEAD_BYTES)
            body = file.read()
        head: dict[str, Any] = json.loads(line)
        headers = {str(name): str(value) for name, value in head["headers"].items()}
        kept = Response(
            int(head["status"]), headers, body, str(head["url"]), str(head["final_url"])
        )
        return kept, float(head["stored_at"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None, 0.0


def _kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name in _KEPT_HEADERS}


def _conditions(kept: Response | None) -> dict[str, str]:
    if kept is None:
        return {}
    conditions = {}
    if etag := kept.headers.get("etag"):
        conditions["if-none-match"] = etag
    if modified := kept.headers.get("last-modified"):
        conditions["if-modified-since"] = modified
    return conditions


def _cache_control(headers: Mapping[str, str]) -> dict[str, str]:
    parts = (
        each.strip().lower().partition("=") for each in headers.get("cache-control", "").split(",")
    )
    return {name: value.strip('"') for name, _, value in parts if name}


def _may_keep(headers: Mapping[str, str]) -> bool:
    """Return whether a response may be kept and would ever be of use."""
    rules = _cache_control(headers)
    if "no-store" in rules or headers.get("vary", "").strip() == "*":
        return False
    return "etag" in headers or "last-modified" in headers or _lifetime_s(headers, rules) > 0


def _lifetime_s(headers: Mapping[str, str], rules: Mapping[str, str]) -> float:
    stated = rules.get("max-age", "")
    if stated:
        return float(stated) if stated.isascii() and stated.isdigit() and len(stated) < 10 else 0.0
    from email.utils import parsedate_to_datetime

    try:
        expires = parsedate_to_datetime(headers["expires"])
        return max((expires - parsedate_to_datetime(headers["date"])).total_seconds(), 0.0)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError):
        return 0.0
