"""Proper names in running text: what a cited sentence calls by name.

Job: find capitalised names, acronyms and names with digits in a sentence, and say whether a source
holds a given one, in the forms in which sources write it (spec E28). Refuses to guess names in
scripts without capitals, and ordinary nouns of German. Importers: tools, phases, delegates.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache

from msgspec import Struct

from omh_research.tools.stopwords import stop_words
from omh_research.tools.units import UNITS_AFTER, UNITS_BEFORE

_LETTERS = "A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff"
_WORD = re.compile(
    rf"[{_LETTERS}][{_LETTERS}0-9’']*(?:[-‐‑&.][{_LETTERS}0-9][{_LETTERS}0-9’']*)*"
    rf"|\d+[A-Za-z][{_LETTERS}0-9]*"
)
_CJK_RUN = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uac00-\ud7af]+")
_POSSESSIVE = re.compile(r"['’]s?$")
_BREAK = re.compile(r"[:;!?(\[{\"“„«「|•*_—–/]|\.\s|\s-\s")
_CONNECTORS = "of the de la le du des van von der den di da do dos del el al"
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
# Words that stand for the same place, people or thing.
_SAME = """
    us usa u.s u.s.a america american americans united-states
    uk u.k britain british great-britain united-kingdom
    eu e.u european-union
    un u.n united-nations
    uae united-arab-emirates emirati
    netherlands dutch holland
    france french
    greece greek greeks
    switzerland swiss
    spain spanish
    denmark danish danes
    sweden swedish swedes
    norway norwegian
    finland finnish finns
    poland polish
    turkey turkish türkiye
    wales welsh
    thailand thai
    ireland irish
    england english
    scotland scottish scots
    philippines filipino philippine
    germany german germans
    china chinese
    japan japanese
    ai artificial-intelligence
    dna deoxyribonucleic-acid cdna
    rna mrna ribonucleic-acid
    hiv human-immunodeficiency-virus
