"""Numbers in words and Han numerals, fractions, bounds: what a sentence counts with (E28, T13)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.tools.bounds import (
    LOWER,
    UPPER,
    bound_of,
    bounds_conflict,
    lacks_worded,
    without_bounds,
)
from omh_research.tools.figures import find_figures, holds_share, index_figures
from omh_research.tools.han_numbers import all_han_values, find_han_numbers, han_values
from omh_research.tools.number_words import find_number_words, read_number_words
from omh_research.tools.shares import find_shares, find_worded

DIGITS = "零一二三四五六七八九"


def spell(number: int) -> str:
    """Write a number below 10,000 in Han numerals, as Chinese does."""
    text, gap = "", False
    for step, sign in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // step % 10
        if digit:
            text += ("零" if gap and text else "") + DIGITS[digit] + sign
            gap = False
        else:
            gap = True
    return text


@given(st.integers(1, 9_999))
def test_every_number_is_read_from_han_numerals(number: int) -> None:
    spelled = spell(number)
    assert han_values(spelled) == (number,)
    assert han_values(spelled + "万") == (number * 10_000,)
    assert index_figures(f"共{spelled}户家庭").supports(find_figures(f"{number:,} families")[0])
    if number > 99:
        assert [f.values for f in find_figures(f"共{spelled}户家庭")] == [(str(number),)]


@given(st.text(alphabet="零一二三四五六七八九十百千万亿分之点年成几abc1 ", max_size=40))
def test_any_run_of_numerals_is_read_without_error(text: str) -> None:
    for number in find_han_numbers(text):
        assert 0 <= number.start < number.end <= len(text)
        assert number.values
    assert all(value >= 0 for value in all_han_values(text))
    assert find_shares(text) is not None


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("占百分之五，千分之三", [("5", "%"), ("3", "‰")]),
        ("一千二百吨", [("1200", "t")]),
        ("增长三点五倍", [("3.5", "x")]),
        ("1億2000万円、1.2億円", [("120000000", "jpy"), ("120000000", "jpy")]),
        ("1万2千人", [("12000", "")]),
        ("约三千五百万人", [("35000000", "")]),
        ("三十五美元", [("35", "usd")]),
        ("一九九八年", [("1998", "")]),
        ("百二十万円", [("1200000", "jpy")]),
        ("两万五千公里", [("25000", "km")]),
    ],
)
def test_han_numerals_are_figures(text: str, want: list[tuple[str, str]]) -> None:
    assert [(figure.values[0], figure.unit) for figure in find_figures(text)] == want


@pytest.mark.parametrize(
    "text",
    [
        "几十人 十几个 数百家 上百万",
        "千万 百姓 一般 三明治 万一",
        "十二指肠",
        "六十甲子",
        "十二五规划",
        "三十年战争",
        "二三十人",
        "五分之一",
        "唯一",
        "百分百",
    ],
)
def test_idioms_and_vague_numbers_are_no_figures(text: str) -> None:
    assert find_figures(text) == []


def test_dates_in_han_numerals_are_the_dates_in_digits() -> None:
    from omh_research.tools.dates import find_dates, index_dates

    index = index_dates("条约于一九六一年八月三十日批准，十月一日生效。")
    assert index.supports(find_dates("1961年8月30日")[0])
    assert index.supports(find_dates("10月1日")[0])
    assert not index.supports(find_dates("1961年8月13日")[0])
    assert find_dates("三月") == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("two hundred and fifty cases", "250"),
        ("one thousand two hundred", "1200"),
        ("twenty-five percent", "25"),
        ("three hundred thousand", "300000"),
        ("zweihundertfünfzig Fälle", "250"),
        ("dreißig Prozent", "30"),
        ("zweiundzwanzigtausend", "22000"),
        ("cuarenta casos", "40"),
        ("أربع محطات", "4"),
        ("二三十人", "30"),
    ],
)
def test_words_are_read_to_their_value(text: str, value: str) -> None:
    assert value in set(read_number_words(text))


@pytest.mark.parametrize("text", ["hundertprozentig", "Jahrhundert", "dreimal", "often", "and"])
def test_words_that_only_contain_a_number_are_none(text: str) -> None:
    assert list(read_number_words(text)) == []


def test_a_statement_counts_with_whole_numbers_above_two() -> None:
    text = "Two of three hundred and five plants, five and six, 3 million, in Sept."
    assert [n.value for n in find_number_words(text)] == ["305", "5", "6"]
    assert [n.value for n in find_number_words("三个国家，五家公司，第三个，三明治")] == ["3", "5"]
    numbers, shares = find_worded("Two thirds of four sites")
    assert [n.value for n in numbers] == ["4"]
    assert [(s.part, s.whole) for s in shares] == [(2, 3)]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("two thirds of the cells", "2/3"), ("one-third of it", "1/3"), ("a third of all", "1/3"), ("half of it", "1/2"), ("three-quarters", "3/4"), ("ein Drittel der Anlagen", "1/3"),
        ("die Hälfte", "1/2"), ("zwei Fünftel", "2/5"), ("deux tiers des", "2/3"), ("三分之一", "1/3"), ("五分の一", "1/5"), ("占六成", "3/5"), ("三成五", "7/20"), ("三割", "3/10"),
        ("一半", "1/2"), ("2/3", "2/3"), ("⅔ of it", "2/3"), ("one in three", "1/3"), ("1 out of 5", "1/5"), ("ثلثا المزارع", "2/3"), ("ثلاثة أرباع", "3/4"), ("dreiviertel", "3/4"),
    ],
)  # fmt: skip
def test_fractions_are_read_in_every_spelling(text: str, want: str) -> None:
    assert [f"{share.part}/{share.whole}" for share in find_shares(text)] == [want]


@pytest.mark.parametrize(
    "text",
    [
        "a third study",
        "the third quarter",
        "the first half of",
        "half-life",
        "完成三成员",
        "一成不变",
        "百分之五",
        "3/4/2021",
        "1.5/2",
        "headquarters",
    ],
)
def test_ordinals_dates_and_idioms_are_no_fractions(text: str) -> None:
    assert find_shares(text) == []


def test_a_fraction_is_held_in_any_form_and_no_other_one() -> None:
    third, quarter = find_shares("a third of, a quarter of")
    for text in ("33% of it", "34 percent", "24 of 72 sites", "三分之一", "one in three", "0.33"):
        assert holds_share(third, text)
        assert not holds_share(quarter, text)
    assert index_figures("two thirds").supports(find_figures("66.7%")[0])
    assert not index_figures("two thirds").supports(find_figures("67 kg")[0])


@pytest.mark.parametrize(
    ("statement", "source", "misses"),
    [
        ("A third of the sites closed", "30% of the sites closed", False),
        ("A quarter of the sites closed", "30% of the sites closed", True),
        ("More than half of the sites closed", "58% of the sites closed", False),
        ("Half of the sites closed", "58% of the sites closed", True),
        ("Nearly half of the sites closed", "44% of the sites closed", False),
        ("超过三成的受访者支持", "38%的受访者支持", False),
        ("三成的受访者支持", "38%的受访者支持", True),
        ("More than four districts closed", "Five districts closed", False),
        ("Four districts closed", "Five districts closed", True),
    ],
)
def test_a_bounded_fraction_is_not_compared(statement: str, source: str, misses: bool) -> None:
    assert bool(lacks_worded(statement, source)) is misses


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("less than 31.3%", UPPER), ("over 1,480 plants", LOWER), ("more than $4.2 million", LOWER), ("超过180万人", LOWER), ("20%以上", LOWER), ("3万人以下", UPPER), ("mindestens 86 Prozent", LOWER),
        ("not more than 50 kg", UPPER), ("不超过5%", UPPER), ("50%を超える", LOWER), ("bis zu 3,7 Millionen", UPPER), ("50 or more", LOWER), ("أكثر من 50 كيلو", LOWER), ("不足609.5吉瓦", UPPER),
        ("no fewer than 41 countries", LOWER), ("Fünfunddreißig zahlten höchstens 120 Euro", UPPER), ("三十五トン以上", LOWER),
        ("over 10 years", None), ("over 3 sites", None), ("verfügt über 30 Werke", None), ("moreover 50 kg", None), ("more than 2020", None), ("31.3%", None), ("at 10:30", None), ("under 3.11.7", None),
    ],
)  # fmt: skip
def test_a_bound_is_read_beside_its_number(text: str, want: int | None) -> None:
    figure = find_figures(text)[-1]
    bound = bound_of(text, figure)
    assert (bound.direction if bound else None) == want


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("It reached less than 31.3%", "It reached 31.3%"),
        ("At most 50 plants", "At least 50 plants"),
        ("More than 250 farms", "Two hundred and fifty farms"),
        ("超过3万人", "不足3万人"),
        ("weniger als 35 % zahlten höchstens 120 Euro", "35 % zahlten höchstens 120 Euro"),
    ],
)
def test_a_bound_the_source_does_not_have_is_a_conflict(claim: str, source: str) -> None:
    assert bounds_conflict(claim, [source])
    assert not bounds_conflict(claim, [source, claim])


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Over 2,300 households", "More than 2,300 households"),
        ("More than 50 kg", "The mass exceeded 50 kg"),
        ("At least 50 plants", "50 plants"),
        ("More than 50 plants", "60 plants"),
        ("No more than 120 boats", "At most 120 boats"),
        ("逾3万人", "3万多人"),
    ],
)
def test_the_same_bound_in_other_words_is_none(claim: str, source: str) -> None:
    assert bounds_conflict(claim, [source]) == ""


def test_bounds_are_cut_out_of_a_sentence() -> None:
    assert without_bounds("It cost more than 5 kg or 20% or less.").split() == (
        "It cost 5 kg or 20% .".split()
    )
