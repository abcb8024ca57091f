"""Where a token may begin and end: no quote may be cut out of a longer word or number.

Job: judge the two ends of a found quote. "5 million" in "15 million", "0.5" in "10.5", "12" in
"12%", "proven" in "can't be proven" cut at "n't", a Chinese numeral cut in two: all refused.
Refuses to search. Dashes are left to the caller, who knows the original text. Importers:
tools.quotes.
"""

from __future__ import annotations

import re
import unicodedata

from omh_research.lazy_re import lazy_re
from omh_research.tools.normal_form import CJK

NO_BORDER = lazy_re(f"[{CJK}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_NUMERAL = frozenset("〇零一二三四五六七八九十百千万亿萬億兆点")
# What a number in front of it belongs to: "月份" is not a quote of "1月份".
_COUNTED = frozenset("年月日号號时時分秒元円个個人次倍岁歲度米吨种名位届页条点点成万亿千百")
_BEFORE_NUMBER = frozenset("<>\u2264\u2265\u2248\u00b1~$\u20ac\u00a3\u00a5\u20b9")
_AFTER_NUMBER = frozenset("%\u2030\u00b0\u20ac$\u00a3\u00a5\u20b9万亿千百兆億萬")
_MAGNITUDE = lazy_re(
    r" ?(?:hundred|thousand|million|billion|trillion|percent|per cent|mio|mrd|mill|millones|"
    r"milliarden?|millionen|millions?|milliards?|bn|mn|миллион|миллиард|тысяч|процент)"
)


def on_borders(core: str, text: str, at: int) -> bool:
    """Say whether `core` at `at` of `text` begins and ends where tokens do, dashes aside."""
    end = at + len(core)
    before, after = text[at - 8 if at > 8 else 0 : at], text[end : end + 16]
    return _starts_clean(before, core[0], core) and _ends_clean(core[-1], after)


def is_word(char: str) -> bool:
    """Say whether `char` can be part of a word or number."""
    return char.isalnum() or char == "_" or (char > "\x7f" and unicodedata.category(char)[0] == "M")


def _starts_clean(before: str, first: str, core: str) -> bool:
    """Say whether a token can begin at `first`, with `before` in front of it."""
    last = before[-1:]
    if not last or (last == " " and not first.isdigit()) or not is_word(first):
        return True
    if last == " ":
        held = before.rstrip()[-1:]
        grouped = bool(re.match(r"\d{3}(?!\d)", core)) and bool(re.search(r"\b\d{1,3} $", before))
        return held not in _BEFORE_NUMBER and not grouped
    if first in _NUMERAL and last in _NUMERAL:
        return False
    if last.isdigit() and first in _COUNTED:
        return False
    if is_word(last):
        if first.isdigit() and last.isdigit():
            return False
        return bool(NO_BORDER.match(first) or NO_BORDER.match(last))
    earlier = before[-2:-1]
    if first.isdigit():
        if last in "+^\u2044" or last in _BEFORE_NUMBER:
            return False
        return not (last in ".,'/:" and earlier.isdigit())
    if last == "/" and earlier:
        return not is_word(earlier)
    return True


def _ends_clean(last: str, after: str) -> bool:
    """Say whether a token can end at `last`, with `after` behind it."""
    following, beyond = after[:1], after[1:2]
    if not after or (following == " " and not last.isdigit()) or not is_word(last):
        return True
    if last.isdigit():
        if after.lstrip(" ")[:1] in _AFTER_NUMBER or _MAGNITUDE.match(after):
            return False
        if following in "^\u2044" or (following in ".,'/:" and beyond.isdigit()):
            return False
    if last in _NUMERAL and following in _NUMERAL:
        return False
    if is_word(following):
        if last.isdigit() and following.isdigit():
            return False
        return bool(NO_BORDER.match(last) or NO_BORDER.match(following))
    if following == "'" and beyond == "t":
        return False
    if following == "/" and beyond:
        return not is_word(beyond)
    return True
