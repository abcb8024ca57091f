"""Word documents (.docx) to Markdown, with the standard library alone.

Job: paragraphs, headings, lists and table rows of `word/document.xml`. Refuses hidden text,
entities and DTDs, archives that expand past the cap, macros, and the old binary .doc.
Importers: corpus.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path
from xml.etree import ElementTree

from omh_research.documents.source import Page

MAX_XML_BYTES = 32_000_000
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DC = "{http://purl.org/dc/elements/1.1/}"


def read_docx(source: Path | bytes, url: str) -> Page:
    """Return the document's text; states "ok", "empty", "too_large" or "error" (damaged)."""
    try:
        opened = io.BytesIO(source) if isinstance(source, bytes) else source
        with zipfile.ZipFile(opened) as archive:
            body = _member(archive, "word/document.xml")
            core = _member(archive, "docProps/core.xml", optional=True)
    except OverflowError:
        return Page(url, url, "too_large", detail=f"expands past {MAX_XML_BYTES // 10**6} MB")
    except (zipfile.BadZipFile, KeyError, OSError, RuntimeError, ValueError, zlib.error) as error:
        return Page(url, url, "error", detail=f"damaged or encrypted docx: {type(error).__name__}")
    try:
        text = "\n\n".join(_blocks(_parse(body)))
        title = _parse(core).findtext(f"{_DC}title") if core else ""
    except (ElementTree.ParseError, ValueError, RecursionError) as error:
        return Page(url, url, "error", detail=f"damaged docx: {type(error).__name__}")
    return Page(url, url, "ok" if text.strip() else "empty", title=(title or "")[:300], text=text)


def _member(archive: zipfile.ZipFile, name: str, *, optional: bool = False) -> bytes:
    if optional and name not in archive.namelist():
        return b""
    with archive.open(name) as stream:
        data = stream.read(MAX_XML_BYTES + 1)  # the size in the directory may lie
    if len(data) > MAX_XML_BYTES:
        raise OverflowError
    return data


def _parse(data: bytes) -> ElementTree.Element:
    # Word writes no DTD; without one there are no entities to expand.
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data or data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ValueError("document type declarations are refused")
    return ElementTree.fromstring(data)


def _blocks(root: ElementTree.Element) -> list[str]:
    in_tables = {cell for table in root.iter(f"{_W}tbl") for cell in table.iter(f"{_W}p")}
    blocks: list[str] = []
    for element in root.iter():
        if element.tag == f"{_W}tr":
            cells = (" ".join(_text(p) for p in c.iter(f"{_W}p")) for c in element.iter(f"{_W}tc"))
            row = [" ".join(cell.split()) for cell in cells]
            blocks.append("| " + " | ".join(row) + " |" if any(row) else "")
        elif element.tag == f"{_W}p" and element not in in_tables:
            blocks.append(_prefix(element) + _text(element).strip())
    return [block for block in blocks if block.strip(" #-|")]


def _text(paragraph: ElementTree.Element) -> str:
    parts: list[str] = []
    hidden = {node for run in paragraph.iter(f"{_W}r") if _is_hidden(run) for node in run.iter()}
    for node in paragraph.iter():
        if node in hidden:
            continue
        if node.tag == f"{_W}t":
            parts.append(node.text or "")
        elif node.tag in (f"{_W}tab", f"{_W}br", f"{_W}cr"):
            parts.append(" ")
    return "".join(parts)


def _is_hidden(run: ElementTree.Element) -> bool:
    """Hidden text is not printed and not seen: no reader could check a quote of it."""
    mark = run.find(f"{_W}rPr/{_W}vanish")
    return mark is not None and mark.get(f"{_W}val", "1").lower() not in ("0", "false", "off")


def _prefix(paragraph: ElementTree.Element) -> str:
    style = paragraph.find(f"{_W}pPr/{_W}pStyle")
    name = (style.get(f"{_W}val") or "") if style is not None else ""
    if name == "Title":
        return "# "
    if name.startswith("Heading") and name[7:8].isdigit():
        return "#" * min(6, int(name[7]) or 1) + " "
    return "- " if paragraph.find(f"{_W}pPr/{_W}numPr") is not None else ""
