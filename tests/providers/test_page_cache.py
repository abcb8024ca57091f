"""The HTTP cache: a server's own word, and nothing more (D7, RFC 9111)."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from omh_research.errors import TransportError
from omh_research.providers.web import page_cache
from omh_research.providers.web.page_cache import PageCache, is_cacheable_url
from omh_research.transport import Transport

from .site import Answer, Asked, Site

NOW = datetime.datetime(2026, 11, 30, 12, 0, tzinfo=datetime.UTC)


class _Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime.datetime:
        return self.now

    def pass_s(self, seconds: float) -> None:
        self.now += datetime.timedelta(seconds=seconds)


def _ask(cache: PageCache, server: Site, path: str = "/p") -> Any:
    return cache.get(server.transport(sleep=lambda s: None), server.base + path, 10.0, "*/*")


def _counting(**headers: str) -> Any:
    """Return an answer function that numbers its bodies."""
    count = iter(range(100))
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda asked: Answer(f"body {next(count)}".encode(), 200, "text/plain", named)


@pytest.mark.parametrize(
    ("headers", "after_s", "asked"),
    [
        ({"Cache_Control": "max-age=60"}, 59, 1),
        ({"Cache_Control": "max-age=60"}, 61, 2),
        ({"Cache_Control": "public, max-age=60"}, 30, 1),
        ({"Cache_Control": "max-age=60, no-cache"}, 1, 2),
        ({"Cache_Control": "no-store, max-age=60"}, 1, 2),
        ({"Cache_Control": "max-age=0"}, 1, 2),
        ({"Cache_Control": "max-age=soon"}, 1, 2),
        ({"Cache_Control": "max-age=60", "Vary": "*"}, 1, 2),
        ({"Cache_Control": "max-age=60", "Age": "50"}, 20, 2),
        ({"Cache_Control": "max-age=99999999"}, 8 * 24 * 3600, 2),
        ({"Expires": "Mon, 30 Nov 2099 12:00:00 GMT"}, 60, 1),
        ({"Expires": "0"}, 1, 2),
        ({"Last_Modified": "Mon, 30 Nov 2020 12:00:00 GMT"}, 1, 2),
        ({}, 0, 2),
    ],
)
def test_page_is_kept_as_long_as_its_server_says(
    headers: dict[str, str], after_s: float, asked: int, site: Any, tmp_path: Path
) -> None:
    clock = _Clock()
    server, cache = site(_counting(**headers)), PageCache(tmp_path, clock=clock)
    first = _ask(cache, server)
    clock.pass_s(after_s)
    second = _ask(cache, server)
    assert len(server.asked) == asked
    assert (second.body == first.body) == (asked == 1)
    assert second.headers["content-type"] == "text/plain"


def test_stale_page_is_asked_for_only_if_changed(site: Any, tmp_path: Path) -> None:
    def answer(asked: Asked) -> Answer:
        if asked.headers.get("if-none-match") == '"v1"':
            return Answer(b"", 304, headers={"ETag": '"v1"', "Cache-Control": "max-age=60"})
        return Answer(b"whole", 200, "text/plain", {"ETag": '"v1"'})

    server, cache = site(answer), PageCache(tmp_path, clock=_Clock())
    bodies = [_ask(cache, server).body for _ in range(3)]
    assert bodies == [b"whole"] * 3
    assert len(server.asked) == 2  # the 304 made it fresh for a minute


@pytest.mark.parametrize("status", [404, 500, 403])
def test_failure_is_never_kept(status: int, site: Any, tmp_path: Path) -> None:
    server = site(
        lambda asked: Answer(b"no", status, "text/plain", {"Cache-Control": "max-age=60"})
    )
    cache = PageCache(tmp_path, clock=_Clock())
    before = _ask(cache, server).status
    assert (before, _ask(cache, server).status, list(tmp_path.iterdir())) == (status, status, [])


def test_kept_page_survives_the_process_and_a_damaged_file_does_not_matter(
    site: Any, tmp_path: Path
) -> None:
    server = site(_counting(Cache_Control="max-age=60"))
    assert _ask(PageCache(tmp_path), server).body == b"body 0"
    assert _ask(PageCache(tmp_path), server).body == b"body 0"
    (path,) = tmp_path.iterdir()
    for damage in (
        b"",
        b"{",
        b"null\nx",
        b'{"status": 200}\nx',
        b"\xff\xfe\n",
        path.read_bytes()[:40],
    ):
        path.write_bytes(damage)
        assert _ask(PageCache(tmp_path), server).body != b"x"


def test_secrets_in_addresses_are_never_kept(site: Any, tmp_path: Path) -> None:
    server = site(_counting(Cache_Control="max-age=60"))
    _ask(PageCache(tmp_path), server, "/p?api_key=canary-1")
    assert list(tmp_path.iterdir()) == []
    assert not is_cacheable_url("https://u:p@a.test/") and is_cacheable_url("https://a.test/?q=key")


def test_folder_stays_within_its_bound(
    site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_cache, "MAX_TOTAL_BYTES", 3_000)
    big = Answer(b"x" * 900, 200, "text/plain", {"Cache-Control": "max-age=60"})
    server, cache = site(lambda asked: big), PageCache(tmp_path)
    for number in range(8):
        _ask(cache, server, f"/{number}")
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 3_000


def test_stale_page_is_not_served_when_the_network_is_forbidden(site: Any, tmp_path: Path) -> None:
    server = site(_counting(ETag='"a"'))
    cache = PageCache(tmp_path)
    _ask(cache, server)
    with pytest.raises(TransportError, match="OMH_OFFLINE"):
        cache.get(Transport(environ={"OMH_OFFLINE": "1"}), server.base + "/p", 5.0, "*/*")


def test_unwritable_folder_is_no_fault(site: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    server = site(_counting(Cache_Control="max-age=60"))
    assert _ask(PageCache(tmp_path / "file"), server).body == b"body 0"
