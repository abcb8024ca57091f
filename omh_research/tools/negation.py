"""Negation words in several languages.

Job: say whether a sentence is negated, roughly and in one way for both sides of a comparison.
Refuses to understand scope: callers compare only sentences that are otherwise the same.
Importers: tools.
"""

from __future__ import annotations

import re

from omh_research.lazy_re import lazy_re

_NEGATION = lazy_re(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|nobody|nothing|nowhere|fail(?:s|ed)? to"
    r"|lacks?|lacked|nicht|kein(?:e[rsnm]?)?|nie(?:mals)?|ohne|weder|ne|pas|jamais|sans|aucune?"
    r"|nunca|sin|ning[uú]n\w{0,3}|jamás|non|mai|senza|nessun\w?|não|sem|nenhum\w?|niet|geen|zonder"
    r"|не|нет|ни|без|никогда)\b|n['’]t\b|(?:لا|ليس|ليست|لم|لن|غير|بدون)\s"
    r"|(?<!未)[不没沒](?![仅僅同过過断斷良足久错管])|无法|無法|并非|並非|尚未|未[能被曾有见获]"
    r"|ません|ない|なかった|않|없|못"
)
_NOT_NEGATION = lazy_re(
    r"\b(?:not only|no longer than|no more than|no less than|no fewer than|no\. ?\d|nicht nur"
    r"|no sólo|no solo|non seulement|pas seulement|не только|whether or not)\b",
    re.IGNORECASE,
)


def is_negated(sentence: str) -> bool:
    """Return whether the negations of the sentence do not cancel out (an odd number of words)."""
    found = _NEGATION.findall(_NOT_NEGATION.sub(" ", sentence.casefold()))
    return len(found) % 2 == 1
