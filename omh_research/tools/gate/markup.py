"""Rules about what readers click and do not see: HTML, and addresses without a scheme.

Job: find HTML tags and comments in a report, and addresses such as `www.evil.example` or
`evil.example/buy` that nobody read (spec E28; 81-reliability 7; the role's "no HTML, no links").
What a held text itself says is its own words, and code is no markup. Refuses to look at http(s)
addresses (see `sources`). Importers: tools.gate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from omh_research.lazy_re import lazy_re
from omh_research.tools.gate.contract import Failure, GateInput

_CODE = lazy_re(r"(?ms:^```.*?^```[^\n]*$)|`[^`\n]{1,300}`")
_TAGS = (
    "a|abbr|address|article|aside|b|big|blockquote|blink|body|br|button|center|cite|code|dd|del"
    "|details|div|dl|dt|em|figure|figcaption|font|footer|h[1-6]|head|header|hr|html|i|img|input"
    "|ins|kbd|label|li|main|mark|marquee|math|meta|nav|noscript|ol|p|picture|pre|q|s|samp|section"
    "|select|small|span|strike|strong|sub|summary|sup|table|tbody|td|template|textarea|tfoot|th"
    "|thead|title|tr|tt|u|ul|var|wbr"
)
_HTML = lazy_re(
    rf"</?(?:{_TAGS})(?:\s[^<>\n]{{0,400}})?/?>|<!doctype\b|<\?xml\b", re.IGNORECASE, needs=("<",)
)
# A host with `www.`, with a path, or with one of the endings that prose has no other use for.
_HOST = r"[a-z0-9][a-z0-9-]{0,62}(?:\.[a-z0-9][a-z0-9-]{0,62}){0,6}"
_ENDINGS = "com|org|net|info|biz|xyz|shop|online|site|store|top|example"
_BARE = lazy_re(
    rf"(?<![\w@/.:=&?%#~-])(?:www\.{_HOST}(?:/[^\s<>\"'“”)\]，。；]*)?"
    rf"|{_HOST}\.[a-z]{{2,24}}/[^\s<>\"'“”)\]，。；]*"
    rf"|{_HOST}\.(?:{_ENDINGS})(?![\w.-]*\w))",
    re.IGNORECASE,
    needs=("www.", "/", *(f".{ending}" for ending in _ENDINGS.split("|"))),
)
_URL = lazy_re(r"(?i)https?://\S+|\b10\.\d{4,9}/\S+|\bcorpus:\S+|\bdoi:\S+")
_MAX_TOLD = 5


def check_markup(given: GateInput, body: str) -> Iterator[Failure]:
    """Yield HTML in the report and bare addresses in `body`, the text outside its Sources list."""
    known = _Known(given)
    tags = find_html(given.report)
    if tag := next((tag for tag in tags if not known.holds(tag)), ""):
        message = f"{tag[:60]!r}: a report holds no HTML; write Markdown only."
        yield Failure("html", "text", message)
    told: set[str] = set()
    for match in _BARE.finditer(_URL.sub(" ", _CODE.sub(" ", body))):
        address = match[0].rstrip(".,;:!?*_")
        host = address.partition("/")[0].removeprefix("www.").casefold()
        if host in told or len(told) >= _MAX_TOLD or known.holds_address(address.casefold()):
            continue
        told.add(host)
        message = f"{address} is in no finding; keep addresses in the Sources list."
        yield Failure("address_not_in_findings", "text", message)


def find_html(text: str) -> tuple[str, ...]:
    """Return the comments and tags of `text`, each tag once; code is no markup."""
    plain = _CODE.sub(" ", text)
    return (*_comments(plain), *dict.fromkeys(match[0] for match in _HTML.finditer(plain)))


def _comments(text: str) -> Iterator[str]:
    """Yield the HTML comments of a text; one that never ends reaches to its end."""
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start)
        yield text[start : end + 3 if end >= 0 else len(text)]
        start = text.find("<!--", end) if end >= 0 else -1


class _Known:
    """What the run has read or was asked, folded; made on first use."""

    def __init__(self, given: GateInput) -> None:
        self._given = given

    def holds(self, text: str) -> bool:
        """Return whether a held text says this, as it stands."""
        return any(text in held.text for held in self._given.held)

    def holds_address(self, address: str) -> bool:
        """Return whether the folded address stands in a finding, a held text or the question."""
        return address.removeprefix("www.").rstrip("/") in self._folded

    @cached_property
    def _folded(self) -> str:
        given = self._given
        said = [given.topic, *given.subtopics, *(f"{t.url} {t.text}" for t in given.held)]
        for _, finding in given.findings:
            said += [f"{s.url} {s.title}" for s in finding.sources]
            said += [finding.synthesis, *finding.gaps, *(run.query for run in finding.queries_run)]
            said += [f"{row.claim} {row.quote}" for row in finding.evidence]
        return "\n".join(said).casefold()
