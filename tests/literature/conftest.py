"""Fixtures: a private state folder, scripted providers, one call for a whole run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from omh_research.literature.manifest import Manifest
from omh_research.literature.searching import SearchRequest, outside, run_search
from omh_research.transport import Transport

from .provider_server import ProviderServer, Script

QUERIES = [f"copper surfaces {word}" for word in ("wards", "icu", "clinics", "trials", "reviews")]


def no_sleep(_: float) -> None:
    """Waits cost nothing in tests."""


@pytest.fixture(autouse=True)
def own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMH_STATE_HOME", str(tmp_path / "state"))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "OMH_OFFLINE", "OMH_ALLOW_HOSTS", "OMH_CONTACT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def serve() -> Iterator[Callable[[Script], ProviderServer]]:
    with ExitStack() as stack:
        yield lambda script: stack.enter_context(ProviderServer(script))


class Runs:
    """Runs searches below one folder, against one server."""

    def __init__(self, folder: Path, start: Callable[[Script], ProviderServer]) -> None:
        self.folder, self._start = folder, start
        self.server: ProviderServer | None = None
        self._count = 0

    def queries(self, value: Any) -> str:
        path = self.folder / "queries.json"
        data = value if isinstance(value, bytes) else json.dumps(value).encode("utf-8")
        path.write_bytes(data)
        return str(path)

    def run(self, script: Script, *, queries: Any = None, **changes: Any) -> tuple[Manifest, Path]:
        server = self.server = self._start(script)
        self._count += 1
        target = self.folder / f"bundle-{self._count}"
        given = {
            "topic": "Copper in hospitals",
            "query_file": self.queries(QUERIES if queries is None else queries),
            "output_dir": str(target),
            **changes,
        }
        environ = {**os.environ, **server.environ()}
        transport = Transport(environ=environ, sleep=no_sleep)
        hour = 8 + self._count
        world = outside(
            transport,
            clock=lambda: datetime(2026, 5, 4, hour, tzinfo=UTC),
            rand=lambda digits: f"{self._count:0{digits}x}",
            environ=environ,
        )
        return run_search(SearchRequest(**given), world), Path(given["output_dir"])


@pytest.fixture
def runs(tmp_path: Path, serve: Callable[[Script], ProviderServer]) -> Runs:
    return Runs(tmp_path, serve)
