"""Jina Reader: a service that reads a page for us, an option only.

Job: one request and a pure parser of its Markdown. Refuses to be used unasked (the service learns
the address) and to send it an address the door itself would refuse. Importers: providers.web.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from omh_research.documents.source import Page
from omh_research.errors import ProviderError, TransportError
from omh_research.lazy_re import lazy_re
from omh_research.network.addresses import is_public, parse_address
from omh_research.network.guard import parse_target
from omh_research.providers.asking import Question
from omh_research.providers.cleaning import clean_text
from omh_research.providers.web.page_head import iso_start
from omh_research.providers.web.page_state import state_of_page

if TYPE_CHECKING:
    from omh_research.transport import Transport

NAME = "jina"
_FIELD = lazy_re(r"^(Title|URL Source|Published Time|Warning): (.*)$", re.MULTILINE)
_BODY_MARK = "Markdown Content:\n"
_TARGET_STATUS = lazy_re(r"returned error (\d{3})")


class JinaReader(Struct):
    """The service as a `Reader`."""

    transport: Transport
    environ: Mapping[str, str]
    key: str = ""
    timeout_s: float = 30.0
    name: str = NAME

    def read(self, url: str) -> Page:
        """Return the page; `state` says how it went."""
        try:
            target = parse_target(url)
            address = parse_address(target.host)
            if address is not None and not is_public(address):
                return Page(url, url, "refused", detail="not a public address")
            headers = {"authorization": f"Bearer {self.key}"} if self.key else {}
            question = Question(
                NAME, self.transport, self.timeout_s, headers=headers, environ=self.environ
            )
            body = question.answer(f"/{target.url}", {}, accept="text/plain")
        except TransportError as error:
            state = "refused" if error.state == "offline" else error.state
            return Page(url, url, state, detail=error.message)
        except ProviderError as error:
            return Page(url, url, "error", detail=error.message)
        return parse(body, url)


def parse(body: bytes | str, url: str) -> Page:
    """Return the page in an answer; an answer of another kind is `error`, never `empty`."""
    text = body.decode("utf-8", errors="replace") if isinstance(body, bytes) else body
    head, mark, content = text.partition(_BODY_MARK)
    if not mark:
        return Page(url, url, "error", detail="jina answered with something that is no page")
    fields = dict(_FIELD.findall(head))
    title = clean_text(fields.get("Title"))
    final = clean_text(fields.get("URL Source")) or url
    failed = _TARGET_STATUS.search(fields.get("Warning", ""))
    if failed:
        state = "not_found" if failed.group(1) in ("404", "410") else "error"
        return Page(url, final, state, title, detail=f"HTTP {failed.group(1)} (seen by jina)")
    verdict = state_of_page("", title, content, (url, final))
    kept = content.strip() if verdict.state == "ok" else ""
    date = iso_start(fields.get("Published Time"))
    return Page(url, final, verdict.state, title, kept, date=date, detail=verdict.detail)
