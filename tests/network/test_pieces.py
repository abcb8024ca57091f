"""Small parts of the door: redaction, bounded bodies, names that never resolve."""

from __future__ import annotations

import gzip
import threading
import time
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.errors import TransportError
from omh_research.network.addresses import is_public, parse_address
from omh_research.network.body import collect
from omh_research.network.errand import Errand, redirect_target
from omh_research.network.guard import parse_allowed, parse_target
from omh_research.network.redaction import redact_text, redact_url
from omh_research.network.resolution import resolve

SECRET = "sk-very-secret-1"


@pytest.mark.parametrize(
    "url",
    [
        f"https://user:{SECRET}@api.test/x",
        f"https://api.test/x?api_key={SECRET}",
        f"https://api.test/x?a=1&token={SECRET}&b=2",
        f"https://api.test/x?access-token={SECRET}",
        f"https://api.test/x?KEY={SECRET}",
        f"https://api.test/x?X-Amz-Signature={SECRET}",
        f"https://api.test/x#access_token={SECRET}",
        f"https://api.test/x?client_secret={SECRET}",
        f"https://api.test/x?mailto={SECRET}",
    ],
)
def test_urls_are_shown_without_secrets(url: str) -> None:
    shown = redact_url(url)
    assert SECRET not in shown
    assert "api.test/x" in shown


def test_ordinary_parameters_are_shown() -> None:
    assert (
        redact_url("https://a.test/x?query=monkey&page=2") == "https://a.test/x?query=monkey&page=2"
    )
    assert len(redact_url("https://a.test/" + "x" * 5000)) < 400
    assert redact_text(f"bad {SECRET} and ab", (SECRET, "ab")) == "bad REDACTED and ab"


@given(st.text(max_size=80))
def test_redaction_never_fails(text: str) -> None:
    assert isinstance(redact_url(f"https://{text}"), str)


@given(st.text(max_size=60))
def test_any_text_is_one_target_or_refused(text: str) -> None:
    for url in (text, f"http://{text}", f"http://example.com/{text}"):
        try:
            target = parse_target(url)
        except TransportError as error:
            assert error.state == "refused"
        else:
            assert parse_target(target.url) == target


@given(st.ip_addresses(v=4))
def test_wrapping_never_opens_an_address(address) -> None:  # type: ignore[no-untyped-def]
    """What is closed in the clear stays closed in every IPv6 form that carries it, and back."""
    value = int(address)
    forms = [
        f"::ffff:{address}",
        f"64:ff9b::{address}",
        f"2002:{value >> 16:x}:{value & 65535:x}::1",
    ]
    for form in forms:
        wrapped = parse_address(form)
        assert wrapped is not None
        assert is_public(wrapped) == is_public(address)
    compatible = parse_address(f"::{address}")
    assert compatible is not None
    assert not is_public(compatible) or is_public(address)


@given(
    st.binary(max_size=3000), st.integers(1, 700), st.sampled_from(["gzip", "deflate", "identity"])
)
def test_bodies_come_back_whole_however_they_are_split(data: bytes, size: int, coding: str) -> None:
    sent = {"gzip": gzip.compress(data), "deflate": zlib.compress(data), "identity": data}[coding]
    chunks = [sent[i : i + size] for i in range(0, len(sent), size)]
    assert collect(chunks, coding, 10_000, time.monotonic() + 60, "x") == data


@given(st.binary(max_size=400), st.sampled_from(["gzip", "deflate", "gzip, deflate"]))
def test_arbitrary_bytes_decode_or_fail_typed(data: bytes, coding: str) -> None:
    try:
        collect([data], coding, 10_000, time.monotonic() + 60, "x")
    except TransportError as error:
        assert error.state in ("error", "too_large")


def test_allow_list_forms() -> None:
    text = " 127.0.0.1:8080, localhost ,[::1]:9000,[fe80::1], ,Mirror.Test:1"
    assert parse_allowed(text) == {
        "127.0.0.1:8080", "localhost:80", "localhost:443", "[::1]:9000", "[fe80::1]:80",
        "[fe80::1]:443", "mirror.test:1",
    }  # fmt: skip


def test_redirect_may_not_leave_https() -> None:
    start = parse_target("https://example.com/a")
    errand = Errand("GET", start, {}, None, 1000, time.monotonic() + 5, None)
    with pytest.raises(TransportError, match="leave https"):
        redirect_target(errand, start, 302, "http://example.com/a")
    assert redirect_target(errand, start, 302, "//example.com/b").url == "https://example.com/b"


def test_name_server_that_never_answers_costs_only_the_time_limit() -> None:
    hang = threading.Event()

    def resolver(host: str, port: int) -> list[str]:
        hang.wait(30)
        return []

    with pytest.raises(TransportError) as caught:
        resolve(resolver, "slow.test", 80, 0.1)
    hang.set()
    assert caught.value.state == "timeout"


@pytest.mark.parametrize("failure", [OSError("no such host"), UnicodeError("label too long")])
def test_name_that_does_not_resolve_is_an_error(failure: Exception) -> None:
    def resolver(host: str, port: int) -> list[str]:
        raise failure

    with pytest.raises(TransportError, match="does not resolve") as caught:
        resolve(resolver, "nowhere.test", 80, 5.0)
    assert caught.value.state == "error"
