"""Tokens: every script the spec names (T10), stop words, stems, languages, hostile input (T20)."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.tools.stems import stem
from omh_research.tools.stopwords import SPACED, UNSPACED
from omh_research.tools.tokens import (
    MAX_WORD_CHARS,
    content_tokens,
    detect_language,
    fold_word,
    han_characters,
    is_cjk,
    languages_with_stop_words,
    query_words,
    search_terms,
    tokenize,
    words,
)

LANGUAGES = [
    ("en", "The capital of France is Paris, which lies on the river Seine."),
    ("de", "Die Hauptstadt von Frankreich ist Paris und liegt an der Seine."),
    ("es", "La capital de Francia es París, que está a orillas del río Sena."),
    ("fr", "La capitale de la France est Paris, qui se trouve sur la Seine."),
    ("it", "La capitale della Francia è Parigi, che si trova sulla Senna."),
    ("pt", "A capital da França é Paris, que fica nas margens do rio Sena."),
    ("nl", "De hoofdstad van Frankrijk is Parijs en ligt aan de Seine."),
    ("ru", "Столица Франции это Париж, который стоит на реке Сене."),
    ("uk", "Столиця Франції це Париж, який стоїть на річці Сені."),
    ("ar", "عاصمة فرنسا هي باريس التي تقع على نهر السين"),
    ("fa", "پایتخت فرانسه پاریس است که در کنار رود سن است"),
    ("hi", "फ्रांस की राजधानी पेरिस है जो सीन नदी पर है"),
    ("zh", "法国的首都是巴黎，位于塞纳河畔。"),
    ("ja", "フランスの首都はパリで、セーヌ川のほとりにあります。"),
    ("ko", "프랑스의 수도는 파리이며 센 강가에 있다."),
    ("th", "เมืองหลวงของฝรั่งเศสคือปารีส"),
    ("el", "Η πρωτεύουσα της Γαλλίας είναι το Παρίσι."),
    ("he", "בירת צרפת היא פריז, והיא נמצאת על גדות הסן."),
]


@pytest.mark.parametrize(("language", "text"), LANGUAGES)
def test_language_is_named_by_script_and_stop_words(language: str, text: str) -> None:
    assert detect_language(text) == language


def test_language_of_chinese_with_latin_names_is_chinese() -> None:
    assert detect_language("OpenAI 发布了 GPT-4 模型，性能大幅提升") == "zh"


@pytest.mark.parametrize("text", ["", "12 34", "…!?", "\n\t"])
def test_text_without_letters_has_no_language(text: str) -> None:
    assert detect_language(text) == ""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("inhibitors", "inhibitor"),
        ("activation", "activated"),
        ("running", "runs"),
        ("studies", "study"),
        ("école", "ECOLE"),
        ("Größe", "grosse"),
        ("ｆｕｌｌ", "full"),
        ("naïve", "naïve"),
        ("co\u00adoperate", "cooperate"),
        ("столица", "столицы"),
        ("столицей", "столицу"),
        ("российской", "российский"),
        ("ёлка", "елка"),
        ("الكتاب", "كِتَاب"),
        ("والمدرسة", "مدرسه"),
        ("أحمد", "احمد"),
        ("على", "علي"),
        ("लड़कियों", "लड़की"),
        ("१२३", "123"),
        ("٤٥", "45"),
        ("대한민국의", "대한민국"),
        ("대한민국에서", "대한민국은"),
    ],
)
def test_forms_of_a_word_meet_in_one_token(first: str, second: str) -> None:
    assert tokenize(first) == tokenize(second) != []


@pytest.mark.parametrize(
    ("first", "second"),
    [("china", "chin"), ("hypertension", "hypotension"), ("2019", "2020"), ("мир", "мор")],
)
def test_different_words_stay_apart(first: str, second: str) -> None:
    assert tokenize(first) != tokenize(second)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("hopping", "hop"),
        ("relational", "relat"),
        ("sky", "sky"),
        ("happy", "happi"),
        ("adjustable", "adjust"),
        ("generalizations", "gener"),
        ("rate", "rate"),
        ("controlling", "control"),
    ],
)
def test_latin_stems_are_porters(word: str, expected: str) -> None:
    """Vectors from Porter's paper (1980)."""
    assert stem(word) == expected


def test_runs_without_spaces_become_bigrams() -> None:
    assert tokenize("智能体") == ["智能", "能体"]
    assert tokenize("中") == ["中"]
    assert tokenize("サーバー") == ["サー", "ーバ", "バー"]
    assert tokenize("ภาษาไทย")[:2] == ["ภา", "าษ"]
    assert tokenize("AI 对就业") == ["ai", "对就", "就业"]


