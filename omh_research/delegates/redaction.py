"""Keeping keys out of everything that is kept or shown.

Job: replace the values of secret-looking environment variables, and key-shaped words, in texts
that come from outside (a program's stderr, a server's error body). Refuses to log. Importers:
command, llm.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from omh_research.lazy_re import lazy_re

REDACTED = "[redacted]"
MIN_SECRET_CHARS = 6

_SECRET_NAME = lazy_re(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE", re.IGNORECASE)
# The shapes of keys in common use, and what follows the word of an authorization header.
_KEY_SHAPES = lazy_re(
    r"\b(?:sk|pk|rk|xai|gsk|tvly|ghp|gho|hf|jina|AIza)[-_]?[A-Za-z0-9_\-*]{12,}"
    r"|(?<=Bearer )[A-Za-z0-9._~+/=\-]{6,}"
    r"|(?<=://)[^/\s:@]{1,200}:[^/\s@]{1,200}(?=@)",
)


def redact(text: str, environ: Mapping[str, str], *extra: str) -> str:
    """Return `text` without the values of secret variables in `environ`, nor `extra` ones.

    A variable is secret by its name (KEY, TOKEN, SECRET, ...). Values shorter than 6 characters
    are left alone: they would match ordinary words. Key-shaped words go as well, because a
    server may echo a part of a key.
    """
    values = {
        value.strip()
        for name, value in environ.items()
        if _SECRET_NAME.search(name) and len(value.strip()) >= MIN_SECRET_CHARS
    }
    values.update(value for value in extra if len(value) >= MIN_SECRET_CHARS)
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, REDACTED)
    return _KEY_SHAPES.sub(REDACTED, text)
