"""The battery's second part: real loopback servers that lie, drip, flood and redirect (D7)."""

from __future__ import annotations

import subprocess
import sys
import zlib
from typing import Any

import pytest

from omh_research.errors import TransportError
from omh_research.transport import Transport

from .hostile import by_path, raw, recorded_connects, reply
from .hostile_answers import ALL, MAX_BYTES, Case

SHORT_S, LONG_S = 0.6, 20.0


def _outcome(server: Any, transport: Transport, path: str = "/", **options: Any) -> tuple[str, Any]:
    options.setdefault("timeout_s", LONG_S)
    try:
        response = transport.get(server.url(path), max_bytes=MAX_BYTES, **options)
    except TransportError as error:
        return error.state, str(error)
    return "ok", response


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_hostile_answer_ends_in_its_state(case: Case, servers: Any) -> None:
    server = servers.start(case.script)
    timeout_s = SHORT_S if "timeout" in case.states else LONG_S
    state, outcome = _outcome(server, Transport(environ=server.environ()), timeout_s=timeout_s)
    assert state in case.states, outcome
    if state == "ok":
        assert case.body is None or outcome.body == case.body
    else:
        assert server.authority in outcome


_BAD_LOCATIONS = {
    "metadata": "http://169.254.169.254/latest/meta-data/",
    "scheme-relative": "//169.254.169.254/",
    "loopback": "http://127.0.0.1:1080/",
    "six": "http://[::1]/",
    "mapped": "http://[::ffff:127.0.0.1]/",
    "nat64": "http://[64:ff9b::a9fe:a9fe]/",
    "decimal": "http://2130706433/",
    "hexadecimal": "http://0x7f000001/",
    "octal": "http://0177.0.0.1/",
    "short": "http://127.1/",
    "file": "file:///etc/passwd",
    "gopher": "gopher://127.0.0.1:6379/_INFO",
    "data": "data:text/html,hello",
    "credentials": "http://user:pw@1.1.1.1/",
    "backslash": "http://127.0.0.1\\@1.1.1.1/",
    "redis": "http://1.1.1.1:6379/",
    "ssh": "http://1.1.1.1:22/",
    "enclosed": "http://\u2460\u2461\u2466.\u24ea.\u24ea.\u2460/",
    "private": "http://10.0.0.1/",
    "cgnat": "http://100.100.100.200/",
}


@pytest.mark.parametrize("name", list(_BAD_LOCATIONS))
def test_redirect_is_checked_like_a_first_url(name: str, servers: Any) -> None:
    location = _BAD_LOCATIONS[name].encode("utf-8")
    server = servers.start(
        raw(b"HTTP/1.1 302 Found\r\nLocation: " + location + b"\r\nContent-Length: 0\r\n\r\n")
    )
    with recorded_connects() as connects:
        state, message = _outcome(server, Transport(environ=server.environ()))
    assert state == "refused", message
    assert [address for _, address in connects] == [("127.0.0.1", server.port)]


def test_six_redirects_are_one_too_many(servers: Any) -> None:
    server = servers.start(reply(status="301 Moved", headers="Location: /again\r\n"))
    state, message = _outcome(server, Transport(environ=server.environ()))
    assert (state, len(server.requests)) == ("error", 6)
    assert "more than 5 times" in message


def test_redirects_within_the_limit_are_followed_and_reported(servers: Any) -> None:
    server = servers.start(
        by_path(
            a=reply(status="301 Moved", headers="Location: /b/ c\r\n"),
            b=reply(status="307 Temporary", headers="Location: /d?q=1#part\r\n"),
            d=reply(b"here"),
        )
    )
    state, response = _outcome(server, Transport(environ=server.environ()), "/a")
    assert (state, response.body) == ("ok", b"here")
    assert response.url == server.url("/a")
    assert response.final_url == server.url("/d?q=1")


