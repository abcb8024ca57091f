"""Words of a text, in any script, as keys for ranking and comparing.

Job: fold (width, case, accents, digits, Arabic letter forms), cut into words, cut scripts without
spaces into character bigrams, stem. Same text, same tokens, on every machine. Refuses to slice text
for quoting: tokens are keys, not text (see `sentences.py` for spans). Needs no package (spec T10,
82-dependencies 2.3: bigrams come within .05 MRR of dictionary segmenters).
Importers: tools, corpus, delegates, phases.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from omh_research.lazy_re import lazy_re
from omh_research.tools.stems import stem, strip_particle
from omh_research.tools.stopwords import SPACED, stop_phrases, stop_words

MAX_WORD_CHARS = 64
_NORMALISED_AT_ONCE = 1_024

_HAN = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_KANA = "\u3031-\u3035\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb"
# Thai, Lao, Khmer, Burmese: written without spaces, marks belong to the run.
_SOUTH_EAST = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ece\u1000-\u103f\u1050-\u109f\u1780-\u17d3"
)
_RUNS = _HAN + _KANA + _HANGUL + _SOUTH_EAST
# Combining marks that `\\w` leaves out although they stand inside words.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c7\u0610-\u061a\u064b-\u065f"
    "\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962"
    "\u0963\u0981-\u0983\u09bc-\u09cd\u09d7\u0a01-\u0a03\u0a3c-\u0a4d\u0a81-\u0a83\u0abc-\u0acd"
    "\u0b01-\u0b03\u0b3c-\u0b57\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6"
    "\u0d00-\u0d03\u0d3b-\u0d4d\u0d81-\u0d83\u0dca-\u0ddf"
)
_ASCII_WORD = lazy_re(r"[a-z0-9]{1,64}")
# Before this character there is no script of runs.
_FIRST_RUN = "\u0e01"
_LETTER_FORMS = str.maketrans(
    {
        "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ی": "ي", "ئ": "ي", "ؤ": "و", "ة": "ه",
        "ک": "ك", "ہ": "ه", "ھ": "ه", "ँ": "ं", "ß": "ss", "ø": "o", "đ": "d", "ł": "l", "ı": "i",
        "æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "ς": "σ",
    }
)  # fmt: skip
_SCRIPTS: tuple[tuple[str, str], ...] = (
    ("ja", f"[{_KANA}]"), ("ko", f"[{_HANGUL}]"), ("zh", f"[{_HAN}]"),
    ("th", "[\u0e01-\u0e4e]"), ("lo", "[\u0e81-\u0ede]"), ("my", "[\u1000-\u109f]"),
    ("km", "[\u1780-\u17dd]"), ("ar", "[\u0620-\u06d3\u0750-\u077f]"), ("he", "[\u05d0-\u05ea]"),
    ("hi", "[\u0900-\u0963]"), ("bn", "[\u0980-\u09e3]"), ("pa", "[\u0a00-\u0a7f]"),
    ("gu", "[\u0a80-\u0aff]"), ("ta", "[\u0b80-\u0bff]"), ("te", "[\u0c00-\u0c7f]"),
    ("kn", "[\u0c80-\u0cff]"), ("ml", "[\u0d00-\u0d7f]"), ("ru", "[\u0400-\u04ff]"),
    ("el", "[\u0370-\u03ff\u1f00-\u1fff]"), ("hy", "[\u0531-\u0587]"), ("ka", "[\u10a0-\u10ff]"),
    ("en", "[A-Za-z\u00c0-\u024f\u1e00-\u1eff]"),
)  # fmt: skip
# What is read of a text to name its language: more changes nothing and costs time.
_SAMPLE_CHARS = 4_000
_QUESTION_CHARS = 120
_LATIN = ("en", "de", "es", "fr", "it", "pt", "nl", "sv", "pl", "tr", "id", "vi")


# The patterns with large classes take milliseconds to make: only when text needs them.
@cache
def _word() -> re.Pattern[str]:
    return re.compile(
        rf"[{_HAN}{_KANA}]++|[{_HANGUL}]++|[{_SOUTH_EAST}]++|"
        rf"(?:[^\W_{_RUNS}]|[{_MARKS}]){{1,64}}+"
    )


@cache
def _hidden() -> re.Pattern[str]:
    return re.compile("[\u00ad\u061c\u0640\u200b-\u200f\u2060\ufeff]")


@cache
def _run_start() -> re.Pattern[str]:
    return re.compile(f"[{_RUNS}]")


@cache
def _cjk_char() -> re.Pattern[str]:
    return re.compile(f"[{_HAN}{_KANA}{_HANGUL}]")


@cache
def _diacritics() -> re.Pattern[str]:
    return re.compile(
        "[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
        "\u06d6-\u06ed\u093c]+"
    )


def _is_run(word: str) -> bool:
    """True for a word of a script without spaces (whole: `_word` never mixes)."""
    return word[0] >= _FIRST_RUN and _run_start().match(word) is not None


def is_cjk(ch: str) -> bool:
    """True when the one character is Han, kana or Hangul."""
    return ch >= "\u1100" and _cjk_char().match(ch) is not None


def normal_parts(text: str) -> Iterator[str]:
    """The text in parts for normalising: putting marks in order takes quadratic time in their
    number, so no part is long. Cut at a space or, failing that, before a character that is no mark.
    """
    start, end = 0, len(text)
    while end - start > _NORMALISED_AT_ONCE:
        limit = start + _NORMALISED_AT_ONCE
        cut = text.rfind(" ", start + 1, limit)
        if cut < 0:
            cut = limit
            while cut > start + 1 and unicodedata.combining(text[cut]):
                cut -= 1
            if cut == start + 1:
                cut = limit
        yield text[start:cut]
        start = cut
    yield text[start:]


def fold(text: str) -> str:
    """The text with width, case and invisible characters made equal (NFKC, casefold).

    Accents and letter forms go later, word by word, in `fold_word`.
    """
    if text.isascii():
        return text.lower()
    text = _hidden().sub("", text)
    if not unicodedata.is_normalized("NFKC", text):
        text = "".join(unicodedata.normalize("NFKC", part) for part in normal_parts(text))
    return text.casefold()


@lru_cache(maxsize=1 << 16)
def fold_word(word: str) -> str:
    """A word from folded text without accents, vowel points and variant letters or digits."""
    if word.isascii():
        return word
    if not word.isalpha() and any(ch.isdecimal() and ch > "9" for ch in word):
        word = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in word)
    if "\u0400" <= word[0] <= "\u04ff":  # й and ї are letters, not accents
        return _diacritics().sub("", word.replace("ё", "е"))
    word = unicodedata.normalize("NFD", word.translate(_LETTER_FORMS))
    return unicodedata.normalize("NFC", _diacritics().sub("", word)).translate(_LETTER_FORMS)


def words(text: str) -> list[str]:
    """Folded words in order, unstemmed; a run of a script without spaces is one element.

    A word longer than MAX_WORD_CHARS comes in parts, so hostile input stays linear.
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return [
        folded
        for word in _word().findall(fold(text))
        if (folded := word if word.isascii() or _is_run(word) else fold_word(word))
    ]


