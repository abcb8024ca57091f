"""Sentence spans: literal slices (T10), in many scripts, linear on hostile input (T20)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.tools.sentences import split


def texts(text: str) -> list[str]:
    return [span.text for span in split(text)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["Dr. Smith met J. K. Rowling in the U.S. Army base.", "It was 3.5 km away.", "Really?"],
        ["Smith et al. (2020) found p < .05, i.e. nothing.", "See Fig. 3.", "It is v2.0.1 now."],
        ['He said "Go."', "Then he left!", "Vitamin C.", "The end."],
        ["He lives in the U.S.", "The war ended.", "They met at 5 p.m. yesterday."],
        ["Is it so?", "He said no.", "Perhaps.", "Apple Inc. sells phones."],
        ["The war[4] ended in 1985.[3]", "We won.", "On e.g. Apple."],
        ["Am 3. Oktober 1990 kam z.B. die Einheit.", "Der Preis liegt bei 3,5 Mio. Euro."],
        ["Im 18. Jahrhundert war das anders.", "Er kam um ca. 5 Uhr.", "Dann ging er."],
        ["M. Dupont est arrivé.", "« Bonjour. »", "Il a dit p. ex. cela.", "C'est tout !"],
        ["El Sr. García llegó.", "¿Qué hora es?", "¡Vamos!", "Fin."],
        ["А. С. Пушкин родился в Москве.", "Он был поэтом."],
    ],
)  # fmt: skip
def test_sentences_of_spaced_scripts(sentences: list[str]) -> None:
    assert texts(" ".join(sentences)) == sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "今天天气很好。我们去吧！“你好。”他说。",
            ["今天天气很好。", "我们去吧！", "“你好。”", "他说。"],
        ),
        ("これはペンです。「はい。」と言った。", ["これはペンです。", "「はい。」", "と言った。"]),
        ("ما هذا؟ هذا كتاب. وهذا قلم.", ["ما هذا؟", "هذا كتاب.", "وهذا قلم."]),
        ("यह किताब है। वह घर गया।", ["यह किताब है।", "वह घर गया।"]),
        ("圆周率是3.14。版本为v2.0！", ["圆周率是3.14。", "版本为v2.0！"]),
        ("안녕하세요. 저는 학생입니다.", ["안녕하세요.", "저는 학생입니다."]),
        ("یہ کیا ہے؟ یہ کتاب ہے۔", ["یہ کیا ہے؟", "یہ کتاب ہے۔"]),
    ],
)
def test_sentences_of_other_scripts(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_headings_lists_and_rows_are_units() -> None:
    text = (
        "# Heading\nText one. Text two.\n- item one\n- item two goes\n  on here\n"
        "1. First\n2. Second\n\n| a | b |\n|---|---|\n| c | d |\n\nTitle\n=====\n\nBody text."
    )
    assert texts(text) == [
        "# Heading", "Text one.", "Text two.", "- item one", "- item two goes\n  on here",
        "1. First", "2. Second", "| a | b |", "| c | d |", "Title", "Body text.",
    ]  # fmt: skip


def test_lines_wrapped_by_width_stay_one_sentence() -> None:
    text = (
        "Introduction\n"
        "This paragraph was wrapped by the width of its page and\n"
        "Continues here with a capital letter on the next line and\n"
        "ends. Next sentence starts\nhere.\n\nNew paragraph"
    )
    assert texts(text) == [
        "Introduction",
        "This paragraph was wrapped by the width of its page and\n"
        "Continues here with a capital letter on the next line and\nends.",
        "Next sentence starts\nhere.",
        "New paragraph",
    ]


def test_paragraphs_kept_on_one_line_each_are_apart() -> None:
    first = "A long paragraph on one line without a full stop at its end " * 5
    assert texts(f"{first}\nThe second paragraph.") == [first.strip(), "The second paragraph."]


def test_spans_of_white_space_and_rules_are_left_out() -> None:
    assert split("") == split(" \n\t\r\n") == split("-----\n\n***\n…") == []
    assert texts("a\r\nb c d.\r\n") == ["a\r\nb c d."]


@given(st.text(alphabet="aB1. !?。\n\"'”[]()#-|\u2028\r\f،ع।ह", max_size=120))
def test_spans_are_literal_ordered_and_complete(text: str) -> None:
    position = 0
    for span in split(text):
        assert text[span.start : span.end] == span.text == span.text.strip() != ""
        assert not any(ch.isalnum() for ch in text[position : span.start])
        position = span.end
    assert not any(ch.isalnum() for ch in text[position:])


@pytest.mark.parametrize(
    "unit",
    ["a", ".", ". ", "A. ", "\n", " ", "<", "[1", ".[1]", '."', "。", "- \n", "a\n", "\r", "1. "],
)
def test_hostile_text_ends(unit: str) -> None:
    """T20: 150,000 characters of anything are cut, and nothing is lost."""
    text = unit * (150_000 // len(unit))
    spans = split(text)
    letters = sum(map(str.isalnum, text))
    assert sum(sum(map(str.isalnum, span.text)) for span in spans) == letters
