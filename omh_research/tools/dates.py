"""Dates in running text, in the spellings of several languages.

Job: find calendar dates (day, month and year, or two of the three) and say whether a text holds a
given one in whatever spelling (spec E28, T13b). Refuses to read bare years (see `figures`) and
relative dates ("last May"). Importers: tools, phases, delegates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from msgspec import Struct

from omh_research.lazy_re import lazy_re
from omh_research.tools.han_numbers import DIGITS, find_han_years, han_values

_MONTHS = """
january jan januar janvier enero gennaio janeiro januari январь января styczeń stycznia ocak
february feb februar février fevrier febrero febbraio fevereiro februari февраль февраля luty şubat
march mar märz marz maerz mars marzo março marco maart март марта marzec marca mart
april apr avril abril aprile апрель апреля kwiecień kwietnia nisan
may mai mayo maggio maio mei май мая maj maja mayıs
june jun juni juin junio giugno junho июнь июня czerwiec czerwca haziran
july jul juli juillet julio luglio julho июль июля lipiec lipca temmuz
august aug août aout agosto augustus август августа sierpień sierpnia ağustos
september sep sept septembre septiembre settembre setembro сентябрь сентября wrzesień eylül
october oct oktober okt octobre octubre ottobre outubro октябрь октября październik ekim
november nov novembre noviembre novembro ноябрь ноября listopad kasım
december dec dezember dez décembre diciembre dicembre dezembro декабрь декабря grudzień
"""
_YEAR = r"(?P<y>1[5-9]\d\d|20\d\d)"
_DAY = r"(?P<d>3[01]|[12]\d|0?[1-9])"
_ONE, _OTHER = r"(?P<a>3[01]|[12]\d|0?[1-9])", r"(?P<b>3[01]|[12]\d|0?[1-9])"
_END = r"(?![\d/-]|\.\d)"
_NUMERIC = (
    lazy_re(rf"(?<![\d.,/-]){_YEAR}([-/.])(?P<m>1[0-2]|0?[1-9])\2{_DAY}{_END}"),
    lazy_re(rf"(?<![\d.,/-]){_ONE}([-/.]){_OTHER}\2{_YEAR}{_END}"),
    lazy_re(
        rf"(?<!\d){_YEAR}\s?年\s?(?P<m>1[0-2]|0?[1-9])\s?月(?:\s?{_DAY}\s?[日号號])?",
        needs=("年",),
    ),
    lazy_re(rf"(?<!\d)(?P<m>1[0-2]|0?[1-9])\s?月\s?{_DAY}\s?[日号號]", needs=("月",)),
    lazy_re(
        rf"(?<!\d){_YEAR}\s?년\s?(?P<m>1[0-2]|0?[1-9])\s?월(?:\s?{_DAY}\s?일)?", needs=("년",)
    ),
    lazy_re(rf"(?<![\d.,/-]){_YEAR}-(?P<m>1[0-2]|0[1-9])(?![\d-])", needs=("-",)),
)  # fmt: skip
# In Han numerals: 二〇二三年十二月三十一日, 十月一日.
_HAN_DIGIT = "〇零一二三四五六七八九"
_HAN_DATE = lazy_re(
    rf"(?:(?P<y>[一二][{_HAN_DIGIT}]{{3}})\s?年\s?)?(?<![{_HAN_DIGIT}百])(?P<m>十[一二]?|[一二三四五六七八九])\s?月"
    r"(?:\s?(?P<d>三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])\s?[日号號])?"
)


class Date(Struct, frozen=True):
    """A date as mentioned: its place in the text and its readings.

    A reading is (year, month, day), 0 for a part not given; 3/4/2021 has two readings.
    """

    start: int
    end: int
    text: str
    readings: tuple[tuple[int, int, int], ...]


class DateIndex(Struct, frozen=True):
    """The dates and years of one text, for `supports`."""

    full: frozenset[tuple[int, int, int]]
    months: frozenset[tuple[int, int]]
    days: frozenset[tuple[int, int]]
    years: frozenset[int]

    def supports(self, date: Date) -> bool:
        """Return whether the text holds the date in any spelling, whole or in two parts."""
        return any(self._holds(*reading) for reading in date.readings)

    def _holds(self, year: int, month: int, day: int) -> bool:
        if year and day:
            in_parts = (month, day) in self.days and year in self.years
            return (year, month, day) in self.full or in_parts
        if year:
            return (year, month) in self.months
        return (month, day) in self.days


def find_dates(text: str) -> list[Date]:
    """Return the dates of `text` in order, never overlapping."""
    found = [_numeric(match) for pattern in _NUMERIC for match in pattern.finditer(text)]
    if "月" in text:
        found += [date for match in _HAN_DATE.finditer(text) if (date := _from_han(match))]
    found += [date for match in _worded().finditer(text) if (date := _from_words(match))]
    kept: list[Date] = []
    for date in sorted(found, key=lambda d: (d.start, d.start - d.end)):
        if not kept or date.start >= kept[-1].end:
            kept.append(date)
    return kept


def index_dates(text: str) -> DateIndex:
    """Return the index of all dates and four-digit years of `text`."""
    full: set[tuple[int, int, int]] = set()
    months: set[tuple[int, int]] = set()
    days: set[tuple[int, int]] = set()
    for date in find_dates(text):
        for year, month, day in date.readings:
            if year and day:
                full.add((year, month, day))
            if year:
                months.add((year, month))
            if day:
                days.add((month, day))
    years = frozenset(int(year) for year in re.findall(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)", text))
    years |= {int(number.values[0]) for number in find_han_years(text)}
    return DateIndex(frozenset(full), frozenset(months), frozenset(days), years)


def _numeric(match: re.Match[str]) -> Date:
    parts = match.groupdict()
    year = int(parts.get("y") or 0)
    if parts.get("a"):
        a, b = int(parts["a"]), int(parts["b"])
        both = [(year, m, d) for m, d in ((b, a), (a, b)) if 1 <= m <= 12]
        readings = tuple(dict.fromkeys(both)) or ((year, 0, 0),)
    else:
        readings = ((year, int(parts["m"]), int(parts.get("d") or 0)),)
    return Date(match.start(), match.end(), match[0], readings)


def _from_han(match: re.Match[str]) -> Date | None:
    if not (match["y"] or match["d"]):
        return None
    year = int("".join(str(DIGITS[char]) for char in match["y"] or "〇"))
    month, day = (int(han_values(match[name])[0]) if match[name] else 0 for name in ("m", "d"))
    return Date(match.start(), match.end(), match[0], ((year, month, day),))


def _from_words(match: re.Match[str]) -> Date | None:
    month = _month_numbers()[match["month"].casefold()]
    day = int(match["d1"] or match["d2"] or 0)
    year = int(match["y1"] or match["y2"] or 0)
    if day > 31 or not (day or year):
        return None
    return Date(match.start(), match.end(), match[0], ((year, month, day),))


@cache
def _month_numbers() -> dict[str, int]:
    lines = [line for line in _MONTHS.split("\n") if line]
    return {word: number for number, line in enumerate(lines, start=1) for word in line.split()}


def _shortest(names: Iterable[str]) -> tuple[str, ...]:
    """The names in ASCII of which every other one holds one."""
    plain = sorted(filter(str.isascii, names), key=len)
    return tuple(
        name for at, name in enumerate(plain) if not any(other in name for other in plain[:at])
    )


@cache
def _worded() -> re.Pattern[str]:
    names = "|".join(sorted(_month_numbers(), key=len, reverse=True))
    day = r"(?:3[01]|[12]\d|0?[1-9])"
    year = r"(?:1[5-9]\d\d|20\d\d)"
    return lazy_re(
        rf"(?<![\w.])(?:(?P<d1>{day})(?:st|nd|rd|th|er|º|\.)?\s{{1,3}}(?:of\s|de\s|do\s)?)?"
        rf"(?<![^\W\d_])(?P<month>{names})(?![^\W_])\.?"
        rf"(?:\s{{1,3}}(?P<d2>{day})(?:st|nd|rd|th)?(?![\d:%]|[.,]\d))?"
        rf"(?:,?\s{{1,3}}(?:of\s|de\s|del\s)?(?P<y1>{year})(?!\d)|(?P<y2>(?<=\.)\s?{year})(?!\d))?",
        re.IGNORECASE,
        needs=_shortest(_month_numbers()),
        beyond_ascii=True,
    )
