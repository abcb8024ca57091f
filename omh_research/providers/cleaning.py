"""Small pure cleaners shared by the providers' parsers.

Job: text without markup, canonical identifiers, ISO dates, JSON bodies that are what was due.
Refuses to guess: what cannot be read is None, and a body of another kind is an error, never an
empty answer (spec T7c). Importers: providers.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from omh_research.errors import ProviderError
from omh_research.lazy_re import lazy_re

_INLINE = lazy_re(
    r"</?(?:i|b|em|u|sub|sup|scp|sc|tt|strong|span|a|italic|bold|underline|"
    r"(?:jats|mml):(?:italic|bold|sub|sup|sc|underline|mi|mn|mo|mrow|msub|msup|math|mtext)|"
    r"math|mi|mn|mo|mrow|msub|msup|mtext)(?:\s[^<>]{0,300})?/?>",
    re.IGNORECASE,
)
_BLOCK = lazy_re(
    r"</?(?:(?:jats|mml):[a-z-]+|p|br|div|title|sec|list|list-item|li|ul|ol|h[1-6]|abstract|"
    r"inline-formula|tex-math|alternatives|inline-graphic|xref|label)(?:\s[^<>]{0,300})?/?>",
    re.IGNORECASE,
)
_INVISIBLE = lazy_re(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff\u200b\u2060]")
# Old DOIs carry angle brackets and semicolons, so a field's value is taken to its end.
_DOI = lazy_re(r"10\.\d{4,9}(?:\.\d+)*/\S+", re.IGNORECASE)
_ARXIV = lazy_re(
    r"(?:^|arxiv[:.]|/abs/|/pdf/)\s*"
    r"((?:[a-z-]+(?:\.[a-z]{2})?/\d{7})|(?:\d{4}\.\d{4,5}))(v\d+)?(?:\.pdf)?$",
    re.IGNORECASE,
)
_DIGITS = lazy_re(r"\d{1,9}")
MAX_AUTHORS_READ = 500


def clean_text(value: object) -> str:
    """Return text on one line: no markup, entities resolved, no invisible characters; "" if none.

    Inline tags vanish (H<sub>2</sub>O is H2O), block tags become a space.
    """
    if not isinstance(value, str):
        return ""
    text = value
    if "<" in text:
        text = _BLOCK.sub(" ", _INLINE.sub("", text))
    if "&" in text:
        text = html.unescape(text)
        if "<" in text:  # markup that was itself escaped
            text = _BLOCK.sub(" ", _INLINE.sub("", text))
    return " ".join(_INVISIBLE.sub("", text).split())


def clean_doi(value: object) -> str | None:
    """Return a DOI in lower case starting with `10.`, None when `value` holds none."""
    if not isinstance(value, str):
        return None
    found = _DOI.search(value[:1000].strip())
    return found.group().rstrip(".,;").lower() if found else None


def clean_arxiv(value: object) -> tuple[str | None, str | None]:
    """Return (arXiv id without version, version such as `v2`), None for what is missing."""
    if not isinstance(value, str):
        return None, None
    found = _ARXIV.search(value[:300].strip())
    if not found:
        return None, None
    return found.group(1), found.group(2)


def arxiv_of_doi(doi: str | None) -> str | None:
    """Return the arXiv id inside arXiv's own DOI (10.48550/arxiv.…), None for other DOIs."""
    if doi is None or not doi.startswith("10.48550/arxiv."):
        return None
    return clean_arxiv(doi.removeprefix("10.48550/"))[0]


def clean_pmid(value: object) -> str | None:
    """Return a PubMed id: the digits at the end of a number or URL."""
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    last = text.strip().rstrip("/").rpartition("/")[2]
    return last if _DIGITS.fullmatch(last) and last.strip("0") else None


def clean_year(value: object) -> int | None:
    """Return a year between 1000 and 3000, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        year = int(value)
    except ValueError:
        return None
    return year if 1000 <= year <= 3000 else None


def iso_date(parts: Sequence[object]) -> str | None:
    """Return `2024`, `2024-03` or `2024-03-28` from [year, month, day]; stops at the first gap."""
    numbers: list[int] = []
    for part, (low, high) in zip(parts, ((1000, 3000), (1, 12), (1, 31)), strict=False):
        if isinstance(part, bool) or not isinstance(part, int | str):
            break
        try:
            number = int(part)
        except ValueError:
            break
        if not low <= number <= high:
            break
        numbers.append(number)
    if not numbers:
        return None
    return "-".join([f"{numbers[0]:04d}", *(f"{number:02d}" for number in numbers[1:])])


def clean_date(value: object) -> str | None:
    """Return the date part of an ISO text as exactly as it is written, None if it is none."""
    if not isinstance(value, str):
        return None
    return iso_date(value.strip()[:10].split("-"))


def clean_names(values: object) -> tuple[str, ...]:
    """Return the non-empty names of a list, cleaned, in order."""
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        return ()
    names = (clean_text(value) for value in values[:MAX_AUTHORS_READ])
    return tuple(name for name in names if name)


def mapping(value: object) -> Mapping[str, Any]:
    """Return `value` when it is a JSON object, {} otherwise."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> list[Any]:
    """Return `value` when it is a JSON array, [] otherwise."""
    return value if isinstance(value, list) else []


def first_text(value: object) -> str:
    """Return the first usable text of a list (or the text itself)."""
    for candidate in value if isinstance(value, list) else [value]:
        if text := clean_text(candidate):
            return text
    return ""


def json_body(body: bytes | str | Mapping[str, Any] | list[Any], provider: str) -> Any:
    """Return the JSON value of a provider's body; raises `ProviderError` when it is something else.

    A value that is parsed already is passed through (the seed's parsers take those).
    """
    if not isinstance(body, bytes | str):
        return body
    text = _json_text(body) if isinstance(body, bytes) else body
    if text.lstrip()[:1] == "<":
        raise ProviderError(f"{provider} answered with a page where JSON was due.")
    try:
        # Not strict: some answers hold raw control characters inside strings.
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        raise ProviderError(f"{provider} answered with something that is no JSON.") from None


def _json_text(body: bytes) -> str:
    """Decode JSON bytes: UTF-8 by the standard, UTF-16 or UTF-32 where a BOM or NULs show it."""
    return body.decode(json.detect_encoding(body), errors="replace")


def is_empty_entry(entry: object) -> bool:
    """Return whether a list entry is null or an empty object (counted apart, spec B6)."""
    return entry is None or entry in ({}, [], "")
