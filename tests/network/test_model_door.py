"""The client model libraries are handed: one server, checked addresses, bounded answers (D4, D7)."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx2", reason="needs the extra llm")

import httpx2

from omh_research.errors import TransportError
from omh_research.network.model_door import MAX_ANSWER_BYTES, ModelServer, open_model_client
from tests.simulators.llm_server import LlmServer, Step

from .conftest import Servers
from .hostile import recorded_connects, reply


def to_loopback(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


def ask(server: ModelServer, path: str = "/v1/x", url: str = "", **options: Any) -> httpx2.Response:
    async def post() -> httpx2.Response:
        async with open_model_client(server, 10.0, **{"environ": {}, **options}) as client:
            return await client.post(url or server.url + path, json={"a": 1})

    return asyncio.run(post())


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1",
     "100.64.0.1", "0.0.0.0", "fd00::1", "2002:7f00:1::"],
)  # fmt: skip
def test_a_providers_public_address_must_lead_to_public_ones(address: str) -> None:
    server = ModelServer("https://api.openai.com/v1", is_own=False)
    for answers in ([address], ["93.184.216.34", address]):
        with recorded_connects() as connects, pytest.raises(TransportError) as caught:
            ask(server, resolver=lambda host, port, answers=answers: answers)
        assert connects == []
        assert caught.value.state == "refused"


def test_a_server_the_user_named_may_be_local_and_the_checked_address_is_connected_to(
    servers: Servers,
) -> None:
    local = servers.start(reply(b"{}"))
    asked: list[str] = []

    def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

    server = ModelServer(f"http://model.test:{local.port}", is_own=True)
    with recorded_connects() as connects:
        assert ask(server, resolver=rebinding).status_code == 200
    assert asked == ["model.test"], "the name is resolved once"
    assert {address[0] for _, address in connects} == {"127.0.0.1"}
    assert f"host: model.test:{local.port}".encode() in local.requests[0].lower()


def test_no_other_host_is_reached_with_it(servers: Servers) -> None:
    one, other = servers.start(reply(b"{}")), servers.start(reply(b"{}"))
    server = ModelServer(f"http://127.0.0.1:{one.port}", is_own=True)
    with recorded_connects() as connects, pytest.raises(TransportError):
        ask(server, url=f"http://127.0.0.1:{other.port}/v1/x")
    assert connects == []


def test_a_redirect_is_not_followed(servers: Servers) -> None:
    """An answer must not lead the key to an address the user never named."""
    other = servers.start(reply(b"{}"))
    moved = reply(
        status="307 Temporary Redirect", headers=f"Location: http://127.0.0.1:{other.port}/\r\n"
    )
    first = servers.start(moved)
    assert ask(ModelServer(f"http://127.0.0.1:{first.port}", is_own=True)).status_code == 307
    assert other.requests == []


def test_offline_forbids_local_servers_too(servers: Servers) -> None:
    local = servers.start(reply(b"{}"))
    server = ModelServer(f"http://127.0.0.1:{local.port}", is_own=True)
    with recorded_connects() as connects, pytest.raises(TransportError) as caught:
        ask(server, environ={"OMH_OFFLINE": "1"})
    assert (connects, caught.value.state) == ([], "offline")


@pytest.mark.parametrize("port", [22, 25, 5432, 6379])
def test_ports_of_other_services_are_refused(port: int) -> None:
    with recorded_connects() as connects, pytest.raises(TransportError):
        ask(ModelServer(f"https://api.openai.com:{port}/v1", is_own=False), resolver=to_loopback)
    assert connects == []


def test_an_answer_ends(servers: Servers) -> None:
    big = servers.start(reply(b"x" * (MAX_ANSWER_BYTES + 1)))
    with pytest.raises(httpx2.RemoteProtocolError, match="bytes of answer"):
        ask(ModelServer(f"http://127.0.0.1:{big.port}", is_own=True))


def test_a_compressed_answer_is_not_unfolded(servers: Servers) -> None:
    import gzip

    bomb = servers.start(
        reply(gzip.compress(bytes(1_000_000)), headers="Content-Encoding: gzip\r\n")
    )
    with pytest.raises(httpx2.RemoteProtocolError, match="compressed"):
        ask(ModelServer(f"http://127.0.0.1:{bomb.port}", is_own=True))
    assert b"accept-encoding: identity" in bomb.requests[0].lower()


def test_a_proxy_is_used_for_public_servers_and_not_for_local_ones(servers: Servers) -> None:
    proxy, local = servers.start(reply(b"{}")), servers.start(reply(b"{}"))
    environ = {"HTTP_PROXY": f"http://127.0.0.1:{proxy.port}"}
    assert ask(ModelServer("http://model.example", is_own=True), environ=environ).status_code == 200
    assert proxy.requests[0].startswith(b"POST http://model.example/v1/x")
    ask(ModelServer(f"http://127.0.0.1:{local.port}", is_own=True), environ=environ)
    assert (len(proxy.requests), len(local.requests)) == (1, 1)
    excepted = {**environ, "NO_PROXY": "example"}
    with pytest.raises(TransportError):
        ask(ModelServer("http://model.example", False), environ=excepted, resolver=to_loopback)


PROGRAM = """
import asyncio, sys
from omh_research.network.model_door import ModelServer, open_model_client
async def ask(url):
    server = ModelServer(url, True)
    async with open_model_client(server, 10, resolver=lambda host, port: ["127.0.0.1"]) as client:
        try:
            print((await client.get(url)).text)
        except Exception as error:
            print(type(error).__name__, error)
for url in sys.argv[1:]:
    asyncio.run(ask(url))
"""


def test_the_certificate_must_be_for_the_name_not_the_address(secure: tuple[int, Path]) -> None:
    port, certificate = secure
    urls = [f"https://{host}.test:{port}/" for host in ("site", "other")]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *urls], capture_output=True, text=True, timeout=120,
        env={**os.environ, "SSL_CERT_FILE": str(certificate)}, check=True,
    )  # fmt: skip
    good, bad = done.stdout.splitlines()
    assert good == "secure"
    assert "CERTIFICATE_VERIFY_FAILED" in bad


def test_a_refusal_is_said_at_once_and_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """D4: what our own door refuses is not tried again, and no call is counted."""
    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    from omh_research.errors import DelegateError
    from omh_research.llm.client import Conversation
    from omh_research.llm.prices import load_prices
    from omh_research.llm.settings import Endpoint, LlmOptions

    with LlmServer([Step("never said")]) as made:
        monkeypatch.delenv("OMH_ALLOW_HOSTS", raising=False)
        endpoint = Endpoint("openai", made.openai_url, "m", "key-of-the-user")
        talk = Conversation(endpoint, LlmOptions(), load_prices(), lambda: False)
        with talk, pytest.raises(DelegateError, match="not a public address") as caught:
            talk.begin("", "hello")
            talk.request()
        assert "tries" not in str(caught.value)
        assert (made.requests, talk.usage.model_calls) == ([], 0)
