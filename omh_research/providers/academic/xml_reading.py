"""XML from the network, parsed so that it can do no harm.

Job: a small element tree out of untrusted bytes. Refuses entity declarations, internal DTD
subsets, more than `MAX_DEPTH` levels or `MAX_NODES` elements; never loads anything external
(81-reliability section 7). Importers: providers.academic.
"""

from __future__ import annotations

import html.entities
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder

from omh_research.errors import ProviderError

MAX_XML_BYTES = 5_000_000
MAX_DEPTH = 64
MAX_NODES = 400_000


class _Refused(Exception):
    """The document breaks a rule; the message says which."""


class _Counted:
    """Builds the tree and counts what it builds."""

    def __init__(self) -> None:
        self._builder = TreeBuilder()
        self._depth = 0
        self._nodes = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._nodes += 1
        if self._depth > MAX_DEPTH or self._nodes > MAX_NODES:
            raise _Refused("it is nested too deeply or has too many elements")
        self._builder.start(_plain(tag), attributes)

    def end(self, tag: str) -> None:
        self._depth -= 1
        self._builder.end(_plain(tag))

    def data(self, text: str) -> None:
        self._builder.data(text)

    def doctype(self, name: str, system: str | None, public: str | None, subset: int) -> None:
        # PubMed names its DTD; naming one is harmless, an inline one is not needed by anybody.
        if subset:
            raise _Refused("it carries its own DTD")

    def entity(self, *_: Any) -> None:
        raise _Refused("it declares entities")

    def skipped(self, name: str, is_parameter: bool) -> None:
        char = html.entities.html5.get(f"{name};")
        if is_parameter or char is None:
            raise _Refused("it uses an undeclared entity")
        self._builder.data(char)

    def close(self) -> Element:
        return self._builder.close()


def _plain(tag: str) -> str:
    """Return `{namespace}name`, the form of the standard library's tree."""
    return "{" + tag if "}" in tag else tag


def parse_xml(body: bytes | str, provider: str) -> Element:
    """Return the root element of `body`; raises `ProviderError` when it is refused or broken."""
    from xml.parsers import expat

    data = body.encode("utf-8") if isinstance(body, str) else body
    if len(data) > MAX_XML_BYTES:
        raise ProviderError(f"{provider} answered with more than {MAX_XML_BYTES} bytes of XML.")
    if not data.strip():
        raise ProviderError(f"{provider} answered with nothing.")
    parser = expat.ParserCreate("utf-8" if isinstance(body, str) else None, "}")
    tree = _Counted()
    parser.buffer_text = True
    parser.StartElementHandler = tree.start
    parser.EndElementHandler = tree.end
    parser.CharacterDataHandler = tree.data
    parser.StartDoctypeDeclHandler = tree.doctype
    parser.EntityDeclHandler = tree.entity
    parser.SkippedEntityHandler = tree.skipped
    parser.UseForeignDTD(False)
    try:
        parser.Parse(data, True)
        return tree.close()
    except _Refused as refused:
        raise ProviderError(f"{provider} sent XML that is not accepted: {refused}.") from None
    except (expat.ExpatError, AssertionError, ValueError, LookupError):
        raise ProviderError(f"{provider} answered with something that is no XML.") from None


def text_of(element: Element | None) -> str:
    """Return all text inside `element` on one line; "" when there is none."""
    return " ".join("".join(element.itertext()).split()) if element is not None else ""
