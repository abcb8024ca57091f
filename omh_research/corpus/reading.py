"""One local file to one `Page`.

Job: find out what a file is by its bytes first and its name second, and read Markdown, plain text,
HTML, PDF and Word files; every failure is a `state` with a `detail`, never an exception. Refuses
links, devices, and files that are not documents; knows nothing of folders or indexes.
Importers: corpus, providers.

States: ok · empty · unsupported (binary, encrypted, other kind, missing extra) · too_large ·
not_found · refused (link, device, no permission) · error (damaged).
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import msgspec

from omh_research.corpus.encoding import decode
from omh_research.documents.heading_text import heading_text
from omh_research.documents.source import Page
from omh_research.lazy_re import lazy_re

KINDS = {
    ".md": "md", ".markdown": "md", ".mdown": "md", ".mkd": "md", ".txt": "txt", ".text": "txt",
    ".rst": "txt", ".html": "html", ".htm": "html", ".xhtml": "html", ".pdf": "pdf",
    ".docx": "docx",
}  # fmt: skip
MAX_TEXT_BYTES = 16_000_000
MAX_FILE_BYTES = 1_000_000_000
IN_PART = "only the first"  # so begins the detail of a document that was cut
_HEAD_CHARS = 4_000
_FRONT_MATTER = lazy_re(r"\A---[ \t]*\n(.{0,20000}?)\n(?:---|\.\.\.)[ \t]*\n", re.S)
_FIELD = lazy_re(r"^(title|date|author|lang|language):[ \t]*(.+?)[ \t]*$", re.M | re.I)
_HEADING = lazy_re(r"^#{1,2}[ \t]+(\S[^\n]*)", re.M)
_UNDERLINED = lazy_re(r"^(\S[^\n]*)\n={3,}[ \t]*$", re.M)
_LABEL = lazy_re(r"[\s_]+")
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_FLAGS |= getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def kind_of(suffix: str) -> str:
    """Return "md", "txt", "html", "pdf" or "docx" by a file's suffix; "" for anything else."""
    return KINDS.get(suffix.lower(), "")


def read_file(path: str | Path, url: str) -> Page:
    """Return the document at `path` under the name `url` (no path of this machine in it)."""
    path = os.fspath(path)
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return Page(url, url, "refused", detail="a link or a device, not a regular file")
        handle = os.open(path, _FLAGS)
    except FileNotFoundError:
        return Page(url, url, "not_found", detail="no such file")
    except OSError as error:
        return Page(url, url, "refused", detail=f"cannot be opened: {_reason(error)}")
    try:
        with open(handle, "rb") as stream:
            size = os.fstat(handle).st_size
            head = stream.read(min(size, MAX_TEXT_BYTES) + 1)
    except OSError as error:
        return Page(url, url, "error", detail=f"cannot be read: {_reason(error)}")
    if size > MAX_FILE_BYTES and head[:1024].find(b"%PDF-") >= 0:
        return Page(url, url, "too_large", detail=f"{size:,} bytes; at most {MAX_FILE_BYTES:,}")
    return _titled(_read(head, size, path, url), path)


def read_bytes(data: bytes, url: str, *, name: str = "", declared: str = "") -> Page:
    """Return the document in `data`; `name` helps to tell its kind, `declared` its encoding."""
    kind = _sniff(data, KINDS.get(Path(name).suffix.lower(), ""))
    if kind == "pdf":
        from omh_research.corpus.pdf_reading import read_pdf

        return read_pdf(data, url)
    if kind == "docx":
        from omh_research.corpus.docx_reading import read_docx

        return read_docx(data, url)
    return _read_text(data, kind, url, declared)


