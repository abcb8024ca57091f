"""Numbers written as words, in several languages.

Job: the values of number words ("twelve", "two hundred and fifty", "fünfunddreißig", "十二"), all
that a text may hold, and those that a statement surely counts with. Refuses to read fractions (see
`shares`) and to say whether a word is meant as a number ("one of them"): callers compare sentences
that say the same. Importers: tools.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from omh_research.lazy_re import lazy_re
from omh_research.tools.han_numbers import DIGITS, NUMERALS, all_han_values
from omh_research.tools.han_numbers import has_numerals as has_han_numerals

_SMALL = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty
"""
_ORDINALS = "- first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety"
_OTHER_WORDS = """
    2: zwei deux dos 3: drei trois tres 4: vier quatre cuatro 5: fünf cinq cinco 6: sechs seis
    7: sieben sept siete 8: acht huit ocho 9: neun neuf nueve 10: zehn dix diez 11: elf onze once
    12: zwölf douze doce 13: treize trece 14: quatorze catorce 15: quinze quince 16: seize
    20: vingt veinte 30: trente treinta 40: quarante cuarenta 50: cinquante cincuenta
    60: soixante sesenta 70: setenta 80: ochenta 90: noventa 12: dozen
    3: ثلاث ثلاثة 4: أربع أربعة 5: خمس خمسة 6: ست ستة 7: سبع سبعة 8: ثماني ثمانية 9: تسع تسعة
    10: عشر عشرة 20: عشرون عشرين 30: ثلاثون ثلاثين 40: أربعون أربعين 50: خمسون خمسين
    3: три трёх 4: четыре четырёх 5: пять пяти 6: шесть шести 7: семь семи 8: восемь восьми
    9: девять девяти 10: десять десяти
"""
_GERMAN_ONES = "null ein zwei drei vier fünf sechs sieben acht neun".split()
_GERMAN_TEENS = """
    zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn
"""
_GERMAN_TENS = "- - zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
_ENGLISH_STEPS = {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9}
_WORD = lazy_re(r"[^\W\d_]+")
_GERMAN_STEP = lazy_re(r"hundert|tausend")
_MAX_GERMAN, _MAX_RUN = 64, 12

# A single numeral before a measure word counts something: 三个国家, 五家公司, 四つの, 六名.
_HAN_COUNT = lazy_re(
    rf"(?<![{NUMERALS}第几幾数數其\d])[三四五六七八九十](?=[个個名位项項种種家座次倍条條所期块台艘架"
    r"篇本冊回匹軒件歳つ人国國州省县市区月天周级層层组組代号]"
    r"(?!明治|角|川|月[一二三四五六七八九十\d]))"
)
# Also words of another language, or a month.
_AMBIGUOUS = frozenset(("sept", "once", "seize"))
_BEHIND_DIGITS = lazy_re(r"\d[ \u00a0\u202f-]?\Z")


def read_number_words(text: str) -> Iterator[str]:
    """Yield the values of numbers written as words ("twelve", "zwölf", "十二"), parts included."""
    words = _WORD.findall(text.casefold())
    table = _number_words()
    for at, word in enumerate(words):
        value = _value_of(word)
        if value is None:
            continue
        yield str(value)
        if at == 0 or words[at - 1] not in table:
            for longer, _ in _english_values(words[at : at + _MAX_RUN]):
                yield str(longer)
    if has_han_numerals(text):
        for number in all_han_values(text):
            yield format(number, "f")


def _value_of(word: str) -> int | None:
    """Return the value of one word, None for one that is no number."""
    value = _number_words().get(word)
    if value is None and len(word) > 3:
        # Arabic writes "and", "with", "for" and "the" at the word.
        if word[0] in "وبلفا":
            return _number_words().get(word.removeprefix("ال"), _number_words().get(word[1:]))
        value = _german_value(word)
    return value


def _unbroken(text: str, words: list[re.Match[str]], at: int) -> list[str]:
    """Return the words from `at` on that only spaces and hyphens part."""
    end = at + 1
    while end < min(len(words), at + _MAX_RUN):
        between = text[words[end - 1].end() : words[end].start()]
        if between.strip(" -\u00a0\u2010\u2011"):
            break
        end += 1
    return [match[0] for match in words[at:end]]


