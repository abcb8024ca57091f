"""The options a topic of a batch may bring: those of `start`, by their names (spec S1).

Job: one row's mapping to a delegate and RunOptions, over the batch's own as defaults. YAML hands
every value over as a text, JSON as what it is: both are taken. Refuses unknown names and values
out of range. Importers: batch.topics.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from omh_research.documents.options import RunOptions, check_language
from omh_research.documents.plan import check_plan, parse_plan_file
from omh_research.errors import UsageError

if TYPE_CHECKING:
    from omh_research.batch.topics import Topic

MAX_PLAN_BYTES = 1_000_000
_TRUE, _FALSE = ("true", "yes", "1"), ("false", "no", "0")


def _number(name: str, value: Any, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise UsageError(f"{name} wants a number, not {str(value)[:60]!r}.")
    try:
        found = float(value)
    except ValueError:
        raise UsageError(f"{name} wants a number, not {str(value)[:60]!r}.") from None
    if not math.isfinite(found) or not low <= found <= high:
        raise UsageError(f"{name} wants a number from {low:g} to {high:g}, not {str(value)[:60]}.")
    return found


def _whole(low: int, high: int) -> Callable[[str, Any], int]:
    def read(name: str, value: Any) -> int:
        found = _number(name, value, low, high)
        if found != int(found):
            raise UsageError(f"{name} wants a whole number, not {value}.")
        return int(found)

    return read


def _real(low: float, high: float) -> Callable[[str, Any], float]:
    return lambda name, value: _number(name, value, low, high)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{name} wants a text.")
    return value


def _flag(name: str, value: Any) -> bool:
    word = str(value).lower()
    if word not in (*_TRUE, *_FALSE):
        raise UsageError(f"{name} wants true or false, not {str(value)[:60]!r}.")
    return word in _TRUE


def _panel(name: str, value: Any) -> int:
    size = _whole(0, 7)(name, value)
    if size not in (0, 3, 5, 7):
        raise UsageError(f"panel takes 3, 5 or 7 votes a claim, not {size}.")
    return size


def _words(name: str, value: Any) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(_text(name, item) for item in items)


def _language(name: str, value: Any) -> str:
    return check_language(_text(name, value))


_PLAIN: dict[str, tuple[str, Callable[[str, Any], Any]]] = {
    "language": ("language", _language),
    "rounds": ("rounds", _whole(1, 5)),
    "panel": ("panel", _panel),
    "require_quotes": ("require_quotes", _flag),
    "host_tools": ("host_tools", _words),
    "context_budget": ("context_budget", _whole(2_000, 2_000_000)),
    "task_timeout": ("task_timeout_s", _real(0, 86_400)),
    "max_tokens": ("max_tokens", _whole(0, 10**12)),
    "max_time": ("max_wall_s", _real(0, 10**9)),
}
_DELEGATE = ("command", "preset", "model")
_OTHER = ("topic", "plan", "subtopics", "corpus", "bundle", "delegate", "caps", "max_cost",
          "options")  # fmt: skip


def unknown_keys(row: Mapping[Any, Any]) -> list[str]:
    """Return the names a row may not have, sorted."""
    return sorted(str(key) for key in row if key not in (*_PLAIN, *_DELEGATE, *_OTHER))


def read_options(
    row: Mapping[str, Any], base: str, root: str, default: Topic
) -> tuple[str, RunOptions]:
    """Return the delegate and the options of one row; paths are relative to `base`.

    Raises:
        UsageError, PlanError, OSError, ValueError, TypeError: the row is wrong.
    """
    from omh_research.cli.run_options import stored_path

    given = {key: value for key, value in row.items() if value not in (None, "")}
    changes: dict[str, Any] = {
        field: read(name, given[name]) for name, (field, read) in _PLAIN.items() if name in given
    }
    if "corpus" in given:
        paths = _words("corpus", given["corpus"])
        changes["corpus"] = tuple(stored_path(root, os.path.join(base, path)) for path in paths)
    if "bundle" in given:
        path = os.path.join(base, _text("bundle", given["bundle"]))
        changes["bundle"] = stored_path(root, path)
    options = default.options
    caps = _caps(given)
    if caps:
        changes["caps"] = {**options.caps, **caps}
    own = _delegate_options(given)
    if own:
        changes["delegate_options"] = {**options.delegate_options, **own}
    subtopics = _subtopics(given, base)
    if subtopics:
        changes["subtopics"] = subtopics
    return _delegate(given, default), replace(options, **changes) if changes else options


def _delegate(given: Mapping[str, Any], default: Topic) -> str:
    if "delegate" in given:
        return _text("delegate", given["delegate"])
    if "command" in given or "preset" in given:
        return "command"
    return "llm" if "model" in given else default.delegate


def _caps(given: Mapping[str, Any]) -> dict[str, float]:
    caps = given.get("caps", {})
    if not isinstance(caps, dict):
        raise UsageError("caps wants NAME: NUMBER pairs.")
    from omh_research.tools.caps import check_cap_names

    check_cap_names(str(name) for name in caps)
    found = {str(name): _number(str(name), value, 0, 10**12) for name, value in caps.items()}
    if "max_cost" in given:
        found["max_cost_usd"] = _number("max_cost", given["max_cost"], 0, 10**12)
    return found


def _delegate_options(given: Mapping[str, Any]) -> dict[str, Any]:
    options = given.get("options", {})
    if not isinstance(options, dict):
        raise UsageError("options wants NAME: VALUE pairs.")
    named = {name: _text(name, given[name]) for name in _DELEGATE if name in given}
    return {**{str(name): value for name, value in options.items()}, **named}


def _subtopics(given: Mapping[str, Any], base: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if "plan" in given and "subtopics" in given:
        raise UsageError("Give either plan or subtopics, not both.")
    if "plan" in given:
        name = _text("plan", given["plan"])
        try:
            with open(os.path.join(base, name), "rb") as stream:
                data = stream.read(MAX_PLAN_BYTES + 1)
        except OSError as error:
            raise UsageError(f"Cannot read the plan {name}: {error.strerror}.") from None
        found = parse_plan_file(data, os.path.basename(name))
        if not found:
            check_plan(found)
    elif "subtopics" in given:
        document = json.dumps({"subtopics": given["subtopics"]}).encode()
        found = parse_plan_file(document, "subtopics")
    else:
        found = ()
    return tuple((item.name, item.queries) for item in found)
