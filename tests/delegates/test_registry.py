"""The registry: names, entry points, dotted paths, options (D1-D4, spec 60)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from omh_research.delegates import registry
from omh_research.delegates.scripted import ScriptedDelegate
from omh_research.errors import UsageError


def test_every_built_in_name_is_listed_and_the_ones_of_this_package_can_be_made() -> None:
    assert {"extractive", "host", "command", "llm", "scripted"} <= set(registry.known_names())
    assert registry.make("command", {"command": "cat"}).name == "command"
    assert isinstance(registry.make("scripted", {}), ScriptedDelegate)


def test_an_unknown_name_says_which_names_exist() -> None:
    with pytest.raises(UsageError, match=r"No delegate is called 'nobody'.*extractive.*scripted"):
        registry.make("nobody")


def test_an_unknown_option_is_refused_and_the_known_ones_are_named() -> None:
    with pytest.raises(UsageError, match=r"knows no option timeout_seconds.*timeout_s"):
        registry.make("command", {"command": "cat", "timeout_seconds": 3})


def test_a_wrong_value_is_refused_and_a_number_written_as_text_is_taken() -> None:
    with pytest.raises(UsageError, match="timeout_s"):
        registry.make("command", {"command": "cat", "timeout_s": "soon"})
    registry.make("command", {"command": "cat", "timeout_s": "30"})


def test_a_dotted_path_names_a_delegate_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine_delegate.py").write_text(
        "class Mine:\n"
        "    name = 'mine'\n    needs_library = False\n    can_scope_tools = True\n"
        "    def answer(self, task, library, should_stop):\n        raise NotImplementedError\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert registry.make("mine_delegate:Mine").name == "mine"
    with pytest.raises(UsageError, match="takes no options"):
        registry.make("mine_delegate:Mine", {"a": 1})
    for path in ("mine_delegate:Other", "no_such_module_here:Mine", "mine_delegate:"):
        with pytest.raises(UsageError, match="cannot be imported"):
            registry.make(path)


def test_an_installed_entry_point_names_a_delegate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plugged.py").write_text(
        "class Plugged:\n"
        "    name = 'plugged'\n"
        "    @classmethod\n"
        "    def from_options(cls, options, around):\n"
        "        made = cls()\n        made.options = options\n"
        "        made.role = around.role_text('researcher')\n        made.key = around.environ['KEY']\n        return made\n",
        encoding="utf-8",
    )
    info = tmp_path / "plugged-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[omh_research.delegates]\nplugged = plugged:Plugged\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    made = registry.make(
        "plugged", {"depth": 2}, role_text=lambda name: f"You are {name}.", environ={"KEY": "k"}
    )
    assert made.options == {"depth": 2}  # type: ignore[attr-defined]
    assert made.role == "You are researcher."  # type: ignore[attr-defined]
    assert made.key == "k"  # type: ignore[attr-defined]
    assert "plugged" in registry.known_names()


def test_options_become_the_delegates_own_frozen_type() -> None:
    class Mine(msgspec.Struct, frozen=True):
        depth: int = 1

    assert registry.read_options("mine", {"depth": "4"}, Mine) == Mine(depth=4)


def test_importing_the_registry_imports_no_delegate_and_no_model_library() -> None:
    code = (
        "import sys, omh_research.delegates.registry as r\n"
        "bad = [m for m in sys.modules if m.startswith(('pydantic', 'openai', 'anthropic', 'httpx',"
        " 'subprocess', 'asyncio')) or m in {p.split(':')[0] for p in r.DELEGATES.values()}]\n"
        "print(bad)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
