"""Encodings of local files (complaint 25)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.corpus.encoding import decode

TEXTS = {
    "zh": "大象是现存最大的陆地动物，分布在非洲和亚洲。它们的鼻子非常灵活，可以拿起很小的东西。",
    "tw": "臺北市是中華民國的首都，位於臺灣北部，人口約二百五十萬人。這座城市的經濟與文化非常發達。",
    "ja": "東京は日本の首都であり、世界最大級の都市の一つである。人口は約千四百万人で、カタカナも使う。",
    "ko": "서울은 대한민국의 수도이자 최대 도시이다. 한강을 끼고 있으며 인구는 약 천만 명이다.",
    "ru": "Москва является столицей России. Население города составляет более двенадцати миллионов.",
    "pl": "Warszawa jest stolicą Polski. Miasto leży nad Wisłą, a jego ludność wynosi milion osób.",
    "el": "Η Αθήνα είναι η πρωτεύουσα της Ελλάδας. Η πόλη έχει μεγάλη ιστορία.",
    "tr": "İstanbul Türkiye'nin en kalabalık şehridir. Şehir, iki kıtaya yayılmıştır. Işık, ağaç.",
    "he": "ירושלים היא בירת ישראל והעיר הגדולה בה. בעיר גרים כמיליון תושבים.",
    "ar": "القاهرة هي عاصمة مصر وأكبر مدنها، ويعيش فيها ملايين السكان على ضفاف النيل.",
    "de": "Die Brücke über den Fluss wurde für große Schiffe geöffnet. Schöne Grüße aus Köln.",
    "es": "España es un país soberano; ¿cuántas niñas viven aquí? La población está creciendo.",
}
CASES = [
    ("zh", "gb18030"), ("zh", "gbk"), ("tw", "big5"), ("ja", "shift_jis"), ("ja", "euc_jp"),
    ("ja", "iso2022_jp"), ("ko", "euc_kr"), ("ru", "cp1251"), ("ru", "koi8_r"), ("pl", "cp1250"),
    ("el", "cp1253"), ("tr", "cp1254"), ("he", "cp1255"), ("ar", "cp1256"), ("de", "cp1252"),
    ("de", "iso8859_1"), ("es", "cp1252"), ("zh", "utf-16"), ("de", "utf-16-le"),
    ("ru", "utf-16-be"), ("ar", "utf-8-sig"), ("ko", "utf-8"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "encoding"), CASES)
@pytest.mark.parametrize("declared", ["", "iso-8859-1", "utf-8", "no-such-charset"])
def test_25_text_is_read_whatever_is_declared(language: str, encoding: str, declared: str) -> None:
    raw = TEXTS[language].encode(encoding)
    assert decode(raw, declared=declared).text == TEXTS[language]


def test_25_a_wrong_meta_charset_does_not_win() -> None:
    page = '<html><meta charset="iso-8859-1"><p>' + TEXTS["ru"] + "</p></html>"
    assert TEXTS["ru"] in decode(page.encode("utf-8")).text
    assert TEXTS["ru"] in decode(page.encode("cp1251")).text


def test_25_a_damaged_byte_in_utf8_is_replaced_and_counted() -> None:
    raw = TEXTS["ru"].encode("utf-8")
    found = decode(raw[:41] + b"\xff" + raw[41:])
    assert found.encoding == "utf-8"
    assert 1 <= found.replaced <= 3
    assert found.text.endswith("миллионов.")


@pytest.mark.parametrize("raw", [bytes(range(256)) * 20, b"\x89PNG\r\n\x1a\n\x00\x00\x00" * 50])
def test_25_binary_is_not_text(raw: bytes) -> None:
    assert decode(raw).encoding == ""


@given(st.binary(max_size=600))
def test_25_any_bytes_give_an_answer(raw: bytes) -> None:
    found = decode(raw)
    assert isinstance(found.text, str)
    assert found.encoding or not found.text


@given(st.text(min_size=1, max_size=400))
def test_25_utf8_comes_back_unless_it_is_control_bytes(text: str) -> None:
    text = "".join(char for char in text if char.isprintable() or char in "\n\t")
    assert decode(text.encode("utf-8", "ignore")).text in (text, text.removeprefix("\ufeff"))