"""
_ROMAN = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_ENDINGS = "s es n an ian ean ese ish i ic ns ans ians y a ia e is"


class Name(Struct, frozen=True):
    """A name as mentioned: its spelling and its words, folded."""

    text: str
    words: tuple[str, ...]


class NameIndex(Struct, frozen=True):
    """The words of one text for `supports`.

    `words` are folded words, `compact` words with digits in one piece ("gpt4"), `initials` the
    acronyms that runs of capitalised words would give, `joined` all words in one spaced line.
    """

    words: frozenset[str]
    compact: frozenset[str]
    initials: frozenset[str]
    joined: str

    def supports(self, name: Name) -> bool:
        """Return whether the text holds the name, or an accepted other form of it."""
        if len(name.words) > 1:
            acronym = "".join(word[0] for word in name.words if word not in _words("connectors"))
            if len(acronym) > 2 and acronym in self.words:
                return True
        return all(self._holds(word) for word in name.words)

    def _holds(self, word: str) -> bool:
        if word in self.words or word in self.initials:
            return True
        pressed = re.sub(r"[\W_]", "", word)
        if pressed in self.compact or pressed in self.words:
            return True
        spaced = re.sub(r"[^\w]+", " ", word).strip()
        if " " in spaced and f" {spaced} " in self.joined:
            return True
        if re.search(r"[-‐‑&.]", word) and not any(char.isdigit() for char in word):
            parts = [part for part in re.split(r"[-‐‑&.]", word) if part]
            if len(parts) > 1 and all(len(p) > 1 and self._holds(p) for p in parts):
                return True
        if word in _ROMAN and str(_ROMAN.index(word)) in self.words:
            return True
        if any(self._has_phrase(other) for other in _aliases().get(word, ())):
            return True
        return any(form in self.words for form in _other_forms(word))

    def _has_phrase(self, phrase: str) -> bool:
        return phrase in self.words or f" {phrase.replace('-', ' ')} " in self.joined


def find_names(
    sentence: str, *, language: str = "en", known: frozenset[str] = frozenset()
) -> list[Name]:
    """Return the names of one sentence.

    In German only acronyms and words with inner capitals or digits count, since every noun is
    capitalised; in Chinese, Japanese and Korean every capitalised Latin word counts. The first word
    of a sentence, or after a mark, counts only when it cannot be an ordinary word: an acronym, or
    in `known` (folded words that stand capitalised inside sentences elsewhere) by itself or
    through the next word.
    """
    found: list[Name] = []
    tokens = list(_WORD.finditer(sentence))
    capitals = sum(token[0][0].isupper() for token in tokens)
    titled = len(tokens) >= 4 and capitals > 0.7 * len(tokens)
    run: list[str] = []
    for at, token in enumerate(tokens):
        gap = sentence[tokens[at - 1].end() : token.start()] if at else "."
        first = (at == 0 or bool(_BREAK.search(gap))) and language not in ("zh", "ja", "ko")
        if run and (first or gap.strip(" .")):
            found += _named(run)
            run = []
        word = _name_part(_POSSESSIVE.sub("", token[0]))
        if _is_name(word, first, language, titled) or (
            first and _opens_name(tokens, at, sentence, word, known, language, titled)
        ):
            run.append(word)
        elif run and word in _words("connectors") and _next_is_capital(tokens, at):
            continue
        else:
            found += _named(run)
            run = []
    return found + _named(run)


def index_names(texts: Iterable[str]) -> NameIndex:
    """Return the index of the words of `texts` (a source's text, title, publisher, address)."""
    words: set[str] = set()
    compact: set[str] = set()
    initials: set[str] = set()
    joined: list[str] = []
    for text in texts:
        before = ""
        run = ""
        for match in re.finditer(r"[^\W_]+(?:['’][^\W_]+)?", _CJK_RUN.sub(" ", text)):
            word = _POSSESSIVE.sub("", match[0])
            folded = _fold(word)
            words.add(folded)
            joined.append(folded)
            if any(char.isdigit() for char in folded) or any(char.isdigit() for char in before):
                compact.add(folded)
                compact.add(before + folded)
                words.add(folded.rstrip("0123456789"))  # BRCA1 is also BRCA
            before = folded
            if word[0].isupper():
                run = (run + folded[0])[-8:]
                initials.update(run[-size:] for size in range(3, len(run) + 1))
            elif folded not in _words("connectors"):
                run = ""
        for match in re.finditer(r"(?:[A-Za-z]\.){2,6}|[A-Za-z]+&[A-Za-z]+", text):
            words.add(_fold(match[0].rstrip(".")))
            compact.add(re.sub(r"[\W_]", "", _fold(match[0])))
    return NameIndex(
        frozenset(words), frozenset(compact), frozenset(initials), f" {' '.join(joined)} "
    )


def names_inside(texts: Iterable[str]) -> frozenset[str]:
    """Return the folded words that stand capitalised inside sentences and nowhere small."""
    capital: set[str] = set()
    small: set[str] = set()
    for text in texts:
        for match in re.finditer(r"(?<=[\w,] )[^\W\d_][\w’'-]*|(?<=[\w,]\n)[^\W\d_][\w’'-]*", text):
            word = _POSSESSIVE.sub("", match[0])
            (capital if word[0].isupper() else small).add(_fold(word))
    return frozenset(capital - small)


def _is_name(word: str, first: bool, language: str, titled: bool) -> bool:
    """Return whether a word is a name wherever it stands."""
    if word in UNITS_BEFORE or (word in UNITS_AFTER and word != word.casefold()):
        return False
    upper = sum(char.isupper() for char in word)
    if any(char.isdigit() for char in word):
        return upper > 0 and word[0].isalpha()
    if upper >= 2:
        return not word.isupper() or len(word) <= 6 or not titled
    if first or titled or language == "de" or not word[0].isupper() or len(word) < 2:
        return False
    return word.casefold() not in _plain_words(language)


def _opens_name(
    tokens: list[re.Match[str]],
    at: int,
    sentence: str,
    word: str,
    known: frozenset[str],
    language: str,
    titled: bool,
) -> bool:
    """Return whether the first word of a sentence opens a name."""
    if (
        not word[0].isupper()
        or titled
        or language == "de"
        or word.casefold() in _plain_words(language)
    ):
        return False
    if _fold(word) in known:
        return True
    if at + 1 >= len(tokens) or sentence[tokens[at].end() : tokens[at + 1].start()] != " ":
        return False
    following = tokens[at + 1][0]
    return (
        following[0].isupper()
        and following.casefold() not in _words("openers")
        and _fold(following) in known
    )


def _name_part(word: str) -> str:
    """Return a compound without its ordinary words: "RecQ" of "RecQ-class"."""
    parts = re.split("[-‐‑]", word)
    named = [part for part in parts if any(c.isupper() or c.isdigit() for c in part)]
    return named[0] if len(parts) > 1 and len(named) == 1 and len(named[0]) > 1 else word


def _next_is_capital(tokens: list[re.Match[str]], at: int) -> bool:
    return at + 1 < len(tokens) and tokens[at + 1][0][0].isupper()


def _named(run: list[str]) -> list[Name]:
    if not run:
        return []
    return [Name(" ".join(run), tuple(_fold(word) for word in run))]


@lru_cache(maxsize=16_384)
def _fold(word: str) -> str:
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", word).casefold())
    return "".join(char for char in folded if not unicodedata.combining(char)).strip(".'’-")


@cache
def _words(table: str) -> frozenset[str]:
    tables = {"connectors": _CONNECTORS, "openers": _OPENERS, "endings": _ENDINGS}
    return frozenset(tables[table].split())


@cache
def _plain_words(language: str) -> frozenset[str]:
    """Return words that are no names although a sentence may begin with them."""
    return _words("openers") | stop_words("en") | stop_words(language)


@cache
def _aliases() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for line in _SAME.split("\n"):
        group = line.split()
        for word in group:
            table.setdefault(word, set()).update(other for other in group if other != word)
    return {word: frozenset(others) for word, others in table.items()}


def _other_forms(word: str) -> set[str]:
    """Return plural, singular and demonym forms of a name ("Italian" for "Italy")."""
    if len(word) < 4 or not word.isalpha():
        return set()
    stems = {word}
    for ending in _words("endings"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            stems.add(word[: -len(ending)])
    return {stem + ending for stem in stems for ending in (*_words("endings"), "")} - {word}
