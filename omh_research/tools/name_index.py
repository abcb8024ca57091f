"""A source's words, for asking whether it holds a proper name.

Job: say whether a text holds a name, in the forms in which texts write it: acronym and full form,
possessive, plural, demonym, hyphen or not (spec E28). Refuses to find names (see `proper_names`).
Importers: tools, phases.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache

from msgspec import Struct

from omh_research.lazy_re import lazy_re
from omh_research.unicode_form import unicode_form

POSSESSIVE = lazy_re(r"['’]s?\Z")
# "U.S." and "AT&T".
_DOTTED = lazy_re(r"(?:[A-Za-z]\.){2,6}|(?<![A-Za-z])[A-Za-z]{1,20}&[A-Za-z]{1,20}")
_CJK_RUN = lazy_re("[\u2e80-\u9fff\uf900-\ufaff\uac00-\ud7af]+")
_CONNECTORS = "of the de la le du des van von der den di da do dos del el al"
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
        named = [word for word in name.words if word not in connectors()]
        for words in (name.words, named):  # "Department of Energy": DOE; "European Union": EU
            acronym = "".join(word[0] for word in words)
            if len(acronym) > 2 and acronym in self.words:
                return True
        return all(self._holds(word) for word in named)

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
        if len(word) >= 5 and word[0] > "\u0370":  # Cyrillic and Greek names are inflected
            stem = word[: max(4, len(word) - 3)]
            return any(other.startswith(stem) for other in self.words)
        return any(form in self.words for form in _other_forms(word))

    def _has_phrase(self, phrase: str) -> bool:
        return phrase in self.words or f" {phrase.replace('-', ' ')} " in self.joined


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
            word = POSSESSIVE.sub("", match[0])
            folded = fold_name(word)
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
            elif folded not in connectors():
                run = ""
        for match in _DOTTED.finditer(text):
            words.add(fold_name(match[0].rstrip(".")))
            compact.add(re.sub(r"[\W_]", "", fold_name(match[0])))
    return NameIndex(
        frozenset(words), frozenset(compact), frozenset(initials), f" {' '.join(joined)} "
    )


def names_inside(texts: Iterable[str]) -> frozenset[str]:
    """Return the folded words that stand capitalised inside sentences and nowhere small."""
    capital: set[str] = set()
    small: set[str] = set()
    for text in texts:
        for match in re.finditer(r"(?<=[\w,] )[^\W\d_][\w’'-]*|(?<=[\w,]\n)[^\W\d_][\w’'-]*", text):
            word = POSSESSIVE.sub("", match[0])
            (capital if word[0].isupper() else small).add(fold_name(word))
    return frozenset(capital - small)


@lru_cache(maxsize=16_384)
def fold_name(word: str) -> str:
    """Return a word as the index holds it: case and accents folded, no marks at its ends."""
    folded = unicode_form("NFKD", unicode_form("NFKC", word).casefold())
    return "".join(char for char in folded if not unicodedata.combining(char)).strip(".'’-")


@cache
def connectors() -> frozenset[str]:
    """Return the small words that may stand inside a name ("Bank of England")."""
    return frozenset(_CONNECTORS.split())


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
    for ending in _ENDINGS.split():
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            stems.add(word[: -len(ending)])
    return {stem + ending for stem in stems for ending in (*_ENDINGS.split(), "")} - {word}
