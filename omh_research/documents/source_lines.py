"""One line of a SOURCES list, read leniently.

Job: turn `[N] Title — URL — primary|secondary|vendor|blog|forum — date` and the shapes models
write instead (list numbers, `【N】`, Markdown links, tables, DOIs) into a Source (spec D5b, E22).
Refuses to judge or normalise addresses. Importers: documents, tools.
"""

from __future__ import annotations

import re

from msgspec import Struct

from omh_research.documents.answer_text import after_number
from omh_research.lazy_re import lazy_re

CREDIBILITY_TAGS = ("primary", "secondary", "vendor", "blog", "forum")


class Source(Struct, frozen=True):
    """A source as its list declares it: number, title, address, credibility tag, date.

    `n` is 0 when the line carries no number. An unknown tag is kept as written.
    """

    n: int
    title: str
    url: str
    credibility: str = ""
    date: str = ""


_NUMBER = lazy_re(
    r"\s*(?:[-*+•>]\s+)?(?:\*\*)?(?:"
    r"[\[【［〔]\s*\^?(?:[A-Za-z]{0,3}-?)?(?P<a>\d{1,4})\s*[\]】］〕](?!\()(?:\*\*)?\s*[:：.]?"
    r"|(?:[A-Za-z]{1,2}-?)?(?P<b>\d{1,3})\s*[.)）、:：](?:\*\*)?(?=\s|\D)"
    r"|[(（](?P<c>\d{1,4})[)）])\s*"
)
_LINK = lazy_re(
    r"\[(?P<title>[^\[\]\n]{1,400})\]\(\s*<?(?P<url>[^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*)>?\s*(?:\"[^\"\n]{0,200}\"\s*)?\)",
    needs=("](",),
)
# A web address, or the name of a document in a corpus (`corpus:LABEL/path`).
_URL = lazy_re(
    r"(?:https?://|\bcorpus:)[^\s<>\"'“”‘’`|\\^{}、。，；「」『』《》【】（）]+",
    re.IGNORECASE,
    needs=("http", "corpus:"),
)
_ANY_LINK = lazy_re(f"{_LINK.pattern}|(?P<bare>{_URL.pattern})", re.IGNORECASE)
_TITLE_LINE = lazy_re(
    r"\W{0,8}(?:title|标题|題名|titel|titre|título)\W{0,4}[:：]\W{0,3}(.{1,300})", re.I
)
_DOI = lazy_re(
    r"(?:doi\s*[:：]\s*|(?<![\w/.]))(10\.\d{4,9}/[^\s<>\"“”|、。，；「」【】（）]+)",
    re.IGNORECASE,
    needs=("10.",),
)
_ARXIV = lazy_re(
    r"\barxiv\s*[:：]\s*(\d{4}\.\d{4,5}(?:v\d{1,2})?|[a-z-]{2,12}(?:\.[A-Z]{2})?/\d{7})",
    re.IGNORECASE,
    needs=("arxiv",),
)
_SEPARATOR = lazy_re(r"\s+[—–|·•-]+\s+|\s*[—|]\s*|\s*——\s*|\s{3,}|\t")
_DATE = lazy_re(
    r"(?:undated|unknown|无日期|日期不详|(?:c\.?\s*)?(?:1[5-9]|20)\d\d(?!\d).{0,24}"
    r"|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|[^\W\d]{3,12}\.?\s+(?:\d{1,2},?\s+)?(?:1[5-9]|20)\d\d"
    r"|\d{1,2}\.?\s+[^\W\d]{3,12}\.?,?\s+(?:1[5-9]|20)\d\d)",
    re.IGNORECASE,
    needs=(*"0123456789", "undated", "unknown"),
    beyond_ascii=True,
)
_UNDATED = ("n.d", "nd")
_LINK_WORDS = ("link", "url", "source", "pdf", "web", "链接", "原文")
_EDGE = ' \t—–-|·•,;:，；：*_"“”'


def parse_source_line(line: str) -> Source | None:
    """Return the Source that one line of a list declares, or None when it names no address."""
    line = line[:4_000].strip()
    if line.startswith("|"):
        return _parse_row(line)
    number, begin = after_number(line) or _number(line)
    rest = line[begin:] if begin else line.lstrip("-*+•> \t")
    found = _find_address(rest)
    if found is None:
        return _parse_fields(number, rest)
    title, url, tail = found
    credibility, date = _tail_fields(tail)
    if not title and credibility and credibility.casefold() not in CREDIBILITY_TAGS:
        title, credibility = credibility, ""
    return Source(number, title, url, credibility, date)


def find_links(text: str) -> list[tuple[str, str]]:
    """Return (title, url) of every link in `text`, in order, each address once; at most 500."""
    found: dict[str, str] = {}
    for match in re.finditer(
        f"{_LINK.pattern}|(?P<bare>{_URL.pattern})", text[:400_000], _URL.flags
    ):
        url = trim_url(match["bare"] or match["url"])
        if url.lower().startswith(("http://", "https://")) and url not in found:
            found[url] = (match["title"] or "").strip(_EDGE)
            if len(found) == 500:
                break
    return [(title, url) for url, title in found.items()]


