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


_HEAD = lazy_re(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) ([A-Z][A-Z_]*)")
_STRING = r'"(?:[^"\\]|\\.)*"'
_LIST = rf'\[(?:[^"\[\]]|{_STRING})*\]'
_ARRAY = lazy_re(_LIST)
_KEY_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz_")
_FIELD = lazy_re(rf' ([a-z_]+)=({_STRING}|{_LIST}|[^ "\[][!-~]*)(?= |$)')
MAX_LINE = 64_000


def _value(value: str) -> str:
    if _is_bare(value):
        return value
    return json.dumps(value, ensure_ascii=True)


def _is_bare(value: str) -> bool:
    """Tell whether a value stands in a line as it is: visible ASCII, no string or list."""
    if not value or value[0] in '"[':
        return False
    return value.isascii() and value.isprintable() and " " not in value


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
    if not value.startswith("[") or not value.isascii() or not value.isprintable():
        return False
    if not _ARRAY.fullmatch(value):
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
    read = _read_bare(line, head.end()) or _read_fields(line, head.end())
    if read is None:
        return None
    fields: list[tuple[str, str]] = []
    slug, step = "", 0
    for key, value in read:
        if key == "slug":
            slug = value
        elif key == "step" and value.isdecimal() and len(value) < 12:
            step = int(value)
        else:
            fields.append((key, value))
    return Event(word=head[2], slug=slug, step=step, fields=tuple(fields), time=head[1])


def _read_bare(line: str, start: int) -> list[tuple[str, str]] | None:
    """Return the fields of a line without strings and lists; None for any other."""
    if '"' in line or "[" in line or line[start : start + 1] != " ":
        return None
    read: list[tuple[str, str]] = []
    for part in line[start + 1 :].split(" "):
        key, _, value = part.partition("=")
        if not key or not _is_bare(value) or not _KEY_CHARS.issuperset(key):
            return None
        read.append((key, value))
    return read


def _read_fields(line: str, start: int) -> list[tuple[str, str]] | None:
    """Return the fields of a line, strings without their quotes; None where it is torn."""
    read: list[tuple[str, str]] = []
    while start < len(line):
        match = _FIELD.match(line, start)
        if match is None:
            return None
        key, value = match[1], match[2]
        start = match.end()
        if value.startswith('"'):
            try:
                value = json.loads(value)
            except ValueError:
                return None
        read.append((key, value))
    return read


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
