"""The battery's first part: what is refused opens no socket (issue 5.3, D7, 81 section 7)."""

from __future__ import annotations

import pytest

from omh_research.errors import TransportError
from omh_research.network.addresses import is_public, parse_address
from omh_research.network.guard import parse_target
from omh_research.transport import Transport

from .hostile import recorded_connects, reply
from .refused_urls import ADDRESSES, NAMES, PUBLIC, SYNTAX


class _Resolver:
    """Answers from a table and remembers what it was asked."""

    def __init__(self, answers: dict[str, list[str]] | None = None) -> None:
        self.asked: list[str] = []
        self._answers = answers or {}

    def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        return self._answers.get(host, ["93.184.216.34"])


def _refusal(url: str, resolver: _Resolver) -> str:
    transport = Transport(environ={}, resolver=resolver, default_interval_s=0.0)
    with recorded_connects() as connects, pytest.raises(TransportError) as caught:
        transport.get(url, timeout_s=2.0)
    assert connects == []
    assert caught.value.state == "refused"
    return str(caught.value)


@pytest.mark.parametrize("url", list(SYNTAX), ids=lambda url: ascii(url)[:60])
def test_unclear_url_is_refused_before_its_name_is_resolved(url: str) -> None:
    resolver = _Resolver()
    assert SYNTAX[url] in _refusal(url, resolver)
    assert resolver.asked == []


@pytest.mark.parametrize("url", ADDRESSES, ids=lambda url: ascii(url)[:60])
def test_address_that_is_not_public_is_refused(url: str) -> None:
    resolver = _Resolver()
    assert "not a public address" in _refusal(url, resolver)
    assert resolver.asked == []


@pytest.mark.parametrize("name", list(NAMES), ids=ascii)
def test_name_with_one_address_that_is_not_public_is_refused(name: str) -> None:
    host = {"localhost.": "localhost", "LOCALHOST": "localhost", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ": "localhost"}.get(
        name, name
    )
    resolver = _Resolver({host: NAMES[name]})
    message = _refusal(f"http://{name}/", resolver)
    assert "not a public address" in message or "no address" in message
    assert resolver.asked == [host]


@pytest.mark.parametrize("text", PUBLIC)
def test_public_address_stays_open(text: str) -> None:
    address = parse_address(text)
    assert address is not None
    assert is_public(address)


def test_checked_address_is_the_one_connected_to(servers) -> None:  # type: ignore[no-untyped-def]
    """A name server that answers public first and private next (DNS rebinding) is asked once."""
    answers = iter([["93.184.216.34"], ["127.0.0.1"]])
    asked = []

    def resolver(host: str, port: int) -> list[str]:
        asked.append(host)
        return next(answers)

    server = servers.start(reply(b"secret"))
    transport = Transport(environ={}, resolver=resolver, default_interval_s=0.0)
    with recorded_connects() as connects, pytest.raises(TransportError):
        transport.get(f"http://rebind.test:{server.port}/", timeout_s=0.3)
    assert asked == ["rebind.test"]
    assert {address[1][0] for address in connects} <= {"93.184.216.34"}
    assert server.requests == []


def test_host_header_names_the_host_while_the_socket_goes_to_the_address(servers) -> None:  # type: ignore[no-untyped-def]
    server = servers.start(reply(b"hello"))
    environ = {"OMH_ALLOW_HOSTS": f"site.test:{server.port}"}
    transport = Transport(environ=environ, resolver=lambda host, port: ["127.0.0.1"])
    with recorded_connects() as connects:
        response = transport.get(f"http://site.test:{server.port}/a?b=c", timeout_s=5.0)
    assert response.body == b"hello"
    assert [address for _, address in connects] == [("127.0.0.1", server.port)]
    assert f"Host: site.test:{server.port}\r\n".encode() in server.requests[0]


def test_offline_forbids_even_allowed_loopback(servers) -> None:  # type: ignore[no-untyped-def]
    server = servers.start(reply(b"hello"))
    environ = server.environ() | {"OMH_OFFLINE": "1"}
    with recorded_connects() as connects, pytest.raises(TransportError) as caught:
        Transport(environ=environ).get(server.url())
    assert (caught.value.state, connects, server.requests) == ("offline", [], [])


def test_allow_list_opens_only_the_host_and_port_it_names(servers) -> None:  # type: ignore[no-untyped-def]
    server, other = servers.start(reply(b"a")), servers.start(reply(b"b"))
    transport = Transport(environ=server.environ())
    assert transport.get(server.url()).body == b"a"
    with pytest.raises(TransportError, match=r"OMH_ALLOW_HOSTS=127\.0\.0\.1"):
        transport.get(other.url())
    assert other.requests == []


def test_refusals_never_show_credentials() -> None:
    for url in ("http://user:hunter2secret@example.com/", "ftp://h/?api_key=hunter2secret"):
        with pytest.raises(TransportError) as caught:
            parse_target(url)
        assert "hunter2secret" not in str(caught.value)


def test_battery_of_refused_urls_is_large_enough() -> None:
    """At least 150 SSRF and hostile-server cases (issue 5.3)."""
    assert len(SYNTAX) + len(ADDRESSES) + len(NAMES) >= 150
