"""Actions written as JSON in an answer's text: the tool loop of servers without tool calls.

Job: find one action in what a model wrote, prose and fences around it or not, with bounded repair
(complaint 32). Refuses to run it. Importers: llm.loop.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from omh_research.lazy_re import lazy_re

MAX_OBJECTS = 40
MAX_CHARS = 200_000

# A backslash and, if it starts a JSON escape, what completes it. No answer means a backspace or a
# form feed: before a letter those are LaTeX (\\beta, \\frac).
_ESCAPE = lazy_re(r'\\(["\\/nrt]|u[0-9a-fA-F]{4}|[bf](?![A-Za-z]))?')
_TRAILING_COMMA = lazy_re(r",(?=\s*[}\]])")
_NAME_KEYS = ("tool", "name", "function", "action", "tool_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "action_input")


class Action(Struct, frozen=True):
    """A tool call, or (with `tool` empty) the final answer in `answer`."""

    tool: str = ""
    arguments: dict[str, Any] = {}
    answer: str = ""


def find_action(text: str, tools: tuple[str, ...]) -> Action | None:
    """Return the first action in `text` for one of `tools`, or its final answer, or None.

    Accepted: `{"tool": NAME, ...}` with the arguments beside it or in an object of their own,
    the same under the keys models use instead, and `{"answer": TEXT}`.
    """
    for candidate in _candidates(text[:MAX_CHARS]):
        for value in _objects(candidate):
            action = _as_action(value, tools)
            if action is not None:
                return action
    return None


def read_json_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object that is `text`, after bounded repair, or None."""
    for candidate in _candidates(text):
        try:
            value = json.loads(candidate, strict=False)
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict) else None
    return None


def _candidates(text: str) -> Iterator[str]:
    """Yield the text with stray backslashes doubled, then also without trailing commas."""
    text = _ESCAPE.sub(lambda match: match[0] if match[1] else "\\\\", text)
    yield text
    yield _TRAILING_COMMA.sub("", text)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text, outermost first, at most MAX_OBJECTS tries."""
    decoder = json.JSONDecoder(strict=False)
    position, tries = text.find("{"), 0
    while position >= 0 and tries < MAX_OBJECTS:
        tries += 1
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            if isinstance(value, dict):
                yield value
        position = text.find("{", end)


def _as_action(value: dict[str, Any], tools: tuple[str, ...]) -> Action | None:
    if isinstance(value.get("function"), dict):  # {"type": "function", "function": {...}}
        value = value["function"]
    name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), "")
    if name in tools:
        given = next((value[key] for key in _ARGUMENT_KEYS if key in value), None)
        if isinstance(given, str):
            given = read_json_object(given)
        if not isinstance(given, dict):
            given = {key: part for key, part in value.items() if key not in _NAME_KEYS}
        return Action(tool=name, arguments=given)
    answer = value.get("answer")
    if isinstance(answer, str) and answer.strip():
        return Action(answer=answer)
    return None
