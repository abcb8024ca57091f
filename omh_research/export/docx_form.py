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
    tokens = MarkdownIt("commonmark", {"html": False}).enable("table").parse(view.whole_body)
    _write(document, tokens, view.is_right_to_left)
    _evidence(document, view)
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def _sound(text: str) -> str:
    return _UNSOUND.sub("", text)


def _write(document: Any, tokens: list[Any], right_to_left: bool) -> None:
    style, level = "", 0
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "heading_open":
            level = int(token.tag[1])
        elif token.type == "bullet_list_open":
            style = "List Bullet"
        elif token.type == "ordered_list_open":
            style = "List Number"
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            style = ""
        elif token.type == "tr_open":
            rows.append([])
        elif token.type == "table_close":
            _table(document, rows)
            rows = []
        elif token.type in ("fence", "code_block"):
            document.add_paragraph(_sound(token.content))
        elif token.type == "inline":
            text = _sound(_text(token))
            if rows:
                rows[-1].append(text)
            elif level:
                document.add_heading(text, level=min(level, 9) - 1 if level == 1 else level)
                level = 0
            else:
                paragraph = document.add_paragraph(text, style=style or None)
                if right_to_left:
                    _turn(paragraph)


def _text(token: Any) -> str:
    parts = []
    for child in token.children or []:
        if child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        else:
            parts.append(child.content)
    return "".join(parts)


def _turn(paragraph: Any) -> None:
    from docx.oxml import OxmlElement

    paragraph._p.get_or_add_pPr().append(OxmlElement("w:bidi"))


def _table(document: Any, rows: list[list[str]]) -> None:
    width = max((len(row) for row in rows), default=0)
    if not width:
        return
    table = document.add_table(rows=0, cols=width)
    table.style = "Table Grid"
    for row in rows:
        cells = table.add_row().cells
        for index, text in enumerate(row):
            cells[index].text = text


def _evidence(document: Any, view: ReportView) -> None:
    rows = [["Source", "Claim", "Exact quote", "Status"]]
    for source in view.sources:
        for quote in source.quotes:
            cells = (f"[{source.n}]", quote.claim, quote.quote, quote.status)
            rows.append([_sound(cell) for cell in cells])
    if len(rows) > 1:
        document.add_heading("Evidence", level=2)
        _table(document, rows)
