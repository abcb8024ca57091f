"""YAML exactly as this package writes it, read without the yaml package.

Job: read the blocks that `frontmatter.render` wrote, and lists in that form, at a tenth of the cost
(importing and running
a YAML reader is a quarter of a phase's own time). Refuses everything else by answering None, so
that a full reader decides: whatever this reads, that reads the same (a property test holds it to
it). Importer: `omh_research.documents.yaml_text`.
"""

from __future__ import annotations

import json

from omh_research.lazy_re import lazy_re

_KEY = lazy_re(r'([A-Za-z_][A-Za-z0-9_-]*|"[A-Za-z]+"):(?: |$)')
_PLAIN = lazy_re(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*|0|-?[1-9][0-9]*")
_FOREIGN_ESCAPE = lazy_re(r"\\u(?:[dD][89a-fA-F]|(?:0000|FFFE|FFFF|fffe|ffff))", needs=("\\u",))
_STRINGS = json.JSONDecoder()
_MAX_DEPTH = 4


class _NotOurs(Exception):
    """The text is not in the written form."""


def read_own_yaml(text: str) -> object:
    """Return the mapping or list in `text`, every scalar a string; None if the form is not ours."""
    lines = text.split("\n")
    if lines.pop() or not "".join(lines).isprintable() or _FOREIGN_ESCAPE.search(text):
        return None
    try:
        if lines and lines[0].startswith("- "):  # a planner's answer
            return _read_block([f"  {line}" for line in lines])
        return _read_entries(lines)
    except (_NotOurs, ValueError):
        return None


def _read_entries(lines: list[str]) -> dict[str, object]:
    entries: dict[str, object] = {}
    at = 0
    while at < len(lines):
        key, rest = _split_key(lines[at], entries)
        at += 1
        if rest:
            entries[key] = _read_line(rest)
            continue
        begin = at
        while at < len(lines) and lines[at].startswith("  "):
            at += 1
        entries[key] = _read_block(lines[begin:at])
    return entries


def _split_key(line: str, entries: dict[str, object]) -> tuple[str, str]:
    """Return (key, what stands after it); a key that stands twice is for the full reader."""
    found = _KEY.match(line)
    if not found:
        raise _NotOurs
    key = found[1].strip('"')
    rest = line[found.end() :]
    if key in entries or (not rest and line[-1] != ":"):
        raise _NotOurs
    return key, rest


def _read_block(lines: list[str]) -> object:
    """Return the list or mapping of lines indented by two."""
    if not lines:
        raise _NotOurs
    if not lines[0].startswith("  - "):
        mapping: dict[str, object] = {}
        for line in lines:
            _add_pair(line[2:], mapping)
        return mapping
    items: list[object] = []
    for line in lines:
        lead, rest = line[:4], line[4:]
        if lead == "  - " and _KEY.match(rest):
            items.append({})
        if lead == "  - " and not _KEY.match(rest):
            items.append(_read_line(rest))
        elif lead in ("  - ", "    ") and isinstance(items[-1], dict) and items[-1] is not None:
            _add_pair(rest, items[-1])
        else:
            raise _NotOurs
    return items


def _add_pair(line: str, mapping: dict[str, object]) -> None:
    key, rest = _split_key(line, mapping)
    mapping[key] = _read_line(rest)


def _read_line(text: str) -> object:
    value, end = _read_flow(text, 0, 0)
    if end != len(text):
        raise _NotOurs
    return value


def _read_flow(text: str, at: int, depth: int) -> tuple[object, int]:
    """Return (value, where it ends) of the value that begins at `at`."""
    first = text[at : at + 1]
    if first == '"':
        string, end = _STRINGS.raw_decode(text, at)
        return str(string), end
    if first == "[" and depth < _MAX_DEPTH:
        return _read_flow_list(text, at + 1, depth + 1)
    if first == "{" and depth < _MAX_DEPTH:
        return _read_flow_mapping(text, at + 1, depth + 1)
    found = _PLAIN.match(text, at)
    if not found:
        raise _NotOurs
    return found[0], found.end()


def _read_flow_list(text: str, at: int, depth: int) -> tuple[list[object], int]:
    items: list[object] = []
    while not text.startswith("]", at):
        if items:
            at = _after(text, at, ", ")
        item, at = _read_flow(text, at, depth)
        items.append(item)
    return items, at + 1


def _read_flow_mapping(text: str, at: int, depth: int) -> tuple[dict[str, object], int]:
    mapping: dict[str, object] = {}
    while not text.startswith("}", at):
        if mapping:
            at = _after(text, at, ", ")
        found = _KEY.match(text, at)
        if not found or (key := found[1].strip('"')) in mapping:
            raise _NotOurs
        mapping[key], at = _read_flow(text, found.end(), depth)
    return mapping, at + 1


def _after(text: str, at: int, mark: str) -> int:
    if not text.startswith(mark, at):
        raise _NotOurs
    return at + len(mark)
