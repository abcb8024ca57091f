"""Proxies are for the fixed provider hosts only; NO_PROXY is heard (T7, issue 5.3)."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from omh_research.errors import TransportError
from omh_research.network.guard import parse_target
from omh_research.network.proxies import proxy_for
from omh_research.transport import Transport

from .hostile import reply

PROVIDER = "https://api.crossref.org/works?query=x"
PROXY = "http://127.0.0.1:3128"


@pytest.mark.parametrize(
    ("url", "environ", "expected"),
    [
        (PROVIDER, {"HTTPS_PROXY": PROXY}, PROXY),
        (PROVIDER, {"https_proxy": PROXY}, PROXY),
        (PROVIDER, {"HTTPS_PROXY": "127.0.0.1:3128"}, PROXY),
        (PROVIDER, {"HTTP_PROXY": PROXY}, None),
        (PROVIDER, {"ALL_PROXY": PROXY}, None),
        (PROVIDER, {"HTTPS_PROXY": PROXY, "NO_PROXY": "*"}, None),
        (PROVIDER, {"HTTPS_PROXY": PROXY, "NO_PROXY": "api.crossref.org"}, None),
        (PROVIDER, {"HTTPS_PROXY": PROXY, "NO_PROXY": ".crossref.org"}, None),
        (PROVIDER, {"HTTPS_PROXY": PROXY, "no_proxy": "a.test, crossref.org"}, None),
        (PROVIDER, {"HTTPS_PROXY": PROXY, "NO_PROXY": "api.crossref.org:443"}, None),
        (PROVIDER, {"HTTPS_PROXY": PROXY, "NO_PROXY": "api.crossref.org:80"}, PROXY),
        (PROVIDER, {"HTTPS_PROXY": PROXY, "NO_PROXY": "ref.org,127.0.0.1,,"}, PROXY),
        ("https://example.com/", {"HTTPS_PROXY": PROXY}, None),
        ("http://169.254.169.254/", {"HTTP_PROXY": PROXY}, None),
        ("https://api.crossref.org.evil.test/", {"HTTPS_PROXY": PROXY}, None),
    ],
)
def test_which_proxy(url: str, environ: dict[str, str], expected: str | None) -> None:
    assert proxy_for(parse_target(url), environ) == expected


def _never(host: str, port: int) -> list[str]:
    raise AssertionError(f"{host} was resolved")


def test_provider_is_reached_through_the_users_proxy(servers: Any) -> None:
    """The proxy resolves the provider; its own loopback address is trusted knowingly."""
    proxy = servers.start(reply(b"through the proxy"))
    environ = {"HTTP_PROXY": f"http://me:pass%21word@{proxy.authority}"}
    transport = Transport(environ=environ, resolver=_never, intervals_s={}, default_interval_s=0.0)
    response = transport.get("http://api.crossref.org/works", timeout_s=10.0)
    assert response.body == b"through the proxy"
    assert proxy.requests[0].startswith(b"GET http://api.crossref.org/works HTTP/1.1\r\n")
    assert base64.b64encode(b"me:pass!word") in proxy.requests[0]


def test_tunnel_is_asked_for_where_the_provider_is_encrypted(servers: Any) -> None:
    proxy = servers.start(reply(status="403 Forbidden"))
    environ = {"HTTPS_PROXY": f"http://me:passw0rd@{proxy.authority}"}
    transport = Transport(environ=environ, resolver=_never, default_interval_s=0.0, intervals_s={})
    with pytest.raises(TransportError) as caught:
        transport.get(PROVIDER, timeout_s=3.0)
    assert proxy.requests[0].startswith(b"CONNECT api.crossref.org:443 HTTP/1.1\r\n")
    assert "passw0rd" not in str(caught.value)


def test_page_is_never_fetched_through_a_proxy(servers: Any) -> None:
    """Through a proxy the address cannot be checked: an SSRF by way of the proxy is impossible."""
    proxy, page = servers.start(reply(b"proxied")), servers.start(reply(b"direct"))
    environ = page.environ() | {"HTTP_PROXY": f"http://{proxy.authority}"}
    assert Transport(environ=environ).get(page.url()).body == b"direct"
    with pytest.raises(TransportError) as caught:
        Transport(environ=environ).get("http://169.254.169.254/latest/meta-data/")
    assert (caught.value.state, proxy.requests) == ("refused", [])


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1080", "file:///x", "http://", "http://[::"])
def test_proxy_that_is_no_http_url_is_named(proxy: str) -> None:
    transport = Transport(environ={"HTTPS_PROXY": proxy}, default_interval_s=0.0, intervals_s={})
    with pytest.raises(TransportError, match="proxy"):
        transport.get(PROVIDER, timeout_s=2.0)
