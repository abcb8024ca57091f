"""Proper names in running text: what a cited sentence calls by name.

Job: find capitalised names, acronyms and names with digits in a sentence (spec E28). Refuses to
guess names in scripts without capitals, and ordinary nouns of German. Importers: tools, phases.
"""

from __future__ import annotations

import re
from functools import cache

from omh_research.lazy_re import lazy_re
from omh_research.tools.name_index import POSSESSIVE, Name, connectors, fold_name
from omh_research.tools.stopwords import stop_words
from omh_research.tools.units import UNITS_AFTER, UNITS_BEFORE

_LETTERS = "A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff"
_WORD = lazy_re(
    rf"[{_LETTERS}][{_LETTERS}0-9’']*(?:[-‐‑&.][{_LETTERS}0-9][{_LETTERS}0-9’']*)*"
    rf"|(?<!\d)\d{{1,9}}[A-Za-z][{_LETTERS}0-9]*"
)
# The same for sentences in ASCII: a third of the time to compile.
_ASCII_WORD = lazy_re(
    r"[A-Za-z][A-Za-z0-9']*(?:[-&.][A-Za-z0-9][A-Za-z0-9']*)*|(?<!\d)\d{1,9}[A-Za-z][A-Za-z0-9]*"
)
_UNSPACED = ("zh", "ja", "ko")
# Every noun capitalised, or names with many case endings: only acronyms and the like are certain.
_UNCERTAIN = ("de", "pl", "cs", "sk", "fi", "hu", "tr", "et", "lt", "lv", "hr", "sl")
_BREAK = lazy_re(r"[:;!?(\[{\"“„«「|•*_—–/]|\.\s|\s-\s")
# Ordinary words that begin sentences and labels and are never names by themselves.
_OPENERS = """
    according additional additionally after albeit all almost already also although among an
    analysis annual another any around article as at author authors average background based
    because before beginning below besides both but by case cases commercial compared
    conclusion consequently consumer consumers context cost costs critical critics current
    currently data database demand despite details due during each earlier early economic
    effect effects either elsewhere emerging energy environmental even eventually every
    evidence example experts federal few finally finding findings first five following for four
    from further furthermore future given global government governments growth half hence here
    high higher historically how however if impact implications in industry inference initially
    instead international investment it its key large larger largest last lastly later latest
    less like likewise limitations local low lower main major many market markets meanwhile
    methods model models more moreover most much national nearly nevertheless new next no none
    nonetheless not notable notably note now of official officials on once one only open
    opponents other others otherwise our over overall part patients people per performance
    perhaps policy previously price prices primary prior production proponents public quality
    question questions quote rather recent recently regarding regional regulation report
    reported reporting reports research researchers results reviewers risk risks roughly sales
    scientists second secondary section several she similar similarly since six some source
    sources specifically still studies study subsequently such summary supply supporters survey
    surveys table takeaway taken technology ten test tests than that the their then there
    therefore these they third this those though three through throughout thus title to today
    together tools total traditionally trials two typically ultimately under unfortunately
    unlike until up use users using usually value various vendor vendors via we what when where
    whereas whether which while who whose why will with within without workers world yes yet
    you
    monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december i
"""


def find_names(
    sentence: str, *, language: str = "en", known: frozenset[str] = frozenset()
) -> list[Name]:
    """Return the names of one sentence.

    In German and in languages with many case endings only acronyms and words with inner capitals
    or digits count; in Chinese, Japanese and Korean every capitalised Latin word counts. The first
    word of a sentence, or after a mark, counts only when it cannot be an ordinary word: an
    acronym, or in `known` (folded words that stand capitalised inside sentences elsewhere) by
    itself or through the next word.
    """
    return _Reader(sentence, language, known).names()


class _Reader:
    """Reads the names of one sentence."""

    def __init__(self, sentence: str, language: str, known: frozenset[str]) -> None:
        self._sentence = sentence
        self._language = language
        self._known = known
        word = _ASCII_WORD if sentence.isascii() else _WORD
        self._tokens = list(word.finditer(sentence))
        capitals = sum(token[0][0].isupper() for token in self._tokens)
        self._titled = len(self._tokens) >= 4 and capitals > 0.7 * len(self._tokens)

    def names(self) -> list[Name]:
        """Return the names, neighbours joined."""
        found: list[Name] = []
        run: list[str] = []
        for at, token in enumerate(self._tokens):
            gap = self._gap_before(at)
            first = (at == 0 or bool(_BREAK.search(gap))) and self._language not in _UNSPACED
            if run and (first or gap.strip(" .")):
                found.append(_named(run))
                run = []
            word = _name_part(POSSESSIVE.sub("", token[0]))
            is_name = self._is_name(word, first) or (first and self._opens_name(word, at))
            is_inside = bool(run) and self._is_inside(run[-1], word, at)
            if is_name or is_inside:
                run.append(word)
            elif run:
                found.append(_named(run))
                run = []
        return [*found, _named(run)] if run else found

    def _gap_before(self, at: int) -> str:
        return self._sentence[self._tokens[at - 1].end() : self._tokens[at].start()] if at else "."

    def _is_capital(self, at: int) -> bool:
        return at < len(self._tokens) and self._tokens[at][0][0].isupper()

    def _is_name(self, word: str, first: bool) -> bool:
        """Return whether a word is a name wherever it stands."""
        if word in UNITS_BEFORE or (word in UNITS_AFTER and word != word.casefold()):
            return False
        upper = sum(char.isupper() for char in word)
        if any(char.isdigit() for char in word):
            return upper > 0 and word[0].isalpha()
        if upper >= 2:
            return not word.isupper() or len(word) <= 6 or not self._titled
        return not first and self._may_be_name(word)

    def _may_be_name(self, word: str) -> bool:
        if self._titled or self._language in _UNCERTAIN:
            return False
        if not word[0].isupper() or len(word) < 2:
            return False
        return word.casefold() not in _plain_words(self._language)

    def _is_inside(self, before: str, word: str, at: int) -> bool:
        """Return whether a word carries a name on: "of", or the "Energy" behind it."""
        if word in connectors():
            return self._is_capital(at + 1)
        return before in connectors() and word[0].isupper()

    def _opens_name(self, word: str, at: int) -> bool:
        """Return whether the first word of a sentence opens a name."""
        if not self._may_be_name(word):
            return False
        if fold_name(word) in self._known:
            return True
        if not self._is_capital(at + 1) or self._gap_before(at + 1) != " ":
            return False
        following = self._tokens[at + 1][0]
        return following.casefold() not in _openers() and fold_name(following) in self._known


def _name_part(word: str) -> str:
    """Return a compound without its ordinary words: "RecQ" of "RecQ-class"."""
    parts = re.split("[-‐‑]", word)
    named = [part for part in parts if any(c.isupper() or c.isdigit() for c in part)]
    return named[0] if len(parts) > 1 and len(named) == 1 and len(named[0]) > 1 else word


def _named(run: list[str]) -> Name:
    while run[-1] in connectors():
        run = run[:-1]
    return Name(" ".join(run), tuple(fold_name(word) for word in run))


@cache
def _openers() -> frozenset[str]:
    return frozenset(_OPENERS.split())


@cache
def _plain_words(language: str) -> frozenset[str]:
    """Return words that are no names although a sentence may begin with them."""
    return _openers() | stop_words("en") | stop_words(language)
