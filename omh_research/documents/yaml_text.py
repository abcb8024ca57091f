"""YAML, the safe subset: strings, lists and mappings, nothing else.

Job: read a small YAML text to plain values, refusing by name whatever lets two readers disagree
or lets a small text grow (81-reliability section 4). The one door to the yaml package, which is
imported on first use only. Refuses to write YAML and to read files. Importers: documents.
"""

from __future__ import annotations

from typing import Any

from omh_research.documents.own_yaml import read_own_yaml
from omh_research.lazy_re import lazy_re

_ODD_BREAK = lazy_re("\r(?!\n)|[\x85\u2028\u2029]")
MAX_YAML_BYTES = 64 * 1024
MAX_DEPTH = 12


class YamlRefused(ValueError):
    """The text is not in the safe subset; the message names the rule it breaks."""


def read_yaml(text: str) -> object:
    """Return the value of one YAML document: str, list or dict, every scalar a string.

    Raises YamlRefused for a text over 64 kB, a syntax error, a second document, a directive, an
    anchor, alias, tag or merge key, a duplicate or non-string key, or nesting deeper than 12.
    An empty text is the empty dict.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MAX_YAML_BYTES:
        raise YamlRefused(f"the YAML is over the size limit of {MAX_YAML_BYTES} bytes")
    own = read_own_yaml(text)
    if own is not None:
        return own
    if _ODD_BREAK.search(text):
        raise YamlRefused("the YAML has a line break that only some readers see (CR, NEL, LS, PS)")
    import yaml

    try:
        return _Builder(yaml.parse(text, Loader=yaml.SafeLoader)).document()
    except YamlRefused:
        raise
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise YamlRefused(f"the YAML cannot be read ({_one_line(error)})") from error


class _Builder:
    """Builds plain values from the parser's events, one pass, checking each event."""

    def __init__(self, events: Any) -> None:
        self._events = iter(events)

    def document(self) -> object:
        """Return the value of the only document of the stream."""
        from yaml import events as kinds

        value: object = {}
        seen = False
        for event in self._events:
            if isinstance(event, kinds.DocumentStartEvent):
                if seen:
                    raise YamlRefused("the YAML holds a second document")
                if event.version or event.tags:
                    raise YamlRefused("YAML directives (%YAML, %TAG) are not allowed")
                seen = True
                value = self._value(next(self._events), 0)
        return value

    def _value(self, event: Any, depth: int) -> object:
        from yaml import events as kinds

        _check_event(event, depth)
        if isinstance(event, kinds.ScalarEvent):
            return str(event.value)
        if isinstance(event, kinds.SequenceStartEvent):
            return self._list(depth)
        return self._mapping(depth)

    def _list(self, depth: int) -> list[object]:
        from yaml import events as kinds

        items: list[object] = []
        while not isinstance(event := next(self._events), kinds.SequenceEndEvent):
            items.append(self._value(event, depth + 1))
        return items

    def _mapping(self, depth: int) -> dict[str, object]:
        from yaml import events as kinds

        mapping: dict[str, object] = {}
        while not isinstance(event := next(self._events), kinds.MappingEndEvent):
            if not isinstance(event, kinds.ScalarEvent):
                _check_event(event, depth)
                raise YamlRefused(f"a list or mapping stands as a key{_at(event)}")
            _check_event(event, depth)
            key = str(event.value)
            if key == "<<":
                raise YamlRefused(f"merge keys (<<) are not allowed{_at(event)}")
            if key in mapping:
                raise YamlRefused(f"the key {key[:60]!a} stands twice{_at(event)}")
            mapping[key] = self._value(next(self._events), depth + 1)
        return mapping


def _check_event(event: Any, depth: int) -> None:
    from yaml import events as kinds

    if isinstance(event, kinds.AliasEvent):
        raise YamlRefused(f"aliases (*name) are not allowed{_at(event)}")
    if event.anchor is not None:
        raise YamlRefused(f"anchors (&name) are not allowed{_at(event)}")
    if event.tag is not None:
        raise YamlRefused(f"tags (!name) are not allowed{_at(event)}")
    if depth > MAX_DEPTH:
        raise YamlRefused(f"the YAML is nested deeper than {MAX_DEPTH} levels{_at(event)}")


def _at(event: Any) -> str:
    return f" (line {event.start_mark.line + 1})"


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
