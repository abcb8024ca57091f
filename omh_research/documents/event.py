"""One line of the event log: `TIME EVENT key=value …` (spec E33).

Job: the event words, rendering that no topic can forge, parsing that skips what is not a line.
Refuses I/O and findings text. Importers: phases, recovery, commit, store, cli.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from omh_research.lazy_re import lazy_re


class Word(StrEnum):
    """The log's vocabulary: the seed's words first, ours after."""

    STARTED = "STARTED"
    PLAN_WRITTEN = "PLAN_WRITTEN"
    BATCH_COMPLETE = "BATCH_COMPLETE"
    GAP_CHECK_COMPLETE = "GAP_CHECK_COMPLETE"
    REPORT_DRAFT = "REPORT_DRAFT"
    VERIFY_PASS = "VERIFY_PASS"
    VERIFY_FAIL = "VERIFY_FAIL"
    SYNTHESIS_RETRY = "SYNTHESIS_RETRY"
    BLOCKED_RETRIES_EXHAUSTED = "BLOCKED_RETRIES_EXHAUSTED"
    REPORT_CONFIRMED = "REPORT_CONFIRMED"
    REPORT_CONFIRMED_RECOVERED = "REPORT_CONFIRMED_RECOVERED"
    BLOCKED = "BLOCKED"
    CANCELLED = "CANCELLED"
    DELEGATE_FAILED = "DELEGATE_FAILED"
    VERDICT_UNREADABLE = "VERDICT_UNREADABLE"
    PLAN_REVISED = "PLAN_REVISED"
    PANEL_COMPLETE = "PANEL_COMPLETE"
    RETRIED = "RETRIED"
    CLEARED = "CLEARED"
    HOOK_FAILED = "HOOK_FAILED"
    NOTED = "NOTED"


class Event(Struct, frozen=True):
    """One event. `step` is the commit's number: a repeated line with it counts once."""

    word: str
    slug: str
    step: int
    fields: tuple[tuple[str, str], ...] = ()
    time: str = ""


_BARE = lazy_re(r"[!-~]+")
_HEAD = lazy_re(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) ([A-Z][A-Z_]*)")
_STRING = r'"(?:[^"\\]|\\.)*"'
_LIST = rf'\[(?:[^"\[\]]|{_STRING})*\]'
_ARRAY = lazy_re(_LIST)
_FIELD = lazy_re(rf' ([a-z_]+)=({_STRING}|{_LIST}|[^ "\[][!-~]*)(?= |$)')
MAX_LINE = 64_000


def _value(value: str) -> str:
    if _BARE.fullmatch(value) and value[0] not in '"[':
        return value
    return json.dumps(value, ensure_ascii=True)


def names(values: Iterable[str]) -> str:
    """Return a list value: a JSON array with ASCII escapes."""
    return json.dumps(list(values), ensure_ascii=True, separators=(",", ":"))


def make(word: Word, slug: str, step: int, **fields: str | int | tuple[str, ...]) -> Event:
    """Build an event; tuples become JSON arrays, everything else its text."""
    rendered = tuple(
        (key, names(value) if isinstance(value, tuple) else str(value))
        for key, value in fields.items()
    )
    return Event(word=word.value, slug=slug, step=step, fields=rendered)


def render(event: Event, time: str) -> str:
    """Return the event's line without its newline; ASCII only, never a raw control character."""
    parts = [time, event.word, f"slug={_value(event.slug)}"]
    for key, value in event.fields:
        parts.append(f"{key}={value if _is_array(value) else _value(value)}")
    parts.append(f"step={event.step}")
    return " ".join(parts)


def _is_array(value: str) -> bool:
    if not (value.isascii() and value.isprintable() and _ARRAY.fullmatch(value)):
        return False
    try:
        return isinstance(json.loads(value), list)
    except ValueError:
        return False


def parse_line(line: str) -> Event | None:
    """Return the event of one line, or None for a torn or foreign line."""
    if len(line) > MAX_LINE or not line.isascii():
        return None
    head = _HEAD.match(line)
    if head is None:
        return None
    fields: list[tuple[str, str]] = []
    slug, step, position = "", 0, head.end()
    while position < len(line):
        match = _FIELD.match(line, position)
        if match is None:
            return None
        key, value = match[1], match[2]
        position = match.end()
        if value.startswith('"'):
            try:
                value = json.loads(value)
            except ValueError:
                return None
        if key == "slug":
            slug = value
        elif key == "step" and value.isdecimal() and len(value) < 12:
            step = int(value)
        else:
            fields.append((key, value))
    return Event(word=head[2], slug=slug, step=step, fields=tuple(fields), time=head[1])


def parse_log(text: str) -> list[Event]:
    """Return the events of a log, each counted once, in order.

    A last line without its newline was cut by a crash: it is no event yet. Line ends that an
    editor or a copy made CRLF, and its byte order mark, are read as if they were not there.
    """
    seen: set[tuple[str, str, int, tuple[tuple[str, str], ...]]] = set()
    events: list[Event] = []
    for line in text.removeprefix("\ufeff").split("\n")[:-1]:
        event = parse_line(line.removesuffix("\r"))
        if event is None:
            continue
        key = (event.word, event.slug, event.step, event.fields)
        if event.step and key in seen:
            continue
        seen.add(key)
        events.append(event)
    return events
