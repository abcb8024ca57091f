"""A report as a Word document (spec O6).

Job: headings, paragraphs, lists and tables of the report's Markdown, the sources with their
numbers, the evidence table. Refuses images and links of the report's text. Importers:
export.registry.
"""

from __future__ import annotations

import io
from typing import Any

from omh_research.errors import PrerequisiteError
from omh_research.export.view import ReportView
from omh_research.lazy_re import lazy_re

_HINT = "Install it: pip install 'omh-research[report]'."
_UNSOUND = lazy_re("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def to_docx(view: ReportView) -> bytes:
    """Return the document's bytes.

    Raises:
        PrerequisiteError: the extra `report` is not installed.
    """
    try:
        from docx import Document
        from markdown_it import MarkdownIt
    except ModuleNotFoundError as error:
        raise PrerequisiteError(f"The docx export needs {error.name}.", hint=_HINT) from error
    document = Document()
    document.core_properties.title = _sound(view.title)[:250]
    document.core_properties.author = ""
    tokens = MarkdownIt("commonmark", {"html": False}).enable("table").parse(view.flowing_body)
    _write(document, tokens, view.is_right_to_left)
    _evidence(document, view)
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def _sound(text: str) -> str:
    return _UNSOUND.sub("", text)


def _write(document: Any, tokens: list[Any], right_to_left: bool) -> None:
    styles: list[str] = []
    level = 0
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "heading_open":
            level = int(token.tag[1])
        elif token.type == "bullet_list_open":
            styles.append("List Bullet")
        elif token.type == "ordered_list_open":
            styles.append("List Number")
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            styles.pop()
        elif token.type == "tr_open":
            rows.append([])
        elif token.type == "table_close":
            _table(document, rows, right_to_left)
            rows = []
        elif token.type in ("fence", "code_block"):
            document.add_paragraph(_sound(token.content))
        elif token.type == "inline":
            text = _sound(_text(token))
            if rows:
                rows[-1].append(text)
            elif level:
                paragraph = document.add_heading(text, level=0 if level == 1 else level)
                level = 0
                _turn(paragraph, right_to_left)
            else:
                paragraph = document.add_paragraph(text, style=styles[-1] if styles else None)
                _turn(paragraph, right_to_left)


def _text(token: Any) -> str:
    parts = []
    for child in token.children or []:
        if child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        else:
            parts.append(child.content)
    return "".join(parts)


def _turn(paragraph: Any, right_to_left: bool) -> None:
    """Let a paragraph and its runs read from right to left."""
    if not right_to_left:
        return
    from docx.oxml import OxmlElement

    paragraph._p.get_or_add_pPr().append(OxmlElement("w:bidi"))
    for run in paragraph.runs:
        run._r.get_or_add_rPr().append(OxmlElement("w:rtl"))


def _table(document: Any, rows: list[list[str]], right_to_left: bool) -> None:
    width = max((len(row) for row in rows), default=0)
    if not width:
        return
    table = document.add_table(rows=0, cols=width)
    table.style = "Table Grid"
    if right_to_left:
        from docx.oxml import OxmlElement

        table._tbl.tblPr.insert(1, OxmlElement("w:bidiVisual"))
    for row in rows:
        cells = table.add_row().cells
        for index, text in enumerate(row):
            cells[index].text = text
            _turn(cells[index].paragraphs[0], right_to_left)


def _evidence(document: Any, view: ReportView) -> None:
    rows = [["Source", "Claim", "Exact quote", "Status"]]
    for source in view.sources:
        for quote in source.quotes:
            cells = (f"[{source.n}]", quote.claim, quote.quote, quote.status)
            rows.append([_sound(cell) for cell in cells])
    if len(rows) > 1:
        _turn(document.add_heading("Evidence", level=2), view.is_right_to_left)
        _table(document, rows, view.is_right_to_left)
