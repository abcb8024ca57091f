"""Figures in running text: numbers with their magnitude and unit.

Job: read numbers in the spellings of several languages to one value and unit, and say whether a
text holds a given one (spec E28: numbers and units of a cited sentence must occur in its source).
"1.8 million", "1,800,000" and "180万" are one value; "5 kg" and "5 g" are not one figure. Refuses
to convert units or to round. Importers: tools, phases, delegates.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from itertools import takewhile

from msgspec import Struct

from omh_research.lazy_re import lazy_re
from omh_research.tools.han_numbers import HanNumber, find_han_numbers
from omh_research.tools.number_words import read_number_words
from omh_research.tools.shares import Share, find_shares, percent_values
from omh_research.tools.units import (
    CURRENCIES,
    DOLLARS,
    MAGNITUDES,
    UNITS_AFTER,
    UNITS_BEFORE,
    are_compatible,
)
from omh_research.unicode_form import unicode_form

_SPACES = " \u00a0\u202f\u2009"
_NUMBER = lazy_re(
    r"(?<!\d)(?:"
    r"\d{1,3}(?:[,'’]\d{3}){1,8}(?:\.\d{1,12})?(?!\d)"
    r"|\d{1,3}(?:[.]\d{3}){1,8}(?:,\d{1,12})?(?!\d)"
    r"|\d{1,3}(?:[\u00a0\u202f\u2009 ]\d{3}){1,8}(?:[.,]\d{1,12})?(?!\d)"
    r"|\d{1,3}(?:,\d\d){1,6},\d{3}(?!\d)"
    r"|\d{1,24}(?:[.,]\d{1,24})?(?!\d))"
)
_AFTER = lazy_re(
    rf"(?P<gap>[{_SPACES}]?-?)(?P<word>°[CFK](?![A-Za-z\u00c0-\u024f])|US-Dollars?|[%％‰°℃℉€£¥$₹₩]"
    rf"|[^\W\d_]+(?:[²³]|/[^\W\d_]+)?)"
)
_BEFORE = lazy_re(
    r"(?P<word>US\$|A\$|C\$|HK\$|NT\$|[$＄€£¥￥₹₩]|(?<![A-Za-z])[A-Z]{3}|[<>≤≥±~≈])"
    r"[ \u00a0\u202f]?\Z"
)
_CONNECTOR = lazy_re(
    r"\s*(?:-|–|—|−|to|and|or|und|bis|oder|et|ou|à|a|y|o|至|到|~|～|和|或|,|、|/)\s*$",
    re.IGNORECASE,
)
_YEAR = lazy_re(r"(?:1[5-9]|20)\d\d(?!\d)")
_NAME_BEFORE = lazy_re(r"[A-Za-z0-9_/‐‑-]+\Z")
_ASCII_LETTER = lazy_re(r"[A-Za-z_]")
_VERSION = lazy_re(r"\d{1,6}(?:\.\d{1,6}){2,6}(?![\d])|\d{1,2}:\d\d(?::\d\d)?(?!\d)")
_POINTS = lazy_re(
    rf"[{_SPACES}-]?(?:percentage[ -]points?|pp\b|个?百分点|個?百分點|prozentpunkt(?:en?)?"
    r"|points? de pourcentage|puntos? porcentual(?:es)?|punti percentuali|pontos percentuais"
    r"|процентн\w{1,4} пункт\w{0,3})",
    re.IGNORECASE,
)


class Figure(Struct, frozen=True):
    """A number as mentioned: its place, its spelling, possible `values`, and its `unit` or "".

    More than one value where the spelling leaves it open ("1.234" is 1234 or 1.234).
    """

    start: int
    end: int
    text: str
    values: tuple[str, ...]
    unit: str = ""


class FigureIndex(Struct, frozen=True):
    """The figures of one text: for each value the units it was seen with ("" for none)."""

    units: dict[str, frozenset[str]]

    def supports(self, figure: Figure) -> bool:
        """Return whether the text holds the figure.

        The value must be there; where it stands with units of its own, one must be the figure's.
        """
        for value in figure.values:
            seen = self.units.get(value)
            if seen is None:
                continue
            known = seen - {""}
            if not figure.unit or not known or any(are_compatible(figure.unit, u) for u in known):
                return True
        return False


def find_figures(text: str) -> list[Figure]:
    """Return the figures of `text` in order.

    Numbers that are part of a name (COVID-19, GPT-4, H2O) are left out; a unit after a range or a
    list ("10 to 12 mg") belongs to each number of it.
    """
    found: list[Figure] = []
    at = 0
    while match := _NUMBER.search(text, at):
        version = _VERSION.match(text, match.start())
        if version and version.end() > match.end():
            found.append(Figure(version.start(), version.end(), version[0], (version[0],)))
            at = version.end()
            continue
        at = match.end()
        figure = _read(text, match)
        if figure:
            found.append(figure)
            at = max(at, figure.end)
    if not text.isascii():
        found = _joined(found)
        spelled = (_read_han(text, number) for number in find_han_numbers(text))
        # A magnitude behind digits ("3百万") is the figure's own.
        taken = {place for figure in found for place in range(figure.start, figure.end)}
        found += [figure for figure in spelled if figure and figure.start not in taken]
        found.sort(key=lambda figure: figure.start)
    return _spread_units(text, found)


def _joined(figures: list[Figure]) -> list[Figure]:
    """Join what Japanese parts by magnitude: 1億2000万 is one number, 120,000,000."""
    found: list[Figure] = []
    for figure in figures:
        joined = _with_rest(found[-1], figure) if found else None
        if joined:
            found[-1] = joined
        else:
            found.append(figure)
    return found


def _with_rest(high: Figure, low: Figure) -> Figure | None:
    """Return the two as one number where `low` stands right behind the magnitude of `high`."""
    if high.end != low.start or high.unit or high.text[-1] not in "千万萬亿億兆":
        return None
    if not len(high.values) == len(low.values) == 1:
        return None
    left, right = Decimal(high.values[0]), Decimal(low.values[0])
    if right >= left:
        return None
    return Figure(high.start, low.end, high.text + low.text, (_canonical(left + right),), low.unit)


def _read_han(text: str, number: HanNumber) -> Figure:
    """Return a number in Han numerals with the unit or currency beside it."""
    unit, end = number.unit, number.end
    after = _AFTER.match(text, end, end + _UNIT_REACH)
    if not unit and after and not after["gap"]:
        length, factor, unit = _step_unspaced(after["word"]) or (0, Decimal(1), "")
        unit = unit if factor == 1 else ""
        end += length if factor == 1 else 0
    values = tuple(_canonical(value) for value in number.values)
    if unit == "year" and _YEAR.fullmatch(values[0]):
        unit = ""
    return Figure(number.start, end, text[number.start : end], values, unit)


def index_figures(text: str, *, words: bool = True) -> FigureIndex:
    """Return the index of the figures of `text`; with `words` also of numbers written as words.

    A fraction ("two thirds", 三成) counts as its percentages.
    """
    units: dict[str, set[str]] = {}
    for figure in find_figures(text):
        for value in figure.values:
            units.setdefault(value, set()).add(figure.unit)
    if words:
        for value in read_number_words(text):
            units.setdefault(value, set()).add("")
        for share in find_shares(text):
            for value in percent_values(share):
                units.setdefault(value, set()).add("%")
    return FigureIndex({value: frozenset(seen) for value, seen in units.items()})


_UNIT_REACH = 8
_ROUGHLY = 0.04
_MAX_PAIRED = 40


def holds_share(share: Share, text: str) -> bool:
    """Return whether `text` holds a fraction: as one, as a percentage, or as two numbers' ratio.

    Percentages and ratios may be four points off: "a third" of 34 %.
    """
    wanted = share.part / share.whole
    if any((same.part, same.whole) == (share.part, share.whole) for same in find_shares(text)):
        return True
    numbers = []
    for figure in find_figures(text)[:_MAX_PAIRED]:
        value = figure.values[0] if figure.values else ""
        if not value.replace(".", "", 1).isdecimal():
            continue
        number = float(value)
        if abs(number / 100 - wanted) <= _ROUGHLY and figure.unit in ("%", "pp"):
            return True
        if abs(number - wanted) <= _ROUGHLY:
            return True
        if not figure.unit:
            numbers.append(number)
    return any(abs(a / b - wanted) <= _ROUGHLY for a in numbers for b in numbers if b > a > 1)


def _read(text: str, match: re.Match[str]) -> Figure | None:
    start, end = match.span()
    if _is_in_name(text, start):
        return None
    scale, unit = Decimal(1), ""
    if points := _POINTS.match(text, end):
        return Figure(
            start, points.end(), text[start : points.end()], _values(match[0], scale), "pp"
        )
    for _ in range(3):
        after = _AFTER.match(text, end)
        if not after:
            break
        word, attached = after["word"], not after["gap"]
        step = _step(word, attached, text[max(0, start - 5) : start], unit)
        if step is None:
            if attached and word[0].isascii() and word[0].isalpha() and scale == 1 and not unit:
                return None  # "5G", "3D": a name
            break
        length, factor, found = step
        if (found and unit) or (factor != 1 and unit):
            break
        scale, unit = scale * factor, found or unit
        end = after.start("word") + length
        if factor != 1 and text[end : end + 2] == ". ":  # "Mio. Euro"
            end += 1
    before = _BEFORE.search(text, max(0, start - 6), start)
    if before and (currency := UNITS_BEFORE.get(before["word"], "")):
        unit = _money(currency, unit)
    values = _values(match[0], scale)
    if unit == "year" and text[end - 1] in "年년" and _YEAR.fullmatch(match[0]):
        unit = ""  # a calendar year
    return Figure(start, end, text[start:end], values, unit) if values else None


def _step(word: str, attached: bool, before: str, unit: str) -> tuple[int, Decimal, str] | None:
    """Return (characters taken, factor, unit) for the word after a number, or None."""
    if _is_spaced(word[0]):  # "1.2 MW增至": the unit ends where the script changes
        word = "".join(takewhile(_is_spaced, word))
    if attached and word in ("s", "st", "nd", "rd", "th", "er", "ème", "e", "º"):
        return len(word), Decimal(1), ""
    is_money = before.rstrip()[-1:] in tuple("$€£¥₹₩")
    if attached or is_money:
        factor = {"k": 3, "K": 3, "M": 6, "m": 6, "B": 9, "b": 9, "bn": 9, "T": 12}.get(word)
        if factor and (is_money or word in ("k", "K", "M", "B", "bn")):
            return len(word), Decimal(10) ** factor, ""
    if not word[0].isascii() and not _is_spaced(word[0]):
        return _step_unspaced(word)
    if factor := MAGNITUDES.get(word.casefold()):
        return len(word), Decimal(10) ** factor, ""
    head, _, per = word.partition("/")
    if per and word.casefold() not in UNITS_AFTER:
        name = _unit_name(head)
        rate = f"{name}/{_unit_name(per) or per.casefold()}"
        return (len(word), Decimal(1), rate) if name else None
    name = _unit_name(word)
    return (len(word), Decimal(1), name) if name else None


def _money(sign: str, unit: str) -> str:
    """Return the unit of a number with a currency before it and maybe a unit after it.

    "$5 AUD" is a narrower name, "€5 US-Dollar" contradicts itself: equal to neither.
    """
    if not unit or are_compatible(sign, unit):
        return unit or sign
    is_other_money = unit in CURRENCIES and not (sign == "usd" and unit in DOLLARS)
    return f"{sign}+{unit}" if is_other_money else unit


def _unit_name(word: str) -> str:
    """Return the unit a word stands for; case counts for single letters ("5 g" is not "5G")."""
    if word[0] > "\uff00":  # full width
        word = unicode_form("NFKC", word)
    if word in UNITS_AFTER or (len(word) == 1 and word.isascii()):
        return UNITS_AFTER.get(word, "")
    return UNITS_AFTER.get(word.casefold(), "")


def _is_spaced(char: str) -> bool:
    """Return whether `char` belongs to a script that sets spaces between words."""
    is_han_or_kana = "\u2e80" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff"
    return not (is_han_or_kana or "\uac00" <= char <= "\ud7a3")


def _step_unspaced(word: str) -> tuple[int, Decimal, str] | None:
    """Read magnitude or unit at the head of a run of Chinese, Japanese or Korean."""
    for length in range(min(3, len(word)), 0, -1):
        head = word[:length]
        if factor := MAGNITUDES.get(head):
            return length, Decimal(10) ** factor, ""
        if head in UNITS_AFTER:
            return length, Decimal(1), UNITS_AFTER[head]
    return (0, Decimal(1), "") if word else None


def _is_in_name(text: str, start: int) -> bool:
    """Return whether the digits at `start` belong to a name like COVID-19, B12 or OCT3/4."""
    before = _NAME_BEFORE.search(text, max(0, start - 24), start)
    if not before or not _ASCII_LETTER.search(before[0]) or before[0].endswith("US$"):
        return False
    word = before[0]
    if word[-1] in "-‐‑" and word[:-1].islower():  # "mid-2020" is a year
        return not re.match(r"\d{4}(?!\d)", text[start : start + 5])
    return not (word[-1] == "/" and word[:-1].islower())


def _values(spelling: str, scale: Decimal) -> tuple[str, ...]:
    """Return the canonical values a spelling may have."""
    digits = re.sub(rf"['’{_SPACES}]", "", spelling)
    readings = {digits}
    if "," in digits and "." in digits:
        last = max(digits.rfind(","), digits.rfind("."))
        whole = re.sub(r"[.,]", "", digits[:last])
        readings = {f"{whole}.{digits[last + 1 :]}"}
    elif "," in digits or "." in digits:
        mark = "," if "," in digits else "."
        grouped = re.fullmatch(rf"\d{{1,3}}(?:\{mark}\d{{2,3}})*\{mark}\d{{3}}", digits)
        readings = (
            {digits.replace(mark, "")} if digits.count(mark) > 1 else {digits.replace(mark, ".")}
        )
        if grouped and digits.count(mark) == 1:
            readings.add(digits.replace(mark, ""))
    values = []
    for reading in sorted(readings):
        try:
            values.append(_canonical(Decimal(reading) * scale))
        except InvalidOperation:
            continue
    return tuple(values)


def _canonical(value: Decimal) -> str:
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.lstrip("0") or "0"


def _spread_units(text: str, figures: list[Figure]) -> list[Figure]:
    """Give the numbers of a range or list the unit that stands after its last one."""
    spread = list(figures)
    for at in range(len(spread) - 2, -1, -1):
        left, right = spread[at], spread[at + 1]
        if left.unit or not right.unit or right.start - left.end > 8 or _YEAR.match(left.text):
            continue
        if _CONNECTOR.fullmatch(text, left.end, right.start):
            spread[at] = Figure(left.start, left.end, left.text, left.values, right.unit)
    return spread
