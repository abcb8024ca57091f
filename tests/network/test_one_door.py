"""Every fetch of every feature goes through one door: the check that keeps it so (issue 5.3)."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def shape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The checker, looking at a package of one module."""
    spec = importlib.util.spec_from_file_location("check_shape", ROOT / "scripts/check_shape.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    monkeypatch.setattr(made, "PACKAGE", tmp_path)
    return made


@pytest.mark.parametrize(
    "line",
    [
        "import httpx", "import httpx2", "from httpcore import ConnectionPool", "import socket",
        "import urllib.request", "from urllib.request import urlopen", "import http.client",
        "import requests", "import aiohttp", "from ftplib import FTP",
        "client = AsyncOpenAI(api_key='k')", "client = anthropic.AsyncAnthropic(api_key='k')",
    ],
)  # fmt: skip
def test_a_second_way_out_is_a_breach(line: str, shape: ModuleType) -> None:
    module = shape.PACKAGE / "engine.py"
    module.write_text(f'"""A module."""\n\n{line}\n')
    assert len(shape.breaches(module)) == 1


def test_what_opens_nothing_is_none(shape: ModuleType) -> None:
    module = shape.PACKAGE / "engine.py"
    module.write_text('"""A module."""\n\nfrom urllib.parse import urlsplit\nimport http\n')
    assert shape.breaches(module) == []


def test_the_package_keeps_it(shape: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shape, "PACKAGE", ROOT / "omh_research")
    found = [
        line for path in (ROOT / "omh_research").rglob("*.py") for line in shape.breaches(path)
    ]
    assert [line for line in found if "door" in line] == []
