"""Figures, dates, proper names, negation: what a cited sentence states (E28, T13b)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.documents.source import HeldText
from omh_research.tools.dates import find_dates, index_dates
from omh_research.tools.figures import find_figures, index_figures
from omh_research.tools.gate.context import Context
from omh_research.tools.gate.facts import SourceText, find_facts
from omh_research.tools.name_index import index_names, names_inside
from omh_research.tools.negation import ClauseIndex, is_negated
from omh_research.tools.proper_names import find_names


def figures(text: str) -> list[tuple[str, str]]:
    return [(figure.values[0], figure.unit) for figure in find_figures(text)]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("$1.8 billion in 2023", [("1800000000", "usd"), ("2023", "")]),
        ("1,800,000 people", [("1800000", "")]),
        ("约180万人", [("1800000", "")]),
        ("33.9% and 5 kg", [("33.9", "%"), ("5", "kg")]),
        ("10 to 12 mg", [("10", "mg"), ("12", "mg")]),
        ("10–12 years", [("10", "year"), ("12", "year")]),
        ("1.234,5 Euro", [("1234.5", "eur")]),
        ("a 5-year study", [("5", "year")]),
        ("20 percentage points", [("20", "pp")]),
        ("增长5.2个百分点", [("5.2", "pp")]),
        ("¥500亿元", [("50000000000", "cny")]),
        ("2020年", [("2020", "")]),
        ("in mid-2020", [("2020", "")]),
        ("3.11.7 at 10:30", [("3.11.7", ""), ("10:30", "")]),
        ("the 1990s, the 2nd, 33k", [("1990", ""), ("2", ""), ("33000", "")]),
        ("5 MW, 5 mW", [("5", "mw"), ("5", "milliw")]),
        ("5 Millionen Tonnen", [("5000000", "t")]),
        ("US$3.5bn and €5m", [("3500000000", "usd"), ("5000000", "eur")]),
        ("12 °C, 12°C", [("12", "°c"), ("12", "°c")]),
        ("1 234 567 km²", [("1234567", "km²")]),
        ("2.5 g/L", [("2.5", "g/l")]),
        ("1,5 Mio. Euro", [("1500000", "eur")]),
        ("从1.2 MW增至5.6GW，约30%以上", [("1.2", "mw"), ("5.6", "gw"), ("30", "%")]),
        ("180만 명, 2020년, 5억 원", [("1800000", ""), ("2020", ""), ("500000000", "krw")]),
        ("mil millones, 2 mil millones de euros", [("2000000000", "")]),
        ("12,34,567 rupees", [("1234567", "inr")]),
        ("5kg重，3 km路程，约12GB内存", [("5", "kg"), ("3", "km"), ("12", "gb")]),
        ("100km/h速度、37°C高温、7nm芯片", [("100", "km/h"), ("37", "°c"), ("7", "nm")]),
        ("５ｋｇ、１２ＧＢ内存、５０％", [("5", "kg"), ("12", "gb"), ("50", "%")]),
        ("$5 AUD, ￥5亿美元, ¥100日元", [("5", "aud"), ("500000000", "¥+usd"), ("100", "jpy")]),
        ("$10.2亿美金, €10.2亿美金", [("1020000000", "usd"), ("1020000000", "eur+usd")]),
        ("5kgの荷物 10km거리", [("5", "kg"), ("10", "km")]),
    ],
)
def test_numbers_are_read_to_one_value_and_unit(text: str, want: list[tuple[str, str]]) -> None:
    assert figures(text) == want


@pytest.mark.parametrize(
    "text", ["COVID-19, GPT-4, B12, 5G, H2O, 3D, OCT3/4, IL-6R", "no numbers", ""]
)
def test_digits_inside_names_are_no_figures(text: str) -> None:
    assert find_figures(text) == []


SOURCE = "There were 1.8 million people, 5 kg and 10 (see the table), twelve of them for 20-30 years; fünf Tonnen; 十二个."


@pytest.mark.parametrize(
    "held", ["1,800,000", "1.8 million", "5 kg", "10", "10 %", "12", "20 years", "30 years", "5"]
)
def test_a_source_holds_a_figure_in_any_spelling(held: str) -> None:
    assert index_figures(SOURCE).supports(find_figures(held)[0])


@pytest.mark.parametrize("other", ["1.8 billion", "5 g", "30 months", "1,800", "21 years", "13"])
def test_another_value_magnitude_or_unit_is_not_held(other: str) -> None:
    assert not index_figures(SOURCE).supports(find_figures(other)[0])


@given(st.integers(0, 10**12))
def test_any_whole_number_is_found_in_its_usual_spellings(number: int) -> None:
    index = index_figures(f"It counted {number} cases.")
    for spelling in (
        f"{number}",
        f"{number:,}",
        f"{number:,}".replace(",", " "),
        f"{number:,}".replace(",", "."),
    ):
        found = find_figures(f"about {spelling} cases")
        assert len(found) == 1
        assert index.supports(found[0])
    assert not index.supports(find_figures(str(number + 1))[0])


@pytest.mark.parametrize(
    ("text", "reading"),
    [("on May 3, 2021", (2021, 5, 3)), ("3 May 2021", (2021, 5, 3)), ("2021-05-03", (2021, 5, 3)), ("03.05.2021", (2021, 5, 3)), ("2021年5月3日", (2021, 5, 3)),
     ("5月3日", (0, 5, 3)), ("May 2021", (2021, 5, 0)), ("3. Mai 2021", (2021, 5, 3)), ("le 1er mars 2020", (2020, 3, 1)), ("12 de octubre de 2019", (2019, 10, 12)),
     ("Sept. 2020", (2020, 9, 0)), ("the 4th of July 1999", (1999, 7, 4)), ("5 марта 2020", (2020, 3, 5)), ("2021-05", (2021, 5, 0))],
)  # fmt: skip
def test_dates_of_several_languages(text: str, reading: tuple[int, int, int]) -> None:
    assert reading in find_dates(text)[0].readings


@pytest.mark.parametrize(
    "text", ["they may be", "march on", "in 2021", "v1.2.3", "31/31/2021-5", ""]
)
def test_words_and_years_are_no_dates(text: str) -> None:
    assert find_dates(text) == []


def test_a_date_is_held_whole_or_in_two_parts() -> None:
    index = index_dates("Published in 2021. The trial began on 3 May; it ended on 2021-08-09.")
    assert index.supports(find_dates("May 3, 2021")[0])
    assert index.supports(find_dates("August 2021")[0])
    assert index.supports(find_dates("9.8.2021")[0])
    assert not index.supports(find_dates("4 May 2021")[0])
    assert not index.supports(find_dates("May 3, 2020")[0])


TEXT = "In 2023 the World Health Organization said that Tesla and BYD sold cars in Germany. GPT-4 by OpenAI came. COVID-19 vaccines by Pfizer reached Italy, U.S. officials said. Stage II T-cell work on BRCA1."
KNOWN = names_inside([TEXT, "cars by Toyota and Angela Merkel"])


def names(sentence: str, language: str = "en") -> list[str]:
    return [name.text for name in find_names(sentence, language=language, known=KNOWN)]


@pytest.mark.parametrize(
    ("sentence", "want"),
    [
        ("The WHO says Tesla sold cars in Germany.", ["WHO", "Tesla", "Germany"]),
        ("Toyota and BYD sold more.", ["Toyota", "BYD"]),
        ("Angela Merkel spoke.", ["Angela Merkel"]),
        ("Overall, markets grew. However, prices fell.", []),
        ("In May and on Monday it rained.", []),
        ("根据Tesla的报告，Toyota销量上升", ["Tesla", "Toyota"]),
        ("The RecQ-class enzyme and M2-type cells", ["RecQ", "M2"]),
        ("It used 5 kWh and USD 7.", []),
    ],
)
def test_names_of_a_sentence(sentence: str, want: list[str]) -> None:
    assert names(sentence, "zh" if "报告" in sentence else "en") == want


def test_german_nouns_are_no_names_but_acronyms_are() -> None:
    assert names("Der Bericht der Regierung nennt OpenAI und die EU.", "de") == ["OpenAI", "EU"]


@pytest.mark.parametrize(
    "name",
    [
        "WHO",
        "World Health Organization",
        "Tesla",
        "German",
        "Italian",
        "GPT-4",
        "GPT 4",
        "COVID-19",
        "US",
        "American",
        "T-cell",
        "BRCA",
        "Stage II",
    ],
)
def test_a_source_holds_a_name_in_accepted_forms(name: str) -> None:
    found = find_names(f"They saw {name} there.", known=KNOWN)
    assert found
    assert all(index_names([TEXT]).supports(one) for one in found)


@pytest.mark.parametrize(
    "name",
    ["Toyota", "GPT-5", "Moderna", "France", "COVID-20", "UNICEF", "Teslar", "Angela Merkel"],
)
def test_another_name_is_not_held(name: str) -> None:
    found = find_names(f"They saw {name} there.", known=KNOWN)
    assert found
    assert not all(index_names([TEXT]).supports(one) for one in found)


def test_a_full_name_is_held_by_its_acronym() -> None:
    index = index_names(["The DOE and NREL said so."])
    found = find_names("It quotes the Department of Energy.")
    assert [(name.text, index.supports(name)) for name in found] == [("Department of Energy", True)]
    assert not index.supports(find_names("It quotes the Department of Labor.")[0])


def test_inflected_names_of_other_scripts_are_held() -> None:
    index = index_names(["Германия и Франция подписали договор"])
    names = find_names("Договор подписан в Германии и в Польше", language="ru")
    assert [(name.text, index.supports(name)) for name in names] == [
        ("Германии", True),
        ("Польше", False),
    ]


def test_an_acronym_behind_its_words_needs_no_source() -> None:
    facts = find_facts(
        "Chronic kidney disease (CKD) and magnetic resonance (MRX) differ.", "en", frozenset()
    )
    assert [name.text for name in facts.names] == ["MRX"]


@pytest.mark.parametrize(
    "text",
    [
        "It did not rise.",
        "Es gibt kein Verbot.",
        "他不同意，没有。"[:4] + "没有钱",
        "Il n'est pas là.",
        "尚未建立",
        "不能",
        "It never rose",
    ],
)
def test_negated_sentences(text: str) -> None:
    assert is_negated(text)


@pytest.mark.parametrize(
    "text",
    [
        "It rose.",
        "Not only did it rise.",
        "非常好",
        "未来很好",
        "不仅如此",
        "It does not rise without help.",
    ],
)
def test_sentences_without_negation_or_with_two(text: str) -> None:
    assert not is_negated(text)


def source(text: str) -> SourceText:
    return SourceText(
        [HeldText(url="u", sha256="s", text=text)],
        [],
        ["The plant treats 1,800 tonnes", "invented words here"],
    )


def test_a_source_tells_its_verified_rows_from_others() -> None:
    held = source("The plant treats 1,800 tonnes a year.")
    assert held.verified_rows == ("The plant treats 1,800 tonnes",)
    assert held.quoted.figures.supports(find_figures("1800 tonnes")[0])
    assert not held.quoted.figures.supports(find_figures("12")[0])


def test_a_near_verbatim_sentence_with_other_polarity_is_seen() -> None:
    held = source("The new vaccine does not prevent severe infection in older adults.")
    assert held.context.reverses("The new vaccine prevents severe infection in older adults")
    assert not held.context.reverses(
        "The new vaccine does not prevent severe infection in older adults"
    )
    assert not held.context.reverses("Younger people were studied as well in the trial")


@pytest.mark.parametrize(
    "piece", ["1", "1,", "1 ", "1.1.", "a1", "$", "1 000 ", "May ", "2021-", "A-", "A. ", "O'"]
)
def test_hostile_repetition_is_linear(piece: str) -> None:
    text = piece * (40_000 // len(piece))
    assert index_figures(text) is not None
    assert index_dates(text) is not None
    assert index_names([text]) is not None
    assert find_names(text) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("专家指出，回收体系已经建立", "专家指出，回收体系尚未建立，预计明年完成"),
        (
            "截至2023年底，中国光伏装机容量没有达到609.5吉瓦",
            "截至2023年底，中国光伏装机容量达到609.5吉瓦",
        ),
        ("去年共有1,200户家庭没有参加用水调查", "去年共有一千二百户家庭参加了用水调查"),
        ("该药物对重症病人并非有效", "该药物对重症病人有效"),
        ("この工場は毎年五万台を生産しない", "この工場は毎年五万台を生産する"),
        ("新しい電池は記録を更新しませんでした", "新しい電池は記録を更新しました"),
        ("電池は日本で作られた部品を使っている", "電池は日本で作られた部品を使っていない"),
        ("貯水量は設計容量の60%に達せず、", "貯水量は設計容量の六割に達し、"),
    ],
)
def test_a_denied_clause_is_found_both_ways(one: str, other: str) -> None:
    """E28: a negation in a Chinese or Japanese sentence that nearly repeats its source."""
    assert ClauseIndex([other]).denies(one)
    assert ClauseIndex([one]).denies(other)
    assert not ClauseIndex([one, other]).denies(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("研究没有发现严重不良反应", "研究未发现严重不良反应"),
        ("该方法不仅速度快而且精度高", "该方法速度快而且精度高"),
        ("该地区的失业率没有下降", "该地区的失业率上升了"),
        ("1个月内不可发送4条群发消息", "1个月内可发送8条群发消息"),
        ("每户月均用水量不超过十二吨", "每户月均用水量在十二吨以内"),
        ("この製品は必ず出荷前に検査される", "この製品は出荷前に検査される"),
        ("不同地区的水价差别很大", "各地区的水价差别很大"),
        ("短句不同", "短句同"),
    ],
)
def test_harmless_signs_and_other_statements_deny_nothing(one: str, other: str) -> None:
    assert not ClauseIndex([other]).denies(one)
    assert not ClauseIndex([one]).denies(other)


def test_a_part_of_a_sentence_is_not_turned_round_by_its_rest() -> None:
    """E28: a report may take up the first half of "... but did not gain weight"."""
    text = (
        "We find that the rats of both groups were healthy after the trial, but did not gain weight. "
        "Cluster sizes are exponentially distributed in all cells, with no characteristic size."
    )
    source = Context([text], "en")
    for part in (
        "We find that the rats of both groups were healthy after the trial.",
        "Cluster sizes are exponentially distributed in all cells.",
    ):
        assert not source.reverses(part)
    assert source.reverses("Cluster sizes are not exponentially distributed in all cells.")
    assert source.reverses(
        "We find that the rats of both groups were not healthy after the trial, but did not gain weight."
    )


def test_words_and_bounds_are_compared_with_the_sentences_that_say_the_same() -> None:
    text = "Four of the nine districts closed their last coal plant. The dam cost 48 million dollars to mend."
    source = Context([text], "en")
    assert source.lacks_number_word("Five of the nine districts closed their last coal plant.")
    assert not source.lacks_number_word("4 of the nine districts closed their last coal plant.")
    assert not source.lacks_number_word("Five lamps burned in the harbour all night long.")
    assert source.turns_bound("The dam cost less than $48 million to mend.")
    assert not source.turns_bound("The bridge to the island took more than 48 million bricks.")


@pytest.mark.parametrize(
    ("statement", "source"),
    [
        ("The price of silver fell in all markets of the north.", "The price of silver rose in all markets of the north."),
        ("Jacksonville is the smallest city of Florida by population.", "Jacksonville is the largest city of Florida by population."),
        ("The vaccine was ineffective in patients with severe asthma.", "The vaccine was effective in patients with severe asthma."),
        ("Der Unterschied ist bei niedrigen Temperaturen im Winter kleiner.", "Der Unterschied ist bei niedrigen Temperaturen im Winter größer."),
        ("全县去年的粮食产量和用水量都减少了。", "全县去年的粮食产量和用水量都增加了。"),
    ],
)  # fmt: skip
def test_an_opposite_word_in_its_place_is_found(statement: str, source: str) -> None:
    """E28: rose for fell in a sentence that otherwise is the source's."""
    language = "zh" if "全" in source else "de" if "Der" in source else "en"
    assert Context([source], language).opposes(statement)
    assert not Context([source], language).opposes(source)


@pytest.mark.parametrize(
    ("statement", "source"),
    [
        ("Group Alpha had higher mortality than group Beta in the trial.", "Group Beta had lower mortality than group Alpha in the trial."),
        ("Acme sold the old plant in Ohio to Beta.", "Beta bought the old plant in Ohio from Acme."),
        ("The price of silver rose in all markets.", "The price of silver rose in all markets, while that of lead fell."),
        ("甲地居民的平均收入高于乙地居民", "乙地居民的平均收入低于甲地居民"),
    ],
)  # fmt: skip
def test_changed_sides_are_no_opposite(statement: str, source: str) -> None:
    language = "zh" if "居" in source else "en"
    assert not Context([source], language).opposes(statement)
