"""PDF to text, page by page.

Job: text with the start of every page kept, line-end hyphens joined, one bad page never losing the
others, and a stated reason for encrypted, scanned, damaged and empty files (complaint 31). Refuses
to recognise scanned images, to try passwords and to write. Needs the `web` extra (pypdfium2).
Importers: corpus, providers.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from omh_research.documents.source import Page
from omh_research.lazy_re import lazy_re

MAX_PAGES = 10_000
MAX_TEXT_CHARS = 16_000_000
INSTALL_HINT = "PDF files need an extra: pip install 'omh-research[web]'"
_PASSWORD_ERROR = 4  # FPDF_ERR_PASSWORD
# pdfium is not thread-safe: one document at a time in this process.
_PDFIUM = threading.Lock()
# pdfium writes U+FFFE (or 0x02) for a hyphen that only breaks a line: the word goes on.
_SOFT_HYPHEN = lazy_re("[\ufffe\x02]\\s*")
_CONTROLS = lazy_re("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SENTENCE_END = lazy_re(r"[.!?。！？؟।:;][\"'”’»)\]]*$")


def has_pdf_reader() -> bool:
    """Return whether the optional PDF library is installed."""
    from importlib.util import find_spec

    return find_spec("pypdfium2") is not None


def read_pdf(source: Path | bytes, url: str) -> Page:
    """Return a PDF's text; `page_starts[i]` is the offset in `text` of page i + 1.

    States: "ok"; "empty" (scanned or blank, `detail` says so); "unsupported" (encrypted, or the
    extra is missing); "error" (damaged). Pages that cannot be read are named in `detail`.
    """
    if not has_pdf_reader():
        return Page(url, url, "unsupported", detail=INSTALL_HINT)
    with _PDFIUM:
        return _read(source, url)


def _read(source: Path | bytes, url: str) -> Page:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(source)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD_ERROR:
            return Page(url, url, "unsupported", detail="encrypted PDF: it needs a password")
        return Page(url, url, "error", detail=f"damaged PDF: {error}")
    except (OSError, ValueError) as error:
        return Page(url, url, "error", detail=f"unreadable PDF: {type(error).__name__}")
    try:
        return _collect(document, url)
    finally:
        document.close()


def _collect(document: Any, url: str) -> Page:
    count = len(document)
    parts: list[str] = []
    starts: list[int] = []
    bad: list[int] = []
    length = 0
    notes: list[str] = []
    for number in range(min(count, MAX_PAGES)):
        starts.append(length)
        try:
            page_text = _page_text(document, number)
        except Exception:  # pypdfium2 raises several kinds; one bad page must not lose the rest
            bad.append(number + 1)
            continue
        if length + len(page_text) > MAX_TEXT_CHARS:
            notes.append(f"only the first {number} of {count} pages were read")
            starts.pop()
            break
        if page_text:
            parts.append(page_text + "\n\n")
            length += len(page_text) + 2
    if count > MAX_PAGES:
        notes.append(f"only the first {MAX_PAGES} of {count} pages were read")
    if bad:
        notes.append(f"unreadable pages: {', '.join(map(str, bad[:20]))}")
    return _finish("".join(parts), tuple(starts), notes, (document, url, count, len(bad)))


def _finish(
    text: str, starts: tuple[int, ...], notes: list[str], about: tuple[Any, str, int, int]
) -> Page:
    document, url, count, bad = about
    if not text.strip():
        if count and bad == count:
            return Page(url, url, "error", detail="damaged PDF: no page could be read")
        if not count:
            return Page(url, url, "empty", detail="the PDF has no pages")
        notes.insert(0, f"no text layer in {count} page(s): scanned images or blank")
        return Page(url, url, "empty", detail="; ".join(notes))
    title = _title(document)
    return Page(url, url, "ok", title, text, detail="; ".join(notes), page_starts=starts)


def _page_text(document: Any, number: int) -> str:
    page = document[number]
    try:
        textpage = page.get_textpage()
        try:
            raw = textpage.get_text_range()
        finally:
            textpage.close()
    finally:
        page.close()
    raw = _SOFT_HYPHEN.sub("", raw).replace("\r\n", "\n").replace("\r", "\n")
    lines = [line.strip() for line in _CONTROLS.sub("", raw).split("\n")]
    return "\n".join(_with_paragraphs(lines)).strip()


def _with_paragraphs(lines: list[str]) -> Iterator[str]:
    """Put a blank line where the layout shows a heading or the end of a paragraph.

    A PDF has lines, not paragraphs: a clearly short line that ends a sentence ends a paragraph, a
    short one that ends none and is followed by a capital is a heading or a label.
    """
    lengths = sorted(len(line) for line in lines if line)
    usual = lengths[int(len(lengths) * 0.75)] if lengths else 0
    for i, line in enumerate(lines):
        yield line
        following = lines[i + 1] if i + 1 < len(lines) else ""
        if not line or not following:
            continue
        ends = _SENTENCE_END.search(line) is not None
        opens = following[0].isupper() or following[0].isdigit() or not following[0].isalnum()
        if (len(line) < usual * 0.8 and ends) or (len(line) < usual * 0.6 and opens and not ends):
            yield ""


def _title(document: Any) -> str:
    """The metadata title, unless it is a file name or a tool's leftover."""
    try:
        title = str(document.get_metadata_value("Title")).strip()
    except Exception:  # a damaged information dictionary is no reason to lose the text
        return ""
    title = _CONTROLS.sub(" ", title)
    if re.search(r"\.(docx?|pdf|tex|txt|exe|dvi|indd|pptx?|xlsx?|qxd)\b", title, re.I):
        return ""
    return "" if title.lower().startswith(("untitled", "microsoft word")) else title[:300]
