"""The same words in another order, or one exchanged: who did what, from what to what (T13).

Job: tell when a claim uses its quote's words and numbers but has two numbers, or the two sides of
a verb, changed places, or one name put for another. Refuses to parse grammar:
it looks only at pairs that both texts hold once, with words between them, and lets a passive
pass. Importers: tools.alignment.
"""

from __future__ import annotations

from itertools import pairwise

from omh_research.lazy_re import lazy_re
from omh_research.tools.figures import find_figures
from omh_research.tools.stems import stem
from omh_research.tools.stopwords import stop_words
from omh_research.tools.tokens import detect_language

_WORD = lazy_re(r"[^\W\d_](?:[\w&.-]*\w)?")
_PASSIVE = lazy_re(r"\b(?:by|von|durch|par|por|da|door|av)\b|被|由|受到|より|によって|من قبل")
_YEAR = lazy_re(r"(?:1[5-9]|20)\d\d")
_MAX_ITEMS = 24
_MIN_EXCHANGE_WORDS = 5


def order_conflict(claim: str, quote: str) -> str:
    """Return what changed places between `claim` and `quote` in a few words, "" if nothing did."""
    return _numbers(claim, quote) or _sides(claim, quote) or _exchanged(claim, quote)


def _numbers(claim: str, quote: str) -> str:
    """Compare the order of numbers where the words around them keep theirs."""
    said, held = _figures(claim), _figures(quote)
    shared = [value for value in said if value in held]
    if len(shared) < 2 or not same_words_in_order(claim, quote):
        return ""
    expected = [value for value in held if value in shared]
    return "" if shared == expected else f"{' and '.join(shared[:4])} in another order"


def _figures(text: str) -> list[str]:
    """Return the values of the numbers that stand once in `text`, bare years left out."""
    values = [figure.values[0] for figure in find_figures(text) if figure.values]
    return [v for v in values[:_MAX_ITEMS] if values.count(v) == 1 and not _YEAR.fullmatch(v)]


def same_words_in_order(claim: str, quote: str) -> bool:
    """Say whether the words of `claim` that `quote` has too come in the quote's order."""
    held = [word.casefold() for word in _WORD.findall(quote)]
    at = 0
    for word in (word.casefold() for word in _WORD.findall(claim)):
        if word in held[at:]:
            at = held.index(word, at) + 1
        elif word in held:
            return False
    return True


def _sides(claim: str, quote: str) -> str:
    """Compare the two capitalised sides of a verb: "A bought B" is not "B bought A"."""
    if bool(_PASSIVE.search(claim.casefold())) != bool(_PASSIVE.search(quote.casefold())):
        return ""
    stops = stop_words(detect_language(claim) or "en")
    said, held = _words(claim), _words(quote)
    names = [w for w in said if w[0].isupper() and w.casefold() not in stops]
    for first, second in pairwise(names):
        if not (
            said.count(first) == said.count(second) == 1 == held.count(first) == held.count(second)
        ):
            continue
        between = _between(said, first, second, stops)
        if between and held.index(second) < held.index(first):
            turned = _between(held, second, first, stops)
            if set(between) & set(turned):
                return f"{first} and {second} have changed places"
    return ""


def _exchanged(claim: str, quote: str) -> str:
    """Compare two texts that differ in a capitalised word only: a name, or a German noun."""
    said, held = _WORD.findall(claim), _WORD.findall(quote)
    if len(said) != len(held) or len(said) < _MIN_EXCHANGE_WORDS:
        return ""
    pairs = [(a, b) for a, b in zip(said, held, strict=True) if a.casefold() != b.casefold()]
    for ours, theirs in pairs if len(pairs) <= 2 else ():
        if ours[0].isupper() and theirs[0].isupper() and stem(ours.lower()) != stem(theirs.lower()):
            return f"{ours} in place of {theirs}"
    return ""


def _words(text: str) -> list[str]:
    return _WORD.findall(text)[: _MAX_ITEMS * 8]


def _between(words: list[str], first: str, second: str, stops: frozenset[str]) -> list[str]:
    """Return the small-letter content words between two words of a list."""
    found = words[words.index(first) + 1 : words.index(second)]
    return [word for word in found if word.islower() and word not in stops]