def bigrams(run: str) -> list[str]:
    """Overlapping character pairs of a run; a run of one character gives that character."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def terms(found: Iterable[str]) -> Iterator[str]:
    """The tokens of words that `words` gave: stems, and the bigrams of runs."""
    for word in found:
        if word.isascii() or not _is_run(word):
            yield stem(word)
        else:
            yield from bigrams(strip_particle(word) if word[0] >= "\uac00" else word)


@cache
def _han_char() -> re.Pattern[str]:
    return re.compile(f"[{_HAN}]")


def han_characters(found: Iterable[str]) -> Iterator[str]:
    """The single Han characters of the runs that `words` gave (not of runs of one: see `bigrams`).

    Beside bigrams they let words meet that share a character: 票房 and 票价, 高 and 高度.
    """
    for word in found:
        if len(word) > 1 and word[0] >= _FIRST_RUN and not word.isascii():
            yield from _han_char().findall(word)


def search_terms(found: Iterable[str]) -> list[str]:
    """Words as terms for an index that stems Latin words itself (SQLite FTS5 with porter).

    Latin words stay as they are, words of other scripts are stemmed, runs become bigrams.
    """
    wanted: list[str] = []
    for word in found:
        if word.isascii():
            wanted.append(word)
        else:
            wanted.extend(terms([word]))
    return wanted


def tokenize(text: str) -> list[str]:
    """Tokens of a text in order: stems of words, character bigrams of scripts without spaces.

    Linear in the length of the text. Empty for a text without letters or digits.
    """
    if text.isascii():
        return [stem(word) for word in _ASCII_WORD.findall(text.lower())]
    return list(terms(words(text)))


@cache
def _phrase_pattern(language: str) -> re.Pattern[str] | None:
    phrases = stop_phrases(language)
    return re.compile("|".join(map(re.escape, phrases))) if phrases else None


def content_words(text: str, language: str = "") -> list[str]:
    """Folded, unstemmed words that are not stop words of `language` (detected when empty).

    Runs of Chinese, Japanese and Thai are parted at function words.
    """
    language = language or detect_language(text)
    stops = stop_words(language)
    pattern = None
    if not text.isascii():
        pattern = _phrase_pattern(language) or _phrase_pattern(_language_of_runs(text))
    if pattern is not None:
        text = pattern.sub(" ", fold(text))
    found = words(text)
    if language == "ko":
        found = [w for w in found if w not in stops and strip_particle(w) not in stops]
        return found
    return [word for word in found if word not in stops]


def _language_of_runs(text: str) -> str:
    """ "ja" or "zh" for a text in another script that holds some kana or Han, else ""."""
    if max(text) < _HAN[0]:
        return ""
    patterns = dict(_script_patterns())
    return next((code for code in ("ja", "zh") if patterns[code].search(text)), "")


@cache
def _acronym() -> re.Pattern[str]:
    return re.compile("(?<![A-Za-z0-9])[A-Z]{2,6}(?![A-Za-z0-9])")


def query_words(query: str) -> list[str]:
    """`content_words` of a query and its acronyms (the WHO is not "who", MIT no German "mit").

    All words of a query that has nothing but stop words.
    """
    acronyms = [word.lower() for word in _acronym().findall(query)]
    rest = _acronym().sub(" ", query) if acronyms else query
    if acronyms and words(rest):
        return [*acronyms, *content_words(rest)]
    return content_words(query) or words(query)


def content_tokens(text: str, language: str = "") -> list[str]:
    """`tokenize` without stop words; `language` (ISO 639-1) is detected when empty.

    May be empty for a text made only of stop words: compare such names whole (T3).
    """
    return list(terms(content_words(text, language)))


@cache
def _script_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((language, re.compile(pattern)) for language, pattern in _SCRIPTS)


def _question_votes(text: str) -> dict[str, float]:
    from omh_research.tools.interrogatives import question_votes  # needed for few texts

    return question_votes(text)


def _closest(text: str, languages: tuple[str, ...]) -> str:
    """The language whose stop words are most of the text's words; the first one on a tie.

    A short question's first words count as well.
    """
    found = words(text)
    votes = _question_votes(text) if len(text) <= _QUESTION_CHARS else {}
    best, most = languages[0], 0.0
    for language in languages:
        stops = stop_words(language)
        hits = sum(1 for word in found if word in stops) + votes.get(language, 0.0)
        if hits > most:
            best, most = language, hits
    return best


def detect_language(text: str) -> str:
    """ISO 639-1 code by script, then by stop words; "" for a text without letters.

    Deterministic. A Latin text without any known stop word counts as "en". Only the first 4,000
    characters are read.
    """
    sample = text[:_SAMPLE_CHARS]
    if sample.isascii():
        return _closest(sample, _LATIN) if any(map(str.isalpha, sample)) else ""
    counts = {language: len(found.findall(sample)) for language, found in _script_patterns()}
    # A Han or kana character says about as much as three letters, so Latin names do not win.
    east = counts["zh"] + counts["ja"] + counts["ko"]
    if east and east * 3 >= counts["en"]:
        if counts["ko"] * 3 >= east:
            return "ko"
        return "ja" if counts["ja"] * 10 >= east else "zh"
    script = max(counts, key=lambda language: counts[language])
    if not counts[script]:
        return ""
    match script:
        case "en":
            return _closest(sample, _LATIN)
        case "ar":
            has_persian_letters = re.search("[پچژگ]", sample)
            return _closest(sample, ("ar", "fa")) if has_persian_letters else "ar"
        case "ru":
            return "uk" if len(re.findall("[іїєґІЇЄҐ]", sample)) * 50 > counts["ru"] else "ru"
        case _:
            return script


def languages_with_stop_words() -> tuple[str, ...]:
    """ISO 639-1 codes for which `content_tokens` knows stop words."""
    return (*SPACED, "ko", "zh", "ja", "th")
