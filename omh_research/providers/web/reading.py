"""Reading one page of the web.

Job: ask robots.txt, fetch through the door, find out what came back, and return its main text or
the state that says why there is none (spec D6, D6b, D7). Refuses to render scripts, to log in and
to pass a notice off as content. Importers: cli.web, wiring.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

from msgspec import Struct, structs

from omh_research.documents.source import Page
from omh_research.errors import TransportError
from omh_research.providers.web.page_head import read_head
from omh_research.providers.web.page_state import state_of_page, state_of_status
from omh_research.providers.web.robots import RobotsGate
from omh_research.providers.web.scripts import language_of_script

if TYPE_CHECKING:
    from omh_research.network.errand import Response
    from omh_research.providers.interface import Reader
    from omh_research.providers.web.page_cache import PageCache
    from omh_research.transport import Transport

DEFAULT_TIMEOUT_S = 30.0
ACCEPT = (
    "text/html,application/xhtml+xml,application/pdf,text/markdown,text/plain;q=0.9,"
    "application/json;q=0.8,*/*;q=0.5"
)
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_TEXT_TYPES = ("application/json", "application/ld+json", "application/xml", "application/yaml",
               "application/x-yaml", "application/javascript", "application/rtf",
               "application/x-ndjson", "application/x-tex", "application/toml")  # fmt: skip
_WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_OPENINGS = (b"<!doctype html", b"<html", b"<head", b"<body", b"<?xml", b"<!--", b"<script")
_MAX_REFRESHES = 1
_WORTH_A_SECOND = ("bot_wall", "error", "timeout", "empty")


class ReadingRules(Struct, frozen=True):
    """How pages are read.

    `timeout_s` is the whole time a page may take, at most 60. `links` keeps link targets in the
    text (they would stand in the way of quotes, so not by default).
    """

    timeout_s: float = DEFAULT_TIMEOUT_S
    obey_robots: bool = True
    links: bool = False


DEFAULT_RULES = ReadingRules()


class Reading(NamedTuple):
    """A page, the HTTP status it came with (None without a response), and where it refreshes to."""

    page: Page
    status: int | None = None
    refresh: str = ""


class WebReader:
    """Reads pages ourselves. Safe to use from several threads.

    `second` (Jina, where allowed) is asked once when our own reading ends in a wall or a fault.
    `cache` keeps pages as long as their servers say.
    """

    name = "web"

    def __init__(
        self,
        transport: Transport,
        *,
        rules: ReadingRules = DEFAULT_RULES,
        second: Reader | None = None,
        cache: PageCache | None = None,
    ) -> None:
        self._transport = transport
        self._cache = cache
        self._rules = rules
        self._second = second
        self._gate = RobotsGate(transport)

    def read(self, url: str) -> Page:
        """Return the page at `url`; `state` says how it went, `detail` why."""
        return self.examine(url).page

    def examine(self, url: str) -> Reading:
        """Return the page together with the HTTP status it came with."""
        first = self._read(url.strip())
        page = first.page
        if self._second is None or page.state not in _WORTH_A_SECOND:
            return first
        again = self._second.read(url.strip())
        note = f"read by {self._second.name} after {page.state}"
        if again.state != "ok":
            said = f"{page.detail}; {self._second.name}: {again.state}"
            return first._replace(page=structs.replace(page, detail=said))
        said = "; ".join(filter(None, (note, again.detail)))
        return Reading(structs.replace(again, detail=said), first.status)

    def _read(self, url: str) -> Reading:
        deadline = time.monotonic() + self._rules.timeout_s
        asked = url
        for _ in range(_MAX_REFRESHES + 1):
            reading = self._read_once(asked, deadline)
            if not reading.refresh:
                break
            asked = reading.refresh
        return reading._replace(page=structs.replace(reading.page, url=url))

    def _read_once(self, url: str, deadline: float) -> Reading:
        try:
            if self._rules.obey_robots:
                robots = self._gate.allows(url, deadline - time.monotonic())
                if not robots.allows(url):
                    why = robots.unavailable or "robots.txt does not allow it"
                    return Reading(Page(url, url, robots.state, detail=why))
            response = self._get(url, max(deadline - time.monotonic(), 0.05))
        except TransportError as error:
            state = "refused" if error.state == "offline" else error.state
            return Reading(Page(url, url, state, detail=str(error)))
        return read_response(response, url, links=self._rules.links)

    def _get(self, url: str, timeout_s: float) -> Response:
        if self._cache is None:
            return self._transport.get(url, timeout_s=timeout_s, accept=ACCEPT)
        return self._cache.get(self._transport, url, timeout_s, ACCEPT)


def read_response(response: Response, url: str, *, links: bool = False) -> Reading:
    """Return the page in a response, and where a mere refresh page sends us."""
    final, kind = response.final_url, _kind(response)
    if kind in ("html", "text") or response.status >= 300:
        page, refresh = _read_markup(response, url, kind, links)
        return Reading(page, response.status, refresh)
    if kind == "pdf":
        from omh_research.corpus.pdf_reading import read_pdf

        page = read_pdf(response.body, url)
    elif kind == "docx":
        from omh_research.corpus.docx_reading import read_docx

        page = read_docx(response.body, url)
    else:
        said = response.content_type or "unknown"
        detail = f"content of the type {said[:60]}"
        return Reading(Page(url, final, "unsupported", detail=detail), response.status)
    identifiers = read_head("", final).identifiers
    page = structs.replace(page, url=url, final_url=final, identifiers=identifiers)
    return Reading(page, response.status)


def _kind(response: Response) -> str:
    """Return html, text, pdf, docx or "" (not readable): the bytes first, then what is declared."""
    declared, start = response.content_type, response.body[:1024]
    if b"%PDF-" in start and not declared.startswith("text/html"):
        return "pdf"
    if start.startswith(b"%PDF-"):
        return "pdf"
    if declared == _WORD_TYPE and start.startswith(b"PK\x03\x04"):
        return "docx"
    opening = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if declared in _HTML_TYPES:
        return "html"
    if opening.startswith(_OPENINGS[:2]) and declared in (
        "",
        "text/plain",
        "application/octet-stream",
    ):
        return "html"
    if (
        declared.startswith("text/")
        or declared in _TEXT_TYPES
        or declared.endswith(("+json", "+xml"))
    ):
        return "text"
    if declared in ("", "application/octet-stream", "binary/octet-stream"):
        return "html" if opening.startswith(_OPENINGS) else "text"
    return ""


def _charset(response: Response) -> str:
    from email.message import Message

    message = Message()
    message["content-type"] = response.headers.get("content-type", "")
    return str(message.get_param("charset", "") or "")


def _plain_utf8(body: bytes) -> str:
    """Return a body that is valid UTF-8 text beyond doubt, "" otherwise: most pages are.

    Valid multi-byte UTF-8 is UTF-8 whatever is declared; NUL and ESC mean something else.
    """
    if b"\x00" in body or b"\x1b" in body:
        return ""
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return ""


def _read_markup(response: Response, url: str, kind: str, links: bool) -> tuple[Page, str]:
    """Return a page of HTML or plain text (or the state its HTTP status settles)."""
    from omh_research.corpus.encoding import Decoded, decode
    from omh_research.providers.web.main_text import extract_main_text

    final = response.final_url
    text = _plain_utf8(response.body)
    decoded = Decoded(text, "utf-8") if text else decode(response.body, declared=_charset(response))
    markup = decoded.text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    settled = state_of_status(response.status, response.headers, markup)
    if settled:
        return Page(url, final, settled.state, detail=settled.detail), ""
    if response.body and not decoded.encoding:
        return Page(url, final, "unsupported", detail="binary data called text"), ""
    if kind == "text":
        state = "ok" if markup.strip() else "empty"
        text = markup.strip()
        head = read_head("", final)
        return Page(url, final, state, text=text, identifiers=head.identifiers), ""
    text = extract_main_text(markup, links=links)
    return _read_html(markup, text, response.headers, (url, final))


def _read_html(
    markup: str, text: str, headers: Mapping[str, str], urls: tuple[str, str]
) -> tuple[Page, str]:
    """Return the page whose main text is `text`; `urls` are the one asked for and the final one."""
    url, final = urls
    head = read_head(markup, final)
    verdict = state_of_page(markup, head.title, text, urls)
    if head.refresh and verdict.state in ("ok", "empty") and len(text) < 300:
        return Page(url, final, "empty", head.title), urljoin(final, head.refresh)
    kept = text if verdict.state == "ok" else ""
    declared = head.language or headers.get("content-language", "")[:2].lower()
    page = Page(
        url,
        final,
        verdict.state,
        title=head.title,
        text=kept,
        language=declared or language_of_script(text),
        date=head.date,
        author=head.author,
        detail=verdict.detail,
        identifiers=head.identifiers,
    )
    return page, ""
