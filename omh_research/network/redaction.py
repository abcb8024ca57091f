"""Keeping secrets out of errors, ledgers and logs.

Job: a URL without its credentials, a text without known secrets. Refuses to guess at secrets in
free text it was not told of. Importers: network, transport, providers.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from omh_research.lazy_re import lazy_re

_SECRET_NAME = lazy_re(
    r"(?:^|[-_.])(?:api[-_.]?key|apikey|key|token|secret|password|passwd|pwd|auth|authorization"
    r"|signature|sig|session|sessionid|credential|credentials|code|jwt|bearer)(?:$|[-_.])",
    re.IGNORECASE,
)
_REDACTED = "REDACTED"
_LONGEST_SHOWN = 300
# Short values (a flag, an id of three letters) would blank out ordinary words.
_SHORTEST_SECRET = 6


def is_secret_name(name: str) -> bool:
    """Return whether a parameter or header called `name` is likely to carry a secret."""
    return bool(_SECRET_NAME.search(name)) or name.lower() in ("cookie", "mailto", "email")


def redact_url(url: str) -> str:
    """Return `url` fit to be shown: no userinfo, secret query values blanked, bounded length."""
    try:
        parts = urlsplit(url)
        netloc = parts.netloc.rpartition("@")[2]
        pairs = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        return "(unreadable URL)"
    if any(is_secret_name(name) for name, _ in pairs):
        query = "&".join(
            f"{quote(name)}={_REDACTED if is_secret_name(name) else quote(value)}"
            for name, value in pairs
        )
    else:
        query = parts.query
    shown = urlunsplit((parts.scheme, netloc, parts.path, query, ""))
    printable = "".join(char if char.isprintable() else "?" for char in shown)
    return printable if len(printable) <= _LONGEST_SHOWN else printable[:_LONGEST_SHOWN] + "…"


def redact_text(text: str, secrets: tuple[str, ...]) -> str:
    """Return `text` with each of `secrets` (6 characters or more) blanked out."""
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, _REDACTED)
    return text
