"""Fixtures of the network tests: a private state folder, a clean environment, a scripted server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from omh_research.transport import Transport

from .hostile import Script, ScriptedServer, reply


@pytest.fixture(autouse=True)
def own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the user's state folder, proxies or allow-list."""
    monkeypatch.setenv("OMH_STATE_HOME", str(tmp_path / "state"))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "OMH_OFFLINE", "OMH_ALLOW_HOSTS"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture(scope="session", autouse=True)
def warm_engine() -> None:
    """Load the HTTP engine once, so that no short time limit pays for it."""
    with ScriptedServer(reply(b"")) as server:
        Transport(environ=server.environ()).get(server.url())


class Servers:
    """Starts scripted servers that end with the test."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def start(self, script: Script) -> ScriptedServer:
        return self._stack.enter_context(ScriptedServer(script))


@pytest.fixture
def servers() -> Iterator[Servers]:
    with ExitStack() as stack:
        yield Servers(stack)