def trim_url(url: str) -> str:
    """Return `url` without the punctuation of the sentence around it; brackets stay in pairs."""
    while url:
        last = url[-1]
        if (
            last in ".,;:!?*_~>"
            or (last == ")" and url.count(")") > url.count("("))
            or (last == "]" and url.count("]") > url.count("["))
        ):
            url = url[:-1]
            continue
        break
    return url


def _number(line: str) -> tuple[int, int]:
    """The number in front of a line and where the text after it begins; (0, 0) without one."""
    match = _NUMBER.match(line)
    return (int(match["a"] or match["b"] or match["c"]), match.end()) if match else (0, 0)


def _find_address(text: str) -> tuple[str, str, str] | None:
    """Return (title, url, what follows) around the first address in `text`."""
    link = _LINK.search(text)
    bare = _URL.search(text)
    if link and (not bare or link.start() <= bare.start()):
        before = text[: link.start()].strip(_EDGE)
        title = link["title"].strip(_EDGE)
        if (before and _URL.match(title)) or (
            before and title.casefold() in ("link", "url", "source", "pdf", "链接")
        ):
            title = before
        return title, trim_url(link["url"]), text[link.end() :]
    if bare:
        url = trim_url(bare[0])
        return text[: bare.start()].strip(_EDGE + "<("), url, text[bare.start() + len(url) :]
    for pattern, prefix in ((_DOI, "https://doi.org/"), (_ARXIV, "https://arxiv.org/abs/")):
        if match := pattern.search(text):
            title = text[: match.start()].strip(_EDGE + "(")
            return title, prefix + trim_url(match[1]), text[match.end() :]
    return None


def _parse_fields(number: int, text: str) -> Source | None:
    """Read the exact template whose address is no web address (a file of a corpus)."""
    fields = [field.strip(_EDGE) for field in _fields(text)]
    if len(fields) < 3 or number == 0:
        return None
    tags = (at for at in range(2, len(fields)) if fields[at].casefold() in CREDIBILITY_TAGS)
    at = next(tags, 0)
    if not at or not _is_path(fields[at - 1]):
        return None
    date = fields[at + 1] if at + 1 < len(fields) else ""
    return Source(number, " — ".join(fields[: at - 1]), fields[at - 1], fields[at], date)


def _is_path(text: str) -> bool:
    """Return whether `text` can be the address of a document, not a template's placeholder."""
    return bool(text) and not any(char in text for char in "{}<>[]|") and text.upper() != "URL"


def _is_date(text: str) -> bool:
    return text.casefold().rstrip(".") in _UNDATED or bool(_DATE.fullmatch(text))


def _fields(text: str) -> list[str]:
    """Return the parts of a line between its separators; "—", the template's own, is cheap."""
    parts = text.split(" — ")
    is_plain = all(" ".join(part.split()) == part for part in parts)
    if not is_plain or any(
        mark in part for part in parts for mark in ("—", "|", "–", "·", "•", " -")
    ):
        return _SEPARATOR.split(text)
    return parts


def _tail_fields(tail: str) -> tuple[str, str]:
    """Return (credibility, date) from what follows the address."""
    credibility = date = ""
    for field in _fields(tail.strip(" \t>)").removeprefix("— ")):
        word = field.strip(_EDGE + "()[]（）【】.")
        if not word:
            continue
        if not date and _is_date(word):
            date = "n.d." if word.casefold() in _UNDATED else word
        elif not credibility and len(word) <= 60:
            credibility = word
    if (
        credibility
        and not date
        and (match := re.fullmatch(r"(\w+)\s*[,，;(（]\s*(.+)", credibility))
        and _is_date(match[2].strip("()（） "))
    ):
        credibility, date = match[1], match[2].strip("()（） ")
    return credibility, date


def _parse_row(line: str) -> Source | None:
    """Read a table row: the cell with an address, a number, a tag and a date wherever they are."""
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    at = next((i for i, cell in enumerate(cells) if _find_address(cell)), -1)
    if at < 0:
        return None
    found = _find_address(cells[at])
    title, url = (found[0], found[1]) if found else ("", "")
    number, credibility, date = 0, "", ""
    for i, cell in enumerate(cells):
        word = cell.strip(_EDGE + "[]【】")
        if i == at or not word:
            continue
        if number == 0 and i == 0 and (digits := re.fullmatch(r"[A-Za-z]{0,2}(\d{1,4})", word)):
            number = int(digits[1])
        elif not date and _is_date(word):
            date = word
        elif not title and i < at:
            title = word
        elif not credibility and len(word) <= 40:
            credibility = word
    return Source(number, title, url, credibility, date)
