"""Fixtures of the provider tests: a private state folder, a clean environment, a loopback site."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from .site import Answer, Asked, Site

SHARED = Path(
    os.environ.get("OMH_SHARED_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data"
)


@pytest.fixture(autouse=True)
def own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the user's state folder, keys, proxies or settings."""
    for name in list(os.environ):
        if name.startswith("OMH_") or name.endswith(("_PROXY", "_proxy", "_API_KEY")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OMH_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def site() -> Iterator[Callable[[Callable[[Asked], Answer]], Site]]:
    """Return a function that starts a site, which ends with the test."""
    with ExitStack() as stack:
        yield lambda answer: stack.enter_context(Site(answer))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded real data; the test is skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the shared data folder is absent")
    return SHARED
