"""Text made fit to be shown: nothing hidden in it (spec 81-reliability, section 7).

Job: remove control, bidirectional and tag characters at display and export; files keep what was
returned. Refuses to change a visible character. Importers: cli, export.
"""

from __future__ import annotations

# Joiners shape visible letters; the Arabic, Syriac and Kaithi number signs are visible themselves.
_KEPT = frozenset(
    "\n\t\u200c\u200d\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u08e2\U000110bd\U000110cd"
)


def visible(text: str) -> str:
    """Return text without control, bidi, tag, private-use and surrogate characters."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    import unicodedata

    return "".join(
        char
        for char in text
        if char in _KEPT or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co")
    )
