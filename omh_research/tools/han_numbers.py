"""Numbers written in Han numerals, as Chinese and Japanese do: 一千二百, 十万, 百分之五, 三点五.

Job: find those that are surely meant as numbers, and read every run of numerals to the values it
may have, so that a figure in digits meets its spelled form. Refuses vague ones (几十, 十几, 数百),
idioms without a digit (千万, 百姓) and single numerals (一般, 三明治). Importers: tools.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from msgspec import Struct

from omh_research.lazy_re import lazy_re

DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {
    "〇": 0, "两": 2, "兩": 2,
}  # fmt: skip
_STEPS = {"十": 10, "百": 100, "千": 1_000}
_SCALES = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}
NUMERALS = "".join([*DIGITS, *_STEPS, *_SCALES])
MAX_NUMERALS = 32
_RUN = lazy_re(f"[{NUMERALS}]{{1,{MAX_NUMERALS}}}")
_NUMBER = lazy_re(
    rf"(?P<rate>[百千]分之)?(?P<whole>[{NUMERALS}]{{1,{MAX_NUMERALS}}})"
    rf"(?:点(?P<part>[{''.join(DIGITS)}]{{1,8}})(?![{NUMERALS}分钟半]))?"
)
# A number beside one of these is vague, a fraction or an ordinal of a series: not to be compared.
_VAGUE_BEFORE = frozenset("几幾数數好多之の")
_VAGUE_AFTER = frozenset("几幾数數来來")
_NOT_COUNTED = ("分之", "分の", "年战争", "年戰爭")
# Of two numerals only what counts something is sure: 三十人, but not 十二指肠 nor 六十甲子.
_COUNTED = frozenset(
    "个個名位项項种種家座次倍条條所期块台艘架篇本冊回匹軒件歳岁つ人国國省县市层層组組年天日周多余餘以吨噸"
    "米公千克克元美欧英日韩港分秒小平升度瓦円頭头只隻株棵户戶队隊套部辆輛点點万亿萬億％%，。、；）至到"
)
_YEAR = lazy_re(rf"(?<![{NUMERALS}])[一二][〇零一二三四五六七八九]{{3}}(?=\s?年)")


class HanNumber(Struct, frozen=True):
    """A spelled number: its place, its possible values, and its unit ("%", "‰" or "")."""

    start: int
    end: int
    values: tuple[Decimal, ...]
    unit: str = ""


def has_numerals(text: str) -> bool:
    """Return whether `text` holds a Han numeral at all; quick."""
    return not text.isascii() and _RUN.search(text) is not None


def find_han_numbers(text: str) -> list[HanNumber]:
    """Return the numbers of `text` that are surely numbers, in order.

    That is: percentages (百分之五), decimals (三点五), years (一九九八年), and runs of two numerals
    and more of which one is a digit or the first is 十 (一千二百, 十万, 三十).
    """
    if text.isascii():
        return []
    found = []
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        before, after = text[start - 1 : start], text[end : end + 1]
        if before and (before in _VAGUE_BEFORE or before.isdigit()):
            continue
        if (after and after in _VAGUE_AFTER) or text.startswith(_NOT_COUNTED, end):
            continue
        if not (match["rate"] or match["part"]) and end - start <= 2 and after not in _COUNTED:
            continue
        if values := _sure_values(match["whole"], match["part"] or "", bool(match["rate"])):
            unit = {"百": "%", "千": "‰"}.get((match["rate"] or " ")[0], "")
            found.append(HanNumber(start, end, values, unit))
    return sorted([*found, *find_han_years(text)], key=lambda number: number.start)


def find_han_years(text: str) -> list[HanNumber]:
    """Return the years of `text` that are written digit by digit (一九九八年)."""
    if text.isascii():
        return []
    return [
        HanNumber(match.start(), match.end(), (_positional(match[0]),))
        for match in _YEAR.finditer(text)
    ]


def _sure_values(whole: str, part: str, is_rate: bool) -> tuple[Decimal, ...]:
    """Return the values of a run that is a number beyond doubt, () for any other."""
    values = han_values(whole)
    if part and len(values) == 1:
        return (values[0] + _positional(part).scaleb(-len(part)),)
    is_sure = len(whole) > 1 and whole[0] not in _SCALES
    is_spelled = whole[0] == "十" or any(char in DIGITS for char in whole)
    is_positional = all(char in DIGITS for char in whole)
    if is_rate or (is_sure and is_spelled and not is_positional):
        return values
    return ()


def all_han_values(text: str) -> Iterator[Decimal]:
    """Yield every value that some run of numerals in `text` may have, single ones included.

    "二三十" gives 20 and 30; a run that is no number gives the values of its digits.
    """
    for match in _RUN.finditer(text):
        run = match[0]
        values = han_values(run)
        yield from values
        if not values:
            yield from (Decimal(DIGITS[char]) for char in run if char in DIGITS)
            for at in range(len(run) - 1):
                if run[at] in DIGITS and run[at + 1] in DIGITS:
                    yield from han_values(run[at + 1 :])
                    yield from han_values(run[at] + run[at + 2 :])
            if all(char in DIGITS for char in run):
                yield _positional(run)
    for number in find_han_numbers(text):
        yield from number.values


def _positional(run: str) -> Decimal:
    """Read numerals digit by digit: 二〇二三 is 2023."""
    return Decimal("".join(str(DIGITS[char]) for char in run))


def han_values(run: str) -> tuple[Decimal, ...]:
    """Return the values a run of numerals may have, () for a run that is no number.

    Two for a colloquial end: 一百二 is 120, and 102 in Japanese.
    """
    total, section, digit, step, zero = 0, 0, -1, 10**16, False
    last_scale = 0
    for char in run:
        if char in DIGITS:
            if DIGITS[char] == 0 and (len(run) == 1 or digit < 0):
                zero, digit = True, 0 if len(run) == 1 else -1
            elif digit >= 0:
                return ()
            else:
                digit = DIGITS[char]
        elif char in _STEPS:
            if _STEPS[char] >= step or (digit < 0 and section):
                return ()
            step = _STEPS[char]
            section += (1 if digit < 0 else digit) * step
            digit, zero = -1, False
        else:
            scale = _SCALES[char]
            section += max(digit, 0)
            if not section and not total:
                section = 1
            if last_scale and scale >= last_scale:
                total = (total + section) * scale
            else:
                total += section * scale
            last_scale, section, digit, step, zero = scale, 0, -1, 10**16, False
    value = Decimal(total + section + max(digit, 0))
    last_step = _STEPS.get(run[-2:-1]) or _SCALES.get(run[-2:-1]) or 0
    if digit > 0 and not zero and len(run) > 2 and last_step > 10:
        return (Decimal(total + section + digit * last_step // 10), value)
    return (value,)
