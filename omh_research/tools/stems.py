"""Stems: words of one root brought to one form, by script, without a dictionary.

Job: Porter's algorithm (1980) for Latin words, endings of Russian, the light10 affixes of Arabic
(Larkey, Ballesteros, Connell 2002), Hindi and Korean endings. A stem is a key for comparing, never
text to print. Refuses to split text (see `tokens.py`) or to guess languages: the script decides.
Importers: `omh_research.tools` only.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from omh_research.tools.stopwords import korean_particles

_VOWELS = frozenset("aeiou")
_STEP2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"),
    ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"),
    ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
    ("logi", "log"),
)  # fmt: skip
_STEP3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""),
    ("ness", ""),
)  # fmt: skip
_STEP4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip
_RUSSIAN = (
    "(?:иями|ями|ами|иях|ях|ах|ием|ией|иям|иев|ев|ов|ие|ье|еи|ии|ий|ой|ый|ей|ям|ем|ам|ом|ого|его|"
    "ому|ему|ими|ыми|ую|юю|ая|яя|ое|ее|ые|их|ых|им|ым|ия|ья|ию|ью|ость|ости|остью|ться|тся|лся|"
    "лась|лось|лись|ешь|ете|ите|ала|ила|ыла|ала|али|или|ать|ить|ыть|еть|ает|ует|ют|ут|ят|ит|ет|"
    "ал|ил|ел|ла|ло|ли|а|е|и|й|о|у|ы|ь|ю|я)$"
)
_ARABIC_PREFIX = ("وال", "بال", "كال", "فال", "ال", "لل", "و")
_ARABIC_SUFFIX = ("ها", "ان", "ات", "ون", "ين", "يه", "ية", "ه", "ة", "ي")
_HINDI = (
    "ियाँ", "ियां", "ियों", "ाओं", "ाएं", "ुओं", "ुएं", "ों", "ें", "ीं", "ाँ", "ां", "ओं", "एं",
    "ा", "ि", "ी", "ु", "ू", "े", "ै", "ो", "ौ", "ं",
)  # fmt: skip


def _shape(word: str) -> str:
    """The word as a string of c (consonant) and v (vowel); y is a vowel after a consonant."""
    shape: list[str] = []
    for letter in word:
        vowel = letter in _VOWELS or (letter == "y" and bool(shape) and shape[-1] == "c")
        shape.append("v" if vowel else "c")
    return "".join(shape)


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _ends_short(word: str) -> bool:
    """True for consonant-vowel-consonant ends where the last is not w, x or y."""
    return len(word) >= 3 and _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _step1(word: str) -> str:
    if word.endswith("s"):
        if word.endswith(("sses", "ies")):
            word = word[:-2]
        elif not word.endswith("ss"):
            word = word[:-1]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        if not word.endswith(ending):
            continue
        rest = word[: -len(ending)]
        if "v" not in _shape(rest):
            return word
        if rest.endswith(("at", "bl", "iz")):
            return rest + "e"
        if len(rest) > 1 and rest[-1] == rest[-2] and rest[-1] not in "aeioulsz":
            return rest[:-1]
        return rest + "e" if _measure(rest) == 1 and _ends_short(rest) else rest
    return word


def _replace(word: str, table: tuple[tuple[str, str], ...]) -> str:
    for ending, other in table:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + other if _measure(rest) > 0 else word
    return word


def _step4(word: str) -> str:
    for ending in sorted((e for e in _STEP4 if word.endswith(e)), key=len, reverse=True)[:1]:
        rest = word[: -len(ending)]
        if _measure(rest) > 1 and (ending != "ion" or rest.endswith(("s", "t"))):
            return rest
    return word


def _step5(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        size = _measure(rest)
        if size > 1 or (size == 1 and not _ends_short(rest)):
            word = rest
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word


def _latin(word: str) -> str:
    if len(word) < 3 or not word.isalpha():
        return word
    word = _step1(word)
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    return _step5(_step4(_replace(_replace(word, _STEP2), _STEP3)))


def _arabic(word: str) -> str:
    bare = next((word[len(p) :] for p in _ARABIC_PREFIX if word.startswith(p)), word)
    if len(bare) >= 2 and not (word[0] == "و" and bare == word[1:] and len(bare) < 3):
        word = bare
    for _ in range(2):
        for ending in _ARABIC_SUFFIX:
            if word.endswith(ending) and len(word) - len(ending) >= 2:
                word = word[: -len(ending)]
                break
    return word


@cache
def _russian_ending() -> re.Pattern[str]:
    return re.compile(_RUSSIAN)


def _russian(word: str) -> str:
    found = _russian_ending().search(word, 3)
    return word[: found.start()] if found else word


def _hindi(word: str) -> str:
    for ending in _HINDI:
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            return word[: -len(ending)]
    return word


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The comparing key of one folded word (lower case, no accents), at most 64 characters long.

    The script of the first letter picks the rules; a script without rules returns the word.
    """
    first = word[:1]
    if first <= "z":
        return _latin(word) if word.isascii() else word
    if "\u0430" <= first <= "\u045f":
        return _russian(word)
    if "\u0620" <= first <= "\u06ff":
        return _arabic(word)
    if "\u0904" <= first <= "\u0939":
        return _hindi(word)
    return word


def strip_particle(word: str) -> str:
    """A Korean word without its final particle; the word itself when fewer than 2 would stay."""
    for particle in korean_particles():
        if word.endswith(particle) and len(word) - len(particle) >= 2:
            return word[: -len(particle)]
    return word