def _english_values(words: list[str]) -> Iterator[tuple[int, int]]:
    """Yield value and length of the numbers that `words` begin with and that are longer than one.

    "one hundred and six" gives (100, 2) and (106, 4).
    """
    table, total, section, count = _number_words(), 0, 0, 0
    for used, word in enumerate(words, start=1):
        value = table.get(word)
        if word == "and" and count:
            continue
        if value is None:
            return
        if word == "hundred":
            section = max(section, 1) * 100
        elif word in _ENGLISH_STEPS:
            total, section = total + max(section, 1) * value, 0
        elif section % 100 and not (section % 10 == 0 and value < 10):
            return
        else:
            section += value
        count += 1
        if count > 1:
            yield total + section, used


class WordedNumber(Struct, frozen=True):
    """A number in words as mentioned: its place and its value."""

    start: int
    end: int
    value: str


def find_number_words(text: str) -> list[WordedNumber]:
    """Return the numbers written as words in `text`, each as long as it goes, in order.

    Left out: one and two, magnitudes behind digits ("3 million"). Of Han numerals only single
    ones before a counted thing (三个国家): the others are figures.
    """
    lowered = text.lower()
    words = list(_WORD.finditer(lowered))
    found, at = [], 0
    while at < len(words):
        word = words[at][0]
        value = _value_of(word)
        if value is None:
            at += 1
            continue
        value, used = [(value, 1), *_english_values(_unbroken(lowered, words, at))][-1]
        start, end = words[at].start(), words[at + used - 1].end()
        is_magnitude = _BEHIND_DIGITS.search(text, max(0, start - 4), start)
        if value > 2 and word not in _AMBIGUOUS and not is_magnitude:
            found.append(WordedNumber(start, end, str(value)))
        at += used
    if has_han_numerals(text):
        found += [
            WordedNumber(match.start(), match.end(), str(DIGITS.get(match[0], 10)))
            for match in _HAN_COUNT.finditer(text)
        ]
    return found


@cache
def _number_words() -> dict[str, int]:
    table: dict[str, int] = dict(_ENGLISH_STEPS)
    value = 0
    for word in _OTHER_WORDS.split():
        if word.endswith(":"):
            value = int(word[:-1])
        else:
            table[word] = value
    for words, step in ((_SMALL, 1), (_ORDINALS, 1), (_TENS, 10)):
        table.update({word: n * step for n, word in enumerate(words.split()) if word != "-"})
    return table


@cache
def _german_below_100() -> dict[str, int]:
    table = {word: n for n, word in enumerate(_GERMAN_ONES)} | {"eins": 1, "eine": 1}
    table |= {word: n for n, word in enumerate(_GERMAN_TEENS.split(), 10)}
    for tens, word in enumerate(_GERMAN_TENS):
        if word != "-":
            table[word] = 10 * tens
            table |= {f"{one}und{word}": 10 * tens + n for n, one in enumerate(_GERMAN_ONES) if n}
    return {word.replace("ß", "ss"): value for word, value in table.items()}


def _german_value(word: str) -> int | None:
    """Return the value of a German number in one word ("zweihundertfünfzig"), None for others."""
    if len(word) > _MAX_GERMAN:
        return None
    table = _german_below_100()
    word = word.replace("ß", "ss")
    if word in table:
        return table[word]
    total, section, rest = 0, 0, word
    while step := _GERMAN_STEP.search(rest):
        head, rest = rest[: step.start()], rest[step.end() :]
        if head and head.removeprefix("und") not in table:
            return None
        count = table[head.removeprefix("und")] if head else 0
        if step[0] == "hundert":
            section = max(count, 1) * 100
        else:
            total, section = max(section + count, 1) * 1_000, 0
    rest = rest.removeprefix("und")
    if rest and rest not in table:
        return None
    found = total + section + (table[rest] if rest else 0)
    return found or None


def number_words() -> list[str]:
    """Return the words that state a number by themselves."""
    return [*_number_words(), *_german_below_100()]


def count_of(word: str) -> int:
    """Return the number that a casefolded cardinal of up to two words' worth states, else 0."""
    if word.isdecimal():
        return int(word)
    return 0 if word in _ORDINALS.split() else _number_words().get(word, 0)