def test_marks_stay_inside_devanagari_and_arabic_words() -> None:
    assert words("राजधानी क्या") == ["राजधानी", "क्या"]
    assert len(words("ٱلْكِتَابُ جَدِيد")) == 2


def test_content_tokens_leave_function_words_out() -> None:
    assert content_tokens("What is the capital of France?") == ["capit", "franc"]
    assert content_tokens("Was ist die Hauptstadt von Frankreich?") == ["hauptstadt", "frankreich"]
    assert content_tokens("法国的首都是什么？") == ["法国", "首都"]
    assert content_tokens("フランスの首都はどこですか")[:1] == ["フラ"]
    assert "首都" in content_tokens("フランスの首都はどこですか")
    assert content_tokens("프랑스의 수도는 무엇인가") == ["프랑", "랑스", "수도"]
    assert content_tokens("ما هي عاصمة فرنسا؟") == ["عاصم", "فرنسا"]
    assert content_tokens("भारत की राजधानी क्या है?") == ["भारत", "राजधान"]
    assert content_tokens("the of and") == []


def test_search_terms_leave_latin_words_for_the_index_to_stem() -> None:
    assert search_terms(["running", "智能体", "столицы"]) == ["running", "智能", "能体", "столиц"]


def test_single_han_characters_of_runs() -> None:
    assert list(han_characters(words("智能体 running 東京タワー 山"))) == list("智能体東京")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("WHO guidelines for IT in the US", ["who", "it", "us", "guidelines"]),
        ("who won the war", ["war"]),
        ("WHO", ["who"]),
        ("WHO指南是什么", ["who", "指南"]),
        ("MIT OpenCourseWare指什么？", ["mit", "opencourseware", "指"]),
        ("to be or not to be", ["to", "be", "or", "not", "to", "be"]),
        ("", []),
    ],
)
def test_words_a_query_asks_for(query: str, expected: list[str]) -> None:
    """T10: acronyms stay; function words of both scripts go, unless there is nothing else."""
    assert query_words(query) == expected


def test_stop_words_are_kept_folded() -> None:
    for language, text in SPACED.items():
        for word in text.split():
            assert fold_word(word) == word, (language, word)
    assert set(languages_with_stop_words()) >= {
        "en", "de", "es", "fr", "it", "pt", "nl", "ru", "ar", "hi", "zh", "ja", "ko", "th",
    }  # fmt: skip
    assert UNSPACED["zh"].startswith("为什么")


def test_is_cjk() -> None:
    assert all(map(is_cjk, "汉かカ한々𠀀"))
    assert not any(map(is_cjk, "aé1عไя，。"))


def test_one_huge_word_is_cut_into_bounded_tokens() -> None:
    """T20: a 10 MB word neither fills a cache nor becomes one token."""
    tokens = tokenize("x" * 1_000_000)
    assert max(map(len, tokens)) == MAX_WORD_CHARS
    assert sum(map(len, tokens)) == 1_000_000
    assert max(map(len, tokenize("é" * 100_000))) <= MAX_WORD_CHARS


def test_long_runs_of_marks_end() -> None:
    """T20: ordering combining marks is quadratic in Python's own normalisation."""
    assert tokenize("a" + "\u0301\u0327" * 150_000)[0] == "a"
    long = "cafe\u0301 " * 2_000
    assert tokenize(long) == ["cafe"] * 2_000
    assert tokenize("か\u3099" * 3_000) == tokenize("が" * 3_000)


def test_every_character_is_accepted() -> None:
    for start in range(0, sys.maxunicode, 0x4000):
        chunk = "".join(map(chr, range(start, min(start + 0x4000, sys.maxunicode + 1))))
        assert all(tokenize(chunk))


@given(st.text(max_size=200))
def test_tokens_do_not_depend_on_unicode_form_or_case(text: str) -> None:
    assert tokenize(unicodedata.normalize("NFC", text)) == tokenize(
        unicodedata.normalize("NFD", text)
    )
    assert all(token and not token.isspace() for token in tokenize(text))
    assert len(content_tokens(text, "en")) <= len(tokenize(text))


@given(st.text(alphabet="abcdefgy", min_size=1, max_size=20))
def test_a_stem_is_no_longer_than_its_word(word: str) -> None:
    assert 0 < len(stem(word)) <= len(word) + 1