def _read(head: bytes, size: int, path: str, url: str) -> Page:
    kind = _sniff(head, kind_of(os.path.splitext(path)[1]))
    if size == 0:
        return Page(url, url, "empty", detail="the file is empty")
    if kind == "pdf":
        from omh_research.corpus.pdf_reading import read_pdf

        return read_pdf(Path(path), url)
    if kind == "docx":
        from omh_research.corpus.docx_reading import read_docx

        return read_docx(Path(path), url)
    if size <= MAX_TEXT_BYTES:
        return _read_text(head, kind, url, "")
    if kind == "html":
        return Page(url, url, "too_large", detail=f"{size:,} bytes; at most {MAX_TEXT_BYTES:,}")
    cut = head[: head.rfind(b"\n", 0, MAX_TEXT_BYTES) + 1 or MAX_TEXT_BYTES]
    page = _read_text(cut, kind, url, "")
    note = f"{IN_PART} {len(cut):,} of {size:,} bytes were read"
    return msgspec.structs.replace(page, detail="; ".join(filter(None, (note, page.detail))))


def _sniff(data: bytes, by_name: str) -> str:
    """What the bytes say wins over what the name says; a name alone settles Markdown or text."""
    start = data[:1024]
    if b"%PDF-" in start:
        return "pdf"
    if start.startswith(b"PK\x03\x04"):
        is_word = by_name == "docx" or b"word/" in data[:65_536]
        return "docx" if is_word else "binary"
    opening = start.lstrip(b"\xef\xbb\xbf \t\r\n")[:64].lower()
    if opening.startswith((b"<!doctype html", b"<html", b"<?xml")) and by_name != "txt":
        return "html"
    return "docx" if by_name == "docx" else by_name or "txt"


def _read_text(data: bytes, kind: str, url: str, declared: str) -> Page:
    if kind == "binary":
        return Page(url, url, "unsupported", detail="an archive, not a document")
    if kind == "docx":
        return Page(url, url, "error", detail="damaged docx: no archive inside")
    if kind == "pdf":
        return Page(url, url, "error", detail="damaged PDF: no %PDF- mark at its beginning")
    decoded = decode(data, declared=declared)
    if not decoded.encoding:
        return Page(url, url, "unsupported", detail="binary data, not text")
    notes = []
    if decoded.encoding not in ("utf-8", "utf-8-sig"):
        notes.append(f"read as {decoded.encoding}")
    if decoded.replaced:
        notes.append(f"{decoded.replaced} undecodable byte(s) replaced")
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    if kind == "html":
        from omh_research.corpus.html_reading import read_html

        page = read_html(text, url)
    else:
        page = _plain(text, kind, url)
    if not notes:
        return page
    detail = "; ".join([*notes, page.detail] if page.detail else notes)
    return msgspec.structs.replace(page, detail=detail)


def _plain(text: str, kind: str, url: str) -> Page:
    if kind == "md" and "<" in text:
        from omh_research.corpus.markdown_hiding import shown_markdown

        text = shown_markdown(text)
    if not text.strip():
        return Page(url, url, "empty", detail="nothing but white space")
    fields: dict[str, str] = {}
    front = _FRONT_MATTER.match(text) if kind == "md" else None
    if front:
        for name, value in _FIELD.findall(front.group(1)):
            fields.setdefault(name.lower(), value.strip("\"'")[:300])
    title = fields.get("title") or (
        _heading(text, front.end() if front else 0) if kind == "md" else ""
    )
    date = re.match(r"\d{4}(?:-\d\d(?:-\d\d)?)?", fields.get("date", ""))
    return Page(
        url, url, "ok", title=title[:300], text=text, author=fields.get("author", ""),
        language=(fields.get("lang") or fields.get("language") or "")[:2].lower(),
        date=date.group() if date else "",
    )  # fmt: skip


def _heading(text: str, start: int) -> str:
    """The first top heading near the beginning of Markdown text, or ""."""
    head = text[start : start + _HEAD_CHARS]
    found = _HEADING.search(head) if "#" in head else None
    if not found and "\n==" in head:
        found = _UNDERLINED.search(head)
    return heading_text(found.group(1)) if found else ""


def _titled(page: Page, path: str) -> Page:
    """A document without a title is called by its file's name."""
    if page.title.strip():
        return page
    return msgspec.structs.replace(page, title=_LABEL.sub(" ", Path(path).stem).strip()[:200])


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