def test_redirect_to_another_party_drops_credentials(servers: Any) -> None:
    target = servers.start(reply(b"ok"))
    first = servers.start(reply(status="302 Found", headers=f"Location: {target.url('/x')}\r\n"))
    environ = {"OMH_ALLOW_HOSTS": f"{first.authority},{target.authority}"}
    headers = {"Authorization": "Bearer k-123456", "X-Api-Key": "k-123456", "Cookie": "a=k-123456",
               "Accept-Language": "de"}  # fmt: skip
    state, _ = _outcome(first, Transport(environ=environ), headers=headers)
    assert state == "ok"
    assert first.requests[0].count(b"k-123456") == 3
    assert b"k-123456" not in target.requests[0]
    assert b"accept-language: de" in target.requests[0].lower()


def test_redirect_may_not_leave_a_fixed_host_list(servers: Any) -> None:
    """T7: redirects only within the provider's hosts."""
    target = servers.start(reply(b"ok"))
    first = servers.start(reply(status="302 Found", headers=f"Location: {target.url()}\r\n"))
    environ = {"OMH_ALLOW_HOSTS": f"{first.authority},{target.authority}"}
    hosts = frozenset({first.authority})
    state, message = _outcome(first, Transport(environ=environ), allowed_hosts=hosts)
    assert (state, target.requests) == ("refused", [])
    assert "list" in message


def test_posted_body_follows_no_redirect_elsewhere(servers: Any) -> None:
    target = servers.start(reply(b"ok"))
    for status in ("302 Found", "307 Temporary"):
        first = servers.start(reply(status=status, headers=f"Location: {target.url()}\r\n"))
        environ = {"OMH_ALLOW_HOSTS": f"{first.authority},{target.authority}"}
        with pytest.raises(TransportError) as caught:
            Transport(environ=environ).post_json(first.url(), {"secret": 1}, timeout_s=2.0)
        assert caught.value.state == "refused"
    assert target.requests == []


def test_no_cookie_is_ever_sent_back(servers: Any) -> None:
    server = servers.start(reply(b"ok", headers="Set-Cookie: id=1\r\n"))
    transport = Transport(environ=server.environ())
    for _ in range(2):
        assert _outcome(server, transport)[0] == "ok"
    assert all(b"cookie" not in request.lower() for request in server.requests)


def test_header_that_would_split_the_request_is_refused_without_being_shown(servers: Any) -> None:
    server = servers.start(reply(b"ok"))
    for value in ("k-123456\r\nX-Injected: 1", "k-123456\u20ac"):
        headers = {"Authorization": value}
        state, message = _outcome(server, Transport(environ=server.environ()), headers=headers)
        assert state == "refused"
        assert "k-123456" not in message
    assert all(b"x-injected" not in request.lower() for request in server.requests)


def test_bomb_is_bounded_in_memory(servers: Any) -> None:
    """81 section 7: a bomb of 300 MB read in a process that may use 200 MB."""
    if sys.platform != "linux":
        pytest.skip("needs RLIMIT_AS")
    engine = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join([*(engine.compress(b"\0" * 1_000_000) for _ in range(300)), engine.flush()])
    twice = zlib.compressobj(9, zlib.DEFLATED, 31)
    nested = twice.compress(bomb) + twice.flush()
    server = servers.start(
        by_path(
            once=reply(bomb, headers="Content-Encoding: gzip\r\n"),
            twice=reply(nested, headers="Content-Encoding: gzip, gzip\r\n"),
        )
    )
    program = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_AS, (200_000_000, 200_000_000))\n"
        "from omh_research.errors import TransportError\n"
        "from omh_research.transport import Transport\n"
        "for url in sys.argv[1:]:\n"
        "    try:\n"
        "        Transport().get(url)\n"
        "    except TransportError as error:\n"
        "        print(error.state)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, server.url("/once"), server.url("/twice")],
        capture_output=True,
        text=True,
        timeout=60,
        env={"OMH_ALLOW_HOSTS": server.authority, "PATH": "", "OMH_STATE_HOME": "/nonexistent"},
    )
    assert (run.stdout.split(), run.returncode) == (["too_large", "too_large"], 0), run.stderr


def test_battery_of_servers_is_large_enough() -> None:
    assert len(ALL) + len(_BAD_LOCATIONS) >= 90
