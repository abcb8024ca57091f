"""How good a name for a subtopic a phrase makes.

Job: remember where a phrase was met and how it is written there; tell proper names from common
words, and lone words from names of several (D1b). Refuses to find phrases and to know a topic.
Importers: extractive.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from omh_research.lazy_re import lazy_re
from omh_research.tools.tokens import tokenize

DENSE = ("zh", "ja")
"""Languages whose names are counted in characters."""
_CASED = ("en", "es", "fr", "it", "pt", "nl", "sv", "ru", "uk", "pl", "tr")
_LONG_NOUN = 10
_OPENING = " \"'“”„«»‘’(–—-•*"
_NOUNLIKE = lazy_re(r"(?:tions?|ments?|it(?:y|ies)|ness|isms?|ogy|ances?|ences?|ers?|ists?)$")


class Mention(NamedTuple):
    """A phrase in one sentence: what that is worth, its place in the ranking, its document.

    A sentence of the lead adds weight only. Where a sentence begins, a capital tells nothing.
    """

    value: float
    place: int
    document: int
    is_lead: bool
    is_first: bool


class Seen:
    """What was seen of each phrase, by its stems: a spelling and its mentions."""

    def __init__(self) -> None:
        self.spelling: dict[str, str] = {}
        self.mentions: dict[str, list[Mention]] = defaultdict(list)

    def add(self, phrase: str, mention: Mention) -> None:
        """Count one sentence; a spelling from inside one is preferred."""
        key = " ".join(tokenize(phrase))
        known = self.mentions[key]
        if not known or (not mention.is_first and all(one.is_first for one in known)):
            self.spelling[key] = phrase
        known.append(mention)

    def is_name(self, key: str) -> bool:
        """True when it has capitals where a common word has none."""
        words = self.spelling[key].split()
        return all(word[:1].isupper() for word in words) and (
            len(words) > 1 or not all(mention.is_first for mention in self.mentions[key])
        )


def begins(sentence: str, phrase: str) -> bool:
    """Return whether a sentence begins with a phrase, quotation marks and bullets aside."""
    return sentence.lstrip(_OPENING).startswith(phrase)


def is_plain_word(name: str, language: str) -> bool:
    """Return whether a phrase is one word and no German compound, or ends in no German noun.

    Proper names are for the caller to leave out; in scripts without capitals it cannot be told.
    """
    if language == "de":
        last = name.split()[-1]
        return last[:1].islower() or (last == name and len(name) < _LONG_NOUN)
    return language in _CASED and " " not in name


def name_shape(name: str, language: str, is_name: bool) -> float:
    """Return how good a name a phrase makes, about 0.05 to 1.6.

    Two words say more than one, a lone common word says little.
    """
    if language in DENSE:
        return {2: 0.7, 3: 1.0, 4: 1.3, 5: 1.1, 6: 1.0}.get(len(name), 0.5)
    parts = name.split()
    capitals = [part[:1].isupper() for part in parts]
    if language == "de":  # nouns have capitals: a name ends in one; compounds are one long word
        score = {1: 1.0 if len(name) >= _LONG_NOUN else 0.25, 2: 1.3, 3: 1.1}.get(len(parts), 0.5)
        return score if capitals[-1] else 0.2 * score
    score = {1: 0.5, 2: 1.3, 3: 1.3}.get(len(parts), 0.8)
    if language in _CASED and len(parts) == 1 and not is_name:
        score *= 0.15 if language == "en" and not _NOUNLIKE.search(name) else 0.35
    return score * (1.25 if is_name else 1.0)
