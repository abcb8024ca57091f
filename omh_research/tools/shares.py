"""Parts of a whole: fractions however they are spelled.

Job: find "two thirds", "die Hälfte", 三分之一, "2/3", "one in three", 三成 in a text and give each
its value. Refuses percentages (see `figures`) and ordinals: "the third quarter", "the first half"
part nothing. Importers: tools.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from omh_research.lazy_re import lazy_re
from omh_research.tools.han_numbers import DIGITS, NUMERALS, han_values
from omh_research.tools.number_words import (
    WordedNumber,
    count_of,
    find_number_words,
    number_words,
)
from omh_research.tools.tokens import tokenize

# Words that part a whole, and into how many. The singular needs "one" or "a" before it.
_PARTS = """
2: half halves hälfte moitié mitad meio metà نصف половина половины
3: third thirds drittel tiers tercio tercios terzo terzi ثلث ثلثا ثلثي ثلثين треть трети
4: quarter quarters fourths viertel quart quarts cuarto cuartos quarto quarti ربع أرباع четверть
5: fifth fifths fünftel cinquième cinquièmes quinto quintos quinta quintas
6: sixth sixths sechstel sixième sixièmes
7: seventh sevenths siebtel
8: eighth eighths achtel huitième huitièmes
10: tenth tenths zehntel dixième dixièmes
"""
# Two thirds in one word.
_DUAL = frozenset({"ثلثا", "ثلثي", "ثلثين"})
_WHOLE_WORDS = frozenset(
    {"half", "hälfte", "moitié", "mitad", "metà", "نصف", "половина", "половины"}
)
# Before a part: "a third of".
_SINGLE = frozenset("a an one ein eine einem einen un une uno una um uma".split())
_ONE_WORD = frozenset("ثلث ربع треть трети четверть".split())
_NOT_A_PART = frozenset(
    "first second latter other former early late northern southern eastern western upper lower "
    "ersten zweiten première deuxième seconde primera segunda prima seconda life a-half".split()
)
_WORD = lazy_re(r"[^\W\d_]+")
_RATIO = lazy_re(r"(?<![\d/.,])(\d{1,3})\s?/\s?(\d{1,3})(?![\d/]|[.,]\d)")
_IN = lazy_re(r"\b(\w{1,6}) (?:in|out of|of every|von|sur|de cada) (?:every |each )?(\w{1,8})\b")
_HAN_FRACTION = lazy_re(
    rf"(?P<n>[{NUMERALS}]{{1,8}}|\d{{1,4}})\s?分[之の]\s?(?P<k>[{NUMERALS}]{{1,8}}|\d{{1,4}})"
)
_HAN_TENTHS = lazy_re(
    r"(?<![第\d])(?P<k>[一二三四五六七八九两兩]|(?<!\d)\d)(?:成(?P<half>[一二三四五六七八九半])?"
    r"(?![为為了员員本果立年绩功长熟分套都不就人交对像])|割(?![合引り裂]))"
)
_HAN_HALF = lazy_re(r"一半|半数(?!以上)|半數(?!以上)|半分(?!之)")
_SIGNS = {"½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅛": (1, 8)}


class Share(Struct, frozen=True):
    """A part of a whole as mentioned: its place, and its value in lowest terms, between 0 and 1."""

    start: int
    end: int
    part: int
    whole: int


def find_shares(text: str) -> list[Share]:
    """Return the fractions of `text` in order: words, signs, ratios, Han numerals and tenths.

    "the third quarter" and "the first half" part nothing; percentages are figures, not shares.
    """
    found = list(_worded_shares(text))
    for match in _RATIO.finditer(text):
        found.append(_share(match.span(), int(match[1]), int(match[2])))
    for match in _IN.finditer(text.lower()):
        count, whole = (count_of(match[i]) for i in (1, 2))
        found.append(_share(match.span(), count, whole))
    if not text.isascii():
        found += [
            _share((at, at + 1), *_SIGNS[char]) for at, char in enumerate(text) if char in _SIGNS
        ]
        found += _han_shares(text)
    return sorted((share for share in found if share), key=lambda share: share.start)


def find_worded(text: str) -> tuple[list[WordedNumber], list[Share]]:
    """Return the numbers and the shares that `text` states in words."""
    shares = find_shares(text)
    taken = {place for share in shares for place in range(share.start, share.end)}
    return [n for n in find_number_words(text) if n.start not in taken], shares


def is_counting_token(token: str) -> bool:
    """Return whether a token (see `tokens`) states a number or a part of a whole."""
    return token in _counting_tokens() or any(
        char in NUMERALS or char in "半成割分" for char in token
    )


@cache
def _counting_tokens() -> frozenset[str]:
    words = [*number_words(), *_parts(), "percent", "prozent"]
    return frozenset(token for word in words for token in tokenize(word))


@cache
def _parts() -> dict[str, int]:
    table: dict[str, int] = {}
    for line in _PARTS.strip().split("\n"):
        number, _, words = line.partition(": ")
        table.update(dict.fromkeys(words.split(), int(number)))
    return table


def _share(span: tuple[int, int], part: int, whole: int) -> Share | None:
    if not 0 < part < whole:
        return None
    shared = math.gcd(part, whole)
    return Share(*span, part // shared, whole // shared)


def _worded_shares(text: str) -> Iterator[Share | None]:
    words = list(_WORD.finditer(text.lower()))
    parts = _parts()
    for at, match in enumerate(words):
        word = match[0]
        if word == "dreiviertel":
            yield _share(match.span(), 3, 4)
        whole = parts.get(word) or parts.get(word.removeprefix("ال"))
        if whole is None:
            continue
        before = words[at - 1][0] if at else ""
        after = words[at + 1][0] if at + 1 < len(words) else ""
        start = words[at - 1].start() if at else match.start()
        count = count_of(before)
        if word in _WHOLE_WORDS:
            if before not in _NOT_A_PART and after not in ("life", "lives", "million", "hour"):
                yield _share(match.span(), 1, 2)
        elif word.removeprefix("ال") in _DUAL:
            yield _share(match.span(), 2, 3)
        elif count > 1:
            yield _share((start, match.end()), count, whole)
        elif before in ("one", "ein") or (before in _SINGLE and _parts_a_whole(after)):
            yield _share((start, match.end()), 1, whole)
        elif word.removeprefix("ال") in _ONE_WORD:
            yield _share(match.span(), 1, whole)


def _parts_a_whole(after: str) -> bool:
    """Return whether the word behind "a third" makes it a part: "a third of", "un tiers des"."""
    return after in (
        "of",
        "der",
        "des",
        "du",
        "de",
        "del",
        "di",
        "do",
        "da",
        "aller",
        "dei",
        "delle",
    )


def _han_shares(text: str) -> Iterator[Share | None]:
    for match in _HAN_FRACTION.finditer(text):
        if match["n"] not in ("百", "千", "万", "100"):
            whole, part = (_han_count(match[name]) for name in ("n", "k"))
            yield _share(match.span(), part, whole)
    for match in _HAN_TENTHS.finditer(text):
        half = match["half"] or ""
        more = 5 if half == "半" else DIGITS.get(half, 0)
        yield _share(match.span(), _han_count(match["k"]) * 10 + more, 100)
    for match in _HAN_HALF.finditer(text):
        yield _share(match.span(), 1, 2)


def _han_count(numeral: str) -> int:
    if numeral.isdecimal():
        return int(numeral)
    values = han_values(numeral)
    return int(values[0]) if values else 0


def percent_values(share: Share) -> Iterator[str]:
    """Yield the percentages that stand for a share: 33, 33.3 and 33.33 for a third."""
    for places in range(3):
        value = f"{100 * share.part / share.whole:.{places}f}"
        yield re.sub(r"\.?0+\Z", "", value) if "." in value else value
